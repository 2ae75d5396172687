//! Requests: one a line, the operation's name, a space, the body. A `-` before the name puts the request on the old layer.

use extenddb_core::{
    operation::{Context, Operation, serve},
    store_suite::{MemoryStore, run_now},
    table::AccountId,
    wire::Layer,
    write::Timestamp,
};
use serde::de::IgnoredAny;

use super::rows::TABLES;

const MAX_LINES: usize = 8;

/// Serves the lines in order on one store: nothing panics, every answer is well-formed JSON, none is a fault of ours.
pub fn check(text: &str) {
    let store = MemoryStore::default();
    for (name, table) in TABLES {
        if text.contains(name) {
            answer(&store, Operation::CreateTable, Layer::New, table);
        }
    }
    for line in text.lines().take(MAX_LINES) {
        let (line, layer) = match line.strip_prefix('-') {
            Some(line) => (line, Layer::Old),
            None => (line, Layer::New),
        };
        let Some((name, body)) = line.split_once(' ') else {
            continue;
        };
        // What is no JSON never gets as far: the front of each way in refuses it.
        if extenddb_core::wire::json::check(body).is_err() {
            continue;
        }
        if let Some(operation) = Operation::from_name(name) {
            answer(&store, operation, layer, body);
        }
    }
}

fn answer(store: &MemoryStore, operation: Operation, layer: Layer, body: &str) {
    let context = Context {
        account: AccountId::default(),
        region: "us-east-1".into(),
        now: Timestamp(1_791_500_965_303),
        random: [7; 16],
        layer,
    };
    let answer = run_now(serve(store, operation, body, &context));
    assert!(
        matches!(answer.status, 200 | 400),
        "{operation:?}: {} {}",
        answer.status,
        answer.body
    );
    let is_json = answer.body.is_empty() || serde_json::from_str::<IgnoredAny>(&answer.body).is_ok();
    assert!(is_json, "{operation:?} answers no JSON: {}", answer.body);
    assert!(
        answer.status == 200 || answer.body.contains("__type"),
        "{operation:?} answers no exception: {}",
        answer.body
    );
}
