//! DeleteTable: gone at once, though the answer says DELETING.              behaviour/tables §delete-table

use serde::Serialize;

use crate::{
    error::Error,
    operation::{Context, Operation},
    store::{Alteration, Proposal, Store, TableChange},
    table::{Description, Statistics, Table, TableFault, TableName, TableStatus},
    wire::{Layer, decode},
};

use super::{TABLE_NAME_ALONE, alteration_error, json, table_name};

pub async fn run<S: Store>(store: &S, body: &str, context: &Context) -> Result<String, Error> {
    let (fields, layer) = decode(body, &TABLE_NAME_ALONE, Layer::Old)?;
    let name = table_name(&fields, Operation::DeleteTable, layer, context)?;
    delete(store, &name, context).await
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Response<'a> {
    table_description: Description<'a>,
}

async fn delete<S: Store>(store: &S, name: &TableName, context: &Context) -> Result<String, Error> {
    let asked = name.name.clone();
    let decide = move |proposal: Proposal| {
        let existing = proposal
            .existing
            .ok_or_else(|| TableFault::TableNotFound(asked.clone()));
        match existing.and_then(|table| check(table).map(|()| table)) {
            Err(fault) => Alteration {
                change: None,
                answer: Err(fault),
            },
            Ok(table) => Alteration {
                change: Some(TableChange::Drop(table.id)),
                answer: Ok(table.clone()),
            },
        }
    };
    let altered = store.alter(name, Box::new(decide)).await;
    let table = altered.map_err(|error| alteration_error(error, name))??;
    json(&Response {
        // Figures are not measured for the last time: what is left to say of the items is that they go.
        table_description: table.deleted(&context.region, context.now, &Statistics::default()),
    })
}

/// Its state, then its indexes', then its protection.
fn check(table: &Table) -> Result<(), TableFault> {
    match table.status {
        TableStatus::Creating => return Err(TableFault::BeingCreated(table.name.clone())),
        TableStatus::Deleting => return Err(TableFault::BeingDeleted(table.name.clone())),
        TableStatus::Active | TableStatus::Updating => {}
    }
    if table
        .indexes
        .iter()
        .any(|index| index.status != TableStatus::Active)
    {
        return Err(TableFault::IndexesBusy);
    }
    if table.status == TableStatus::Updating {
        return Err(TableFault::BeingUpdated(table.name.clone()));
    }
    match table.deletion_protection {
        true => Err(TableFault::Protected),
        false => Ok(()),
    }
}
