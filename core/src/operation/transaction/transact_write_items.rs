//! TransactWriteItems: up to a hundred members, all of them or none.            behaviour/transactions §transact-write

use std::sync::Arc;

use crate::{
    engine,
    error::{Error, Fault},
    item::{AttributeValue, ItemKey},
    operation::{
        Context, KeyFault, Operation,
        item::{Reading, Values, item_collection, write_collection},
        named::Named,
    },
    request::{Reason, TransactionFault},
    store::{Access, Store, StoreError},
    table::Table,
    time::Timestamp,
    wire::{Fields, Layer, Member as Field, Object, Shape, Type, decode},
    write::{Arms, Decision, Images, Keys, Need, READ_UNIT_BYTES, ReturnConsumedCapacity, Told, Unit, units},
};

use super::{
    TOTAL_MAX_BYTES,
    entries::{self, ActionShape, Entry},
    fingerprint::Fingerprint,
    member::Member,
    outcome::{Effect, Outcome, text},
    ranking::{cancel_at, resolve},
    token::Token,
};

pub static SHAPE: Shape = Shape {
    name: "TransactWriteItemsInput",
    members: &[
        Field::new("TransactItems", Type::List(&Type::Structure(&ENTRY))),
        Field::new("ReturnConsumedCapacity", Type::String),
        Field::new("ReturnItemCollectionMetrics", Type::String),
        Field::new("ClientRequestToken", Type::String),
    ],
};

static ENTRY: Shape = Shape {
    name: "TransactWriteItem",
    members: &[
        Field::new("ConditionCheck", Type::Structure(&CONDITION_CHECK)),
        Field::new("Put", Type::Structure(&PUT)),
        Field::new("Delete", Type::Structure(&DELETE)),
        Field::new("Update", Type::Structure(&UPDATE)),
    ],
};

const KEY: Field = Field::new("Key", Type::Map(&Type::AttributeValue));
const ITEM: Field = Field::new("Item", Type::Map(&Type::AttributeValue));
const TABLE_NAME: Field = Field::new("TableName", Type::String);
const UPDATE_EXPRESSION: Field = Field::new("UpdateExpression", Type::String);
const CONDITION_EXPRESSION: Field = Field::new("ConditionExpression", Type::String);
const NAMES: Field = Field::new("ExpressionAttributeNames", Type::Map(&Type::String));
const VALUES: Field = Field::new("ExpressionAttributeValues", Type::Map(&Type::AttributeValue));
const ON_FAILURE: Field = Field::new("ReturnValuesOnConditionCheckFailure", Type::String);

static CONDITION_CHECK: Shape = Shape {
    name: "ConditionCheck",
    members: &[KEY, TABLE_NAME, CONDITION_EXPRESSION, NAMES, VALUES, ON_FAILURE],
};

static PUT: Shape = Shape {
    name: "Put",
    members: &[ITEM, TABLE_NAME, CONDITION_EXPRESSION, NAMES, VALUES, ON_FAILURE],
};

static DELETE: Shape = Shape {
    name: "Delete",
    members: &[KEY, TABLE_NAME, CONDITION_EXPRESSION, NAMES, VALUES, ON_FAILURE],
};

static UPDATE: Shape = Shape {
    name: "Update",
    members: &[
        KEY,
        UPDATE_EXPRESSION,
        TABLE_NAME,
        CONDITION_EXPRESSION,
        NAMES,
        VALUES,
        ON_FAILURE,
    ],
};

static ACTIONS: [ActionShape; 4] = [
    ActionShape::new(
        "ConditionCheck",
        "conditionCheck",
        &[
            ("Key", "key"),
            ("TableName", "tableName"),
            ("ConditionExpression", "conditionExpression"),
        ],
    ),
    ActionShape::new("Put", "put", &[("Item", "item"), ("TableName", "tableName")]),
    ActionShape::new("Delete", "delete", &[("Key", "key"), ("TableName", "tableName")]),
    ActionShape::new(
        "Update",
        "update",
        &[
            ("Key", "key"),
            ("UpdateExpression", "updateExpression"),
            ("TableName", "tableName"),
        ],
    ),
];

pub(super) struct TransactWriteItems {
    pub named: Named,
    pub members: Vec<Member>,
    pub token: Option<Token>,
    capacity: ReturnConsumedCapacity,
    collection_metrics: bool,
}

/// The request against its tables: nothing is wrong with what it supplies.
pub(super) struct Planned {
    tables: Vec<Arc<Table>>,
    /// One a member, in the order of the request.
    pub keys: Vec<ItemKey>,
    /// Members from here on are not run: this one has an empty literal, which hides whatever is wrong with them.
    pub bound: usize,
    empty_literal: Option<Error>,
}

