//! Table operations. They are read by the service's old layer, and their texts carry no prefix.
//!                                                                                          behaviour/tables

mod definition;
mod members;
mod resource;
mod tags;

pub(super) mod account;
pub(super) mod bulk_operations;
pub(super) mod continuous_backups;
pub(super) mod create_table;
pub(super) mod delete_table;
pub(super) mod describe_table;
pub(super) mod describe_time_to_live;
pub(super) mod get_resource_policy;
pub(super) mod global_tables;
pub(super) mod insights;
pub(super) mod list_tables;
pub(super) mod list_tags_of_resource;
pub(super) mod tag_resource;
pub(super) mod untag_resource;
pub(super) mod update_table;
pub(super) mod update_time_to_live;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde::Serialize;

use crate::{
    engine,
    error::{Error, Fault},
    store::{Access, Alteration, Proposal, Store, StoreError, TableChange},
    table::{Table, TableFault, TableName, Version},
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

/// The table that a request describes, in whatever state; `missing` answers where it is not there.
async fn find<S: Store>(store: &S, name: &TableName, missing: TableFault) -> Result<Arc<Table>, Error> {
    let tables = store
        .tables(std::slice::from_ref(name), Access::Read)
        .await
        .map_err(engine::store_error)?;
    let table = tables.into_iter().next().flatten();
    table.ok_or_else(|| missing.into())
}

/// Changes a description; a fault leaves it as it is.
async fn alter<S: Store>(
    store: &S,
    name: &TableName,
    missing: TableFault,
    change: impl Fn(&mut Table) -> Result<(), TableFault> + Send + 'static,
) -> Result<(), Error> {
    let decide = move |proposal: Proposal| {
        let existing = proposal.existing.ok_or_else(|| missing.clone());
        let changed = existing.and_then(|existing| {
            let mut table = existing.clone();
            change(&mut table)?;
            let is_changed = table != *existing;
            table.version = Version(existing.version.0 + 1);
            Ok(is_changed.then_some(TableChange::Replace(table)))
        });
        match changed {
            Ok(change) => Alteration {
                change,
                answer: Ok(()),
            },
            Err(fault) => Alteration {
                change: None,
                answer: Err(fault),
            },
        }
    };
    let altered = store.alter(name, Box::new(decide)).await;
    Ok(altered.map_err(|error| alteration_error(error, name))??)
}

/// What is said of a table that a request names and that is not there.
fn not_found(name: &TableName) -> TableFault {
    TableFault::TableNotFound(name.name.clone())
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
