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

pub async fn read_of_several_tables<S: Store>(store: &S, name: TableName) -> Outcome {
    let other = TableName {
        name: format!("{}.other", name.name),
        ..name.clone()
    };
    let (one, other) = (create(store, &name).await?, create(store, &other).await?);
    run(store, put(&one, item("a", 1, &[("v", string("one"))]), false)).await?;
    run(store, put(&other, item("a", 1, &[("v", string("other"))]), false)).await?;
    let keys = [
        key(&other, "a", 1),
        key(&one, "a", 2),
        key(&one, "a", 1),
        key(&other, "a", 2),
    ];
    let stored = read(store, &keys).await?;
    let wanted = [
        Some(item("a", 1, &[("v", string("other"))])),
        None,
        Some(item("a", 1, &[("v", string("one"))])),
        None,
    ];
    check(stored == wanted, || format!("read: {stored:?}"))?;
    let none = read(store, &[]).await?;
    check(none.is_empty(), || format!("of no keys: {none:?}"))
}

/// A start need not be where a page ended, nor within the range: whoever asks may have another one.
pub async fn walk_goes_on_from_anywhere<S: Store>(store: &S, name: TableName) -> Outcome {
    let table = create(store, &name).await?;
    for sk in [10, 20, 30, 40] {
        run(store, put(&table, item("a", sk, &[]), false)).await?;
    }
    let only = key(&table, "a", 20).sk;
    let bounds = [
        (vec![], bound(20, true), bound(30, true), &["20", "30"][..]),
        (vec![], bound(20, false), bound(40, false), &["30"]),
        (vec![], bound(10, false), None, &["20", "30", "40"]),
        (vec![], None, bound(30, false), &["10", "20"]),
        (vec![], None, None, &["10", "20", "30", "40"]),
        (vec![only], None, None, &["20"]),
    ];
    for (equal, lower, upper, all) in bounds {
        let sort = SortBounds { equal, lower, upper };
        for after in [0, 10, 15, 20, 25, 30, 35, 40, 99] {
            for reverse in [false, true] {
                let mut range = partition(&table, None, "a", sort.clone());
                range.reverse = reverse;
                let start = key(&table, "a", after);
                range.after = Some(Position {
                    bucket: start.bucket,
                    hash: start.pk,
                    rest: vec![start.sk],
                });
                let is_later = |value: &&&str| {
                    let value: u64 = value.parse().unwrap_or_default();
                    if reverse { value < after } else { value > after }
                };
                let mut wanted: Vec<&str> = all.iter().filter(is_later).copied().collect();
                if reverse {
                    wanted.reverse();
                }
                let page = page(store, &range).await?;
                let found = sort_values(&page.rows);
                check(found == wanted && page.ended == Ended::Data, || {
                    format!(
                        "{sort:?} after {after}, reverse {reverse}: {found:?}, {:?}",
                        page.ended
                    )
                })?;
            }
        }
    }
    Ok(())
}

pub async fn bucket_walk_reversed<S: Store>(store: &S, name: TableName) -> Outcome {
    let table = create(store, &name).await?;
    let mut wanted = Vec::new();
    for n in 0..30 {
        let item = item(&format!("k{}", n / 3), n, &[]);
        wanted.push(key_of(&table, &item));
        run(store, put(&table, item, false)).await?;
    }
    wanted.sort();
    wanted.reverse();
    // From a position in the middle on, and from one that is in no part of the range.
    let middle = &wanted[10];
    for (first, last, expected) in [
        (i32::MIN, i32::MAX, &wanted[11..]),
        (i32::MIN, middle.bucket, &wanted[11..]),
        (i32::MAX, i32::MAX, &[]),
    ] {
        let mut range = Range {
            part: Part::Buckets { first, last },
            reverse: true,
            max_items: Some(4),
            after: Some(Position {
                bucket: middle.bucket,
                hash: middle.pk.clone(),
                rest: vec![middle.sk.clone()],
            }),
            ..whole(&table, None)
        };
        let mut found = Vec::new();
        loop {
            let page = page(store, &range).await?;
            found.extend(page.rows.iter().map(|row| key_of(&table, &row.item)));
            match page.rows.last() {
                Some(last) if page.ended != Ended::Data => range.after = Some(place(&table, last)),
                _ => break,
            }
        }
        check(found == expected, || {
            format!("{first} to {last}: {} rows of {}", found.len(), expected.len())
        })?;
    }
    Ok(())
}

