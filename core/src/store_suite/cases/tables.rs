//! Descriptions that change, and indexes that are filled.

use super::*;

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

pub async fn statistics<S: Store>(store: &S, name: TableName) -> Outcome {
    let table = create(store, &name).await?;
    let with = item("a", 1, &[("g", string("x")), ("r", number(1))]);
    let without = item("a", 2, &[("v", string("long enough to be told apart"))]);
    run(store, put(&table, with.clone(), false)).await?;
    run(store, put(&table, without.clone(), false)).await?;
    let measured = store
        .statistics(&table)
        .await
        .map_err(|fault| format!("{fault:?}"))?;
    let bytes = (with.size() + without.size()) as u64;
    check((measured.items, measured.bytes) == (2, bytes), || {
        format!("{measured:?}")
    })?;
    check(measured.indexes == [(1, 1, with.size() as u64)], || {
        format!("{measured:?}")
    })
}

/// The number of an index that is gone may not find old entries again.
pub async fn index_dropped<S: Store>(store: &S, name: TableName) -> Outcome {
    let old = create(store, &name).await?;
    let filled = item(
        "a",
        1,
        &[("h", string("x")), ("g", string("x")), ("r", number(1))],
    );
    let added = add_index(store, &name, TableStatus::Active).await?;
    run(store, put(&added, filled.clone(), false)).await?;
    store
        .alter(
            &name,
            Box::new(|proposal| {
                let replaced = proposal.existing.map(|table| {
                    let mut table = table.clone();
                    table.version.0 += 1;
                    table.indexes.retain(|index| index.number != 2);
                    TableChange::Replace(table)
                });
                Alteration {
                    change: replaced,
                    answer: (),
                }
            }),
        )
        .await
        .map_err(|fault| format!("{fault:?}"))?;
    let without = table(store, &name).await?;
    check(without.indexes == old.indexes, || {
        format!("indexes: {:?}", without.indexes)
    })?;
    let answers = store.transact(vec![put(&added, filled.clone(), false)]).await;
    check(answers == [Err(StoreError::Stale)], || {
        format!("answers: {answers:?}")
    })?;
    // The other index and the items are as they were, and writes go on.
    let moved = item("a", 1, &[("g", string("y")), ("r", number(2))]);
    run(store, put(&without, moved.clone(), false)).await?;
    let entries = page(store, &whole(&without, Some(1))).await?.rows;
    check(entries.len() == 1 && entries[0].item == moved, || {
        format!("entries: {entries:?}")
    })
}
