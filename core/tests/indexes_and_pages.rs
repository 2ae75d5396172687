//! After any sequence of writes the index rows are those that the items imply; pages of any size, joined, are the whole;
//! and so are the segments of a scan.

mod served;

use std::sync::Arc;

use extenddb_core::{
    store::{Access, Store},
    store_suite::{MemoryStore, run_now},
    table::{AccountId, Table, TableName},
    write::entry,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use served::{call, ok};

/// The LSI holds keys, the first GSI one attribute more, the second everything, under a key of four attributes.
fn create(store: &MemoryStore) -> Arc<Table> {
    let attribute = |name: &str, kind: &str| json!({"AttributeName": name, "AttributeType": kind});
    let key = |name: &str, role: &str| json!({"AttributeName": name, "KeyType": role});
    let request = json!({
        "TableName": "Mixed", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [attribute("pk", "S"), attribute("sk", "N"), attribute("l", "N"), attribute("g", "S"),
            attribute("h", "N"), attribute("r", "B")],
        "KeySchema": [key("pk", "HASH"), key("sk", "RANGE")],
        "LocalSecondaryIndexes": [{"IndexName": "local", "KeySchema": [key("pk", "HASH"), key("l", "RANGE")],
            "Projection": {"ProjectionType": "KEYS_ONLY"}}],
        "GlobalSecondaryIndexes": [
            {"IndexName": "some", "KeySchema": [key("g", "HASH")],
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["v"]}},
            {"IndexName": "whole", "Projection": {"ProjectionType": "ALL"},
                "KeySchema": [key("g", "HASH"), key("h", "HASH"), key("r", "RANGE"), key("l", "RANGE")]}]});
    ok(store, "CreateTable", request);
    let name = TableName {
        account: AccountId::default(),
        name: "Mixed".into(),
    };
    let tables = run_now(store.tables(&[name], Access::Read)).expect("the memory store answers");
    tables.into_iter().next().flatten().expect("the table is there")
}

