//! GetItem: one item by its key, whole or in part.                                 behaviour/operations §get-item

use crate::{
    engine,
    error::{Error, Fault},
    expression::Projection,
    item::{Attributes, Item, ItemKey},
    store::{Access, Store},
    table::{Table, TableName},
    wire::{Fields, Member, Members, Object, Shape, Type, decode, table_name},
    write::{Arms, ReturnConsumedCapacity, read_units},
};

use super::{
    super::{Context, Operation, ParameterFault, keys},
    Answered, Reading, Uses, Values, check_mixing, finish_placeholders, read_placeholders,
};

pub static SHAPE: Shape = Shape {
    name: "GetItemInput",
    members: &[
        Member::new("TableName", Type::String),
        Member::new("Key", Type::Map(&Type::AttributeValue)),
        Member::new("AttributesToGet", Type::List(&Type::String)),
        Member::new("ConsistentRead", Type::Boolean),
        Member::new("ReturnConsumedCapacity", Type::String),
        Member::new("ProjectionExpression", Type::String),
        Member::new("ExpressionAttributeNames", Type::Map(&Type::String)),
    ],
};

pub struct GetItem {
    pub table: TableName,
    sent_name: String,
    key: Attributes,
    projection: Option<Projection>,
    /// Paths into keys are refused only where an expression named them.
    check_key_paths: bool,
    consistent: bool,
    capacity: ReturnConsumedCapacity,
}

pub async fn run<S: Store>(store: &S, body: &str, context: &Context) -> Answered {
    let request = GetItem::parse(body, context)?;
    let table = engine::table(store, &request.table, Access::Read).await?;
    let key = request.key(&table)?;
    let items = store
        .read(std::slice::from_ref(&key))
        .await
        .map_err(engine::store_error)?;
    Ok(request.answer(&table, items.into_iter().next().flatten().as_ref()))
}

impl GetItem {
    /// The key, and the paths of the projection, against the table.
    pub fn key(&self, table: &Table) -> Result<ItemKey, Error> {
        let key = keys::key_of_key(table, &self.key)?;
        if let Some(projection) = self.projection.as_ref().filter(|_| self.check_key_paths) {
            projection
                .paths
                .iter()
                .try_for_each(|path| keys::check_key_path(table, path))?;
        }
        Ok(key)
    }

    pub fn answer(&self, table: &Table, item: Option<&Item>) -> String {
        let arms = Arms {
            table: read_units(item.map_or(0, Item::size), self.consistent),
            ..Arms::default()
        };
        Object::body(|body| {
            match (item, &self.projection) {
                (Some(item), Some(projection)) => body.attributes("Item", &projection.apply(item)),
                (Some(item), None) => body.item("Item", item),
                (None, _) => {}
            }
            if self.capacity.wanted() {
                body.member("ConsumedCapacity", |out| {
                    arms.write(self.capacity, &self.sent_name, table, out)
                });
            }
        })
    }

    pub fn parse(body: &str, context: &Context) -> Result<Self, Error> {
        let (fields, layer) = decode(body, &SHAPE, context.layer)?;
        let reading = Reading::new(Operation::GetItem, layer, context);
        let table = Self::members(&fields, &reading, context)?;
        let mixing = check_mixing(&fields, &["AttributesToGet"], &["ProjectionExpression"]);
        let values = Values::read_unmixed(&fields, &reading, mixing)?;
        let text = fields.string("ProjectionExpression");
        let placeholders = read_placeholders(values.names, None, Uses::both(text.is_some()), "")?;
        let key = values
            .subject
            .ok_or_else(|| Fault::Internal("no Key".into()))?
            .settle()?;
        let names = attributes_to_get(&fields)?;
        let projection = match (text, names) {
            (Some(text), _) => Some(Projection::parse(text, &placeholders)?),
            (None, Some(names)) => Some(Projection::of_names(names)),
            (None, None) => None,
        };
        finish_placeholders(&placeholders)?;
        Ok(GetItem {
            table,
            sent_name: fields.string("TableName").unwrap_or_default().to_owned(),
            key,
            projection,
            check_key_paths: text.is_some(),
            consistent: fields.boolean("ConsistentRead").unwrap_or_default(),
            capacity: ReturnConsumedCapacity::parse(fields.string("ReturnConsumedCapacity")),
        })
    }

    fn members(fields: &Fields<'_>, reading: &Reading, context: &Context) -> Result<TableName, Error> {
        let name = table_name(
            fields.string("TableName"),
            reading.operation,
            reading.layer,
            context,
        );
        if let Some(fault) = name.as_ref().err().and_then(|fault| fault.alone()) {
            return Err(fault.into());
        }
        let mut members = Members::new(reading.layer);
        members.required("key", fields.has("Key"));
        members.table_name(&name);
        members.return_consumed_capacity(fields.string("ReturnConsumedCapacity"));
        check_not_empty(fields, &mut members);
        members.finish()?;
        Ok(name.map_err(crate::wire::MemberFault::from)?)
    }
}

/// `AttributesToGet: []`
pub fn check_not_empty(fields: &Fields<'_>, members: &mut Members) {
    if fields
        .strings("AttributesToGet")
        .is_some_and(|names| names.is_empty())
    {
        members.fault(
            "attributesToGet",
            "[]",
            &crate::wire::Constraint::LengthAtLeast(1),
        );
    }
}

/// AttributesToGet: names, each once.                                           behaviour/operations §attributes-to-get
pub fn attributes_to_get(fields: &Fields<'_>) -> Result<Option<Vec<String>>, Error> {
    let Some(names) = fields.strings("AttributesToGet") else {
        return Ok(None);
    };
    for (place, name) in names.iter().enumerate() {
        if names[..place].contains(name) {
            return Err(ParameterFault::DuplicateAttribute((*name).to_owned()).into());
        }
    }
    Ok(Some(names.into_iter().map(str::to_owned).collect()))
}
