//! The store of a backend: item tables and catalog of its own database, over SPI, inside the transaction of the
//! call. Everything happens when a method is called; the future is ready at once.

mod alter;
mod expired;
mod read;
mod rows;
mod statistics;
mod storage;
mod transact;
mod walk;
mod write;

use std::{
    cell::Cell,
    future::{Future, ready},
    sync::Arc,
    time::Duration,
};

use extenddb_core::{
    item::{Item, ItemKey},
    store::{Access, Alteration, Page, Proposal, Range, Store, StoreError},
    table::{AccountId, Statistics, Table, TableId, TableName},
    time::Timestamp,
    write::Unit,
};
use pgrx::pg_sys;

use crate::{
    catalog::{self, Query},
    locks::{self, LockName, Patience},
    spi::{self, Arg, Snapshot},
};

/// The store for one call; what a backend keeps is kept by [`catalog`] and [`spi`].
#[derive(Clone, Debug)]
pub struct SpiStore {
    /// For all waits of the call together.
    patience: Patience,
    /// The table to which this call adds an index. Its items are read as they are committed now, whatever the caller's
    /// snapshot, or the fill would miss the latest; the locks see to it that nobody writes them, and a write whose image
    /// the caller's snapshot does not show is a serialization failure.
    filling: Cell<Option<TableId>>,
}

impl SpiStore {
    pub fn new() -> Self {
        Self::with(Patience::of_a_call())
    }

    /// One that never waits for a lock: for work that can be done another time.
    pub fn that_never_waits() -> Self {
        Self::with(Patience::none())
    }

    /// One that waits for this lock alone. `for_each`: for requests of which each is done or not.
    pub fn that_waits_for(lock: LockName, up_to: Duration, for_each: bool) -> Self {
        Self::with(Patience::for_one(lock, up_to, for_each))
    }

    /// One that waits for all locks, this long together.
    pub fn that_waits(up_to: Duration) -> Self {
        Self::with(Patience::up_to(up_to))
    }

    fn with(patience: Patience) -> Self {
        SpiStore {
            patience,
            filling: Cell::new(None),
        }
    }
}

impl Store for SpiStore {
    fn tables(
        &self,
        names: &[TableName],
        access: Access,
    ) -> impl Future<Output = Result<Vec<Option<Arc<Table>>>, StoreError>> + Send {
        ready(tables(names, access, &self.patience))
    }

    fn read(&self, keys: &[ItemKey]) -> impl Future<Output = Result<Vec<Option<Item>>, StoreError>> + Send {
        let keys: Vec<&ItemKey> = keys.iter().collect();
        ready(Ok(spi::with_snapshot(Snapshot::Transaction, || {
            read::items(&keys)
        })))
    }

    fn walk(&self, range: Range) -> impl Future<Output = Result<Page, StoreError>> + Send {
        ready(self.walk_page(&range))
    }

    fn transact<T: Send + 'static>(
        &self,
        units: Vec<Unit<T>>,
    ) -> impl Future<Output = Vec<Result<T, StoreError>>> + Send {
        ready(transact::transact(units, &self.patience))
    }

    fn alter<T: Send + 'static>(
        &self,
        name: &TableName,
        decide: Box<dyn Fn(Proposal) -> Alteration<T> + Send>,
    ) -> impl Future<Output = Result<T, StoreError>> + Send {
        ready(alter::alter(name, &self.patience, &self.filling, decide))
    }

    fn table_names(
        &self,
        account: &AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<String>, StoreError>> + Send {
        let mut names = Vec::new();
        let sql = || {
            "SELECT name FROM ddb.tables WHERE account OPERATOR(pg_catalog.=) $1 \
             AND name OPERATOR(pg_catalog.>) $2 ORDER BY account, name"
                .into()
        };
        let args = [Arg::Text(&account.0), Arg::Text(after.unwrap_or(""))];
        let plan = catalog::plan(Query::TableNames);
        if limit > 0 {
            spi::with_snapshot(Snapshot::Transaction, || {
                spi::query(plan, sql, &args, limit as u64, |row| names.push(row.text(1)));
            });
        }
        ready(Ok(names))
    }

    fn expired(
        &self,
        table: TableId,
        before: Timestamp,
        max: usize,
    ) -> impl Future<Output = Result<Vec<ItemKey>, StoreError>> + Send {
        ready(Ok(expired::keys(table, before, max)))
    }

    fn statistics(&self, table: &Table) -> impl Future<Output = Result<Statistics, StoreError>> + Send {
        ready(Ok(statistics::statistics(table)))
    }
}

impl SpiStore {
    fn walk_page(&self, range: &Range) -> Result<Page, StoreError> {
        let table = match range.index {
            None => None,
            Some(number) => {
                let table = catalog::describe(range.table).ok_or(StoreError::Stale)?;
                if !table.indexes.iter().any(|index| index.number == number) {
                    return Err(StoreError::Stale);
                }
                Some(table)
            }
        };
        let snapshot = if self.filling.get() == Some(range.table) {
            Snapshot::Latest
        } else {
            Snapshot::Transaction
        };
        Ok(spi::with_snapshot(snapshot, || {
            walk::page(range, table.as_deref())
        }))
    }
}

/// Locks the storage of the tables in the order of their ids, then looks at their descriptions. A name that was created
/// again in the meantime is looked for again.
fn tables(
    names: &[TableName],
    access: Access,
    patience: &Patience,
) -> Result<Vec<Option<Arc<Table>>>, StoreError> {
    const LOOKS: usize = 5;
    let mode = match access {
        Access::Read => pg_sys::AccessShareLock,
        Access::Write => {
            // SAFETY: raises 25006 in a read-only transaction and on a standby.
            unsafe { pg_sys::PreventCommandIfReadOnly(c"a write of items".as_ptr()) };
            pg_sys::RowExclusiveLock
        }
    };
    for _ in 0..LOOKS {
        let found: Vec<Option<(TableId, pg_sys::Oid)>> = names.iter().map(catalog::find).collect();
        let mut storages: Vec<(TableId, pg_sys::Oid)> = found.iter().flatten().copied().collect();
        storages.sort_unstable_by_key(|(id, _)| *id);
        storages.dedup();
        for (_, oid) in storages {
            locks::lock_relation_patiently(oid, mode, patience)?;
        }
        let described: Vec<Option<Arc<Table>>> = found
            .iter()
            .map(|found| found.and_then(|(id, _)| catalog::describe(id)))
            .collect();
        if found
            .iter()
            .zip(&described)
            .all(|(found, described)| found.is_some() == described.is_some())
        {
            return Ok(described);
        }
    }
    Err(StoreError::Busy)
}
