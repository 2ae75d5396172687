//! Any sequence of requests under tokens, with time passing, items held and sweeps, against a model of what a token may do:
//! a request runs at most once in ten minutes, no other one is let in, and what the request itself supplies leaves the
//! token alone.                                                                   behaviour/transactions §tokens

use std::{cell::RefCell, collections::BTreeMap};

use extenddb_core::{
    claim::sweep,
    item::{AttributeValue, ItemKey},
    operation::Context,
    store_suite::{MemoryStore, run_now},
    table::{AccountId, TableId},
    write::Timestamp,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    notation::Fixture,
    ranking::Ranking,
    served::{call_in, context},
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Request {
    /// Adds one, or two.
    Count(u8),
    /// Adds ten, where there is an item `open`.
    Guarded,
    /// Adds one, and is refused: an empty literal, an empty value out of the item, an operand that is missing.
    LiteralEmpty,
    ComputedEmpty,
    Missing,
    /// Refused before its token is looked at.
    SuppliedType,
    SuppliedEmpty,
    Twice,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Send {
        request: Request,
        token: Option<u8>,
        account: bool,
    },
    Pass(u64),
    /// Puts the item `open`, or deletes it.
    Open(bool),
    /// The counter is held by others, or not any more.
    Hold(bool),
    Sweep,
}

const ACCOUNTS: [&str; 2] = ["000000000000", "111111111111"];
const WINDOW_MS: u64 = 600_000;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    use Request::*;
    let request = prop::sample::select(vec![
        Count(1),
        Count(1),
        Count(2),
        Guarded,
        Guarded,
        LiteralEmpty,
        ComputedEmpty,
        Missing,
        SuppliedType,
        SuppliedEmpty,
        Twice,
    ]);
    let send = (
        request,
        prop::option::weighted(0.9, 0..2_u8),
        prop::bool::weighted(0.15),
    );
    let send = send.prop_map(|(request, token, account)| Step::Send {
        request,
        token,
        account,
    });
    let pass = prop::sample::select(vec![1, 200_000, 300_000, 400_000, 599_999, 600_000]);
    let step = prop_oneof![
        8 => send,
        2 => pass.prop_map(Step::Pass),
        1 => any::<bool>().prop_map(Step::Open),
        1 => prop::bool::weighted(0.4).prop_map(Step::Hold),
        1 => Just(Step::Sweep),
    ];
    prop::collection::vec(step, 1..40)
}

fn members(request: Request) -> Value {
    let add = |n: u8, more: Value| {
        let mut update = json!({"TableName": "Main", "Key": {"pk": {"S": "count"}}, "UpdateExpression": "ADD n :n",
            "ExpressionAttributeValues": {":n": {"N": n.to_string()}}});
        for (name, value) in more.as_object().into_iter().flatten() {
            update[name] = value.clone();
        }
        json!({"Update": update})
    };
    let other = |expression: &str, values: Value| {
        let mut update =
            json!({"TableName": "Main", "Key": {"pk": {"S": "r"}}, "UpdateExpression": expression});
        if values != json!({}) {
            update["ExpressionAttributeValues"] = values;
        }
        json!({"Update": update})
    };
    match request {
        Request::Count(n) => json!([add(n, json!({}))]),
        Request::Guarded => json!([add(10, json!({})),
            {"ConditionCheck": {"TableName": "Main", "Key": {"pk": {"S": "open"}},
                "ConditionExpression": "attribute_exists(pk)"}}]),
        Request::LiteralEmpty => json!([
            add(1, json!({})),
            other("SET sidx = :e", json!({":e": {"S": ""}}))
        ]),
        Request::ComputedEmpty => json!([add(1, json!({})), other("SET sidx = e", json!({}))]),
        Request::Missing => json!([add(1, json!({})), other("SET c = nope", json!({}))]),
        Request::SuppliedType => json!([
            add(1, json!({})),
            other("SET sidx = :n", json!({":n": {"N": "1"}}))
        ]),
        Request::SuppliedEmpty => json!([add(1, json!({})),
            {"Put": {"TableName": "Main", "Item": {"pk": {"S": "p"}, "sidx": {"S": ""}}}}]),
        Request::Twice => json!([add(1, json!({})), add(1, json!({}))]),
    }
}

#[derive(Clone, Copy, Debug)]
struct Remembered {
    request: Request,
    at_ms: u64,
    is_committed: bool,
}

/// What there should be.
#[derive(Default)]
struct Model {
    now_ms: u64,
    tokens: BTreeMap<(bool, u8), Remembered>,
    counts: [u64; 2],
    is_open: [bool; 2],
    is_held: bool,
}

