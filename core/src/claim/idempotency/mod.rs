//! The storage half of an `Idempotency-Key` header, for any application: claim a key, do the work, keep the response for
//! whoever sends the request again.                                                     behaviour/idempotency
//!
//! A key is one row of the system table of claims. Whoever holds its lock decides, over a fresh look at it; the name of the
//! attempt, drawn anew for each, says who may end what was begun. So however many send the same request at once, one
//! is told to go ahead, and one that was taken over changes nothing any more.

mod fault;
mod response;
#[cfg(test)]
mod tests;

use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::{
    engine,
    item::{AttributeValue, Item},
    operation::ITEM_MAX_BYTES,
    store::{Store, StoreError},
    table::{TableId, Version},
    time::Timestamp,
    write::{Base, Decision, Images, Keys, Need, Unit},
};

use super::{Arrival, Claim, ClaimKey, State, arrive};

pub use fault::IdempotencyFault;
pub use response::Response;

/// A claim whose holder is gone, and whose request never comes again, is forgotten this long after it went stale. Until
/// then another request under its key is refused.
const STALE_IS_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

const SCOPE_MAX_BYTES: usize = 1_024;
const METHOD_MAX_BYTES: usize = 32;
const PATH_MAX_BYTES: usize = 8_192;
const KEY_MAX_BYTES: usize = 255;
const FINGERPRINT_MAX_BYTES: usize = 1_024;
const STALE_AFTER_MAX: Duration = Duration::from_secs(24 * 60 * 60);
const KEEP_FOR_MAX: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// Which request of whose: two that differ in any part have nothing to do with each other.
#[derive(Clone, Debug, PartialEq)]
pub struct IdempotencyKey(ClaimKey);

/// What one attempt at a request brings with it.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// What the request is: another one under the same key is refused.
    pub fingerprint: Vec<u8>,
    /// Names the attempt; nobody else can guess it.
    pub claim: String,
    /// How long it may take before another may take over.
    pub stale_after: Duration,
}

/// What becomes of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum Claimed {
    /// It may act, and must complete or release its claim.
    Go,
    /// It was done: what was answered.
    Replay(Response),
    /// Another attempt is at it.
    InFlight,
    /// The key was used for another request.
    Reused,
}

impl IdempotencyKey {
    /// The sort value is read from the left without doubt: a method has no blank, a digest has 64 digits.
    pub fn new(
        owner_scope: &str,
        method: &str,
        path: &str,
        key: &str,
    ) -> Result<IdempotencyKey, IdempotencyFault> {
        check_length("owner_scope", owner_scope.len(), SCOPE_MAX_BYTES)?;
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if method.is_empty() || method.len() > METHOD_MAX_BYTES || !method.bytes().all(is_token) {
            return Err(IdempotencyFault::Method);
        }
        check_length("path", path.len(), PATH_MAX_BYTES)?;
        check_length("key", key.len(), KEY_MAX_BYTES)?;
        let sort = format!("{method} {} {key}", hex(&Sha256::digest(path)));
        let text = |text: &str| AttributeValue::S(text.to_owned());
        let row = ClaimKey::new(TableId::CLAIMS, owner_scope.to_owned(), sort)
            .beside("method", text(method))
            .beside("path", text(path))
            .beside("key", text(key));
        Ok(IdempotencyKey(row))
    }

    /// The key locked, with its row, and a decision on it.
    fn unit<T>(&self, decide: impl Fn(&Images) -> Decision<T> + Send + 'static) -> Unit<T> {
        Unit {
            tables: vec![(TableId::CLAIMS, Version(0))],
            keys: Keys(vec![(self.0.item.clone(), Need::Image)]),
            decide: Box::new(decide),
        }
    }
}

impl Attempt {
    /// `claim` must be of at least 16 random bytes.
    pub fn new(
        fingerprint: &[u8],
        stale_after_us: i128,
        claim: [u8; 16],
    ) -> Result<Attempt, IdempotencyFault> {
        check_length("fingerprint", fingerprint.len(), FINGERPRINT_MAX_BYTES)?;
        Ok(Attempt {
            fingerprint: fingerprint.to_vec(),
            claim: hex(&claim),
            stale_after: duration("stale_after", stale_after_us, STALE_AFTER_MAX)?,
        })
    }
}

/// How long a response is kept, out of the microseconds that were asked for.
pub fn keep_for(microseconds: i128) -> Result<Duration, IdempotencyFault> {
    duration("keep_for", microseconds, KEEP_FOR_MAX)
}

/// How many rows a sweep may remove.
pub fn sweep_size(max: i32) -> Result<usize, IdempotencyFault> {
    let size = usize::try_from(max).unwrap_or(0);
    let is_sane = (1..=super::SWEEP_MAX).contains(&size);
    is_sane.then_some(size).ok_or(IdempotencyFault::Max)
}

/// Claims a key for an attempt. `now` serves a first look without a lock; the decision has the store's own.
pub async fn claim<S: Store>(
    store: &S,
    key: &IdempotencyKey,
    attempt: Attempt,
    now: Timestamp,
) -> Result<Claimed, IdempotencyFault> {
    if let Some(response) = replayed(store, key, &attempt.fingerprint, now).await? {
        return Ok(Claimed::Replay(response));
    }
    let row = key.0.clone();
    let unit = key.unit(move |images| decide_claim(&row, &attempt, images));
    match engine::run(store, unit).await {
        Ok(claimed) => claimed,
        // The whole table is locked: somebody is at very many keys, and this may be one of them.
        Err(StoreError::Busy | StoreError::Held(_)) => Ok(Claimed::InFlight),
        Err(other) => Err(other.into()),
    }
}

