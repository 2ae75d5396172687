//! The cases. Each says in its name what a store must do.

use std::sync::Arc;

use crate::{
    item::{
        AttributeValue, Attributes, Item, ItemKey, Number, ScalarType, encode_hash, encode_scalar,
        hash_bucket, stored_hash,
    },
    store::{
        Access, Alteration, Bound, Ended, Part, Position, Range, Row, SortBounds, Store, StoreError,
        TableChange,
    },
    table::{
        Billing, Index, IndexScope, KeyAttribute, Projected, Settings, Table, TableId, TableName,
        TableStatus, ThroughputHistory, Version,
    },
    write::{Decision, Keys, Need, Unit, derive, derive_fill},
};

type Outcome = Result<(), String>;

const MAX_BYTES: usize = 1 << 20;

// ---------- what the cases are made of ----------

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

// ---------- the cases ----------

pub async fn conditional_put<S: Store>(store: &S, name: TableName) -> Outcome {
    let table = create(store, &name).await?;
    let first = item("a", 1, &[("v", string("first"))]);
    check(run(store, put(&table, first.clone(), true)).await?, || {
        "the first put was refused".into()
    })?;
    let second = item("a", 1, &[("v", string("second"))]);
    check(!run(store, put(&table, second, true)).await?, || {
        "the second put was let in".into()
    })?;
    let stored = read(store, &[key(&table, "a", 1)]).await?;
    check(stored == [Some(first)], || format!("stored: {stored:?}"))
}

pub async fn index_key_moves<S: Store>(store: &S, name: TableName) -> Outcome {
    let table = create(store, &name).await?;
    for (g, r) in [("x", 1), ("x", 1), ("x", 2), ("y", 2)] {
        run(
            store,
            put(&table, item("a", 1, &[("g", string(g)), ("r", number(r))]), false),
        )
        .await?;
        let page = store
            .walk(whole(&table, Some(1)))
            .await
            .map_err(|e| format!("{e:?}"))?;
        let found: Vec<_> = page
            .rows
            .iter()
            .map(|row| (row.item.get("g"), row.item.get("r")))
            .collect();
        check(found == [(Some(string(g)), Some(number(r)))], || {
            format!("entries: {found:?}")
        })?;
    }
    run(store, put(&table, item("a", 1, &[("g", string("y"))]), false)).await?;
    let page = store
        .walk(whole(&table, Some(1)))
        .await
        .map_err(|e| format!("{e:?}"))?;
    check(page.rows.is_empty(), || {
        "an item without an index key has an entry".into()
    })?;
    run(
        store,
        put(
            &table,
            item("a", 1, &[("g", string("z")), ("r", number(9))]),
            false,
        ),
    )
    .await?;
    check(run(store, delete(&table, key(&table, "a", 1))).await?, || {
        "nothing to delete".into()
    })?;
    let page = store
        .walk(whole(&table, Some(1)))
        .await
        .map_err(|e| format!("{e:?}"))?;
    check(page.rows.is_empty(), || "a deleted item has an entry".into())
}

pub async fn list_of_units<S: Store>(store: &S, name: TableName) -> Outcome {
    let table = create(store, &name).await?;
    let units = vec![
        put(
            &table,
            item("a", 1, &[("g", string("w")), ("r", number(1))]),
            true,
        ),
        put(&table, item("a", 1, &[]), true),
        put(&table, item("b", 1, &[]), true),
        put(
            &table,
            item("a", 1, &[("g", string("v")), ("r", number(2))]),
            false,
        ),
        delete(&table, key(&table, "b", 1)),
        delete(&table, key(&table, "b", 1)),
    ];
    let answers = store.transact(units).await;
    let wanted = [true, false, true, true, true, false].map(Ok::<bool, StoreError>);
    check(answers == wanted, || format!("answers: {answers:?}"))?;
    let stored = read(store, &[key(&table, "a", 1), key(&table, "b", 1)]).await?;
    let wanted = [Some(item("a", 1, &[("g", string("v")), ("r", number(2))])), None];
    check(stored == wanted, || format!("stored: {stored:?}"))?;
    let page = store
        .walk(whole(&table, Some(1)))
        .await
        .map_err(|e| format!("{e:?}"))?;
    let entries: Vec<_> = page.rows.iter().map(|row| row.item.get("g")).collect();
    check(entries == [Some(string("v"))], || format!("entries: {entries:?}"))
}

