//! UpdateTable: changes a table's settings and global indexes. What it changes is done with the answer, though the
//! answer shows the state before, as clients expect it.                        behaviour/tables §update-table

mod change;
mod fill;
mod request;
mod rules;

use serde::Serialize;

use crate::{
    engine,
    error::Error,
    operation::{Context, Operation},
    store::{Alteration, Proposal, Store, StoreError, TableChange},
    table::{AccountId, Description, TableFault, TableName},
    wire::{Layer, Members, decode},
};

use self::{
    change::Taken,
    request::{SHAPE, UpdateTable},
};

use super::{alteration_error, json, table_name};

pub async fn run<S: Store>(store: &S, body: &str, context: &Context) -> Result<String, Error> {
    let (fields, layer) = decode(body, &SHAPE, Layer::Old)?;
    let name = table_name(&fields, Operation::UpdateTable, layer, context)?;
    let mut members = Members::new(layer);
    let request = UpdateTable::read(&fields, &mut members);
    members.finish()?;
    request.check()?;
    update(store, request, &name, context).await
}

/// Fills the indexes whose fill a crash has cut off, where a store commits each of its steps. No other fill may be running.
pub async fn resume<S: Store>(store: &S, account: &AccountId) -> Result<(), StoreError> {
    const NAMES: usize = 100;
    let mut names: Vec<String> = Vec::new();
    loop {
        names = store
            .table_names(account, names.last().map(String::as_str), NAMES)
            .await?;
        for name in &names {
            let name = TableName {
                account: account.clone(),
                name: name.clone(),
            };
            for number in fill::unfinished(store, &name).await? {
                fill::fill(store, &name, number).await?;
            }
        }
        if names.len() < NAMES {
            return Ok(());
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Response<'a> {
    table_description: Description<'a>,
}

async fn update<S: Store>(
    store: &S,
    request: UpdateTable,
    name: &TableName,
    context: &Context,
) -> Result<String, Error> {
    let taken = take(store, request, name, context).await?;
    let statistics = store
        .statistics(&taken.table)
        .await
        .map_err(engine::store_error)?;
    let answer = json(&Response {
        table_description: taken
            .answered
            .updated(&context.region, context.now, &statistics, &taken.running),
    })?;
    if let Some(number) = taken.running.created
        && let Err(fault) = fill::fill(store, name, number).await
    {
        // Where the store rolls back the whole request this is for nothing; elsewhere the index would stay.
        fill::give_up(store, name, number)
            .await
            .map_err(|error| alteration_error(error, name))?;
        return Err(alteration_error(fault, name));
    }
    Ok(answer)
}

/// The change itself. Afterwards every writer plans with the new description.
async fn take<S: Store>(
    store: &S,
    request: UpdateTable,
    name: &TableName,
    context: &Context,
) -> Result<Taken, Error> {
    let (asked, context) = (name.name.clone(), context.clone());
    let decide = move |proposal: Proposal| {
        let existing = match proposal.existing {
            Some(existing) => existing,
            None => {
                return Alteration {
                    change: None,
                    answer: Err(TableFault::TableNotFound(asked.clone()).into()),
                };
            }
        };
        let answer: Result<Taken, Error> = request.take(existing, &context);
        let changed = answer.as_ref().ok().filter(|taken| taken.table != *existing);
        Alteration {
            change: changed.map(|taken| TableChange::Replace(taken.table.clone())),
            answer,
        }
    };
    let altered = store.alter(name, Box::new(decide)).await;
    altered.map_err(|error| alteration_error(error, name))?
}
