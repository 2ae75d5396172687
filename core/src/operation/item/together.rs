//! Requests on single items that came together: one look at their tables, one read or one list of units, one commit.
//! Each has its own decision and its own answer, as if it had come alone.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    engine::{self, PLANS},
    error::Error,
    operation::{Context, Operation},
    request::Layer,
    store::{Access, Store, StoreError},
    table::{Table, TableName},
    wire::{Answer, answer_error},
    write::Unit,
};

use super::{
    Answered, delete_item::DeleteItem, get_item::GetItem, put_item::PutItem, update_item::UpdateItem,
};

/// One of them.
#[derive(Debug)]
pub struct Request<'a> {
    pub operation: Operation,
    pub body: &'a str,
    pub context: &'a Context,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Served {
    Answer(Answer),
    /// Not done: it would have had to wait for this lock ([`StoreError::Held`]).
    Held(u64),
}

/// What may come together: reads with reads, writes with writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Read,
    Write,
}

impl Kind {
    /// `None`: the operation is served by itself.
    pub fn of(operation: Operation) -> Option<Kind> {
        match operation {
            Operation::GetItem => Some(Kind::Read),
            Operation::PutItem | Operation::UpdateItem | Operation::DeleteItem => Some(Kind::Write),
            _ => None,
        }
    }

    fn access(self) -> Access {
        match self {
            Self::Read => Access::Read,
            Self::Write => Access::Write,
        }
    }
}

/// Serves requests of one kind, in their order.
pub async fn serve<S: Store>(store: &S, kind: Kind, requests: &[Request<'_>]) -> Vec<Served> {
    let mut states: Vec<State> = requests.iter().map(State::of).collect();
    for _ in 0..PLANS {
        let tables = tables(store, kind, &states).await;
        match kind {
            Kind::Read => read(store, &tables, &mut states).await,
            Kind::Write => write(store, &tables, &mut states).await,
        }
        if !states.iter().any(|state| matches!(state, State::Waiting(_))) {
            break;
        }
    }
    let served = requests.iter().zip(states);
    served.map(|(request, state)| request.served(state)).collect()
}

/// Where a request is on its way.
enum State {
    /// Not tried yet, or its table's description was stale.
    Waiting(Parsed),
    Held(u64),
    Done(Answered),
}

enum Parsed {
    Get(GetItem),
    Put(Arc<PutItem>),
    Update(Arc<UpdateItem>),
    Delete(Arc<DeleteItem>),
}

impl State {
    fn of(request: &Request<'_>) -> State {
        let (body, context) = (request.body, request.context);
        let parsed = match request.operation {
            Operation::GetItem => GetItem::parse(body, context).map(Parsed::Get),
            Operation::PutItem => PutItem::parse(body, context).map(|put| Parsed::Put(Arc::new(put))),
            Operation::DeleteItem => {
                DeleteItem::parse(body, context).map(|delete| Parsed::Delete(Arc::new(delete)))
            }
            _ => UpdateItem::parse(body, context).map(|update| Parsed::Update(Arc::new(update))),
        };
        parsed.map_or_else(|fault| State::Done(Err(fault)), State::Waiting)
    }

    /// After the store refused it; a stale one waits for the next round.
    fn refuse(&mut self, refusal: StoreError) {
        match refusal {
            StoreError::Stale => {}
            StoreError::Held(lock) => *self = State::Held(lock),
            other => *self = State::Done(Err(engine::store_error(other))),
        }
    }
}

impl Parsed {
    fn table(&self) -> &TableName {
        match self {
            Self::Get(get) => &get.table,
            Self::Put(put) => &put.write.table,
            Self::Update(update) => &update.write.table,
            Self::Delete(delete) => &delete.write.table,
        }
    }

    /// `None` for a read.
    fn plan(&self, table: &Arc<Table>) -> Option<Result<Unit<Answered>, Error>> {
        match self {
            Self::Get(_) => None,
            Self::Put(put) => Some(put.plan(table)),
            Self::Update(update) => Some(update.plan(table)),
            Self::Delete(delete) => Some(delete.plan(table)),
        }
    }
}

type Tables = BTreeMap<TableName, Result<Option<Arc<Table>>, StoreError>>;

/// The tables of those that wait, each looked up by itself: one that is locked holds up nobody else.
async fn tables<S: Store>(store: &S, kind: Kind, states: &[State]) -> Tables {
    let mut tables = Tables::new();
    for state in states {
        let State::Waiting(parsed) = state else { continue };
        let name = parsed.table();
        if !tables.contains_key(name) {
            let found = store.tables(std::slice::from_ref(name), kind.access()).await;
            tables.insert(
                name.clone(),
                found.map(|tables| tables.into_iter().next().flatten()),
            );
        }
    }
    tables
}

/// The requests that wait, with their tables; the others get what their table's look-up refused them with.
fn with_tables<'s>(
    states: &'s mut [State],
    tables: &'s Tables,
) -> impl Iterator<Item = (usize, &'s mut State, Arc<Table>)> {
    let waiting = states.iter_mut().enumerate();
    waiting.filter_map(|(place, state)| {
        let State::Waiting(parsed) = &*state else {
            return None;
        };
        let found = match tables.get(parsed.table())? {
            Ok(found) => engine::served(found.clone()),
            Err(refusal) => {
                state.refuse(refusal.clone());
                return None;
            }
        };
        match found {
            Ok(table) => Some((place, state, table)),
            Err(fault) => {
                *state = State::Done(Err(fault));
                None
            }
        }
    })
}