pub async fn unread_put<S: Store>(store: &S, name: TableName) -> Outcome {
    let table = create(store, &name).await?;
    // Without its index, an item of the table can be put without its image.
    let bare = Arc::new(Table {
        indexes: Vec::new(),
        ..(*table).clone()
    });
    for text in ["first", "second"] {
        let new = item("a", 1, &[("v", string(text))]);
        let (key, table, put) = (key(&bare, "a", 1), bare.clone(), new.clone());
        let unit = Unit {
            tables: vec![(bare.id, bare.version)],
            keys: Keys(vec![(key.clone(), Need::RightToWrite)]),
            decide: Box::new(move |_| Decision {
                changes: vec![derive(&table, 0, &key, None, Some(put.clone())).change],
                answer: (),
            }),
        };
        run(store, unit).await?;
        let stored = read(store, &[self::key(&bare, "a", 1)]).await?;
        check(stored == [Some(new)], || format!("stored: {stored:?}"))?;
    }
    Ok(())
}

async fn add_index<S: Store>(store: &S, name: &TableName, status: TableStatus) -> Result<Arc<Table>, String> {
    store
        .alter(
            name,
            Box::new(move |proposal| match proposal.existing {
                Some(table) => {
                    let mut table = table.clone();
                    table.version.0 += 1;
                    table.indexes.push(Index {
                        status,
                        ..index(2, "h", Vec::new())
                    });
                    Alteration {
                        change: Some(TableChange::Replace(table)),
                        answer: (),
                    }
                }
                None => Alteration {
                    change: None,
                    answer: (),
                },
            }),
        )
        .await
        .map_err(|fault| format!("{fault:?}"))?;
    table(store, name).await
}

pub async fn stale_description<S: Store>(store: &S, name: TableName) -> Outcome {
    let old = create(store, &name).await?;
    let unit = put(&old, item("a", 1, &[("h", string("1"))]), false);
    let new = add_index(store, &name, TableStatus::Active).await?;
    let answers = store.transact(vec![unit]).await;
    check(answers == [Err(StoreError::Stale)], || {
        format!("answers: {answers:?}")
    })?;
    check(
        run(store, put(&new, item("a", 1, &[("h", string("1"))]), false)).await?,
        || "refused".into(),
    )?;
    let page = store
        .walk(whole(&new, Some(2)))
        .await
        .map_err(|e| format!("{e:?}"))?;
    check(page.rows.len() == 1, || format!("{} entries", page.rows.len()))
}

pub async fn index_fill<S: Store>(store: &S, name: TableName) -> Outcome {
    let old = create(store, &name).await?;
    for sk in 0..5 {
        run(store, put(&old, item("a", sk, &[("h", string("x"))]), false)).await?;
    }
    let table = add_index(store, &name, TableStatus::Active).await?;
    let keys: Vec<ItemKey> = (0..5).map(|sk| key(&table, "a", sk)).collect();
    let (filled, described) = (keys.clone(), table.clone());
    let unit = Unit {
        tables: vec![(table.id, table.version)],
        keys: Keys(keys.into_iter().map(|key| (key, Need::Image)).collect()),
        decide: Box::new(move |images| {
            let index = &described.indexes[1];
            let change = |(of, key)| {
                let item = images.item(of).ok().flatten()?;
                Some(derive_fill(&described, index, of, key, item))
            };
            Decision {
                changes: filled.iter().enumerate().filter_map(change).collect(),
                answer: (),
            }
        }),
    };
    run(store, unit).await?;
    let page = store
        .walk(whole(&table, Some(2)))
        .await
        .map_err(|e| format!("{e:?}"))?;
    check(page.rows.len() == 5, || format!("{} entries", page.rows.len()))
}

