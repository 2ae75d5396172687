//! DeleteItem: one item by its key, optionally on a condition.                 behaviour/operations §delete-item

use std::sync::Arc;

use crate::{
    error::{Error, Fault},
    item::Attributes,
    store::Store,
    table::Table,
    wire::{Fields, Member, Members, Shape, Type, decode, table_name},
    write::{Arms, Decision, Images, Keys, Need, ReturnValues, Unit, derive},
};

use super::{
    super::{Context, Operation, ParameterFault, keys, legacy},
    Answered, Reading, Returned, Uses, Values, Write, check_mixing, finish_placeholders, read_placeholders,
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

struct DeleteItem {
    write: Write,
    key: Attributes,
}

pub async fn run<S: Store>(store: &S, body: &str, context: &Context) -> Answered {
    let request = Arc::new(DeleteItem::parse(body, context)?);
    super::write(store, &request.write.table, |table| request.plan(table)).await
}

impl DeleteItem {
    fn parse(body: &str, context: &Context) -> Result<Self, Error> {
        let (fields, layer) = decode(body, &SHAPE, context.layer)?;
        let reading = Reading::new(Operation::DeleteItem, layer, context);
        let mut write = Self::members(&fields, &reading, context)?;
        let mixing = check_mixing(
            &fields,
            &["Expected", "ConditionalOperator"],
            &["ConditionExpression"],
        );
        let mut values = Values::read_unmixed(&fields, &reading, mixing)?;
        let uses = Uses::both(fields.has("ConditionExpression"));
        let suffix = reading.own_layer.or_old("", ": ConditionExpression is null");
        let placeholders = read_placeholders(values.names, values.expression_values, uses, suffix)?;
        let key = values
            .subject
            .ok_or_else(|| Fault::Internal("no Key".into()))?
            .settle()?;
        write.read_expected(&fields, &mut values.legacy)?;
        write.read_condition(&fields, &placeholders)?;
        finish_placeholders(&placeholders)?;
        Ok(DeleteItem { write, key })
    }

    fn members(fields: &Fields<'_>, reading: &Reading, context: &Context) -> Result<Write, Error> {
        let name = table_name(
            fields.string("TableName"),
            reading.operation,
            reading.layer,
            context,
        );
        if let Some(fault) = name.as_ref().err().and_then(|fault| fault.alone()) {
            return Err(fault.into());
        }
        let return_values = fields.string("ReturnValues");
        let mut members = Members::new(reading.layer);
        members.table_name(&name);
        members.required("key", fields.has("Key"));
        members.return_consumed_capacity(fields.string("ReturnConsumedCapacity"));
        members.return_values(return_values);
        members.return_item_collection_metrics(fields.string("ReturnItemCollectionMetrics"));
        members
            .return_values_on_condition_check_failure(fields.string("ReturnValuesOnConditionCheckFailure"));
        // Listed with the members, unlike PutItem's.
        let parsed = ReturnValues::parse(return_values);
        if fields.has("Key")
            && parsed.is_some_and(|v| !matches!(v, ReturnValues::None | ReturnValues::AllOld))
        {
            members.text(ParameterFault::ReturnValues.text());
        }
        members.finish()?;
        Ok(Write::new(fields, name.map_err(crate::wire::MemberFault::from)?))
    }

    fn plan(self: &Arc<Self>, table: &Arc<Table>) -> Result<Unit<Answered>, Error> {
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
