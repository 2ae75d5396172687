//! Flows of table operations on the memory store; single faults are rows of `core/cases/tables.toml`.

use serde_json::{Value, json};

use crate::{
    error::{Error, Exception},
    operation::Context,
    store::{Alteration, Proposal, Store, TableChange},
    store_suite::{MemoryStore, run_now},
    table::{AccountId, Table, TableFault, TableName, TableStatus, Version},
    wire::Layer,
    write::Timestamp,
};

use super::{create_table, delete_table, describe_table, list_tables};

fn context() -> Context {
    Context {
        account: AccountId::default(),
        region: "us-east-1".into(),
        now: Timestamp(1_791_500_965_303),
        random: [0xab; 16],
        layer: Layer::New,
    }
}

fn answered(answer: Result<String, Error>) -> Value {
    serde_json::from_str(&answer.unwrap()).unwrap()
}

fn refused(answer: Result<String, Error>) -> TableFault {
    match answer.unwrap_err().fault {
        crate::error::Fault::Table(fault) => fault,
        other => panic!("{other:?}"),
    }
}

fn create(store: &MemoryStore, request: Value) -> Result<String, Error> {
    run_now(create_table::run(store, &request.to_string(), &context()))
}

fn describe(store: &MemoryStore, name: &str) -> Result<String, Error> {
    run_now(describe_table::run(
        store,
        &json!({ "TableName": name }).to_string(),
        &context(),
    ))
}

fn delete(store: &MemoryStore, name: &str) -> Result<String, Error> {
    run_now(delete_table::run(
        store,
        &json!({ "TableName": name }).to_string(),
        &context(),
    ))
}

fn list(store: &MemoryStore, request: Value) -> Value {
    answered(run_now(list_tables::run(store, &request.to_string(), &context())))
}

fn music() -> Value {
    json!({
        "TableName": "Music",
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{ "AttributeName": "pk", "AttributeType": "S" }],
        "KeySchema": [{ "AttributeName": "pk", "KeyType": "HASH" }],
    })
}

/// Two indexes of each kind of throughput; definitions out of order.
fn indexed() -> Value {
    json!({
        "TableName": "Indexed",
        "ProvisionedThroughput": { "ReadCapacityUnits": 5, "WriteCapacityUnits": 6 },
        "AttributeDefinitions": [
            { "AttributeName": "sk", "AttributeType": "N" }, { "AttributeName": "pk", "AttributeType": "S" },
            { "AttributeName": "g", "AttributeType": "B" }, { "AttributeName": "Big", "AttributeType": "S" },
        ],
        "KeySchema": [
            { "AttributeName": "pk", "KeyType": "HASH" }, { "AttributeName": "sk", "KeyType": "RANGE" },
        ],
        "GlobalSecondaryIndexes": [{
            "IndexName": "gsi",
            "KeySchema": [
                { "AttributeName": "g", "KeyType": "HASH" }, { "AttributeName": "sk", "KeyType": "HASH" },
                { "AttributeName": "pk", "KeyType": "RANGE" },
            ],
            "Projection": { "ProjectionType": "INCLUDE", "NonKeyAttributes": ["z", "a"] },
            "ProvisionedThroughput": { "ReadCapacityUnits": 1, "WriteCapacityUnits": 2 },
        }],
        "LocalSecondaryIndexes": [{
            "IndexName": "lsi",
            "KeySchema": [
                { "AttributeName": "pk", "KeyType": "HASH" }, { "AttributeName": "Big", "KeyType": "RANGE" },
            ],
            "Projection": { "ProjectionType": "KEYS_ONLY" },
        }],
        "TableClass": "STANDARD_INFREQUENT_ACCESS",
        "DeletionProtectionEnabled": true,
    })
}

fn name(name: &str) -> TableName {
    TableName {
        account: AccountId::default(),
        name: name.into(),
    }
}

