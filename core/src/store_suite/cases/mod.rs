//! The cases, by what they are about; here what they are made of.

pub mod expiry;
pub mod reads;
pub mod tables;
pub mod writes;

use std::sync::Arc;

use crate::{
    item::{
        AttributeValue, Attributes, Item, ItemKey, Number, ScalarType, encode_hash, encode_scalar,
        hash_bucket, stored_hash,
    },
    store::{
        Access, Alteration, Bound, Ended, Page, Part, Position, Range, Row, SortBounds, Store, StoreError,
        TableChange,
    },
    table::{
        Billing, Index, IndexScope, KeyAttribute, OnDemandLimits, Projected, Settings, Table, TableId,
        TableName, TableStatus, ThroughputHistory, Version,
    },
    write::{Decision, Keys, Need, Unit, derive, derive_fill},
};

type Outcome = Result<(), String>;

const MAX_BYTES: usize = 1 << 20;

fn attribute(name: &str, kind: ScalarType) -> KeyAttribute {
    KeyAttribute {
        name: name.into(),
        kind,
    }
}

fn index(number: i32, hash: &str, range: Vec<KeyAttribute>) -> Index {
    Index {
        number,
        name: format!("by-{hash}"),
        scope: IndexScope::Global,
        hash: vec![attribute(hash, ScalarType::S)],
        range,
        projection: Projected::All,
        status: TableStatus::Active,
        throughput: None,
        history: ThroughputHistory::default(),
        on_demand: OnDemandLimits::default(),
    }
}

/// pk S, sk N, and an index on g S with r N.
fn description(name: &TableName, id: TableId) -> Table {
    Table {
        id,
        version: Version(1),
        account: name.account.clone(),
        name: name.name.clone(),
        uuid: "00000000-0000-4000-8000-000000000000".into(),
        created_ms: 1_700_000_000_000,
        status: TableStatus::Active,
        hash: attribute("pk", ScalarType::S),
        range: Some(attribute("sk", ScalarType::N)),
        indexes: vec![index(1, "g", vec![attribute("r", ScalarType::N)])],
        billing: Billing::PayPerRequest {
            since_ms: 1_700_000_000_000,
        },
        deletion_protection: false,
        infrequent_access: false,
        settings: Settings::default(),
    }
}

async fn create<S: Store>(store: &S, name: &TableName) -> Result<Arc<Table>, String> {
    let wanted = name.clone();
    let created = store
        .alter(
            name,
            Box::new(move |proposal| match proposal.existing {
                Some(_) => Alteration {
                    change: None,
                    answer: false,
                },
                None => Alteration {
                    change: Some(TableChange::Create(description(&wanted, proposal.fresh))),
                    answer: true,
                },
            }),
        )
        .await;
    check(created == Ok(true), || format!("create answered {created:?}"))?;
    table(store, name).await
}

async fn table<S: Store>(store: &S, name: &TableName) -> Result<Arc<Table>, String> {
    let tables = store
        .tables(std::slice::from_ref(name), Access::Write)
        .await
        .map_err(|e| format!("{e:?}"))?;
    tables
        .into_iter()
        .next()
        .flatten()
        .ok_or_else(|| "the table is not there".into())
}

