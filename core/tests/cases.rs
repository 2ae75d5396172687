//! The case tables of `core/cases`, each row a request and the answer it must have, run on the memory store. The wire tests
//! run the same rows over HTTP.

use std::{collections::BTreeMap, path::Path};

use extenddb_core::{
    operation::{Context, Operation, serve},
    store_suite::{MemoryStore, run_now},
    table::AccountId,
    wire::Layer,
    write::Timestamp,
};
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Deserialize)]
struct Table {
    #[serde(default)]
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    row: String,
    /// Items put before, by table.
    stored: Option<String>,
    /// Requests served before, each an operation and its body.
    #[serde(default)]
    before: Vec<(String, String)>,
    operation: String,
    request: String,
    status: u16,
    #[serde(rename = "type")]
    exception: Option<String>,
    /// The whole text of the error.
    text: Option<String>,
    /// Its beginning, where the rest is not fixed.
    head: Option<String>,
    /// The whole body of the answer; sets compare unordered.
    answer: Option<String>,
    /// What the answer holds among other things: every member that is named here, `null` for one that is not there.
    shows: Option<String>,
    /// The item under the request's key afterwards, or `none`.
    after: Option<String>,
}

/// The tables that the rows speak of.
const TABLES: &[&str] = &[
    r#"{"TableName":"Hash1","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}"#,
    r#"{"TableName":"Range1","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"},
            {"AttributeName":"lk","AttributeType":"N"},{"AttributeName":"g","AttributeType":"S"},
            {"AttributeName":"g2","AttributeType":"S"},{"AttributeName":"r2","AttributeType":"N"}],
        "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
        "LocalSecondaryIndexes":[{"IndexName":"lsi1","Projection":{"ProjectionType":"KEYS_ONLY"},
            "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"lk","KeyType":"RANGE"}]}],
        "GlobalSecondaryIndexes":[{"IndexName":"gsi1","Projection":{"ProjectionType":"ALL"},
            "KeySchema":[{"AttributeName":"g","KeyType":"HASH"}]},
            {"IndexName":"gsi2","Projection":{"ProjectionType":"KEYS_ONLY"},
            "KeySchema":[{"AttributeName":"g2","KeyType":"HASH"},{"AttributeName":"r2","KeyType":"RANGE"}]}]}"#,
    r#"{"TableName":"Num1","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"N"}],
        "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}]}"#,
    r#"{"TableName":"Multi1","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"h1","AttributeType":"S"},
            {"AttributeName":"h2","AttributeType":"N"},{"AttributeName":"r1","AttributeType":"S"},
            {"AttributeName":"r2","AttributeType":"N"}],
        "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],
        "GlobalSecondaryIndexes":[{"IndexName":"multi","Projection":{"ProjectionType":"ALL"},
            "KeySchema":[{"AttributeName":"h1","KeyType":"HASH"},{"AttributeName":"h2","KeyType":"HASH"},
                {"AttributeName":"r1","KeyType":"RANGE"},{"AttributeName":"r2","KeyType":"RANGE"}]}]}"#,
];

fn call(store: &MemoryStore, operation: &str, body: &str) -> (u16, Value) {
    let operation = Operation::from_name(operation).unwrap_or_else(|| panic!("{operation} is not served"));
    let context = Context {
        account: AccountId::default(),
        region: "us-east-1".into(),
        now: Timestamp(1_791_500_965_303),
        random: [7; 16],
        layer: Layer::New,
    };
    let answer = run_now(serve(store, operation, body, &context));
    if answer.body.is_empty() {
        return (answer.status, Value::Null);
    }
    let body = serde_json::from_str(&answer.body).unwrap_or_else(|_| panic!("not JSON: {}", answer.body));
    (answer.status, body)
}

/// Sorts the members of sets, which have no order.
fn unordered(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::Array(set) if matches!(name.as_str(), "SS" | "NS" | "BS") => {
                        set.sort_by_key(|member| member.to_string());
                    }
                    other => unordered(other),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(unordered),
        _ => {}
    }
}

/// The request with `<x*9>` written out: nine times `x`.
fn repeated(request: &str) -> String {
    let mut parts = request.split('<');
    let mut written = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let times = part.split_once('>').and_then(|(inside, rest)| {
            let (what, times) = inside.split_once('*')?;
            Some((what.repeat(times.parse().ok()?), rest))
        });
        match times {
            Some((many, rest)) => written.extend([&many, rest]),
            None => written.extend(["<", part]),
        }
    }
    written
}