/// Nobody knows whether an entry of an index that is being filled is there: each write may be the first or the second.
pub async fn writers_beside_a_fill<S: Store>(store: &S, name: TableName) -> Outcome {
    let old = create(store, &name).await?;
    let with_h = |sk, h| item("a", sk, &[("h", string(h))]);
    for sk in 0..6 {
        run(store, put(&old, with_h(sk, "x"), false)).await?;
    }
    let table = add_index(store, &name, TableStatus::Creating).await?;
    let keys: Vec<ItemKey> = (0..6).map(|sk| key(&table, "a", sk)).collect();
    // Before the fill: an entry moves, one changes, one goes, none of which is there.
    run(store, put(&table, with_h(0, "y"), false)).await?;
    run(
        store,
        put(
            &table,
            item("a", 1, &[("h", string("x")), ("v", number(1))]),
            false,
        ),
    )
    .await?;
    run(store, delete(&table, keys[2].clone())).await?;
    let (filled, described) = (keys.clone(), table.clone());
    let fill = Unit {
        tables: vec![(table.id, table.version)],
        keys: Keys(keys.iter().map(|key| (key.clone(), Need::Image)).collect()),
        decide: Box::new(move |images| {
            let index = &described.indexes[1];
            let change = |(of, key)| {
                let item = images.item(of).ok().flatten()?;
                Some(derive_fill(&described, index, of, key, item))
            };
            Decision {
                changes: filled.iter().enumerate().filter_map(change).collect(),
                answer: (),
            }
        }),
    };
    run(store, fill).await?;
    // After it, the same.
    run(store, put(&table, with_h(3, "y"), false)).await?;
    run(store, delete(&table, keys[4].clone())).await?;
    let page = store
        .walk(whole(&table, Some(2)))
        .await
        .map_err(|e| format!("{e:?}"))?;
    let mut entries: Vec<Item> = page.rows.into_iter().map(|row| row.item).collect();
    entries.sort_by_key(|entry| format!("{:?}", entry.get("sk")));
    let wanted = [
        with_h(0, "y"),
        item("a", 1, &[("h", string("x")), ("v", number(1))]),
        with_h(3, "y"),
        with_h(5, "x"),
    ];
    check(entries == wanted, || format!("entries: {entries:?}"))
}

pub async fn refusal_writes_nothing<S: Store>(store: &S, name: TableName) -> Outcome {
    let table = create(store, &name).await?;
    let keys = vec![
        (key(&table, "a", 1), Need::Image),
        (key(&table, "b", 1), Need::Image),
    ];
    let unit = Unit {
        tables: vec![(table.id, table.version)],
        keys: Keys(keys),
        decide: Box::new(|images| Decision::refuse(images.item(0) == Ok(None) && images.item(1) == Ok(None))),
    };
    check(run(store, unit).await?, || "an absent item had an image".into())?;
    let page = store
        .walk(whole(&table, None))
        .await
        .map_err(|e| format!("{e:?}"))?;
    check(page.rows.is_empty() && page.ended == Ended::Data, || {
        format!("page: {page:?}")
    })
}

pub async fn read_keeps_order<S: Store>(store: &S, name: TableName) -> Outcome {
    let table = create(store, &name).await?;
    for sk in [3, 1, 2] {
        run(store, put(&table, item("a", sk, &[]), false)).await?;
    }
    let keys: Vec<ItemKey> = [2, 9, 3, 1].map(|sk| key(&table, "a", sk)).into();
    let stored = read(store, &keys).await?;
    let wanted = [
        Some(item("a", 2, &[])),
        None,
        Some(item("a", 3, &[])),
        Some(item("a", 1, &[])),
    ];
    check(stored == wanted, || format!("read: {stored:?}"))
}

