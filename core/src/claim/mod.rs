//! Claims: who may act under a key that the same request may be sent with again. One automaton serves
//! ClientRequestToken and the store of `Idempotency-Key`s.                          behaviour/transactions §claims
//!
//! | from | event | to |
//! |---|---|---|
//! | absent, or its window is over | arrival | running |
//! | running | its owner finishes | committed, with what replays answer |
//! | running | its owner is refused | cancelled |
//! | running | its owner gives up | absent |
//! | running, stale | the same request arrives | running, under a new owner |
//! | cancelled | the same request arrives | running |
//!
//! A transaction never stores `running`: the lock on its token's key is that state. Whatever the state, another request
//! under the key is a mismatch until the window is over.

pub mod idempotency;
mod row;
mod sweep;

pub use row::{ClaimKey, Corrupt};
pub use sweep::{SWEEP_MAX, sweep, sweep_all};

use std::time::Duration;

use crate::{item::AttributeValue, time::Timestamp};

#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// What the request is; another one under the same key is refused.
    pub fingerprint: Vec<u8>,
    /// When its state began.
    pub at: Timestamp,
    /// How long from then on the key is taken.
    pub window: Duration,
    pub state: State,
}

#[derive(Clone, Debug, PartialEq)]
pub enum State {
    Running {
        /// Names the attempt; only it may end the claim.
        owner: String,
        /// How long after `at` an attempt counts as dead.
        stale_after: Duration,
    },
    /// With what a replay answers from.
    Committed(AttributeValue),
    Cancelled,
}

/// What an arriving request finds.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrival<'c> {
    /// It may act.
    Go,
    /// It was done: what was kept for the answer.
    Replay(&'c AttributeValue),
    /// The key was used for another request.
    Mismatch,
    /// Another attempt at this request is running.
    InProgress,
}

impl Claim {
    /// Whether the key is taken: to the last moment before the window is over.
    pub fn is_used(&self, now: Timestamp) -> bool {
        now.0 < after(self.at, self.window)
    }

    /// Whether this attempt holds the claim.
    pub fn is_held_by(&self, attempt: &str) -> bool {
        matches!(&self.state, State::Running { owner, .. } if owner == attempt)
    }

    fn is_stale(&self, now: Timestamp) -> bool {
        match &self.state {
            State::Running { stale_after, .. } => now.0 >= after(self.at, *stale_after),
            State::Committed(_) | State::Cancelled => false,
        }
    }
}

/// First the window, then the fingerprint, then the state.
pub fn arrive<'c>(found: Option<&'c Claim>, fingerprint: &[u8], now: Timestamp) -> Arrival<'c> {
    let Some(claim) = found.filter(|claim| claim.is_used(now)) else {
        return Arrival::Go;
    };
    if claim.fingerprint != fingerprint {
        return Arrival::Mismatch;
    }
    match &claim.state {
        State::Committed(kept) => Arrival::Replay(kept),
        State::Cancelled => Arrival::Go,
        State::Running { .. } if claim.is_stale(now) => Arrival::Go,
        State::Running { .. } => Arrival::InProgress,
    }
}

fn after(at: Timestamp, duration: Duration) -> u64 {
    at.0.saturating_add(duration.as_millis().try_into().unwrap_or(u64::MAX))
}
