//! Reads by key, and pages.

use super::*;

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
