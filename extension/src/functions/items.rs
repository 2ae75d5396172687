//! `ddb.get`, `ddb.put`, `ddb.update`, `ddb.delete`: the item operations over `ddb.item`.

use extenddb_core::{
    item::Item,
    operation::Operation,
    wire::{self, Layer, Position, RawAttributes, Shape, Type, json},
};

use crate::{
    call::{Call, Returned, item_datum, sql_functions},
    item_type::UNPREFIXED,
    raise::{INTERNAL_ERROR, Raise},
};

use super::operations::serve;

sql_functions! {
    "ddb_get" => get;
    "ddb_put" => put;
    "ddb_update" => update;
    "ddb_delete" => delete;
}

/// `ddb.get(table_name, key)`: the item, or null.
fn get(call: &Call) -> Returned {
    let mut request = Request::new(call)?;
    request.item("Key", &call.required_item(1, "key")?);
    request.json("ConsistentRead", "true");
    answered(&serve(Operation::GetItem, &request.finish())?, "Item")
}

/// `ddb.put(table_name, item, condition, names, expression_values)`: what was stored before.
fn put(call: &Call) -> Returned {
    let mut request = Request::new(call)?;
    request.item("Item", &call.required_item(1, "item")?);
    request.condition(call, 2)?;
    request.string("ReturnValues", "ALL_OLD");
    answered(&serve(Operation::PutItem, &request.finish())?, "Attributes")
}

/// `ddb.update(table_name, key, update_expression, condition, names, expression_values)`: what is stored now.
fn update(call: &Call) -> Returned {
    let mut request = Request::new(call)?;
    request.item("Key", &call.required_item(1, "key")?);
    request.string("UpdateExpression", call.required_text(2, "update_expression")?);
    request.condition(call, 3)?;
    request.string("ReturnValues", "ALL_NEW");
    answered(&serve(Operation::UpdateItem, &request.finish())?, "Attributes")
}

/// `ddb.delete(table_name, key, condition, names, expression_values)`: what was stored before.
fn delete(call: &Call) -> Returned {
    let mut request = Request::new(call)?;
    request.item("Key", &call.required_item(1, "key")?);
    request.condition(call, 2)?;
    request.string("ReturnValues", "ALL_OLD");
    answered(&serve(Operation::DeleteItem, &request.finish())?, "Attributes")
}

/// A request's JSON, built member by member.
#[derive(Clone)]
pub struct Request(String);

impl Request {
    /// Every function of this kind takes `table_name` first.
    pub fn new(call: &Call) -> Result<Request, Raise> {
        let mut request = Request("{".into());
        request.string("TableName", call.required_text(0, "table_name")?);
        Ok(request)
    }

    fn member(&mut self, name: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        json::write_string(name, &mut self.0);
        self.0.push(':');
    }

    pub fn string(&mut self, name: &str, value: &str) {
        self.member(name);
        json::write_string(value, &mut self.0);
    }

    /// JSON that is whole already.
    pub fn json(&mut self, name: &str, value: &str) {
        self.member(name);
        self.0.push_str(value);
    }

    pub fn item(&mut self, name: &str, item: &Item) {
        self.member(name);
        item.write_json(&mut self.0);
    }

    /// The arguments `names json, expression_values ddb.item`.
    pub fn placeholders(&mut self, call: &Call, first: usize) -> Result<(), Raise> {
        if let Some(names) = call.text(first)? {
            self.json("ExpressionAttributeNames", names);
        }
        if let Some(values) = call.item(first + 1)? {
            self.item("ExpressionAttributeValues", &values);
        }
        Ok(())
    }

    /// The arguments `condition text, names json, expression_values ddb.item`.
    fn condition(&mut self, call: &Call, first: usize) -> Result<(), Raise> {
        if let Some(condition) = call.text(first)? {
            self.string("ConditionExpression", condition);
        }
        self.placeholders(call, first + 1)
    }

    pub fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// The members of answers that hold items.
static ANSWER: Shape = Shape {
    name: "Answer",
    members: &[
        wire::Member {
            name: "Item",
            kind: Type::Map(&Type::AttributeValue),
        },
        wire::Member {
            name: "Attributes",
            kind: Type::Map(&Type::AttributeValue),
        },
        wire::Member {
            name: "LastEvaluatedKey",
            kind: Type::Map(&Type::AttributeValue),
        },
        wire::Member {
            name: "Items",
            kind: Type::List(&Type::Map(&Type::AttributeValue)),
        },
    ],
};

/// The item in this member of an answer, or null.
fn answered(body: &str, member: &str) -> Returned {
    Ok(item_in(body, member)?.as_ref().map(item_datum))
}

pub fn item_in(body: &str, member: &str) -> Result<Option<Item>, Raise> {
    let (fields, _) = wire::decode(body, &ANSWER, Layer::New).map_err(|_| unreadable(body))?;
    fields.attributes(member).map(|raw| read(&raw, body)).transpose()
}

pub fn items_in(body: &str) -> Result<Vec<Item>, Raise> {
    let (fields, _) = wire::decode(body, &ANSWER, Layer::New).map_err(|_| unreadable(body))?;
    fields
        .attributes_list("Items")
        .unwrap_or_default()
        .iter()
        .map(|raw| read(raw, body))
        .collect()
}

fn read(raw: &RawAttributes, body: &str) -> Result<Item, Raise> {
    let attributes = raw
        .read(Position::Item, UNPREFIXED, Layer::New)
        .and_then(wire::ReadAttributes::settle);
    Ok(Item::encode(&attributes.map_err(|_| unreadable(body))?))
}

fn unreadable(body: &str) -> Raise {
    Raise::new(
        INTERNAL_ERROR,
        "an answer of our own holds something that is no item",
    )
    .detail(body)
}