/// Changes the stored description as later operations will.
fn alter(store: &MemoryStore, table: &str, change: impl Fn(&mut Table) + Send + 'static) {
    let decide = move |proposal: Proposal| {
        let mut table = proposal.existing.unwrap().clone();
        table.version = Version(table.version.0 + 1);
        change(&mut table);
        Alteration {
            change: Some(TableChange::Replace(table)),
            answer: (),
        }
    };
    run_now(store.alter(&name(table), Box::new(decide))).unwrap();
}

fn stored(store: &MemoryStore, table: &str) -> Table {
    let tables = run_now(store.tables(&[name(table)], crate::store::Access::Read)).unwrap();
    Table::clone(tables[0].as_ref().unwrap())
}

#[test]
fn the_answer_to_a_create_says_creating() {
    let store = MemoryStore::default();
    let answer = create(&store, music()).unwrap();
    assert!(
        answer.contains(r#""CreationDateTime":1791500965.303,"#),
        "{answer}"
    );
    assert_eq!(
        serde_json::from_str::<Value>(&answer).unwrap(),
        json!({ "TableDescription": {
            "AttributeDefinitions": [{ "AttributeName": "pk", "AttributeType": "S" }],
            "TableName": "Music",
            "KeySchema": [{ "AttributeName": "pk", "KeyType": "HASH" }],
            "TableStatus": "CREATING",
            "CreationDateTime": 1791500965.303,
            "ProvisionedThroughput": { "NumberOfDecreasesToday": 0, "ReadCapacityUnits": 0, "WriteCapacityUnits": 0 },
            "TableSizeBytes": 0,
            "ItemCount": 0,
            "TableArn": "arn:aws:dynamodb:us-east-1:000000000000:table/Music",
            "TableId": "abababab-abab-4bab-abab-abababababab",
            "BillingModeSummary": { "BillingMode": "PAY_PER_REQUEST" },
            "TableThroughputModeSummary": { "TableThroughputMode": "PAY_PER_REQUEST" },
            "DeletionProtectionEnabled": false,
        }})
    );
}

#[test]
fn a_table_is_active_at_once_and_described_whole() {
    let store = MemoryStore::default();
    create(&store, music()).unwrap();
    let table = &answered(describe(&store, "Music"))["Table"];
    assert_eq!(table["TableStatus"], "ACTIVE");
    assert_eq!(
        table["WarmThroughput"],
        json!({ "ReadUnitsPerSecond": 12000, "WriteUnitsPerSecond": 4000, "Status": "ACTIVE" })
    );
    assert_eq!(
        table["BillingModeSummary"],
        json!({ "BillingMode": "PAY_PER_REQUEST", "LastUpdateToPayPerRequestDateTime": 1791500965.303 })
    );
    for absent in [
        "LocalSecondaryIndexes",
        "GlobalSecondaryIndexes",
        "TableClassSummary",
        "StreamSpecification",
        "LatestStreamArn",
        "SSEDescription",
        "OnDemandThroughput",
        "Replicas",
    ] {
        assert_eq!(table.get(absent), None, "{absent}");
    }
}

#[test]
fn indexes_are_described_in_the_order_of_the_request() {
    let store = MemoryStore::default();
    let created = &answered(create(&store, indexed()))["TableDescription"];
    assert_eq!(created["GlobalSecondaryIndexes"][0]["IndexStatus"], "CREATING");
    assert_eq!(created["GlobalSecondaryIndexes"][0].get("WarmThroughput"), None);
    assert_eq!(created.get("WarmThroughput"), None);
    assert_eq!(created.get("BillingModeSummary"), None);

    let table = &answered(describe(&store, "Indexed"))["Table"];
    let names: Vec<&Value> = table["AttributeDefinitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| &d["AttributeName"])
        .collect();
    assert_eq!(names, ["Big", "g", "pk", "sk"]);
    assert_eq!(
        table["ProvisionedThroughput"],
        json!({ "NumberOfDecreasesToday": 0, "ReadCapacityUnits": 5, "WriteCapacityUnits": 6 })
    );
    assert_eq!(
        table["WarmThroughput"],
        json!({ "ReadUnitsPerSecond": 5, "WriteUnitsPerSecond": 6, "Status": "ACTIVE" })
    );
    assert_eq!(
        table["TableClassSummary"],
        json!({ "TableClass": "STANDARD_INFREQUENT_ACCESS" })
    );
    assert_eq!(table["DeletionProtectionEnabled"], true);
    assert_eq!(
        table["LocalSecondaryIndexes"],
        json!([{
            "IndexName": "lsi",
            "KeySchema": [
                { "AttributeName": "pk", "KeyType": "HASH" }, { "AttributeName": "Big", "KeyType": "RANGE" },
            ],
            "Projection": { "ProjectionType": "KEYS_ONLY" },
            "IndexSizeBytes": 0,
            "ItemCount": 0,
            "IndexArn": "arn:aws:dynamodb:us-east-1:000000000000:table/Indexed/index/lsi",
        }])
    );
    assert_eq!(
        table["GlobalSecondaryIndexes"],
        json!([{
            "IndexName": "gsi",
            "KeySchema": [
                { "AttributeName": "g", "KeyType": "HASH" }, { "AttributeName": "sk", "KeyType": "HASH" },
                { "AttributeName": "pk", "KeyType": "RANGE" },
            ],
            "Projection": { "ProjectionType": "INCLUDE", "NonKeyAttributes": ["a", "z"] },
            "IndexStatus": "ACTIVE",
            "ProvisionedThroughput": { "NumberOfDecreasesToday": 0, "ReadCapacityUnits": 1, "WriteCapacityUnits": 2 },
            "WarmThroughput": { "ReadUnitsPerSecond": 1, "WriteUnitsPerSecond": 2, "Status": "ACTIVE" },
            "IndexSizeBytes": 0,
            "ItemCount": 0,
            "IndexArn": "arn:aws:dynamodb:us-east-1:000000000000:table/Indexed/index/gsi",
        }])
    );

    let table = stored(&store, "Indexed");
    let numbered: Vec<_> = table
        .indexes
        .iter()
        .map(|index| (index.number, index.name.as_str()))
        .collect();
    assert_eq!(numbered, [(1, "lsi"), (2, "gsi")]);
    assert_eq!(table.status, TableStatus::Active);
}

#[test]
fn a_deleted_table_is_described_once_more_and_its_name_is_free() {
    let store = MemoryStore::default();
    let mut request = indexed();
    request["DeletionProtectionEnabled"] = json!(false);
    create(&store, request.clone()).unwrap();
    let table = &answered(delete(&store, "Indexed"))["TableDescription"];
    assert_eq!(table["TableStatus"], "DELETING");
    assert_eq!(table.get("GlobalSecondaryIndexes"), None);
    assert_eq!(table["LocalSecondaryIndexes"][0]["IndexName"], "lsi");
    assert_eq!(
        refused(describe(&store, "Indexed")),
        TableFault::TableNotFound("Indexed".into())
    );
    assert_eq!(
        refused(delete(&store, "Indexed")),
        TableFault::TableNotFound("Indexed".into())
    );
    create(&store, request).unwrap();
}

#[test]
fn a_protected_table_stays() {
    let store = MemoryStore::default();
    create(&store, indexed()).unwrap();
    let fault = refused(delete(&store, "Indexed"));
    assert_eq!(fault.exception(), Exception::Validation);
    assert_eq!(
        fault.text(),
        "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first."
    );
    assert_eq!(
        answered(describe(&store, "Indexed"))["Table"]["TableStatus"],
        "ACTIVE"
    );
}

#[test]
fn what_a_table_in_each_state_answers() {
    const IN_USE: &str = "Attempt to change a resource which is still in use: ";
    let rows = [
        (
            TableStatus::Creating,
            "Table is being created: Music",
            "Table is being created: Music",
        ),
        (
            TableStatus::Updating,
            "",
            "Table: Music is in the process of being updated.",
        ),
        (TableStatus::Deleting, "", "Table is being deleted: Music"),
    ];
    for (status, creating, deleting) in rows {
        let store = MemoryStore::default();
        create(&store, music()).unwrap();
        alter(&store, "Music", move |table| table.status = status);
        let fault = refused(create(&store, music()));
        assert_eq!(fault.exception(), Exception::ResourceInUse);
        match creating {
            "" => assert_eq!(fault.text(), "Table already exists: Music"),
            text => assert_eq!(fault.text(), format!("{IN_USE}{text}")),
        }
        let fault = refused(delete(&store, "Music"));
        assert_eq!(fault.exception(), Exception::ResourceInUse);
        assert_eq!(fault.text(), format!("{IN_USE}{deleting}"));
        describe(&store, "Music").unwrap();
        assert_eq!(list(&store, json!({})), json!({ "TableNames": ["Music"] }));
    }
}

#[test]
fn a_table_with_a_busy_index_stays() {
    let store = MemoryStore::default();
    create(&store, indexed()).unwrap();
    alter(&store, "Indexed", |table| {
        table.indexes[1].status = TableStatus::Creating
    });
    let fault = refused(delete(&store, "Indexed"));
    assert_eq!(fault.exception(), Exception::ResourceInUse);
    assert_eq!(
        fault.text(),
        "Attempt to change a resource which is still in use: \
         Cannot delete table while indexes are being created, updated, or deleted."
    );
}

#[test]
fn names_are_listed_in_byte_order_a_page_at_a_time() {
    let store = MemoryStore::default();
    assert_eq!(list(&store, json!({})), json!({ "TableNames": [] }));
    for table in ["b-table", "a-table", "B-table"] {
        let mut request = music();
        request["TableName"] = json!(table);
        create(&store, request).unwrap();
    }
    assert_eq!(
        list(&store, json!({})),
        json!({ "TableNames": ["B-table", "a-table", "b-table"] })
    );
    assert_eq!(
        list(&store, json!({ "Limit": 2 })),
        json!({ "TableNames": ["B-table", "a-table"], "LastEvaluatedTableName": "a-table" })
    );
    assert_eq!(
        list(
            &store,
            json!({ "Limit": 2, "ExclusiveStartTableName": "a-table" })
        ),
        json!({ "TableNames": ["b-table"] })
    );
    // A page that holds the last name says so, however full it is.
    assert_eq!(
        list(
            &store,
            json!({ "Limit": 1, "ExclusiveStartTableName": "a-table" })
        ),
        json!({ "TableNames": ["b-table"] })
    );
    // A hundred and one names: the default page holds a hundred.
    for number in 0..98 {
        let mut request = music();
        request["TableName"] = json!(format!("c-{number:02}"));
        create(&store, request).unwrap();
    }
    let page = list(&store, json!({}));
    assert_eq!(page["TableNames"].as_array().unwrap().len(), 100);
    assert_eq!(page["LastEvaluatedTableName"], "c-96");
}

#[test]
fn accounts_do_not_see_each_other() {
    let store = MemoryStore::default();
    create(&store, music()).unwrap();
    let other = Context {
        account: AccountId("123456789012".into()),
        ..context()
    };
    let body = music().to_string();
    let table = answered(run_now(create_table::run(&store, &body, &other)));
    assert_eq!(
        table["TableDescription"]["TableArn"],
        "arn:aws:dynamodb:us-east-1:123456789012:table/Music"
    );
    let theirs = r#"{"TableName":"arn:aws:dynamodb:us-east-1:000000000000:table/Music"}"#;
    assert_eq!(
        refused(run_now(delete_table::run(&store, theirs, &other))),
        TableFault::TableNotFound("Music".into())
    );
    describe(&store, "Music").unwrap();
}