pub async fn partition_walk<S: Store>(store: &S, name: TableName) -> Outcome {
    let table = create(store, &name).await?;
    for sk in [1, 2, 10, 30, 200] {
        run(store, put(&table, item("a", sk, &[]), false)).await?;
        run(store, put(&table, item("b", sk, &[]), false)).await?;
    }
    let cases: [(SortBounds, &[&str]); 5] = [
        (SortBounds::default(), &["1", "2", "10", "30", "200"]),
        (
            SortBounds {
                equal: vec![encoded(10)],
                ..SortBounds::default()
            },
            &["10"],
        ),
        (
            SortBounds {
                lower: bound(2, false),
                ..SortBounds::default()
            },
            &["10", "30", "200"],
        ),
        (
            SortBounds {
                lower: bound(2, true),
                upper: bound(30, true),
                ..SortBounds::default()
            },
            &["2", "10", "30"],
        ),
        (
            SortBounds {
                upper: bound(10, false),
                ..SortBounds::default()
            },
            &["1", "2"],
        ),
    ];
    for (sort, wanted) in cases {
        for reverse in [false, true] {
            let mut range = partition(&table, None, "a", sort.clone());
            range.reverse = reverse;
            range.max_items = Some(2);
            let mut found = Vec::new();
            loop {
                let page = store.walk(range.clone()).await.map_err(|e| format!("{e:?}"))?;
                found.extend(sort_values(&page.rows));
                match page.rows.last() {
                    Some(last) if page.ended == Ended::Items => range.after = Some(place(&table, last)),
                    _ => break,
                }
            }
            let mut wanted = wanted.to_vec();
            if reverse {
                wanted.reverse();
            }
            check(found == wanted, || {
                format!("{sort:?} reverse {reverse}: {found:?}")
            })?;
        }
    }
    Ok(())
}

pub async fn index_walk_reversed<S: Store>(store: &S, name: TableName) -> Outcome {
    let table = create(store, &name).await?;
    for (pk, sk, r) in [("a", 1, 5), ("b", 2, 7), ("c", 3, 7), ("d", 4, 9)] {
        run(
            store,
            put(
                &table,
                item(pk, sk, &[("g", string("x")), ("r", number(r))]),
                false,
            ),
        )
        .await?;
    }
    let sort = SortBounds {
        lower: bound(6, true),
        ..SortBounds::default()
    };
    let range = Range {
        reverse: true,
        with_base: true,
        ..partition(&table, Some(1), "x", sort)
    };
    let page = store.walk(range).await.map_err(|e| format!("{e:?}"))?;
    let found = sort_values(&page.rows);
    check(found == ["4", "3", "2"], || format!("found {found:?}"))?;
    let bases = page.rows.iter().all(|row| row.base.as_ref() == Some(&row.item));
    check(bases, || "an entry came without its item".into())
}

pub async fn bucket_walk<S: Store>(store: &S, name: TableName) -> Outcome {
    let table = create(store, &name).await?;
    let mut wanted = Vec::new();
    for n in 0..40 {
        let item = item(&format!("k{n}"), n, &[]);
        wanted.push(key_of(&table, &item));
        run(store, put(&table, item, false)).await?;
    }
    wanted.sort();
    let mut found = Vec::new();
    for (first, last) in [(i32::MIN, -1), (0, i32::MAX)] {
        let part = Part::Buckets { first, last };
        let mut range = Range {
            part,
            max_items: Some(7),
            ..whole(&table, None)
        };
        loop {
            let page = store.walk(range.clone()).await.map_err(|e| format!("{e:?}"))?;
            found.extend(page.rows.iter().map(|row| key_of(&table, &row.item)));
            match page.rows.last() {
                Some(last) if page.ended != Ended::Data => range.after = Some(place(&table, last)),
                _ => break,
            }
        }
    }
    check(found == wanted, || {
        format!(
            "{} of {} items, in order: {}",
            found.len(),
            wanted.len(),
            found.is_sorted()
        )
    })
}

