//! The descriptions of tables that this backend has seen.
//!
//! A description is dropped from here by the relcache invalidation of its item table, which arrives with the lock on
//! that table. So: lock first, then look. A description is loaded as it is committed now, whatever snapshot the caller
//! has, and kept only if no invalidation came while it was loaded.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    ffi::CString,
    sync::Arc,
};

use extenddb_core::table::{Table, TableId, TableName};
use pgrx::{PgSqlErrorCode, pg_sys};

use crate::spi::{self, Arg, Plan, Snapshot, Statement};

#[derive(Default)]
struct Known {
    tables: HashMap<TableId, (pg_sys::Oid, Arc<Table>)>,
    /// Only of tables above.
    names: HashMap<TableName, TableId>,
    oids: HashMap<pg_sys::Oid, TableId>,
}

thread_local! {
    static KNOWN: RefCell<Known> = RefCell::default();
    /// Counts invalidations of any table.
    static INVALIDATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Registers the relcache callback; called once, from `_PG_init`.
pub fn init() {
    // SAFETY: the function lives as long as the library, which is never unloaded.
    unsafe {
        pg_sys::CacheRegisterRelcacheCallback(Some(relcache_invalidated), pg_sys::Datum::from(0_usize))
    };
}

unsafe extern "C-unwind" fn relcache_invalidated(_arg: pg_sys::Datum, oid: pg_sys::Oid) {
    INVALIDATIONS.set(INVALIDATIONS.get() + 1);
    // Nothing here calls PostgreSQL while it borrows, so the borrow cannot fail.
    KNOWN.with_borrow_mut(|known| {
        if oid == pg_sys::InvalidOid {
            *known = Known::default();
        } else if let Some(id) = known.oids.remove(&oid)
            && let Some((_, table)) = known.tables.remove(&id)
        {
            known.names.remove(&name_of(&table));
        }
    });
}

/// Where a table's items are: its id and the OID of its storage, before any lock.
pub fn find(name: &TableName) -> Option<(TableId, pg_sys::Oid)> {
    let known = KNOWN.with_borrow(|known| {
        let id = known.names.get(name)?;
        known.tables.get(id).map(|(oid, _)| (*id, *oid))
    });
    known.or_else(|| {
        let mut id = None;
        spi::with_snapshot(Snapshot::Latest, || {
            let sql = || {
                "SELECT id FROM ddb.tables \
                 WHERE account OPERATOR(pg_catalog.=) $1 AND name OPERATOR(pg_catalog.=) $2"
                    .into()
            };
            let args = [Arg::Text(&name.account.0), Arg::Text(&name.name)];
            spi::query(plan(Query::FindTable), sql, &args, 1, |row| {
                id = Some(TableId(row.int4(1)))
            });
        });
        // Gone in the meantime: as good as not found.
        id.and_then(|id| Some((id, storage(id)?)))
    })
}

/// The description of a table on whose storage the caller holds a lock; `None` where it is there no more.
pub fn describe(id: TableId) -> Option<Arc<Table>> {
    if let Some(table) = KNOWN.with_borrow(|known| known.tables.get(&id).map(|(_, table)| table.clone())) {
        return Some(table);
    }
    let before = INVALIDATIONS.get();
    let mut document = None;
    spi::with_snapshot(Snapshot::Latest, || {
        let sql = || {
            "SELECT CAST(description AS pg_catalog.text) FROM ddb.tables WHERE id OPERATOR(pg_catalog.=) $1"
                .into()
        };
        spi::query(plan(Query::Describe), sql, &[Arg::Int4(id.0)], 1, |row| {
            document = Some(row.text(1))
        });
    });
    let table = match serde_json::from_str::<Table>(&document?) {
        Ok(table) => Arc::new(table),
        Err(error) => spi::raise(
            PgSqlErrorCode::ERRCODE_DATA_CORRUPTED,
            &format!("the description of table {} cannot be read: {error}", id.0),
        ),
    };
    let oid = storage(id)?;
    if INVALIDATIONS.get() == before {
        KNOWN.with_borrow_mut(|known| {
            known.names.insert(name_of(&table), id);
            known.oids.insert(oid, id);
            known.tables.insert(id, (oid, table.clone()));
        });
    }
    Some(table)
}

/// The OID of a table's storage.
pub fn storage(id: TableId) -> Option<pg_sys::Oid> {
    if let Some(oid) = KNOWN.with_borrow(|known| known.tables.get(&id).map(|(oid, _)| *oid)) {
        return Some(oid);
    }
    relation(format!("t{}", id.0))
}

/// Where an index's entries are.
pub fn index_storage(id: TableId, index: i32) -> Option<pg_sys::Oid> {
    relation(format!("t{}_i{index}", id.0))
}

fn relation(name: String) -> Option<pg_sys::Oid> {
    let relation = CString::new(name).expect("a name without NUL");
    // SAFETY: look-ups in the system caches.
    let oid = unsafe {
        let schema = pg_sys::get_namespace_oid(c"ddb_data".as_ptr(), false);
        pg_sys::get_relname_relid(relation.as_ptr(), schema)
    };
    (oid != pg_sys::InvalidOid).then_some(oid)
}

/// Tells every backend, this one at once, that a table's description has changed.
pub fn changed(id: TableId) {
    let Some(oid) = storage(id) else { return };
    // SAFETY: registers a message of this transaction; the counter lets it act here.
    unsafe {
        pg_sys::CacheInvalidateRelcacheByRelid(oid);
        pg_sys::CommandCounterIncrement();
    }
}

fn name_of(table: &Table) -> TableName {
    TableName {
        account: table.account.clone(),
        name: table.name.clone(),
    }
}

/// The statements over the catalog. Each has a kept plan of its own, so none may share a name.
#[derive(Clone, Copy)]
#[repr(u64)]
pub enum Query {
    FindTable,
    Describe,
    SettingOffers,
    InsertTable,
    UpdateTable,
    DeleteTable,
    DeleteStatistics,
    NextTableId,
    Statistics,
    Remember,
    RelationBlocks,
    TableNames,
}

pub fn plan(query: Query) -> Plan {
    Plan {
        table: -1,
        index: None,
        statement: Statement::Catalog,
        shape: query as u64,
    }
}
