//! Units: lock, look, decide, write.

use std::{collections::BTreeMap, panic::AssertUnwindSafe};

use extenddb_core::{
    item::ItemKey,
    store::StoreError,
    table::{TableId, Version},
    write::{Base, Change, Image, Images, Keys, Need, Timestamp, Unit},
};
use pgrx::{PgSqlErrorCode, PgTryBuilder, pg_sys};

use crate::{
    catalog, clock,
    locks::{self, LockName, Patience},
    spi::{self, Snapshot},
};

use super::{read, write};

/// A key of the call: whether this transaction may write it, and what stands under it as the units so far left it.
struct Held<'a> {
    key: &'a ItemKey,
    locked: bool,
    image: Image,
}

pub fn transact<T>(units: Vec<Unit<T>>, patience: &Patience) -> Vec<Result<T, StoreError>> {
    // SAFETY: raises 25006 in a read-only transaction and on a standby.
    unsafe { pg_sys::PreventCommandIfReadOnly(c"a write of items".as_ptr()) };
    let mut refusals = lock_tables(&units, patience);
    let mut held = lock_keys(&units, &refusals, patience);
    let place_of: BTreeMap<&ItemKey, usize> = held
        .iter()
        .enumerate()
        .map(|(place, held)| (held.key, place))
        .collect();
    for (unit, refusal) in units.iter().zip(&mut refusals) {
        if refusal.is_none() {
            *refusal = unit.keys.0.iter().find_map(|(key, _)| {
                let lock = LockName::of_key(key);
                (!held[place_of[key]].locked)
                    .then(|| patience.held(lock))
                    .flatten()
            });
        }
    }
    read_images(&units, &refusals, &place_of, &mut held);
    let now = clock::now();
    let mut decide_and_write = || {
        let decided = units.iter().zip(&refusals).map(|(unit, refusal)| match refusal {
            Some(refusal) => Err(refusal.clone()),
            None => Ok(run(unit, now, &place_of, &mut held)),
        });
        decided.collect()
    };
    if !write::one_snapshot() {
        return decide_and_write();
    }
    // A row that this snapshot cannot see is in the way: the same as having seen it change.
    PgTryBuilder::new(AssertUnwindSafe(decide_and_write))
        .catch_when(PgSqlErrorCode::ERRCODE_UNIQUE_VIOLATION, |_| {
            write::serialization_failure()
        })
        .execute()
}

/// Locks the storage of all tables, then compares their descriptions; answers which units cannot go on.
fn lock_tables<T>(units: &[Unit<T>], patience: &Patience) -> Vec<Option<StoreError>> {
    let mut tables: Vec<TableId> = units
        .iter()
        .flat_map(|unit| {
            let of_keys = unit.keys.0.iter().map(|(key, _)| key.table);
            unit.tables.iter().map(|(table, _)| *table).chain(of_keys)
        })
        .collect();
    tables.sort_unstable();
    tables.dedup();
    let state_of: BTreeMap<TableId, Result<Version, StoreError>> = tables
        .into_iter()
        .map(|table| (table, lock_table(table, patience)))
        .collect();
    let refusal = |unit: &Unit<T>| {
        let planned = unit
            .tables
            .iter()
            .find_map(|(table, version)| match &state_of[table] {
                Ok(current) if current == version => None,
                Ok(_) => Some(StoreError::Stale),
                Err(refusal) => Some(refusal.clone()),
            });
        planned.or_else(|| {
            unit.keys
                .0
                .iter()
                .find_map(|(key, _)| state_of[&key.table].clone().err())
        })
    };
    units.iter().map(refusal).collect()
}

fn lock_table(table: TableId, patience: &Patience) -> Result<Version, StoreError> {
    let storage = catalog::storage(table).ok_or(StoreError::Stale)?;
    locks::lock_relation_patiently(storage, pg_sys::RowExclusiveLock, patience)?;
    if table < locks::FIRST_ITEM_TABLE {
        return Ok(Version(0));
    }
    Ok(catalog::describe(table).ok_or(StoreError::Stale)?.version)
}

