//! The SQLite store: DynamoDB's tables in one file (or in memory), inside this process.
//!
//! One thread writes. Units that wait together share one `BEGIN IMMEDIATE … COMMIT`, each with its own decision over the
//! images as those before it left them, and all are answered after the commit. What goes wrong with one harms no other:
//! [`writer`]. Reads run beside it on connections of their own, each on one snapshot: [`readers`]. One process has the
//! file: [`open`]. No rule of DynamoDB's is here.

mod alter;
mod catalog;
mod expired;
mod lookup;
mod open;
mod readers;
mod statistics;
mod storage;
mod unit;
mod walk;
mod writer;

pub use open::{Config, OpenError, Place, Synchronous};

use std::{future::Future, sync::Arc};

use extenddb_core::{
    item::{Item, ItemKey},
    store::{Access, Alteration, Page, Proposal, Range, Store, StoreError},
    table::{AccountId, Statistics, Table, TableId, TableName},
    time::Timestamp,
    write::Unit,
};
use rusqlite::Connection;
use tokio::sync::oneshot;

use catalog::Catalog;
use readers::Readers;
use statistics::Remembered;
use writer::{Job, Writer};

/// A database of ours. Dropped without [`Sqlite::close`], it still loses nothing that was acknowledged.
pub struct Sqlite {
    catalog: Arc<Catalog>,
    writer: Writer,
    /// None in memory, where all connections but one would see another database.
    readers: Option<Readers>,
    statistics: Arc<Remembered>,
}

/// Something is wrong with the database, or with us.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error("SQLite: {0}")]
    Sql(#[from] rusqlite::Error),
    /// Rows that do not fit each other, or bytes that are no item.
    #[error("{0}")]
    Corrupt(String),
}

/// The log hears of it here: who asked is told only that something went wrong.
impl From<Fault> for StoreError {
    fn from(fault: Fault) -> StoreError {
        tracing::error!(cause = %fault, "the database failed a request");
        StoreError::Unavailable(fault.to_string())
    }
}

impl Fault {
    /// The storage was dropped since its description was looked up.
    fn is_gone(&self) -> bool {
        matches!(self, Fault::Sql(rusqlite::Error::SqliteFailure(_, Some(text))) if text.starts_with("no such table"))
            || matches!(self, Fault::Sql(rusqlite::Error::SqlInputError { msg, .. }) if msg.starts_with("no such table"))
    }
}

impl Sqlite {
    /// Opens the database, or makes it. Takes some milliseconds, and blocks for them.
    pub fn open(config: &Config) -> Result<Sqlite, OpenError> {
        let opened = open::open(config)?;
        let catalog = Arc::new(Catalog::load(&opened.writer)?);
        let readers = match opened.readers.is_empty() {
            true => None,
            false => Some(Readers::start(opened.readers).map_err(OpenError::Thread)?),
        };
        let writer = Writer::start(opened.writer, catalog.clone(), opened.lock).map_err(OpenError::Thread)?;
        Ok(Sqlite {
            catalog,
            writer,
            readers,
            statistics: Arc::default(),
        })
    }

    /// Whether a write would be taken now, or why not.
    pub async fn ready(&self) -> Result<(), String> {
        let (answer, answered) = oneshot::channel();
        self.writer.send(Job::Alone(Box::new(move |_| {
            let _ = answer.send(());
        })));
        answered.await.map_err(|_| WRITER_GONE.into())
    }

    /// Writes everything into the file itself and lets go of it. Call it when nothing is running; blocks.
    pub fn close(&self) {
        if let Some(readers) = &self.readers {
            readers.stop();
        }
        self.writer.stop();
    }

