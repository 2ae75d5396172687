//! What becomes of a request that is sent again.

use std::{cell::Cell, collections::BTreeMap};

use extenddb_core::{
    item::ItemKey, operation::Context, store_suite::MemoryStore, table::AccountId, write::Timestamp,
};
use serde::Deserialize;
use serde_json::json;

use crate::{
    notation::{Fixture, cases, expanded, item, parsed, run_all},
    served::{call_in, context, ok},
};

#[derive(Deserialize)]
struct Tokens {
    #[serde(flatten)]
    fixture: Fixture,
    requests: BTreeMap<String, String>,
    row: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    row: String,
    steps: Vec<String>,
}

/// A store on which time passes.
struct World<'t> {
    table: &'t Tokens,
    store: MemoryStore,
    now: Cell<Timestamp>,
}

impl World<'_> {
    fn pass(&self, milliseconds: u64) {
        let now = Timestamp(self.now.get().0 + milliseconds);
        self.now.set(now);
        self.store.set_now(now);
    }

    fn context(&self, account: &str) -> Context {
        Context {
            now: self.now.get(),
            account: AccountId(account.into()),
            ..context()
        }
    }

    /// `W k@111111111111`: the answer to that request.
    fn send(&self, request: &str) -> (u16, serde_json::Value) {
        let (name, token) = match request.split_once(' ') {
            Some((name, token)) => (name, Some(expanded(token))),
            None => (request, None),
        };
        let text = self.table.requests.get(name);
        let text = expanded(text.unwrap_or_else(|| panic!("no request is named {name}")));
        let (token, account) = match token.as_deref().map(|token| token.split_once('@').ok_or(token)) {
            Some(Ok((token, account))) => (Some(token), account.to_owned()),
            Some(Err(token)) => (Some(token), AccountId::default().0),
            None => (None, AccountId::default().0),
        };
        let text = if text.starts_with('[') {
            format!("{{\"TransactItems\":{text}}}")
        } else {
            text
        };
        let text = match token {
            Some(token) => format!("{{\"ClientRequestToken\":\"{token}\",{}", &text[1..]),
            None => text,
        };
        let context = self.context(&account);
        if account != AccountId::default().0 {
            for table in self.table.fixture.table_requests() {
                // It may be there.
                call_in(&context, &self.store, "CreateTable", &table.to_string());
            }
        }
        call_in(&context, &self.store, "TransactWriteItems", &text)
    }

    fn key(&self, pk: &str) -> ItemKey {
        let wanted = Some(extenddb_core::item::AttributeValue::S(pk.into()));
        // The first table that is made has this number.
        let items = self.store.items(extenddb_core::table::TableId(2));
        let found = items.into_iter().find(|(_, item)| item.get("pk") == wanted);
        found.unwrap_or_else(|| panic!("there is no item {pk}")).0
    }

    /// What is wrong after a step.
    fn step(&self, step: &str) -> Option<String> {
        if let Some((request, wanted)) = step.split_once(" -> ") {
            return self.table.fixture.fault(wanted, &self.send(request));
        }
        let (verb, rest) = step.split_once(' ').unwrap_or((step, ""));
        match verb {
            "back" => self.pass(rest.parse::<u64>().expect("seconds") * 1000),
            "put" => {
                let put = json!({"TableName": "Main", "Item": parsed(&expanded(rest))});
                ok(&self.store, "PutItem", put);
            }
            "drop" => {
                ok(&self.store, "DeleteTable", json!({"TableName": rest}));
            }
            "hold" => self.store.hold(self.key(rest)),
            "release" => self.store.release(&self.key(rest)),
            "item" => {
                let (pk, wanted) = rest.split_once(" is ").expect("item … is …");
                let wanted = (wanted != "none").then(|| parsed(&expanded(wanted)));
                let found = item(&self.store, pk);
                if found != wanted {
                    return Some(format!("{pk} is {found:?}"));
                }
            }
            other => panic!("{other} is no step"),
        }
        None
    }
}

impl Tokens {
    fn world(&self) -> World<'_> {
        let world = World {
            table: self,
            store: self.fixture.store(),
            now: Cell::new(Timestamp(1_791_500_965_303)),
        };
        world.pass(0);
        world
    }
}

#[test]
fn every_row_answers_as_written() {
    let table: Tokens = cases("transactions-tokens.toml");
    run_all(table.row.iter().map(|row| {
        let run: Box<dyn Fn() -> Option<String>> = Box::new(|| {
            let world = table.world();
            let fault = |step: &String| Some(format!("{step}: {}", world.step(step)?));
            row.steps.iter().find_map(fault)
        });
        (row.row.as_str(), run)
    }));
}

/// To the millisecond.
#[test]
fn a_token_is_taken_for_600_seconds() {
    let table: Tokens = cases("transactions-tokens.toml");
    for (first, answer) in [("W", "200"), ("F", "TC[C]"), ("LE", "VE(M6)")] {
        for (milliseconds, then) in [(599_999, "mismatch"), (600_000, "200")] {
            let world = table.world();
            let fault = |step: &str| assert_eq!(world.step(step), None, "{first} {milliseconds} {step}");
            fault(&format!("{first} k -> {answer}"));
            world.pass(milliseconds);
            fault(&format!("W2 k -> {then}"));
        }
    }
}
