//! `ddb.item`: an item as a value of SQL. Text is DynamoDB JSON, exact; the bytes are the core's binary form, and
//! whatever comes from outside is checked whole before it is used.

mod access;
mod cast;

use std::ffi::CStr;

use extenddb_core::{
    error::Error,
    item::Item,
    operation::Operation,
    wire::{self, Layer, Position, Shape, Type, json},
};
use pgrx::pg_sys;

use crate::{
    call::{Call, Returned, check_length, item_datum, sql_functions, varlena_bytes},
    raise::{
        DATA_CORRUPTED, INTERNAL_ERROR, INVALID_BINARY_REPRESENTATION, INVALID_TEXT_REPRESENTATION, Raise,
    },
};

/// Outside of requests, faults are worded as this operation has them: without a prefix.
pub const UNPREFIXED: Operation = Operation::GetItem;

sql_functions! {
    "ddb_item_in" => item_in;
    "ddb_item_out" => item_out;
    "ddb_item_recv" => item_recv;
    "ddb_item_send" => item_send;
    "ddb_item_size" => item_size;
    "ddb_item_eq" => |call: &Call| Ok(Some(equal(call)?.into()));
    "ddb_item_ne" => |call: &Call| Ok(Some((!equal(call)?).into()));
    "ddb_item_hash" => item_hash;
    "ddb_item_hash_extended" => item_hash_extended;
}

fn item_in(call: &Call) -> Returned {
    let datum = call
        .datum(0)
        .ok_or_else(|| Raise::new(INTERNAL_ERROR, "ddb.item_in without a text"))?;
    // SAFETY: the declared type is cstring.
    let text = unsafe { CStr::from_ptr(datum.cast_mut_ptr()) };
    let text = text
        .to_str()
        .map_err(|_| not_an_item("The text is not valid UTF-8."))?;
    check_length(text.as_bytes())?;
    // Alone first, so that nothing in it can end the object around it.
    json::check(text).map_err(|_| not_an_item("The text is not JSON."))?;
    Ok(Some(item_datum(&parse(text)?)))
}

/// An item from its DynamoDB JSON, which must be known to be JSON, and not too long.
fn parse(text: &str) -> Result<Item, Raise> {
    static ITEM: Shape = Shape {
        name: "Item",
        members: &[wire::Member {
            name: "Item",
            kind: Type::Map(&Type::AttributeValue),
        }],
    };
    let request = format!(r#"{{"Item":{text}}}"#);
    let (fields, _) = wire::decode(&request, &ITEM, Layer::New).map_err(|fault| refused(fault.into()))?;
    let Some(raw) = fields.attributes("Item") else {
        return Err(not_an_item("An item is a JSON object."));
    };
    let read = raw.read(Position::Item, UNPREFIXED, Layer::New);
    Ok(Item::encode(
        &read.and_then(wire::ReadAttributes::settle).map_err(refused)?,
    ))
}

fn refused(error: Error) -> Raise {
    let text = wire::message(&error, UNPREFIXED, Layer::New);
    not_an_item(&text.unwrap_or_else(|| "The JSON is not of DynamoDB's form.".into()))
}

fn not_an_item(detail: &str) -> Raise {
    Raise::new(
        INVALID_TEXT_REPRESENTATION,
        "invalid input syntax for type ddb.item",
    )
    .detail(detail)
    .hint(r#"An item is written as DynamoDB JSON: {"pk":{"S":"a"},"n":{"N":"1"}}."#)
}

fn item_out(call: &Call) -> Returned {
    let mut text = String::new();
    call.required_item(0, "item")?.write_json(&mut text);
    Ok(Some(cstring(&text)))
}

/// A C string in the current memory context. JSON has no NUL in it.
fn cstring(text: &str) -> pg_sys::Datum {
    // SAFETY: the current memory context is there.
    pg_sys::Datum::from(unsafe { pgrx::PgMemoryContexts::CurrentMemoryContext.pstrdup(text) })
}

fn item_recv(call: &Call) -> Returned {
    let datum = call
        .datum(0)
        .ok_or_else(|| Raise::new(INTERNAL_ERROR, "ddb.item_recv without a message"))?;
    // SAFETY: the declared type is internal, which for a receive function is a StringInfo.
    let bytes = unsafe {
        let message: *mut pg_sys::StringInfoData = datum.cast_mut_ptr();
        let length = (*message).len - (*message).cursor;
        std::slice::from_raw_parts(
            pg_sys::pq_getmsgbytes(message, length).cast::<u8>(),
            length as usize,
        )
    };
    check_length(bytes)?;
    match Item::from_bytes(bytes.into()) {
        Ok(item) => Ok(Some(item_datum(&item))),
        Err(_) => Err(Raise::new(
            INVALID_BINARY_REPRESENTATION,
            "invalid binary form of a ddb.item",
        )),
    }
}

fn item_send(call: &Call) -> Returned {
    Ok(Some(item_datum(&call.required_item(0, "item")?)))
}

/// Reads the first bytes only: what they say of the size is enough.
fn item_size(call: &Call) -> Returned {
    const PREFIX_BYTES: i32 = 16;
    let datum = call
        .datum(0)
        .ok_or_else(|| Raise::new(INTERNAL_ERROR, "ddb.item_size without an item"))?;
    // SAFETY: the declared type is a varlena.
    let prefix = unsafe {
        let slice = pg_sys::pg_detoast_datum_slice(datum.cast_mut_ptr(), 0, PREFIX_BYTES);
        varlena_bytes(pg_sys::Datum::from(slice))
    };
    let size = Item::size_of_prefix(prefix)
        .and_then(|size_bytes| i32::try_from(size_bytes).ok())
        .ok_or_else(|| Raise::new(DATA_CORRUPTED, "the bytes are no ddb.item"))?;
    Ok(Some(size.into()))
}

/// The form is canonical, so equal items are equal bytes; unequal lengths say so before anything is detoasted.
fn equal(call: &Call) -> Result<bool, Raise> {
    let (Some(left), Some(right)) = (call.datum(0), call.datum(1)) else {
        return Ok(false);
    };
    // SAFETY: both are varlenas.
    unsafe {
        if pg_sys::toast_raw_datum_size(left) != pg_sys::toast_raw_datum_size(right) {
            return Ok(false);
        }
        Ok(varlena_bytes(left) == varlena_bytes(right))
    }
}

fn item_hash(call: &Call) -> Returned {
    // SAFETY: takes any varlena.
    Ok(unsafe { pgrx::direct_function_call_as_datum(pg_sys::hashvarlena, &[call.datum(0)]) })
}

fn item_hash_extended(call: &Call) -> Returned {
    // SAFETY: takes any varlena and a seed.
    Ok(unsafe {
        pgrx::direct_function_call_as_datum(pg_sys::hashvarlenaextended, &[call.datum(0), call.datum(1)])
    })
}
