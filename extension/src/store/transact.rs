//! Units: lock, look, decide, write.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    panic::AssertUnwindSafe,
};

use extenddb_core::{
    item::{IndexKey, ItemKey},
    store::StoreError,
    table::{TableId, Version},
    write::{Base, Change, Contradiction, Image, Images, Keys, Need, RowWrite, Timestamp, Unit},
};
use pgrx::{PgSqlErrorCode, PgTryBuilder, pg_sys};

use crate::{
    catalog, clock,
    locks::{self, LockName, Patience},
    spi::{self, Snapshot},
};

use super::{
    read,
    rows::{RowKey, Storage},
    write::{self, Row, Stored, Writer},
};

/// A key of the call: whether this transaction may write it, and what stands under it.
struct Held<'a> {
    key: &'a ItemKey,
    locked: bool,
    /// Before the call.
    stored: Stored,
    /// As the units so far left it.
    image: Image,
    change: Option<Changed>,
}

/// A key is written once, whatever the units did to it one after the other.
struct Changed {
    expires_s: Option<i64>,
}

/// What becomes of index entries: a table, the index's number, the entry's key.
type Entries = BTreeMap<(TableId, i32, IndexKey), RowWrite>;

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
    // Taken after the locks, it sees what whoever held them before has done.
    spi::with_snapshot(Snapshot::Transaction, || {
        read_images(&units, &refusals, &place_of, &mut held);
        let now = clock::now();
        let mut entries = Entries::new();
        let decided = units.iter().zip(&refusals).map(|(unit, refusal)| match refusal {
            Some(refusal) => Err(refusal.clone()),
            None => Ok(run(unit, now, &place_of, &mut held, &mut entries)),
        });
        let answers = decided.collect();
        write_all(&held, entries);
        answers
    })
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
        stored: Stored::Unknown,
        image: Image::Unread,
        change: None,
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
    let rows = read::rows(&keys);
    if old_snapshot && spi::with_snapshot(Snapshot::Latest, || read::rows(&keys)) != rows {
        write::serialization_failure();
    }
    for (place, row) in wanted.into_iter().zip(rows) {
        (held[place].stored, held[place].image) = match row {
            Some((tid, item)) => (Stored::At(tid), Image::Present(item)),
            None => (Stored::Absent, Image::Absent),
        };
    }
}

fn going_on<'a, T>(units: &'a [Unit<T>], refusals: &[Option<StoreError>]) -> impl Iterator<Item = &'a Keys> {
    let going_on = units
        .iter()
        .zip(refusals)
        .filter(|(_, refusal)| refusal.is_none());
    going_on.map(|(unit, _)| &unit.keys)
}

/// One decision over the images as the units before it left them. Its changes are noted, not written yet.
fn run<T>(
    unit: &Unit<T>,
    now: Timestamp,
    place_of: &BTreeMap<&ItemKey, usize>,
    held: &mut [Held],
    entries: &mut Entries,
) -> T {
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
            bug("a change names a key that is not locked");
        }
        note(change, held, entries, now);
    }
    decision.answer
}

fn note(change: Change, held: &mut Held, entries: &mut Entries, now: Timestamp) {
    let kept = change.keep_for.map(|keep| (now.0 / 1000 + keep.as_secs()) as i64);
    let expires_s = kept.or(change.expires);
    match change.base {
        Base::Put(item) => {
            held.image = Image::Present(item);
            held.change = Some(Changed { expires_s });
        }
        Base::Delete => {
            held.image = Image::Absent;
            held.change = Some(Changed { expires_s: None });
        }
        Base::Untouched => {}
    }
    for row in change.rows {
        match entries.entry((held.key.table, row.index, row.key)) {
            Entry::Vacant(place) => {
                place.insert(row.write);
            }
            Entry::Occupied(before) => {
                let (key, before) = before.remove_entry();
                match before.then(row.write) {
                    Ok(Some(both)) => {
                        entries.insert(key, both);
                    }
                    Ok(None) => {}
                    Err(Contradiction) => bug("two changes of an index entry contradict each other"),
                }
            }
        }
    }
}

/// Writes what was noted, storage after storage.
fn write_all(held: &[Held], entries: Entries) {
    let write = || {
        let changed: Vec<(&Held, &Changed)> = held
            .iter()
            .filter_map(|held| Some((held, held.change.as_ref()?)))
            .collect();
        for of_table in changed.chunk_by(|(a, _), (b, _)| a.key.table == b.key.table) {
            write_items(of_table);
        }
        let entries: Vec<((TableId, i32, IndexKey), RowWrite)> = entries.into_iter().collect();
        for of_index in entries.chunk_by(|(a, _), (b, _)| (a.0, a.1) == (b.0, b.1)) {
            write_entries(of_index);
        }
    };
    if !write::one_snapshot() {
        return write();
    }
    // A row that this snapshot cannot see is in the way: the same as having seen it change.
    PgTryBuilder::new(AssertUnwindSafe(write))
        .catch_when(PgSqlErrorCode::ERRCODE_UNIQUE_VIOLATION, |_| {
            write::serialization_failure()
        })
        .execute()
}

/// All of one table.
fn write_items(changed: &[(&Held, &Changed)]) {
    let mut writer = Writer::begin(Storage::of_table(changed[0].0.key.table));
    for (held, change) in changed {
        let item = match &held.image {
            Image::Present(item) => Some(item),
            _ => None,
        };
        let row = match (held.stored, item) {
            (Stored::Absent, None) => continue,
            (Stored::Absent, Some(item)) => Row::Insert(item),
            (Stored::At(tid), Some(item)) => Row::UpdateAt(tid, item),
            (Stored::At(tid), None) => Row::DeleteAt(tid),
            (Stored::Unknown, Some(item)) => Row::Set(item),
            (Stored::Unknown, None) => Row::Clear,
        };
        writer.write(&RowKey::from(held.key), row, change.expires_s);
    }
    writer.end();
}

/// All of one index.
fn write_entries(entries: &[((TableId, i32, IndexKey), RowWrite)]) {
    let (table, index, _) = &entries[0].0;
    let mut writer = Writer::begin(Storage::of_index(*table, *index));
    for ((_, _, key), write) in entries {
        let row = match write {
            RowWrite::Insert(item) => Row::Insert(item),
            RowWrite::Update(item) => Row::Update(item),
            RowWrite::Delete => Row::Delete,
            RowWrite::Set(item) => Row::Set(item),
            RowWrite::Clear => Row::Clear,
        };
        writer.write(&RowKey::from(key), row, None);
    }
    writer.end();
}

fn bug(text: &str) -> ! {
    spi::raise(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, text)
}
