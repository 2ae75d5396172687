//! ClientRequestToken: at most one run of a request in ten minutes, whatever is sent again.
//!                                                                             behaviour/transactions §tokens

use std::time::Duration;

use crate::{
    claim::{Arrival, Claim, ClaimKey, State, arrive},
    error::{Error, Fault},
    item::{AttributeValue, Item, Number},
    operation::Operation,
    request::TransactionFault,
    table::{AccountId, TableId},
    time::Timestamp,
    write::Change,
};

/// How long a token is remembered after the commit, or after the last cancellation.
pub const WINDOW: Duration = Duration::from_secs(600);

#[derive(Clone, Debug)]
pub struct Token {
    pub key: ClaimKey,
    fingerprint: Vec<u8>,
}

impl Token {
    /// Tokens of several accounts and operations have nothing to do with each other.
    pub fn new(account: &AccountId, operation: Operation, token: &str, fingerprint: Vec<u8>) -> Token {
        let scope = format!("{}/{}", account.0, operation.name());
        Token {
            key: ClaimKey::new(TableId::TOKENS, scope, token.to_owned()),
            fingerprint,
        }
    }

    /// Whether the request is to be run (`None`), or which sizes its replay is charged with.
    pub fn arrive(&self, stored: Option<&Item>, now: Timestamp) -> Result<Option<Vec<usize>>, Error> {
        let corrupt = || Fault::Internal("a stored token is not readable".into());
        let claim = stored.map(Claim::read).transpose().map_err(|_| corrupt())?;
        match arrive(claim.as_ref(), &self.fingerprint, now) {
            Arrival::Go => Ok(None),
            Arrival::Replay(kept) => sizes(kept).map(Some).ok_or_else(|| corrupt().into()),
            Arrival::Mismatch => Err(TransactionFault::TokenMismatch.into()),
            Arrival::InProgress => Err(TransactionFault::InProgress.into()),
        }
    }

    /// How the token stands, by a name, and when its window is over; for people who look.
    pub fn standing(&self, stored: Option<&Item>, now: Timestamp) -> (&'static str, Option<Timestamp>) {
        let Some(claim) = stored.and_then(|row| Claim::read(row).ok()) else {
            return ("Unused", None);
        };
        if !claim.is_used(now) {
            return ("Unused", None);
        }
        let name = match &claim.state {
            _ if claim.fingerprint != self.fingerprint => "OfAnotherRequest",
            State::Committed(_) => "Committed",
            State::Cancelled => "Cancelled",
            State::Running { .. } => "Running",
        };
        let window_ms = claim.window.as_millis() as u64;
        (name, Some(Timestamp(claim.at.0.saturating_add(window_ms))))
    }

    /// The change that remembers the end of a run: the bytes of each member for its replay, or nothing where it was
    /// refused.
    pub fn remember(
        &self,
        of: usize,
        stored: Option<&Item>,
        now: Timestamp,
        committed: Option<&[usize]>,
    ) -> Change {
        let state = match committed {
            Some(sizes) => {
                let size = |bytes: &usize| AttributeValue::N(Number::from(*bytes as u64));
                State::Committed(AttributeValue::L(sizes.iter().map(size).collect()))
            }
            None => State::Cancelled,
        };
        let claim = Claim {
            fingerprint: self.fingerprint.clone(),
            at: now,
            window: WINDOW,
            state,
        };
        self.key.put(of, stored, &claim)
    }
}

fn sizes(kept: &AttributeValue) -> Option<Vec<usize>> {
    let AttributeValue::L(sizes) = kept else {
        return None;
    };
    let size = |value: &AttributeValue| match value {
        AttributeValue::N(bytes) => usize::try_from(bytes.to_i64()?).ok(),
        _ => None,
    };
    sizes.iter().map(size).collect()
}
