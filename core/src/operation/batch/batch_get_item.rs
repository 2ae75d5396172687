//! BatchGetItem: up to a hundred items by their keys, of several tables, all of one moment.
//!                                                                                behaviour/operations §batches

use std::sync::Arc;

use crate::{
    engine,
    error::{Error, Fault},
    expression::Projection,
    item::{Attributes, Item, ItemKey},
    operation::{
        Context, Operation, ParameterFault,
        item::{
            Reading, Uses, check_attributes_to_get, check_mixing_of, finish_placeholders,
            get_item::attributes_to_get, read_placeholders,
        },
        keys,
    },
    store::{Access, Store},
    table::Table,
    wire::{
        Constraint, Fields, Layer, Member, Members, Object, PlaceholderNames, Position, ReadAttributes,
        Shape, Type, decode,
    },
    write::{Arms, ReturnConsumedCapacity, read_units},
};

use super::{super::named::Named, return_consumed_capacity, write_capacity};

pub static SHAPE: Shape = Shape {
    name: "BatchGetItemInput",
    members: &[
        Member::new("RequestItems", Type::Map(&Type::Structure(&KEYS_AND_ATTRIBUTES))),
        Member::new("ReturnConsumedCapacity", Type::String),
    ],
};

static KEYS_AND_ATTRIBUTES: Shape = Shape {
    name: "KeysAndAttributes",
    members: &[
        Member::new("Keys", Type::List(&Type::Map(&Type::AttributeValue))),
        Member::new("AttributesToGet", Type::List(&Type::String)),
        Member::new("ConsistentRead", Type::Boolean),
        Member::new("ProjectionExpression", Type::String),
        Member::new("ExpressionAttributeNames", Type::Map(&Type::String)),
    ],
};

const KEYS_MAX: usize = 100;

/// An answer holds so much of whole items; the keys that are left come back.
const RESPONSE_MAX_BYTES: usize = 16_777_216;

struct BatchGetItem<'b> {
    named: Named,
    tables: Vec<KeysAndAttributes<'b>>,
    capacity: ReturnConsumedCapacity,
}

/// What is asked of one table.
struct KeysAndAttributes<'b> {
    /// As the caller sent it.
    sent_name: String,
    table: usize,
    fields: Fields<'b>,
    keys: Vec<Attributes>,
    projection: Option<Projection>,
    consistent: bool,
}

pub async fn run<S: Store>(store: &S, body: &str, context: &Context) -> Result<String, Error> {
    let request = BatchGetItem::parse(body, context)?;
    let tables = engine::tables(store, &request.named.names, Access::Read).await?;
    let keys = request.keys(&tables)?;
    let items = store.read(&keys).await.map_err(engine::store_error)?;
    Ok(request.answer(&tables, items))
}

impl<'b> BatchGetItem<'b> {
    fn parse(body: &'b str, context: &Context) -> Result<Self, Error> {
        let (fields, layer) = decode(body, &SHAPE, context.layer)?;
        let reading = Reading::new(Operation::BatchGetItem, layer, context);
        let requested = fields.structure_map("RequestItems").unwrap_or_default();
        let named = Self::members(&fields, &requested, &reading, context)?;
        let values = Self::values(&requested, &reading)?;
        let (named, places) = named;
        let mut tables: Vec<KeysAndAttributes<'b>> = Vec::with_capacity(requested.len());
        for (((sent_name, fields), table), values) in requested.iter().zip(places).zip(values) {
            let wanted = KeysAndAttributes::new(sent_name, fields.clone(), table, values)?;
            let same = tables.iter().filter(|other| other.table == table);
            check_duplicates(&wanted.keys, same.flat_map(|other| &other.keys))?;
            tables.push(wanted);
        }
        Ok(BatchGetItem {
            named,
            tables,
            capacity: ReturnConsumedCapacity::parse(return_consumed_capacity(&fields)),
        })
    }

