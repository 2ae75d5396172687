//! Creating, changing and dropping tables: a transaction of its own between the others, which changes the storage and
//! the catalog together.

use std::panic::{AssertUnwindSafe, catch_unwind};

use extenddb_core::{
    store::{Alteration, Proposal, StoreError, TableChange},
    table::{Table, TableId, TableName},
};
use rusqlite::{Connection, params};

use crate::{Fault, statistics::Remembered, storage, writer::Database};

pub fn alter<T>(
    database: &Database,
    name: &TableName,
    statistics: &Remembered,
    decide: &(dyn Fn(Proposal) -> Alteration<T> + Send),
) -> Result<T, StoreError> {
    let existing = database.catalog().by_name(name);
    let proposal = Proposal {
        existing: existing.as_deref(),
        fresh: next_id(database.connection())?,
    };
    let Ok(Alteration { change, answer }) = catch_unwind(AssertUnwindSafe(|| decide(proposal))) else {
        return Err(StoreError::Unavailable("a decision on a table panicked".into()));
    };
    match (change, existing.as_deref()) {
        (None, _) => {}
        (Some(TableChange::Create(table)), None) => {
            database.commit(|| create(database.connection(), &table))?;
            database.catalog().put(table);
        }
        (Some(TableChange::Replace(table)), Some(existing)) if table.id == existing.id => {
            database.commit(|| replace(database.connection(), existing, &table))?;
            database.catalog().put(table);
        }
        (Some(TableChange::Drop(id)), Some(existing)) if id == existing.id => {
            database.commit(|| drop(database.connection(), existing))?;
            database.catalog().remove(name);
            statistics.forget(id);
        }
        (Some(_), _) => {
            let text = format!("a change of table {} that does not fit what is there", name.name);
            return Err(StoreError::Unavailable(text));
        }
    }
    Ok(answer)
}

fn next_id(connection: &Connection) -> Result<TableId, Fault> {
    let sql = "SELECT seq FROM sqlite_sequence WHERE name = 'tables'";
    let last: i32 = connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    Ok(TableId(last + 1))
}

fn create(connection: &Connection, table: &Table) -> Result<(), Fault> {
    connection.execute_batch(&storage::create_table(table))?;
    let args = params![
        table.id.0,
        table.account.0,
        table.name,
        table.version.0,
        document(table)?
    ];
    connection
        .prepare_cached(
            "INSERT INTO tables (id, account, name, version, description) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(args)?;
    Ok(())
}

fn replace(connection: &Connection, existing: &Table, table: &Table) -> Result<(), Fault> {
    let has = |table: &Table, number| table.indexes.iter().any(|index| index.number == number);
    for gone in existing.indexes.iter().filter(|index| !has(table, index.number)) {
        connection.execute_batch(&storage::drop(table.id, Some(gone.number)))?;
    }
    for added in table.indexes.iter().filter(|index| !has(existing, index.number)) {
        connection.execute_batch(&storage::create_index(table.id, added.number, added.range.len()))?;
    }
    let args = params![table.id.0, table.version.0, document(table)?];
    connection
        .prepare_cached("UPDATE tables SET version = ?2, description = ?3 WHERE id = ?1")?
        .execute(args)?;
    Ok(())
}

fn drop(connection: &Connection, table: &Table) -> Result<(), Fault> {
    let of_indexes = table
        .indexes
        .iter()
        .map(|index| storage::drop(table.id, Some(index.number)));
    let sql: String = of_indexes.chain([storage::drop(table.id, None)]).collect();
    connection.execute_batch(&sql)?;
    connection
        .prepare_cached("DELETE FROM tables WHERE id = ?1")?
        .execute([table.id.0])?;
    Ok(())
}

fn document(table: &Table) -> Result<String, Fault> {
    serde_json::to_string(table).map_err(|error| Fault::Corrupt(format!("a description: {error}")))
}