/// Ends a claim with the response to its request. Whether the attempt still held it: where not, another has taken over, or
/// it was ended before, and nothing is kept.
pub async fn complete<S: Store>(
    store: &S,
    key: &IdempotencyKey,
    attempt: String,
    response: Response,
    keep_for: Duration,
) -> Result<bool, IdempotencyFault> {
    let row = key.0.clone();
    let kept = response.write();
    let unit = key.unit(move |images| {
        let (stored, held) = match held(&attempt, images) {
            Ok(Some(held)) => held,
            Ok(None) => return Decision::refuse(Ok(false)),
            Err(fault) => return Decision::refuse(Err(fault)),
        };
        let completed = Claim {
            fingerprint: held.fingerprint,
            at: images.now,
            window: keep_for,
            state: State::Committed(kept.clone()),
        };
        let change = row.put(0, Some(stored), &completed);
        match &change.base {
            Base::Put(item) if item.size() > ITEM_MAX_BYTES => {
                let over_bytes = item.size() - ITEM_MAX_BYTES;
                Decision::refuse(Err(IdempotencyFault::ResponseSize { over_bytes }))
            }
            _ => Decision {
                changes: vec![change],
                answer: Ok(true),
            },
        }
    });
    engine::run(store, unit).await?
}

/// Gives a claim up: the key is free, as if it had never been used. Whether the attempt still held it.
pub async fn release<S: Store>(
    store: &S,
    key: &IdempotencyKey,
    attempt: String,
) -> Result<bool, IdempotencyFault> {
    let row = key.0.clone();
    let unit = key.unit(move |images| match held(&attempt, images) {
        Ok(Some((stored, _))) => Decision {
            changes: vec![row.remove(0, stored)],
            answer: Ok(true),
        },
        Ok(None) => Decision::refuse(Ok(false)),
        Err(fault) => Decision::refuse(Err(fault)),
    });
    engine::run(store, unit).await?
}

fn decide_claim(
    row: &ClaimKey,
    attempt: &Attempt,
    images: &Images,
) -> Decision<Result<Claimed, IdempotencyFault>> {
    // Whoever has the lock is at this key, and nobody can see yet with which request.
    let Ok(stored) = images.item(0) else {
        return Decision::refuse(Ok(Claimed::InFlight));
    };
    let found = match stored.map(Claim::read).transpose() {
        Ok(found) => found,
        Err(corrupt) => return Decision::refuse(Err(corrupt.into())),
    };
    match arrive(found.as_ref(), &attempt.fingerprint, images.now) {
        Arrival::Go => {
            let running = Claim {
                fingerprint: attempt.fingerprint.clone(),
                at: images.now,
                window: attempt.stale_after + STALE_IS_KEPT,
                state: State::Running {
                    owner: attempt.claim.clone(),
                    stale_after: attempt.stale_after,
                },
            };
            Decision {
                changes: vec![row.put(0, stored, &running)],
                answer: Ok(Claimed::Go),
            }
        }
        Arrival::Replay(kept) => Decision::refuse(Response::read(kept).map(Claimed::Replay)),
        Arrival::Mismatch => Decision::refuse(Ok(Claimed::Reused)),
        Arrival::InProgress => Decision::refuse(Ok(Claimed::InFlight)),
    }
}

/// The claim under the unit's key where this attempt holds it. One that is over counts as absent, swept or not.
fn held<'i>(attempt: &str, images: &'i Images) -> Result<Option<(&'i Item, Claim)>, IdempotencyFault> {
    let stored = images.item(0).map_err(|_| IdempotencyFault::Busy)?;
    let Some(stored) = stored else {
        return Ok(None);
    };
    let claim = Claim::read(stored)?;
    let is_held = claim.is_used(images.now) && claim.is_held_by(attempt);
    Ok(is_held.then_some((stored, claim)))
}

/// What a plain look says: a response that is kept stays so until its time is over, so a replay needs no lock, and waits for
/// nobody. Anything else is for the decision under the lock.
async fn replayed<S: Store>(
    store: &S,
    key: &IdempotencyKey,
    fingerprint: &[u8],
    now: Timestamp,
) -> Result<Option<Response>, IdempotencyFault> {
    let rows = store.read(std::slice::from_ref(&key.0.item)).await?;
    let Some(row) = rows.first().and_then(Option::as_ref) else {
        return Ok(None);
    };
    match arrive(Some(&Claim::read(row)?), fingerprint, now) {
        Arrival::Replay(kept) => Response::read(kept).map(Some),
        _ => Ok(None),
    }
}

fn check_length(argument: &'static str, bytes: usize, max_bytes: usize) -> Result<(), IdempotencyFault> {
    if (1..=max_bytes).contains(&bytes) {
        return Ok(());
    }
    Err(IdempotencyFault::Length {
        argument,
        bytes,
        max_bytes,
    })
}

fn duration(argument: &'static str, microseconds: i128, max: Duration) -> Result<Duration, IdempotencyFault> {
    let milliseconds = u64::try_from(microseconds.div_euclid(1_000)).unwrap_or(0);
    let asked = Duration::from_millis(milliseconds);
    let is_sane = milliseconds >= 1 && microseconds <= max.as_micros() as i128;
    is_sane
        .then_some(asked)
        .ok_or(IdempotencyFault::Duration { argument, max })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