    /// Empty lists of keys answer alone; then names and enums; then the count of all keys, at the last table.
    fn members(
        fields: &Fields<'_>,
        requested: &[(&str, Fields<'_>)],
        reading: &Reading,
        context: &Context,
    ) -> Result<(Named, Vec<usize>), Error> {
        let layer = reading.layer;
        if fields.has("RequestItems") && requested.is_empty() {
            if layer == Layer::Old {
                return Err(ParameterFault::BatchRequired(reading.operation).into());
            }
            let mut members = Members::new(layer);
            members.renewed("RequestItems", "{}", &Constraint::LengthAtLeast(1));
            members.finish()?;
        }
        let keys_path = |table: &str| format!("RequestItems.{table}.member.Keys");
        for (table, wanted) in requested {
            let mut members = Members::new(layer);
            if wanted.attributes_list("Keys").is_some_and(|keys| keys.is_empty()) {
                members.renewed(&keys_path(table), "[]", &Constraint::LengthAtLeast(1));
            }
            members.finish()?;
        }
        let mut named = Named::default();
        let places: Option<Vec<usize>> = requested
            .iter()
            .map(|(sent, _)| named.place(sent, context))
            .collect();
        let mut members = Members::new(layer);
        members.required("requestItems", fields.has("RequestItems"));
        if places.is_none() {
            let echo = fields.json_text("RequestItems").unwrap_or_default();
            members.fault("requestItems", echo, &Constraint::TABLE_KEYS);
        }
        members.return_consumed_capacity(return_consumed_capacity(fields));
        for (table, wanted) in requested {
            members.required(&format!("requestItems.{table}.member.keys"), wanted.has("Keys"));
            if wanted
                .strings("AttributesToGet")
                .is_some_and(|names| names.is_empty())
            {
                let path = format!("requestItems.{table}.member.attributesToGet");
                members.fault(&path, "[]", &Constraint::LengthAtLeast(1));
            }
        }
        members.finish()?;
        let count = |(_, wanted): &(&str, Fields<'_>)| wanted.attributes_list("Keys").map_or(0, |k| k.len());
        let mut members = Members::new(layer);
        if let Some((table, wanted)) = requested.last()
            && requested.iter().map(count).sum::<usize>() > KEYS_MAX
        {
            let echo = wanted.java_text("Keys").unwrap_or_default();
            members.renewed(
                &keys_path(table),
                echo,
                &Constraint::LengthAtMost(KEYS_MAX as u64),
            );
        }
        members.finish()?;
        let places = places.ok_or_else(|| Fault::Internal("a key that names no table".into()))?;
        Ok((named, places))
    }

    /// The values of all tables, in the order of the request; and mixed parameters, which are mixed whatever tables they
    /// stand at.
    fn values(requested: &[(&str, Fields<'_>)], reading: &Reading) -> Result<Vec<TableValues>, Error> {
        let structures: Vec<&Fields<'_>> = requested.iter().map(|(_, fields)| fields).collect();
        let mixing = check_mixing_of(&structures, &["AttributesToGet"], &["ProjectionExpression"]);
        if reading.layer == Layer::Old {
            mixing.clone()?;
        }
        let values = structures
            .into_iter()
            .map(|fields| TableValues::read(fields, reading))
            .collect::<Result<_, Error>>()?;
        mixing?;
        Ok(values)
    }

    /// The keys of all tables against their schemas, in the order of the request.
    fn keys(&self, tables: &[Arc<Table>]) -> Result<Vec<ItemKey>, Error> {
        let mut all = Vec::new();
        for wanted in &self.tables {
            let table = &tables[wanted.table];
            for key in &wanted.keys {
                all.push(keys::key_of_key(table, key)?);
            }
            // Only an expression can have a path that goes into a key.
            let paths = wanted.projection.iter().flat_map(|projection| &projection.paths);
            paths
                .into_iter()
                .try_for_each(|path| keys::check_key_path(table, path))?;
        }
        Ok(all)
    }

    /// `items` in the order of the request's keys.
    fn answer(&self, tables: &[Arc<Table>], items: Vec<Option<Item>>) -> String {
        let mut items = items.into_iter();
        let mut arms = vec![Arms::default(); tables.len()];
        let mut bytes = 0;
        let mut is_full = false;
        // Of each table: the items found, and how many of its keys were read.
        let mut read: Vec<(Vec<Item>, usize)> = Vec::with_capacity(self.tables.len());
        for wanted in &self.tables {
            let mut found = Vec::new();
            let mut keys_read = 0;
            for item in items.by_ref().take(wanted.keys.len()) {
                let item_bytes = item.as_ref().map_or(0, Item::size);
                is_full |= bytes + item_bytes > RESPONSE_MAX_BYTES;
                if is_full {
                    continue;
                }
                bytes += item_bytes;
                keys_read += 1;
                arms[wanted.table].table += read_units(item_bytes, wanted.consistent);
                found.extend(item);
            }
            read.push((found, keys_read));
        }
        Object::body(|body| {
            body.object("Responses", |responses| {
                for (wanted, (found, _)) in self.tables.iter().zip(&read) {
                    responses.array(&wanted.sent_name, found, |item, out| match &wanted.projection {
                        Some(projection) => crate::item::write_attributes(&projection.apply(item), out),
                        None => item.write_json(out),
                    });
                }
            });
            body.object("UnprocessedKeys", |unprocessed| {
                for (wanted, (_, keys_read)) in self.tables.iter().zip(&read) {
                    if *keys_read < wanted.keys.len() {
                        unprocessed.object(&wanted.sent_name, |object| wanted.write_rest(*keys_read, object));
                    }
                }
            });
            write_capacity(&self.named, tables, &arms, self.capacity, body);
        })
    }
}

/// What is read of one table's part before it is looked at.
struct TableValues {
    names: Option<PlaceholderNames>,
    keys: Vec<ReadAttributes>,
}

impl TableValues {
    fn read(fields: &Fields<'_>, reading: &Reading) -> Result<TableValues, Error> {
        let names = PlaceholderNames::read(fields)?;
        let mut keys = Vec::new();
        for member in fields.present() {
            match member {
                "AttributesToGet" => check_attributes_to_get(fields, reading)?,
                "Keys" => {
                    for raw in fields.attributes_list("Keys").unwrap_or_default() {
                        keys.push(reading.read(&raw, Position::Key)?);
                    }
                }
                _ => {}
            }
        }
        Ok(TableValues { names, keys })
    }
}

impl<'b> KeysAndAttributes<'b> {
    fn new(sent_name: &str, fields: Fields<'b>, table: usize, values: TableValues) -> Result<Self, Error> {
        let text = fields.string("ProjectionExpression");
        let placeholders = read_placeholders(values.names, None, Uses::both(text.is_some()), "")?;
        let projection = text
            .map(|text| Projection::parse(text, &placeholders))
            .transpose()?;
        finish_placeholders(&placeholders)?;
        let names = attributes_to_get(&fields)?;
        let keys = values.keys.into_iter().map(ReadAttributes::settle);
        let keys: Vec<Attributes> = keys.collect::<Result<_, _>>()?;
        Ok(KeysAndAttributes {
            sent_name: sent_name.to_owned(),
            table,
            keys,
            projection: projection.or_else(|| names.map(Projection::of_names)),
            consistent: fields.boolean("ConsistentRead").unwrap_or_default(),
            fields,
        })
    }

    /// The keys that were not read, with all that was asked beside them.
    fn write_rest(&self, keys_read: usize, object: &mut Object<'_>) {
        object.array("Keys", &self.keys[keys_read..], |key, out| {
            crate::item::write_attributes(key, out)
        });
        for member in [
            "AttributesToGet",
            "ConsistentRead",
            "ProjectionExpression",
            "ExpressionAttributeNames",
        ] {
            if let Some(text) = self.fields.json_text(member) {
                object.member(member, |out| out.push_str(&text));
            }
        }
    }
}

/// Keys of one table, `earlier` ones under another name of it; numbers by value.
fn check_duplicates<'k>(
    keys: &'k [Attributes],
    earlier: impl Iterator<Item = &'k Attributes>,
) -> Result<(), ParameterFault> {
    let mut all: Vec<&Attributes> = earlier.collect();
    for key in keys {
        if all.contains(&key) {
            return Err(ParameterFault::DuplicateKeys);
        }
        all.push(key);
    }
    Ok(())
}
