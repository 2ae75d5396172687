//! `item -> name` and `item ->> name`.

use extenddb_core::item::{AttributeValue, write_value};

use crate::{
    call::{Call, Returned, sql_functions, varlena},
    raise::Raise,
};

use super::cast::{no_nul, write_plain};

sql_functions! {
    "ddb_item_attribute" => attribute;
    "ddb_item_attribute_text" => attribute_text;
    "ddb_item_has" => has;
}

fn find(call: &Call) -> Result<Option<AttributeValue>, Raise> {
    Ok(call.required_item(0, "item")?.get(call.required_text(1, "name")?))
}

/// DynamoDB JSON of the attribute, `{"S":"a"}`; null where there is none.
fn attribute(call: &Call) -> Returned {
    Ok(find(call)?.map(|value| {
        let mut json = String::new();
        write_value(&value, &mut json);
        varlena(json.as_bytes())
    }))
}

/// The attribute as plain text: strings without quotes, the others as JSON writes them; null where jsonb's `->>` has
/// it: no attribute, or NULL in it.
fn attribute_text(call: &Call) -> Returned {
    let mut text = String::new();
    match find(call)? {
        None | Some(AttributeValue::Null) => return Ok(None),
        Some(AttributeValue::S(string)) => {
            no_nul(&string)?;
            text = string;
        }
        Some(AttributeValue::B(bytes)) => super::cast::write_base64(&bytes, &mut text),
        Some(value) => write_plain(&value, &mut text),
    }
    Ok(Some(varlena(text.as_bytes())))
}

fn has(call: &Call) -> Returned {
    let has = call
        .required_item(0, "item")?
        .contains(call.required_text(1, "name")?);
    Ok(Some(has.into()))
}