pub(super) type Answered = Result<String, Error>;

pub async fn run<S: Store>(store: &S, body: &str, context: &Context) -> Answered {
    let request = Arc::new(TransactWriteItems::parse(body, context)?);
    // A replay need not wait for the items. What would refuse the request before its token is looked at does so still.
    if let Some(sizes) = request.replayed(store, context.now).await? {
        let tables = engine::tables(store, &request.named.names, Access::Read).await?;
        request.plan(&tables)?;
        return Ok(request.replay(&tables, &sizes));
    }
    let written = engine::write(store, &request.named.names, |tables| request.unit(tables)).await;
    match written {
        Ok(answer) => answer,
        Err(Error {
            fault: Fault::Conflict,
            ..
        }) => request.tables_busy(store).await,
        Err(other) => Err(other),
    }
}

impl TransactWriteItems {
    /// What needs no table, in the service's order: members, then what is met while the values are read, then each member.
    pub fn parse(body: &str, context: &Context) -> Result<Self, Error> {
        const OPERATION: Operation = Operation::TransactWriteItems;
        let (fields, layer) = decode(body, &SHAPE, Layer::of(OPERATION, context.layer))?;
        let reading = Reading::new(OPERATION, layer, context);
        let entries = entries::list(&fields, layer)?;
        let entries = entries::actions(&fields, &entries, &ACTIONS, layer)?;
        let (named, tables) = entries::tables(&entries, layer, context)?;
        let values = entries
            .iter()
            .map(|entry| Values::read(&entry.fields, &reading))
            .collect::<Result<Vec<_>, _>>()?;
        let (members, fingerprint) = Self::members(&fields, &entries, tables, values)?;
        let token = fields
            .string("ClientRequestToken")
            .map(|token| Token::new(&context.account, OPERATION, token, fingerprint));
        Ok(TransactWriteItems {
            named,
            members,
            token,
            capacity: ReturnConsumedCapacity::parse(fields.string("ReturnConsumedCapacity")),
            collection_metrics: fields.string("ReturnItemCollectionMetrics") == Some("SIZE"),
        })
    }

