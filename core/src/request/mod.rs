//! A request before anything of it is read: which operation, on whose behalf, on which of the service's layers; and what
//! is wrong with parameters that do not go together.

mod fault;

pub use fault::ParameterFault;

use crate::{table::AccountId, time::Timestamp};

/// The operations of the API that are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    BatchGetItem,
    BatchWriteItem,
    CreateTable,
    DeleteItem,
    DeleteTable,
    DescribeTable,
    DescribeTimeToLive,
    GetItem,
    ListTables,
    ListTagsOfResource,
    PutItem,
    Query,
    Scan,
    TagResource,
    UntagResource,
    UpdateItem,
    UpdateTable,
    UpdateTimeToLive,
}

impl Operation {
    pub const ALL: [Operation; 18] = [
        Self::BatchGetItem,
        Self::BatchWriteItem,
        Self::CreateTable,
        Self::DeleteItem,
        Self::DeleteTable,
        Self::DescribeTable,
        Self::DescribeTimeToLive,
        Self::GetItem,
        Self::ListTables,
        Self::ListTagsOfResource,
        Self::PutItem,
        Self::Query,
        Self::Scan,
        Self::TagResource,
        Self::UntagResource,
        Self::UpdateItem,
        Self::UpdateTable,
        Self::UpdateTimeToLive,
    ];

    /// The wire name.
    pub fn name(self) -> &'static str {
        match self {
            Self::BatchGetItem => "BatchGetItem",
            Self::BatchWriteItem => "BatchWriteItem",
            Self::CreateTable => "CreateTable",
            Self::DeleteItem => "DeleteItem",
            Self::DeleteTable => "DeleteTable",
            Self::DescribeTable => "DescribeTable",
            Self::DescribeTimeToLive => "DescribeTimeToLive",
            Self::GetItem => "GetItem",
            Self::ListTables => "ListTables",
            Self::ListTagsOfResource => "ListTagsOfResource",
            Self::PutItem => "PutItem",
            Self::Query => "Query",
            Self::Scan => "Scan",
            Self::TagResource => "TagResource",
            Self::UntagResource => "UntagResource",
            Self::UpdateItem => "UpdateItem",
            Self::UpdateTable => "UpdateTable",
            Self::UpdateTimeToLive => "UpdateTimeToLive",
        }
    }

    pub fn from_name(name: &str) -> Option<Operation> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }

    /// Whether it changes items.
    pub fn writes_items(self) -> bool {
        matches!(
            self,
            Self::PutItem | Self::UpdateItem | Self::DeleteItem | Self::BatchWriteItem
        )
    }

    /// Whether it changes tables.
    pub fn writes_tables(self) -> bool {
        matches!(
            self,
            Self::CreateTable
                | Self::DeleteTable
                | Self::TagResource
                | Self::UntagResource
                | Self::UpdateTable
                | Self::UpdateTimeToLive
        )
    }
}

/// What the caller of the core knows and the core may not find out by itself.
#[derive(Clone, Debug)]
pub struct Context {
    pub account: AccountId,
    pub region: String,
    pub now: Timestamp,
    /// Sixteen random bytes, for what the request creates (`TableId`).
    pub random: [u8; 16],
    /// The switch between the service's two request layers: `Old` puts every operation on the old one.
    pub layer: Layer,
}

/// Which of the service's two request layers reads a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    New,
    Old,
}

impl Layer {
    /// What one layer says, and the other.
    pub fn or_old<T>(self, new: T, old: T) -> T {
        match self {
            Layer::New => new,
            Layer::Old => old,
        }
    }

    /// An operation's own layer; `newest` is the switch: `Old` puts every operation there.
    pub fn of(operation: Operation, newest: Layer) -> Layer {
        use Operation::*;
        match operation {
            PutItem | UpdateItem | DeleteItem | GetItem | BatchGetItem | Query | Scan => newest,
            _ => Layer::Old,
        }
    }
}
