//! Sizes: of values and items, of keys on every operation that takes one, of what an update is charged with.
//!                                                                              behaviour/items §sizes, §keys

mod served;

use base64::{Engine, engine::general_purpose::STANDARD};
use extenddb_core::{
    item::{AttributeValue, Number, attributes_size, value_size},
    store_suite::MemoryStore,
};
use serde_json::{Value, json};
use served::{call, ok};

const ITEM_MAX_BYTES: usize = 409_600;
const TOO_LARGE: &str = "Item size has exceeded the maximum allowed size";
const UPDATE_TOO_LARGE: &str = "Item size to update has exceeded the maximum allowed size";
const HASH_TOO_LONG: &str = "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes";
const RANGE_TOO_LONG: &str = "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes";

fn store() -> MemoryStore {
    let store = MemoryStore::default();
    let table = |name: &str, attributes: Value, keys: Value| {
        let definitions = json!({"TableName": name, "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": attributes, "KeySchema": keys});
        ok(&store, "CreateTable", definitions);
    };
    table(
        "Hash1",
        json!([{"AttributeName": "pk", "AttributeType": "S"}]),
        json!([{"AttributeName": "pk", "KeyType": "HASH"}]),
    );
    for kind in ["S", "B"] {
        table(
            &format!("Keys{kind}"),
            json!([{"AttributeName": "pk", "AttributeType": kind}, {"AttributeName": "sk", "AttributeType": kind}]),
            json!([{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]),
        );
    }
    store
}

/// The text of a refusal; empty for a success.
fn text(store: &MemoryStore, operation: &str, request: &Value) -> String {
    let (status, answer) = call(store, operation, request);
    let text = answer["message"].as_str().unwrap_or_default();
    assert_eq!(status == 200, text.is_empty(), "{operation}: {answer}");
    text.to_owned()
}

/// `{"S":…}` or `{"B":…}` of a length in bytes.
fn scalar(kind: &str, length: usize) -> Value {
    let bytes = "x".repeat(length);
    match kind {
        "B" => json!({"B": STANDARD.encode(bytes)}),
        _ => json!({"S": bytes}),
    }
}

/// Requests that take this key, by what they are.
fn with_key(table: &str, pk: &Value, sk: &Value) -> Vec<(&'static str, Value)> {
    let key = json!({"pk": pk, "sk": sk});
    let query = |condition: &str| {
        json!({"TableName": table, "KeyConditionExpression": condition,
            "ExpressionAttributeValues": {":p": pk, ":s": sk}})
    };
    vec![
        ("PutItem", json!({"TableName": table, "Item": key})),
        ("GetItem", json!({"TableName": table, "Key": key})),
        (
            "UpdateItem",
            json!({"TableName": table, "Key": key, "UpdateExpression": "SET a = pk"}),
        ),
        ("DeleteItem", json!({"TableName": table, "Key": key})),
        ("BatchGetItem", json!({"RequestItems": {table: {"Keys": [key]}}})),
        (
            "BatchWriteItem",
            json!({"RequestItems": {table: [{"PutRequest": {"Item": key}}]}}),
        ),
        (
            "BatchWriteItem",
            json!({"RequestItems": {table: [{"DeleteRequest": {"Key": key}}]}}),
        ),
        ("Query", query("pk = :p AND sk = :s")),
        ("Query", query("pk = :p AND sk > :s")),
        ("Query", query("pk = :p AND begins_with(sk, :s)")),
        ("Query", query("pk = :p AND sk BETWEEN :s AND :s")),
    ]
}

#[test]
fn keys_have_their_sizes_on_every_operation() {
    let store = store();
    for kind in ["S", "B"] {
        let table = format!("Keys{kind}");
        for (hash, range, wanted) in [
            (1, 1, ""),
            (2048, 1024, ""),
            (2048, 1, ""),
            (1, 1024, ""),
            (2049, 1, HASH_TOO_LONG),
            (1, 1025, RANGE_TOO_LONG),
            (2049, 1025, HASH_TOO_LONG),
        ] {
            for (operation, request) in with_key(&table, &scalar(kind, hash), &scalar(kind, range)) {
                let text = text(&store, operation, &request);
                assert_eq!(text, wanted, "{operation} {kind} {hash} {range}");
            }
        }
    }
}

#[test]
fn empty_keys_are_refused_on_every_operation() {
    let store = store();
    for (kind, called) in [("S", "string"), ("B", "binary")] {
        let table = format!("Keys{kind}");
        let empty = |key: &str| {
            format!(
                "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain \
                 an empty {called} value. Key: {key}"
            )
        };
        for (hash, range, wanted) in [(0, 1, empty("pk")), (1, 0, empty("sk")), (0, 0, empty("pk"))] {
            for (operation, request) in with_key(&table, &scalar(kind, hash), &scalar(kind, range)) {
                assert_eq!(text(&store, operation, &request), wanted, "{operation} {kind}");
            }
        }
    }
}

/// The size of a string counts its bytes, not its characters.
#[test]
fn keys_are_measured_in_bytes() {
    let store = store();
    let key = |pk: String| json!({"TableName": "Hash1", "Item": {"pk": {"S": pk}}});
    assert_eq!(text(&store, "PutItem", &key("é".repeat(1024))), "");
    assert_eq!(
        text(&store, "PutItem", &key("é".repeat(1024) + "x")),
        HASH_TOO_LONG
    );
    assert_eq!(text(&store, "PutItem", &key("😀".repeat(512))), "");
    assert_eq!(text(&store, "PutItem", &key("😀".repeat(513))), HASH_TOO_LONG);
}

#[test]
fn numbers_have_the_measured_sizes() {
    for (texts, bytes) in [
        (&["0", "-0", "0.000"][..], 1),
        (&["1", "12", "100", "0042", "120"], 2),
        (&["123", "1234"], 3),
        (&["12345", "123456"], 4),
        (&["-12345"], 5),
        (&["1010"], 3),
        (&["1.5", "1.2", "1.200"], 3),
        (&["1.234", "100.5"], 4),
        (&["3.14159"], 5),
        (&["1234567890123456789"], 11),
        (&["0.15", "0.015"], 2),
        (&["-0.15", "-42", "-1E125"], 3),
        (&["0.0000001", "1E125", "1E-100"], 2),
        (&["12345678901234567890123456789012345678"], 20),
        (&["-1234567890123456789.0123456789012345678"], 22),
    ] {
        for text in texts {
            let number = Number::parse(text).expect("a number");
            assert_eq!(number.size(), bytes, "{text}");
        }
    }
    // One digit more before the point and one after make two pairs more.
    let longest = Number::parse("-1234567890123456789.0123456789012345678").expect("a number");
    assert_eq!(longest.size(), 1 + 10 + 10 + 1);
}

#[test]
fn values_have_the_documented_sizes() {
    use AttributeValue::*;
    let s = |text: &str| S(text.into());
    let set = |members: &[&str]| members.iter().map(|member| member.to_string()).collect();
    for (value, bytes) in [
        (s(""), 0),
        (s("é😀"), 6),
        (B(vec![0; 5]), 5),
        (B(vec![]), 0),
        (Bool(false), 1),
        (Null, 1),
        (Ss(set(&["", "ab", "c"])), 3),
        (
            Ns([1u64, 100, 12345].into_iter().map(Number::from).collect()),
            2 + 2 + 4,
        ),
        (Bs([vec![], vec![1, 2]].into_iter().collect()), 2),
        (L(vec![]), 3),
        (L(vec![s("aa"), Null]), 3 + (1 + 2) + (1 + 1)),
        (M([].into_iter().collect()), 3),
        (M([("é".to_owned(), s("a"))].into_iter().collect()), 3 + 2 + 1 + 1),
        (L(vec![s("aa"); 1500]), 3 + 1500 * 3),
    ] {
        assert_eq!(value_size(&value), bytes, "{value:?}");
    }
    let item = [("pk".to_owned(), s("abc")), ("é".to_owned(), Null)];
    assert_eq!(attributes_size(&item.into_iter().collect()), 2 + 3 + 2 + 1);
}

/// Values that make an item of key `pk` = `a` and one attribute `v` a size in bytes, each by other means.
fn values_for(item_bytes: usize) -> Vec<Value> {
    let bytes = item_bytes - 3 - 1;
    let text = |length: usize| json!({"S": "x".repeat(length)});
    vec![
        text(bytes),
        json!({"S": "é".repeat(bytes / 2) + &"x".repeat(bytes % 2)}),
        json!({"B": STANDARD.encode(vec![7; bytes])}),
        json!({"L": [text(bytes - 3 - 1 - 1 - 2), {"N": "1"}]}),
        json!({"M": {"abc": text(bytes - 3 - 3 - 1)}}),
        json!({"SS": ["", "x".repeat(bytes - 1), "y"]}),
        json!({"BS": [STANDARD.encode(vec![7; bytes])]}),
    ]
}

#[test]
fn every_write_takes_an_item_of_the_largest_size_and_none_larger() {
    let store = store();
    for bytes in [ITEM_MAX_BYTES, ITEM_MAX_BYTES + 1] {
        let fits = bytes == ITEM_MAX_BYTES;
        let wanted = |refusal: &'static str| if fits { "" } else { refusal };
        for value in values_for(bytes) {
            let item = json!({"pk": {"S": "a"}, "v": value});
            let put = json!({"TableName": "Hash1", "Item": item});
            assert_eq!(text(&store, "PutItem", &put), wanted(TOO_LARGE));
            let batch = json!({"RequestItems": {"Hash1": [{"PutRequest": {"Item": item}}]}});
            assert_eq!(text(&store, "BatchWriteItem", &batch), wanted(TOO_LARGE));
            let updates = json!({"TableName": "Hash1", "Key": {"pk": {"S": "b"}},
                "AttributeUpdates": {"v": {"Value": value}}});
            assert_eq!(text(&store, "UpdateItem", &updates), wanted(UPDATE_TOO_LARGE));
        }
        // An update's charge is more than what it writes, so the finished item is made in two steps.
        let key = json!({"pk": {"S": "c"}});
        ok(&store, "DeleteItem", json!({"TableName": "Hash1", "Key": key}));
        let half = json!({"S": "x".repeat(ITEM_MAX_BYTES / 2)});
        ok(
            &store,
            "UpdateItem",
            json!({"TableName": "Hash1", "Key": key, "UpdateExpression": "SET v = :v",
                "ExpressionAttributeValues": {":v": half}}),
        );
        let rest = bytes - 3 - 1 - ITEM_MAX_BYTES / 2 - 1;
        let update = json!({"TableName": "Hash1", "Key": key, "UpdateExpression": "SET w = :v",
            "ExpressionAttributeValues": {":v": {"S": "y".repeat(rest)}}});
        assert_eq!(text(&store, "UpdateItem", &update), wanted(UPDATE_TOO_LARGE));
    }
}

/// A put too large is refused before the table is looked up, an update after.
#[test]
fn the_size_has_its_place_in_the_order() {
    let store = store();
    let item = json!({"pk": {"S": "a"}, "v": {"S": "x".repeat(ITEM_MAX_BYTES)}});
    let put = json!({"TableName": "nope", "Item": item});
    assert_eq!(text(&store, "PutItem", &put), TOO_LARGE);
    let batch = json!({"RequestItems": {"nope": [{"PutRequest": {"Item": item}}]}});
    assert_eq!(text(&store, "BatchWriteItem", &batch), TOO_LARGE);
    let update = |table: &str, key: Value, expression: &str| {
        json!({"TableName": table, "Key": key, "UpdateExpression": expression,
            "ConditionExpression": "attribute_exists(zz)",
            "ExpressionAttributeValues": {":v": {"S": "x".repeat(ITEM_MAX_BYTES)}}})
    };
    let key = json!({"pk": {"S": "a"}});
    let missing = "Requested resource not found";
    assert_eq!(
        text(&store, "UpdateItem", &update("nope", key.clone(), "SET v = :v")),
        missing
    );
    let schema = "The provided key element does not match the schema";
    let other = json!({"x": {"S": "a"}});
    assert_eq!(
        text(&store, "UpdateItem", &update("Hash1", other, "SET v = :v")),
        schema
    );
    // Ahead of the condition and of a key among the targets.
    assert_eq!(
        text(&store, "UpdateItem", &update("Hash1", key.clone(), "SET v = :v")),
        UPDATE_TOO_LARGE
    );
    assert_eq!(
        text(&store, "UpdateItem", &update("Hash1", key, "SET pk = :v")),
        UPDATE_TOO_LARGE
    );
}

/// Statements, and what each is charged with besides the bytes of its one value `:v`.
const CHARGES: &[(&str, usize)] = &[
    ("SET a = :v", 3 + 19 + 1),
    ("SET abc = :v", 3 + 19 + 3),
    ("SET #n = :v", 3 + 19 + 2),
    ("SET a = (:v)", 3 + 19 + 1),
    ("SET a.bc = :v", 3 + 19 + 1 + (4 + 2)),
    ("SET a[10] = :v", 3 + 19 + 1 + (4 + 2)),
    ("SET a[3].b.c = :v", 3 + 19 + 1 + (4 + 1) * 3),
    ("SET a = if_not_exists(b, :v)", 3 + 19 + 1 + 39 + (1 + 14 + 1)),
    (
        "SET a = if_not_exists(b.c[0], :v)",
        3 + 19 + 1 + 39 + 1 + (14 + 1) * 3,
    ),
    ("SET a = list_append(b, :v)", 3 + 19 + 1 + 37 + (1 + 14 + 1)),
    ("SET a = list_append(:v, b)", 3 + 19 + 1 + 37 + (1 + 14 + 1)),
    ("SET a = :v, b = c", 3 + (19 + 1) + (19 + 1 + 1 + 14 + 1)),
    ("SET a = :v REMOVE b", 3 + (19 + 1) + (1 + 1)),
    (
        "SET a = :v REMOVE b.c, d[7]",
        3 + (19 + 1) + (1 + 1 + 5) + (1 + 1 + 5),
    ),
    ("SET a = :v, b = c + d", 3 + (19 + 1) + (19 + 1) + 34 + 16 + 16),
    ("SET a = :v, b = c - d", 3 + (19 + 1) + (19 + 1) + 37 + 16 + 16),
    ("ADD a :v", 3 + 19 + 1),
    ("ADD a.b :v", 3 + 19 + 1 + 5),
    ("DELETE b :w ADD a :v", 3 + (1 + 1) + (19 + 1)),
];

#[test]
fn an_update_is_charged_to_the_byte() {
    let store = store();
    for (expression, charge) in CHARGES {
        for (over, wanted) in [(0, "The conditional request failed"), (1, UPDATE_TOO_LARGE)] {
            let bytes = ITEM_MAX_BYTES - charge + over;
            let value = if expression.contains("list_append") {
                json!({"L": [{"S": "x".repeat(bytes - 4)}]})
            } else if expression.contains("ADD") {
                json!({"SS": ["x".repeat(bytes)]})
            } else {
                json!({"S": "x".repeat(bytes)})
            };
            let mut request = json!({"TableName": "Hash1", "Key": {"pk": {"S": "a"}},
                "UpdateExpression": expression, "ConditionExpression": "attribute_exists(zz)",
                "ExpressionAttributeValues": {":v": value}});
            if expression.contains(":w") {
                request["ExpressionAttributeValues"][":w"] = json!({"SS": ["x"]});
            }
            if expression.contains("#n") {
                request["ExpressionAttributeNames"] = json!({"#n": "é"});
            }
            assert_eq!(
                text(&store, "UpdateItem", &request),
                wanted,
                "{expression} {over}"
            );
        }
    }
    // A value counts at each of its uses; a deleted set does not count.
    for (expression, charge, uses) in [
        ("SET a = :v, b = :v", 3 + 20 + 20, 2),
        ("DELETE a :v SET b = :v", 3 + 2 + 20, 1),
    ] {
        let bytes = (ITEM_MAX_BYTES - charge) / uses;
        for (over, wanted) in [(0, "The conditional request failed"), (1, UPDATE_TOO_LARGE)] {
            let request = json!({"TableName": "Hash1", "Key": {"pk": {"S": "a"}},
                "UpdateExpression": expression, "ConditionExpression": "attribute_exists(zz)",
                "ExpressionAttributeValues": {":v": {"SS": ["x".repeat(bytes + over)]}}});
            assert_eq!(
                text(&store, "UpdateItem", &request),
                wanted,
                "{expression} {over}"
            );
        }
    }
}

const NAME_TOO_LARGE: &str = "Attribute name is too large, must be less than 65536 bytes";

/// Requests with an attribute name of that many bytes, in every place that takes one, and the prefix of their refusal.
fn with_name(bytes: usize) -> Vec<(&'static str, &'static str, Value, &'static str)> {
    const PREFIX: &str = "1 validation error detected: ";
    let name = "n".repeat(bytes);
    let key = json!({"pk": {"S": "a"}});
    let with = |mut request: Value, member: &str, value: Value| {
        request["TableName"] = json!("Hash1");
        request[member] = value;
        request
    };
    let item = |value: Value| json!({"pk": {"S": "a"}, "v": value});
    let map = json!({"M": {&*name: {"NULL": true}}});
    let names = json!({"#n": name});
    let reads = json!({"Key": key, "ProjectionExpression": "#n"});
    let condition = json!({"ConditionExpression": "attribute_not_exists(#n)"});
    vec![
        (
            "top level",
            "PutItem",
            with(json!({}), "Item", json!({"pk": {"S": "a"}, &*name: {"S": ""}})),
            PREFIX,
        ),
        (
            "map",
            "PutItem",
            with(json!({}), "Item", item(map.clone())),
            PREFIX,
        ),
        (
            "map in a list",
            "PutItem",
            with(json!({}), "Item", item(json!({"L": [map]}))),
            PREFIX,
        ),
        (
            "values",
            "UpdateItem",
            with(
                json!({"Key": key, "UpdateExpression": "SET v = :v"}),
                "ExpressionAttributeValues",
                json!({":v": map}),
            ),
            PREFIX,
        ),
        (
            "names",
            "UpdateItem",
            with(
                json!({"Key": key, "UpdateExpression": "REMOVE #n"}),
                "ExpressionAttributeNames",
                names.clone(),
            ),
            PREFIX,
        ),
        (
            "names",
            "DeleteItem",
            with(
                json!({"Key": key, "ConditionExpression": condition["ConditionExpression"]}),
                "ExpressionAttributeNames",
                names.clone(),
            ),
            PREFIX,
        ),
        (
            "names",
            "GetItem",
            with(reads.clone(), "ExpressionAttributeNames", names.clone()),
            "",
        ),
        (
            "names",
            "Scan",
            with(
                json!({"ProjectionExpression": "#n"}),
                "ExpressionAttributeNames",
                names.clone(),
            ),
            "",
        ),
        (
            "item",
            "BatchWriteItem",
            json!({"RequestItems": {"Hash1": [{"PutRequest": {"Item": {"pk": {"S": "a"}, &*name: {"S": ""}}}}]}}),
            "",
        ),
        (
            "updates",
            "UpdateItem",
            with(
                json!({"Key": key}),
                "AttributeUpdates",
                json!({&*name: {"Action": "DELETE"}}),
            ),
            PREFIX,
        ),
        (
            "expected",
            "DeleteItem",
            with(
                json!({"Key": key}),
                "Expected",
                json!({&*name: {"Exists": false}}),
            ),
            PREFIX,
        ),
        (
            "attributes",
            "GetItem",
            with(json!({"Key": key}), "AttributesToGet", json!([name])),
            "",
        ),
    ]
}

#[test]
fn names_of_attributes_have_up_to_65535_bytes_everywhere() {
    let store = store();
    for (bytes, fits) in [(65_535, true), (65_536, false)] {
        for (place, operation, request, prefix) in with_name(bytes) {
            let wanted = if fits {
                String::new()
            } else {
                format!("{prefix}{NAME_TOO_LARGE}")
            };
            assert_eq!(text(&store, operation, &request), wanted, "{operation} {place}");
        }
    }
}
