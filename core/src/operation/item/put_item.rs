//! PutItem: one item, whole, optionally on a condition.                           behaviour/operations §put-item

use std::sync::Arc;

use crate::{
    error::{Error, Fault},
    item::{Attributes, Item},
    store::Store,
    table::Table,
    wire::{Member, Shape, Type, decode},
    write::{Decision, Images, Keys, Need, ReturnValues, Unit, derive},
};

use super::{
    super::{Context, Operation, ParameterFault, keys, legacy},
    Answered, Reading, Returned, Write, finish_placeholders,
};

/// The largest item, names and values together.
pub const ITEM_MAX_BYTES: usize = 409_600;

pub static SHAPE: Shape = Shape {
    name: "PutItemInput",
    members: &[
        Member::new("TableName", Type::String),
        Member::new("Item", Type::Map(&Type::AttributeValue)),
        Member::new("Expected", legacy::EXPECTED),
        Member::new("ReturnValues", Type::String),
        Member::new("ReturnConsumedCapacity", Type::String),
        Member::new("ReturnItemCollectionMetrics", Type::String),
        Member::new("ConditionalOperator", Type::String),
        Member::new("ConditionExpression", Type::String),
        Member::new("ExpressionAttributeNames", Type::Map(&Type::String)),
        Member::new("ExpressionAttributeValues", Type::Map(&Type::AttributeValue)),
        Member::new("ReturnValuesOnConditionCheckFailure", Type::String),
    ],
};

pub struct PutItem {
    pub(super) write: Write,
    attributes: Attributes,
    /// The same in the form that is stored.
    item: Item,
}

pub async fn run<S: Store>(store: &S, body: &str, context: &Context) -> Answered {
    let request = Arc::new(PutItem::parse(body, context)?);
    super::write(store, &request.write.table, |table| request.plan(table)).await
}

impl PutItem {
    pub fn parse(body: &str, context: &Context) -> Result<Self, Error> {
        let (fields, layer) = decode(body, &SHAPE, context.layer)?;
        let reading = Reading::new(Operation::PutItem, layer, context);
        let mut write = Write::read_members(&fields, &reading, context, "Item", |_| ())?;
        let (attributes, placeholders) = write.read_condition_and_values(&fields, &reading)?;
        if !matches!(write.return_values, ReturnValues::None | ReturnValues::AllOld) {
            return Err(ParameterFault::ReturnValues.into());
        }
        finish_placeholders(&placeholders)?;
        let item = Item::encode(&attributes);
        if item.size() > ITEM_MAX_BYTES {
            return Err(ParameterFault::ItemSize.into());
        }
        Ok(PutItem {
            write,
            attributes,
            item,
        })
    }

    pub fn plan(self: &Arc<Self>, table: &Arc<Table>) -> Result<Unit<Answered>, Error> {
        let key = keys::key_of_item(table, &self.attributes, keys::KeyTexts::Item)?;
        keys::check_index_keys(table, &self.attributes)?;
        let write = &self.write;
        let blind = write.condition.is_none()
            && write.return_values == ReturnValues::None
            && !write.capacity.wanted()
            && table.indexes.is_empty();
        let need = if blind { Need::RightToWrite } else { Need::Image };
        let (request, described, written) = (self.clone(), table.clone(), key.clone());
        let decide = move |images: &Images| {
            if images.busy(0) {
                return Decision::refuse(Err(Fault::Conflict.into()));
            }
            let old = if blind {
                None
            } else {
                images.item(0).ok().flatten()
            };
            if let Err(fault) = request.write.check_condition(old) {
                return Decision::refuse(Err(fault));
            }
            let derived = derive(&described, 0, &written, old, Some(request.item.clone()));
            let returned = old
                .filter(|_| request.write.return_values == ReturnValues::AllOld)
                .map(Returned::Item);
            let answer =
                request
                    .write
                    .answer(&described, returned.as_ref(), &request.attributes, &derived.arms);
            Decision {
                changes: vec![derived.change],
                answer: Ok(answer),
            }
        };
        Ok(Unit {
            tables: vec![(table.id, table.version)],
            keys: Keys(vec![(key, need)]),
            decide: Box::new(decide),
        })
    }
}