/// Numbers by value, negative ones too; what has a zero byte or is empty stays apart.
pub async fn order_of_keys<S: Store>(store: &S, name: TableName) -> Outcome {
    let table = create(store, &name).await?;
    let in_order = [
        "-1E+120",
        "-12.5",
        "-12.4",
        "-3",
        "-0.001",
        "0",
        "0.0000001",
        "1",
        "9",
        "10",
        "10.5",
        "99999999999999999999999999999999999999",
    ];
    let scattered = [7, 2, 11, 0, 5, 9, 4, 1, 10, 3, 8, 6];
    for place in scattered {
        let value = parsed(in_order[place])?;
        let attributes = Attributes::from([("pk".into(), string("a")), ("sk".into(), value)]);
        run(store, put(&table, Item::encode(&attributes), false)).await?;
    }
    for pk in ["a\0", "a\0\0", "\0a"] {
        run(store, put(&table, item(pk, 5, &[]), false)).await?;
    }
    let page_of = |pk| partition(&table, None, pk, SortBounds::default());
    let found = page(store, &page_of("a")).await?;
    let values: Vec<_> = found.rows.iter().map(|row| row.item.get("sk")).collect();
    for (place, value) in in_order.iter().enumerate() {
        let wanted = parsed(value)?;
        check(values.get(place) == Some(&Some(wanted)), || {
            format!("place {place}: {values:?}")
        })?;
    }
    check(values.len() == in_order.len(), || {
        format!("{} values", values.len())
    })?;
    for pk in ["a\0", "a\0\0", "\0a"] {
        let found = page(store, &page_of(pk)).await?;
        check(found.rows.len() == 1, || {
            format!("{} items under {pk:?}", found.rows.len())
        })?;
    }
    Ok(())
}

fn parsed(number: &str) -> Result<AttributeValue, String> {
    let parsed = number.parse().map_err(|fault| format!("{number}: {fault:?}"))?;
    Ok(AttributeValue::N(parsed))
}

/// Bytes count before the next row, items before bytes; a page that took the last row by a limit does not know that it was.
pub async fn page_at_the_edge<S: Store>(store: &S, name: TableName) -> Outcome {
    let table = create(store, &name).await?;
    let filler = "x".repeat(300_000);
    for sk in 1..=5 {
        run(
            store,
            put(&table, item("a", sk, &[("f", string(&filler))]), false),
        )
        .await?;
    }
    let size = item("a", 1, &[("f", string(&filler))]).size();
    let cases = [
        // (most items, most bytes) -> rows and what ended them
        (None, 1 << 20, 4, Ended::Bytes),
        (None, 2 * size - 1, 2, Ended::Bytes),
        (None, 2 * size, 2, Ended::Bytes),
        (None, 2 * size + 1, 3, Ended::Bytes),
        (None, 5 * size, 5, Ended::Bytes),
        (None, 5 * size + 1, 5, Ended::Data),
        (Some(2), 2 * size, 2, Ended::Items),
        (Some(3), 2 * size, 2, Ended::Bytes),
        (Some(5), 1 << 30, 5, Ended::Items),
        (Some(6), 1 << 30, 5, Ended::Data),
        (None, 1, 1, Ended::Bytes),
    ];
    for (max_items, max_bytes, rows, ended) in cases {
        for reverse in [false, true] {
            let range = Range {
                max_items,
                max_bytes,
                reverse,
                ..partition(&table, None, "a", SortBounds::default())
            };
            let page = page(store, &range).await?;
            check((page.rows.len(), page.ended) == (rows, ended), || {
                format!(
                    "{max_items:?} items, {max_bytes} bytes, reverse {reverse}: {} rows, {:?}",
                    page.rows.len(),
                    page.ended
                )
            })?;
        }
    }
    Ok(())
}

/// Entries with one key of the index follow each other by the keys of their items.
pub async fn index_page_goes_on<S: Store>(store: &S, name: TableName) -> Outcome {
    let table = create(store, &name).await?;
    for n in 0..24 {
        let (pk, g, r) = (format!("k{}", n % 5), if n % 8 == 7 { "y" } else { "x" }, n / 6);
        let new = item(&pk, n, &[("g", string(g)), ("r", number(r))]);
        run(store, put(&table, new, false)).await?;
    }
    let of_partition = partition(&table, Some(1), "x", SortBounds::default());
    let bounded = partition(
        &table,
        Some(1),
        "x",
        SortBounds {
            equal: vec![encoded(2)],
            ..SortBounds::default()
        },
    );
    for (range, count) in [(whole(&table, Some(1)), 24), (of_partition, 21), (bounded, 5)] {
        for reverse in [false, true] {
            let mut all = Range {
                reverse,
                ..range.clone()
            };
            let at_once = page(store, &all).await?.rows;
            check(at_once.len() == count, || {
                format!("{} entries of {count}", at_once.len())
            })?;
            let places: Vec<_> = at_once
                .iter()
                .map(|row| entry_place(&table, row))
                .map(|place| (place.bucket, place.hash, place.rest))
                .collect();
            let in_order = if reverse {
                places.is_sorted_by(|a, b| a > b)
            } else {
                places.is_sorted_by(|a, b| a < b)
            };
            check(in_order, || format!("reverse {reverse}: not in order"))?;
            all.max_items = Some(5);
            let mut by_pages = Vec::new();
            loop {
                let page = page(store, &all).await?;
                by_pages.extend(page.rows);
                match by_pages.last() {
                    Some(last) if page.ended != Ended::Data => all.after = Some(entry_place(&table, last)),
                    _ => break,
                }
            }
            check(by_pages == at_once, || {
                format!(
                    "reverse {reverse}: {} entries by pages of {}",
                    by_pages.len(),
                    at_once.len()
                )
            })?;
        }
    }
    Ok(())
}
