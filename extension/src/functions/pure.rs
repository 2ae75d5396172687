//! `ddb.matches`, `ddb.apply_update`, `ddb.project`: expressions over items that need no table.

use std::collections::BTreeMap;

use extenddb_core::{
    error::Error,
    expression::{Condition, Kind, Placeholders, Projection, Update},
    item::{Attributes, Item, ScalarType},
    operation::Operation,
    table::{AccountId, Billing, KeyAttribute, Table, TableId, TableStatus, Version},
    wire::{self, Layer, json, json::Json},
};

use crate::{
    call::{Call, Returned, item_datum, sql_functions},
    raise::{INVALID_PARAMETER_VALUE, Raise},
};

sql_functions! {
    "ddb_matches" => matches;
    "ddb_apply_update" => apply_update;
    "ddb_project" => project;
}

/// `ddb.matches(item, condition, names, expression_values)`. A null item is one that does not exist.
fn matches(call: &Call) -> Returned {
    let item = call.item(0)?;
    let placeholders = placeholders(call, 2)?;
    let text = call.required_text(1, "condition")?;
    let condition = Condition::parse(Kind::Condition, text, &placeholders, false).map_err(fault)?;
    Ok(Some(condition.holds(item.as_ref()).into()))
}

/// `ddb.apply_update(item, update_expression, names, expression_values)`: the item after the update, null where there
/// was none and nothing was added.
fn apply_update(call: &Call) -> Returned {
    let item = call.item(0)?;
    let placeholders = placeholders(call, 2)?;
    let update = Update::parse(call.required_text(1, "update_expression")?, &placeholders).map_err(fault)?;
    let updated = update.apply(&keyless(), item.as_ref(), &Attributes::new()).map_err(fault)?;
    Ok(updated.as_ref().map(item_datum))
}

/// `ddb.project(item, projection, names)`.
fn project(call: &Call) -> Returned {
    let Some(item) = call.item(0)? else { return Ok(None) };
    let placeholders = Placeholders::new(names(call, 2)?, Attributes::new());
    let projection = Projection::parse(call.required_text(1, "projection")?, &placeholders).map_err(fault)?;
    Ok(Some(item_datum(&Item::encode(&projection.apply(&item)))))
}

fn placeholders(call: &Call, first: usize) -> Result<Placeholders, Raise> {
    let values = call.item(first + 1)?.map(|values| values.to_attributes()).unwrap_or_default();
    Ok(Placeholders::new(names(call, first)?, values))
}

/// The argument `names`: a JSON object of strings.
fn names(call: &Call, argument: usize) -> Result<BTreeMap<String, String>, Raise> {
    let refused = || Raise::new(INVALID_PARAMETER_VALUE, "names must be a JSON object of strings");
    let Some(text) = call.text(argument)? else { return Ok(BTreeMap::new()) };
    let Ok(Json::Object(members)) = json::parse(text) else { return Err(refused()) };
    let names = members.into_iter().map(|(placeholder, name)| match name {
        Json::String(name) => Ok((placeholder.into_owned(), name.into_owned())),
        _ => Err(refused()),
    });
    names.collect()
}

/// The text as an operation without prefixes answers it.
fn fault(error: impl Into<Error>) -> Raise {
    let text = wire::message(&error.into(), Operation::GetItem, Layer::New);
    Raise::validation(text.unwrap_or_default())
}

/// Updates are applied against a table. This one has no attribute that an update could meet: no attribute of an item
/// has an empty name.
fn keyless() -> Table {
    Table {
        id: TableId(0),
        version: Version(0),
        account: AccountId::default(),
        name: String::new(),
        uuid: String::new(),
        created_ms: 0,
        status: TableStatus::Active,
        hash: KeyAttribute { name: String::new(), kind: ScalarType::S },
        range: None,
        indexes: Vec::new(),
        billing: Billing::PayPerRequest { since_ms: 0 },
        deletion_protection: false,
        infrequent_access: false,
    }
}
