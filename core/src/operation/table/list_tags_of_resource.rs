//! ListTagsOfResource: all tags of a table, on one page.                                   behaviour/tables §tags

use serde::Serialize;

use crate::{
    error::Error,
    operation::{Context, Operation},
    store::Store,
    table::ResourceFault,
    wire::{Layer, Shape, Type, decode},
};

use super::{
    definition::shapes::member,
    find, json,
    resource::{ResourceArn, Speaker},
};

/// There never is a second page, so NextToken is not looked at.
static SHAPE: Shape = Shape {
    name: "ListTagsOfResourceInput",
    members: &[
        member("ResourceArn", Type::String),
        member("NextToken", Type::String),
    ],
};

pub async fn run<S: Store>(store: &S, body: &str, context: &Context) -> Result<String, Error> {
    let (fields, _) = decode(body, &SHAPE, Layer::Old)?;
    let arn = ResourceArn::read(&fields)?;
    let resource = arn.resolve(context, Speaker::Tags(Operation::ListTagsOfResource))?;
    let missing = ResourceFault::NotFound(resource.arn);
    if resource.stream.is_some() {
        return Err(missing.into());
    }
    let table = find(store, &resource.table, missing.into()).await?;
    let tags = table.settings.tags.iter();
    json(&Response {
        tags: tags.map(|(key, value)| Tag { key, value }).collect(),
    })
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Response<'a> {
    tags: Vec<Tag<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Tag<'a> {
    key: &'a str,
    value: &'a str,
}
