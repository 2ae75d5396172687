//! Claims as items of a system table.

use std::time::Duration;

use crate::{
    item::{
        AttributeValue, Attributes, Item, ItemKey, Number, encode_hash, encode_scalar, hash_bucket,
        stored_hash,
    },
    table::{Table, TableId},
    time::Timestamp,
    write::{Change, derive},
};

use super::{Claim, State};

/// Where a claim is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimKey {
    pub item: ItemKey,
    /// `pk`, `sk`, and what is kept beside them for people who look.
    attributes: Attributes,
}

/// A row of a system table that is no claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt;

const STATE: &str = "state";
const FINGERPRINT: &str = "fingerprint";
const AT_MS: &str = "at";
const WINDOW_MS: &str = "window";
const OWNER: &str = "owner";
const STALE_AFTER_MS: &str = "stale_after";
const KEPT: &str = "kept";

impl ClaimKey {
    /// `pk` and `sk` are within the limits of keys.
    pub fn new(table: TableId, pk: String, sk: String) -> ClaimKey {
        let (pk, sk) = (AttributeValue::S(pk), AttributeValue::S(sk));
        let hash = encode_hash([&pk]);
        let mut range = Vec::new();
        encode_scalar(&sk, &mut range);
        ClaimKey {
            item: ItemKey {
                table,
                bucket: hash_bucket(&hash),
                pk: stored_hash(hash),
                sk: range,
            },
            attributes: Attributes::from([("pk".to_owned(), pk), ("sk".to_owned(), sk)]),
        }
    }

    /// Keeps an attribute in the row, under a name that no part of a claim has.
    pub fn beside(mut self, name: &str, value: AttributeValue) -> ClaimKey {
        self.attributes.insert(name.to_owned(), value);
        self
    }

    /// The change that puts a claim in the place of what is `stored` under the unit's key number `of`.
    pub fn put(&self, of: usize, stored: Option<&Item>, claim: &Claim) -> Change {
        let mut attributes = self.attributes.clone();
        claim.write(&mut attributes);
        let mut change = self.change(of, stored, Some(Item::encode(&attributes)));
        change.keep_for = Some(claim.window);
        change
    }

    /// The change that removes it.
    pub fn remove(&self, of: usize, stored: &Item) -> Change {
        self.change(of, Some(stored), None)
    }

    fn change(&self, of: usize, stored: Option<&Item>, new: Option<Item>) -> Change {
        change(&self.item, of, stored, new)
    }
}

/// The change of a row whose key alone is known.
pub(super) fn change(key: &ItemKey, of: usize, stored: Option<&Item>, new: Option<Item>) -> Change {
    let table = Table::system(key.table).expect("claims are kept in system tables");
    derive(&table, of, key, stored, new).change
}

impl Claim {
    /// Reads a row.
    pub fn read(row: &Item) -> Result<Claim, Corrupt> {
        let text = |name| match row.get(name) {
            Some(AttributeValue::S(text)) => Ok(text),
            _ => Err(Corrupt),
        };
        let milliseconds = |name| match row.get(name) {
            Some(AttributeValue::N(number)) => number
                .to_i64()
                .and_then(|value| u64::try_from(value).ok())
                .ok_or(Corrupt),
            _ => Err(Corrupt),
        };
        let duration = |name| milliseconds(name).map(Duration::from_millis);
        let Some(AttributeValue::B(fingerprint)) = row.get(FINGERPRINT) else {
            return Err(Corrupt);
        };
        let state = match text(STATE)?.as_str() {
            "running" => State::Running {
                owner: text(OWNER)?,
                stale_after: duration(STALE_AFTER_MS)?,
            },
            "committed" => State::Committed(row.get(KEPT).ok_or(Corrupt)?),
            "cancelled" => State::Cancelled,
            _ => return Err(Corrupt),
        };
        Ok(Claim {
            fingerprint,
            at: Timestamp(milliseconds(AT_MS)?),
            window: duration(WINDOW_MS)?,
            state,
        })
    }

    fn write(&self, attributes: &mut Attributes) {
        let milliseconds = |value: u64| AttributeValue::N(Number::from(value.min(i64::MAX as u64)));
        let duration = |value: Duration| milliseconds(value.as_millis().try_into().unwrap_or(u64::MAX));
        let mut put = |name: &str, value| attributes.insert(name.to_owned(), value);
        put(FINGERPRINT, AttributeValue::B(self.fingerprint.clone()));
        put(AT_MS, milliseconds(self.at.0));
        put(WINDOW_MS, duration(self.window));
        let state = match &self.state {
            State::Running { owner, stale_after } => {
                put(OWNER, AttributeValue::S(owner.clone()));
                put(STALE_AFTER_MS, duration(*stale_after));
                "running"
            }
            State::Committed(kept) => {
                put(KEPT, kept.clone());
                "committed"
            }
            State::Cancelled => "cancelled",
        };
        put(STATE, AttributeValue::S(state.to_owned()));
    }
}
