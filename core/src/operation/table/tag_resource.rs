//! TagResource: adds tags to a table, or gives them new values; all or none.               behaviour/tables §tags

use crate::{
    error::Error,
    operation::{Context, Operation},
    store::Store,
    table::{ResourceFault, Table, TableFault, TableStatus},
    wire::{Layer, Members, Shape, Type, decode},
};

use super::{
    alter,
    definition::shapes::member,
    members::Structure,
    resource::{ResourceArn, Speaker},
    tags::{MAXIMUM_TAGS, TAG, check_tags, key_and_value, read_tag},
};

static SHAPE: Shape = Shape {
    name: "TagResourceInput",
    members: &[
        member("ResourceArn", Type::String),
        member("Tags", Type::List(&Type::Structure(&TAG))),
    ],
};

pub async fn run<S: Store>(store: &S, body: &str, context: &Context) -> Result<String, Error> {
    let (fields, layer) = decode(body, &SHAPE, Layer::Old)?;
    let arn = ResourceArn::read(&fields)?;
    let mut members = Members::new(layer);
    let tags = Structure::root(&fields, &mut members).required_structures("Tags", read_tag);
    members.finish()?;
    let resource = arn.resolve(context, Speaker::Tags(Operation::TagResource))?;
    if tags.is_empty() {
        return Err(ResourceFault::NoTags.into());
    }
    check_tags(&tags)?;
    let missing = ResourceFault::NotFound(resource.arn);
    if resource.stream.is_some() {
        return Err(missing.into());
    }
    let tags: Vec<(String, String)> = tags.into_iter().filter_map(key_and_value).collect();
    alter(store, &resource.table, missing.into(), move |table| {
        add(table, &tags)
    })
    .await?;
    Ok(String::new())
}

fn add(table: &mut Table, tags: &[(String, String)]) -> Result<(), TableFault> {
    match table.status {
        TableStatus::Creating => return Err(TableFault::BeingCreated(table.name.clone())),
        TableStatus::Deleting => return Err(TableFault::BeingDeleted(table.name.clone())),
        TableStatus::Active | TableStatus::Updating => {}
    }
    let kept = &mut table.settings.tags;
    for (key, value) in tags {
        match kept.iter_mut().find(|(other, _)| other == key) {
            Some((_, old)) => old.clone_from(value),
            None => kept.push((key.clone(), value.clone())),
        }
    }
    match kept.len() > MAXIMUM_TAGS {
        true => Err(TableFault::TooManyTags),
        false => Ok(()),
    }
}
