//! Items with a time after which they may go.

use std::time::Duration;

use super::*;
use crate::time::Timestamp;

/// Far from any clock: in seconds.
const THEN: i64 = 4_000_000_000;

async fn expired_at<S: Store>(
    store: &S,
    table: TableId,
    seconds: i64,
    max: usize,
) -> Result<Vec<ItemKey>, String> {
    let before = Timestamp(seconds as u64 * 1000);
    let mut keys = store
        .expired(table, before, max)
        .await
        .map_err(|fault| format!("{fault:?}"))?;
    keys.sort();
    Ok(keys)
}

pub async fn expired<S: Store>(store: &S, name: TableName) -> Outcome {
    let plain = create(store, &name).await?;
    // The attribute that says when is the description's affair; a unit brings the description it was planned on.
    let mut table = (*plain).clone();
    table.settings.ttl_attribute = Some("until".into());
    let table = Arc::new(table);
    let with = |sk, until: i64| {
        item(
            "a",
            sk,
            &[("until", AttributeValue::N(Number::from(until as u64)))],
        )
    };
    for (sk, until) in [(1, THEN), (2, THEN + 10), (3, THEN + 20)] {
        run(store, put(&table, with(sk, until), false)).await?;
    }
    run(store, put(&table, item("a", 4, &[]), false)).await?;
    let key = |sk| key(&table, "a", sk);
    let cases: [(i64, &[u64]); 4] = [
        (THEN - 1, &[]),
        (THEN, &[1]),
        (THEN + 19, &[1, 2]),
        (THEN + 1000, &[1, 2, 3]),
    ];
    for (seconds, wanted) in cases {
        let found = expired_at(store, table.id, seconds, 100).await?;
        let wanted: Vec<ItemKey> = wanted.iter().map(|sk| key(*sk)).collect();
        check(found == wanted, || format!("at {seconds}: {found:?}"))?;
    }
    let two = expired_at(store, table.id, THEN + 1000, 2).await?;
    check(two.len() == 2, || format!("{} of at most two", two.len()))?;
    // A time that moves, one that goes with its attribute, and one that goes with its item.
    run(store, put(&table, with(1, THEN + 500), false)).await?;
    run(store, put(&table, item("a", 2, &[]), false)).await?;
    run(store, delete(&table, key(3))).await?;
    let found = expired_at(store, table.id, THEN + 499, 100).await?;
    check(found.is_empty(), || format!("after the changes: {found:?}"))?;
    let found = expired_at(store, table.id, THEN + 500, 100).await?;
    check(found == [key(1)], || format!("after the changes: {found:?}"))
}

/// A row of a system table, as a token is.
pub async fn kept_for_a_time<S: Store>(store: &S, name: TableName) -> Outcome {
    const KEPT_SECONDS: u64 = 1000;
    let Some(tokens) = Table::system(TableId::TOKENS) else {
        return Err("there is no table of tokens".into());
    };
    let tokens = Arc::new(tokens);
    let attributes = Attributes::from([("pk".into(), string(&name.name)), ("sk".into(), string("suite"))]);
    let row = Item::encode(&attributes);
    let hash = encode_hash([&string(&name.name)]);
    let key = ItemKey {
        table: TableId::TOKENS,
        bucket: hash_bucket(&hash),
        pk: stored_hash(hash),
        sk: b"suite".to_vec(),
    };
    let (described, kept, written) = (tokens.clone(), key.clone(), row.clone());
    let unit = Unit {
        tables: vec![(tokens.id, Version(0))],
        keys: Keys(vec![(key.clone(), Need::Image)]),
        decide: Box::new(move |images| {
            let old = images.item(0).ok().flatten();
            let mut change = derive(&described, 0, &kept, old, Some(written.clone())).change;
            change.keep_for = Some(Duration::from_secs(KEPT_SECONDS));
            Decision {
                changes: vec![change],
                answer: images.now,
            }
        }),
    };
    let now = run(store, unit).await?;
    let stored = read(store, std::slice::from_ref(&key)).await?;
    check(stored == [Some(row)], || format!("stored: {stored:?}"))?;
    let until = (now.0 / 1000 + KEPT_SECONDS) as i64;
    let early = expired_at(store, TableId::TOKENS, until - 1, usize::MAX >> 1).await?;
    check(!early.contains(&key), || "expired too early".into())?;
    let late = expired_at(store, TableId::TOKENS, until, usize::MAX >> 1).await?;
    check(late.contains(&key), || "not expired in its time".into())?;
    check(run(store, delete(&tokens, key)).await?, || {
        "nothing to delete".into()
    })
}