impl Model {
    /// The answer in the notation of the tables of cases.
    fn send(&mut self, request: Request, token: Option<u8>, account: bool) -> &'static str {
        match request {
            Request::SuppliedType => return "TC[-, V(M3 N)]",
            Request::SuppliedEmpty => return "VE(M4)",
            Request::Twice => return "VE(two operations)",
            _ => {}
        }
        let key = token.map(|token| (account, token));
        let found = key.and_then(|key| self.tokens.get(&key));
        if let Some(found) = found.filter(|found| self.now_ms < found.at_ms + WINDOW_MS) {
            if found.request != request {
                return "mismatch";
            }
            if found.is_committed {
                return "200";
            }
        }
        let place = usize::from(account);
        // Only the first account's counter is ever held.
        let is_held = self.is_held && !account;
        let (added, refused) = match request {
            Request::Count(n) => (u64::from(n), if is_held { Some("TC[X]") } else { None }),
            Request::Guarded => {
                let refused = match (is_held, self.is_open[place]) {
                    (true, true) => Some("TC[X, -]"),
                    (true, false) => Some("TC[X, C]"),
                    (false, true) => None,
                    (false, false) => Some("TC[-, C]"),
                };
                (10, refused)
            }
            Request::LiteralEmpty | Request::ComputedEmpty => (0, Some("VE(M6)")),
            Request::Missing if is_held => (0, Some("TC[X, V(M8)]")),
            _ => (0, Some("TC[-, V(M8)]")),
        };
        if let Some(key) = key {
            let (at_ms, is_committed) = (self.now_ms, refused.is_none());
            let remembered = Remembered {
                request,
                at_ms,
                is_committed,
            };
            self.tokens.insert(key, remembered);
        }
        if refused.is_none() {
            self.counts[place] += added;
        }
        refused.unwrap_or("200")
    }
}

/// The store, and where its first account's counter lies.
struct World {
    store: MemoryStore,
    counter: ItemKey,
    now: RefCell<Timestamp>,
}

impl World {
    fn new(fixture: &Fixture) -> World {
        let store = MemoryStore::default();
        let world = World {
            counter: ItemKey {
                table: TableId(2),
                bucket: 0,
                pk: Vec::new(),
                sk: Vec::new(),
            },
            store,
            now: RefCell::new(context().now),
        };
        world.store.set_now(context().now);
        for account in [false, true] {
            for table in fixture.table_requests() {
                world.ok(account, "CreateTable", &table);
            }
            for item in [
                json!({"pk": {"S": "count"}, "n": {"N": "0"}}),
                json!({"pk": {"S": "r"}, "e": {"S": ""}}),
            ] {
                world.ok(account, "PutItem", &json!({"TableName": "Main", "Item": item}));
            }
        }
        let wanted = Some(AttributeValue::S("count".into()));
        let items = world.store.items(TableId(2)).into_iter();
        let counter = items
            .map(|(key, item)| (key, item.get("pk")))
            .find(|(_, pk)| *pk == wanted);
        World {
            counter: counter.expect("it was put").0,
            ..world
        }
    }

    fn call(&self, account: bool, operation: &str, body: &Value) -> (u16, Value) {
        let context = Context {
            account: AccountId(ACCOUNTS[usize::from(account)].into()),
            now: *self.now.borrow(),
            ..context()
        };
        call_in(&context, &self.store, operation, &body.to_string())
    }

    fn ok(&self, account: bool, operation: &str, body: &Value) -> Value {
        let (status, answer) = self.call(account, operation, body);
        assert_eq!(status, 200, "{operation} {body}: {answer}");
        answer
    }

    fn count(&self, account: bool) -> String {
        let get = json!({"TableName": "Main", "Key": {"pk": {"S": "count"}}});
        let found = self.ok(account, "GetItem", &get);
        found["Item"]["n"]["N"].as_str().expect("a number").to_owned()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_token_does_what_the_model_says(steps in steps()) {
        let fixture = &Ranking::read().fixture;
        let world = World::new(fixture);
        let mut model = Model { now_ms: context().now.0, ..Model::default() };
        for step in steps {
            match step {
                Step::Send { request, token, account } => {
                    let wanted = model.send(request, token, account);
                    let mut body = json!({"TransactItems": members(request)});
                    if let Some(token) = token {
                        body["ClientRequestToken"] = token.to_string().into();
                    }
                    let rows = world.store.items(TableId::TOKENS);
                    let answer = world.call(account, "TransactWriteItems", &body);
                    prop_assert_eq!(fixture.fault(wanted, &answer), None, "{:?}", step);
                    use Request::{SuppliedEmpty, SuppliedType, Twice};
                    let untouched = wanted == "mismatch" || matches!(request, SuppliedEmpty | SuppliedType | Twice);
                    prop_assert!(!untouched || rows == world.store.items(TableId::TOKENS), "{:?}", step);
                }
                Step::Pass(milliseconds) => {
                    model.now_ms += milliseconds;
                    *world.now.borrow_mut() = Timestamp(model.now_ms);
                    world.store.set_now(Timestamp(model.now_ms));
                }
                Step::Open(is_open) => {
                    model.is_open[0] = is_open;
                    let request = if is_open {
                        ("PutItem", json!({"TableName": "Main", "Item": {"pk": {"S": "open"}}}))
                    } else {
                        ("DeleteItem", json!({"TableName": "Main", "Key": {"pk": {"S": "open"}}}))
                    };
                    world.ok(false, request.0, &request.1);
                }
                Step::Hold(is_held) => {
                    model.is_held = is_held;
                    if is_held {
                        world.store.hold(world.counter.clone());
                    } else {
                        world.store.release(&world.counter);
                    }
                }
                Step::Sweep => {
                    let now = Timestamp(model.now_ms);
                    let swept = run_now(sweep(&world.store, TableId::TOKENS, now, 100));
                    prop_assert!(swept.is_ok());
                    let over = |remembered: &Remembered| model.now_ms >= remembered.at_ms + WINDOW_MS;
                    model.tokens.retain(|_, remembered| !over(remembered));
                    prop_assert_eq!(world.store.items(TableId::TOKENS).len(), model.tokens.len());
                }
            }
            for account in [false, true] {
                prop_assert_eq!(world.count(account), model.counts[usize::from(account)].to_string());
            }
        }
    }
}
