//! DescribeTimeToLive: the attribute that says when an item expires.              behaviour/tables §time-to-live

use serde::Serialize;

use crate::{
    error::Error,
    operation::{Context, Operation},
    store::Store,
    table::{TableFault, TableStatus},
    wire::{Layer, decode},
};

use super::{TABLE_NAME_ALONE, find, json, not_found, table_name};

pub async fn run<S: Store>(store: &S, body: &str, context: &Context) -> Result<String, Error> {
    let (fields, layer) = decode(body, &TABLE_NAME_ALONE, Layer::Old)?;
    let name = table_name(&fields, Operation::DescribeTimeToLive, layer, context)?;
    let table = find(store, &name, not_found(&name)).await?;
    if matches!(table.status, TableStatus::Creating | TableStatus::Deleting) {
        return Err(TableFault::TimeToLiveUndescribed(table.status).into());
    }
    let attribute_name = table.settings.ttl_attribute.as_deref();
    json(&Response {
        time_to_live_description: Description {
            time_to_live_status: match attribute_name {
                Some(_) => "ENABLED",
                None => "DISABLED",
            },
            attribute_name,
        },
    })
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Response<'a> {
    time_to_live_description: Description<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Description<'a> {
    time_to_live_status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    attribute_name: Option<&'a str>,
}
