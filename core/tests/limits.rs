//! Sizes too large for a row of a table of cases; what is left of a batch; descriptions that change under a write; tables
//! and indexes that are not there yet; the old request layer.

mod served;

use std::sync::{Arc, Mutex};

use extenddb_core::{
    item::{AttributeValue, ItemKey, encode_hash, encode_scalar, hash_bucket, stored_hash},
    store::{Access, Alteration, Page, Proposal, Range, Store, StoreError, TableChange},
    store_suite::{MemoryStore, run_now},
    table::{AccountId, Statistics, Table, TableId, TableName, TableStatus, Version},
    time::Timestamp,
    wire::Layer,
    write::Unit,
};
use serde_json::{Value, json};
use served::{call, call_on, ok};

const ITEM_MAX_BYTES: usize = 409_600;

fn name(table: &str) -> TableName {
    TableName {
        account: AccountId::default(),
        name: table.into(),
    }
}

/// A table with only a HASH key `pk`.
fn create<S: Store>(store: &S, table: &str) {
    ok(
        store,
        "CreateTable",
        json!({"TableName": table, "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]}),
    );
}

fn described<S: Store>(store: &S, table: &str) -> Arc<Table> {
    let tables = run_now(store.tables(&[name(table)], Access::Read)).expect("the store answers");
    tables.into_iter().next().flatten().expect("the table is there")
}

fn item_key(table: TableId, pk: &str, sk: Option<&str>) -> ItemKey {
    let hash = encode_hash([&AttributeValue::S(pk.into())]);
    let mut range = Vec::new();
    if let Some(sk) = sk {
        encode_scalar(&AttributeValue::S(sk.into()), &mut range);
    }
    ItemKey {
        table,
        bucket: hash_bucket(&hash),
        pk: stored_hash(hash),
        sk: range,
    }
}

/// An item of a size: names and values together.
fn item(pk: &str, bytes: usize) -> Value {
    json!({"pk": {"S": pk}, "v": {"S": "x".repeat(bytes - 3 - pk.len())}})
}

fn text(answer: &Value) -> &str {
    answer["message"].as_str().unwrap_or_default()
}

#[test]
fn an_item_of_the_largest_size_is_put_and_a_larger_one_is_refused_before_the_table_is_looked_up() {
    let store = MemoryStore::default();
    create(&store, "Hash1");
    ok(
        &store,
        "PutItem",
        json!({"TableName": "Hash1", "Item": item("a", ITEM_MAX_BYTES)}),
    );
    let (status, answer) = call(
        &store,
        "PutItem",
        &json!({"TableName": "nope", "Item": item("a", ITEM_MAX_BYTES + 1)}),
    );
    assert_eq!(
        (status, text(&answer)),
        (400, "Item size has exceeded the maximum allowed size")
    );
    let requests = json!([{"PutRequest": {"Item": item("b", 10)}}, {"PutRequest": {"Item": item("a", ITEM_MAX_BYTES + 1)}}]);
    let (status, answer) = call(
        &store,
        "BatchWriteItem",
        &json!({"RequestItems": {"nope": requests}}),
    );
    assert_eq!(
        (status, text(&answer)),
        (400, "Item size has exceeded the maximum allowed size")
    );
}

#[test]
fn an_update_may_neither_charge_nor_leave_more_than_an_item_holds() {
    const REFUSED: &str = "Item size to update has exceeded the maximum allowed size";
    let store = MemoryStore::default();
    create(&store, "Hash1");
    ok(
        &store,
        "PutItem",
        json!({"TableName": "Hash1", "Item": item("a", ITEM_MAX_BYTES - 100)}),
    );
    let update = |expression: &str, value: Value, condition: Option<&str>| {
        let mut request = json!({"TableName": "Hash1", "Key": {"pk": {"S": "a"}}, "UpdateExpression": expression,
            "ExpressionAttributeValues": {":v": value}});
        if let Some(condition) = condition {
            request["ConditionExpression"] = json!(condition);
        }
        let (status, answer) = call(&store, "UpdateItem", &request);
        (status, text(&answer).to_owned())
    };
    assert_eq!(update("SET b = :v", json!({"S": "y".repeat(99)}), None).0, 200);
    assert_eq!(
        update("SET b = :v", json!({"S": "y".repeat(100)}), None),
        (400, REFUSED.into())
    );
    // The charge of `SET a = :v`: 3 + 19 + 1 + the value.
    let failing = Some("attribute_exists(zz)");
    let largest = json!({"S": "y".repeat(ITEM_MAX_BYTES - 23)});
    assert_eq!(
        update("SET a = :v", largest, failing),
        (400, "The conditional request failed".into())
    );
    let larger = json!({"S": "y".repeat(ITEM_MAX_BYTES - 22)});
    assert_eq!(update("SET a = :v", larger, failing), (400, REFUSED.into()));
}

/// The item that crosses the border belongs to the page.
#[test]
fn a_page_ends_at_a_megabyte_of_whole_items() {
    let store = MemoryStore::default();
    create(&store, "Hash1");
    for pk in ["a", "b", "c", "d"] {
        ok(
            &store,
            "PutItem",
            json!({"TableName": "Hash1", "Item": item(pk, 400_000)}),
        );
    }
    let request = json!({"TableName": "Hash1", "ProjectionExpression": "pk", "FilterExpression": "attribute_exists(zz)",
        "ReturnConsumedCapacity": "TOTAL"});
    let first = ok(&store, "Scan", request.clone());
    assert_eq!((&first["Count"], &first["ScannedCount"]), (&json!(0), &json!(3)));
    assert_eq!(first["Items"], json!([]));
    // 1,200,000 bytes are 293 units, halved.
    assert_eq!(first["ConsumedCapacity"]["CapacityUnits"], json!(146.5));
    let mut request = request;
    request["ExclusiveStartKey"] = first["LastEvaluatedKey"].clone();
    let second = ok(&store, "Scan", request);
    assert_eq!(second["ScannedCount"], json!(1));
    assert_eq!(second.get("LastEvaluatedKey"), None);
}

#[test]
fn a_batch_of_reads_stops_at_sixteen_megabytes_and_answers_the_keys_that_are_left() {
    let store = MemoryStore::default();
    create(&store, "Hash1");
    create(&store, "Hash2");
    let names: Vec<String> = (0..45).map(|n| format!("{n:02}")).collect();
    for pk in &names[..42] {
        ok(
            &store,
            "PutItem",
            json!({"TableName": "Hash1", "Item": item(pk, ITEM_MAX_BYTES)}),
        );
    }
    let keys: Vec<Value> = names.iter().map(|pk| json!({"pk": {"S": pk}})).collect();
    let of_first = json!({"Keys": keys, "ConsistentRead": true, "ProjectionExpression": "#p",
        "ExpressionAttributeNames": {"#p": "pk"}});
    let of_second =
        json!({"Keys": [{"pk": {"S": "zz"}}], "ProjectionExpression": "pk", "ConsistentRead": false});
    let answer = ok(
        &store,
        "BatchGetItem",
        json!({"RequestItems": {"Hash1": of_first, "Hash2": of_second.clone()}, "ReturnConsumedCapacity": "TOTAL"}),
    );
    // 40 items of 409,600 bytes fit into 16,777,216; each costs 100 units.
    assert_eq!(answer["Responses"]["Hash1"].as_array().map(Vec::len), Some(40));
    assert_eq!(answer["Responses"]["Hash1"][39], json!({"pk": {"S": "39"}}));
    let mut rest = of_first;
    rest["Keys"] = json!(keys[40..]);
    assert_eq!(
        answer["UnprocessedKeys"],
        json!({"Hash1": rest, "Hash2": of_second})
    );
    assert_eq!(
        answer["ConsumedCapacity"][0],
        json!({"TableName": "Hash1", "CapacityUnits": 4000.0})
    );
}

#[test]
fn writes_of_keys_that_are_held_come_back_whole() {
    let store = MemoryStore::default();
    create(&store, "Hash1");
    let id = described(&store, "Hash1").id;
    ok(
        &store,
        "PutItem",
        json!({"TableName": "Hash1", "Item": {"pk": {"S": "b"}}}),
    );
    store.hold(item_key(id, "a", None));
    store.hold(item_key(id, "b", None));
    let arn = "arn:aws:dynamodb:us-east-1:000000000000:table/Hash1";
    let put = json!({"PutRequest": {"Item": {"pk": {"S": "a"}, "v": {"N": "1"}}}});
    let delete = json!({"DeleteRequest": {"Key": {"pk": {"S": "b"}}}});
    let other = json!({"PutRequest": {"Item": {"pk": {"S": "c"}}}});
    let request = json!({"RequestItems": {arn: [put, other, delete]}, "ReturnConsumedCapacity": "TOTAL"});
    let answer = ok(&store, "BatchWriteItem", request);
    assert_eq!(answer["UnprocessedItems"], json!({arn: [put, delete]}));
    assert_eq!(
        answer["ConsumedCapacity"],
        json!([{"TableName": arn, "CapacityUnits": 1.0}])
    );
    let written: Vec<ItemKey> = store.items(id).into_iter().map(|(key, _)| key).collect();
    let mut wanted = vec![item_key(id, "b", None), item_key(id, "c", None)];
    wanted.sort();
    assert_eq!(written, wanted);
    // A single write answers the conflict.
    let (status, answer) = call(
        &store,
        "PutItem",
        &json!({"TableName": "Hash1", "Item": {"pk": {"S": "a"}}}),
    );
    assert_eq!(status, 400);
    assert_eq!(
        answer["__type"],
        "com.amazonaws.dynamodb.v20120810#TransactionConflictException"
    );
}

/// Changes a table's description once, between the plan of a write and its locks.
struct Interrupted {
    store: MemoryStore,
    change: Mutex<Option<Change>>,
}

enum Change {
    Raise(&'static str),
    Drop(&'static str),
}

impl Interrupted {
    fn interrupt(&self) {
        let Some(change) = self.change.lock().expect("no panic before").take() else {
            return;
        };
        let table = match change {
            Change::Raise(table) | Change::Drop(table) => name(table),
        };
        let is_drop = matches!(change, Change::Drop(_));
        let decide = move |proposal: Proposal<'_>| {
            let mut table = proposal.existing.expect("the table is there").clone();
            table.version = Version(table.version.0 + 1);
            let change = if is_drop {
                TableChange::Drop(table.id)
            } else {
                TableChange::Replace(table)
            };
            Alteration {
                change: Some(change),
                answer: (),
            }
        };
        run_now(self.store.alter(&table, Box::new(decide))).expect("the memory store answers");
    }
}

impl Store for Interrupted {
    fn tables(
        &self,
        names: &[TableName],
        access: Access,
    ) -> impl Future<Output = Result<Vec<Option<Arc<Table>>>, StoreError>> + Send {
        self.store.tables(names, access)
    }

    fn read(
        &self,
        keys: &[ItemKey],
    ) -> impl Future<Output = Result<Vec<Option<extenddb_core::item::Item>>, StoreError>> + Send {
        self.store.read(keys)
    }

    fn walk(&self, range: Range) -> impl Future<Output = Result<Page, StoreError>> + Send {
        self.store.walk(range)
    }

    fn transact<T: Send + 'static>(
        &self,
        units: Vec<Unit<T>>,
    ) -> impl Future<Output = Vec<Result<T, StoreError>>> + Send {
        self.interrupt();
        self.store.transact(units)
    }

    fn alter<T: Send + 'static>(
        &self,
        name: &TableName,
        decide: Box<dyn Fn(Proposal) -> Alteration<T> + Send>,
    ) -> impl Future<Output = Result<T, StoreError>> + Send {
        self.store.alter(name, decide)
    }

    fn table_names(
        &self,
        account: &AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<String>, StoreError>> + Send {
        self.store.table_names(account, after, limit)
    }

    fn expired(
        &self,
        table: TableId,
        before: Timestamp,
        max: usize,
    ) -> impl Future<Output = Result<Vec<ItemKey>, StoreError>> + Send {
        self.store.expired(table, before, max)
    }

    fn statistics(&self, table: &Table) -> impl Future<Output = Result<Statistics, StoreError>> + Send {
        self.store.statistics(table)
    }
}

fn interrupted(change: Change) -> Interrupted {
    let store = MemoryStore::default();
    create(&store, "Hash1");
    create(&store, "Hash2");
    Interrupted {
        store,
        change: Mutex::new(Some(change)),
    }
}

#[test]
fn a_write_is_planned_again_when_its_description_has_changed() {
    let store = interrupted(Change::Raise("Hash1"));
    ok(
        &store,
        "PutItem",
        json!({"TableName": "Hash1", "Item": {"pk": {"S": "a"}}}),
    );
    let answer = ok(
        &store,
        "GetItem",
        json!({"TableName": "Hash1", "Key": {"pk": {"S": "a"}}}),
    );
    assert_eq!(answer, json!({"Item": {"pk": {"S": "a"}}}));
}

fn batch(store: &Interrupted) -> Value {
    let put = |pk: &str| json!({"PutRequest": {"Item": {"pk": {"S": pk}}}});
    ok(
        store,
        "BatchWriteItem",
        json!({"RequestItems": {"Hash1": [put("a"), put("b")], "Hash2": [put("c")]}, "ReturnConsumedCapacity": "TOTAL"}),
    )
}

#[test]
fn of_a_batch_only_what_met_the_change_is_planned_again() {
    let store = interrupted(Change::Raise("Hash1"));
    let answer = batch(&store);
    assert_eq!(
        answer,
        json!({"UnprocessedItems": {}, "ConsumedCapacity": [{"TableName": "Hash1", "CapacityUnits": 2.0},
            {"TableName": "Hash2", "CapacityUnits": 1.0}]})
    );
}

/// Part of it is written: the rest comes back, and the next attempt is told that there is no table.
#[test]
fn of_a_batch_what_met_a_dropped_table_comes_back() {
    let store = interrupted(Change::Drop("Hash1"));
    let answer = batch(&store);
    let put = |pk: &str| json!({"PutRequest": {"Item": {"pk": {"S": pk}}}});
    assert_eq!(answer["UnprocessedItems"], json!({"Hash1": [put("a"), put("b")]}));
    let read = ok(
        &store,
        "GetItem",
        json!({"TableName": "Hash2", "Key": {"pk": {"S": "c"}}}),
    );
    assert_eq!(read, json!({"Item": {"pk": {"S": "c"}}}));
}

/// An index whose RANGE values share their limit: the text is not measured.
#[test]
fn the_range_values_of_one_index_share_their_limit() {
    const REFUSED: &str = "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the \
                           size limit of 1024 bytes";
    let store = MemoryStore::default();
    let attribute = |name: &str, kind: &str| json!({"AttributeName": name, "AttributeType": kind});
    let key = |name: &str, role: &str| json!({"AttributeName": name, "KeyType": role});
    ok(
        &store,
        "CreateTable",
        json!({"TableName": "Ranges", "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [attribute("pk", "S"), attribute("a", "S"), attribute("b", "B"), attribute("n", "N")],
            "KeySchema": [key("pk", "HASH")],
            "GlobalSecondaryIndexes": [{"IndexName": "ranges", "Projection": {"ProjectionType": "ALL"},
                "KeySchema": [key("pk", "HASH"), key("a", "RANGE"), key("b", "RANGE"), key("n", "RANGE")]}]}),
    );
    let item = |a: usize| {
        // 400 bytes of B.
        let b = "AAAA".repeat(133) + "AA==";
        json!({"pk": {"S": "k"}, "a": {"S": "x".repeat(a)}, "b": {"B": b}, "n": {"N": "-1.5"}})
    };
    ok(
        &store,
        "PutItem",
        json!({"TableName": "Ranges", "Item": item(624)}),
    );
    assert_eq!(store.index_rows(described(&store, "Ranges").id).len(), 1);
    let (status, answer) = call(
        &store,
        "PutItem",
        &json!({"TableName": "Ranges", "Item": item(625)}),
    );
    assert_eq!((status, text(&answer)), (400, REFUSED));
    let (status, answer) = call(
        &store,
        "UpdateItem",
        &json!({"TableName": "Ranges", "Key": {"pk": {"S": "k"}}, "UpdateExpression": "SET a = :a",
            "ExpressionAttributeValues": {":a": {"S": "x".repeat(625)}}}),
    );
    assert_eq!((status, text(&answer)), (400, REFUSED));
}

/// The rows measured in eu-west-2 in August 2026: a GSI that includes `proj`, an LSI of everything, entries under 1 KB.
#[test]
fn index_writes_are_charged_as_measured() {
    let store = MemoryStore::default();
    let attribute = |name: &str| json!({"AttributeName": name, "AttributeType": "S"});
    let key = |name: &str, role: &str| json!({"AttributeName": name, "KeyType": role});
    ok(
        &store,
        "CreateTable",
        json!({"TableName": "Charged", "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [attribute("pk"), attribute("sk"), attribute("g"), attribute("l")],
            "KeySchema": [key("pk", "HASH"), key("sk", "RANGE")],
            "LocalSecondaryIndexes": [{"IndexName": "local", "Projection": {"ProjectionType": "ALL"},
                "KeySchema": [key("pk", "HASH"), key("l", "RANGE")]}],
            "GlobalSecondaryIndexes": [{"IndexName": "global", "KeySchema": [key("g", "HASH")],
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["proj"]}}]}),
    );
    // total, table, GSI, LSI
    let charged = |operation: &str, mut request: Value| {
        request["TableName"] = json!("Charged");
        request["ReturnConsumedCapacity"] = json!("INDEXES");
        let capacity = ok(&store, operation, request)["ConsumedCapacity"].clone();
        let units = |arm: &Value| arm["CapacityUnits"].as_f64().unwrap_or_default();
        (
            units(&capacity),
            units(&capacity["Table"]),
            units(&capacity["GlobalSecondaryIndexes"]["global"]),
            units(&capacity["LocalSecondaryIndexes"]["local"]),
        )
    };
    let put = |item: Value| json!({"Item": item});
    let update = |sk: &str, expression: &str| {
        let mut request = json!({"Key": {"pk": {"S": "p"}, "sk": {"S": sk}}, "UpdateExpression": expression});
        if expression.contains(":v") {
            request["ExpressionAttributeValues"] = json!({":v": {"S": "new"}});
        }
        request
    };
    let both =
        json!({"pk": {"S": "p"}, "sk": {"S": "2"}, "g": {"S": "g"}, "l": {"S": "l"}, "proj": {"S": "x"}});
    let member = json!({"pk": {"S": "p"}, "sk": {"S": "1"}, "g": {"S": "g"}});
    assert_eq!(charged("PutItem", put(member)), (2.0, 1.0, 1.0, 0.0));
    assert_eq!(charged("PutItem", put(both.clone())), (3.0, 1.0, 1.0, 1.0));
    assert_eq!(charged("PutItem", put(both)), (1.0, 1.0, 0.0, 0.0));
    assert_eq!(
        charged("UpdateItem", update("2", "SET extra = :v")),
        (2.0, 1.0, 0.0, 1.0)
    );
    assert_eq!(
        charged("UpdateItem", update("2", "SET g = :v")),
        (4.0, 1.0, 2.0, 1.0)
    );
    assert_eq!(
        charged("UpdateItem", update("2", "REMOVE g")),
        (3.0, 1.0, 1.0, 1.0)
    );
    assert_eq!(
        charged("UpdateItem", update("2", "SET g = :v")),
        (3.0, 1.0, 1.0, 1.0)
    );
    let delete = json!({"Key": {"pk": {"S": "p"}, "sk": {"S": "2"}}});
    assert_eq!(charged("DeleteItem", delete), (3.0, 1.0, 1.0, 1.0));
    assert_eq!(
        charged("UpdateItem", update("3", "SET g = :v, l = :v")),
        (3.0, 1.0, 1.0, 1.0)
    );
    let large = json!({"pk": {"S": "p"}, "sk": {"S": "4"}, "w": {"S": "x".repeat(3_000)}});
    assert_eq!(charged("PutItem", put(large)), (3.0, 3.0, 0.0, 0.0));
    let small = json!({"pk": {"S": "p"}, "sk": {"S": "4"}, "w": {"S": "x".repeat(90)}});
    assert_eq!(charged("PutItem", put(small)), (3.0, 3.0, 0.0, 0.0));
}

/// What a local index does not hold is read from the table, each item rounded alone: 3 items of 9 KB.
#[test]
fn items_fetched_for_a_local_index_are_charged_each() {
    let store = MemoryStore::default();
    let attribute = |name: &str| json!({"AttributeName": name, "AttributeType": "S"});
    let key = |name: &str, role: &str| json!({"AttributeName": name, "KeyType": role});
    ok(
        &store,
        "CreateTable",
        json!({"TableName": "Fetched", "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [attribute("pk"), attribute("sk"), attribute("l")],
            "KeySchema": [key("pk", "HASH"), key("sk", "RANGE")],
            "LocalSecondaryIndexes": [{"IndexName": "local", "Projection": {"ProjectionType": "KEYS_ONLY"},
                "KeySchema": [key("pk", "HASH"), key("l", "RANGE")]}]}),
    );
    for sk in ["1", "2", "3"] {
        let item = json!({"pk": {"S": "p"}, "sk": {"S": sk}, "l": {"S": sk}, "v": {"S": "x".repeat(9_000)}});
        ok(&store, "PutItem", json!({"TableName": "Fetched", "Item": item}));
    }
    for (consistent, table, local) in [(false, 4.5, 0.5), (true, 9.0, 1.0)] {
        let answer = ok(
            &store,
            "Query",
            json!({"TableName": "Fetched", "IndexName": "local", "KeyConditionExpression": "pk = :p",
                "ExpressionAttributeValues": {":p": {"S": "p"}}, "Select": "ALL_ATTRIBUTES",
                "ConsistentRead": consistent, "ReturnConsumedCapacity": "INDEXES"}),
        );
        assert_eq!(
            answer["ConsumedCapacity"],
            json!({"TableName": "Fetched", "CapacityUnits": table + local, "Table": {"CapacityUnits": table},
                "LocalSecondaryIndexes": {"local": {"CapacityUnits": local}}})
        );
    }
    // Nothing read from the table: zero, and as it is written.
    let answer = ok(
        &store,
        "Scan",
        json!({"TableName": "Fetched", "IndexName": "local", "ReturnConsumedCapacity": "INDEXES"}),
    );
    assert_eq!(
        answer["ConsumedCapacity"]["Table"].to_string(),
        r#"{"CapacityUnits":0.0}"#
    );
}

/// The texts of the old request layer, where the switch puts all operations there.
#[test]
fn the_old_layer_words_members_and_parameters_its_own_way() {
    let store = MemoryStore::default();
    create(&store, "Hash1");
    const AT_LEAST_ONE: &str =
        "failed to satisfy constraint: Member must have length greater than or equal to 1";
    let key = json!({"pk": {"S": "a"}});
    let (values, item) = (json!({":a": {"N": "1"}}), json!({"pk": {"S": "a"}}));
    for (operation, request, wanted) in [
        (
            "BatchGetItem",
            json!({"RequestItems": {}}),
            "The requestItems parameter is required for BatchGetItem".to_owned(),
        ),
        (
            "BatchGetItem",
            json!({"RequestItems": {"Hash1": {"Keys": []}}}),
            format!("1 validation error detected: Value '[]' at 'requestItems.Hash1.member.keys' {AT_LEAST_ONE}"),
        ),
        (
            "Scan",
            json!({"TableName": "Hash1", "Segment": 2, "TotalSegments": 2}),
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 2 is not less \
             than TotalSegments: 2"
                .to_owned(),
        ),
        (
            "Scan",
            json!({"TableName": "Hash1", "ExclusiveStartKey": {"pk": {"N": "1"}}}),
            "The provided starting key is invalid: The provided key element does not match the schema".to_owned(),
        ),
        (
            "Scan",
            json!({"TableName": "Hash1", "ExclusiveStartKey": {"pk": {"S": "a"}, "x": {"S": "a"}}}),
            "The provided starting key is invalid: The provided key element does not match the schema".to_owned(),
        ),
        (
            "PutItem",
            json!({"TableName": "Hash1", "Item": item, "ExpressionAttributeValues": values}),
            "ExpressionAttributeValues can only be specified when using expressions: ConditionExpression is null"
                .to_owned(),
        ),
        (
            "PutItem",
            json!({"TableName": "Hash1", "Item": item, "ReturnValues": "ALL_NEW"}),
            "ReturnValues can only be ALL_OLD or NONE".to_owned(),
        ),
        (
            "GetItem",
            json!({"TableName": "", "Key": key}),
            format!("1 validation error detected: Value '' at 'tableName' {AT_LEAST_ONE}"),
        ),
    ] {
        let (status, answer) = call_on(Layer::Old, &store, operation, &request);
        assert_eq!((status, text(&answer)), (400, wanted.as_str()), "{operation} {request}");
    }
}

/// Changes a description as a worker would.
fn describe_anew(store: &MemoryStore, table: &str, change: impl Fn(&mut Table) + Send + 'static) {
    let decide = move |proposal: Proposal<'_>| {
        let mut table = proposal.existing.expect("the table is there").clone();
        table.version = Version(table.version.0 + 1);
        change(&mut table);
        Alteration {
            change: Some(TableChange::Replace(table)),
            answer: (),
        }
    };
    run_now(store.alter(&name(table), Box::new(decide))).expect("the memory store answers");
}

