//! Locks that are not had, and what a transaction leaves behind.

use std::sync::atomic::Ordering::Relaxed;

use extenddb_core::{
    claim::ClaimKey,
    item::{AttributeValue, Item, ItemKey},
    store::Store,
    store_suite::{MemoryStore, run_now},
    table::TableId,
    write::{Decision, Keys, Need, Timestamp, Unit},
};
use serde_json::{Value, json};

use crate::{
    gate::{Asked, Gate},
    notation::{Fixture, item, parsed},
    ranking::Ranking,
    served::{call, call_in, context, ok},
};

fn put(pk: &str) -> Value {
    json!({"Put": {"TableName": "Main", "Item": {"pk": {"S": pk}, "n": {"N": "1"}}}})
}

fn count(pk: &str) -> Value {
    json!({"Update": {"TableName": "Main", "Key": {"pk": {"S": pk}}, "UpdateExpression": "ADD n :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}}}})
}

fn with_token(token: &str, members: &[Value]) -> Value {
    json!({"ClientRequestToken": token, "TransactItems": members})
}

/// The place of an item in the memory store.
fn key_of(store: &MemoryStore, pk: &str) -> ItemKey {
    let wanted = Some(AttributeValue::S(pk.into()));
    let items = store.items(TableId(2)).into_iter();
    let found = items
        .map(|(key, item)| (key, item.get("pk")))
        .find(|(_, found)| *found == wanted);
    found.unwrap_or_else(|| panic!("there is no item {pk}")).0
}

fn tokens(store: &MemoryStore) -> Vec<(ItemKey, Item)> {
    store.items(TableId::TOKENS)
}

fn fixture() -> (&'static Fixture, &'static Ranking) {
    (&Ranking::read().fixture, Ranking::read())
}

#[track_caller]
fn answers<S: Store>(fixture: &Fixture, store: &S, request: &Value, wanted: &str) {
    assert_eq!(
        fixture.fault(wanted, &call(store, "TransactWriteItems", request)),
        None
    );
}

/// The change of the table may take long: whoever waits is told of a conflict, and may send the request again.
#[test]
fn a_table_that_is_being_changed_is_a_conflict_at_the_first_member() {
    let (fixture, _) = fixture();
    let gate = Gate::of(fixture.store());
    let (request, other) = (
        with_token("k", &[count("b0"), put("c")]),
        with_token("k", &[count("b0")]),
    );
    answers(
        fixture,
        &gate,
        &json!({"TransactItems": [put("c"), put("d")]}),
        "TC[X, -]",
    );
    answers(fixture, &gate, &request, "TC[X, -]");
    assert_eq!(item(&gate.store, "c"), None);
    gate.writers.store(false, Relaxed);
    answers(fixture, &gate, &other, "mismatch");
    for _ in 0..2 {
        answers(fixture, &gate, &request, "200");
    }
    assert_eq!(
        item(&gate.store, "b0").expect("it is there")["n"],
        json!({"N": "1"})
    );
}

/// Readers are let in, so the request is judged as ever: faults come before tokens, empty literals before conflicts.
#[test]
fn what_the_request_supplies_is_told_while_a_table_is_being_changed() {
    let (fixture, ranking) = fixture();
    let gate = Gate::of(fixture.store());
    for (members, wanted) in [
        (["OK", "PW"], "TC[-, V(M3 N)]"),
        (["PE", "OK"], "VE(M4)"),
        (["OK", "OK"], "VE(two operations)"),
    ] {
        let mut request = parsed(&ranking.transaction(members));
        request["ClientRequestToken"] = "k".into();
        answers(fixture, &gate, &request, wanted);
        assert_eq!(tokens(&gate.store), []);
    }
    for members in [["LE", "OK"], ["OK", "LE"]] {
        answers(fixture, &gate, &parsed(&ranking.transaction(members)), "VE(M6)");
    }
    let missing = json!({"TransactItems": [{"Delete": {"TableName": "nowhere", "Key": {"pk": {"S": "a"}}}}]});
    answers(fixture, &gate, &missing, "RNF");
}

/// Had the second send stored a cancellation, a third would have been applied again.
#[test]
fn a_send_that_was_committed_in_the_meantime_is_answered_again() {
    let (fixture, _) = fixture();
    let gate = Gate::of(fixture.store());
    let request = with_token("k", &[count("b0")]);
    let first = request.clone();
    *gate.meanwhile.lock().expect("one thread") = Some(Box::new(move |store: &MemoryStore| {
        ok(store, "TransactWriteItems", first);
    }));
    answers(fixture, &gate, &request, "200");
    gate.writers.store(false, Relaxed);
    answers(fixture, &gate, &request, "200");
    assert_eq!(
        item(&gate.store, "b0").expect("it is there")["n"],
        json!({"N": "1"})
    );
    // And a mismatch stays one.
    gate.writers.store(true, Relaxed);
    answers(fixture, &gate, &with_token("k", &[count("b1")]), "mismatch");
}

#[test]
fn a_token_stays_as_it_is_where_nothing_could_be_judged() {
    let (fixture, _) = fixture();
    let gate = Gate::of(fixture.store());
    let (request, other) = (
        with_token("k", &[put("c"), put("d")]),
        with_token("k", &[put("d")]),
    );
    gate.readers.store(true, Relaxed);
    answers(fixture, &gate, &request, "TC[X, -]");
    gate.readers.store(false, Relaxed);
    gate.units.store(true, Relaxed);
    answers(fixture, &gate, &request, "TC[X, -]");
    assert_eq!(tokens(&gate.store), []);
    gate.writers.store(false, Relaxed);
    answers(fixture, &gate, &request, "TC[X, -]");
    gate.units.store(false, Relaxed);
    answers(fixture, &gate, &other, "200");
}

/// TransactGetItems has no TransactionConflictException.
#[test]
fn a_table_that_keeps_readers_out_is_a_conflict_of_a_read() {
    let (fixture, _) = fixture();
    let gate = Gate::of(fixture.store());
    let get = |pk: &str| json!({"Get": {"TableName": "Main", "Key": {"pk": {"S": pk}}}});
    let request = json!({"TransactItems": [get("b0"), get("b1")]});
    assert_eq!(call(&gate, "TransactGetItems", &request).0, 200);
    gate.readers.store(true, Relaxed);
    let answer = call(&gate, "TransactGetItems", &request);
    assert_eq!(fixture.fault("TC[X, -]", &answer), None);
}

/// What is read counts, whatever is shown of it.
#[test]
fn a_read_is_of_4_mb_at_most() {
    let (fixture, _) = fixture();
    let store = fixture.store();
    // `pk` and its value, `v` and its own.
    let item =
        |pk: &str, bytes: usize| json!({"pk": {"S": pk}, "v": {"S": "x".repeat(bytes - 3 - pk.len())}});
    let put = |pk: &str, bytes: usize| {
        ok(
            &store,
            "PutItem",
            json!({"TableName": "Main", "Item": item(pk, bytes)}),
        );
    };
    let names: Vec<String> = (0..11).map(|n| format!("large-{n}")).collect();
    names[..10].iter().for_each(|pk| put(pk, 409_600));
    let get = |pk: &String| json!({"Get": {"TableName": "Main", "Key": {"pk": {"S": pk}}, "ProjectionExpression": "pk"}});
    let request = json!({"TransactItems": names.iter().map(get).collect::<Vec<_>>()});
    put(&names[10], 98_304);
    let (status, body) = call(&store, "TransactGetItems", &request);
    assert_eq!(
        (status, body["Responses"].as_array().map(Vec::len)),
        (200, Some(11))
    );
    put(&names[10], 98_305);
    let answer = call(&store, "TransactGetItems", &request);
    assert_eq!(fixture.fault("VE(total size)", &answer), None);
}

/// Whoever holds the lock of the token is running the request.
#[test]
fn a_token_that_is_held_is_a_request_in_progress() {
    let (fixture, _) = fixture();
    let store = fixture.store();
    ok(&store, "TransactWriteItems", with_token("k", &[count("b0")]));
    let key = tokens(&store)[0].0.clone();
    store.hold(key.clone());
    // The first send may have been committed; its answer is known without the lock.
    answers(fixture, &store, &with_token("k", &[count("b0")]), "200");
    let later = extenddb_core::operation::Context {
        now: Timestamp(context().now.0 + 600_000),
        ..context()
    };
    let request = with_token("k", &[count("b0")]);
    let gate = Gate::of(store);
    for writers in [true, false] {
        gate.writers.store(writers, Relaxed);
        let (status, body) = call_in(&later, &gate, "TransactWriteItems", &request.to_string());
        assert_eq!(status, 400);
        assert_eq!(
            body,
            json!({"__type": "com.amazonaws.dynamodb.v20120810#TransactionInProgressException",
                "Message": "Transaction from previous request is still in progress"})
        );
    }
    assert_eq!(
        item(&gate.store, "b0").expect("it is there")["n"],
        json!({"N": "1"})
    );
    gate.store.release(&key);
}

/// A conflict stands beside the faults of other members, and an empty key hides it.
#[test]
fn an_item_that_is_held_is_a_conflict_of_its_member() {
    let (fixture, ranking) = fixture();
    let store = fixture.store();
    store.hold(key_of(&store, "g"));
    let before = fixture.items(&store);
    for (members, wanted) in [
        (vec!["CF", "OK"], "TC[X, -]"),
        (vec!["CF2", "CF", "OK"], "TC[C, X, -]"),
        (vec!["CFput", "AX", "CW"], "TC[X, V(M8), V(M3 N)]"),
        (vec!["CFdelete"], "TC[X]"),
        (vec!["CFupdate"], "TC[X]"),
        (vec!["CE", "CF"], "VE(M6)"),
        (vec!["CF", "CE"], "VE(M6)"),
        (vec!["CF", "LE"], "VE(M6)"),
        (vec!["LE", "CF"], "VE(M6)"),
        (vec!["CF", "PW"], "TC[-, V(M3 N)]"),
        (vec!["CF", "PE"], "VE(M4)"),
    ] {
        for token in [None, Some(members.join("-"))] {
            let mut request = parsed(&ranking.transaction(members.iter().copied()));
            if let Some(token) = token {
                request["ClientRequestToken"] = token.into();
            }
            answers(fixture, &store, &request, wanted);
            assert_eq!(fixture.items(&store), before, "{members:?}");
        }
    }
}

/// A put that needs no image asks only for the right to write, and does not get it either.
#[test]
fn a_put_that_reads_nothing_meets_a_held_item_too() {
    let (fixture, _) = fixture();
    let store = fixture.store();
    let item = json!({"pk": {"S": "a"}, "sk": {"S": "b"}});
    let put = json!({"Put": {"TableName": "Composite", "Item": item}});
    ok(&store, "TransactWriteItems", json!({"TransactItems": [put]}));
    let key = store.items(TableId(3))[0].0.clone();
    store.hold(key.clone());
    answers(fixture, &store, &json!({"TransactItems": [put]}), "TC[X]");
    store.release(&key);
    answers(fixture, &store, &json!({"TransactItems": [put]}), "OK");
}

/// What a table of tokens holds that nobody wrote there is no reason to run a request twice.
#[test]
fn a_token_that_is_not_readable_is_an_internal_error() {
    let (fixture, _) = fixture();
    let store = fixture.store();
    let request = with_token("k", &[count("b0")]);
    ok(&store, "TransactWriteItems", request.clone());
    let (key, row) = tokens(&store)[0].clone();
    for name in ["state", "fingerprint", "at", "window", "kept"] {
        let without = row.retain(|attribute| attribute != name);
        let (of, row) = (key.clone(), without.clone());
        let unit = Unit {
            tables: Vec::new(),
            keys: Keys(vec![(key.clone(), Need::Image)]),
            decide: Box::new(move |_| {
                let mut change = ClaimKey::new(
                    TableId::TOKENS,
                    "000000000000/TransactWriteItems".into(),
                    "k".into(),
                )
                .remove(0, &row);
                assert_eq!(of.table, TableId::TOKENS);
                change.base = extenddb_core::write::Base::Put(row.clone());
                Decision {
                    changes: vec![change],
                    answer: (),
                }
            }),
        };
        run_now(store.transact(vec![unit]))[0]
            .clone()
            .expect("it is written");
        let (status, body) = call(&store, "TransactWriteItems", &request);
        assert_eq!(
            (status, &body["message"]),
            (500, &json!("Internal server error")),
            "{name}"
        );
    }
    assert_eq!(item(&store, "b0").expect("it is there")["n"], json!({"N": "1"}));
}

/// No more is locked, read or written than the answer needs.
#[test]
fn what_a_unit_asks_of_the_store() {
    let (fixture, ranking) = fixture();
    let item = json!({"pk": {"S": "a"}, "sk": {"S": "b"}});
    let plain = json!({"Put": {"TableName": "Composite", "Item": item}});
    let unchanged =
        json!({"Update": {"TableName": "Main", "Key": {"pk": {"S": "b0"}}, "UpdateExpression": "SET v = v"}});
    let nobody = json!({"Delete": {"TableName": "Main", "Key": {"pk": {"S": "nobody"}}}});
    let check = json!({"ConditionCheck": {"TableName": "Main", "Key": {"pk": {"S": "b1"}},
        "ConditionExpression": "attribute_exists(pk)"}});
    let coded = |codes: &[&str]| parsed(&ranking.transaction(codes.iter().copied()));
    let of = |members: Value| json!({"TransactItems": members});
    for (request, token, wanted, [keys, images, changes]) in [
        // A put that nobody asks the old item of.
        (of(json!([plain])), None, "OK", [1, 0, 1]),
        (of(json!([plain])), Some("k"), "OK", [2, 2, 2]),
        (
            of(json!([plain, unchanged, nobody, check])),
            None,
            "OK",
            [4, 3, 1],
        ),
        (coded(&["OK"]), None, "OK", [1, 1, 1]),
        (coded(&["OK", "CF"]), None, "TC[-, C]", [2, 2, 0]),
        (coded(&["OK", "CF"]), Some("k"), "TC[-, C]", [3, 3, 1]),
        // Behind an empty literal nothing is locked.
        (coded(&["LE", "OK", "CF"]), None, "VE(M6)", [0, 0, 0]),
        (coded(&["LE", "OK", "CF"]), Some("k"), "VE(M6)", [1, 1, 1]),
        (coded(&["OK", "LE", "CF"]), Some("k"), "VE(M6)", [2, 2, 1]),
    ] {
        let gate = Gate::open(fixture.store());
        let mut request = request;
        if let Some(token) = token {
            request["ClientRequestToken"] = token.into();
        }
        answers(fixture, &gate, &request, wanted);
        let asked = gate.asked.lock().expect("one thread").clone();
        let wanted = Asked {
            keys,
            images,
            changes,
        };
        assert_eq!(asked, [wanted], "{request}");
    }
    let gate = Gate::open(fixture.store());
    let mut charged = of(json!([plain]));
    charged["ReturnConsumedCapacity"] = "TOTAL".into();
    assert_eq!(call(&gate, "TransactWriteItems", &charged).0, 200);
    assert_eq!(gate.asked.lock().expect("one thread")[0].images, 1);
}

/// By table, in the order of the request, and with the item collections of the first time.
#[test]
fn a_replay_tells_of_every_table() {
    let (fixture, _) = fixture();
    let store = fixture.store();
    let local = json!({"TableName": "Local", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"}, {"AttributeName": "l", "AttributeType": "N"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        "LocalSecondaryIndexes": [{"IndexName": "by-l", "Projection": {"ProjectionType": "ALL"},
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "l", "KeyType": "RANGE"}]}]});
    ok(&store, "CreateTable", local);
    let own = json!({"Put": {"TableName": "Local", "Item": {"pk": {"S": "a"}, "sk": {"S": "b"},
        "v": {"S": "x".repeat(5_000)}}}});
    let mut request = with_token("k", &[own, put("c"), put("d")]);
    request["ReturnConsumedCapacity"] = "TOTAL".into();
    request["ReturnItemCollectionMetrics"] = "SIZE".into();
    let told = |name: &str, local: f64, main: f64| {
        json!({"ConsumedCapacity": [{"TableName": "Local", "CapacityUnits": local, name: local},
                {"TableName": "Main", "CapacityUnits": main, name: main}],
            "ItemCollectionMetrics": {"Local": [{"ItemCollectionKey": {"pk": {"S": "a"}},
                "SizeEstimateRangeGB": [0.0, 1.0]}]}})
    };
    let first = ok(&store, "TransactWriteItems", request.clone());
    assert_eq!(first, told("WriteCapacityUnits", 10.0, 4.0));
    let again = ok(&store, "TransactWriteItems", request);
    assert_eq!(again, told("ReadCapacityUnits", 4.0, 4.0));
}

