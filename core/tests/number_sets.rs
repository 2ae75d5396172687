//! The order of the members of a number set, by operation. No row of a table says it: rows compare sets without order.
//!                                                                                          behaviour/items §order

mod served;

use extenddb_core::store_suite::MemoryStore;
use serde_json::{Value, json};
use served::{call, ok};

#[test]
fn scans_and_transactions_answer_number_sets_in_the_order_of_their_hashes() {
    let store = MemoryStore::default();
    ok(
        &store,
        "CreateTable",
        json!({"TableName": "Sets", "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]}),
    );
    let key = json!({"pk": {"S": "a"}});
    let item = json!({"pk": {"S": "a"}, "ns": {"NS": ["20", "1", "3"]}, "l": {"L": [{"NS": ["1", "3", "20"]}]},
        "ss": {"SS": ["b", "a"]}, "bs": {"BS": ["Ag==", "AQ=="]}});
    ok(&store, "PutItem", json!({"TableName": "Sets", "Item": item}));
    let ascending = json!(["1", "3", "20"]);
    let hashed = json!(["3", "20", "1"]);
    let check = |item: &Value, wanted: &Value, what: &str| {
        assert_eq!(&item["ns"]["NS"], wanted, "{what}");
        assert_eq!(&item["l"]["L"][0]["NS"], wanted, "{what}");
        assert_eq!(item["ss"]["SS"], json!(["a", "b"]), "{what}");
        assert_eq!(item["bs"]["BS"], json!(["AQ==", "Ag=="]), "{what}");
    };
    let got = ok(&store, "GetItem", json!({"TableName": "Sets", "Key": key}));
    check(&got["Item"], &ascending, "GetItem");
    let got = ok(
        &store,
        "BatchGetItem",
        json!({"RequestItems": {"Sets": {"Keys": [key]}}}),
    );
    check(&got["Responses"]["Sets"][0], &ascending, "BatchGetItem");
    let query = json!({"TableName": "Sets", "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": "a"}}});
    check(&ok(&store, "Query", query)["Items"][0], &ascending, "Query");
    let update = json!({"TableName": "Sets", "Key": key, "ReturnValues": "ALL_NEW"});
    check(
        &ok(&store, "UpdateItem", update)["Attributes"],
        &ascending,
        "UpdateItem",
    );
    let failing = json!({"TableName": "Sets", "Item": item, "ConditionExpression": "attribute_not_exists(pk)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD"});
    check(
        &call(&store, "PutItem", &failing).1["Item"],
        &ascending,
        "a failed condition",
    );

    check(
        &ok(&store, "Scan", json!({"TableName": "Sets"}))["Items"][0],
        &hashed,
        "Scan",
    );
    let projected = json!({"TableName": "Sets", "ProjectionExpression": "ns, l, ss, bs"});
    check(
        &ok(&store, "Scan", projected)["Items"][0],
        &hashed,
        "Scan, projected",
    );
    for projection in [json!({}), json!({"ProjectionExpression": "ns, l, ss, bs"})] {
        let mut get = json!({"TableName": "Sets", "Key": key});
        get.as_object_mut()
            .expect("an object")
            .extend(projection.as_object().expect("an object").clone());
        let got = ok(
            &store,
            "TransactGetItems",
            json!({"TransactItems": [{"Get": get}]}),
        );
        check(&got["Responses"][0]["Item"], &hashed, "TransactGetItems");
    }
    let (_, cancelled) = call(
        &store,
        "TransactWriteItems",
        &json!({"TransactItems": [{"Put": failing}]}),
    );
    check(
        &cancelled["CancellationReasons"][0]["Item"],
        &hashed,
        "a cancellation",
    );
}
