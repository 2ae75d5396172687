//! Figures of a table: measured by reading it from its first bucket on, a large one's by a sample, and remembered for six
//! hours. Buckets are hashes, so what stands in the first part of them speaks for the rest.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use extenddb_core::{
    item::Item,
    table::{Statistics, TableId},
};
use rusqlite::Connection;

use crate::{
    Fault,
    lookup::{in_one_snapshot, or_gone},
    storage,
};

const REMEMBERED_FOR: Duration = Duration::from_secs(6 * 60 * 60);

/// What is read at most of a table, and of each index.
const SAMPLE_ROWS: u64 = 100_000;
const SAMPLE_BYTES: u64 = 32 << 20;

#[derive(Default)]
pub struct Remembered {
    figures: Mutex<HashMap<TableId, (Instant, Statistics)>>,
}

impl Remembered {
    pub fn get(&self, table: TableId) -> Option<Statistics> {
        let figures = self.figures();
        let (measured_at, known) = figures.get(&table)?;
        (measured_at.elapsed() < REMEMBERED_FOR).then(|| known.clone())
    }

    pub fn put(&self, table: TableId, measured: Statistics) {
        self.figures().insert(table, (Instant::now(), measured));
    }

    pub fn forget(&self, table: TableId) {
        self.figures().remove(&table);
    }

    fn figures(&self) -> MutexGuard<'_, HashMap<TableId, (Instant, Statistics)>> {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub fn measure(connection: &Connection, table: TableId, indexes: &[i32]) -> Result<Statistics, Fault> {
    in_one_snapshot(connection, || {
        let sample = |index| {
            let sampled = sample(connection, table, index, SAMPLE_ROWS, SAMPLE_BYTES);
            or_gone(connection, table, index, sampled)
        };
        let (items, bytes) = sample(None)?;
        let mut statistics = Statistics {
            items,
            bytes,
            indexes: Vec::new(),
        };
        for &number in indexes {
            let (entries, bytes) = sample(Some(number))?;
            statistics.indexes.push((number, entries, bytes));
        }
        Ok(statistics)
    })
}

fn sample(
    connection: &Connection,
    table: TableId,
    index: Option<i32>,
    max_rows: u64,
    max_bytes: u64,
) -> Result<(u64, u64), Fault> {
    let sql = format!(
        "SELECT bucket, item FROM {} ORDER BY bucket",
        storage::name(table, index)
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    let (mut count, mut bytes) = (0, 0);
    while let Some(row) = rows.next()? {
        count += 1;
        let item = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        bytes += Item::size_of_prefix(item).unwrap_or(0) as u64;
        if count >= max_rows || bytes >= max_bytes {
            let bucket: i32 = row.get(0)?;
            // Which part of all buckets was read.
            let read = (f64::from(bucket) - f64::from(i32::MIN) + 1.0) / 2f64.powi(32);
            let whole = |sampled: u64| (sampled as f64 / read) as u64;
            return Ok((whole(count), whole(bytes)));
        }
    }
    Ok((count, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use extenddb_core::item::{AttributeValue, Attributes, encode_hash, hash_bucket};

    #[test]
    fn a_large_table_is_measured_by_a_sample() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch("CREATE TABLE t5 (bucket INTEGER, pk BLOB, item BLOB)")
            .unwrap();
        const ITEMS: u64 = 20_000;
        let item = Item::encode(&Attributes::from([(
            "pk".into(),
            AttributeValue::S("12345".into()),
        )]));
        for number in 0..ITEMS {
            let hash = encode_hash([&AttributeValue::S(number.to_string())]);
            let sql = "INSERT INTO t5 VALUES (?1, ?2, ?3)";
            let mut insert = connection.prepare_cached(sql).unwrap();
            insert
                .execute(rusqlite::params![hash_bucket(&hash), hash, item.as_bytes()])
                .unwrap();
        }
        let whole = sample(&connection, TableId(5), None, u64::MAX, u64::MAX).unwrap();
        assert_eq!(whole, (ITEMS, ITEMS * 7));
        let (items, bytes) = sample(&connection, TableId(5), None, 2_000, u64::MAX).unwrap();
        // 2,000 of uniform hashes: three standard deviations are 7 %.
        assert!(items.abs_diff(ITEMS) < ITEMS / 10, "{items}");
        assert!(bytes.abs_diff(ITEMS * 7) < ITEMS * 7 / 10, "{bytes}");
    }
}
