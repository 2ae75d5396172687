//! GetResourcePolicy, of a server without resource policies: no table has one.
//!                                                                     behaviour/tables §features-without-use

use crate::{
    error::Error,
    operation::Context,
    store::Store,
    table::ResourceFault,
    wire::{Layer, Members, Shape, Type, decode},
};

use super::{
    definition::shapes::member,
    find, not_found,
    resource::{ResourceArn, Speaker},
};

static SHAPE: Shape = Shape {
    name: "GetResourcePolicyInput",
    members: &[member("ResourceArn", Type::String)],
};

pub async fn run<S: Store>(store: &S, body: &str, context: &Context) -> Result<String, Error> {
    let (fields, layer) = decode(body, &SHAPE, Layer::Old)?;
    let mut members = Members::new(layer);
    members.required("resourceArn", fields.has("ResourceArn"));
    members.finish()?;
    let resource = ResourceArn::read(&fields)?.resolve(context, Speaker::Policies)?;
    find(store, &resource.table, not_found(&resource.table)).await?;
    Err(match resource.stream {
        Some(label) => ResourceFault::NoStream {
            label,
            table: resource.table.name,
        },
        None => ResourceFault::NoPolicy(resource.arn),
    }
    .into())
}
