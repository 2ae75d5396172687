//! DeleteItem: one item by its key, optionally on a condition.                 behaviour/operations §delete-item

use std::sync::Arc;

use crate::{
    error::{Error, Fault},
    item::Attributes,
    store::Store,
    table::Table,
    wire::{Member, Shape, Type, decode},
    write::{Arms, Decision, Images, Keys, Need, ReturnValues, Unit, derive},
};

use super::{
    super::{Context, Operation, ParameterFault, keys, legacy},
    Answered, Reading, Returned, Write, finish_placeholders,
};

pub static SHAPE: Shape = Shape {
    name: "DeleteItemInput",
    members: &[
        Member::new("TableName", Type::String),
        Member::new("Key", Type::Map(&Type::AttributeValue)),
        Member::new("Expected", legacy::EXPECTED),
        Member::new("ConditionalOperator", Type::String),
        Member::new("ReturnValues", Type::String),
        Member::new("ReturnConsumedCapacity", Type::String),
        Member::new("ReturnItemCollectionMetrics", Type::String),
        Member::new("ConditionExpression", Type::String),
        Member::new("ExpressionAttributeNames", Type::Map(&Type::String)),
        Member::new("ExpressionAttributeValues", Type::Map(&Type::AttributeValue)),
        Member::new("ReturnValuesOnConditionCheckFailure", Type::String),
    ],
};

pub struct DeleteItem {
    pub(super) write: Write,
    key: Attributes,
}

pub async fn run<S: Store>(store: &S, body: &str, context: &Context) -> Answered {
    let request = Arc::new(DeleteItem::parse(body, context)?);
    super::write(store, &request.write.table, |table| request.plan(table)).await
}

impl DeleteItem {
    pub fn parse(body: &str, context: &Context) -> Result<Self, Error> {
        let (fields, layer) = decode(body, &SHAPE, context.layer)?;
        let reading = Reading::new(Operation::DeleteItem, layer, context);
        let mut write = Write::read_members(&fields, &reading, context, "Key", |members| {
            // Listed with the members, unlike PutItem's.
            let return_values = ReturnValues::parse(fields.string("ReturnValues"));
            let refused =
                return_values.is_some_and(|v| !matches!(v, ReturnValues::None | ReturnValues::AllOld));
            if refused && fields.has("Key") {
                members.text(ParameterFault::ReturnValues.text());
            }
        })?;
        let (key, placeholders) = write.read_condition_and_values(&fields, &reading)?;
        finish_placeholders(&placeholders)?;
        Ok(DeleteItem { write, key })
    }

    pub fn plan(self: &Arc<Self>, table: &Arc<Table>) -> Result<Unit<Answered>, Error> {
        let key = keys::key_of_key(table, &self.key)?;
        let (request, described, deleted) = (self.clone(), table.clone(), key.clone());
        let decide = move |images: &Images| {
            let Ok(old) = images.item(0) else {
                return Decision::refuse(Err(Fault::Conflict.into()));
            };
            if let Err(fault) = request.write.check_condition(old) {
                return Decision::refuse(Err(fault));
            }
            let returned = old
                .filter(|_| request.write.return_values == ReturnValues::AllOld)
                .map(Returned::Item);
            let answer = |arms: &Arms| {
                Ok(request
                    .write
                    .answer(&described, returned.as_ref(), &request.key, arms))
            };
            // Deleting what is not there succeeds, and costs a unit.
            let Some(old) = old else {
                return Decision::refuse(answer(&Arms {
                    table: 1.0,
                    ..Arms::default()
                }));
            };
            let derived = derive(&described, 0, &deleted, Some(old), None);
            Decision {
                changes: vec![derived.change],
                answer: answer(&derived.arms),
            }
        };
        Ok(Unit {
            tables: vec![(table.id, table.version)],
            keys: Keys(vec![(key, Need::Image)]),
            decide: Box::new(decide),
        })
    }
}
