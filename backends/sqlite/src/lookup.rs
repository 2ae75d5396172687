//! Items by key.

use extenddb_core::{
    item::{Item, ItemKey},
    table::TableId,
};
use rusqlite::{Connection, OptionalExtension, ffi, params};

use crate::{Fault, storage};

/// The items under these keys, of one snapshot, in the order asked. A table that is gone has none.
pub fn items(connection: &Connection, keys: &[ItemKey]) -> Result<Vec<Option<Item>>, Fault> {
    let look = || keys.iter().map(|key| item_of_table(connection, key)).collect();
    match keys {
        [_] => look(),
        _ => in_one_snapshot(connection, look),
    }
}

/// Reads with several statements what was there at one moment. Within a transaction: what it sees.
pub fn in_one_snapshot<T>(
    connection: &Connection,
    look: impl FnOnce() -> Result<T, Fault>,
) -> Result<T, Fault> {
    if !connection.is_autocommit() {
        return look();
    }
    let transaction = connection.unchecked_transaction()?;
    let seen = look();
    // Nothing was written: it ends the snapshot.
    transaction.finish()?;
    seen
}

fn item_of_table(connection: &Connection, key: &ItemKey) -> Result<Option<Item>, Fault> {
    match or_gone(connection, key.table, None, item(connection, key)) {
        Err(Fault::Gone) => Ok(None),
        found => found,
    }
}

/// [`Fault::Gone`] of a look at storage that is no longer there. SQLite has one code for all that can be wrong with the
/// text of a statement, so it is asked.
pub fn or_gone<T>(
    connection: &Connection,
    table: TableId,
    index: Option<i32>,
    looked: Result<T, Fault>,
) -> Result<T, Fault> {
    let error = match &looked {
        Err(Fault::Sql(rusqlite::Error::SqliteFailure(error, _))) => error,
        Err(Fault::Sql(rusqlite::Error::SqlInputError { error, .. })) => error,
        _ => return looked,
    };
    if error.extended_code != ffi::SQLITE_ERROR {
        return looked;
    }
    match connection.table_exists(None, storage::name(table, index).as_str())? {
        true => looked,
        false => Err(Fault::Gone),
    }
}

pub fn item(connection: &Connection, key: &ItemKey) -> Result<Option<Item>, Fault> {
    let name = storage::name(key.table, None);
    let sql = format!("SELECT item FROM {name} WHERE bucket = ?1 AND pk = ?2 AND sk = ?3");
    let found = connection
        .prepare_cached(&sql)?
        .query_row(params![key.bucket, key.pk, key.sk], |row| {
            Ok(row.get_ref(0)?.as_blob()?.into())
        })
        .optional()?;
    found.map(|bytes| checked(bytes, key.table)).transpose()
}

/// Bytes from the file are never trusted.
pub fn checked(bytes: Box<[u8]>, table: TableId) -> Result<Item, Fault> {
    Item::from_bytes(bytes).map_err(|_| {
        Fault::Corrupt(format!(
            "{} holds bytes that are no item",
            storage::name(table, None)
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_table_that_is_not_there_is_gone() {
        let directory = tempfile::tempdir().unwrap();
        let open = || Connection::open(directory.path().join("data.sqlite")).unwrap();
        let (writer, reader) = (open(), open());
        writer.execute_batch(storage::CATALOG).unwrap();
        let key = ItemKey {
            table: TableId::TOKENS,
            bucket: 0,
            pk: vec![1],
            sk: Vec::new(),
        };
        let look = || or_gone(&reader, key.table, None, item(&reader, &key));
        assert_eq!(look().unwrap(), None);
        // The reader has a statement for it, and learns of this when it runs it.
        writer.execute_batch("DROP TABLE t0").unwrap();
        assert!(matches!(look(), Err(Fault::Gone)));
        // Now it has none.
        assert!(matches!(look(), Err(Fault::Gone)));
        writer.execute_batch("CREATE TABLE t0 (another)").unwrap();
        assert!(matches!(look(), Err(Fault::Sql(_))));
    }
}