#[derive(Clone, Debug)]
enum Write {
    Put(Value),
    Update {
        key: Value,
        set: Vec<(&'static str, Value)>,
        remove: Vec<&'static str>,
    },
    Delete(Value),
    Batch(Vec<(Value, bool)>),
}

const ATTRIBUTES: [&str; 6] = ["l", "g", "h", "r", "v", "w"];

/// More than the 64 bytes that stand verbatim in a key.
const LONG: &str = "a very long value, of more than the 64 bytes that stand verbatim in a key";

fn value_of(name: &str, n: u8) -> Value {
    let n = usize::from(n % 4);
    match name {
        "l" | "h" => json!({"N": (["-1", "0", "2.5", "10"][n])}),
        "g" => json!({"S": (["a", "b", "\u{10400}", LONG][n])}),
        "r" => json!({"B": (["AA==", "AAA=", "/w==", "gA=="][n])}),
        _ => json!({"SS": ([["x", "y"], ["y", "z"], ["x", "z"], ["a", "b"]][n])}),
    }
}

fn key() -> impl Strategy<Value = Value> {
    let pk = prop::sample::select(vec!["p", "q", "r"]);
    let sk = prop::sample::select(vec!["1", "-2", "30"]);
    (pk, sk).prop_map(|(pk, sk)| json!({"pk": {"S": pk}, "sk": {"N": sk}}))
}

fn attributes() -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    prop::collection::vec((0..ATTRIBUTES.len(), any::<u8>()), 0..6).prop_map(|chosen| {
        let mut named: Vec<(&'static str, Value)> = Vec::new();
        for (place, n) in chosen {
            let name = ATTRIBUTES[place];
            if named.iter().all(|(other, _)| *other != name) {
                named.push((name, value_of(name, n)));
            }
        }
        named
    })
}

fn item() -> impl Strategy<Value = Value> {
    (key(), attributes()).prop_map(|(mut item, attributes)| {
        for (name, value) in attributes {
            item[name] = value;
        }
        item
    })
}

fn write() -> impl Strategy<Value = Write> {
    let update = (key(), attributes(), 0..ATTRIBUTES.len()).prop_map(|(key, set, removed)| {
        let name = ATTRIBUTES[removed];
        let remove = if set.iter().any(|(other, _)| *other == name) {
            vec![]
        } else {
            vec![name]
        };
        Write::Update { key, set, remove }
    });
    prop_oneof![
        4 => item().prop_map(Write::Put),
        3 => update,
        2 => key().prop_map(Write::Delete),
        1 => prop::collection::vec((item(), any::<bool>()), 1..5).prop_map(Write::Batch),
    ]
}

fn key_of(item: &Value) -> Value {
    json!({"pk": item["pk"], "sk": item["sk"]})
}

fn run(store: &MemoryStore, write: &Write) {
    match write {
        Write::Put(item) => {
            ok(store, "PutItem", json!({"TableName": "Mixed", "Item": item}));
        }
        Write::Delete(key) => {
            ok(store, "DeleteItem", json!({"TableName": "Mixed", "Key": key}));
        }
        Write::Update { key, set, remove } => {
            let mut request = json!({"TableName": "Mixed", "Key": key});
            let mut expression = String::new();
            for (place, (name, value)) in set.iter().enumerate() {
                expression += if place == 0 { "SET " } else { ", " };
                expression += &format!("{name} = :{name}");
                request["ExpressionAttributeValues"][format!(":{name}")] = value.clone();
            }
            for name in remove {
                expression += &format!(" REMOVE {name}");
            }
            if !expression.is_empty() {
                request["UpdateExpression"] = json!(expression);
            }
            ok(store, "UpdateItem", request);
        }
        Write::Batch(items) => {
            let mut requests: Vec<Value> = Vec::new();
            let mut keys: Vec<Value> = Vec::new();
            for (item, delete) in items {
                let key = key_of(item);
                if keys.contains(&key) {
                    continue;
                }
                requests.push(match delete {
                    true => json!({"DeleteRequest": {"Key": key}}),
                    false => json!({"PutRequest": {"Item": item}}),
                });
                keys.push(key);
            }
            let answer = ok(
                store,
                "BatchWriteItem",
                json!({"RequestItems": {"Mixed": requests}}),
            );
            assert_eq!(answer["UnprocessedItems"], json!({}));
        }
    }
}

/// What a write leaves behind, as a model that knows no indexes.
fn model(items: &mut Vec<Value>, write: &Write) {
    let place = |items: &[Value], key: &Value| items.iter().position(|item| key_of(item) == key_of(key));
    let put = |items: &mut Vec<Value>, item: &Value| match place(items, item) {
        Some(place) => items[place] = item.clone(),
        None => items.push(item.clone()),
    };
    let delete = |items: &mut Vec<Value>, key: &Value| {
        if let Some(place) = place(items, key) {
            items.remove(place);
        }
    };
    match write {
        Write::Put(item) => put(items, item),
        Write::Delete(key) => delete(items, key),
        Write::Update { key, set, remove } => {
            let stored = place(items, key).map(|place| items[place].clone());
            if stored.is_none() && set.is_empty() && !remove.is_empty() {
                return;
            }
            let mut item = stored.unwrap_or_else(|| key.clone());
            for (name, value) in set {
                item[*name] = value.clone();
            }
            for name in remove {
                item.as_object_mut().expect("an item").remove(*name);
            }
            put(items, &item);
        }
        Write::Batch(changes) => {
            let mut seen = Vec::new();
            for (item, is_delete) in changes {
                if seen.contains(&key_of(item)) {
                    continue;
                }
                seen.push(key_of(item));
                if *is_delete {
                    delete(items, item);
                } else {
                    put(items, item);
                }
            }
        }
    }
}

/// All items of a Query or Scan, read in pages of `limit`.
fn pages(store: &MemoryStore, operation: &str, request: &Value, limit: Option<usize>) -> Vec<Value> {
    let mut request = request.clone();
    if let Some(limit) = limit {
        request["Limit"] = json!(limit);
    }
    let mut items = Vec::new();
    loop {
        let answer = ok(store, operation, request.clone());
        let page = answer["Items"].as_array().expect("Items").clone();
        assert!(limit.is_none_or(|limit| page.len() <= limit));
        items.extend(page);
        match answer.get("LastEvaluatedKey") {
            Some(key) => request["ExclusiveStartKey"] = key.clone(),
            None => return items,
        }
    }
}

fn sorted(mut items: Vec<Value>) -> Vec<String> {
    let mut texts: Vec<String> = items.iter_mut().map(|item| item.to_string()).collect();
    texts.sort();
    texts
}

fn check_rows(store: &MemoryStore, table: &Table) -> Result<(), TestCaseError> {
    let mut implied = Vec::new();
    for (key, item) in store.items(table.id) {
        for index in &table.indexes {
            let row = entry(table, index, &key, &item);
            implied.extend(row.map(|(key, item)| (index.number, key, item)));
        }
    }
    implied.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    prop_assert_eq!(store.index_rows(table.id), implied);
    Ok(())
}

fn check_pages(store: &MemoryStore, operation: &str, request: &Value) -> Result<Vec<Value>, TestCaseError> {
    let whole = pages(store, operation, request, None);
    for limit in [1, 2, 3, 5, 20] {
        prop_assert_eq!(
            &pages(store, operation, request, Some(limit)),
            &whole,
            "{} {} by {}",
            operation,
            request,
            limit
        );
    }
    Ok(whole)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn index_rows_follow_and_pages_join(writes in prop::collection::vec(write(), 1..30)) {
        let store = MemoryStore::default();
        let table = create(&store);
        let mut items = Vec::new();
        for write in &writes {
            run(&store, write);
            model(&mut items, write);
            check_rows(&store, &table)?;
        }
        for index in [None, Some("local"), Some("some"), Some("whole")] {
            let mut request = json!({"TableName": "Mixed"});
            if let Some(index) = index {
                request["IndexName"] = json!(index);
            }
            let whole = check_pages(&store, "Scan", &request)?;
            if index.is_none() {
                prop_assert_eq!(sorted(whole.clone()), sorted(items.clone()));
            }
            for total in [1, 2, 3, 7] {
                let mut union = Vec::new();
                for segment in 0..total {
                    let mut request = request.clone();
                    request["Segment"] = json!(segment);
                    request["TotalSegments"] = json!(total);
                    union.extend(check_pages(&store, "Scan", &request)?);
                }
                // Segments are contiguous parts of the order of a scan.
                prop_assert_eq!(&union, &whole);
            }
        }
        for (index, condition, values) in [
            (None, "pk = :p", json!({":p": {"S": "p"}})),
            (None, "pk = :p AND sk >= :s", json!({":p": {"S": "q"}, ":s": {"N": "1"}})),
            (Some("local"), "pk = :p", json!({":p": {"S": "p"}})),
            (Some("local"), "pk = :p AND l BETWEEN :a AND :b", json!({":p": {"S": "p"}, ":a": {"N": "-1"}, ":b": {"N": "2.5"}})),
            (Some("some"), "g = :g", json!({":g": {"S": "a"}})),
            (Some("some"), "g = :g", json!({":g": value_of("g", 3)})),
            (Some("whole"), "g = :g AND h = :h", json!({":g": {"S": "a"}, ":h": {"N": "0"}})),
        ] {
            let mut request = json!({"TableName": "Mixed", "KeyConditionExpression": condition,
                "ExpressionAttributeValues": values});
            if let Some(index) = index {
                request["IndexName"] = json!(index);
            }
            let mut forward = check_pages(&store, "Query", &request)?;
            request["ScanIndexForward"] = json!(false);
            let backward = check_pages(&store, "Query", &request)?;
            forward.reverse();
            prop_assert_eq!(forward, backward);
        }
    }
}

/// Values that break an index refuse the write; nothing changes, in the table or in the index.
#[test]
fn a_refused_write_leaves_no_row() {
    let store = MemoryStore::default();
    let table = create(&store);
    ok(
        &store,
        "PutItem",
        json!({"TableName": "Mixed", "Item": {"pk": {"S": "p"}, "sk": {"N": "1"}, "g": {"S": "a"}}}),
    );
    let before = (store.items(table.id), store.index_rows(table.id));
    for (operation, request) in [
        (
            "PutItem",
            json!({"TableName": "Mixed", "Item": {"pk": {"S": "p"}, "sk": {"N": "1"}, "g": {"N": "1"}}}),
        ),
        (
            "PutItem",
            json!({"TableName": "Mixed", "Item": {"pk": {"S": "p"}, "sk": {"N": "1"}},
            "ConditionExpression": "attribute_not_exists(pk)"}),
        ),
        (
            "UpdateItem",
            json!({"TableName": "Mixed", "Key": {"pk": {"S": "p"}, "sk": {"N": "1"}},
            "UpdateExpression": "SET g = sk"}),
        ),
        (
            "BatchWriteItem",
            json!({"RequestItems": {"Mixed": [
            {"DeleteRequest": {"Key": {"pk": {"S": "p"}, "sk": {"N": "1"}}}},
            {"PutRequest": {"Item": {"pk": {"S": "p"}, "sk": {"N": "2"}, "l": {"S": "x"}}}}]}}),
        ),
    ] {
        let (status, body) = call(&store, operation, &request);
        assert_eq!(status, 400, "{body}");
        assert_eq!((store.items(table.id), store.index_rows(table.id)), before);
    }
}

/// Row 102: four segments of a hundred items, in pages and at once.
#[test]
fn four_segments_answer_each_of_a_hundred_items_once() {
    let store = MemoryStore::default();
    create(&store);
    let mut written = Vec::new();
    for n in 0..100 {
        let item = json!({"pk": {"S": format!("p{n}")}, "sk": {"N": "1"}});
        ok(&store, "PutItem", json!({"TableName": "Mixed", "Item": item}));
        written.push(item);
    }
    for limit in [None, Some(1), Some(7), Some(100)] {
        let of_segment = |segment: usize| {
            let request = json!({"TableName": "Mixed", "Segment": segment, "TotalSegments": 4});
            pages(&store, "Scan", &request, limit)
        };
        let segments: Vec<Vec<Value>> = (0..4).map(of_segment).collect();
        assert!(segments.iter().all(|segment| segment.len() < 100));
        assert_eq!(sorted(segments.concat()), sorted(written.clone()));
    }
}
