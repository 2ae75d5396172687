//! A store whose locks are not had, and that counts what it is asked for.

use std::{
    future::{Future, ready},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use extenddb_core::{
    item::{Item, ItemKey},
    store::{Access, Alteration, Page, Proposal, Range, Store, StoreError},
    store_suite::MemoryStore,
    table::{AccountId, Statistics, Table, TableId, TableName},
    time::Timestamp,
    write::{Need, Unit},
};

pub struct Gate {
    pub store: MemoryStore,
    /// Somebody changes the tables: writers are kept out.
    pub writers: AtomicBool,
    /// So are readers.
    pub readers: AtomicBool,
    /// Nobody may lock any key.
    pub units: AtomicBool,
    /// What somebody else does once a writer was kept out.
    pub meanwhile: Mutex<Option<Meanwhile>>,
    /// Of each unit that was decided.
    pub asked: Arc<Mutex<Vec<Asked>>>,
}

/// How many keys a unit locked, how many images it read, how many changes it made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    pub keys: usize,
    pub images: usize,
    pub changes: usize,
}

pub type Meanwhile = Box<dyn FnOnce(&MemoryStore) + Send>;

impl Gate {
    /// One that keeps writers out.
    pub fn of(store: MemoryStore) -> Gate {
        Gate {
            store,
            writers: AtomicBool::new(true),
            readers: AtomicBool::new(false),
            units: AtomicBool::new(false),
            meanwhile: Mutex::new(None),
            asked: Arc::default(),
        }
    }

    /// One that keeps nobody out.
    pub fn open(store: MemoryStore) -> Gate {
        let gate = Gate::of(store);
        gate.writers.store(false, Relaxed);
        gate
    }

    fn counted<T: 'static>(&self, unit: Unit<T>) -> Unit<T> {
        let asked = self.asked.clone();
        let keys = unit.keys.0.len();
        let images = unit
            .keys
            .0
            .iter()
            .filter(|(_, need)| *need == Need::Image)
            .count();
        Unit {
            tables: unit.tables,
            keys: unit.keys,
            decide: Box::new(move |found| {
                let decision = (unit.decide)(found);
                let changes = decision.changes.len();
                let counts = Asked {
                    keys,
                    images,
                    changes,
                };
                asked.lock().expect("one thread").push(counts);
                decision
            }),
        }
    }
}

impl Store for Gate {
    fn tables(
        &self,
        names: &[TableName],
        access: Access,
    ) -> impl Future<Output = Result<Vec<Option<Arc<Table>>>, StoreError>> + Send {
        let is_shut = match access {
            Access::Read => self.readers.load(Relaxed),
            Access::Write => self.writers.load(Relaxed),
        };
        if is_shut && access == Access::Write {
            let meanwhile = self.meanwhile.lock().expect("one thread").take();
            meanwhile.into_iter().for_each(|act| act(&self.store));
        }
        let tables = self.store.tables(names, access);
        async move {
            if is_shut {
                return Err(StoreError::Busy);
            }
            tables.await
        }
    }

    fn read(&self, keys: &[ItemKey]) -> impl Future<Output = Result<Vec<Option<Item>>, StoreError>> + Send {
        self.store.read(keys)
    }

    fn walk(&self, range: Range) -> impl Future<Output = Result<Page, StoreError>> + Send {
        self.store.walk(range)
    }

    fn transact<T: Send + 'static>(
        &self,
        units: Vec<Unit<T>>,
    ) -> impl Future<Output = Vec<Result<T, StoreError>>> + Send {
        let answers = if self.units.load(Relaxed) {
            units.iter().map(|_| Err(StoreError::Busy)).collect()
        } else {
            extenddb_core::store_suite::run_now(
                self.store
                    .transact(units.into_iter().map(|unit| self.counted(unit)).collect()),
            )
        };
        ready(answers)
    }

    fn alter<T: Send + 'static>(
        &self,
        name: &TableName,
        decide: Box<dyn Fn(Proposal) -> Alteration<T> + Send>,
    ) -> impl Future<Output = Result<T, StoreError>> + Send {
        self.store.alter(name, decide)
    }

    fn table_names(
        &self,
        account: &AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<String>, StoreError>> + Send {
        self.store.table_names(account, after, limit)
    }

    fn expired(
        &self,
        table: TableId,
        before: Timestamp,
        max: usize,
    ) -> impl Future<Output = Result<Vec<ItemKey>, StoreError>> + Send {
        self.store.expired(table, before, max)
    }

    fn statistics(&self, table: &Table) -> impl Future<Output = Result<Statistics, StoreError>> + Send {
        self.store.statistics(table)
    }
}
