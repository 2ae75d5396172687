//! Where things are: one SQL table a DynamoDB table and one an index, and the catalog. The columns are those that the
//! extension has in PostgreSQL.

use extenddb_core::table::{Table, TableId};

/// Version 1. An id is never given again (AUTOINCREMENT); 0 and 1 are the system tables: tokens and claims.
pub const CATALOG: &str = "
    CREATE TABLE tables (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        account TEXT NOT NULL,
        name TEXT NOT NULL,
        version INTEGER NOT NULL,
        description TEXT NOT NULL,
        UNIQUE (account, name)
    );
    INSERT INTO sqlite_sequence (name, seq) VALUES ('tables', 1);
    CREATE TABLE t0 (bucket INTEGER NOT NULL, pk BLOB NOT NULL, sk BLOB NOT NULL, expires INTEGER, item BLOB NOT NULL,
        PRIMARY KEY (bucket, pk, sk));
    CREATE INDEX t0_expires ON t0 (expires) WHERE expires IS NOT NULL;
    CREATE TABLE t1 (bucket INTEGER NOT NULL, pk BLOB NOT NULL, sk BLOB NOT NULL, expires INTEGER, item BLOB NOT NULL,
        PRIMARY KEY (bucket, pk, sk));
    CREATE INDEX t1_expires ON t1 (expires) WHERE expires IS NOT NULL;
";

/// `t42`, or `t42_i3`.
pub fn name(table: TableId, index: Option<i32>) -> String {
    match index {
        None => format!("t{}", table.0),
        Some(number) => format!("t{}_i{number}", table.0),
    }
}

/// The columns of the primary key, in order. `ranges`: how many RANGE attributes an index has.
pub fn key_columns(index: Option<i32>, ranges: usize) -> Vec<String> {
    let mut columns = vec!["bucket".to_owned()];
    if index.is_some() {
        columns.push("ipk".into());
        columns.extend((1..=ranges).map(|number| format!("isk{number}")));
    }
    columns.extend(["pk".into(), "sk".into()]);
    columns
}

/// The statements that make a table and its indexes.
pub fn create_table(table: &Table) -> String {
    let name = name(table.id, None);
    let mut sql = format!(
        "CREATE TABLE {name} (bucket INTEGER NOT NULL, pk BLOB NOT NULL, sk BLOB NOT NULL, expires INTEGER, \
         item BLOB NOT NULL, PRIMARY KEY (bucket, pk, sk)); \
         CREATE INDEX {name}_expires ON {name} (expires) WHERE expires IS NOT NULL; "
    );
    for index in &table.indexes {
        sql += &create_index(table.id, index.number, index.range.len());
    }
    sql
}

pub fn create_index(table: TableId, number: i32, ranges: usize) -> String {
    let columns = key_columns(Some(number), ranges);
    let declared: String = columns
        .iter()
        .map(|column| match column.as_str() {
            "bucket" => "bucket INTEGER NOT NULL, ".to_owned(),
            column => format!("{column} BLOB NOT NULL, "),
        })
        .collect();
    format!(
        "CREATE TABLE {} ({declared}item BLOB NOT NULL, PRIMARY KEY ({})); ",
        name(table, Some(number)),
        columns.join(", ")
    )
}

pub fn drop(table: TableId, index: Option<i32>) -> String {
    format!("DROP TABLE {}; ", name(table, index))
}
