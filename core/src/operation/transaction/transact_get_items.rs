//! TransactGetItems: up to a hundred items, all of one moment.                   behaviour/transactions §transact-get

use std::sync::Arc;

use crate::{
    engine,
    error::{Error, Fault},
    expression::Projection,
    item::{Attributes, Item, ItemKey},
    operation::{
        Context, KeyFault, Operation,
        item::{Reading, Values, finish_placeholders},
        keys,
        named::Named,
    },
    request::{Reason, TransactionFault},
    store::{Access, Store},
    table::Table,
    wire::{Fields, Layer, Member as Field, Members, Object, Shape, Type, decode, placeholders},
    write::{Arms, ReturnConsumedCapacity, Told, read_units},
};

use super::{
    TOTAL_MAX_BYTES,
    entries::{self, ActionShape, Entry},
    outcome::text,
    ranking::cancel_at,
    transact_write_items::check_duplicates,
};

pub static SHAPE: Shape = Shape {
    name: "TransactGetItemsInput",
    members: &[
        Field::new("TransactItems", Type::List(&Type::Structure(&ENTRY))),
        Field::new("ReturnConsumedCapacity", Type::String),
    ],
};

static ENTRY: Shape = Shape {
    name: "TransactGetItem",
    members: &[Field::new("Get", Type::Structure(&GET))],
};

static GET: Shape = Shape {
    name: "Get",
    members: &[
        Field::new("Key", Type::Map(&Type::AttributeValue)),
        Field::new("TableName", Type::String),
        Field::new("ProjectionExpression", Type::String),
        Field::new("ExpressionAttributeNames", Type::Map(&Type::String)),
    ],
};

static ACTION: ActionShape = ActionShape::new("Get", "get", &[("Key", "key"), ("TableName", "tableName")]);

struct TransactGetItems {
    named: Named,
    members: Vec<Member>,
    capacity: ReturnConsumedCapacity,
}

struct Member {
    table: usize,
    key: Attributes,
    projection: Option<Projection>,
}

pub async fn run<S: Store>(store: &S, body: &str, context: &Context) -> Result<String, Error> {
    let request = TransactGetItems::parse(body, context)?;
    // Somebody changes a table, and keeps readers out of it: a conflict, as writes tell one.
    let busy = |error: Error| match error.fault {
        Fault::Conflict => cancel_at(0, request.members.len(), Reason::Conflict),
        _ => error,
    };
    let tables = engine::tables(store, &request.named.names, Access::Read)
        .await
        .map_err(busy)?;
    let keys = request.keys(&tables)?;
    let items = store
        .read(&keys)
        .await
        .map_err(|error| busy(engine::store_error(error)))?;
    if items.iter().flatten().map(Item::size).sum::<usize>() > TOTAL_MAX_BYTES {
        return Err(TransactionFault::TotalSize.into());
    }
    Ok(request.answer(&tables, &items))
}

impl TransactGetItems {
    fn parse(body: &str, context: &Context) -> Result<Self, Error> {
        const OPERATION: Operation = Operation::TransactGetItems;
        let (fields, layer) = decode(body, &SHAPE, Layer::of(OPERATION, context.layer))?;
        let reading = Reading::new(OPERATION, layer, context);
        let entries = entries::list(&fields, layer)?;
        let entries = Self::entries(&fields, &entries, layer)?;
        let (named, tables) = entries::tables(&entries, layer, context)?;
        let values = entries
            .iter()
            .map(|entry| Values::read(&entry.fields, &reading))
            .collect::<Result<Vec<_>, _>>()?;
        for key in values.iter().filter_map(|values| values.subject.as_ref()) {
            key.check()?;
        }
        let members = entries
            .iter()
            .zip(tables)
            .zip(values)
            .map(|((entry, table), values)| Member::check(&entry.fields, table, values))
            .collect::<Result<_, _>>()?;
        Ok(TransactGetItems {
            named,
            members,
            capacity: ReturnConsumedCapacity::parse(fields.string("ReturnConsumedCapacity")),
        })
    }