    fn members(
        fields: &Fields<'_>,
        entries: &[Entry<'_>],
        tables: Vec<usize>,
        values: Vec<Values>,
    ) -> Result<(Vec<Member>, Vec<u8>), Error> {
        let mut fingerprint = Fingerprint::new();
        for member in ["ReturnConsumedCapacity", "ReturnItemCollectionMetrics"] {
            fingerprint.text(fields.string(member).filter(|value| *value != "NONE"));
        }
        let members = entries
            .iter()
            .zip(tables)
            .zip(values)
            .map(|((entry, table), values)| Member::check(entry, table, values, &mut fingerprint))
            .collect::<Result<_, _>>()?;
        Ok((members, fingerprint.finish()))
    }

    /// The whole request against its tables, then the keys and index keys that it supplies: the first fault answers, and
    /// leaves the token alone.                                              behaviour/transactions §supplied-keys
    pub fn plan(&self, tables: &[Arc<Table>]) -> Result<Planned, Error> {
        let keys: Vec<Result<ItemKey, KeyFault>> = self
            .members
            .iter()
            .map(|member| member.key(&tables[member.table]))
            .collect();
        check_duplicates(&keys)?;
        if self.members.iter().map(|member| member.bytes).sum::<usize>() > TOTAL_MAX_BYTES {
            return Err(TransactionFault::TotalSize.into());
        }
        for key in &keys {
            if let Err(fault @ KeyFault::Empty { .. }) = key {
                return Err(fault.clone().into());
            }
        }
        let mut supplied = Vec::with_capacity(keys.len());
        for (place, (member, key)) in self.members.iter().zip(keys).enumerate() {
            let judged = key.and_then(|key| member.supplied_index_keys(&tables[member.table]).map(|()| key));
            match judged {
                Ok(key) => supplied.push(key),
                Err(fault @ KeyFault::IndexEmpty { .. }) => return Err(fault.into()),
                Err(fault) => {
                    let reason = Reason::Invalid(text(&fault.into()));
                    return Err(cancel_at(place, self.members.len(), reason));
                }
            }
        }
        let empty_literal = self.members.iter().enumerate().find_map(|(place, member)| {
            let fault = member.empty_literal(&tables[member.table]).err()?;
            Some((place, Error::from(fault)))
        });
        let (bound, empty_literal) = match empty_literal {
            Some((place, fault)) => (place, Some(fault)),
            None => (self.members.len(), None),
        };
        Ok(Planned {
            tables: tables.to_vec(),
            keys: supplied,
            bound,
            empty_literal,
        })
    }

    pub fn unit(self: &Arc<Self>, tables: &[Arc<Table>]) -> Result<Unit<Answered>, Error> {
        let planned = self.plan(tables)?;
        let mut keys = Vec::with_capacity(planned.bound + 1);
        keys.extend(
            self.token
                .iter()
                .map(|token| (token.key.item.clone(), Need::Image)),
        );
        for (member, key) in self.members.iter().zip(&planned.keys).take(planned.bound) {
            keys.push((key.clone(), self.need(member, tables)));
        }
        let request = self.clone();
        Ok(Unit {
            tables: tables.iter().map(|table| (table.id, table.version)).collect(),
            keys: Keys(keys),
            decide: Box::new(move |images| request.decide(&planned, images)),
        })
    }

    /// With a token the sizes of all images are kept for its replays.
    fn need(&self, member: &Member, tables: &[Arc<Table>]) -> Need {
        let sized = self.token.is_some() || self.capacity.wanted();
        member.need(&tables[member.table], sized)
    }

    /// First the token, then the members, then one answer: everything is written, or nothing but the end of the token's run.
    fn decide(&self, planned: &Planned, images: &Images) -> Decision<Answered> {
        let Some(token) = &self.token else {
            let outcomes = self.outcomes(planned, 0, images);
            return match resolve(&outcomes) {
                Ok(()) => self.commit(planned, outcomes),
                Err(fault) => Decision::refuse(Err(fault)),
            };
        };
        let Ok(stored) = images.item(0) else {
            return Decision::refuse(Err(TransactionFault::InProgress.into()));
        };
        match token.arrive(stored, images.now) {
            Ok(None) => {}
            Ok(Some(sizes)) => return Decision::refuse(Ok(self.replay(&planned.tables, &sizes))),
            Err(fault) => return Decision::refuse(Err(fault)),
        }
        let outcomes = self.outcomes(planned, 1, images);
        if let Err(fault) = resolve(&outcomes) {
            return Decision {
                changes: vec![token.remember(0, stored, images.now, None)],
                answer: Err(fault),
            };
        }
        let sizes: Vec<usize> = effects(&outcomes).map(|effect| effect.bytes).collect();
        let mut decision = self.commit(planned, outcomes);
        let remembered = token.remember(0, stored, images.now, Some(&sizes));
        decision.changes.push(remembered);
        decision
    }

    /// Runs the members in the order of the request, up to the first that leaves an index key empty: those behind it cannot
    /// matter any more. `first`: the place of the first member's key in the unit.
    pub fn outcomes(&self, planned: &Planned, first: usize, images: &Images) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(self.members.len());
        for (place, member) in self.members.iter().enumerate().take(planned.bound) {
            let of = first + place;
            let image = match self.need(member, &planned.tables) {
                Need::RightToWrite if images.busy(of) => Err(crate::write::Busy),
                Need::RightToWrite => Ok(None),
                Need::Image => images.item(of),
            };
            let table = &planned.tables[member.table];
            outcomes.push(member.evaluate(table, of, &planned.keys[place], image));
            if matches!(outcomes.last(), Some(Outcome::EmptyKey(_))) {
                break;
            }
        }
        if outcomes.len() == planned.bound {
            outcomes.extend(planned.empty_literal.clone().map(Outcome::EmptyKey));
        }
        outcomes.resize_with(self.members.len(), || Outcome::NotRun);
        outcomes
    }

    fn commit(&self, planned: &Planned, outcomes: Vec<Outcome>) -> Decision<Answered> {
        let mut arms = vec![Arms::default(); planned.tables.len()];
        for (member, effect) in self.members.iter().zip(effects(&outcomes)) {
            arms[member.table].add(&effect.arms);
        }
        let answer = Ok(self.answer(&planned.tables, &arms, Told::Write));
        let changes = outcomes.into_iter().filter_map(|outcome| match outcome {
            Outcome::Done(effect) => effect.change,
            _ => None,
        });
        Decision {
            changes: changes.collect(),
            answer,
        }
    }

    /// What a plain look at the token says: `Some` where this request was committed under it.
    async fn replayed<S: Store>(&self, store: &S, now: Timestamp) -> Result<Option<Vec<usize>>, Error> {
        let Some(token) = &self.token else {
            return Ok(None);
        };
        let rows = store
            .read(std::slice::from_ref(&token.key.item))
            .await
            .map_err(engine::store_error)?;
        // Whatever else it says is for the decision under its lock.
        Ok(rows
            .first()
            .and_then(|row| token.arrive(row.as_ref(), now).ok())
            .flatten())
    }

