//! Figures of a table: measured by reading its storage, a large one's by a sample of its blocks, and remembered for six
//! hours where the transaction may write. So a DescribeTable costs no more than reading some megabytes.

use extenddb_core::table::{Statistics, Table, TableId};
use pgrx::pg_sys;

use crate::{
    catalog::{self, Query},
    locks::{self, Tag},
    spi::{self, Arg, Plan, Snapshot, Statement},
};

use super::{storage, write};

pub fn statistics(table: &Table) -> Statistics {
    if let Some(known) = spi::with_snapshot(Snapshot::Transaction, || remembered(table.id)) {
        return known;
    }
    let measured = spi::with_snapshot(Snapshot::Transaction, || measured(table));
    // Whoever finds another at it leaves the remembering to that one; an old snapshot would meet its row with 40001.
    if may_write() && !write::one_snapshot() && locks::try_lock(Tag::of_statistics(table.id)) {
        remember(table.id, &measured);
    }
    measured
}

fn remembered(table: TableId) -> Option<Statistics> {
    let mut known = None;
    let sql = || {
        "SELECT items, bytes, CAST(indexes AS pg_catalog.text) FROM ddb.statistics \
         WHERE table_id OPERATOR(pg_catalog.=) $1 AND measured_at OPERATOR(pg_catalog.>) \
         (pg_catalog.now() OPERATOR(pg_catalog.-) CAST($2 AS pg_catalog.interval))"
            .into()
    };
    spi::query(
        catalog::plan(Query::Statistics),
        sql,
        &[Arg::Int4(table.0), Arg::Text("6 hours")],
        1,
        |row| {
            // Unreadable figures are measured again.
            known = serde_json::from_str(&row.text(3)).ok().map(|indexes| Statistics {
                items: row.int8(1) as u64,
                bytes: row.int8(2) as u64,
                indexes,
            });
        },
    );
    known
}

fn measured(table: &Table) -> Statistics {
    let (items, bytes) = measure(table.id, None);
    let of_index = |number: i32| {
        let (entries, bytes) = measure(table.id, Some(number));
        (number, entries, bytes)
    };
    Statistics {
        items,
        bytes,
        indexes: table.indexes.iter().map(|index| of_index(index.number)).collect(),
    }
}

/// Blocks of a table or index that are read whole; of a larger one so many are sampled.
const MEASURED_BLOCKS: u32 = 4_096;

fn measure(table: TableId, index: Option<i32>) -> (u64, u64) {
    let part = sampled_part(table, index);
    let mut figures = (0, 0);
    let sql = || {
        format!(
            "SELECT pg_catalog.count(*), CAST(pg_catalog.sum(ddb.item_size(item)) AS pg_catalog.int8) FROM {} \
             TABLESAMPLE system (CAST($1 AS pg_catalog.float4))",
            storage::name(table, index)
        )
    };
    let plan = Plan {
        table: table.0,
        index,
        statement: Statement::Measure,
        shape: 0,
    };
    let percent = (part * 100.0).to_string();
    spi::scan(plan, sql, &[Arg::Text(&percent)], |row| {
        figures = (row.int8(1) as u64, row.int8(2) as u64)
    });
    let whole = |sampled: u64| (sampled as f64 / part) as u64;
    (whole(figures.0), whole(figures.1))
}

/// Which part of the storage's blocks is read to measure it.
fn sampled_part(table: TableId, index: Option<i32>) -> f64 {
    let mut blocks = 0;
    let sql = || {
        "SELECT pg_catalog.pg_relation_size(CAST($1 AS pg_catalog.regclass)) \
         OPERATOR(pg_catalog./) CAST(pg_catalog.current_setting('block_size') AS pg_catalog.int8)"
            .into()
    };
    let storage = storage::name(table, index);
    spi::query(
        catalog::plan(Query::RelationBlocks),
        sql,
        &[Arg::Text(&storage)],
        1,
        |row| blocks = row.int8(1),
    );
    let measured = f64::from(MEASURED_BLOCKS);
    (measured / (blocks as f64).max(measured)).clamp(f64::MIN_POSITIVE, 1.0)
}

fn remember(table: TableId, figures: &Statistics) {
    let sql = || {
        "INSERT INTO ddb.statistics (table_id, measured_at, items, bytes, indexes) \
         VALUES ($1, pg_catalog.now(), $2, $3, CAST($4 AS pg_catalog.json)) \
         ON CONFLICT (table_id) DO UPDATE SET measured_at = EXCLUDED.measured_at, items = EXCLUDED.items, \
         bytes = EXCLUDED.bytes, indexes = EXCLUDED.indexes"
            .into()
    };
    let indexes = serde_json::to_string(&figures.indexes).unwrap_or_else(|_| "[]".into());
    let args = [
        Arg::Int4(table.0),
        Arg::Int8(figures.items as i64),
        Arg::Int8(figures.bytes as i64),
        Arg::Text(&indexes),
    ];
    spi::change(catalog::plan(Query::Remember), sql, &args);
}

fn may_write() -> bool {
    // SAFETY: settings of this backend's transaction.
    unsafe { !pg_sys::XactReadOnly && !pg_sys::RecoveryInProgress() }
}