/// Whether the value has all that is wanted of it.
fn holds(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Object(members), Value::Object(wanted)) => wanted.iter().all(|(name, wanted)| {
            members
                .get(name)
                .map_or(wanted.is_null(), |member| holds(member, wanted))
        }),
        (Value::Array(list), Value::Array(wanted)) => {
            list.len() == wanted.len()
                && list
                    .iter()
                    .zip(wanted)
                    .all(|(value, wanted)| holds(value, wanted))
        }
        _ => value == wanted,
    }
}

fn parsed(text: &str) -> Value {
    let mut value = serde_json::from_str(text).unwrap_or_else(|fault| panic!("{fault} in {text}"));
    unordered(&mut value);
    value
}

fn key_of(request: &Value) -> Option<Value> {
    if let Some(key) = request.get("Key") {
        return Some(key.clone());
    }
    let item = request.get("Item")?.as_object()?;
    let names: &[&str] = match request["TableName"].as_str()? {
        "Range1" | "Num1" => &["pk", "sk"],
        _ => &["pk"],
    };
    let key: Map<String, Value> = names
        .iter()
        .map(|name| (name.to_string(), item[*name].clone()))
        .collect();
    Some(key.into())
}

/// What is wrong with the answer to a row; `None` if nothing is.
fn fault(case: &Case) -> Option<String> {
    let store = MemoryStore::default();
    for table in TABLES {
        let (status, body) = call(&store, "CreateTable", table);
        assert_eq!(status, 200, "{body}");
    }
    let stored = case.stored.as_deref().map(parsed);
    for (table, items) in stored.iter().filter_map(Value::as_object).flatten() {
        for item in items.as_array().expect("items are a list") {
            let put = serde_json::json!({"TableName": table, "Item": item});
            let (status, body) = call(&store, "PutItem", &put.to_string());
            assert_eq!(status, 200, "{}: stored: {body}", case.row);
        }
    }
    for (operation, request) in &case.before {
        let (status, body) = call(&store, operation, &repeated(request));
        assert_eq!(status, 200, "{}: before: {body}", case.row);
    }
    let (status, mut body) = call(&store, &case.operation, &repeated(&case.request));
    unordered(&mut body);
    if status != case.status {
        return Some(format!("status {status}: {body}"));
    }
    if let Some(wanted) = &case.exception {
        let exception = body["__type"].as_str().unwrap_or_default();
        if exception.rsplit('#').next() != Some(wanted) {
            return Some(format!("type {exception}, not {wanted}"));
        }
    }
    let text = body
        .get("message")
        .or(body.get("Message"))
        .and_then(Value::as_str)
        .unwrap_or_default();
    if let Some(wanted) = case.text.as_deref().filter(|wanted| text != *wanted) {
        return Some(format!("text\n    {text}\n  not\n    {wanted}"));
    }
    if let Some(wanted) = case.head.as_deref().filter(|wanted| !text.starts_with(wanted)) {
        return Some(format!("text\n    {text}\n  does not start with\n    {wanted}"));
    }
    if let Some(wanted) = case
        .answer
        .as_deref()
        .map(parsed)
        .filter(|wanted| body != *wanted)
    {
        return Some(format!("answer\n    {body}\n  not\n    {wanted}"));
    }
    if let Some(wanted) = case
        .shows
        .as_deref()
        .map(parsed)
        .filter(|wanted| !holds(&body, wanted))
    {
        return Some(format!("answer\n    {body}\n  does not show\n    {wanted}"));
    }
    let after = case.after.as_deref()?;
    let request: Value = serde_json::from_str(&case.request).ok()?;
    let key = key_of(&request).unwrap_or_else(|| panic!("{}: `after` needs a key", case.row));
    let get = serde_json::json!({"TableName": request["TableName"], "Key": key, "ConsistentRead": true});
    let (_, mut body) = call(&store, "GetItem", &get.to_string());
    unordered(&mut body);
    let wanted = (after != "none").then(|| parsed(after));
    (body.get("Item") != wanted.as_ref()).then(|| format!("afterwards\n    {body}\n  not\n    {after}"))
}

#[test]
fn every_row_answers_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut failed = Vec::new();
    let mut rows = 0;
    for file in std::fs::read_dir(folder).expect("core/cases is there") {
        let path = file.expect("a readable entry").path();
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let table: Table = toml::from_str(&text).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        let mut seen = BTreeMap::new();
        for (number, case) in table.case.iter().enumerate() {
            if let Some(earlier) = seen.insert(case.row.clone(), number) {
                panic!("{name}: row {} stands twice ({earlier}, {number})", case.row);
            }
            rows += 1;
            let checked =
                std::panic::catch_unwind(|| fault(case)).unwrap_or_else(|_| Some("panicked".into()));
            if let Some(fault) = checked {
                failed.push(format!("{name} {}: {fault}", case.row));
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {rows} rows:\n{}",
        failed.len(),
        failed.join("\n")
    );
}
