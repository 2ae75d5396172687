//! The changes of a decision as statements, each of which touches exactly one row.

use extenddb_core::{
    item::{Item, ItemKey},
    table::TableId,
    write::{Image, IndexRow, RowWrite},
};
use pgrx::{PgSqlErrorCode, pg_sys};

use crate::spi::{self, Arg, Plan, Statement};

use super::storage;

/// Puts an item in the place of what `image` says is there.
pub fn put(key: &ItemKey, image: &Image, item: &Item, expires_s: Option<i64>) {
    let table = storage::name(key.table, None);
    let args = [
        Arg::Int4(key.bucket),
        Arg::Bytes(&key.pk),
        Arg::Bytes(&key.sk),
        Arg::Bytes(item.as_bytes()),
        expires_s.map_or(Arg::NullInt8, Arg::Int8),
    ];
    let insert = || {
        format!(
            "INSERT INTO {table} (bucket, pk, sk, item, expires) VALUES ($1, $2, $3, CAST($4 AS ddb.item), $5)"
        )
    };
    let touched = match image {
        Image::Present(_) => {
            let key_is = storage::equals(&storage::key_columns(false, 0));
            let sql =
                || format!("UPDATE {table} SET item = CAST($4 AS ddb.item), expires = $5 WHERE {key_is}");
            spi::change(base(key, Statement::Update), sql, &args)
        }
        Image::Absent => spi::change(base(key, Statement::Insert), insert, &args),
        Image::Unread | Image::Busy => {
            let sql = || {
                format!(
                    "{} ON CONFLICT (bucket, pk, sk) DO UPDATE SET item = EXCLUDED.item, expires = EXCLUDED.expires",
                    insert()
                )
            };
            spi::change(base(key, Statement::Upsert), sql, &args)
        }
    };
    touched_one(touched, key.table);
}

/// Deletes the item under a key; there need be none where no image was read.
pub fn delete(key: &ItemKey, image: &Image) {
    if *image == Image::Absent {
        return;
    }
    let sql = || {
        let table = storage::name(key.table, None);
        format!(
            "DELETE FROM {table} WHERE {}",
            storage::equals(&storage::key_columns(false, 0))
        )
    };
    let args = [Arg::Int4(key.bucket), Arg::Bytes(&key.pk), Arg::Bytes(&key.sk)];
    let touched = spi::change(base(key, Statement::Delete), sql, &args);
    if *image != Image::Unread {
        touched_one(touched, key.table);
    }
}

pub fn index_row(table: TableId, row: &IndexRow) {
    let storage = storage::name(table, Some(row.index));
    let columns = storage::key_columns(true, row.key.ranges.len());
    let mut args = vec![Arg::Int4(row.key.bucket), Arg::Bytes(&row.key.hash)];
    args.extend(row.key.ranges.iter().map(|range| Arg::Bytes(range)));
    args.extend([Arg::Bytes(&row.key.pk), Arg::Bytes(&row.key.sk)]);
    let item_place = columns.len() + 1;
    let (statement, item) = match &row.write {
        RowWrite::Insert(item) => (Statement::Insert, Some(item)),
        RowWrite::Update(item) => (Statement::Update, Some(item)),
        RowWrite::Delete | RowWrite::Clear => (Statement::Delete, None),
        RowWrite::Set(item) => (Statement::Upsert, Some(item)),
    };
    args.extend(item.map(|item| Arg::Bytes(item.as_bytes())));
    let insert = || {
        let places: Vec<String> = (1..item_place).map(|place| format!("${place}")).collect();
        format!(
            "INSERT INTO {storage} ({}, item) VALUES ({}, CAST(${item_place} AS ddb.item))",
            columns.join(", "),
            places.join(", ")
        )
    };
    let sql = || match statement {
        Statement::Insert => insert(),
        Statement::Upsert => format!(
            "{} ON CONFLICT ({}) DO UPDATE SET item = EXCLUDED.item",
            insert(),
            columns.join(", ")
        ),
        Statement::Update => {
            let key_is = storage::equals(&columns);
            format!("UPDATE {storage} SET item = CAST(${item_place} AS ddb.item) WHERE {key_is}")
        }
        _ => format!("DELETE FROM {storage} WHERE {}", storage::equals(&columns)),
    };
    let plan = Plan {
        table: table.0,
        index: Some(row.index),
        statement,
        shape: row.key.ranges.len() as u64,
    };
    let touched = spi::change(plan, sql, &args);
    if row.write != RowWrite::Clear {
        touched_one(touched, table);
    }
}

/// A statement that touched another number of rows than the image promised would leave item and index apart.
fn touched_one(touched: u64, table: TableId) {
    if touched == 1 {
        return;
    }
    if one_snapshot() {
        serialization_failure();
    }
    spi::raise(
        PgSqlErrorCode::ERRCODE_INTERNAL_ERROR,
        &format!("a write of {} touched {touched} rows", storage::name(table, None)),
    );
}

/// Whether the caller's isolation level keeps one snapshot for the transaction.
pub fn one_snapshot() -> bool {
    // SAFETY: a setting of this backend's transaction.
    unsafe { pg_sys::XactIsoLevel >= pg_sys::XACT_REPEATABLE_READ as i32 }
}

pub fn serialization_failure() -> ! {
    spi::raise(
        PgSqlErrorCode::ERRCODE_T_R_SERIALIZATION_FAILURE,
        "could not serialize access due to concurrent update",
    )
}

fn base(key: &ItemKey, statement: Statement) -> Plan {
    Plan {
        table: key.table.0,
        index: None,
        statement,
        shape: 0,
    }
}