/// Locks the keys of all units, each once.
fn lock_keys<'a, T>(
    units: &'a [Unit<T>],
    refusals: &[Option<StoreError>],
    patience: &Patience,
) -> Vec<Held<'a>> {
    let mut keys: Vec<&ItemKey> = going_on(units, refusals)
        .flat_map(|keys| &keys.0)
        .map(|(key, _)| key)
        .collect();
    if keys.len() > 1 {
        keys.sort_unstable();
        keys.dedup();
    }
    let locked = locks::lock_keys(&keys, patience, catalog::storage);
    let held = keys.into_iter().zip(locked);
    held.map(|(key, locked)| Held {
        key,
        locked,
        image: Image::Unread,
    })
    .collect()
}

/// Reads the images that are asked for, after the locks. Where the caller's snapshot is older than the locks, it must
/// see the same as a new one, or the answer would be about a past that is over.
fn read_images<T>(
    units: &[Unit<T>],
    refusals: &[Option<StoreError>],
    place_of: &BTreeMap<&ItemKey, usize>,
    held: &mut [Held],
) {
    let old_snapshot = write::one_snapshot();
    let mut wanted: Vec<usize> = going_on(units, refusals)
        .flat_map(|keys| &keys.0)
        .filter(|(_, need)| *need == Need::Image || old_snapshot)
        .map(|(key, _)| place_of[key])
        .filter(|place| held[*place].locked)
        .collect();
    if wanted.is_empty() {
        return;
    }
    wanted.sort_unstable();
    wanted.dedup();
    let keys: Vec<&ItemKey> = wanted.iter().map(|place| held[*place].key).collect();
    let items = spi::with_snapshot(Snapshot::Transaction, || read::items(&keys));
    if old_snapshot && spi::with_snapshot(Snapshot::Latest, || read::items(&keys)) != items {
        write::serialization_failure();
    }
    for (place, item) in wanted.into_iter().zip(items) {
        held[place].image = item.map_or(Image::Absent, Image::Present);
    }
}

fn going_on<'a, T>(units: &'a [Unit<T>], refusals: &[Option<StoreError>]) -> impl Iterator<Item = &'a Keys> {
    let going_on = units
        .iter()
        .zip(refusals)
        .filter(|(_, refusal)| refusal.is_none());
    going_on.map(|(unit, _)| &unit.keys)
}

/// One decision over the images as the units before it left them, and its changes.
fn run<T>(unit: &Unit<T>, now: Timestamp, place_of: &BTreeMap<&ItemKey, usize>, held: &mut [Held]) -> T {
    let places: Vec<usize> = unit.keys.0.iter().map(|(key, _)| place_of[key]).collect();
    // The images are moved out and back: an item may have 400 kB, and no key is twice in a unit.
    let images: Vec<Image> = unit
        .keys
        .0
        .iter()
        .zip(&places)
        .map(|((_, need), place)| match need {
            _ if !held[*place].locked => Image::Busy,
            Need::RightToWrite => Image::Unread,
            Need::Image => std::mem::replace(&mut held[*place].image, Image::Unread),
        })
        .collect();
    let decision = (unit.decide)(&Images { now, all: &images });
    for (image, ((_, need), place)) in images.into_iter().zip(unit.keys.0.iter().zip(&places)) {
        if held[*place].locked && *need == Need::Image {
            held[*place].image = image;
        }
    }
    for change in decision.changes {
        let held = &mut held[places[change.of]];
        if !held.locked {
            spi::raise(
                PgSqlErrorCode::ERRCODE_INTERNAL_ERROR,
                "a change names a key that is not locked",
            );
        }
        apply(change, held, now);
    }
    decision.answer
}

fn apply(change: Change, held: &mut Held, now: Timestamp) {
    let key = held.key;
    match change.base {
        Base::Put(item) => {
            let kept = change.keep_for.map(|keep| (now.0 / 1000 + keep.as_secs()) as i64);
            write::put(key, &held.image, &item, kept.or(change.expires));
            held.image = Image::Present(item);
        }
        Base::Delete => {
            write::delete(key, &held.image);
            held.image = Image::Absent;
        }
        Base::Untouched => {}
    }
    for row in &change.rows {
        write::index_row(key.table, row);
    }
}
