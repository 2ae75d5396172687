//! Items whose time has come, by the index on it.

use extenddb_core::{item::ItemKey, table::TableId, time::Timestamp};
use rusqlite::{Connection, params};

use crate::{Fault, lookup::or_gone, storage};

/// A table that is gone has none.
pub fn keys(
    connection: &Connection,
    table: TableId,
    before: Timestamp,
    max: usize,
) -> Result<Vec<ItemKey>, Fault> {
    match or_gone(connection, table, None, look(connection, table, before, max)) {
        Err(Fault::Gone) => Ok(Vec::new()),
        found => found,
    }
}

fn look(
    connection: &Connection,
    table: TableId,
    before: Timestamp,
    max: usize,
) -> Result<Vec<ItemKey>, Fault> {
    let name = storage::name(table, None);
    let mut statement = connection.prepare_cached(&sql(&name))?;
    let key = |row: &rusqlite::Row<'_>| {
        Ok(ItemKey {
            table,
            bucket: row.get(0)?,
            pk: row.get(1)?,
            sk: row.get(2)?,
        })
    };
    let seconds = i64::try_from(before.0 / 1000).unwrap_or(i64::MAX);
    let max = i64::try_from(max).unwrap_or(i64::MAX);
    let found = statement.query_map(params![seconds, max], key)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn sql(name: &str) -> String {
    format!("SELECT bucket, pk, sk FROM {name} WHERE expires <= ?1 LIMIT ?2")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_expires_is_looked_at() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(storage::CATALOG).unwrap();
        let plan = format!("EXPLAIN QUERY PLAN {}", sql("t0"));
        let plan: String = connection
            .query_row(&plan, params![1, 1], |row| row.get(3))
            .unwrap();
        assert_eq!(plan, "SEARCH t0 USING INDEX t0_expires (expires<?)");
    }
}
