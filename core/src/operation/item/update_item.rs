//! UpdateItem: changes attributes of one item, which it creates where there is none.
//!                                                                               behaviour/operations §update-item

use std::sync::Arc;

use crate::{
    error::{Error, Fault},
    expression::{Body, ExpressionFault, Kind, Placeholders, Projection, Update, UpdateFault},
    item::{Attributes, Item, ItemKey},
    store::Store,
    table::Table,
    wire::{Fields, Member, MemberFault, Members, Shape, Type, decode, table_name},
    write::{Arms, Decision, Images, Keys, Need, ReturnValues, Unit, derive},
};

use super::{
    super::{Context, Operation, keys, legacy},
    Answered, Reading, Returned, Uses, Values, Write, check_mixing, finish_placeholders,
    put_item::ITEM_MAX_BYTES,
    read_placeholders,
};

pub static SHAPE: Shape = Shape {
    name: "UpdateItemInput",
    members: &[
        Member::new("TableName", Type::String),
        Member::new("Key", Type::Map(&Type::AttributeValue)),
        Member::new("AttributeUpdates", legacy::ATTRIBUTE_UPDATES),
        Member::new("Expected", legacy::EXPECTED),
        Member::new("ConditionalOperator", Type::String),
        Member::new("ReturnValues", Type::String),
        Member::new("ReturnConsumedCapacity", Type::String),
        Member::new("ReturnItemCollectionMetrics", Type::String),
        Member::new("UpdateExpression", Type::String),
        Member::new("ConditionExpression", Type::String),
        Member::new("ExpressionAttributeNames", Type::Map(&Type::String)),
        Member::new("ExpressionAttributeValues", Type::Map(&Type::AttributeValue)),
        Member::new("ReturnValuesOnConditionCheckFailure", Type::String),
    ],
};

pub struct UpdateItem {
    pub(super) write: Write,
    key: Attributes,
    /// Without one the request is a no-op upsert.
    update: Option<Update>,
}

pub async fn run<S: Store>(store: &S, body: &str, context: &Context) -> Answered {
    let request = Arc::new(UpdateItem::parse(body, context)?);
    super::write(store, &request.write.table, |table| request.plan(table)).await
}

impl UpdateItem {
    pub fn parse(body: &str, context: &Context) -> Result<Self, Error> {
        let (fields, layer) = decode(body, &SHAPE, context.layer)?;
        let reading = Reading::new(Operation::UpdateItem, layer, context);
        let mut write = Self::members(&fields, reading, context)?;
        let mixing = check_mixing(
            &fields,
            &["AttributeUpdates", "Expected", "ConditionalOperator"],
            &["UpdateExpression", "ConditionExpression"],
        );
        let mut values = Values::read_unmixed(&fields, &reading, mixing)?;
        let uses = Uses::both(fields.has("UpdateExpression") || fields.has("ConditionExpression"));
        let suffix = reading
            .own_layer
            .or_old("", ": UpdateExpression and ConditionExpression are null");
        let placeholders = read_placeholders(values.names, values.expression_values, uses, suffix)?;
        let key = values
            .subject
            .ok_or_else(|| Fault::Internal("no Key".into()))?
            .settle()?;
        let attribute_updates = values.legacy.update()?;
        write.read_expected(&fields, &mut values.legacy)?;
        let update = Self::expressions(&fields, &reading, &mut write, &placeholders)?.or(attribute_updates);
        finish_placeholders(&placeholders)?;
        Ok(UpdateItem { write, key, update })
    }

