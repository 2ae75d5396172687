//! UpdateTimeToLive: names the attribute that says when an item expires, or none.  behaviour/tables §time-to-live

use serde::Serialize;

use crate::{
    error::Error,
    operation::{Context, Operation},
    store::Store,
    table::{Table, TableFault, TableStatus},
    wire::{Fields, Layer, Members, Shape, Type, decode},
};

use super::{
    alter,
    definition::shapes::member,
    json,
    members::{ATTRIBUTE_NAME, Structure},
    not_found, table_name,
};

static SHAPE: Shape = Shape {
    name: "UpdateTimeToLiveInput",
    members: &[
        member("TableName", Type::String),
        member(
            "TimeToLiveSpecification",
            Type::Structure(&TIME_TO_LIVE_SPECIFICATION),
        ),
    ],
};
static TIME_TO_LIVE_SPECIFICATION: Shape = Shape {
    name: "TimeToLiveSpecification",
    members: &[
        member("Enabled", Type::Boolean),
        member("AttributeName", Type::String),
    ],
};

pub async fn run<S: Store>(store: &S, body: &str, context: &Context) -> Result<String, Error> {
    let (fields, layer) = decode(body, &SHAPE, Layer::Old)?;
    let name = table_name(&fields, Operation::UpdateTimeToLive, layer, context)?;
    let specification = Specification::read(&fields, layer)?;
    let wanted = specification.clone();
    alter(store, &name, not_found(&name), move |table| wanted.change(table)).await?;
    json(&Response {
        time_to_live_specification: specification,
    })
}

/// Of the request, and echoed in the answer.
#[derive(Clone, Default, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Specification {
    enabled: bool,
    attribute_name: String,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Response {
    time_to_live_specification: Specification,
}

impl Specification {
    fn read(fields: &Fields, layer: Layer) -> Result<Self, Error> {
        let mut members = Members::new(layer);
        let mut request = Structure::root(fields, &mut members);
        let specification =
            request.required_structure("TimeToLiveSpecification", |mut specification| Specification {
                enabled: specification.required_boolean("Enabled").unwrap_or_default(),
                attribute_name: specification.required_string("AttributeName", ATTRIBUTE_NAME),
            });
        members.finish()?;
        Ok(specification.unwrap_or_default())
    }

    /// An item keeps what it expired by until it is written again: a sweep looks at the attribute once more.
    fn change(&self, table: &mut Table) -> Result<(), TableFault> {
        match table.status {
            TableStatus::Creating => return Err(TableFault::TimeToLiveWhileCreating(table.name.clone())),
            TableStatus::Deleting => return Err(TableFault::TableNotFound(table.name.clone())),
            TableStatus::Active | TableStatus::Updating => {}
        }
        let wanted = Some(&self.attribute_name);
        table.settings.ttl_attribute = match (&table.settings.ttl_attribute, self.enabled) {
            (Some(current), _) if Some(current) != wanted => {
                return Err(TableFault::TimeToLiveOtherAttribute(current.clone()));
            }
            (Some(_), true) => return Err(TableFault::TimeToLiveEnabled),
            (None, false) => return Err(TableFault::TimeToLiveDisabled),
            (Some(_), false) => None,
            (None, true) => wanted.cloned(),
        };
        Ok(())
    }
}
