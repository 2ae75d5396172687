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