    /// The faults of all members together: an enum, entries without `Get`, what a `Get` lacks.
    fn entries<'b>(
        fields: &Fields<'b>,
        entries: &[Fields<'b>],
        layer: Layer,
    ) -> Result<Vec<Entry<'b>>, Error> {
        let mut members = Members::new(layer);
        members.return_consumed_capacity(fields.string("ReturnConsumedCapacity"));
        let mut found = Vec::with_capacity(entries.len());
        for (place, entry) in entries.iter().enumerate() {
            let path = format!("transactItems.{}.member.get", place + 1);
            members.required(&path, entry.has(ACTION.member));
            if let Some(fields) = entry.structure(ACTION.member) {
                let entry = Entry {
                    action: &ACTION,
                    fields,
                };
                entry.required(place, &mut members);
                found.push(entry);
            }
        }
        members.finish()?;
        Ok(found)
    }

    /// The keys of all members. Unlike in a write each faulty one is told, and an empty value is a reason like another.
    fn keys(&self, tables: &[Arc<Table>]) -> Result<Vec<ItemKey>, Error> {
        let keys: Vec<Result<ItemKey, KeyFault>> = self
            .members
            .iter()
            .map(|member| member.key(&tables[member.table]))
            .collect();
        if keys.iter().any(Result::is_err) {
            let reasons = keys.into_iter().map(|key| match key {
                Ok(_) => Reason::None,
                Err(fault) => Reason::Invalid(text(&fault.into())),
            });
            return Err(TransactionFault::Canceled(reasons.collect()).into());
        }
        check_duplicates(&keys)?;
        Ok(keys.into_iter().flatten().collect())
    }

    fn answer(&self, tables: &[Arc<Table>], items: &[Option<Item>]) -> String {
        let mut arms = vec![Arms::default(); tables.len()];
        for (member, item) in self.members.iter().zip(items) {
            let read = Arms {
                table: read_units(item.as_ref().map_or(0, Item::size), true),
                ..Arms::default()
            };
            arms[member.table].add(&read.of_transaction());
        }
        Object::body(|body| {
            let responses = self.members.iter().zip(items);
            body.objects("Responses", responses, |(member, item), response| {
                match (item, &member.projection) {
                    (Some(item), None) => response.hashed_item("Item", item),
                    (Some(item), Some(projection)) => {
                        let projected = projection.apply(item);
                        if !projected.is_empty() {
                            response.hashed_attributes("Item", &projected);
                        }
                    }
                    (None, _) => {}
                }
            });
            if self.capacity.wanted() {
                body.array("ConsumedCapacity", 0..tables.len(), |place, out| {
                    let sent = &self.named.sent[place];
                    arms[place].write_told(Told::Read, self.capacity, sent, &tables[place], out);
                });
            }
        })
    }
}

impl Member {
    /// What needs no table. Names without an expression are not looked at.
    fn check(fields: &Fields<'_>, table: usize, values: Values) -> Result<Member, Error> {
        let key = values
            .subject
            .ok_or_else(|| Fault::Internal("no Key".into()))?
            .settle()?;
        let placeholders = placeholders(values.names, None)?;
        let projection = match fields.string("ProjectionExpression") {
            None => None,
            Some(text) => {
                let projection = Projection::parse(text, &placeholders)?;
                finish_placeholders(&placeholders)?;
                Some(projection)
            }
        };
        Ok(Member {
            table,
            key,
            projection,
        })
    }

    fn key(&self, table: &Table) -> Result<ItemKey, KeyFault> {
        let key = keys::key_of_key(table, &self.key)?;
        for path in self.projection.iter().flat_map(|projection| &projection.paths) {
            keys::check_key_path(table, path)?;
        }
        Ok(key)
    }
}