pub async fn page_by_bytes<S: Store>(store: &S, name: TableName) -> Outcome {
    let table = create(store, &name).await?;
    let filler = "x".repeat(1000);
    for sk in 1..7 {
        run(
            store,
            put(&table, item("a", sk, &[("f", string(&filler))]), false),
        )
        .await?;
    }
    let size = item("a", 1, &[("f", string(&filler))]).size();
    // Two rows and one byte: the third row crosses and belongs to the page.
    let range = Range {
        max_bytes: 2 * size + 1,
        ..partition(&table, None, "a", SortBounds::default())
    };
    let page = store.walk(range).await.map_err(|e| format!("{e:?}"))?;
    check(page.rows.len() == 3 && page.ended == Ended::Bytes, || {
        format!("{} rows, ended by {:?}", page.rows.len(), page.ended)
    })
}

pub async fn long_keys<S: Store>(store: &S, name: TableName) -> Outcome {
    let table = create(store, &name).await?;
    let start = "p".repeat(2047);
    for last in ["a", "b"] {
        let pk = format!("{start}{last}");
        run(
            store,
            put(
                &table,
                item(&pk, 1, &[("g", string(&pk)), ("r", number(1))]),
                true,
            ),
        )
        .await?;
        let page = store
            .walk(partition(&table, Some(1), &pk, SortBounds::default()))
            .await;
        let page = page.map_err(|e| format!("{e:?}"))?;
        check(page.rows.len() == 1, || {
            format!("{} entries under a long key", page.rows.len())
        })?;
    }
    let page = store
        .walk(whole(&table, None))
        .await
        .map_err(|e| format!("{e:?}"))?;
    check(page.rows.len() == 2, || format!("{} items", page.rows.len()))
}

pub async fn drop_and_create<S: Store>(store: &S, name: TableName) -> Outcome {
    let first = create(store, &name).await?;
    run(
        store,
        put(
            &first,
            item("a", 1, &[("g", string("x")), ("r", number(1))]),
            false,
        ),
    )
    .await?;
    store
        .alter(
            &name,
            Box::new(|proposal| Alteration {
                change: proposal.existing.map(|table| TableChange::Drop(table.id)),
                answer: (),
            }),
        )
        .await
        .map_err(|fault| format!("{fault:?}"))?;
    let gone = store
        .tables(std::slice::from_ref(&name), Access::Read)
        .await
        .map_err(|e| format!("{e:?}"))?;
    check(gone == [None], || {
        format!("a dropped table is described: {gone:?}")
    })?;
    let second = create(store, &name).await?;
    check(second.id != first.id, || {
        "a new table got the old one's id".into()
    })?;
    let page = store
        .walk(whole(&second, None))
        .await
        .map_err(|e| format!("{e:?}"))?;
    check(page.rows.is_empty(), || "a new table has items".into())?;
    let answers = store.transact(vec![put(&first, item("a", 1, &[]), false)]).await;
    check(answers == [Err(StoreError::Stale)], || {
        format!("a unit on the dropped table: {answers:?}")
    })
}

pub async fn table_names<S: Store>(store: &S, name: TableName) -> Outcome {
    for suffix in [".b", ".a", ".c"] {
        create(
            store,
            &TableName {
                name: format!("{}{suffix}", name.name),
                ..name.clone()
            },
        )
        .await?;
    }
    let names = store
        .table_names(&name.account, Some(&name.name), 2)
        .await
        .map_err(|e| format!("{e:?}"))?;
    let wanted = [".a", ".b"].map(|suffix| format!("{}{suffix}", name.name));
    check(names == wanted, || format!("names: {names:?}"))
}
