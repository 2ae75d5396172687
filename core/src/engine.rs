//! The driver: looks up tables, lets the operation plan, hands the unit to the store, and plans again when a
//! description was stale.

use std::sync::Arc;

use crate::{
    error::{Error, Fault},
    store::{Access, Store, StoreError},
    table::{Table, TableFault, TableName},
    write::Unit,
};

/// A description may change between planning and locking; each time is one more plan.
const PLANS: usize = 3;

/// Plans a write of one table and runs it.
pub async fn write<S: Store, T: Send + 'static>(
    store: &S,
    name: &TableName,
    plan: impl Fn(&Arc<Table>) -> Result<Unit<T>, Error> + Send + Sync,
) -> Result<T, Error> {
    for _ in 0..PLANS {
        let table = table(store, name, Access::Write).await?;
        let answers = store.transact(vec![plan(&table)?]).await;
        match answers.into_iter().next() {
            Some(Ok(answer)) => return Ok(answer),
            Some(Err(StoreError::Stale)) => continue,
            Some(Err(other)) => return Err(store_error(other)),
            None => return Err(Fault::Internal("the store answered no unit".into()).into()),
        }
    }
    Err(Fault::Internal("the table's description kept changing".into()).into())
}

/// The description of a table that an item operation names.
pub async fn table<S: Store>(store: &S, name: &TableName, access: Access) -> Result<Arc<Table>, Error> {
    let tables = store
        .tables(std::slice::from_ref(name), access)
        .await
        .map_err(store_error)?;
    tables
        .into_iter()
        .next()
        .flatten()
        .ok_or_else(|| TableFault::NotFound.into())
}

pub fn store_error(error: StoreError) -> Error {
    match error {
        StoreError::Busy => Fault::Conflict.into(),
        StoreError::Stale => Fault::Internal("a read met a changed description".into()).into(),
        StoreError::Unavailable(text) => Fault::Internal(text).into(),
    }
}
