//! The store of a backend: item tables and catalog of its own database, over SPI, inside the transaction of the
//! call. Everything happens when a method is called; the future is ready at once.

use std::{
    future::{Future, ready},
    sync::Arc,
};

use extenddb_core::{
    item::{Item, ItemKey},
    store::{Access, Alteration, Page, Proposal, Range, Store, StoreError},
    table::{AccountId, Statistics, Table, TableName},
    write::Unit,
};

#[derive(Clone, Copy, Debug, Default)]
pub struct SpiStore {}

impl SpiStore {
    pub fn new() -> Self {
        SpiStore {}
    }
}

impl Store for SpiStore {
    fn tables(
        &self,
        _names: &[TableName],
        _access: Access,
    ) -> impl Future<Output = Result<Vec<Option<Arc<Table>>>, StoreError>> + Send {
        ready(todo!())
    }

    fn read(&self, _keys: &[ItemKey]) -> impl Future<Output = Result<Vec<Option<Item>>, StoreError>> + Send {
        ready(todo!())
    }

    fn walk(&self, _range: Range) -> impl Future<Output = Result<Page, StoreError>> + Send {
        ready(todo!())
    }

    fn transact<T: Send + 'static>(
        &self,
        _units: Vec<Unit<T>>,
    ) -> impl Future<Output = Vec<Result<T, StoreError>>> + Send {
        ready(todo!())
    }

    fn alter<T: Send + 'static>(
        &self,
        _name: &TableName,
        _decide: Box<dyn Fn(Proposal) -> Alteration<T> + Send>,
    ) -> impl Future<Output = Result<T, StoreError>> + Send {
        ready(todo!())
    }

    fn table_names(
        &self,
        _account: &AccountId,
        _after: Option<&str>,
        _limit: usize,
    ) -> impl Future<Output = Result<Vec<String>, StoreError>> + Send {
        ready(todo!())
    }

    fn statistics(&self, _table: &Table) -> impl Future<Output = Result<Statistics, StoreError>> + Send {
        ready(todo!())
    }
}
