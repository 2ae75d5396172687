//! Tables: what a description holds and what follows from it.                                behaviour/tables

mod describe;
mod fault;

pub use fault::TableFault;

use serde::{Deserialize, Serialize};

use crate::item::ScalarType;

/// Names a table for ever; a new table never gets an old one's. 0 and 1 are the system tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TableId(pub i32);

/// Counts the changes of a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version(pub i64);

/// Twelve digits. `000000000000` is the first account.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AccountId(pub String);

impl Default for AccountId {
    fn default() -> Self {
        AccountId("000000000000".into())
    }
}

/// A table's name within its account.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableName {
    pub account: AccountId,
    pub name: String,
}

/// A table's description: all that planning and deciding need, and what DescribeTable answers. Stores keep it
/// as one document (its serde form) beside its name, id and version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    pub id: TableId,
    pub version: Version,
    pub account: AccountId,
    pub name: String,
    /// `TableId` of the API: a UUID, new at every CreateTable.
    pub uuid: String,
    pub created_ms: u64,
    pub status: TableStatus,
    pub hash: KeyAttribute,
    pub range: Option<KeyAttribute>,
    /// In the order of the request: LSIs, then GSIs. An index's number is never used again in its table.
    pub indexes: Vec<Index>,
    pub billing: Billing,
    pub deletion_protection: bool,
    /// `STANDARD_INFREQUENT_ACCESS`, where it was asked for.
    pub infrequent_access: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TableStatus {
    Creating,
    Active,
    Updating,
    Deleting,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct KeyAttribute {
    pub name: String,
    pub kind: ScalarType,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Index {
    /// Numbers the index within its table; names its storage (`t42_i3`).
    pub number: i32,
    pub name: String,
    pub scope: IndexScope,
    /// One for an LSI (the table's), 1 to 4 for a GSI.
    pub hash: Vec<KeyAttribute>,
    /// One for an LSI, 0 to 4 for a GSI.
    pub range: Vec<KeyAttribute>,
    pub projection: Projected,
    pub status: TableStatus,
    pub throughput: Option<Throughput>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IndexScope {
    Local,
    Global,
}

/// What of an item its index entry holds, besides all keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Projected {
    All,
    KeysOnly,
    /// Sorted by name.
    Include(Vec<String>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Billing {
    Provisioned(Throughput),
    /// `since_ms`: when the table came to it, absent for a table created so.
    PayPerRequest {
        since_ms: u64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Throughput {
    pub read_units: u64,
    pub write_units: u64,
}

/// Measured figures of a table; never kept in the write path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    pub items: u64,
    pub bytes: u64,
    /// (index number, entries, bytes)
    pub indexes: Vec<(i32, u64, u64)>,
}

impl Table {
    pub fn index(&self, name: &str) -> Option<&Index> {
        self.indexes.iter().find(|index| index.name == name)
    }

    /// The key attributes of the table: HASH, then RANGE.
    pub fn key_attributes(&self) -> impl Iterator<Item = &KeyAttribute> {
        std::iter::once(&self.hash).chain(&self.range)
    }

    pub fn is_key(&self, attribute: &str) -> bool {
        self.key_attributes().any(|key| key.name == attribute)
    }
}

impl Index {
    pub fn key_attributes(&self) -> impl Iterator<Item = &KeyAttribute> {
        self.hash.iter().chain(&self.range)
    }
}
