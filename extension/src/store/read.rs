//! Items by key.

use std::collections::BTreeMap;

use extenddb_core::{
    item::{Item, ItemKey},
    table::TableId,
};
use pgrx::PgSqlErrorCode;

use crate::spi::{self, Arg, Plan, Statement};

use super::storage;

/// The items under these keys as the active snapshot sees them, in the order asked: one statement a table.
pub fn items(keys: &[&ItemKey]) -> Vec<Option<Item>> {
    if let [key] = keys {
        return vec![item(key)];
    }
    let mut found = vec![None; keys.len()];
    let mut places_by_table: BTreeMap<TableId, Vec<usize>> = BTreeMap::new();
    for (place, key) in keys.iter().enumerate() {
        places_by_table.entry(key.table).or_default().push(place);
    }
    for (table, places) in places_by_table {
        if let [place] = places[..] {
            found[place] = item(keys[place]);
            continue;
        }
        let of_table = || places.iter().map(|place| keys[*place]);
        let args = [
            Arg::Int4s(of_table().map(|key| key.bucket).collect()),
            Arg::BytesList(of_table().map(|key| key.pk.as_slice()).collect()),
            Arg::BytesList(of_table().map(|key| key.sk.as_slice()).collect()),
        ];
        let sql = || {
            format!(
                "SELECT k.place, CAST(t.item AS pg_catalog.bytea) \
                 FROM ROWS FROM (pg_catalog.unnest($1), pg_catalog.unnest($2), pg_catalog.unnest($3)) \
                 WITH ORDINALITY AS k (bucket, pk, sk, place) JOIN {} AS t \
                 ON t.bucket OPERATOR(pg_catalog.=) k.bucket AND t.pk OPERATOR(pg_catalog.=) k.pk \
                 AND t.sk OPERATOR(pg_catalog.=) k.sk",
                storage::name(table, None)
            )
        };
        let plan = Plan {
            table: table.0,
            index: None,
            statement: Statement::ReadMany,
            shape: 0,
        };
        spi::query(plan, sql, &args, 0, |row| {
            let place = places[row.int8(1) as usize - 1];
            found[place] = Some(checked(row.bytes(2), table));
        });
    }
    found
}

fn item(key: &ItemKey) -> Option<Item> {
    let mut found = None;
    let sql = || {
        let storage = storage::name(key.table, None);
        let key = storage::equals(&storage::key_columns(false, 0));
        format!("SELECT CAST(item AS pg_catalog.bytea) FROM {storage} WHERE {key}")
    };
    let plan = Plan {
        table: key.table.0,
        index: None,
        statement: Statement::Read,
        shape: 0,
    };
    let args = [Arg::Int4(key.bucket), Arg::Bytes(&key.pk), Arg::Bytes(&key.sk)];
    spi::query(plan, sql, &args, 0, |row| {
        found = Some(checked(row.bytes(1), key.table))
    });
    found
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
