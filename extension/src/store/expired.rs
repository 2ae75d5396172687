//! Items whose time is over: candidates for a sweep, which looks at each again under its lock.

use extenddb_core::{item::ItemKey, table::TableId, time::Timestamp};

use crate::spi::{self, Arg, Plan, Snapshot, Statement};

use super::storage;

/// Up to `max` of them, by the partial index on `expires`.
pub fn keys(table: TableId, before: Timestamp, max: usize) -> Vec<ItemKey> {
    let mut keys = Vec::new();
    if max == 0 {
        return keys;
    }
    let plan = Plan {
        table: table.0,
        index: None,
        statement: Statement::Expired,
        shape: 0,
    };
    let sql = || {
        format!(
            "SELECT bucket, pk, sk FROM {} WHERE expires OPERATOR(pg_catalog.<=) $1",
            storage::name(table, None)
        )
    };
    let args = [Arg::Int8((before.0 / 1000) as i64)];
    spi::with_snapshot(Snapshot::Transaction, || {
        spi::query(plan, sql, &args, max as u64, |row| {
            keys.push(ItemKey {
                table,
                bucket: row.int4(1),
                pk: row.bytes(2).into(),
                sk: row.bytes(3).into(),
            })
        });
    });
    keys
}
