//! How a TransactWriteItems would be ranked: what each member would come to by itself, also where the answer hides it, and
//! the answer. One look at one snapshot; nothing is written, no key is locked.     behaviour/idempotency §explain

use std::sync::Arc;

use crate::{
    engine,
    error::{Error, Fault},
    item::{Item, ItemKey},
    operation::{Context, KeyFault, Operation},
    request::{Layer, Reason, TransactionFault},
    store::{Access, Store},
    table::Table,
    time::Timestamp,
    wire::{Answer, Object, answer_error},
    write::{Base, Image, Images, Need},
};

use super::{
    member::Member,
    outcome::{Outcome, text},
    ranking::cancel_at,
    transact_write_items::{Answered, TransactWriteItems},
};

/// A member by itself.
struct Own {
    found_by: Step,
    outcome: Outcome,
    stored: Option<Item>,
}

/// The steps of a transaction, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The request as a whole, and its tables.
    Request,
    /// The first pass: keys and index keys that the request supplies.
    SuppliedKeys,
    Token,
    /// The second pass: an update that carries an empty literal for an index key.
    EmptyLiteral,
    /// The members on their items.
    Run,
}

impl Step {
    fn name(self) -> &'static str {
        match self {
            Self::Request => "Request",
            Self::SuppliedKeys => "SuppliedKeys",
            Self::Token => "Token",
            Self::EmptyLiteral => "EmptyLiteral",
            Self::Run => "Run",
        }
    }
}

/// Which step made the answer, and the one member that did, where it hides the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decider {
    step: Step,
    member: Option<usize>,
}

/// What a snapshot shows of a request that reads its tables.
struct Seen {
    request: Arc<TransactWriteItems>,
    tables: Vec<Arc<Table>>,
    token_row: Option<Item>,
    own: Vec<Own>,
}

/// The explanation as JSON. Faults of the request are in it, not errors.
pub async fn explain<S: Store>(store: &S, body: &str, context: &Context) -> String {
    let seen = match TransactWriteItems::parse(body, context) {
        Ok(request) => Seen::look(store, request).await,
        Err(fault) => Err(fault),
    };
    let (answered, decider) = match &seen {
        Ok(seen) => seen.answer(context.now),
        Err(fault) => (Err(fault.clone()), Decider::of(Step::Request)),
    };
    let answer = match answered {
        Ok(body) => Answer::ok(body),
        Err(error) => {
            let operation = Operation::TransactWriteItems;
            answer_error(&error, operation, Layer::of(operation, context.layer))
        }
    };
    Object::body(|out| {
        out.object("Answer", |out| {
            out.integer("Status", answer.status);
            out.member("Body", |out| out.push_str(&answer.body));
        });
        out.object("DecidedBy", |out| decider.write(out));
        if let Ok(seen) = &seen {
            seen.write(decider, context.now, out);
        }
    })
}

impl Seen {
    async fn look<S: Store>(store: &S, request: TransactWriteItems) -> Result<Seen, Error> {
        let members = request.members.len();
        let tables = match engine::tables(store, &request.named.names, Access::Read).await {
            // As the transaction would answer, of which no member was looked at.
            Err(fault) if fault.fault == Fault::Conflict => {
                return Err(cancel_at(0, members, Reason::Conflict));
            }
            tables => tables?,
        };
        let keys: Vec<Result<ItemKey, KeyFault>> = request
            .members
            .iter()
            .map(|member| member.key(&tables[member.table]))
            .collect();
        let token = request.token.iter().map(|token| &token.key.item);
        let wanted: Vec<ItemKey> = token.chain(keys.iter().flatten()).cloned().collect();
        let mut rows = store
            .read(&wanted)
            .await
            .map_err(engine::store_error)?
            .into_iter();
        let token_row = request.token.as_ref().and_then(|_| rows.next().flatten());
        let own = request
            .members
            .iter()
            .zip(keys)
            .map(|(member, key)| {
                let stored = key.is_ok().then(|| rows.next().flatten()).flatten();
                Own::of(member, &tables[member.table], key, stored)
            })
            .collect();
        Ok(Seen {
            request: Arc::new(request),
            tables,
            token_row,
            own,
        })
    }