    /// The answer of a request that was committed before: as a read of what was written.
    fn replay(&self, tables: &[Arc<Table>], sizes: &[usize]) -> String {
        let mut arms = vec![Arms::default(); tables.len()];
        for (member, bytes) in self.members.iter().zip(sizes) {
            let read = Arms {
                table: units(*bytes, READ_UNIT_BYTES),
                ..Arms::default()
            };
            arms[member.table].add(&read.of_transaction());
        }
        self.answer(tables, &arms, Told::Read)
    }

    /// Somebody is changing a table, and the wait for them ended: the first member is told of it. Readers are let in, so
    /// what the request supplies, and its token, are judged as ever.
    async fn tables_busy<S: Store>(self: &Arc<Self>, store: &S) -> Answered {
        let busy = cancel_at(0, self.members.len(), Reason::Conflict);
        let tables = match engine::tables(store, &self.named.names, Access::Read).await {
            Ok(tables) => tables,
            // Nothing was judged, so the token stays as it is.
            Err(Error {
                fault: Fault::Conflict,
                ..
            }) => return Err(busy),
            Err(other) => return Err(other),
        };
        let fault = self.plan(&tables)?.empty_literal.unwrap_or(busy);
        let Some(token) = self.token.clone() else {
            return Err(fault);
        };
        let (request, answer) = (self.clone(), fault.clone());
        let unit = Unit {
            tables: Vec::new(),
            keys: Keys(vec![(token.key.item.clone(), Need::Image)]),
            decide: Box::new(move |images: &Images| {
                let Ok(stored) = images.item(0) else {
                    return Decision::refuse(Err(TransactionFault::InProgress.into()));
                };
                match token.arrive(stored, images.now) {
                    Ok(None) => Decision {
                        changes: vec![token.remember(0, stored, images.now, None)],
                        answer: Err(answer.clone()),
                    },
                    // Another send of it was committed in the meantime.
                    Ok(Some(sizes)) => Decision::refuse(Ok(request.replay(&tables, &sizes))),
                    Err(fault) => Decision::refuse(Err(fault)),
                }
            }),
        };
        match engine::run(store, unit).await {
            Ok(answer) => answer,
            // The token cannot be looked at either. Nothing was written, and the caller is told so.
            Err(StoreError::Busy | StoreError::Held(_)) => Err(fault),
            Err(other) => Err(engine::store_error(other)),
        }
    }

    fn answer(&self, tables: &[Arc<Table>], arms: &[Arms], told: Told) -> String {
        Object::body(|body| {
            if self.capacity.wanted() {
                body.array("ConsumedCapacity", 0..tables.len(), |place, out| {
                    let sent = &self.named.sent[place];
                    arms[place].write_told(told, self.capacity, sent, &tables[place], out);
                });
            }
            if self.collection_metrics {
                self.write_collections(tables, body);
            }
        })
    }

    /// ItemCollectionMetrics: each collection that was written to, once.
    fn write_collections(&self, tables: &[Arc<Table>], body: &mut Object<'_>) {
        let mut collections: Vec<Vec<&AttributeValue>> = vec![Vec::new(); tables.len()];
        for member in self.members.iter().filter(|member| member.writes()) {
            let of_table = &mut collections[member.table];
            let hash = item_collection(&tables[member.table], &member.subject);
            of_table.extend(hash.filter(|hash| !of_table.contains(hash)));
        }
        if collections.iter().all(Vec::is_empty) {
            return;
        }
        body.object("ItemCollectionMetrics", |object| {
            for (place, hashes) in collections.into_iter().enumerate() {
                if !hashes.is_empty() {
                    object.objects(&self.named.sent[place], hashes, |hash, metrics| {
                        write_collection(&tables[place], hash, metrics)
                    });
                }
            }
        });
    }
}

/// No item twice. A key that is not right takes no part.
pub(super) fn check_duplicates(keys: &[Result<ItemKey, KeyFault>]) -> Result<(), Error> {
    let mut known: Vec<&ItemKey> = keys.iter().flatten().collect();
    known.sort_unstable();
    let count = known.len();
    known.dedup();
    if known.len() < count {
        return Err(TransactionFault::DuplicateItem.into());
    }
    Ok(())
}

fn effects(outcomes: &[Outcome]) -> impl Iterator<Item = &Effect> {
    outcomes.iter().filter_map(|outcome| match outcome {
        Outcome::Done(effect) => Some(effect),
        _ => None,
    })
}
