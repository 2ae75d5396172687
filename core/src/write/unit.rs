//! One decision over locked keys: the whole of writing, on every store.

use std::time::Duration;

use crate::{
    item::{IndexKey, Item, ItemKey},
    table::{TableId, Version},
    time::Timestamp,
};

/// One decision. Pure: a store may call it again (a transient error, a lost compare-and-set), and may run many in
/// one commit.
pub struct Unit<T> {
    /// The descriptions it was planned on; the store answers `Stale` when one has changed.
    pub tables: Vec<(TableId, Version)>,
    pub keys: Keys,
    pub decide: Decide<T>,
}

/// From the images of a unit's keys to its changes and its answer.
pub type Decide<T> = Box<dyn Fn(&Images) -> Decision<T> + Send>;

/// The keys to lock, and what is wanted of each. No key twice.
#[derive(Clone, Debug, Default)]
pub struct Keys(pub Vec<(ItemKey, Need)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The item as it stands.
    Image,
    /// Only that nobody else writes it.
    RightToWrite,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Image {
    Absent,
    Present(Item),
    /// Locked, not read.
    Unread,
    /// The lock was not had in time. No change may name this key.
    Busy,
}

/// The images in the order of the unit's keys.
pub struct Images<'a> {
    /// The store's clock, once all locks are held.
    pub now: Timestamp,
    pub all: &'a [Image],
}

/// The lock of this key was not had in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

impl Images<'_> {
    pub fn busy(&self, key: usize) -> bool {
        matches!(self.all[key], Image::Busy)
    }

    /// The item under a key whose image was asked for (an unread one is a bug of the caller).
    pub fn item(&self, key: usize) -> Result<Option<&Item>, Busy> {
        match &self.all[key] {
            Image::Absent => Ok(None),
            Image::Present(item) => Ok(Some(item)),
            Image::Busy => Err(Busy),
            Image::Unread => panic!("the unit asked for no image of key {key}"),
        }
    }
}

/// A refusal is an answer without changes.
pub struct Decision<T> {
    pub changes: Vec<Change>,
    pub answer: T,
}

impl<T> Decision<T> {
    pub fn refuse(answer: T) -> Self {
        Decision {
            changes: Vec::new(),
            answer,
        }
    }
}

/// What becomes of one key. Made by [`derive`](super::derive) alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Which of the unit's keys.
    pub of: usize,
    pub base: Base,
    pub rows: Vec<IndexRow>,
    /// For tokens and claims: how long the row is kept.
    pub keep_for: Option<Duration>,
    /// Of an item that is put, where the table's time to live is enabled: when it expires, in seconds since the epoch.
    pub expires: Option<i64>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Base {
    Put(Item),
    Delete,
    /// Only index rows change (an index fill).
    Untouched,
}

/// A row of an index's storage.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexRow {
    /// The index's number in the table of the change's key.
    pub index: i32,
    pub key: IndexKey,
    pub write: RowWrite,
}

/// Which statement it takes. The first three must touch exactly one row; the others are for an index that is being
/// filled, where nobody knows whether the fill or a writer was there before.
#[derive(Clone, Debug, PartialEq)]
pub enum RowWrite {
    Insert(Item),
    Update(Item),
    Delete,
    /// Insert or update.
    Set(Item),
    /// Delete what is there, if anything.
    Clear,
}
