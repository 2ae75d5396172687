//! `ddb.matches`, `ddb.apply_update`, `ddb.project`: expressions over items that need no table.

use std::{cell::RefCell, rc::Rc, thread::LocalKey};

use extenddb_core::{
    error::Error,
    expression::{Condition, Kind, Placeholders, Projection, Update},
    item::{Attributes, Item, ScalarType},
    table::{AccountId, Billing, KeyAttribute, Settings, Table, TableId, TableStatus, Version},
    wire::{self, Layer, PlaceholderNames, Position, Shape, Type},
};

use crate::{
    call::{Call, Returned, check_length, item_datum, item_of, sql_functions},
    item_type::UNPREFIXED,
    raise::Raise,
};

sql_functions! {
    "ddb_matches" => matches;
    "ddb_apply_update" => apply_update;
    "ddb_project" => project;
}

/// `ddb.matches(item, condition, names, expression_values)`. A null item is one that does not exist.
fn matches(call: &Call) -> Returned {
    thread_local!(static LAST: Last<Condition> = const { Last::new() });
    let condition = Last::parse(&LAST, Source::of(call, "condition")?, |text, placeholders| {
        Condition::parse(Kind::Condition, text, placeholders, false).map_err(Error::from)
    })?;
    Ok(Some(condition.holds(call.item(0)?.as_ref()).into()))
}

/// `ddb.apply_update(item, update_expression, names, expression_values)`: the item after the update, null where there
/// was none and nothing was added.
fn apply_update(call: &Call) -> Returned {
    thread_local!(static LAST: Last<Update> = const { Last::new() });
    let update = Last::parse(
        &LAST,
        Source::of(call, "update_expression")?,
        |text, placeholders| Update::parse(text, placeholders).map_err(Error::from),
    )?;
    let updated = update
        .apply(&keyless(), call.item(0)?.as_ref(), &Attributes::new())
        .map_err(fault)?;
    Ok(updated.as_ref().map(item_datum))
}

/// `ddb.project(item, projection, names)`.
fn project(call: &Call) -> Returned {
    thread_local!(static LAST: Last<Projection> = const { Last::new() });
    let projection = Last::parse(&LAST, Source::of(call, "projection")?, |text, placeholders| {
        Projection::parse(text, placeholders).map_err(Error::from)
    })?;
    Ok(call
        .item(0)?
        .map(|item| item_datum(&Item::encode(&projection.apply(&item)))))
}

/// An expression and its placeholders, as the arguments 1 to 3 have them.
struct Source<'a> {
    text: &'a str,
    names: Option<&'a str>,
    values: Option<&'a [u8]>,
}

impl<'a> Source<'a> {
    fn of(call: &'a Call, name: &str) -> Result<Source<'a>, Raise> {
        Ok(Source {
            text: call.required_text(1, name)?,
            names: call.text(2)?,
            values: call.bytes(3),
        })
    }

    /// Checked in the order of a request.
    fn placeholders(&self) -> Result<Placeholders, Raise> {
        let mut request = String::from("{");
        if let Some(names) = self.names {
            request.push_str(r#""ExpressionAttributeNames":"#);
            request.push_str(names);
        }
        if let Some(values) = self.values {
            if request.len() > 1 {
                request.push(',');
            }
            request.push_str(r#""ExpressionAttributeValues":"#);
            item_of(values)?.write_json(&mut request);
        }
        request.push('}');
        check_length(request.as_bytes())?;
        let (fields, _) = wire::decode(&request, &PLACEHOLDERS, Layer::New).map_err(fault)?;
        let names = PlaceholderNames::read(&fields).map_err(fault)?;
        let values = fields
            .attributes("ExpressionAttributeValues")
            .map(|raw| raw.read(Position::ExpressionAttributeValues, UNPREFIXED, Layer::New))
            .transpose()
            .map_err(fault)?;
        wire::placeholders(names, values).map_err(fault)
    }
}

static PLACEHOLDERS: Shape = Shape {
    name: "Placeholders",
    members: &[
        wire::Member {
            name: "ExpressionAttributeNames",
            kind: Type::Map(&Type::String),
        },
        wire::Member {
            name: "ExpressionAttributeValues",
            kind: Type::Map(&Type::AttributeValue),
        },
    ],
};

/// The expression of the last call: a query calls with the same one for each of its rows.
struct Last<T>(RefCell<Option<Known<T>>>);

struct Known<T> {
    text: String,
    names: Option<String>,
    values: Option<Vec<u8>>,
    parsed: Rc<T>,
}

impl<T> Last<T> {
    const fn new() -> Self {
        Last(RefCell::new(None))
    }

    fn parse(
        last: &'static LocalKey<Last<T>>,
        source: Source,
        parse: impl FnOnce(&str, &Placeholders) -> Result<T, Error>,
    ) -> Result<Rc<T>, Raise> {
        let known = last.with(|last| {
            let last = last.0.borrow();
            let known = last.as_ref().filter(|known| {
                known.text == source.text
                    && known.names.as_deref() == source.names
                    && known.values.as_deref() == source.values
            });
            known.map(|known| Rc::clone(&known.parsed))
        });
        if let Some(parsed) = known {
            return Ok(parsed);
        }
        let placeholders = source.placeholders()?;
        let parsed = Rc::new(parse(source.text, &placeholders).map_err(fault)?);
        wire::check_unused(&placeholders).map_err(fault)?;
        last.with(|last| {
            *last.0.borrow_mut() = Some(Known {
                text: source.text.to_owned(),
                names: source.names.map(str::to_owned),
                values: source.values.map(<[u8]>::to_vec),
                parsed: Rc::clone(&parsed),
            });
        });
        Ok(parsed)
    }
}

fn fault(error: impl Into<Error>) -> Raise {
    Raise::from_answer(wire::answer_error(&error.into(), UNPREFIXED, Layer::New))
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
        hash: KeyAttribute {
            name: String::new(),
            kind: ScalarType::S,
        },
        range: None,
        indexes: Vec::new(),
        billing: Billing::PayPerRequest { since_ms: 0 },
        deletion_protection: false,
        infrequent_access: false,
        settings: Settings::default(),
    }
}