    /// With a Key each fault answers alone, two of them without the count; without one they are listed together as on the
    /// old layer.
    fn members(fields: &Fields<'_>, reading: Reading, context: &Context) -> Result<Write, Error> {
        let return_values = fields.string("ReturnValues");
        let capacity = fields.string("ReturnConsumedCapacity");
        let metrics = fields.string("ReturnItemCollectionMetrics");
        let on_failure = fields.string("ReturnValuesOnConditionCheckFailure");
        let has_key = fields.has("Key");
        let layer = if has_key && fields.has("TableName") {
            reading.layer
        } else {
            crate::wire::Layer::Old
        };
        let name = table_name(fields.string("TableName"), reading.operation, layer, context);
        if let Some(fault) = name.as_ref().err().and_then(|fault| fault.alone()) {
            return Err(fault.into());
        }
        if !has_key {
            let mut members = Members::new(layer);
            members.return_consumed_capacity(capacity);
            members.required("tableName", fields.has("TableName"));
            members.return_values(return_values);
            members.return_values_on_condition_check_failure(on_failure);
            members.return_item_collection_metrics(metrics);
            members.required("key", false);
            members.finish()?;
        }
        if let Err(fault) = &name {
            let mut members = Members::new(layer);
            members.table_name(&Err(fault.clone()));
            if !fields.has("TableName") {
                members.return_values(return_values);
            }
            members.finish()?;
        }
        let mut members = Members::new(layer);
        members.return_values(return_values);
        members.finish()?;
        let mut members = Members::new(layer);
        members.return_values_on_condition_check_failure(on_failure);
        members.finish_bare()?;
        let mut members = Members::new(layer);
        members.return_item_collection_metrics(metrics);
        members.finish()?;
        let mut members = Members::new(layer);
        members.return_consumed_capacity(capacity);
        members.finish_bare()?;
        Ok(Write::new(fields, name.map_err(MemberFault::from)?))
    }

    /// Empty ones are found first, the condition's before the update's; then each is parsed whole, the update first.
    fn expressions(
        fields: &Fields<'_>,
        reading: &Reading,
        write: &mut Write,
        placeholders: &Placeholders,
    ) -> Result<Option<Update>, Error> {
        for (member, kind) in [
            ("ConditionExpression", Kind::Condition),
            ("UpdateExpression", Kind::Update),
        ] {
            if fields.string(member) == Some("") {
                return Err(ExpressionFault {
                    kind,
                    body: Body::Empty,
                }
                .into());
            }
        }
        let update = fields
            .string("UpdateExpression")
            .map(|text| Update::parse(text, placeholders))
            .transpose()?;
        write.read_condition(fields, reading, placeholders)?;
        Ok(update)
    }

    pub fn plan(self: &Arc<Self>, table: &Arc<Table>) -> Result<Unit<Answered>, Error> {
        let key = keys::key_of_key(table, &self.key)?;
        if let Some(update) = &self.update {
            if update.charge() > ITEM_MAX_BYTES {
                return Err(UpdateFault::ItemSize.into());
            }
            update.check_keys(table)?;
        }
        let (request, described, updated) = (self.clone(), table.clone(), key.clone());
        Ok(Unit {
            tables: vec![(table.id, table.version)],
            keys: Keys(vec![(key, Need::Image)]),
            decide: Box::new(move |images| request.decide(&described, &updated, images)),
        })
    }

    fn decide(&self, table: &Table, key: &ItemKey, images: &Images) -> Decision<Answered> {
        let Ok(old) = images.item(0) else {
            return Decision::refuse(Err(Fault::Conflict.into()));
        };
        let new = self
            .write
            .check_condition(old)
            .and_then(|()| self.apply(table, old));
        let new = match new {
            Ok(Some(new)) => new,
            // An update that only removes creates nothing.
            Ok(None) => {
                let arms = Arms {
                    table: 1.0,
                    ..Arms::default()
                };
                return Decision::refuse(Ok(self.write.answer(table, None, &self.key, &arms)));
            }
            Err(fault) => return Decision::refuse(Err(fault)),
        };
        let derived = derive(table, 0, key, old, Some(new.clone()));
        let returned = self.returned(old, &new);
        let answer = Ok(self
            .write
            .answer(table, returned.as_ref(), &self.key, &derived.arms));
        // What leaves the item as it was writes nothing.
        if old == Some(&new) {
            return Decision::refuse(answer);
        }
        Decision {
            changes: vec![derived.change],
            answer,
        }
    }

    fn apply(&self, table: &Table, old: Option<&Item>) -> Result<Option<Item>, Error> {
        let Some(update) = &self.update else {
            return Ok(Some(old.cloned().unwrap_or_else(|| Item::encode(&self.key))));
        };
        update.apply(table, old, &self.key)
    }

    fn returned<'a>(&self, old: Option<&'a Item>, new: &'a Item) -> Option<Returned<'a>> {
        let touched = || {
            self.update
                .as_ref()
                .map_or_else(Projection::default, Update::targets)
        };
        match self.write.return_values {
            ReturnValues::None => None,
            ReturnValues::AllOld => old.map(Returned::Item),
            ReturnValues::AllNew => Some(Returned::Item(new)),
            ReturnValues::UpdatedOld => old.map(|old| Returned::Part(touched().apply(old))),
            ReturnValues::UpdatedNew => Some(Returned::Part(touched().apply(new))),
        }
    }
}
