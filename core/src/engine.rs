//! The driver: looks up tables, lets the operation plan, hands the unit to the store, and plans again when a
//! description was stale.

use std::{
    sync::Arc,
    task::{Context, Poll, Waker},
};

use crate::{
    error::{Error, Fault},
    store::{Access, Store, StoreError},
    table::{Table, TableFault, TableName, TableStatus},
    write::Unit,
};

/// A description may change between planning and locking; each time is one more plan.
pub const PLANS: usize = 3;

/// Plans a write of these tables as one unit and runs it. `plan` gets them in the order of their names.
pub async fn write<S: Store, T: Send + 'static>(
    store: &S,
    names: &[TableName],
    plan: impl Fn(&[Arc<Table>]) -> Result<Unit<T>, Error> + Send + Sync,
) -> Result<T, Error> {
    for _ in 0..PLANS {
        let tables = tables(store, names, Access::Write).await?;
        match run(store, plan(&tables)?).await {
            Ok(answer) => return Ok(answer),
            Err(StoreError::Stale) => continue,
            Err(other) => return Err(store_error(other)),
        }
    }
    Err(kept_changing())
}

/// The fault of a request that was planned [`PLANS`] times in vain.
pub fn kept_changing() -> Error {
    Fault::Internal("the table's description kept changing".into()).into()
}

/// Runs one unit.
pub async fn run<S: Store, T: Send + 'static>(store: &S, unit: Unit<T>) -> Result<T, StoreError> {
    let answers = store.transact(vec![unit]).await;
    let no_answer = || Err(StoreError::Unavailable("the store answered no unit".into()));
    answers.into_iter().next().unwrap_or_else(no_answer)
}

/// Plans writes of several tables, each its own unit, and runs them together: those that went through share one
/// commit. `plan` checks them all, so a fault refuses the request before anything is written. `None` answers what was
/// not written though it may be: the lock was not had in time, or the description kept changing. The tables are those
/// that the last plan was made on.
///
/// Where the store was told not to wait, one lock that is held refuses them all, though some may be written by then:
/// whoever told it so undoes the call.
pub async fn write_each<S: Store, T: Send + 'static>(
    store: &S,
    names: &[TableName],
    plan: impl Fn(&[Arc<Table>]) -> Result<Vec<Unit<T>>, Error> + Send + Sync,
) -> Result<(Vec<Arc<Table>>, Vec<Option<T>>), Error> {
    let mut answers: Vec<Option<T>> = Vec::new();
    let mut described = Vec::new();
    let mut failure = None;
    for _ in 0..PLANS {
        let found = tables(store, names, Access::Write).await;
        let units = match found.and_then(|tables| Ok((plan(&tables)?, tables))) {
            Ok((units, tables)) => {
                described = tables;
                units
            }
            Err(fault) => {
                failure = Some(fault);
                break;
            }
        };
        answers.resize_with(units.len(), || None);
        let waiting = units
            .into_iter()
            .enumerate()
            .filter(|(place, _)| answers[*place].is_none());
        let (places, units): (Vec<usize>, Vec<Unit<T>>) = waiting.unzip();
        let mut is_stale = false;
        for (place, answer) in places.into_iter().zip(store.transact(units).await) {
            match answer {
                Ok(answer) => answers[place] = Some(answer),
                Err(StoreError::Stale) => is_stale = true,
                Err(StoreError::Busy) => {}
                Err(held @ StoreError::Held(_)) => return Err(store_error(held)),
                Err(other) => failure = Some(store_error(other)),
            }
        }
        if !is_stale {
            break;
        }
    }
    match failure {
        // What was written stays written, and is answered so.
        Some(fault) if answers.iter().all(Option::is_none) => Err(fault),
        _ => Ok((described, answers)),
    }
}

/// The description of a table that an item operation names.
pub async fn table<S: Store>(store: &S, name: &TableName, access: Access) -> Result<Arc<Table>, Error> {
    let tables = tables(store, std::slice::from_ref(name), access).await?;
    tables
        .into_iter()
        .next()
        .ok_or_else(|| TableFault::NotFound.into())
}

/// The descriptions of several, in the order of their names. One that is missing, being created or being deleted
/// is missing for them all.
pub async fn tables<S: Store>(
    store: &S,
    names: &[TableName],
    access: Access,
) -> Result<Vec<Arc<Table>>, Error> {
    let tables = store.tables(names, access).await.map_err(store_error)?;
    tables.into_iter().map(served).collect()
}

/// A table that serves items, out of what a look-up found.
pub fn served(found: Option<Arc<Table>>) -> Result<Arc<Table>, Error> {
    found
        .filter(|table| matches!(table.status, TableStatus::Active | TableStatus::Updating))
        .ok_or_else(|| TableFault::NotFound.into())
}

pub fn store_error(error: StoreError) -> Error {
    match error {
        StoreError::Busy => Fault::Conflict.into(),
        StoreError::Held(lock) => Fault::Held(lock).into(),
        StoreError::Stale => Fault::Internal("a read met a changed description".into()).into(),
        StoreError::Unavailable(text) => Fault::Internal(text).into(),
    }
}

/// Drives a future over a synchronous store: it does its work when called, so one poll completes it.
pub fn run_now<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("a synchronous store never waits"),
    }
}
