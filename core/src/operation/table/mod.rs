//! Table operations. They are read by the service's old layer, and their texts carry no prefix.
//!                                                                                          behaviour/tables

pub(super) mod create_table;
mod definition;
pub(super) mod delete_table;
pub(super) mod describe_table;
pub(super) mod list_tables;
mod members;
mod tags;
pub(super) mod update_table;

#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::{
    engine,
    error::{Error, Fault},
    store::StoreError,
    table::{TableFault, TableName},
    wire::{self, Fields, Layer, Member, MemberFault, Shape, Type},
};

use super::{Context, Operation};

/// The request of DescribeTable and DeleteTable.
static TABLE_NAME_ALONE: Shape = Shape {
    name: "TableName",
    members: &[Member {
        name: "TableName",
        kind: Type::String,
    }],
};

/// The table that a request names. Its faults answer on their own, before those of the other members.
fn table_name(
    fields: &Fields,
    operation: Operation,
    layer: Layer,
    context: &Context,
) -> Result<TableName, Error> {
    let name = wire::table_name(fields.string("TableName"), operation, layer, context)
        .map_err(|fault| Error::from(MemberFault::from(fault)))?;
    // An ARN that stays one names no table that this account could have here, nor create.
    match name.name.strip_prefix("arn:") {
        None => Ok(name),
        Some(arn) => Err(TableFault::TableNotFound(arn.rsplit('/').next().unwrap_or(arn).into()).into()),
    }
}

/// What a store could not do to a description.
fn alteration_error(error: StoreError, name: &TableName) -> Error {
    match error {
        StoreError::Busy => TableFault::BeingUsed(name.name.clone()).into(),
        other => engine::store_error(other),
    }
}

fn json(answer: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(answer).map_err(|fault| Fault::Internal(fault.to_string()).into())
}
