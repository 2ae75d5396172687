//! BatchWriteItem: up to 25 puts and deletes, on several tables. All are checked before any is written; then each
//! is a write of its own.                                                       behaviour/operations §batches

use std::sync::Arc;

use crate::{
    engine,
    error::{Error, Fault},
    item::{AttributeValue, Attributes, Item, ItemKey},
    operation::{
        Context, Operation, ParameterFault,
        item::{Reading, item_collection, put_item::ITEM_MAX_BYTES, write_collection},
        keys,
    },
    store::Store,
    table::Table,
    wire::{Constraint, Fields, Layer, Member, Members, Object, Position, Shape, Type, decode},
    write::{Arms, Decision, Images, Keys, Need, ReturnConsumedCapacity, Unit, derive},
};

use super::{super::named::Named, return_consumed_capacity, write_capacity};

pub static SHAPE: Shape = Shape {
    name: "BatchWriteItemInput",
    members: &[
        Member::new(
            "RequestItems",
            Type::Map(&Type::List(&Type::Structure(&WRITE_REQUEST))),
        ),
        Member::new("ReturnConsumedCapacity", Type::String),
        Member::new("ReturnItemCollectionMetrics", Type::String),
    ],
};

static WRITE_REQUEST: Shape = Shape {
    name: "WriteRequest",
    members: &[
        Member::new("PutRequest", Type::Structure(&PUT_REQUEST)),
        Member::new("DeleteRequest", Type::Structure(&DELETE_REQUEST)),
    ],
};

static PUT_REQUEST: Shape = Shape {
    name: "PutRequest",
    members: &[
        Member::new("Item", Type::Map(&Type::AttributeValue)),
        // Not of the public API: constraint faults print it.
        Member::new("WorkloadProfileName", Type::String),
    ],
};

static DELETE_REQUEST: Shape = Shape {
    name: "DeleteRequest",
    members: &[Member::new("Key", Type::Map(&Type::AttributeValue))],
};

const REQUESTS_MAX: usize = 25;

/// What RequestItems says of each table, as it stands.
type Requested<'f, 'b> = [(&'f str, Vec<Fields<'b>>)];

struct BatchWriteItem {
    named: Named,
    /// In the order of the request.
    tables: Vec<TableRequests>,
    capacity: ReturnConsumedCapacity,
    collection_metrics: bool,
}

struct TableRequests {
    /// As the caller sent it.
    sent_name: String,
    table: usize,
    requests: Vec<WriteRequest>,
}

enum WriteRequest {
    Put {
        attributes: Attributes,
        /// The same in the form that is stored.
        item: Item,
    },
    Delete {
        key: Attributes,
    },
}

pub async fn run<S: Store>(store: &S, body: &str, context: &Context) -> Result<String, Error> {
    let request = BatchWriteItem::parse(body, context)?;
    let plan = |tables: &[Arc<Table>]| request.plan(tables);
    let (tables, answers) = engine::write_each(store, &request.named.names, plan).await?;
    let written: Vec<Option<Arms>> = answers.into_iter().map(Option::flatten).collect();
    Ok(request.answer(&tables, &written))
}

impl BatchWriteItem {
    fn parse(body: &str, context: &Context) -> Result<Self, Error> {
        let own_layer = Layer::of(Operation::BatchWriteItem, context.layer);
        let (fields, layer) = decode(body, &SHAPE, own_layer)?;
        let reading = Reading::new(Operation::BatchWriteItem, layer, context);
        let requested = fields.structures_map("RequestItems").unwrap_or_default();
        let (named, places) = Self::members(&fields, &requested, &reading, context)?;
        let mut tables = Vec::with_capacity(requested.len());
        for ((sent_name, requests), table) in requested.iter().zip(places) {
            let requests = requests.iter().map(|fields| WriteRequest::read(fields, &reading));
            tables.push(TableRequests {
                sent_name: (*sent_name).to_owned(),
                table,
                requests: requests.collect::<Result<_, _>>()?,
            });
        }
        Ok(BatchWriteItem {
            named,
            tables,
            capacity: ReturnConsumedCapacity::parse(return_consumed_capacity(&fields)),
            collection_metrics: fields.string("ReturnItemCollectionMetrics") == Some("SIZE"),
        })
    }

