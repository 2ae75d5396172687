//! Which of two faults answers: every pair of an operation's faults, asked together.       behaviour/items §order-of-checks

mod served;

use extenddb_core::store_suite::MemoryStore;
use serde_json::{Map, Value, json};
use served::{call, ok};

/// A fault: what it puts into the request, and what it answers. Members of maps are added to those that are there.
struct Fault {
    name: &'static str,
    members: Value,
    text: &'static str,
    /// Faults that cannot stand in one request with this.
    without: &'static [&'static str],
}

fn fault(name: &'static str, members: Value, text: &'static str, without: &'static [&'static str]) -> Fault {
    Fault {
        name,
        members,
        text,
        without,
    }
}

/// Range1 has the key pk, sk (S) and the indexes gsi on g, h (S) and lsi on lk (N); one item stands in it.
fn store() -> MemoryStore {
    let store = MemoryStore::default();
    ok(
        &store,
        "CreateTable",
        json!({"TableName": "Range1", "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "sk", "AttributeType": "S"}, {"AttributeName": "g", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            "GlobalSecondaryIndexes": [{"IndexName": "gsi", "Projection": {"ProjectionType": "ALL"},
                "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}]}]}),
    );
    let item = json!({"pk": {"S": "a"}, "sk": {"S": "b"}, "s": {"S": "x"}});
    ok(&store, "PutItem", json!({"TableName": "Range1", "Item": item}));
    store
}

fn merge(into: &mut Map<String, Value>, members: &Value) {
    for (name, value) in members.as_object().expect("members") {
        match (into.get_mut(name), value) {
            (Some(Value::Object(known)), Value::Object(_)) if !matches!(name.as_str(), "pk" | "sk" | "g") => {
                merge(known, value);
            }
            _ => {
                into.insert(name.clone(), value.clone());
            }
        }
    }
}

/// Faults stand in the order in which they are checked. Two that set the same member cannot be asked together: the later one
/// is put in first, so that the earlier stands.
fn check(operation: &str, base: Value, faults: &[Fault]) {
    let store = store();
    let mut failed = Vec::new();
    let mut ask = |of: &[&Fault]| {
        let mut request = base.as_object().expect("an object").clone();
        for fault in of.iter().rev() {
            merge(&mut request, &fault.members);
        }
        let request = Value::Object(request);
        let (_, answer) = call(&store, operation, &request);
        let found = answer["message"].as_str().unwrap_or_default().to_owned();
        let wanted = of[0].text;
        // Some echo what they refuse.
        let is_wanted = match wanted.strip_suffix('…') {
            Some(head) => found.starts_with(head),
            None => found == wanted,
        };
        if !is_wanted {
            let names: Vec<_> = of.iter().map(|fault| fault.name).collect();
            failed.push(format!("{names:?}\n    {found}\n  not\n    {wanted}"));
        }
    };
    for (place, first) in faults.iter().enumerate() {
        ask(&[first]);
        for later in &faults[place + 1..] {
            if !first.without.contains(&later.name) && !later.without.contains(&first.name) {
                ask(&[first, later]);
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{operation}: {} failed:\n{}",
        failed.len(),
        failed.join("\n")
    );
}

const V1_NUMBER: &str =
    "1 validation error detected: The parameter cannot be converted to a numeric value: x";
const NUMBER: &str = "The parameter cannot be converted to a numeric value: x";
const CAPACITY: &str = "1 validation error detected: Value 'X' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]";
const CAPACITY_BARE: &str = "Value 'X' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]";
const MISSING: &str = "Requested resource not found";
const SCHEMA: &str = "The provided key element does not match the schema";
const FAILED: &str = "The conditional request failed";

#[test]
fn put_item() {
    let item = json!({"pk": {"S": "a"}, "sk": {"S": "b"}});
    let faults = [
        fault("member", json!({"ReturnConsumedCapacity": "X"}), CAPACITY, &[]),
        fault("value", json!({"Item": {"n": {"N": "x"}}}), V1_NUMBER, &[]),
        fault(
            "mixing",
            json!({"Expected": {}, "ConditionExpression": "attribute_exists(s)"}),
            "1 validation error detected: Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}",
            &["names-alone", "values-alone", "expected"],
        ),
        fault(
            "names-alone",
            json!({"ExpressionAttributeNames": {"#a": "a"}}),
            "1 validation error detected: ExpressionAttributeNames can only be specified when using expressions",
            &[
                "condition-syntax",
                "names-key",
                "values-key",
                "unused",
                "condition-false",
                "names-empty",
            ],
        ),
        fault(
            "values-alone",
            json!({"ExpressionAttributeValues": {":a": {"S": "a"}}}),
            "1 validation error detected: ExpressionAttributeValues can only be specified when using expressions",
            &[
                "condition-syntax",
                "names-key",
                "values-key",
                "unused",
                "condition-false",
                "names-empty",
            ],
        ),
        fault(
            "names-empty",
            json!({"ExpressionAttributeNames": {}, "ConditionExpression": "attribute_exists(s)"}),
            "1 validation error detected: ExpressionAttributeNames must not be empty",
            &["names-key", "unused", "expected", "condition-false"],
        ),
        fault(
            "names-key",
            json!({"ExpressionAttributeNames": {"a": "a"}, "ConditionExpression": "attribute_exists(s)"}),
            "ExpressionAttributeNames contains invalid key: Syntax error; key: \"a\"",
            &["expected"],
        ),
        fault(
            "values-key",
            json!({"ExpressionAttributeValues": {"a": {"S": "a"}}, "ConditionExpression": "attribute_exists(s)"}),
            "ExpressionAttributeValues contains invalid key: Syntax error; key: \"a\"",
            &["expected"],
        ),
        fault(
            "expected",
            json!({"Expected": {"s": {"Exists": true}}}),
            "1 validation error detected: One or more parameter values were invalid: Value must be provided when Exists is true for Attribute: s…",
            &["condition-syntax", "unused", "condition-false"],
        ),
        fault(
            "condition-syntax",
            json!({"ConditionExpression": "("}),
            "1 validation error detected: Invalid ConditionExpression: Syntax error; token: \"<EOF>\", near: \"(\"",
            &["condition-false"],
        ),
        fault(
            "return-values",
            json!({"ReturnValues": "ALL_NEW"}),
            "1 validation error detected: ReturnValues can only be ALL_OLD or NONE",
            &[],
        ),
        fault(
            "unused",
            json!({"ConditionExpression": "attribute_exists(s)", "ExpressionAttributeNames": {"#u": "u"}}),
            "1 validation error detected: Value provided in ExpressionAttributeNames unused in expressions: keys: {#u}",
            &[],
        ),
        fault(
            "size",
            json!({"Item": {"large": {"S": "x".repeat(409_600)}}}),
            "Item size has exceeded the maximum allowed size",
            &[],
        ),
        fault("table", json!({"TableName": "nope"}), MISSING, &[]),
        fault(
            "hash",
            json!({"Item": {"pk": {"N": "1"}}}),
            "One or more parameter values were invalid: Type mismatch for key pk expected: S actual: N",
            &[],
        ),
        fault(
            "range",
            json!({"Item": {"sk": {"S": ""}}}),
            "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: sk",
            &[],
        ),
        fault(
            "index",
            json!({"Item": {"g": {"N": "1"}}}),
            "One or more parameter values were invalid: Type mismatch for Index Key g Expected: S Actual: N IndexName: gsi",
            &[],
        ),
        fault(
            "condition-false",
            json!({"ConditionExpression": "attribute_not_exists(s)"}),
            FAILED,
            &["unused"],
        ),
    ];
    check("PutItem", json!({"TableName": "Range1", "Item": item}), &faults);
}

#[test]
fn update_item() {
    const EMPTY_SET: &str = "One or more parameter values were invalid: An string set  may not be empty";
    let no_expressions: &[&str] = &["names-alone", "values-alone", "updates", "expected"];
    let faults = [
        fault(
            "member",
            json!({"ReturnConsumedCapacity": "X"}),
            CAPACITY_BARE,
            &[],
        ),
        fault("value", json!({"Key": {"n": {"N": "x"}}}), V1_NUMBER, &[]),
        fault(
            "mixing",
            json!({"AttributeUpdates": {}, "UpdateExpression": "REMOVE z"}),
            "1 validation error detected: Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {AttributeUpdates} Expression parameters: {UpdateExpression…",
            &[
                "names-alone",
                "values-alone",
                "updates",
                "expected",
                "update-empty",
                "condition-empty",
                "condition-syntax",
                "condition-false",
            ],
        ),
        fault(
            "names-alone",
            json!({"ExpressionAttributeNames": {"#a": "a"}}),
            "1 validation error detected: ExpressionAttributeNames can only be specified when using expressions",
            &[
                "names-key",
                "values-set",
                "update-empty",
                "update-syntax",
                "condition-empty",
                "condition-syntax",
                "unused",
                "charge",
                "key-target",
                "index",
                "condition-false",
                "missing-attribute",
                "result",
            ],
        ),
        fault(
            "values-alone",
            json!({"ExpressionAttributeValues": {":a": {"S": "a"}}}),
            "1 validation error detected: ExpressionAttributeValues can only be specified when using expressions",
            &[
                "names-key",
                "values-set",
                "update-empty",
                "update-syntax",
                "condition-empty",
                "condition-syntax",
                "unused",
                "charge",
                "key-target",
                "index",
                "condition-false",
                "missing-attribute",
                "result",
            ],
        ),
        fault(
            "names-key",
            json!({"ExpressionAttributeNames": {"a": "a"}, "UpdateExpression": "REMOVE z"}),
            "ExpressionAttributeNames contains invalid key: Syntax error; key: \"a\"",
            no_expressions,
        ),
        fault(
            "values-set",
            json!({"ExpressionAttributeValues": {":a": {"SS": []}}, "UpdateExpression": "REMOVE z"}),
            "1 validation error detected: ExpressionAttributeValues contains invalid value: One or more parameter values were invalid: An string set  may not be empty for key :a",
            no_expressions,
        ),
        fault("key-set", json!({"Key": {"x": {"SS": []}}}), EMPTY_SET, &[]),
        fault(
            "updates",
            json!({"AttributeUpdates": {"a": {"Action": "ADD"}}}),
            "One or more parameter values were invalid: Only DELETE action is allowed when no attribute value is specified",
            &[
                "update-empty",
                "update-syntax",
                "condition-empty",
                "condition-syntax",
                "unused",
                "charge",
                "key-target",
                "index",
                "condition-false",
                "missing-attribute",
                "result",
            ],
        ),
        fault(
            "expected",
            json!({"Expected": {"s": {"Exists": true}}}),
            "1 validation error detected: One or more parameter values were invalid: Value must be provided when Exists is true for Attribute: s…",
            &[
                "update-empty",
                "update-syntax",
                "condition-empty",
                "condition-syntax",
                "unused",
                "charge",
                "key-target",
                "index",
                "condition-false",
                "missing-attribute",
                "result",
            ],
        ),
        fault(
            "condition-empty",
            json!({"ConditionExpression": ""}),
            "1 validation error detected: Invalid ConditionExpression: The expression can not be empty;",
            &["condition-syntax", "condition-false"],
        ),
        fault(
            "update-empty",
            json!({"UpdateExpression": ""}),
            "1 validation error detected: Invalid UpdateExpression: The expression can not be empty;",
            &["update-syntax"],
        ),
        fault(
            "update-syntax",
            json!({"UpdateExpression": "SET"}),
            "1 validation error detected: Invalid UpdateExpression: Syntax error; token: \"<EOF>\", near: \"SET\"",
            &[],
        ),
        fault(
            "condition-syntax",
            json!({"ConditionExpression": "("}),
            "1 validation error detected: Invalid ConditionExpression: Syntax error; token: \"<EOF>\", near: \"(\"",
            &["condition-false"],
        ),
        fault(
            "unused",
            json!({"UpdateExpression": "REMOVE z", "ExpressionAttributeNames": {"#u": "u"}}),
            "1 validation error detected: Value provided in ExpressionAttributeNames unused in expressions: keys: {#u}",
            // They bring values of their own, which the expression here does not use.
            &[],
        ),
        fault("table", json!({"TableName": "nope"}), MISSING, &[]),
        fault("key", json!({"Key": {"sk": {"N": "1"}}}), SCHEMA, &[]),
        fault(
            "charge",
            json!({"UpdateExpression": "SET a = :large", "ExpressionAttributeValues": {":large": {"S": "x".repeat(409_600)}}}),
            "Item size to update has exceeded the maximum allowed size",
            &["key-target", "index", "missing-attribute", "result"],
        ),
        fault(
            "key-target",
            json!({"UpdateExpression": "SET pk = s"}),
            "One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key",
            &["index", "missing-attribute", "result"],
        ),
        fault(
            "index",
            json!({"UpdateExpression": "SET g = :one", "ExpressionAttributeValues": {":one": {"N": "1"}}}),
            "One or more parameter values were invalid: Type mismatch for Index Key g Expected: S Actual: N IndexName: gsi",
            &["missing-attribute", "result"],
        ),
        fault(
            "condition-false",
            json!({"ConditionExpression": "attribute_not_exists(s)"}),
            FAILED,
            &[],
        ),
        fault(
            "missing-attribute",
            json!({"UpdateExpression": "SET a = zz"}),
            "The provided expression refers to an attribute that does not exist in the item",
            &["result"],
        ),
    ];
    let key = json!({"pk": {"S": "a"}, "sk": {"S": "b"}});
    check("UpdateItem", json!({"TableName": "Range1", "Key": key}), &faults);
}

#[test]
fn get_item() {
    let alone: &[&str] = &[
        "names-key",
        "projection-syntax",
        "unused",
        "key-path",
        "duplicate",
    ];
    let faults = [
        fault("member", json!({"ReturnConsumedCapacity": "X"}), CAPACITY, &[]),
        fault("value", json!({"Key": {"n": {"N": "x"}}}), NUMBER, &[]),
        fault(
            "mixing",
            json!({"AttributesToGet": ["a"], "ProjectionExpression": "a"}),
            "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}",
            &["names-alone", "duplicate"],
        ),
        fault(
            "names-alone",
            json!({"ExpressionAttributeNames": {"#a": "a"}}),
            "ExpressionAttributeNames can only be specified when using expressions",
            &["names-key", "projection-syntax", "unused", "key-path"],
        ),
        fault(
            "names-key",
            json!({"ExpressionAttributeNames": {"a": "a"}, "ProjectionExpression": "a"}),
            "ExpressionAttributeNames contains invalid key: Syntax error; key: \"a\"",
            &["duplicate"],
        ),
        fault(
            "key-set",
            json!({"Key": {"x": {"SS": []}}}),
            "One or more parameter values were invalid: An string set  may not be empty",
            &[],
        ),
        fault(
            "duplicate",
            json!({"AttributesToGet": ["a", "a"]}),
            "One or more parameter values were invalid: Duplicate value in attribute name: a",
            alone,
        ),
        fault(
            "projection-syntax",
            json!({"ProjectionExpression": "a,"}),
            "Invalid ProjectionExpression: Syntax error; token: \"<EOF>\", near: \",\"",
            &["key-path"],
        ),
        fault(
            "unused",
            json!({"ProjectionExpression": "a", "ExpressionAttributeNames": {"#u": "u"}}),
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#u}",
            &[],
        ),
        fault("table", json!({"TableName": "nope"}), MISSING, &[]),
        fault("key", json!({"Key": {"sk": {"N": "1"}}}), SCHEMA, &[]),
        fault(
            "key-path",
            json!({"ProjectionExpression": "pk[0]"}),
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: pk",
            &[],
        ),
    ];
    let key = json!({"pk": {"S": "a"}, "sk": {"S": "b"}});
    check("GetItem", json!({"TableName": "Range1", "Key": key}), &faults);
}

#[test]
fn delete_item() {
    let faults = [
        fault(
            "member",
            json!({"ReturnConsumedCapacity": "X"}),
            CAPACITY,
            &["return-values"],
        ),
        fault(
            "return-values",
            json!({"ReturnValues": "ALL_NEW"}),
            "1 validation error detected: ReturnValues can only be ALL_OLD or NONE",
            &[],
        ),
        fault("value", json!({"Key": {"n": {"N": "x"}}}), V1_NUMBER, &[]),
        fault(
            "mixing",
            json!({"ConditionalOperator": "AND", "ConditionExpression": "attribute_exists(s)"}),
            "1 validation error detected: Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {ConditionalOperator…",
            &["names-alone", "expected", "join"],
        ),
        fault(
            "names-alone",
            json!({"ExpressionAttributeNames": {"#a": "a"}}),
            "1 validation error detected: ExpressionAttributeNames can only be specified when using expressions",
            &["values-key", "condition-syntax", "unused", "condition-false"],
        ),
        fault(
            "values-key",
            json!({"ExpressionAttributeValues": {"a": {"S": "a"}}, "ConditionExpression": "attribute_exists(s)"}),
            "ExpressionAttributeValues contains invalid key: Syntax error; key: \"a\"",
            &["expected", "join"],
        ),
        fault(
            "key-set",
            json!({"Key": {"x": {"SS": []}}}),
            "One or more parameter values were invalid: An string set  may not be empty",
            &[],
        ),
        fault(
            "join",
            json!({"ConditionalOperator": "AND"}),
            "1 validation error detected: ConditionalOperator cannot be used without Filter or Expected",
            &["expected", "condition-syntax", "unused", "condition-false"],
        ),
        fault(
            "expected",
            json!({"Expected": {"s": {"Exists": true}}}),
            "1 validation error detected: One or more parameter values were invalid: Value must be provided when Exists is true for Attribute: s…",
            &["condition-syntax", "unused", "condition-false"],
        ),
        fault(
            "condition-syntax",
            json!({"ConditionExpression": "("}),
            "1 validation error detected: Invalid ConditionExpression: Syntax error; token: \"<EOF>\", near: \"(\"",
            &["condition-false"],
        ),
        fault(
            "unused",
            json!({"ConditionExpression": "attribute_exists(s)", "ExpressionAttributeNames": {"#u": "u"}}),
            "1 validation error detected: Value provided in ExpressionAttributeNames unused in expressions: keys: {#u}",
            &[],
        ),
        fault("table", json!({"TableName": "nope"}), MISSING, &[]),
        fault("key", json!({"Key": {"sk": {"N": "1"}}}), SCHEMA, &[]),
        fault(
            "condition-false",
            json!({"ConditionExpression": "attribute_not_exists(s)"}),
            FAILED,
            &[],
        ),
    ];
    let key = json!({"pk": {"S": "a"}, "sk": {"S": "b"}});
    check("DeleteItem", json!({"TableName": "Range1", "Key": key}), &faults);
}

#[test]
fn query() {
    let faults = [
        fault(
            "limit",
            json!({"Limit": 0}),
            "1 validation error detected: Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
            &[],
        ),
        fault("member", json!({"ReturnConsumedCapacity": "X"}), CAPACITY, &[]),
        fault(
            "value",
            json!({"ExpressionAttributeValues": {":n": {"N": "x"}}}),
            NUMBER,
            &[],
        ),
        fault(
            "names-key",
            json!({"ExpressionAttributeNames": {"a": "a"}}),
            "ExpressionAttributeNames contains invalid key: Syntax error; key: \"a\"",
            &[],
        ),
        fault(
            "values-key",
            json!({"ExpressionAttributeValues": {"a": {"S": "a"}}}),
            "ExpressionAttributeValues contains invalid key: Syntax error; key: \"a\"",
            &[],
        ),
        fault(
            "key-condition",
            json!({"KeyConditionExpression": "("}),
            "Invalid KeyConditionExpression: Syntax error; token: \"<EOF>\", near: \"(\"",
            &["structure", "schema"],
        ),
        fault(
            "filter",
            json!({"FilterExpression": ")"}),
            "Invalid FilterExpression: Syntax error; token: \")\", near: \")\"",
            &["filter-key"],
        ),
        fault(
            "projection",
            json!({"ProjectionExpression": "a,"}),
            "Invalid ProjectionExpression: Syntax error; token: \"<EOF>\", near: \",\"",
            &["select", "key-path"],
        ),
        fault(
            "unused-name",
            json!({"ExpressionAttributeNames": {"#u": "u"}}),
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#u}",
            &[],
        ),
        fault(
            "unused-value",
            json!({"ExpressionAttributeValues": {":u": {"S": "u"}}}),
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:u}",
            &[],
        ),
        fault(
            "select",
            json!({"Select": "SPECIFIC_ATTRIBUTES"}),
            "1 validation error detected: Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES",
            &["key-path"],
        ),
        fault(
            "structure",
            json!({"KeyConditionExpression": "pk = :p OR sk = :p"}),
            "Invalid KeyConditionExpression: Invalid operator used in KeyConditionExpression: OR",
            &["schema"],
        ),
        fault("table", json!({"TableName": "nope"}), MISSING, &[]),
        fault(
            "schema",
            json!({"KeyConditionExpression": "pk > :p"}),
            "Query key condition not supported",
            &[],
        ),
    ];
    let base = json!({"TableName": "Range1", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "a"}}});
    check("Query", base, &faults);
}
