//! What a unit does to items and index rows.

use super::*;

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

/// Of units that travel together, one whose description is old or that refuses leaves the others alone.
pub async fn each_unit_its_own<S: Store>(store: &S, name: TableName) -> Outcome {
    let table = create(store, &name).await?;
    let mut old = (*table).clone();
    old.version.0 -= 1;
    let old = Arc::new(old);
    let units = vec![
        put(&table, item("a", 1, &[]), true),
        put(&old, item("b", 1, &[]), true),
        put(&table, item("a", 1, &[("v", string("again"))]), true),
        put(&table, item("c", 1, &[]), true),
    ];
    let answers = store.transact(units).await;
    let wanted = [Ok(true), Err(StoreError::Stale), Ok(false), Ok(true)];
    check(answers == wanted, || format!("answers: {answers:?}"))?;
    let stored = read(store, &["a", "b", "c"].map(|pk| key(&table, pk, 1))).await?;
    let wanted = [Some(item("a", 1, &[])), None, Some(item("c", 1, &[]))];
    check(stored == wanted, || format!("stored: {stored:?}"))
}

/// A unit of several keys, one only looked at, over two tables: its images come in the order of its keys.
pub async fn several_keys<S: Store>(store: &S, name: TableName) -> Outcome {
    let other = TableName {
        name: format!("{}.other", name.name),
        ..name.clone()
    };
    let (one, other) = (create(store, &name).await?, create(store, &other).await?);
    let held = item("held", 1, &[("g", string("x")), ("r", number(1))]);
    run(store, put(&one, held.clone(), false)).await?;
    let keys = vec![
        (key(&other, "new", 1), Need::Image),
        (key(&one, "held", 1), Need::Image),
        (key(&one, "absent", 1), Need::Image),
    ];
    let (described, seen) = ((one.clone(), other.clone()), held.clone());
    let unit = Unit {
        tables: vec![(other.id, other.version), (one.id, one.version)],
        keys: Keys(keys),
        decide: Box::new(move |images| {
            let (one, other) = &described;
            let as_they_stand =
                images.item(0) == Ok(None) && images.item(1) == Ok(Some(&seen)) && images.item(2) == Ok(None);
            let moved = item("new", 1, &[("g", string("y")), ("r", number(2))]);
            let put = derive(other, 0, &key(other, "new", 1), None, Some(moved)).change;
            let gone = derive(one, 1, &key(one, "held", 1), Some(&seen), None).change;
            Decision {
                changes: if as_they_stand {
                    vec![put, gone]
                } else {
                    Vec::new()
                },
                answer: as_they_stand,
            }
        }),
    };
    check(run(store, unit).await?, || {
        "the images are not as they stand".into()
    })?;
    let stored = read(store, &[key(&one, "held", 1), key(&other, "new", 1)]).await?;
    let wanted = [
        None,
        Some(item("new", 1, &[("g", string("y")), ("r", number(2))])),
    ];
    check(stored == wanted, || format!("stored: {stored:?}"))?;
    for (table, entries) in [(&one, 0), (&other, 1)] {
        let found = page(store, &whole(table, Some(1))).await?.rows.len();
        check(found == entries, || format!("{found} entries of {entries}"))?;
    }
    Ok(())
}

/// Whatever is written, an index holds what follows from the items, in the order of its keys.
pub async fn random_writes_and_indexes<S: Store>(store: &S, name: TableName) -> Outcome {
    let table = create(store, &name).await?;
    // A generator of its own: every store is asked the same.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let mut model: std::collections::BTreeMap<ItemKey, Item> = Default::default();
    for _ in 0..40 {
        let mut units = Vec::new();
        for _ in 0..random(6) + 1 {
            let (pk, sk) = (format!("k{}", random(3)), random(4));
            let key = key(&table, &pk, sk);
            if random(4) == 0 {
                model.remove(&key);
                units.push(delete(&table, key));
                continue;
            }
            let mut more = vec![("v", number(random(1000)))];
            if random(4) != 0 {
                more.push(("g", string(["x", "y", "z"][random(3) as usize])));
            }
            if random(4) != 0 {
                more.push(("r", number(random(3))));
            }
            let new = item(&pk, sk, &more);
            model.insert(key, new.clone());
            units.push(put(&table, new, false));
        }
        if let Some(fault) = store.transact(units).await.into_iter().find_map(Result::err) {
            return Err(format!("{fault:?}"));
        }
    }
    let items: Vec<Item> = page(store, &whole(&table, None))
        .await?
        .rows
        .into_iter()
        .map(|row| row.item)
        .collect();
    check(items.iter().eq(model.values()), || {
        format!("{} items of {}", items.len(), model.len())
    })?;
    let mut wanted: Vec<_> = model
        .values()
        .filter(|item| item.contains("g") && item.contains("r"))
        .map(|item| {
            let row = Row {
                item: item.clone(),
                base: None,
            };
            let place = entry_place(&table, &row);
            (place.bucket, place.hash, place.rest, row)
        })
        .collect();
    wanted.sort_by(|a, b| (a.0, &a.1, &a.2).cmp(&(b.0, &b.1, &b.2)));
    let entries = page(store, &whole(&table, Some(1))).await?.rows;
    check(entries.iter().eq(wanted.iter().map(|(.., row)| row)), || {
        format!("{} entries of {}", entries.len(), wanted.len())
    })
}
