//! The tables of PostgreSQL that hold items: their names, and what creates and drops them.
//!
//! A table's items are in `ddb_data.t<id>`, an index's entries in `ddb_data.t<id>_i<number>`.

use extenddb_core::table::{Index, Table, TableId};

use crate::{
    catalog::{self, Query},
    spi::{self, Arg},
};

/// The qualified name of the storage of a table or of one of its indexes.
pub fn name(table: TableId, index: Option<i32>) -> String {
    match index {
        None => format!("ddb_data.t{}", table.0),
        Some(number) => format!("ddb_data.t{}_i{number}", table.0),
    }
}

/// The key columns in their order; `ranges` counts the RANGE attributes of an index.
pub fn key_columns(index: bool, ranges: usize) -> Vec<String> {
    let mut columns = vec!["bucket".to_owned()];
    if index {
        columns.push("ipk".into());
        columns.extend((1..=ranges).map(|place| format!("isk{place}")));
    }
    columns.extend(["pk".into(), "sk".into()]);
    columns
}

pub fn create_table(table: &Table) {
    let storage = name(table.id, None);
    let compression = compression();
    // fillfactor leaves room for updates in the page (HOT). The index on `expires` is there from the start: a function
    // cannot create one concurrently later.
    spi::utility(&format!(
        "CREATE TABLE {storage} (bucket pg_catalog.int4 NOT NULL, pk pg_catalog.bytea NOT NULL, \
         sk pg_catalog.bytea NOT NULL, expires pg_catalog.int8, item ddb.item {compression} NOT NULL, \
         PRIMARY KEY (bucket, pk, sk)) USING heap WITH (fillfactor = 85)"
    ));
    leave_items_to_themselves(&storage);
    spi::utility(&format!(
        "CREATE INDEX ON {storage} (expires) WHERE expires IS NOT NULL"
    ));
    spi::utility(&format!("COMMENT ON TABLE {storage} IS {}", quoted(&table.name)));
    for index in &table.indexes {
        create_index(table, index);
    }
}

pub fn create_index(table: &Table, index: &Index) {
    let storage = name(table.id, Some(index.number));
    let columns = key_columns(true, index.range.len());
    let typed: Vec<String> = columns
        .iter()
        .map(|column| {
            let kind = if column == "bucket" { "int4" } else { "bytea" };
            format!("{column} pg_catalog.{kind} NOT NULL")
        })
        .collect();
    spi::utility(&format!(
        "CREATE TABLE {storage} ({}, item ddb.item {} NOT NULL, PRIMARY KEY ({})) USING heap WITH (fillfactor = 85)",
        typed.join(", "),
        compression(),
        columns.join(", ")
    ));
    leave_items_to_themselves(&storage);
    let comment = format!("{} {}", table.name, index.name);
    spi::utility(&format!("COMMENT ON TABLE {storage} IS {}", quoted(&comment)));
}

/// ANALYZE would compare whole items with each other, and keep some of them in pg_statistic.
fn leave_items_to_themselves(storage: &str) {
    spi::utility(&format!(
        "ALTER TABLE {storage} ALTER COLUMN item SET STATISTICS 0"
    ));
}

/// What somebody dropped by hand does not keep the rest.
pub fn drop_table(table: &Table) {
    let mut storages = vec![name(table.id, None)];
    storages.extend(
        table
            .indexes
            .iter()
            .map(|index| name(table.id, Some(index.number))),
    );
    spi::utility(&format!("DROP TABLE IF EXISTS {}", storages.join(", ")));
}

pub fn drop_index(table: TableId, number: i32) {
    spi::utility(&format!("DROP TABLE {}", name(table, Some(number))));
}

/// lz4 where the server has it.
fn compression() -> &'static str {
    let mut available = false;
    let sql = || {
        "SELECT 1 FROM pg_catalog.pg_settings WHERE name OPERATOR(pg_catalog.=) $1 \
         AND $2 OPERATOR(pg_catalog.=) ANY (enumvals)"
            .into()
    };
    let plan = catalog::plan(Query::SettingOffers);
    let args = [Arg::Text("default_toast_compression"), Arg::Text("lz4")];
    spi::query(plan, sql, &args, 1, |_| available = true);
    if available { "COMPRESSION lz4" } else { "" }
}

fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('\'', "''");
    format!("E'{escaped}'")
}
