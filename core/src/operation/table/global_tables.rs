//! Global tables of the version of 2017, which the service refuses everywhere, and scaling of replicas that no table
//! here has.                                                           behaviour/tables §features-without-use

use crate::{
    error::Error,
    operation::{Context, Operation},
    store::Store,
    table::ResourceFault,
    wire::{Fields, Layer, Members, Object, Shape, Type, decode},
};

use super::{
    TABLE_NAME_ALONE,
    definition::shapes::{NO_MEMBERS, member},
    members::{NAME, Structure},
    table_name,
};

static CREATE: Shape = Shape {
    name: "CreateGlobalTableInput",
    members: &[
        member("GlobalTableName", Type::String),
        member("ReplicationGroup", Type::List(&Type::Structure(&NO_MEMBERS))),
    ],
};
static UPDATE: Shape = Shape {
    name: "UpdateGlobalTableInput",
    members: &[
        member("GlobalTableName", Type::String),
        member("ReplicaUpdates", Type::List(&Type::Structure(&NO_MEMBERS))),
    ],
};
static NAME_ALONE: Shape = Shape {
    name: "DescribeGlobalTableInput",
    members: &[member("GlobalTableName", Type::String)],
};

pub async fn create<S: Store>(_: &S, body: &str, _: &Context) -> Result<String, Error> {
    let (fields, layer) = decode(body, &CREATE, Layer::Old)?;
    read(&fields, layer, Some("ReplicationGroup"))?;
    Err(ResourceFault::LegacyGlobalTables.into())
}

pub async fn update<S: Store>(_: &S, body: &str, _: &Context) -> Result<String, Error> {
    let (fields, layer) = decode(body, &UPDATE, Layer::Old)?;
    let name = read(&fields, layer, Some("ReplicaUpdates"))?;
    let is_empty = fields
        .structures("ReplicaUpdates")
        .is_some_and(|updates| updates.is_empty());
    Err(match is_empty {
        true => ResourceFault::NoReplicaUpdates,
        false => ResourceFault::NoGlobalTable(name),
    }
    .into())
}

/// DescribeGlobalTable, and the settings described and updated.
pub async fn named<S: Store>(_: &S, body: &str, _: &Context) -> Result<String, Error> {
    let (fields, layer) = decode(body, &NAME_ALONE, Layer::Old)?;
    Err(ResourceFault::NoGlobalTable(read(&fields, layer, None)?).into())
}

pub async fn list<S: Store>(_: &S, body: &str, _: &Context) -> Result<String, Error> {
    decode(body, &NO_MEMBERS, Layer::Old)?;
    Ok(Object::body(|body| body.strings("GlobalTables", [""; 0])))
}

/// A table without replicas is spoken of as one that is not there.
pub async fn describe_scaling<S: Store>(_: &S, body: &str, context: &Context) -> Result<String, Error> {
    no_replicas(body, Operation::DescribeTableReplicaAutoScaling, context)
}

pub async fn update_scaling<S: Store>(_: &S, body: &str, context: &Context) -> Result<String, Error> {
    no_replicas(body, Operation::UpdateTableReplicaAutoScaling, context)
}

fn no_replicas(body: &str, operation: Operation, context: &Context) -> Result<String, Error> {
    let (fields, layer) = decode(body, &TABLE_NAME_ALONE, Layer::Old)?;
    let name = table_name(&fields, operation, layer, context)?;
    Err(ResourceFault::NoReplicas(name.name).into())
}

/// GlobalTableName, and that the list is there.
fn read(fields: &Fields, layer: Layer, list: Option<&str>) -> Result<String, Error> {
    let mut members = Members::new(layer);
    let mut request = Structure::root(fields, &mut members);
    let name = request.required_string("GlobalTableName", NAME);
    if let Some(list) = list {
        request.required_structures(list, |_| ());
    }
    members.finish()?;
    Ok(name)
}
