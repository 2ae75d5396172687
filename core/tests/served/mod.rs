//! Requests to a store, for tests of what no single row of a table of cases can say.
#![allow(dead_code, reason = "each test file uses a part")]

use extenddb_core::{
    operation::{Context, Operation, serve},
    store::Store,
    store_suite::run_now,
    table::AccountId,
    wire::Layer,
    write::Timestamp,
};
use serde_json::Value;

/// The answer: status and body.
pub fn call<S: Store>(store: &S, operation: &str, body: &Value) -> (u16, Value) {
    call_on(Layer::New, store, operation, body)
}

/// The answer with the switch between the request layers at `layer`.
pub fn call_on<S: Store>(layer: Layer, store: &S, operation: &str, body: &Value) -> (u16, Value) {
    call_text_on(layer, store, operation, &body.to_string())
}

/// The same of a body as it is written.
pub fn call_text_on<S: Store>(layer: Layer, store: &S, operation: &str, body: &str) -> (u16, Value) {
    call_in(&Context { layer, ..context() }, store, operation, body)
}

/// Of the account that every test is in, at a moment of its own.
pub fn context() -> Context {
    Context {
        account: AccountId::default(),
        region: "us-east-1".into(),
        now: Timestamp(1_791_500_965_303),
        random: [7; 16],
        layer: Layer::New,
    }
}

/// The answer to a request as it was written, in a context.
pub fn call_in<S: Store>(context: &Context, store: &S, operation: &str, body: &str) -> (u16, Value) {
    let operation = Operation::from_name(operation).unwrap_or_else(|| panic!("{operation} is not served"));
    let answer = run_now(serve(store, operation, body, context));
    if answer.body.is_empty() {
        return (answer.status, Value::Null);
    }
    let body = serde_json::from_str(&answer.body).unwrap_or_else(|_| panic!("not JSON: {}", answer.body));
    (answer.status, body)
}

/// The body of a success.
pub fn ok<S: Store>(store: &S, operation: &str, body: Value) -> Value {
    let (status, answer) = call(store, operation, &body);
    assert_eq!(status, 200, "{operation} {body}: {answer}");
    answer
}
