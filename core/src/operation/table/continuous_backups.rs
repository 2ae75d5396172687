//! DescribeContinuousBackups and UpdateContinuousBackups, of a server without point-in-time recovery: it is off and
//! cannot be turned on.                                                behaviour/tables §features-without-use

use crate::{
    error::Error,
    operation::{Context, Operation},
    store::Store,
    table::{ResourceFault, TableName},
    wire::{Constraint, Layer, Members, Object, Shape, Type, decode},
};

use super::{TABLE_NAME_ALONE, definition::shapes::member, find, members::Structure, table_name};

static UPDATE: Shape = Shape {
    name: "UpdateContinuousBackupsInput",
    members: &[
        member("TableName", Type::String),
        member(
            "PointInTimeRecoverySpecification",
            Type::Structure(&POINT_IN_TIME_RECOVERY_SPECIFICATION),
        ),
    ],
};
static POINT_IN_TIME_RECOVERY_SPECIFICATION: Shape = Shape {
    name: "PointInTimeRecoverySpecification",
    members: &[
        member("PointInTimeRecoveryEnabled", Type::Boolean),
        member("RecoveryPeriodInDays", Type::Integer),
    ],
};

pub async fn describe<S: Store>(store: &S, body: &str, context: &Context) -> Result<String, Error> {
    let (fields, layer) = decode(body, &TABLE_NAME_ALONE, Layer::Old)?;
    let name = table_name(&fields, Operation::DescribeContinuousBackups, layer, context)?;
    disabled(store, &name).await
}

pub async fn update<S: Store>(store: &S, body: &str, context: &Context) -> Result<String, Error> {
    const DAYS: &[Constraint] = &[Constraint::ValueAtLeast(1), Constraint::ValueAtMost(35)];
    let (fields, layer) = decode(body, &UPDATE, Layer::Old)?;
    let name = table_name(&fields, Operation::UpdateContinuousBackups, layer, context)?;
    let mut members = Members::new(layer);
    let specification = Structure::root(&fields, &mut members).required_structure(
        "PointInTimeRecoverySpecification",
        |mut specification| {
            let enabled = specification.required_boolean("PointInTimeRecoveryEnabled");
            let days = specification.checked_integer("RecoveryPeriodInDays", DAYS);
            (enabled == Some(true), days.is_some())
        },
    );
    members.finish()?;
    let (enabled, has_period) = specification.unwrap_or_default();
    if !enabled && has_period {
        return Err(ResourceFault::RecoveryPeriodOfNothing.into());
    }
    let answer = disabled(store, &name).await?;
    match enabled {
        true => Err(ResourceFault::BackupsNotServed.into()),
        false => Ok(answer),
    }
}

async fn disabled<S: Store>(store: &S, name: &TableName) -> Result<String, Error> {
    find(store, name, ResourceFault::TableMissing(name.name.clone()).into()).await?;
    Ok(Object::body(|body| {
        body.object("ContinuousBackupsDescription", |description| {
            description.string("ContinuousBackupsStatus", "ENABLED");
            description.object("PointInTimeRecoveryDescription", |recovery| {
                recovery.string("PointInTimeRecoveryStatus", "DISABLED");
            });
        });
    }))
}
