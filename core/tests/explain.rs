//! ddb.transact_explain: each member's own outcome, what the answer hides, and that the answer is the transaction's own.
//!                                                                                  behaviour/idempotency §explain

mod served;

use extenddb_core::{
    operation::{Context, explain_transaction},
    store_suite::{MemoryStore, run_now},
    table::{AccountId, TableId},
    time::Timestamp,
    wire::Layer,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use served::{call, ok};

const NOW_MS: u64 = 1_791_500_965_303;

/// `Tab`: key `pk`, an index by `g`; and the items `a` with `g` and `n`, `e` with an empty string.
fn filled() -> MemoryStore {
    let store = MemoryStore::default();
    store.set_now(Timestamp(NOW_MS));
    ok(
        &store,
        "CreateTable",
        json!({"TableName": "Tab", "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "g", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "GlobalSecondaryIndexes": [{"IndexName": "by-g", "Projection": {"ProjectionType": "ALL"},
                "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}]}]}),
    );
    for item in [
        json!({"pk": {"S": "a"}, "g": {"S": "x"}, "n": {"N": "1"}}),
        json!({"pk": {"S": "e"}, "vacant": {"S": ""}, "n": {"N": "1"}}),
    ] {
        ok(&store, "PutItem", json!({"TableName": "Tab", "Item": item}));
    }
    store
}

fn explain(store: &MemoryStore, members: &[Value], token: Option<&str>) -> Value {
    let context = Context {
        account: AccountId::default(),
        region: "us-east-1".into(),
        now: Timestamp(NOW_MS),
        random: [7; 16],
        layer: Layer::New,
    };
    let text = run_now(explain_transaction(
        store,
        &body(members, token).to_string(),
        &context,
    ));
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("not JSON: {text}"))
}

fn body(members: &[Value], token: Option<&str>) -> Value {
    let mut body = json!({"TransactItems": members});
    if let Some(token) = token {
        body["ClientRequestToken"] = json!(token);
    }
    body
}

fn put(pk: &str) -> Value {
    json!({"Put": {"TableName": "Tab", "Item": {"pk": {"S": pk}}}})
}

/// A put of a number where the index wants a string.
fn put_wrong(pk: &str) -> Value {
    json!({"Put": {"TableName": "Tab", "Item": {"pk": {"S": pk}, "g": {"N": "1"}}}})
}

fn put_empty(pk: &str) -> Value {
    json!({"Put": {"TableName": "Tab", "Item": {"pk": {"S": pk}, "g": {"S": ""}}}})
}

fn update(pk: &str, expression: &str) -> Value {
    let mut update = json!({"TableName": "Tab", "Key": {"pk": {"S": pk}}, "UpdateExpression": expression});
    let values = [
        (":e", json!({"S": ""})),
        (":one", json!({"N": "1"})),
        (":s", json!({"S": "s"})),
    ];
    for (name, value) in values {
        if expression.contains(name) {
            update["ExpressionAttributeValues"][name] = value;
        }
    }
    json!({"Update": update})
}

fn check(pk: &str, condition: &str) -> Value {
    json!({"ConditionCheck": {"TableName": "Tab", "Key": {"pk": {"S": pk}}, "ConditionExpression": condition}})
}

const EMPTY_LITERAL: &str = "One or more parameter values are not valid. The update expression attempted to update a \
    secondary index key to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty \
    string value.";
const CONDITION: &str = "The conditional request failed";
const WRONG_TYPE: &str = "One or more parameter values were invalid: Type mismatch for Index Key g Expected: S Actual: N \
    IndexName: by-g";

/// `(Code, Message, FoundBy, HiddenBy)` of a member.
fn told(member: &Value) -> (&str, Option<&str>, Option<&str>, &Value) {
    (
        member["Code"].as_str().unwrap_or_default(),
        member["Message"].as_str(),
        member["FoundBy"].as_str(),
        &member["HiddenBy"],
    )
}

#[test]
fn what_would_be_written_is_shown() {
    let store = filled();
    let explained = explain(
        &store,
        &[
            put("new"),
            update("a", "SET n = n + :one"),
            json!({"Delete": {"TableName": "Tab", "Key": {"pk": {"S": "e"}}}}),
            json!({"Delete": {"TableName": "Tab", "Key": {"pk": {"S": "absent"}}}}),
            check("absent2", "attribute_not_exists(pk)"),
        ],
        None,
    );
    assert_eq!(
        explained,
        json!({"Answer": {"Status": 200, "Body": {}}, "DecidedBy": {"Step": "Run"}, "Members": [
            {"Action": "Put", "TableName": "Tab", "Key": {"pk": {"S": "new"}}, "Code": "None", "Effect": "Put",
             "NewItem": {"pk": {"S": "new"}}},
            {"Action": "Update", "TableName": "Tab", "Key": {"pk": {"S": "a"}}, "Code": "None", "Effect": "Put",
             "StoredItem": {"pk": {"S": "a"}, "g": {"S": "x"}, "n": {"N": "1"}},
             "NewItem": {"pk": {"S": "a"}, "g": {"S": "x"}, "n": {"N": "2"}}},
            {"Action": "Delete", "TableName": "Tab", "Key": {"pk": {"S": "e"}}, "Code": "None", "Effect": "Delete",
             "StoredItem": {"pk": {"S": "e"}, "vacant": {"S": ""}, "n": {"N": "1"}}},
            {"Action": "Delete", "TableName": "Tab", "Key": {"pk": {"S": "absent"}}, "Code": "None", "Effect": "None"},
            {"Action": "ConditionCheck", "TableName": "Tab", "Key": {"pk": {"S": "absent2"}}, "Code": "None", "Effect": "None"},
        ]})
    );
}

#[test]
fn the_first_pass_hides_all_else() {
    let store = filled();
    let explained = explain(
        &store,
        &[
            check("absent", "attribute_exists(pk)"),
            put_wrong("w"),
            put_wrong("w2"),
            update("a", "SET g = :e"),
        ],
        None,
    );
    let decided = json!({"Step": "SuppliedKeys", "Member": 1});
    assert_eq!(explained["DecidedBy"], decided);
    let codes = "[None, ValidationError, None, None]";
    assert_eq!(
        explained["Answer"]["Body"]["Message"],
        format!("Transaction cancelled, please refer cancellation reasons for specific reasons {codes}")
    );
    let members: Vec<_> = explained["Members"]
        .as_array()
        .unwrap()
        .iter()
        .map(told)
        .collect();
    assert_eq!(
        members,
        [
            ("ConditionalCheckFailed", Some(CONDITION), Some("Run"), &decided),
            (
                "ValidationError",
                Some(WRONG_TYPE),
                Some("SuppliedKeys"),
                &Value::Null
            ),
            (
                "ValidationError",
                Some(WRONG_TYPE),
                Some("SuppliedKeys"),
                &decided
            ),
            (
                "ValidationError",
                Some(EMPTY_LITERAL),
                Some("EmptyLiteral"),
                &decided
            ),
        ]
    );
}

#[test]
fn an_empty_value_in_a_put_is_of_the_first_pass_and_answers_alone() {
    let explained = explain(&filled(), &[put_empty("p"), put_wrong("w")], None);
    assert_eq!(
        explained["DecidedBy"],
        json!({"Step": "SuppliedKeys", "Member": 0})
    );
    assert_eq!(
        explained["Answer"]["Body"]["__type"],
        "com.amazon.coral.validate#ValidationException"
    );
    assert_eq!(
        explained["Members"][0]["Message"],
        explained["Answer"]["Body"]["message"]
    );
    assert_eq!(explained["Members"][1]["HiddenBy"], explained["DecidedBy"]);
}

#[test]
fn the_first_empty_key_of_updates_answers_alone_literal_or_computed() {
    let store = filled();
    let failing = check("absent", "attribute_exists(pk)");
    for (expression, step) in [("SET g = :e", "EmptyLiteral"), ("SET g = vacant", "Run")] {
        let explained = explain(
            &store,
            &[
                failing.clone(),
                update("e", expression),
                update("a", "SET g = :e"),
            ],
            None,
        );
        let decided = json!({"Step": step, "Member": 1});
        assert_eq!(explained["DecidedBy"], decided);
        assert_eq!(explained["Answer"]["Body"]["message"], EMPTY_LITERAL);
        let members: Vec<_> = explained["Members"]
            .as_array()
            .unwrap()
            .iter()
            .map(told)
            .collect();
        assert_eq!(
            members[0],
            ("ConditionalCheckFailed", Some(CONDITION), Some("Run"), &decided)
        );
        assert_eq!(
            members[1],
            ("ValidationError", Some(EMPTY_LITERAL), Some(step), &Value::Null)
        );
        assert_eq!(
            members[2],
            (
                "ValidationError",
                Some(EMPTY_LITERAL),
                Some("EmptyLiteral"),
                &decided
            )
        );
    }
}

#[test]
fn faults_of_the_members_themselves_are_told_together() {
    let explained = explain(
        &filled(),
        &[
            update("a", "SET n = nowhere + :one"),
            put("p"),
            check("absent", "attribute_exists(pk)"),
        ],
        None,
    );
    assert_eq!(explained["DecidedBy"], json!({"Step": "Run"}));
    for member in explained["Members"].as_array().unwrap() {
        assert_eq!(member["HiddenBy"], Value::Null);
    }
    assert_eq!(
        explained["Members"][1]["NewItem"],
        json!({"pk": {"S": "p"}}),
        "though it is not written"
    );
}

#[test]
fn what_is_wrong_with_the_whole_request_hides_its_members() {
    let store = filled();
    let twice = explain(&store, &[put("p"), check("p", "attribute_exists(pk)")], None);
    assert_eq!(twice["DecidedBy"], json!({"Step": "Request"}));
    assert_eq!(
        twice["Answer"]["Body"]["message"],
        "Transaction request cannot include multiple operations on one item"
    );
    assert_eq!(twice["Members"][1]["HiddenBy"], json!({"Step": "Request"}));
    let empty = explain(&store, &[check("absent", "attribute_exists(pk)"), put("")], None);
    assert_eq!(empty["DecidedBy"], json!({"Step": "Request", "Member": 1}));
    assert_eq!(empty["Members"][1]["FoundBy"], "Request");
    assert_eq!(empty["Members"][1]["Message"], empty["Answer"]["Body"]["message"]);
    // Nothing can be said of members that are not read, or whose table is missing.
    for members in [
        json!([{}]),
        json!([{"Put": {"TableName": "Nope", "Item": {"pk": {"S": "a"}}}}]),
    ] {
        let explained = explain(&store, members.as_array().unwrap(), None);
        assert_eq!(explained["Answer"]["Status"], 400);
        assert_eq!(explained["DecidedBy"], json!({"Step": "Request"}));
        assert_eq!(explained.get("Members"), None);
    }
}

#[test]
fn the_token_is_told_and_hides_what_would_be_run() {
    let store = filled();
    let members = [
        update("a", "SET n = n + :one"),
        check("b", "attribute_not_exists(pk)"),
    ];
    let token = |explained: &Value| explained["Token"].clone();
    assert_eq!(token(&explain(&store, &members, None)), Value::Null);
    assert_eq!(
        token(&explain(&store, &members, Some("k"))),
        json!({"State": "Unused"})
    );
    ok(&store, "TransactWriteItems", body(&members, Some("k")));
    ok(
        &store,
        "PutItem",
        json!({"TableName": "Tab", "Item": {"pk": {"S": "b"}}}),
    );
    let explained = explain(&store, &members, Some("k"));
    assert_eq!(
        token(&explained),
        json!({"State": "Committed", "UsedUntil": 1_791_501_565.303})
    );
    assert_eq!(explained["Answer"], json!({"Status": 200, "Body": {}}));
    assert_eq!(explained["DecidedBy"], json!({"Step": "Token"}));
    assert_eq!(told(&explained["Members"][1]).3, &json!({"Step": "Token"}));
    let another = explain(&store, &members[1..], Some("k"));
    assert_eq!(another["Token"]["State"], "OfAnotherRequest");
    assert_eq!(
        another["Answer"]["Body"]["__type"],
        "com.amazonaws.dynamodb.v20120810#IdempotentParameterMismatchException"
    );
    // A fault of the first pass comes before the token.
    let first = explain(&store, &[put_wrong("w")], Some("k"));
    assert_eq!(first["DecidedBy"], json!({"Step": "SuppliedKeys", "Member": 0}));
    assert_eq!(first["Token"]["State"], "OfAnotherRequest");

    let (status, _) = call(&store, "TransactWriteItems", &body(&members[1..], Some("c")));
    assert_eq!(status, 400);
    let cancelled = explain(&store, &members[1..], Some("c"));
    assert_eq!(cancelled["Token"]["State"], "Cancelled");
    assert_eq!(
        cancelled["DecidedBy"],
        json!({"Step": "Run"}),
        "it would be run again"
    );
}

fn member() -> impl Strategy<Value = Value> {
    let pk = prop::sample::select(vec!["a", "b", "e", "c", "d", ""]);
    (pk, 0..9_usize).prop_map(|(pk, kind)| match kind {
        0 => put(pk),
        1 => put_wrong(pk),
        2 => put_empty(pk),
        3 => update(pk, "SET g = :e"),
        4 => update(pk, "SET g = vacant"),
        5 => update(pk, "SET n = n + :one"),
        6 => update(pk, "SET g = n"),
        7 => json!({"Delete": {"TableName": "Tab", "Key": {"pk": {"S": pk}}}}),
        _ => check(pk, "attribute_exists(g)"),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// The explained answer is the one that is given, explaining changes nothing, and whatever the answer tells of a member is the
    /// member's own outcome.
    #[test]
    fn the_answer_is_the_transactions_own(
        requests in prop::collection::vec((prop::collection::vec(member(), 1..5), any::<bool>()), 1..4)
    ) {
        let store = filled();
        let rows = |store: &MemoryStore| (0..4).map(|id| store.items(TableId(id))).collect::<Vec<_>>();
        for (members, with_token) in requests {
            let token = with_token.then_some("token");
            let before = rows(&store);
            let explained = explain(&store, &members, token);
            prop_assert_eq!(rows(&store), before);
            let (status, answer) = call(&store, "TransactWriteItems", &body(&members, token));
            prop_assert_eq!(&explained["Answer"], &json!({"Status": status, "Body": answer}));
            let reasons = answer["CancellationReasons"].as_array().cloned().unwrap_or_default();
            for (reason, own) in reasons.iter().zip(explained["Members"].as_array().unwrap()) {
                let hidden = own.get("HiddenBy").is_some();
                prop_assert_eq!(reason["Code"] == "None", own["Code"] == "None" || hidden);
                if reason["Code"] != "None" {
                    prop_assert_eq!((&reason["Code"], &reason["Message"]), (&own["Code"], &own["Message"]));
                }
            }
            if answer["CancellationReasons"] == Value::Null && status == 400 {
                let told: Vec<&Value> = explained["Members"].as_array().unwrap().iter()
                    .filter(|own| own["Code"] != "None" && own.get("HiddenBy").is_none()).collect();
                for own in told {
                    prop_assert_eq!(&own["Message"], &answer["message"]);
                }
            }
        }
    }
}
