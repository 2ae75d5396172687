//! Removes claims whose window is over. Nothing depends on it but space: a claim that is over counts as absent.

use crate::{
    item::ItemKey,
    store::{Store, StoreError},
    table::{TableId, Version},
    time::Timestamp,
    write::{Decision, Images, Keys, Need, Unit},
};

use super::{Claim, row};

/// What one call may ask for: its locks are held to its commit, and the memory for locks is shared by all sessions.
pub const SWEEP_MAX: usize = 10_000;

/// Removes up to `max` transactions' tokens and applications' claims that were over before `before`, the two by turns in
/// small batches, so that neither waits for the other; answers how many.
pub async fn sweep_all<S: Store>(store: &S, before: Timestamp, max: usize) -> Result<usize, StoreError> {
    const BATCH: usize = 100;
    let mut tables = vec![TableId::TOKENS, TableId::CLAIMS];
    let mut count = 0;
    while !tables.is_empty() && count < max {
        for table in std::mem::take(&mut tables) {
            let batch = BATCH.min(max - count);
            let removed = sweep(store, table, before, batch).await?;
            count += removed;
            // Less than was asked for: nothing is left, or only what somebody holds.
            if removed == batch && batch > 0 {
                tables.push(table);
            }
        }
    }
    Ok(count)
}

/// Removes up to `max` claims of a system table that were over before `before`; answers how many. One that somebody holds
/// now waits for the next round.
pub async fn sweep<S: Store>(
    store: &S,
    table: TableId,
    before: Timestamp,
    max: usize,
) -> Result<usize, StoreError> {
    let keys = store.expired(table, before, max).await?;
    let removed = store.transact(keys.into_iter().map(removal).collect()).await;
    let mut count = 0;
    for answer in removed {
        match answer {
            Ok(removed) => count += usize::from(removed),
            Err(StoreError::Busy | StoreError::Held(_) | StoreError::Stale) => {}
            Err(unavailable) => return Err(unavailable),
        }
    }
    Ok(count)
}

fn removal(key: ItemKey) -> Unit<bool> {
    let removed = key.clone();
    let decide = move |images: &Images| {
        let Ok(Some(row)) = images.item(0) else {
            return Decision::refuse(false);
        };
        // It may have been claimed anew since it was found.
        if Claim::read(row).is_ok_and(|claim| claim.is_used(images.now)) {
            return Decision::refuse(false);
        }
        Decision {
            changes: vec![row::change(&removed, 0, Some(row), None)],
            answer: true,
        }
    };
    Unit {
        tables: vec![(key.table, Version(0))],
        keys: Keys(vec![(key, Need::Image)]),
        decide: Box::new(decide),
    }
}
