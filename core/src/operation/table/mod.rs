//! Table operations. They are read by the service's old layer, and their texts carry no prefix.
//!                                                                                          behaviour/tables

pub(super) mod create_table;
pub(super) mod delete_table;
pub(super) mod describe_table;
pub(super) mod list_tables;
mod members;

#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::{
    engine,
    error::{Error, Fault},
    store::StoreError,
    table::{NameFault, TableFault, TableName, is_arn},
    wire::{Constraint, Fields, Member, Members, Shape, Type},
};

use super::Context;

/// The request of DescribeTable and DeleteTable.
static TABLE_NAME_ALONE: Shape =
    Shape { name: "TableName", members: &[Member { name: "TableName", kind: Type::String }] };

/// The table that a request names. Its faults answer on their own, before those of the other members.
fn table_name(fields: &Fields, context: &Context, form: NameForm) -> Result<TableName, Error> {
    let Some(value) = fields.string("TableName") else {
        return Err(TableFault::NameMissing.into());
    };
    if !is_arn(value) {
        let constraints = match (form, value) {
            (NameForm::Existing, "") => &[Constraint::LengthAtLeast(1)],
            _ => members::NAME,
        };
        let mut members = Members::default();
        members.string("tableName", Some(value), constraints);
        members.finish()?;
    }
    TableName::resolve(value, &context.account, &context.region).map_err(|fault| match fault {
        NameFault::OtherAccount(name) => TableFault::TableNotFound(name).into(),
        fault => fault.into(),
    })
}

/// An empty name is reported differently where a table is created.
#[derive(Clone, Copy, Debug, PartialEq)]
enum NameForm {
    New,
    Existing,
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
