//! Contributor Insights and Kinesis destinations, of a server that has neither: what describes them answers that there
//! are none.                                                           behaviour/tables §features-without-use

use crate::{
    error::Error,
    operation::{Context, Operation},
    store::Store,
    table::{IndexScope, ResourceFault},
    wire::{Layer, Members, Object, Shape, Type, decode},
};

use super::{
    TABLE_NAME_ALONE,
    definition::shapes::member,
    find,
    members::{NAME, Structure},
    not_found, table_name,
};

static DESCRIBE: Shape = Shape {
    name: "DescribeContributorInsightsInput",
    members: &[
        member("TableName", Type::String),
        member("IndexName", Type::String),
    ],
};
static LIST: Shape = Shape {
    name: "ListContributorInsightsInput",
    members: &[
        member("TableName", Type::String),
        member("NextToken", Type::String),
        member("MaxResults", Type::Integer),
    ],
};

pub async fn describe_contributor_insights<S: Store>(
    store: &S,
    body: &str,
    context: &Context,
) -> Result<String, Error> {
    let (fields, layer) = decode(body, &DESCRIBE, Layer::Old)?;
    let name = table_name(&fields, Operation::DescribeContributorInsights, layer, context)?;
    let mut members = Members::new(layer);
    let index = Structure::root(&fields, &mut members).string("IndexName", NAME);
    members.finish()?;
    let table = find(store, &name, not_found(&name)).await?;
    if let Some(index) = &index {
        let is_global = |index: &crate::table::Index| index.scope == IndexScope::Global;
        if !table.index(index).is_some_and(is_global) {
            return Err(ResourceFault::NoInsightsIndex {
                table: name.name,
                index: index.clone(),
            }
            .into());
        }
    }
    Ok(Object::body(|body| {
        body.string("TableName", &table.name);
        if let Some(index) = &index {
            body.string("IndexName", index);
        }
        body.string("ContributorInsightsStatus", "DISABLED");
    }))
}

/// Those that are disabled are left out, so there are none.
pub async fn list_contributor_insights<S: Store>(
    store: &S,
    body: &str,
    context: &Context,
) -> Result<String, Error> {
    let (fields, layer) = decode(body, &LIST, Layer::Old)?;
    if fields.has("TableName") {
        let name = table_name(&fields, Operation::ListContributorInsights, layer, context)?;
        find(store, &name, not_found(&name)).await?;
    }
    Ok(Object::body(|body| {
        body.strings("ContributorInsightsSummaries", [""; 0]);
    }))
}

pub async fn describe_kinesis_streaming_destination<S: Store>(
    store: &S,
    body: &str,
    context: &Context,
) -> Result<String, Error> {
    let (fields, layer) = decode(body, &TABLE_NAME_ALONE, Layer::Old)?;
    let operation = Operation::DescribeKinesisStreamingDestination;
    let name = table_name(&fields, operation, layer, context)?;
    let table = find(store, &name, not_found(&name)).await?;
    Ok(Object::body(|body| {
        body.string("TableName", &table.name);
        body.strings("KinesisDataStreamDestinations", [""; 0]);
    }))
}