/// The table was made anew since, with another key: the request is judged before its token is.
#[test]
fn a_replay_whose_keys_are_wrong_by_now_is_refused() {
    let (fixture, _) = fixture();
    let store = fixture.store();
    let request = with_token("k", &[count("b0")]);
    answers(fixture, &store, &request, "200");
    ok(&store, "DeleteTable", json!({"TableName": "Main"}));
    let numbers = json!({"TableName": "Main", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "N"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]});
    ok(&store, "CreateTable", numbers);
    answers(fixture, &store, &request, "TC[V(M2)]");
}

/// The indexes hold what the items imply, and an index key that a member takes away leaves them.
#[test]
fn index_rows_belong_to_the_commit() {
    let (fixture, _) = fixture();
    let store = fixture.store();
    let members = json!([
        {"Put": {"TableName": "Main", "Item": {"pk": {"S": "p"}, "sidx": {"S": "s"}, "nidx": {"N": "1"}}}},
        {"Update": {"TableName": "Main", "Key": {"pk": {"S": "b0"}}, "UpdateExpression": "SET sidx = :s",
            "ExpressionAttributeValues": {":s": {"S": "s"}}}}]);
    ok(&store, "TransactWriteItems", json!({"TransactItems": members}));
    assert_eq!(store.index_rows(TableId(2)).len(), 3);
    // A put in the place of an item takes its old rows away, whether its images are asked for or not.
    let again = json!([{"Put": {"TableName": "Main", "Item": {"pk": {"S": "p"}, "sidx": {"S": "t"}}}}]);
    ok(&store, "TransactWriteItems", json!({"TransactItems": again}));
    assert_eq!(store.index_rows(TableId(2)).len(), 2);
    let members = json!([
        {"Delete": {"TableName": "Main", "Key": {"pk": {"S": "p"}}}},
        {"Update": {"TableName": "Main", "Key": {"pk": {"S": "b0"}}, "UpdateExpression": "REMOVE sidx"}}]);
    ok(&store, "TransactWriteItems", json!({"TransactItems": members}));
    assert_eq!(store.index_rows(TableId(2)), []);
}