#[test]
fn a_table_serves_items_only_while_it_is_active_or_updating() {
    let store = MemoryStore::default();
    create(&store, "Hash1");
    let key = json!({"pk": {"S": "a"}});
    let requests = [
        ("GetItem", json!({"TableName": "Hash1", "Key": key})),
        ("PutItem", json!({"TableName": "Hash1", "Item": key})),
        ("UpdateItem", json!({"TableName": "Hash1", "Key": key})),
        ("DeleteItem", json!({"TableName": "Hash1", "Key": key})),
        ("Scan", json!({"TableName": "Hash1"})),
        (
            "BatchGetItem",
            json!({"RequestItems": {"Hash1": {"Keys": [key]}}}),
        ),
        (
            "BatchWriteItem",
            json!({"RequestItems": {"Hash1": [{"PutRequest": {"Item": key}}]}}),
        ),
    ];
    for (status, wanted) in [
        (TableStatus::Creating, 400),
        (TableStatus::Active, 200),
        (TableStatus::Updating, 200),
        (TableStatus::Deleting, 400),
    ] {
        describe_anew(&store, "Hash1", move |table| table.status = status);
        for (operation, request) in &requests {
            let (answered, answer) = call(&store, operation, request);
            assert_eq!(answered, wanted, "{operation} while {status:?}: {answer}");
            if wanted == 400 {
                assert_eq!(text(&answer), "Requested resource not found");
                assert_eq!(
                    answer["__type"],
                    "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"
                );
            }
        }
    }
}

#[test]
fn an_index_is_read_once_it_is_built_and_until_it_is_deleted() {
    let store = MemoryStore::default();
    ok(
        &store,
        "CreateTable",
        json!({"TableName": "Indexed", "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "g", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "GlobalSecondaryIndexes": [{"IndexName": "global", "Projection": {"ProjectionType": "ALL"},
                "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}]}]}),
    );
    let scan = json!({"TableName": "Indexed", "IndexName": "global"});
    for (status, wanted) in [
        (
            TableStatus::Creating,
            "Cannot read from backfilling global secondary index: global",
        ),
        (
            TableStatus::Deleting,
            "The table does not have the specified index: global",
        ),
        (TableStatus::Active, ""),
    ] {
        describe_anew(&store, "Indexed", move |table| table.indexes[0].status = status);
        let (_, answer) = call(&store, "Scan", &scan);
        assert_eq!(text(&answer), wanted);
    }
}