    /// The count of requests together with missing members and enums; then names that can name no table.
    fn members(
        fields: &Fields<'_>,
        requested: &Requested<'_, '_>,
        reading: &Reading,
        context: &Context,
    ) -> Result<(Named, Vec<usize>), Error> {
        if fields.has("RequestItems") && requested.is_empty() {
            return Err(ParameterFault::BatchRequired(reading.operation).into());
        }
        let echo = || fields.java_text("RequestItems").unwrap_or_default();
        let mut members = Members::new(reading.layer);
        members.required("requestItems", fields.has("RequestItems"));
        let count: usize = requested.iter().map(|(_, requests)| requests.len()).sum();
        if count > REQUESTS_MAX || requested.iter().any(|(_, requests)| requests.is_empty()) {
            const COUNT: Constraint = Constraint::MapValues(&[
                Constraint::LengthAtMost(REQUESTS_MAX as u64),
                Constraint::LengthAtLeast(1),
            ]);
            members.fault("requestItems", echo(), &COUNT);
        }
        for (table, requests) in requested {
            for (place, request) in requests.iter().enumerate() {
                for (member, subject, path) in [
                    ("PutRequest", "Item", "putRequest.item"),
                    ("DeleteRequest", "Key", "deleteRequest.key"),
                ] {
                    if let Some(structure) = request.structure(member) {
                        let path = format!("requestItems.{table}.member.{}.member.{path}", place + 1);
                        members.required(&path, structure.has(subject));
                    }
                }
            }
        }
        members.return_consumed_capacity(return_consumed_capacity(fields));
        members.return_item_collection_metrics(fields.string("ReturnItemCollectionMetrics"));
        members.finish()?;
        let mut named = Named::default();
        let places = requested.iter().map(|(sent, _)| named.place(sent, context));
        match places.collect::<Option<Vec<usize>>>() {
            Some(places) => Ok((named, places)),
            None => {
                let mut members = Members::new(reading.layer);
                members.fault("requestItems", echo(), &Constraint::TABLE_KEYS);
                members.finish()?;
                Err(Fault::Internal("a key that names no table".into()).into())
            }
        }
    }

    /// A unit a request, in their order. The keys of all are checked before the index keys of any, and those before
    /// duplicates: one fault refuses them all.
    fn plan(&self, tables: &[Arc<Table>]) -> Result<Vec<Unit<Option<Arms>>>, Error> {
        let mut planned: Vec<(&Arc<Table>, &WriteRequest, ItemKey)> = Vec::new();
        for (table, request) in self.requests(tables) {
            planned.push((table, request, request.key(table)?));
        }
        for (table, request) in self.requests(tables) {
            if let WriteRequest::Put { attributes, .. } = request {
                keys::check_index_keys(table, attributes)?;
            }
        }
        for (place, (_, _, key)) in planned.iter().enumerate() {
            if planned[..place].iter().any(|(_, _, earlier)| earlier == key) {
                return Err(ParameterFault::DuplicateKeys.into());
            }
        }
        let units = planned
            .into_iter()
            .map(|(table, request, key)| request.unit(table, key, self.capacity.wanted()));
        Ok(units.collect())
    }

    fn requests<'s>(
        &'s self,
        tables: &'s [Arc<Table>],
    ) -> impl Iterator<Item = (&'s Arc<Table>, &'s WriteRequest)> {
        self.tables.iter().flat_map(|requests| {
            let table = &tables[requests.table];
            requests.requests.iter().map(move |request| (table, request))
        })
    }

    /// `written`: what each request was charged with; `None` for one that was not written.
    fn answer(&self, tables: &[Arc<Table>], written: &[Option<Arms>]) -> String {
        let mut arms = vec![Arms::default(); tables.len()];
        let mut unprocessed: Vec<(&str, Vec<&WriteRequest>)> = Vec::new();
        let mut collections: Vec<(&str, &Table, Vec<&AttributeValue>)> = Vec::new();
        let mut written = written.iter();
        for of_table in &self.tables {
            let table = &tables[of_table.table];
            let mut left = Vec::new();
            let mut hashes: Vec<&AttributeValue> = Vec::new();
            for (request, charged) in of_table.requests.iter().zip(&mut written) {
                let Some(charged) = charged else {
                    left.push(request);
                    continue;
                };
                arms[of_table.table].add(charged);
                hashes
                    .extend(item_collection(table, request.subject()).filter(|hash| !hashes.contains(hash)));
            }
            if !left.is_empty() {
                unprocessed.push((&of_table.sent_name, left));
            }
            if !hashes.is_empty() {
                collections.push((&of_table.sent_name, table, hashes));
            }
        }
        Object::body(|body| {
            body.object("UnprocessedItems", |object| {
                for (sent_name, requests) in unprocessed {
                    object.objects(sent_name, requests, |request, object| request.write(object));
                }
            });
            if self.collection_metrics && !collections.is_empty() {
                body.object("ItemCollectionMetrics", |object| {
                    for (sent_name, table, hashes) in collections {
                        object.objects(sent_name, hashes, |hash, metrics| {
                            write_collection(table, hash, metrics)
                        });
                    }
                });
            }
            write_capacity(&self.named, tables, &arms, self.capacity, body);
        })
    }
}