async fn write<S: Store>(store: &S, tables: &Tables, states: &mut [State]) {
    let (mut places, mut units) = (Vec::new(), Vec::new());
    for (place, state, table) in with_tables(states, tables) {
        let State::Waiting(parsed) = &*state else { continue };
        match parsed.plan(&table) {
            Some(Ok(unit)) => {
                places.push(place);
                units.push(unit);
            }
            Some(Err(fault)) => *state = State::Done(Err(fault)),
            None => {}
        }
    }
    for (place, answer) in places.into_iter().zip(store.transact(units).await) {
        match answer {
            Ok(answer) => states[place] = State::Done(answer),
            Err(refusal) => states[place].refuse(refusal),
        }
    }
}

async fn read<S: Store>(store: &S, tables: &Tables, states: &mut [State]) {
    let (mut wanted, mut keys) = (Vec::new(), Vec::new());
    for (place, state, table) in with_tables(states, tables) {
        let State::Waiting(Parsed::Get(get)) = &*state else {
            continue;
        };
        match get.key(&table) {
            Ok(key) => {
                wanted.push((place, table));
                keys.push(key);
            }
            Err(fault) => *state = State::Done(Err(fault)),
        }
    }
    if keys.is_empty() {
        return;
    }
    match store.read(&keys).await {
        Ok(items) => {
            for ((place, table), item) in wanted.into_iter().zip(items) {
                if let State::Waiting(Parsed::Get(get)) = &states[place] {
                    states[place] = State::Done(Ok(get.answer(&table, item.as_ref())));
                }
            }
        }
        Err(refusal) => {
            for (place, _) in wanted {
                states[place].refuse(refusal.clone());
            }
        }
    }
}

impl Request<'_> {
    /// The answer of one whose wait for a lock has ended without it.
    pub fn conflict(&self) -> Answer {
        self.answer(Err(engine::store_error(StoreError::Busy)))
    }

    fn served(&self, state: State) -> Served {
        let answered = match state {
            State::Held(lock) => return Served::Held(lock),
            State::Done(answered) => answered,
            State::Waiting(_) => Err(engine::kept_changing()),
        };
        Served::Answer(self.answer(answered))
    }

    fn answer(&self, answered: Answered) -> Answer {
        let layer = Layer::of(self.operation, self.context.layer);
        match answered {
            Ok(body) => Answer::ok(body),
            Err(fault) => answer_error(&fault, self.operation, layer),
        }
    }
}
