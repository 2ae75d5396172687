//! The parameters from before there were expressions: sizes too large for a row of a table of cases, the item that a failed
//! condition answers, the old request layer.

mod served;

use extenddb_core::{store_suite::MemoryStore, wire::Layer};
use serde_json::{Value, json};
use served::{call, call_on, ok};

fn hash_table() -> MemoryStore {
    let store = MemoryStore::default();
    ok(
        &store,
        "CreateTable",
        json!({"TableName": "Hash1", "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]}),
    );
    store
}

fn text(answer: &Value) -> &str {
    answer["message"].as_str().unwrap_or_default()
}

/// An expression is charged by its statement; AttributeUpdates are not, so a value may fill the item.
#[test]
fn attribute_updates_are_measured_by_the_finished_item_alone() {
    let store = hash_table();
    let update = |bytes: usize, expected: Value| {
        let request = json!({"TableName": "Hash1", "Key": {"pk": {"S": "k"}}, "Expected": expected,
            "AttributeUpdates": {"a": {"Value": {"S": "x".repeat(bytes)}}}});
        let (status, answer) = call(&store, "UpdateItem", &request);
        (status, text(&answer).to_owned())
    };
    // The names `pk` and `a`, the value `k`: 4 bytes.
    assert_eq!(update(409_596, json!({})), (200, String::new()));
    assert_eq!(
        update(409_597, json!({})),
        (
            400,
            "Item size to update has exceeded the maximum allowed size".into()
        )
    );
    assert_eq!(
        update(409_597, json!({"pk": {"Exists": false}})),
        (400, "The conditional request failed".into())
    );
}

#[test]
fn a_failed_expectation_answers_the_item_that_was_asked_for() {
    let store = hash_table();
    let item = json!({"pk": {"S": "k"}, "v": {"N": "1"}});
    ok(&store, "PutItem", json!({"TableName": "Hash1", "Item": item}));
    let mut request = json!({"TableName": "Hash1", "Key": {"pk": {"S": "k"}}, "Expected": {"v": {"Exists": false}},
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD"});
    let (_, answer) = call(&store, "DeleteItem", &request);
    assert_eq!(
        (text(&answer), &answer["Item"]),
        ("The conditional request failed", &item)
    );
    request["Key"]["pk"]["S"] = json!("none");
    request["Expected"] = json!({"pk": {"ComparisonOperator": "NOT_NULL"}});
    let (_, answer) = call(&store, "DeleteItem", &request);
    assert_eq!(
        (text(&answer), answer.get("Item")),
        ("The conditional request failed", None)
    );
}

#[test]
fn on_the_old_layer_nothing_but_constraints_has_a_prefix() {
    let store = hash_table();
    let said = |operation: &str, mut request: Value| {
        request["TableName"] = json!("Hash1");
        let (status, answer) = call_on(Layer::Old, &store, operation, &request);
        assert_eq!(status, 400);
        text(&answer).to_owned()
    };
    let item = json!({"pk": {"S": "k"}});
    assert_eq!(
        said("PutItem", json!({"Item": item, "Expected": {"a": {}}})),
        "One or more parameter values were invalid: Value must be provided when Exists is null for Attribute: a"
    );
    assert_eq!(
        said("PutItem", json!({"Item": item, "ConditionalOperator": "AND"})),
        "ConditionalOperator cannot be used without Filter or Expected"
    );
    assert_eq!(
        said(
            "UpdateItem",
            json!({"Key": item, "AttributeUpdates": {"a": {"Action": "SET"}}})
        ),
        "Member must satisfy enum value set: [ADD, DELETE, PUT]' for Action"
    );
    // Mixed parameters come before values there.
    let mixed = json!({"Item": item, "Expected": {"a": {"Value": {"N": "q"}}}, "ConditionExpression": "attribute_exists(a)"});
    assert!(said("PutItem", mixed).starts_with("Can not use both expression and non-expression parameters"));
    assert_eq!(
        said("Scan", json!({"ScanFilter": {"a": {"ComparisonOperator": "eq"}}})),
        "1 validation error detected: Value 'eq' at 'scanFilter.a.member.comparisonOperator' failed to satisfy constraint: \
         Member must satisfy enum value set: [IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, BEGINS_WITH, GE, \
         CONTAINS]"
    );
    let query = json!({"KeyConditions": {"pk": {"ComparisonOperator": "eq"}}});
    assert_eq!(
        said("Query", query),
        "One or more parameter values were invalid: Invalid comparison operator"
    );
}
