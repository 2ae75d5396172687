//! DescribeLimits and DescribeEndpoints: what is said of the account and the server.   behaviour/tables §account

use crate::{
    error::Error,
    operation::Context,
    store::Store,
    table::MAXIMUM_UNITS,
    wire::{Layer, Object, decode},
};

use super::definition::shapes::NO_MEMBERS;

/// Quotas of the service's. Only those of a table are kept here.
pub async fn describe_limits<S: Store>(_: &S, body: &str, _: &Context) -> Result<String, Error> {
    const OF_ACCOUNT: u64 = 80_000;
    decode(body, &NO_MEMBERS, Layer::Old)?;
    Ok(Object::body(|body| {
        body.integer("AccountMaxReadCapacityUnits", OF_ACCOUNT);
        body.integer("AccountMaxWriteCapacityUnits", OF_ACCOUNT);
        body.integer("TableMaxReadCapacityUnits", MAXIMUM_UNITS);
        body.integer("TableMaxWriteCapacityUnits", MAXIMUM_UNITS);
    }))
}

/// The service's own name. (The proxy answers for itself: where the client came, it should come again.)
pub async fn describe_endpoints<S: Store>(_: &S, body: &str, context: &Context) -> Result<String, Error> {
    decode(body, &NO_MEMBERS, Layer::Old)?;
    let address = format!("dynamodb.{}.amazonaws.com", context.region);
    Ok(Object::body(|body| {
        body.objects("Endpoints", [address], |address, endpoint| {
            endpoint.string("Address", &address);
            endpoint.integer("CachePeriodInMinutes", 1440);
        });
    }))
}
