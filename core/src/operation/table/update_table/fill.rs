//! Filling an index that came to a table with items. From the moment that its description is there, every writer
//! maintains the index, so that only items which nobody writes are left to do. Nothing here depends on who calls: the
//! request itself, or a worker that takes up the fill of another.                  behaviour/tables §index-fill

use std::sync::Arc;

use crate::{
    item::{Item, ItemKey},
    store::{Access, Alteration, Ended, Part, Position, Proposal, Range, Store, StoreError, TableChange},
    table::{Index, Table, TableName, TableStatus, Version},
    write::{Change, Decision, Images, Keys, Need, Unit, derive_fill},
};

/// Keys in one unit.
const BATCH_ITEMS: usize = 100;
const BATCH_BYTES: usize = 1 << 20;

/// How often a batch is tried again of which no key was free.
const FRUITLESS_TRIES: usize = 10;

/// Fills the index with this number and makes it ACTIVE. An index that is gone, or not being created, is left alone.
pub(super) async fn fill<S: Store>(store: &S, name: &TableName, number: i32) -> Result<(), StoreError> {
    let mut after = None;
    loop {
        let Some(table) = filling(store, name, number).await? else {
            return Ok(());
        };
        let page = store
            .walk(Range {
                table: table.id,
                index: None,
                part: Part::Buckets {
                    first: i32::MIN,
                    last: i32::MAX,
                },
                after,
                reverse: false,
                max_items: Some(BATCH_ITEMS),
                max_bytes: BATCH_BYTES,
                with_base: false,
            })
            .await?;
        let keys: Vec<ItemKey> = page
            .rows
            .iter()
            .filter_map(|row| ItemKey::of_stored(&table, &row.item))
            .collect();
        after = keys.last().map(|key| Position {
            bucket: key.bucket,
            hash: key.pk.clone(),
            rest: vec![key.sk.clone()],
        });
        fill_keys(store, name, number, keys).await?;
        if page.ended == Ended::Data || after.is_none() {
            return activate(store, name, number).await;
        }
    }
}

/// The numbers of the indexes that are still to be filled.
pub(super) async fn unfinished<S: Store>(store: &S, name: &TableName) -> Result<Vec<i32>, StoreError> {
    let tables = store.tables(std::slice::from_ref(name), Access::Read).await?;
    let indexes = tables
        .iter()
        .flatten()
        .flat_map(|table| &table.indexes)
        .filter(|index| index.status == TableStatus::Creating);
    Ok(indexes.map(|index| index.number).collect())
}

/// Takes an index away whose fill did not end.
pub(super) async fn give_up<S: Store>(store: &S, name: &TableName, number: i32) -> Result<(), StoreError> {
    alter_index(store, name, number, |table, number| {
        table.settings.last_index = table.next_index_number() - 1;
        table.indexes.retain(|index| index.number != number);
    })
    .await
}

async fn activate<S: Store>(store: &S, name: &TableName, number: i32) -> Result<(), StoreError> {
    alter_index(store, name, number, |table, number| {
        for index in table.indexes.iter_mut().filter(|index| index.number == number) {
            index.status = TableStatus::Active;
        }
    })
    .await
}

/// Writes the entries of these items as they stand once they are locked; keys that others hold are tried again.
async fn fill_keys<S: Store>(
    store: &S,
    name: &TableName,
    number: i32,
    mut keys: Vec<ItemKey>,
) -> Result<(), StoreError> {
    let mut tries = FRUITLESS_TRIES;
    while !keys.is_empty() {
        let Some(table) = filling(store, name, number).await? else {
            return Ok(());
        };
        let before = keys.len();
        let answers = store.transact(vec![plan(&table, number, keys.clone())]).await;
        match answers.into_iter().next() {
            Some(Ok(busy)) => keys = busy,
            // The description changed: look again whether there still is something to fill.
            Some(Err(StoreError::Stale | StoreError::Busy)) => {}
            Some(Err(other)) => return Err(other),
            None => return Err(StoreError::Unavailable("the store answered no unit".into())),
        }
        if keys.len() == before {
            tries -= 1;
            if tries == 0 {
                return Err(StoreError::Busy);
            }
        }
    }
    Ok(())
}

/// Answers the keys that were busy.
fn plan(table: &Arc<Table>, number: i32, keys: Vec<ItemKey>) -> Unit<Vec<ItemKey>> {
    let wanted = keys.iter().map(|key| (key.clone(), Need::Image)).collect();
    let described = table.clone();
    let decide = move |images: &Images| {
        let mut changes = Vec::new();
        let mut busy = Vec::new();
        for (of, key) in keys.iter().enumerate() {
            match images.item(of) {
                Err(_) => busy.push(key.clone()),
                Ok(None) => {}
                Ok(Some(item)) => changes.extend(entries(&described, number, of, key, item)),
            }
        }
        Decision {
            changes,
            answer: busy,
        }
    };
    Unit {
        tables: vec![(table.id, table.version)],
        keys: Keys(wanted),
        decide: Box::new(decide),
    }
}

/// None for an item that lacks a key attribute of the index, or has one of another type.
fn entries(table: &Table, number: i32, of: usize, key: &ItemKey, item: &Item) -> Option<Change> {
    let index = find(table, number)?;
    let change = derive_fill(table, index, of, key, item);
    (!change.rows.is_empty()).then_some(change)
}

/// The table, while its index is being created.
async fn filling<S: Store>(
    store: &S,
    name: &TableName,
    number: i32,
) -> Result<Option<Arc<Table>>, StoreError> {
    let tables = store.tables(std::slice::from_ref(name), Access::Write).await?;
    let table = tables.into_iter().next().flatten();
    Ok(table.filter(|table| is_filling(table, number)))
}

fn is_filling(table: &Table, number: i32) -> bool {
    find(table, number).is_some_and(|index| index.status == TableStatus::Creating)
}

fn find(table: &Table, number: i32) -> Option<&Index> {
    table.indexes.iter().find(|index| index.number == number)
}

async fn alter_index<S: Store>(
    store: &S,
    name: &TableName,
    number: i32,
    change: fn(&mut Table, i32),
) -> Result<(), StoreError> {
    let decide = move |proposal: Proposal| {
        let existing = proposal.existing.filter(|table| is_filling(table, number));
        let changed = existing.map(|existing| {
            let mut table = existing.clone();
            table.version = Version(table.version.0 + 1);
            change(&mut table, number);
            TableChange::Replace(table)
        });
        Alteration {
            change: changed,
            answer: (),
        }
    };
    store.alter(name, Box::new(decide)).await
}
