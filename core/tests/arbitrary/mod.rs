//! What holds for any input whatever. `core/tests/any_input.rs` asks it of a few thousand mutated rows of the case tables,
//! `core/fuzz` for hours of whatever libFuzzer comes upon.
#![allow(dead_code, reason = "each user takes a part")]

pub mod expressions;
pub mod items;
pub mod keys;
pub mod mutation;
pub mod requests;
pub mod rows;

use extenddb_core::{
    item::{Attributes, Item},
    operation::Operation,
    wire::{self, Layer, Member, Position, ReadAttributes, Shape, Type, json},
};

/// The attributes that a text of DynamoDB JSON says, read as a request's Item is.
pub fn attributes(text: &str) -> Option<Attributes> {
    static ITEM: Shape = Shape {
        name: "Item",
        members: &[Member {
            name: "Item",
            kind: Type::Map(&Type::AttributeValue),
        }],
    };
    json::check(text).ok()?;
    let request = format!(r#"{{"Item":{text}}}"#);
    let (fields, _) = wire::decode(&request, &ITEM, Layer::New).ok()?;
    let read = fields
        .attributes("Item")?
        .read(Position::Item, Operation::GetItem, Layer::New);
    read.and_then(ReadAttributes::settle).ok()
}

/// The item of a text of DynamoDB JSON.
pub fn item(text: &str) -> Option<Item> {
    Some(Item::encode(&attributes(text)?))
}
