//! The SQLite store: DynamoDB's tables in one file (or in memory), inside this process.
//!
//! One writes at a time. Units that wait together share one `BEGIN IMMEDIATE … COMMIT`, each with its own decision over the
//! images as those before it left them, and all are answered after the commit. What goes wrong with one harms no other:
//! [`writer`]. Reads run beside it on connections of their own, each on one snapshot: [`readers`]. A request that need not
//! wait for others is served by the thread that it came on. One process has the file: [`open`]. No rule of DynamoDB's is here.

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
    store::{Access, Alteration, Ended, Page, Proposal, Range, Store, StoreError},
    table::{AccountId, Statistics, Table, TableId, TableName},
    time::Timestamp,
    write::Unit,
};
use rusqlite::{Connection, ErrorCode};
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
    /// The storage was dropped since its description was looked up.
    #[error("the table or index is gone")]
    Gone,
}

/// The log hears of it here: who asked is told only that something went wrong.
impl From<Fault> for StoreError {
    fn from(fault: Fault) -> StoreError {
        tracing::error!(cause = %fault, "the database failed a request");
        StoreError::Unavailable(fault.to_string())
    }
}

impl Fault {
    /// Others have the database just now.
    fn is_busy(&self) -> bool {
        matches!(self, Fault::Sql(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy))
    }
}

impl Sqlite {
    /// Opens the database, or makes it. Takes some milliseconds, and blocks for them.
    pub fn open(config: &Config) -> Result<Sqlite, OpenError> {
        let opened = open::open(config)?;
        let catalog = Arc::new(Catalog::load(&opened.writer)?);
        let readers = match opened.readers.is_empty() {
            true => None,
            false => Some(Readers::start(opened.readers, opened.in_place).map_err(OpenError::Thread)?),
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

    /// Looks in place, on one snapshot. `None` where that is not to be done now.
    fn look_here<T>(&self, look: impl FnOnce(&Connection) -> Result<T, Fault>) -> Option<Result<T, Fault>> {
        let seen = match &self.readers {
            Some(readers) => readers.look(look),
            None => self.writer.look(look),
        };
        seen.filter(|seen| !seen.as_ref().is_err_and(Fault::is_busy))
    }

    /// Looks on a thread for that, on one snapshot.
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

/// More items may be 10 MB, and take as long.
const KEYS_IN_PLACE: usize = 10;

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
        if keys.len() <= KEYS_IN_PLACE
            && let Some(found) = self.look_here(|connection| lookup::items(connection, keys))
        {
            return Ok(found?);
        }
        let keys = keys.to_vec();
        Ok(self
            .look(move |connection| lookup::items(connection, &keys))
            .await?)
    }

    /// The same holds of a page.
    async fn walk(&self, range: Range) -> Result<Page, StoreError> {
        let (id, index) = (range.table, range.index);
        let none = Page {
            rows: Vec::new(),
            ended: Ended::Data,
        };
        let table = match (index, self.catalog.by_id(id)) {
            (None, _) => None,
            (Some(_), None) => return Ok(none),
            (Some(number), Some(table)) => match table.indexes.iter().any(|index| index.number == number) {
                true => Some(table),
                false => return Err(StoreError::Stale),
            },
        };
        let here = match walk::may_be_short(&range) {
            true => self.look_here(|connection| walk::short_page(connection, &range, table.as_deref())),
            false => None,
        };
        let page = match here.and_then(Result::transpose) {
            Some(page) => page,
            None => {
                self.look(move |connection| walk::page(connection, &range, table.as_deref()))
                    .await
            }
        };
        match page {
            Ok(page) => Ok(page),
            Err(Fault::Gone) => match index {
                Some(_) if self.catalog.has(id) => Err(StoreError::Stale),
                _ => Ok(none),
            },
            Err(fault) => Err(fault.into()),
        }
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
            Err(Fault::Gone) => Ok(Statistics::default()),
            Err(fault) => Err(fault.into()),
        }
    }
}
