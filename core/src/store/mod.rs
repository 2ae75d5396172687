//! What the engine needs from a database. A store never hears of expressions, faults or capacity.
//!
//! Every future is `Send`; a synchronous store does its work when called and returns `std::future::ready`.

mod stretch;

pub use stretch::{Comparison, KeyColumn, Operator, Stretch};

use std::{future::Future, sync::Arc};

use crate::{
    item::{Item, ItemKey},
    table::{AccountId, Statistics, Table, TableId, TableName},
    time::Timestamp,
    write::Unit,
};

pub trait Store {
    /// The descriptions, in the order asked; `None` where there is no such table. `access` says which lock on
    /// the table's storage comes with them: PostgreSQL takes it first, then looks.
    fn tables(
        &self,
        names: &[TableName],
        access: Access,
    ) -> impl Future<Output = Result<Vec<Option<Arc<Table>>>, StoreError>> + Send;

    /// The items under these keys, of one snapshot, in the order asked; several tables.
    fn read(&self, keys: &[ItemKey]) -> impl Future<Output = Result<Vec<Option<Item>>, StoreError>> + Send;

    /// One page of a range, of one snapshot.
    fn walk(&self, range: Range) -> impl Future<Output = Result<Page, StoreError>> + Send;

    /// Locks the keys of each unit, reads what images it asks for, calls `decide`, and makes the changes durable,
    /// all or nothing. Each unit has its own decision, over the images as those before it left them; those sent
    /// together share one commit.
    fn transact<T: Send + 'static>(
        &self,
        units: Vec<Unit<T>>,
    ) -> impl Future<Output = Vec<Result<T, StoreError>>> + Send;

    /// Decides on a table's description under its lock. May call `decide` again with a later description.
    fn alter<T: Send + 'static>(
        &self,
        name: &TableName,
        decide: Box<dyn Fn(Proposal) -> Alteration<T> + Send>,
    ) -> impl Future<Output = Result<T, StoreError>> + Send;

    /// Up to `limit` names of an account's tables in byte order, from the first after `after`.
    fn table_names(
        &self,
        account: &AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<String>, StoreError>> + Send;

    /// Up to `max` items of a table that expired before this time, in no order and without their locks: whoever deletes
    /// them looks again under the lock.
    fn expired(
        &self,
        table: TableId,
        before: Timestamp,
        max: usize,
    ) -> impl Future<Output = Result<Vec<ItemKey>, StoreError>> + Send;

    /// Figures of a table, measured (a large one by a sample) or remembered for at most six hours.
    fn statistics(&self, table: &Table) -> impl Future<Output = Result<Statistics, StoreError>> + Send;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// A description that a unit was planned on has changed: plan again.
    Stale,
    /// The lock was not had in time, where no image can say so.
    Busy,
    /// Somebody else holds a lock, and this store was told not to wait for it; with the name that the store has for it.
    Held(u64),
    Unavailable(String),
}

/// What `alter` decides on: the description as it stands, or the id that a new table would get.
pub struct Proposal<'a> {
    pub existing: Option<&'a Table>,
    pub fresh: TableId,
}

pub struct Alteration<T> {
    pub change: Option<TableChange>,
    pub answer: T,
}

pub enum TableChange {
    /// Creates the storage of the table and of its indexes.
    Create(Table),
    /// The same table with a new description (its `version` raised); storage of indexes is created or dropped to match.
    Replace(Table),
    /// Drops the description and all storage.
    Drop(TableId),
}

/// A contiguous piece of a table or index, to be read in key order.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    pub table: TableId,
    /// The index's number; `None` is the table itself.
    pub index: Option<i32>,
    pub part: Part,
    /// Where the last page ended; reading goes on strictly after it, in the direction of reading.
    pub after: Option<Position>,
    pub reverse: bool,
    /// Ends the page when so many rows were read.
    pub max_items: Option<usize>,
    /// Ends the page with the row that brings the DynamoDB sizes to this many bytes; that row belongs to the page.
    pub max_bytes: usize,
    /// For an index: also the whole item of each entry (an LSI read of attributes that it does not project).
    pub with_base: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// One partition: a HASH value and bounds on the RANGE columns.
    Partition {
        bucket: i32,
        hash: Vec<u8>,
        sort: SortBounds,
    },
    /// All partitions whose bucket is in this range, both ends inclusive.
    Buckets { first: i32, last: i32 },
}

/// Bounds on the RANGE columns: equal values for the first ones, then a range on the next.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SortBounds {
    pub equal: Vec<Vec<u8>>,
    pub lower: Option<Bound>,
    pub upper: Option<Bound>,
}

impl SortBounds {
    /// Whether the RANGE columns of a row lie within the bounds.
    pub fn contains(&self, columns: &[Vec<u8>]) -> bool {
        let equal = self
            .equal
            .iter()
            .zip(columns)
            .all(|(wanted, column)| wanted == column);
        let Some(next) = columns.get(self.equal.len()) else {
            return equal;
        };
        let above = |bound: &Bound| {
            if bound.inclusive {
                *next >= bound.value
            } else {
                *next > bound.value
            }
        };
        let below = |bound: &Bound| {
            if bound.inclusive {
                *next <= bound.value
            } else {
                *next < bound.value
            }
        };
        equal && self.lower.as_ref().is_none_or(above) && self.upper.as_ref().is_none_or(below)
    }

    /// Whether they leave out nothing.
    pub fn is_open(&self) -> bool {
        self.equal.is_empty() && self.lower.is_none() && self.upper.is_none()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    pub value: Vec<u8>,
    pub inclusive: bool,
}

/// A place in the order of a table or index: all its key columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Position {
    pub bucket: i32,
    /// The HASH column: `pk` of a table, `ipk` of an index.
    pub hash: Vec<u8>,
    /// `[sk]` of a table; the RANGE columns of an index, then `pk`, then `sk`.
    pub rest: Vec<Vec<u8>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub rows: Vec<Row>,
    pub ended: Ended,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The item, or the index entry (which contains all keys).
    pub item: Item,
    /// The whole item, where `with_base` asked for it.
    pub base: Option<Item>,
}

/// Why a page ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Items,
    Bytes,
    /// The range is exhausted.
    Data,
}