fn check(holds: bool, otherwise: impl FnOnce() -> String) -> Outcome {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn number(value: u64) -> AttributeValue {
    AttributeValue::N(Number::from(value))
}

fn string(text: &str) -> AttributeValue {
    AttributeValue::S(text.into())
}

fn item(pk: &str, sk: u64, more: &[(&str, AttributeValue)]) -> Item {
    let mut attributes = Attributes::from([("pk".into(), string(pk)), ("sk".into(), number(sk))]);
    attributes.extend(more.iter().map(|(name, value)| (name.to_string(), value.clone())));
    Item::encode(&attributes)
}

fn key(table: &Table, pk: &str, sk: u64) -> ItemKey {
    let hash = encode_hash([&string(pk)]);
    let mut encoded = Vec::new();
    encode_scalar(&number(sk), &mut encoded);
    ItemKey {
        table: table.id,
        bucket: hash_bucket(&hash),
        pk: stored_hash(hash),
        sk: encoded,
    }
}

fn key_of(table: &Table, item: &Item) -> ItemKey {
    match (item.get("pk"), item.get("sk")) {
        (Some(AttributeValue::S(pk)), Some(AttributeValue::N(sk))) => {
            let hash = encode_hash([&string(&pk)]);
            let mut encoded = Vec::new();
            encode_scalar(&AttributeValue::N(sk), &mut encoded);
            ItemKey {
                table: table.id,
                bucket: hash_bucket(&hash),
                pk: stored_hash(hash),
                sk: encoded,
            }
        }
        other => panic!("an item without its key: {other:?}"),
    }
}

/// Puts an item; with `only_if_absent`, refuses where one is.
fn put(table: &Arc<Table>, item: Item, only_if_absent: bool) -> Unit<bool> {
    let key = key_of(table, &item);
    let table = table.clone();
    Unit {
        tables: vec![(table.id, table.version)],
        keys: Keys(vec![(key.clone(), Need::Image)]),
        decide: Box::new(move |images| match images.item(0) {
            Err(_) => Decision::refuse(false),
            Ok(Some(_)) if only_if_absent => Decision::refuse(false),
            Ok(old) => {
                let change = derive(&table, 0, &key, old, Some(item.clone())).change;
                Decision {
                    changes: vec![change],
                    answer: true,
                }
            }
        }),
    }
}

fn delete(table: &Arc<Table>, key: ItemKey) -> Unit<bool> {
    let table = table.clone();
    Unit {
        tables: vec![(table.id, table.version)],
        keys: Keys(vec![(key.clone(), Need::Image)]),
        decide: Box::new(move |images| match images.item(0) {
            Ok(Some(old)) => {
                let change = derive(&table, 0, &key, Some(old), None).change;
                Decision {
                    changes: vec![change],
                    answer: true,
                }
            }
            _ => Decision::refuse(false),
        }),
    }
}

async fn run<S: Store, T: Send + 'static>(store: &S, unit: Unit<T>) -> Result<T, String> {
    let mut answers = store.transact(vec![unit]).await;
    check(answers.len() == 1, || {
        format!("{} answers to one unit", answers.len())
    })?;
    answers.remove(0).map_err(|fault| format!("{fault:?}"))
}

async fn read<S: Store>(store: &S, keys: &[ItemKey]) -> Result<Vec<Option<Item>>, String> {
    store.read(keys).await.map_err(|fault| format!("{fault:?}"))
}

fn whole(table: &Table, index: Option<i32>) -> Range {
    Range {
        table: table.id,
        index,
        part: Part::Buckets {
            first: i32::MIN,
            last: i32::MAX,
        },
        after: None,
        reverse: false,
        max_items: None,
        max_bytes: MAX_BYTES,
        with_base: false,
    }
}

fn partition(table: &Table, index: Option<i32>, hash: &str, sort: SortBounds) -> Range {
    let hash = encode_hash([&string(hash)]);
    let part = Part::Partition {
        bucket: hash_bucket(&hash),
        hash: stored_hash(hash),
        sort,
    };
    Range {
        part,
        ..whole(table, index)
    }
}

fn encoded(value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    encode_scalar(&number(value), &mut out);
    out
}

fn bound(value: u64, inclusive: bool) -> Option<Bound> {
    Some(Bound {
        value: encoded(value),
        inclusive,
    })
}

async fn page<S: Store>(store: &S, range: &Range) -> Result<Page, String> {
    store
        .walk(range.clone())
        .await
        .map_err(|fault| format!("{fault:?}"))
}

/// The entry's place in the index on g with r.
fn entry_place(table: &Table, row: &Row) -> Position {
    let value = |name| row.item.get(name).unwrap_or(AttributeValue::Null);
    let hash = encode_hash([&value("g")]);
    let mut range = Vec::new();
    encode_scalar(&value("r"), &mut range);
    let key = key_of(table, &row.item);
    Position {
        bucket: hash_bucket(&hash),
        hash: stored_hash(hash),
        rest: vec![range, key.pk, key.sk],
    }
}

/// Where a row of the table stands.
fn place(table: &Table, row: &Row) -> Position {
    let key = key_of(table, &row.item);
    Position {
        bucket: key.bucket,
        hash: key.pk,
        rest: vec![key.sk],
    }
}

fn sort_values(rows: &[Row]) -> Vec<String> {
    let value = |row: &Row| match row.item.get("sk") {
        Some(AttributeValue::N(number)) => number.to_string(),
        other => format!("{other:?}"),
    };
    rows.iter().map(value).collect()
}