    /// Runs `look` on one snapshot.
    fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> impl Future<Output = Result<T, Fault>> + Send {
        let (answer, answered) = oneshot::channel();
        match &self.readers {
            Some(readers) => readers.send(Box::new(move |connection| {
                let _ = answer.send(look(connection));
            })),
            None => self.writer.send(Job::Alone(Box::new(move |database| {
                let _ = answer.send(look(database.connection()));
            }))),
        }
        async {
            let gone = |_| Err(Fault::Corrupt("the look-up broke off".into()));
            answered.await.unwrap_or_else(gone)
        }
    }
}

const WRITER_GONE: &str = "the writer is gone";

impl Store for Sqlite {
    fn tables(
        &self,
        names: &[TableName],
        _access: Access,
    ) -> impl Future<Output = Result<Vec<Option<Arc<Table>>>, StoreError>> + Send {
        std::future::ready(Ok(self.catalog.tables(names)))
    }

    /// A table that was dropped since its description was looked up has no items.
    async fn read(&self, keys: &[ItemKey]) -> Result<Vec<Option<Item>>, StoreError> {
        let keys = keys.to_vec();
        Ok(self
            .look(move |connection| lookup::items(connection, &keys))
            .await?)
    }

    async fn walk(&self, range: Range) -> Result<Page, StoreError> {
        let table = match range.index {
            None => None,
            Some(number) => {
                let table = self.catalog.by_id(range.table).ok_or(StoreError::Stale)?;
                if !table.indexes.iter().any(|index| index.number == number) {
                    return Err(StoreError::Stale);
                }
                Some(table)
            }
        };
        self.look(move |connection| walk::page(connection, &range, table.as_deref()))
            .await
            .map_err(|fault| match fault.is_gone() {
                true => StoreError::Stale,
                false => fault.into(),
            })
    }

    fn transact<T: Send + 'static>(
        &self,
        units: Vec<Unit<T>>,
    ) -> impl Future<Output = Vec<Result<T, StoreError>>> + Send {
        let count = units.len();
        let answered = self.writer.transact(units);
        async move {
            answered.await.unwrap_or_else(|_| {
                let gone = || Err(StoreError::Unavailable(WRITER_GONE.into()));
                std::iter::repeat_with(gone).take(count).collect()
            })
        }
    }

    fn alter<T: Send + 'static>(
        &self,
        name: &TableName,
        decide: Box<dyn Fn(Proposal) -> Alteration<T> + Send>,
    ) -> impl Future<Output = Result<T, StoreError>> + Send {
        let (answer, answered) = oneshot::channel();
        let (name, statistics) = (name.clone(), self.statistics.clone());
        self.writer.send(Job::Alone(Box::new(move |database| {
            let altered = alter::alter(database, &name, &statistics, &decide);
            let _ = answer.send(altered);
        })));
        async {
            let gone = |_| Err(StoreError::Unavailable(WRITER_GONE.into()));
            answered.await.unwrap_or_else(gone)
        }
    }

    fn table_names(
        &self,
        account: &AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<String>, StoreError>> + Send {
        std::future::ready(Ok(self.catalog.names(account, after, limit)))
    }

    async fn expired(
        &self,
        table: TableId,
        before: Timestamp,
        max: usize,
    ) -> Result<Vec<ItemKey>, StoreError> {
        let looked = self.look(move |connection| expired::keys(connection, table, before, max));
        Ok(looked.await?)
    }

    async fn statistics(&self, table: &Table) -> Result<Statistics, StoreError> {
        if let Some(known) = self.statistics.get(table.id) {
            return Ok(known);
        }
        let (id, indexes) = (
            table.id,
            table.indexes.iter().map(|index| index.number).collect::<Vec<_>>(),
        );
        let measured = self.look(move |connection| statistics::measure(connection, id, &indexes));
        match measured.await {
            Ok(measured) => {
                self.statistics.put(id, measured.clone());
                Ok(measured)
            }
            // Dropped, or an index of it, since its description was looked up.
            Err(fault) if fault.is_gone() => Ok(Statistics::default()),
            Err(fault) => Err(fault.into()),
        }
    }
}
