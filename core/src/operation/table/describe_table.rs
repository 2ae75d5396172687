//! DescribeTable: the description with its figures.                         behaviour/tables §descriptions

use serde::Serialize;

use crate::{
    engine,
    error::Error,
    operation::{Context, Operation},
    store::Store,
    table::{Description, TableName},
    wire::{Layer, decode},
};

use super::{TABLE_NAME_ALONE, find, json, not_found, table_name};

pub async fn run<S: Store>(store: &S, body: &str, context: &Context) -> Result<String, Error> {
    let (fields, layer) = decode(body, &TABLE_NAME_ALONE, Layer::Old)?;
    let name = table_name(&fields, Operation::DescribeTable, layer, context)?;
    describe(store, &name, context).await
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Response<'a> {
    table: Description<'a>,
}

async fn describe<S: Store>(store: &S, name: &TableName, context: &Context) -> Result<String, Error> {
    let table = find(store, name, not_found(name)).await?;
    let statistics = store.statistics(&table).await.map_err(engine::store_error)?;
    json(&Response {
        table: table.described(&context.region, context.now, &statistics),
    })
}