    /// The transaction's own decision, over the images that were seen.
    fn answer(&self, now: Timestamp) -> (Answered, Decider) {
        let unit = match self.request.unit(&self.tables) {
            Ok(unit) => unit,
            Err(fault) => {
                let (step, of_member) = match &fault.fault {
                    Fault::Transaction(TransactionFault::Canceled(_)) => (Step::SuppliedKeys, true),
                    Fault::Key(KeyFault::IndexEmpty { .. }) => (Step::SuppliedKeys, true),
                    Fault::Key(KeyFault::Empty { .. }) => (Step::Request, true),
                    _ => (Step::Request, false),
                };
                let member = self.own.iter().position(|own| of_member && own.found_by == step);
                return (Err(fault), Decider { step, member });
            }
        };
        if let Some(token) = &self.request.token {
            match token.arrive(self.token_row.as_ref(), now) {
                Ok(None) => {}
                Ok(Some(_)) | Err(_) => return (self.decide(&unit, now), Decider::of(Step::Token)),
            }
        }
        let empty_key = |own: &Own| matches!(own.outcome, Outcome::EmptyKey(_));
        let decider = match self.own.iter().position(empty_key) {
            None => Decider::of(Step::Run),
            Some(member) => Decider {
                step: self.own[member].found_by,
                member: Some(member),
            },
        };
        (self.decide(&unit, now), decider)
    }

    fn decide(&self, unit: &crate::write::Unit<Answered>, now: Timestamp) -> Answered {
        let token = self.request.token.iter().map(|_| &self.token_row);
        let stored = token.chain(self.own.iter().map(|own| &own.stored));
        let all: Vec<Image> = unit
            .keys
            .0
            .iter()
            .zip(stored)
            .map(|((_, need), stored)| match (need, stored) {
                (Need::RightToWrite, _) => Image::Unread,
                (Need::Image, Some(item)) => Image::Present(item.clone()),
                (Need::Image, None) => Image::Absent,
            })
            .collect();
        (unit.decide)(&Images { now, all: &all }).answer
    }

    fn write(&self, decider: Decider, now: Timestamp, out: &mut Object<'_>) {
        if let Some(token) = &self.request.token {
            let (state, used_until) = token.standing(self.token_row.as_ref(), now);
            out.object("Token", |out| {
                out.string("State", state);
                if let Some(until) = used_until {
                    out.timestamp("UsedUntil", until.0);
                }
            });
        }
        let members = self.request.members.iter().zip(&self.own).enumerate();
        out.objects("Members", members, |(place, (member, own)), out| {
            out.string("Action", member.action());
            out.string("TableName", &self.request.named.sent[member.table]);
            let table = &self.tables[member.table];
            out.object("Key", |out| {
                for key in table.key_attributes() {
                    if let Some(value) = member.subject.get(&key.name) {
                        out.value(&key.name, value);
                    }
                }
            });
            own.write(out);
            if own.is_fault() && !decider.tells(place, own) {
                out.object("HiddenBy", |out| decider.write(out));
            }
        });
    }
}

impl Own {
    fn of(member: &Member, table: &Table, key: Result<ItemKey, KeyFault>, stored: Option<Item>) -> Own {
        let supplied = key.and_then(|key| member.supplied_index_keys(table).map(|()| key));
        let (found_by, outcome) = match supplied {
            Err(fault @ KeyFault::Empty { .. }) => (Step::Request, Outcome::Invalid(fault.into())),
            Err(fault) => (Step::SuppliedKeys, Outcome::Invalid(fault.into())),
            Ok(key) => match member.empty_literal(table) {
                Err(fault) => (Step::EmptyLiteral, Outcome::EmptyKey(fault.into())),
                Ok(()) => (Step::Run, member.evaluate(table, 0, &key, Ok(stored.as_ref()))),
            },
        };
        Own {
            found_by,
            outcome,
            stored,
        }
    }

    fn is_fault(&self) -> bool {
        !matches!(self.outcome, Outcome::Done(_))
    }

    fn write(&self, out: &mut Object<'_>) {
        let reason = match &self.outcome {
            Outcome::EmptyKey(fault) => Reason::Invalid(text(fault)),
            other => other.reason(),
        };
        out.string("Code", reason.code());
        if let Some(message) = reason.message() {
            out.string("Message", message);
            out.string("FoundBy", self.found_by.name());
        }
        if let Some(item) = &self.stored {
            out.item("StoredItem", item);
        }
        let Outcome::Done(effect) = &self.outcome else {
            return;
        };
        match effect.change.as_ref().map(|change| &change.base) {
            Some(Base::Put(item)) => {
                out.string("Effect", "Put");
                out.item("NewItem", item);
            }
            Some(Base::Delete) => out.string("Effect", "Delete"),
            Some(Base::Untouched) | None => out.string("Effect", "None"),
        }
    }
}

impl Decider {
    fn of(step: Step) -> Decider {
        Decider { step, member: None }
    }

    /// Whether the answer tells of this member's fault.
    fn tells(self, place: usize, own: &Own) -> bool {
        match self.member {
            Some(member) => member == place,
            None => self.step == Step::Run && own.found_by == Step::Run,
        }
    }

    fn write(self, out: &mut Object<'_>) {
        out.string("Step", self.step.name());
        if let Some(member) = self.member {
            out.integer("Member", member as u64);
        }
    }
}
