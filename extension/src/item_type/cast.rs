//! Casts: `json` is DynamoDB's form, both ways; `jsonb` is plain values, for people.

use base64::{Engine, prelude::BASE64_STANDARD};
use extenddb_core::{item::AttributeValue, wire::json};
use pgrx::pg_sys;

use crate::{
    call::{Call, Returned, check_length, item_datum, sql_functions, varlena},
    raise::{Raise, UNTRANSLATABLE_CHARACTER},
};

sql_functions! {
    "ddb_item_to_json" => to_json;
    "ddb_item_to_jsonb" => to_jsonb;
    "ddb_item_from_json" => from_json;
}

fn to_json(call: &Call) -> Returned {
    let mut text = String::new();
    call.required_item(0, "item")?.write_json(&mut text);
    Ok(Some(varlena(text.as_bytes())))
}

fn from_json(call: &Call) -> Returned {
    let text = call.required_text(0, "json")?;
    check_length(text.as_bytes())?;
    Ok(Some(item_datum(&super::parse(text)?)))
}

fn to_jsonb(call: &Call) -> Returned {
    let attributes = call.required_item(0, "item")?.to_attributes();
    for (name, value) in &attributes {
        no_nul(name)?;
        no_nul_within(value)?;
    }
    let mut text = String::new();
    write_plain(&AttributeValue::M(attributes), &mut text);
    // SAFETY: jsonb_in takes a C string.
    Ok(unsafe { pgrx::direct_function_call_as_datum(pg_sys::jsonb_in, &[Some(super::cstring(&text))]) })
}

/// PostgreSQL's text and jsonb cannot hold U+0000; DynamoDB's strings can.
pub fn no_nul(text: &str) -> Result<(), Raise> {
    if !text.contains('\0') {
        return Ok(());
    }
    Err(
        Raise::new(UNTRANSLATABLE_CHARACTER, "the item holds the character U+0000")
            .detail("PostgreSQL's text and jsonb cannot hold it.")
            .hint(
                "Cast the item to json, or take the attribute with ->: DynamoDB JSON writes it as \\u0000.",
            ),
    )
}

fn no_nul_within(value: &AttributeValue) -> Result<(), Raise> {
    match value {
        AttributeValue::S(text) => no_nul(text),
        AttributeValue::Ss(texts) => texts.iter().try_for_each(|text| no_nul(text)),
        AttributeValue::L(values) => values.iter().try_for_each(no_nul_within),
        AttributeValue::M(members) => members.iter().try_for_each(|(name, value)| {
            no_nul(name)?;
            no_nul_within(value)
        }),
        _ => Ok(()),
    }
}

/// JSON without types: numbers as numbers with all their digits, binary as base64, sets as arrays.
pub fn write_plain(value: &AttributeValue, out: &mut String) {
    match value {
        AttributeValue::S(text) => json::write_string(text, out),
        AttributeValue::N(number) => number.write(out),
        AttributeValue::B(bytes) => write_binary(bytes, out),
        AttributeValue::Bool(true) => out.push_str("true"),
        AttributeValue::Bool(false) => out.push_str("false"),
        AttributeValue::Null => out.push_str("null"),
        AttributeValue::Ss(texts) => write_array(texts, out, |text, out| json::write_string(text, out)),
        AttributeValue::Ns(numbers) => write_array(numbers, out, |number, out| number.write(out)),
        AttributeValue::Bs(all) => write_array(all, out, |bytes, out| write_binary(bytes, out)),
        AttributeValue::L(values) => write_array(values, out, write_plain),
        AttributeValue::M(members) => {
            out.push('{');
            for (at, (name, value)) in members.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                json::write_string(name, out);
                out.push(':');
                write_plain(value, out);
            }
            out.push('}');
        }
    }
}

fn write_array<T>(values: &[T], out: &mut String, write: impl Fn(&T, &mut String)) {
    out.push('[');
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(value, out);
    }
    out.push(']');
}

fn write_binary(bytes: &[u8], out: &mut String) {
    out.push('"');
    write_base64(bytes, out);
    out.push('"');
}

pub fn write_base64(bytes: &[u8], out: &mut String) {
    BASE64_STANDARD.encode_string(bytes, out);
}
