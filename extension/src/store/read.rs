//! Items by key.

use std::collections::BTreeMap;

use extenddb_core::{
    item::{Item, ItemKey},
    table::TableId,
};
use pgrx::PgSqlErrorCode;

use crate::spi;

use super::{
    rows::{RowKey, Storage, Tid},
    storage,
};

/// The items under these keys as the active snapshot sees them, in the order asked.
pub fn items(keys: &[&ItemKey]) -> Vec<Option<Item>> {
    let rows = rows(keys).into_iter();
    rows.map(|row| row.map(|(_, item)| item)).collect()
}

/// The same with the places of their rows. The caller holds a lock on the storages.
pub fn rows(keys: &[&ItemKey]) -> Vec<Option<(Tid, Item)>> {
    let mut found = Vec::new();
    found.resize_with(keys.len(), || None);
    if let [key] = keys {
        of_table(key.table, keys, &[0], &mut found);
        return found;
    }
    let mut places_by_table: BTreeMap<TableId, Vec<usize>> = BTreeMap::new();
    for (place, key) in keys.iter().enumerate() {
        places_by_table.entry(key.table).or_default().push(place);
    }
    for (table, places) in places_by_table {
        of_table(table, keys, &places, &mut found);
    }
    found
}

fn of_table(table: TableId, keys: &[&ItemKey], places: &[usize], found: &mut [Option<(Tid, Item)>]) {
    let storage = Storage::of_table(table);
    let mut scan = storage.scan();
    let item_column = storage.item_column();
    for place in places {
        found[*place] = scan.find(&RowKey::from(keys[*place])).map(|tid| {
            // SAFETY: an item is a varlena, and its column is not null.
            let bytes = unsafe { spi::copied(scan.column(item_column)) };
            (tid, checked(bytes, table))
        });
    }
    scan.close();
    storage.close();
}

/// An item of a table's storage. Bytes that are none mean corruption: never passed on.
pub fn checked(bytes: Box<[u8]>, table: TableId) -> Item {
    match Item::from_bytes(bytes) {
        Ok(item) => item,
        Err(_) => spi::raise(
            PgSqlErrorCode::ERRCODE_DATA_CORRUPTED,
            &format!("{} holds bytes that are no item", storage::name(table, None)),
        ),
    }
}
