//! UntagResource: takes tags from a table by their keys; one that is not there is fine.    behaviour/tables §tags

use crate::{
    error::Error,
    operation::{Context, Operation},
    store::Store,
    table::ResourceFault,
    wire::{Layer, Members, Shape, Type, decode},
};

use super::{
    alter,
    definition::shapes::member,
    members::Structure,
    resource::{ResourceArn, Speaker},
};

static SHAPE: Shape = Shape {
    name: "UntagResourceInput",
    members: &[
        member("ResourceArn", Type::String),
        member("TagKeys", Type::List(&Type::String)),
    ],
};

pub async fn run<S: Store>(store: &S, body: &str, context: &Context) -> Result<String, Error> {
    let (fields, layer) = decode(body, &SHAPE, Layer::Old)?;
    let arn = ResourceArn::read(&fields)?;
    let mut members = Members::new(layer);
    let keys = Structure::root(&fields, &mut members).required_strings("TagKeys");
    members.finish()?;
    let resource = arn.resolve(context, Speaker::Tags(Operation::UntagResource))?;
    if keys.is_empty() {
        return Err(ResourceFault::NoTagKeys.into());
    }
    let missing = ResourceFault::NotFound(resource.arn);
    if resource.stream.is_some() {
        return Err(missing.into());
    }
    alter(store, &resource.table, missing.into(), move |table| {
        table.settings.tags.retain(|(key, _)| !keys.contains(key));
        Ok(())
    })
    .await?;
    Ok(String::new())
}