impl WriteRequest {
    /// The values of a request, and the size of an item that is put.
    fn read(fields: &Fields<'_>, reading: &Reading) -> Result<WriteRequest, Error> {
        let put = fields.structure("PutRequest");
        let delete = fields.structure("DeleteRequest");
        match (put, delete) {
            (Some(put), None) => {
                let raw = put.attributes("Item").ok_or_else(missing)?;
                let attributes = reading.read(&raw, Position::Item)?.settle()?;
                let item = Item::encode(&attributes);
                if item.size() > ITEM_MAX_BYTES {
                    return Err(ParameterFault::ItemSize.into());
                }
                Ok(WriteRequest::Put { attributes, item })
            }
            (None, Some(delete)) => {
                let raw = delete.attributes("Key").ok_or_else(missing)?;
                let key = reading.read(&raw, Position::Key)?.settle()?;
                Ok(WriteRequest::Delete { key })
            }
            _ => Err(ParameterFault::WriteRequest.into()),
        }
    }

    fn key(&self, table: &Table) -> Result<ItemKey, Error> {
        Ok(match self {
            Self::Put { attributes, .. } => keys::key_of_item(table, attributes, keys::KeyTexts::Schema)?,
            Self::Delete { key } => keys::key_of_key(table, key)?,
        })
    }

    /// The attributes that hold its key.
    fn subject(&self) -> &Attributes {
        match self {
            Self::Put { attributes, .. } => attributes,
            Self::Delete { key } => key,
        }
    }

    /// Answers what it was charged with; nothing where the lock was not had in time.
    fn unit(&self, table: &Arc<Table>, key: ItemKey, wants_capacity: bool) -> Unit<Option<Arms>> {
        let new = match self {
            Self::Put { item, .. } => Some(item.clone()),
            Self::Delete { .. } => None,
        };
        let blind = new.is_some() && !wants_capacity && table.indexes.is_empty();
        let need = if blind { Need::RightToWrite } else { Need::Image };
        let (described, written) = (table.clone(), key.clone());
        let decide = move |images: &Images| {
            if images.busy(0) {
                return Decision::refuse(None);
            }
            let old = if blind {
                None
            } else {
                images.item(0).ok().flatten()
            };
            if old.is_none() && new.is_none() {
                // Deleting what is not there succeeds, and costs a unit.
                let arms = Arms {
                    table: 1.0,
                    ..Arms::default()
                };
                return Decision::refuse(Some(arms));
            }
            let derived = derive(&described, 0, &written, old, new.clone());
            Decision {
                changes: vec![derived.change],
                answer: Some(derived.arms),
            }
        };
        Unit {
            tables: vec![(table.id, table.version)],
            keys: Keys(vec![(key, need)]),
            decide: Box::new(decide),
        }
    }

    /// The request as it was sent, its values in canonical form.
    fn write(&self, object: &mut Object<'_>) {
        match self {
            Self::Put { attributes, .. } => {
                object.object("PutRequest", |put| put.attributes("Item", attributes));
            }
            Self::Delete { key } => {
                object.object("DeleteRequest", |delete| delete.attributes("Key", key));
            }
        }
    }
}

/// A member that `members` found to be there.
fn missing() -> Error {
    Fault::Internal("a WriteRequest without its value".into()).into()
}
