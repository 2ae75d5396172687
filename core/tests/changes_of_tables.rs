//! What UpdateTable does to a table with items: an index that comes later holds what the items imply, whoever writes
//! while it is filled; throughput and billing as they are shown afterwards.

mod served;

use std::sync::{Arc, Mutex};

use extenddb_core::{
    item::{AttributeValue, Item, ItemKey, encode_hash, hash_bucket, stored_hash},
    store::{Access, Alteration, Page, Proposal, Range, Store, StoreError, TableChange},
    store_suite::{MemoryStore, run_now},
    table::{AccountId, Statistics, Table, TableId, TableName, TableStatus, Version},
    time::Timestamp,
    write::{Unit, entry},
};
use serde_json::{Value, json};
use served::{call, ok};

fn name(table: &str) -> TableName {
    TableName {
        account: AccountId::default(),
        name: table.into(),
    }
}

fn create<S: Store>(store: &S, table: &str) {
    ok(
        store,
        "CreateTable",
        json!({"TableName": table, "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]}),
    );
}

fn put<S: Store>(store: &S, pk: &str, g: Value) {
    let mut item = json!({"pk": {"S": pk}, "v": {"S": format!("of {pk}")}});
    if !g.is_null() {
        item["g"] = g;
    }
    ok(store, "PutItem", json!({"TableName": "Tab", "Item": item}));
}

fn add_index(index: &str) -> Value {
    json!({"TableName": "Tab", "AttributeDefinitions": [{"AttributeName": "g", "AttributeType": "S"}],
        "GlobalSecondaryIndexUpdates": [{"Create": {"IndexName": index,
            "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}}]})
}

fn delete_index(index: &str) -> Value {
    json!({"TableName": "Tab", "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": index}}]})
}

fn query<S: Store>(store: &S, index: &str, g: &str) -> usize {
    let answer = ok(
        store,
        "Query",
        json!({"TableName": "Tab", "IndexName": index, "KeyConditionExpression": "g = :g",
            "ExpressionAttributeValues": {":g": {"S": g}}}),
    );
    answer["Items"].as_array().expect("items").len()
}

fn describe<S: Store>(store: &S) -> Value {
    ok(store, "DescribeTable", json!({"TableName": "Tab"}))["Table"].clone()
}

fn described<S: Store>(store: &S) -> Arc<Table> {
    let tables = run_now(store.tables(&[name("Tab")], Access::Read)).expect("the store answers");
    tables.into_iter().next().flatten().expect("the table is there")
}

fn item_key(table: &Table, pk: &str) -> ItemKey {
    let hash = encode_hash([&AttributeValue::S(pk.into())]);
    ItemKey {
        table: table.id,
        bucket: hash_bucket(&hash),
        pk: stored_hash(hash),
        sk: Vec::new(),
    }
}

/// That the rows of each index are those that the items imply.
fn check_rows(store: &MemoryStore) {
    let table = described(store);
    let mut wanted = Vec::new();
    for index in &table.indexes {
        for (key, item) in store.items(table.id) {
            wanted.extend(entry(&table, index, &key, &item).map(|(key, item)| (index.number, key, item)));
        }
    }
    wanted.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    assert_eq!(store.index_rows(table.id), wanted);
}

/// Changes the stored description.
fn alter<S: Store>(store: &S, change: impl Fn(&mut Table) + Send + 'static) {
    let decide = move |proposal: Proposal| {
        let mut table = proposal.existing.expect("the table is there").clone();
        table.version = Version(table.version.0 + 1);
        change(&mut table);
        Alteration {
            change: Some(TableChange::Replace(table)),
            answer: (),
        }
    };
    run_now(store.alter(&name("Tab"), Box::new(decide))).expect("altered");
}

#[test]
fn an_index_on_a_filled_table_is_queried_then_deleted() {
    let store = MemoryStore::default();
    create(&store, "Tab");
    // More than a batch; a third has another type, a third no `g`.
    for n in 0..330 {
        let g = match n % 3 {
            0 => json!({"S": "a"}),
            1 => json!({"N": "1"}),
            _ => Value::Null,
        };
        put(&store, &format!("p{n}"), g);
    }
    let answer = ok(&store, "UpdateTable", add_index("by-g"));
    let table = &answer["TableDescription"];
    assert_eq!(table["TableStatus"], "UPDATING");
    assert_eq!(
        table["AttributeDefinitions"],
        json!([{"AttributeName": "g", "AttributeType": "S"}, {"AttributeName": "pk", "AttributeType": "S"}])
    );
    let index = &table["GlobalSecondaryIndexes"][0];
    assert_eq!(index["IndexStatus"], "CREATING");
    assert_eq!(index["Backfilling"], false);
    assert_eq!(
        index["ProvisionedThroughput"],
        json!({"NumberOfDecreasesToday": 0, "ReadCapacityUnits": 0, "WriteCapacityUnits": 0})
    );
    assert_eq!(
        (&index["ItemCount"], &index["IndexSizeBytes"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(
        index["IndexArn"],
        "arn:aws:dynamodb:us-east-1:000000000000:table/Tab/index/by-g"
    );

    let table = describe(&store);
    assert_eq!(table["TableStatus"], "ACTIVE");
    let index = &table["GlobalSecondaryIndexes"][0];
    assert_eq!(index["IndexStatus"], "ACTIVE");
    assert_eq!(index.get("Backfilling"), None);
    assert_eq!(index["ItemCount"], 110);
    assert_eq!(query(&store, "by-g", "a"), 110);
    check_rows(&store);

    // Writes are held to the new key's type, and maintain the index.
    let (status, _) = call(
        &store,
        "PutItem",
        &json!({"TableName": "Tab", "Item": {"pk": {"S": "p0"}, "g": {"N": "1"}}}),
    );
    assert_eq!(status, 400);
    put(&store, "p0", json!({"S": "b"}));
    assert_eq!((query(&store, "by-g", "a"), query(&store, "by-g", "b")), (109, 1));

    let (status, fault) = call(&store, "UpdateTable", &add_index("by-g"));
    assert_eq!(
        (status, &fault["message"]),
        (400, &json!("Attempting to create an index which already exists"))
    );

    let answer = ok(&store, "UpdateTable", delete_index("by-g"));
    let table = &answer["TableDescription"];
    assert_eq!(table["TableStatus"], "UPDATING");
    assert_eq!(table["GlobalSecondaryIndexes"][0]["IndexStatus"], "DELETING");
    assert_eq!(table["GlobalSecondaryIndexes"][0].get("Backfilling"), None);
    assert_eq!(table["AttributeDefinitions"].as_array().map(Vec::len), Some(2));
    let table = describe(&store);
    assert_eq!(table.get("GlobalSecondaryIndexes"), None);
    assert_eq!(
        table["AttributeDefinitions"],
        json!([{"AttributeName": "pk", "AttributeType": "S"}])
    );
    assert_eq!(store.index_rows(described(&store).id), []);

    // Under its name again: another index, with a number of its own.
    ok(&store, "UpdateTable", add_index("by-g"));
    assert_eq!(described(&store).indexes[0].number, 2);
    assert_eq!(query(&store, "by-g", "a"), 109);
    check_rows(&store);
}

/// What others do between the steps of a fill.
type Between = Box<dyn FnMut(&MemoryStore, usize) + Send>;

/// Lets others in before each page of a walk.
struct Shared {
    store: MemoryStore,
    walks: Mutex<(usize, Option<Between>)>,
}

impl Shared {
    fn new(store: MemoryStore, between: impl FnMut(&MemoryStore, usize) + Send + 'static) -> Self {
        Shared {
            store,
            walks: Mutex::new((0, Some(Box::new(between)))),
        }
    }

    fn let_others_in(&self) {
        let mut walks = self.walks.lock().expect("nobody panicked");
        let count = walks.0;
        walks.0 += 1;
        if let Some(between) = &mut walks.1 {
            between(&self.store, count);
        }
    }
}

impl Store for Shared {
    fn tables(
        &self,
        names: &[TableName],
        access: Access,
    ) -> impl Future<Output = Result<Vec<Option<Arc<Table>>>, StoreError>> + Send {
        self.store.tables(names, access)
    }

    fn read(&self, keys: &[ItemKey]) -> impl Future<Output = Result<Vec<Option<Item>>, StoreError>> + Send {
        self.store.read(keys)
    }

    fn walk(&self, range: Range) -> impl Future<Output = Result<Page, StoreError>> + Send {
        self.let_others_in();
        self.store.walk(range)
    }

    fn transact<T: Send + 'static>(
        &self,
        units: Vec<Unit<T>>,
    ) -> impl Future<Output = Vec<Result<T, StoreError>>> + Send {
        self.let_others_in();
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

#[test]
fn writers_between_the_batches_of_a_fill_leave_no_difference() {
    let store = MemoryStore::default();
    create(&store, "Tab");
    for n in 0..250 {
        put(&store, &format!("p{n}"), json!({"S": format!("g{}", n % 5)}));
    }
    // Others put, update, move and delete items that are filled and that are not.
    let shared = Shared::new(store, |store, step| {
        let index = &describe(store)["GlobalSecondaryIndexes"][0];
        assert_eq!(
            (&index["IndexStatus"], &index["Backfilling"]),
            (&json!("CREATING"), &json!(true))
        );
        for n in (step * 37..).step_by(11).take(20) {
            let pk = format!("p{}", n % 260);
            let key = json!({"pk": {"S": pk}});
            match n % 4 {
                0 => put(store, &pk, json!({"S": format!("g{}", n % 7)})),
                1 => {
                    ok(store, "DeleteItem", json!({"TableName": "Tab", "Key": key}));
                }
                2 => {
                    ok(
                        store,
                        "UpdateItem",
                        json!({"TableName": "Tab", "Key": key, "UpdateExpression": "SET v = :v",
                            "ExpressionAttributeValues": {":v": {"S": format!("step {step}")}}}),
                    );
                }
                _ => {
                    ok(
                        store,
                        "UpdateItem",
                        json!({"TableName": "Tab", "Key": key, "UpdateExpression": "REMOVE g"}),
                    );
                }
            }
        }
        // The index cannot be read, nor another one be made, until it is filled.
        let (status, fault) = call(
            store,
            "Query",
            &json!({"TableName": "Tab", "IndexName": "by-g", "KeyConditionExpression": "g = :g",
                "ExpressionAttributeValues": {":g": {"S": "g1"}}}),
        );
        assert_eq!(
            (status, &fault["message"]),
            (
                400,
                &json!("Cannot read from backfilling global secondary index: by-g")
            )
        );
        let (status, fault) = call(store, "UpdateTable", &add_index("other"));
        assert_eq!(
            (status, &fault["message"]),
            (
                400,
                &json!(
                    "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"
                )
            )
        );
        let (_, fault) = call(store, "UpdateTable", &add_index("by-g"));
        assert_eq!(
            fault["message"],
            "Attempt to change a resource which is still in use: Index is being created.  Table: Tab Index: by-g"
        );
        let (_, fault) = call(store, "DeleteTable", &json!({"TableName": "Tab"}));
        assert_eq!(
            fault["message"],
            "Attempt to change a resource which is still in use: Cannot delete table while indexes are being created, updated, or deleted."
        );
        // Other changes of the description make the fill look again.
        if step.is_multiple_of(3) {
            let protect = json!({"TableName": "Tab", "DeletionProtectionEnabled": step.is_multiple_of(2)});
            ok(store, "UpdateTable", protect);
        }
    });
    ok(&shared, "UpdateTable", add_index("by-g"));
    let index = &describe(&shared.store)["GlobalSecondaryIndexes"][0];
    assert_eq!(index["IndexStatus"], "ACTIVE");
    check_rows(&shared.store);
    assert!(shared.walks.lock().expect("nobody panicked").0 >= 6);
}

#[test]
fn a_fill_waits_for_keys_that_others_hold() {
    let store = MemoryStore::default();
    create(&store, "Tab");
    put(&store, "held", json!({"S": "a"}));
    put(&store, "free", json!({"S": "a"}));
    let key = item_key(&described(&store), "held");
    store.hold(key.clone());
    let shared = Shared::new(store, move |store, step| {
        if step == 4 {
            store.release(&key);
        }
    });
    ok(&shared, "UpdateTable", add_index("by-g"));
    assert_eq!(query(&shared.store, "by-g", "a"), 2);
    check_rows(&shared.store);
}

#[test]
fn an_index_that_cannot_be_filled_is_taken_back() {
    let store = MemoryStore::default();
    create(&store, "Tab");
    put(&store, "held", json!({"S": "a"}));
    let key = item_key(&described(&store), "held");
    store.hold(key.clone());
    let (status, fault) = call(&store, "UpdateTable", &add_index("by-g"));
    assert_eq!(
        (status, &fault["message"]),
        (
            400,
            &json!("Attempt to change a resource which is still in use: Table is being used: Tab")
        )
    );
    assert_eq!(describe(&store).get("GlobalSecondaryIndexes"), None);
    check_rows(&store);
    store.release(&key);
    ok(&store, "UpdateTable", add_index("by-g"));
    assert_eq!(described(&store).indexes[0].number, 2);
    assert_eq!(query(&store, "by-g", "a"), 1);
}

#[test]
fn a_fill_ends_with_its_index() {
    let store = MemoryStore::default();
    create(&store, "Tab");
    for n in 0..150 {
        put(&store, &format!("p{n}"), json!({"S": "a"}));
    }
    let shared = Shared::new(store, |store, step| {
        if step == 1 {
            ok(store, "UpdateTable", delete_index("by-g"));
        }
    });
    ok(&shared, "UpdateTable", add_index("by-g"));
    assert_eq!(describe(&shared.store).get("GlobalSecondaryIndexes"), None);
    check_rows(&shared.store);
}

#[test]
fn an_index_in_between_refuses_what_would_meet_it() {
    let store = MemoryStore::default();
    create(&store, "Tab");
    ok(&store, "UpdateTable", add_index("by-g"));
    let units = json!({"ReadCapacityUnits": 1, "WriteCapacityUnits": 1});
    let update = json!({"TableName": "Tab", "GlobalSecondaryIndexUpdates":
        [{"Update": {"IndexName": "by-g", "ProvisionedThroughput": units}}]});
    let provisioned = json!({"TableName": "Tab", "ProvisionedThroughput": units});
    let rows = [
        (
            TableStatus::Updating,
            &update,
            "Index is being updated. Table: Tab Index: by-g",
        ),
        (
            TableStatus::Deleting,
            &update,
            "Index is being deleted. Table: Tab Index: by-g",
        ),
        (
            TableStatus::Deleting,
            &provisioned,
            "Can't change table IOPS when an index is being deleted. Table: Tab Indexes: [by-g]",
        ),
    ];
    for (status, request, text) in rows {
        alter(&store, move |table| table.indexes[0].status = status);
        let (_, fault) = call(&store, "UpdateTable", request);
        assert_eq!(
            fault["message"],
            format!("Attempt to change a resource which is still in use: {text}")
        );
    }
    let rows = [
        (TableStatus::Creating, "Table is being created: Tab"),
        (TableStatus::Deleting, "Table is being deleted: Tab"),
        (
            TableStatus::Updating,
            "Table IOPS are currently being updated. Table: Tab",
        ),
    ];
    for (status, text) in rows {
        alter(&store, move |table| {
            table.status = status;
            table.indexes[0].status = TableStatus::Active;
        });
        let (_, fault) = call(&store, "UpdateTable", &provisioned);
        assert_eq!(
            fault["message"],
            format!("Attempt to change a resource which is still in use: {text}")
        );
    }
}

#[test]
fn throughput_shows_what_it_was_and_when_it_changed() {
    let store = MemoryStore::default();
    ok(
        &store,
        "CreateTable",
        json!({"TableName": "Tab", "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "g", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "GlobalSecondaryIndexes": [{"IndexName": "by-g", "Projection": {"ProjectionType": "ALL"},
                "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 2}}]}),
    );
    let set = |read: u64, write: u64| json!({"TableName": "Tab", "ProvisionedThroughput": {"ReadCapacityUnits": read, "WriteCapacityUnits": write}});
    let (status, fault) = call(&store, "UpdateTable", &set(5, 5));
    assert_eq!(
        (status, &fault["message"]),
        (
            400,
            &json!(
                "The provisioned throughput for the table will not change. The requested value equals the current value. Current ReadCapacityUnits provisioned for the table: 5. Requested ReadCapacityUnits: 5. Current WriteCapacityUnits provisioned for the table: 5. Requested WriteCapacityUnits: 5. Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
            )
        )
    );
    let answer = ok(&store, "UpdateTable", set(9, 4));
    assert_eq!(answer["TableDescription"]["TableStatus"], "UPDATING");
    let now = 1_791_500_965.303;
    assert_eq!(
        answer["TableDescription"]["ProvisionedThroughput"],
        json!({"ReadCapacityUnits": 5, "WriteCapacityUnits": 5, "NumberOfDecreasesToday": 0,
            "LastIncreaseDateTime": now, "LastDecreaseDateTime": now})
    );
    let table = describe(&store);
    assert_eq!(table["TableStatus"], "ACTIVE");
    assert_eq!(
        table["ProvisionedThroughput"],
        json!({"ReadCapacityUnits": 9, "WriteCapacityUnits": 4, "NumberOfDecreasesToday": 1,
            "LastIncreaseDateTime": now, "LastDecreaseDateTime": now})
    );
    // Warm throughput never falls.
    assert_eq!(
        table["WarmThroughput"],
        json!({"ReadUnitsPerSecond": 9, "WriteUnitsPerSecond": 5, "Status": "ACTIVE"})
    );
    assert_eq!(table.get("BillingModeSummary"), None);

    let index = |read: u64, write: u64| {
        json!({"TableName": "Tab", "GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": "by-g",
            "ProvisionedThroughput": {"ReadCapacityUnits": read, "WriteCapacityUnits": write}}}]})
    };
    let (_, fault) = call(&store, "UpdateTable", &index(1, 2));
    let text = fault["message"].as_str().expect("a text");
    assert!(
        text.starts_with("The provisioned throughput for the index by-g will not change. The requested value equals the current value. Current ReadCapacityUnits provisioned for index by-g: 1. Requested ReadCapacityUnits: 1. Current WriteCapacityUnits "),
        "{text}"
    );
    let answer = ok(&store, "UpdateTable", index(2, 2));
    assert_eq!(answer["TableDescription"]["TableStatus"], "ACTIVE");
    let shown = &answer["TableDescription"]["GlobalSecondaryIndexes"][0];
    assert_eq!(shown["IndexStatus"], "UPDATING");
    assert_eq!(shown["ProvisionedThroughput"]["ReadCapacityUnits"], 1);
    let shown = &describe(&store)["GlobalSecondaryIndexes"][0];
    assert_eq!(shown["IndexStatus"], "ACTIVE");
    assert_eq!(shown["ProvisionedThroughput"]["ReadCapacityUnits"], 2);

    // A new index needs units of its own.
    let mut added = add_index("other");
    let (_, fault) = call(&store, "UpdateTable", &added);
    assert_eq!(
        fault["message"],
        "One or more parameter values were invalid: Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: other"
    );
    added["GlobalSecondaryIndexUpdates"][0]["Create"]["ProvisionedThroughput"] =
        json!({"ReadCapacityUnits": 3, "WriteCapacityUnits": 3});
    ok(&store, "UpdateTable", added);
    ok(&store, "UpdateTable", delete_index("other"));

    // On demand and back.
    let answer = ok(
        &store,
        "UpdateTable",
        json!({"TableName": "Tab", "BillingMode": "PAY_PER_REQUEST"}),
    );
    assert_eq!(answer["TableDescription"]["TableStatus"], "UPDATING");
    let table = describe(&store);
    assert_eq!(
        table["BillingModeSummary"],
        json!({"BillingMode": "PAY_PER_REQUEST", "LastUpdateToPayPerRequestDateTime": now})
    );
    assert_eq!(table["ProvisionedThroughput"]["ReadCapacityUnits"], 0);
    assert_eq!(table["WarmThroughput"]["ReadUnitsPerSecond"], 12000);
    let mut back = set(1, 1);
    back["BillingMode"] = json!("PROVISIONED");
    back["GlobalSecondaryIndexUpdates"] = index(1, 1)["GlobalSecondaryIndexUpdates"].clone();
    ok(&store, "UpdateTable", back);
    let table = describe(&store);
    assert_eq!(
        table["BillingModeSummary"],
        json!({"BillingMode": "PROVISIONED", "LastUpdateToPayPerRequestDateTime": now})
    );
    assert_eq!(table["ProvisionedThroughput"]["ReadCapacityUnits"], 1);
    assert_eq!(
        table["WarmThroughput"],
        json!({"ReadUnitsPerSecond": 12000, "WriteUnitsPerSecond": 4000, "Status": "ACTIVE"})
    );
    let (_, fault) = call(
        &store,
        "UpdateTable",
        &json!({"TableName": "Tab", "OnDemandThroughput": {"MaxReadRequestUnits": 0}}),
    );
    assert_eq!(
        fault["message"],
        "One or more parameter values were invalid: MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table BillingMode is PROVISIONED"
    );
}

#[test]
fn class_and_protection_are_shown_as_they_are_now() {
    let store = MemoryStore::default();
    create(&store, "Tab");
    let class = |class: &str| json!({"TableName": "Tab", "TableClass": class});
    // The class that the table has: nothing to show.
    let answer = ok(&store, "UpdateTable", class("STANDARD"));
    assert_eq!(answer["TableDescription"]["TableStatus"], "UPDATING");
    assert_eq!(describe(&store).get("TableClassSummary"), None);
    let answer = ok(&store, "UpdateTable", class("STANDARD_INFREQUENT_ACCESS"));
    assert_eq!(answer["TableDescription"].get("TableClassSummary"), None);
    assert_eq!(
        describe(&store)["TableClassSummary"],
        json!({"TableClass": "STANDARD_INFREQUENT_ACCESS", "LastUpdateDateTime": 1_791_500_965.303})
    );

    let protect = |on: bool| json!({"TableName": "Tab", "DeletionProtectionEnabled": on});
    let answer = ok(&store, "UpdateTable", protect(true));
    assert_eq!(answer["TableDescription"]["TableStatus"], "ACTIVE");
    assert_eq!(answer["TableDescription"]["DeletionProtectionEnabled"], true);
    ok(&store, "UpdateTable", protect(true));
    let (status, _) = call(&store, "DeleteTable", &json!({"TableName": "Tab"}));
    assert_eq!(status, 400);
    ok(&store, "UpdateTable", protect(false));
    ok(&store, "DeleteTable", json!({"TableName": "Tab"}));
}

#[test]
fn time_to_live_gives_items_their_time_when_they_are_written() {
    let store = MemoryStore::default();
    create(&store, "Tab");
    let table = described(&store);
    let expires = |pk: &str| store.expires(&item_key(&table, pk));
    let put = |pk: &str, until: Value| {
        let item = json!({"pk": {"S": pk}, "until": until});
        ok(&store, "PutItem", json!({"TableName": "Tab", "Item": item}));
    };
    let set = |enabled: bool, attribute: &str| {
        let request = json!({"TableName": "Tab",
            "TimeToLiveSpecification": {"Enabled": enabled, "AttributeName": attribute}});
        let (_, answer) = call(&store, "UpdateTimeToLive", &request);
        answer["message"].as_str().unwrap_or_default().to_owned()
    };
    put("before", json!({"N": "1800000000"}));
    assert_eq!(set(true, "until"), "");
    assert_eq!(expires("before"), None, "until it is written again");
    let rows = [
        ("integer", json!({"N": "1800000000"}), Some(1_800_000_000)),
        ("exponent", json!({"N": "1.8e9"}), Some(1_800_000_000)),
        (
            "milliseconds",
            json!({"N": "1800000000000"}),
            Some(1_800_000_000_000),
        ),
        ("fraction", json!({"N": "1800000000.5"}), None),
        ("zero", json!({"N": "0"}), None),
        ("negative", json!({"N": "-5"}), None),
        ("huge", json!({"N": "1e40"}), None),
        ("string", json!({"S": "1800000000"}), None),
        ("list", json!({"L": [{"N": "1800000000"}]}), None),
        ("map", json!({"M": {"until": {"N": "1800000000"}}}), None),
    ];
    for (pk, until, wanted) in rows {
        put(pk, until);
        assert_eq!(expires(pk), wanted, "{pk}");
    }
    // Any write gives it anew.
    let update = |pk: &str, expression: &str| {
        ok(
            &store,
            "UpdateItem",
            json!({"TableName": "Tab", "Key": {"pk": {"S": pk}}, "UpdateExpression": expression,
                "ExpressionAttributeNames": {"#u": "until"}}),
        );
    };
    update("before", "SET v = #u");
    assert_eq!(expires("before"), Some(1_800_000_000));
    update("before", "REMOVE #u");
    assert_eq!(expires("before"), None);
    let batch = json!({"RequestItems": {"Tab": [{"PutRequest":
        {"Item": {"pk": {"S": "batch"}, "until": {"N": "1900000000"}}}}]}});
    ok(&store, "BatchWriteItem", batch);
    assert_eq!(expires("batch"), Some(1_900_000_000));

    assert_eq!(set(true, "until"), "TimeToLive is already enabled");
    let other = "TimeToLive is active on a different AttributeName: current AttributeName is until";
    assert_eq!(set(true, "other"), other);
    assert_eq!(set(false, "other"), other);
    let describe = || ok(&store, "DescribeTimeToLive", json!({"TableName": "Tab"}));
    assert_eq!(
        describe(),
        json!({"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": "until"}})
    );
    assert_eq!(set(false, "until"), "");
    assert_eq!(
        describe(),
        json!({"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}})
    );
    put("integer", json!({"N": "1800000000"}));
    assert_eq!(expires("integer"), None);

    alter(&store, |table| table.status = TableStatus::Creating);
    assert_eq!(
        set(true, "until"),
        "Attempt to change a resource which is still in use: Table Tab is being created"
    );
    let (_, fault) = call(&store, "DescribeTimeToLive", &json!({"TableName": "Tab"}));
    assert_eq!(
        fault["message"],
        "Cannot describe time to live while table is in CREATING state: Current table state is CREATING"
    );
}

#[test]
fn tags_are_kept_whole_and_go_with_their_table() {
    let store = MemoryStore::default();
    let arn = "arn:aws:dynamodb:us-east-1:000000000000:table/Tab";
    let tag = |key: &str, value: &str| json!({"Key": key, "Value": value});
    let create = || {
        ok(
            &store,
            "CreateTable",
            json!({"TableName": "Tab", "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}], "Tags": [tag("a", "1")]}),
        )
    };
    let list = || ok(&store, "ListTagsOfResource", json!({"ResourceArn": arn}))["Tags"].clone();
    assert_eq!(create()["TableDescription"].get("Tags"), None);
    assert_eq!(list(), json!([tag("a", "1")]));
    let answer = ok(
        &store,
        "TagResource",
        json!({"ResourceArn": arn, "Tags": [tag("b", ""), tag("a", "2")]}),
    );
    assert_eq!(answer, Value::Null, "an empty body");
    assert_eq!(list(), json!([tag("a", "2"), tag("b", "")]));
    // Fifty fit, all or none.
    let many = |count: usize| (0..count).map(|n| tag(&format!("k{n}"), "v")).collect::<Vec<_>>();
    let (status, fault) = call(
        &store,
        "TagResource",
        &json!({"ResourceArn": arn, "Tags": many(49)}),
    );
    assert_eq!(
        (status, &fault["message"]),
        (
            400,
            &json!("Number of Tags exceed the current limit for the provided ResourceArn")
        )
    );
    assert_eq!(list().as_array().map(Vec::len), Some(2));
    ok(
        &store,
        "TagResource",
        json!({"ResourceArn": arn, "Tags": many(48)}),
    );
    assert_eq!(list().as_array().map(Vec::len), Some(50));
    let untag = json!({"ResourceArn": arn, "TagKeys": ["a", "never", "k0"]});
    assert_eq!(ok(&store, "UntagResource", untag), Value::Null);
    assert_eq!(list().as_array().map(Vec::len), Some(48));
    // Writers plan with the description, and go on.
    put(&store, "p", Value::Null);
    ok(&store, "DeleteTable", json!({"TableName": "Tab"}));
    create();
    assert_eq!(list(), json!([tag("a", "1")]));

    let one = json!({"ResourceArn": arn, "Tags": [tag("x", "y")]});
    for (status, text) in [
        (TableStatus::Creating, "Table is being created: Tab"),
        (TableStatus::Deleting, "Table is being deleted: Tab"),
    ] {
        alter(&store, move |table| table.status = status);
        let (_, fault) = call(&store, "TagResource", &one);
        assert_eq!(
            fault["message"],
            format!("Attempt to change a resource which is still in use: {text}")
        );
        assert_eq!(list(), json!([tag("a", "1")]));
    }
}
