//! Bulk operations, of a server that starts none.                      behaviour/tables §features-without-use

use crate::{
    error::Error,
    operation::Context,
    store::Store,
    table::ResourceFault,
    wire::{Layer, Object, decode},
};

use super::definition::shapes::NO_MEMBERS;

pub async fn list<S: Store>(_: &S, body: &str, _: &Context) -> Result<String, Error> {
    decode(body, &NO_MEMBERS, Layer::Old)?;
    Ok(Object::body(|body| {
        body.strings("BulkOperationsSummaryList", [""; 0]);
    }))
}

/// DescribeBulkOperation, CancelBulkOperation.
pub async fn named<S: Store>(_: &S, body: &str, _: &Context) -> Result<String, Error> {
    decode(body, &NO_MEMBERS, Layer::Old)?;
    Err(ResourceFault::NoBulkOperation.into())
}
