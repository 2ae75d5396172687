//! Creating, changing and dropping tables.
//!
//! A name is locked first, so that of two sessions that create it one decides after the other's commit. A change of an
//! existing table then locks out its writers up to its commit: from then on every writer plans with the new
//! description.

use extenddb_core::{
    store::{Alteration, Proposal, StoreError, TableChange},
    table::{Table, TableId, TableName},
};
use pgrx::{PgSqlErrorCode, pg_sys};

use crate::{
    catalog::{self, Query},
    locks::{self, NotHad, Patience, Tag},
    spi::{self, Arg, Snapshot},
};

use super::{storage, write};

impl From<NotHad> for StoreError {
    fn from(_: NotHad) -> Self {
        StoreError::Busy
    }
}

pub fn alter<T>(
    name: &TableName,
    patience: &Patience,
    decide: Box<dyn Fn(Proposal) -> Alteration<T> + Send>,
) -> Result<T, StoreError> {
    // SAFETY: raises 25006 in a read-only transaction and on a standby.
    unsafe { pg_sys::PreventCommandIfReadOnly(c"a change of a table".as_ptr()) };
    locks::lock_patiently(Tag::of_name(name), patience)?;
    let existing = match catalog::find(name) {
        None => None,
        Some((id, oid)) => {
            locks::wait_in_turns(patience, || {
                locks::lock_relation(oid, pg_sys::ShareRowExclusiveLock)
            })?;
            catalog::describe(id)
        }
    };
    let fresh = if existing.is_none() { next_id() } else { TableId(0) };
    let Alteration { change, answer } = decide(Proposal {
        existing: existing.as_deref(),
        fresh,
    });
    match (change, existing.as_deref()) {
        (None, _) => {}
        (Some(TableChange::Create(table)), None) => create(&table),
        (Some(TableChange::Replace(table)), Some(existing)) => replace(existing, &table, patience)?,
        (Some(TableChange::Drop(id)), Some(existing)) if id == existing.id => drop(existing, patience)?,
        (Some(_), _) => {
            let text = format!("a change of table {} that does not fit what is there", name.name);
            spi::raise(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, &text);
        }
    }
    Ok(answer)
}

fn create(table: &Table) {
    storage::create_table(table);
    // The name is locked and was not found: a row that is there lost its storage, to a DROP TABLE by hand or to a
    // restore of a part. It would neither be found nor make room for ever.
    let sql = || {
        "INSERT INTO ddb.tables (id, account, name, version, description) \
         VALUES ($1, $2, $3, $4, CAST($5 AS pg_catalog.json)) \
         ON CONFLICT (account, name) DO UPDATE SET id = EXCLUDED.id, version = EXCLUDED.version, \
         description = EXCLUDED.description"
            .into()
    };
    let args = [
        Arg::Int4(table.id.0),
        Arg::Text(&table.account.0),
        Arg::Text(&table.name),
        Arg::Int8(table.version.0),
        Arg::Text(&document(table)),
    ];
    one_row(
        spi::change(catalog::plan(Query::InsertTable), sql, &args),
        table.id,
    );
}

fn replace(existing: &Table, table: &Table, patience: &Patience) -> Result<(), StoreError> {
    let gone: Vec<i32> = existing
        .indexes
        .iter()
        .map(|index| index.number)
        .filter(|number| !has_index(table, *number))
        .collect();
    if !gone.is_empty() {
        // Readers of the index hold no lock that excludes ours.
        locks::wait_in_turns(patience, || {
            gone.iter()
                .for_each(|number| storage::drop_index(table.id, *number))
        })?;
    }
    let added = table
        .indexes
        .iter()
        .filter(|index| !has_index(existing, index.number));
    for index in added {
        // A fill would not see the items that came after the snapshot.
        if write::one_snapshot() {
            spi::raise(
                PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
                "an index can be added to a table only at isolation level READ COMMITTED",
            );
        }
        storage::create_index(table, index);
    }
    let sql = || {
        "UPDATE ddb.tables SET version = $2, description = CAST($3 AS pg_catalog.json) \
         WHERE id OPERATOR(pg_catalog.=) $1"
            .into()
    };
    let args = [
        Arg::Int4(table.id.0),
        Arg::Int8(table.version.0),
        Arg::Text(&document(table)),
    ];
    one_row(
        spi::change(catalog::plan(Query::UpdateTable), sql, &args),
        table.id,
    );
    catalog::changed(table.id);
    Ok(())
}

fn drop(table: &Table, patience: &Patience) -> Result<(), StoreError> {
    // Readers hold no lock that excludes ours.
    locks::wait_in_turns(patience, || storage::drop_table(table))?;
    let id = [Arg::Int4(table.id.0)];
    let sql = || "DELETE FROM ddb.tables WHERE id OPERATOR(pg_catalog.=) $1".into();
    one_row(spi::change(catalog::plan(Query::DeleteTable), sql, &id), table.id);
    let sql = || "DELETE FROM ddb.statistics WHERE table_id OPERATOR(pg_catalog.=) $1".into();
    spi::change(catalog::plan(Query::DeleteStatistics), sql, &id);
    Ok(())
}

fn next_id() -> TableId {
    let mut id = 0;
    let sql = || "SELECT CAST(pg_catalog.nextval(CAST($1 AS pg_catalog.regclass)) AS pg_catalog.int4)".into();
    let args = [Arg::Text("ddb.table_id_seq")];
    spi::with_snapshot(Snapshot::Latest, || {
        spi::query(catalog::plan(Query::NextTableId), sql, &args, 1, |row| {
            id = row.int4(1)
        })
    });
    TableId(id)
}

fn has_index(table: &Table, number: i32) -> bool {
    table.indexes.iter().any(|index| index.number == number)
}

fn document(table: &Table) -> String {
    match serde_json::to_string(table) {
        Ok(document) => document,
        Err(error) => spi::raise(
            PgSqlErrorCode::ERRCODE_INTERNAL_ERROR,
            &format!("a description: {error}"),
        ),
    }
}

fn one_row(touched: u64, table: TableId) {
    if touched != 1 {
        // The catalog's row is newer than the caller's snapshot.
        if write::one_snapshot() {
            write::serialization_failure();
        }
        let text = format!(
            "a change of table {} touched {touched} rows of the catalog",
            table.0
        );
        spi::raise(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, &text);
    }
}
