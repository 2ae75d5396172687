//! A request before anything of it is read: which operation, on whose behalf, on which of the service's layers; and what
//! is wrong with parameters that do not go together.

mod fault;
mod transaction_fault;

pub use fault::ParameterFault;
pub use transaction_fault::{CONDITION_FAILED, CONFLICT, Reason, TransactionFault};

use crate::{table::AccountId, time::Timestamp};

/// The operations of the API that are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    BatchGetItem,
    BatchWriteItem,
    CancelBulkOperation,
    CreateGlobalTable,
    CreateTable,
    DeleteItem,
    DeleteTable,
    DescribeBulkOperation,
    DescribeContinuousBackups,
    DescribeContributorInsights,
    DescribeEndpoints,
    DescribeGlobalTable,
    DescribeGlobalTableSettings,
    DescribeKinesisStreamingDestination,
    DescribeLimits,
    DescribeTable,
    DescribeTableReplicaAutoScaling,
    DescribeTimeToLive,
    GetItem,
    GetResourcePolicy,
    ListBulkOperations,
    ListContributorInsights,
    ListGlobalTables,
    ListTables,
    ListTagsOfResource,
    PutItem,
    Query,
    Scan,
    TagResource,
    TransactGetItems,
    TransactWriteItems,
    UntagResource,
    UpdateContinuousBackups,
    UpdateGlobalTable,
    UpdateGlobalTableSettings,
    UpdateItem,
    UpdateTable,
    UpdateTableReplicaAutoScaling,
    UpdateTimeToLive,
}

impl Operation {
    pub const ALL: [Operation; 39] = [
        Self::BatchGetItem,
        Self::BatchWriteItem,
        Self::CancelBulkOperation,
        Self::CreateGlobalTable,
        Self::CreateTable,
        Self::DeleteItem,
        Self::DeleteTable,
        Self::DescribeBulkOperation,
        Self::DescribeContinuousBackups,
        Self::DescribeContributorInsights,
        Self::DescribeEndpoints,
        Self::DescribeGlobalTable,
        Self::DescribeGlobalTableSettings,
        Self::DescribeKinesisStreamingDestination,
        Self::DescribeLimits,
        Self::DescribeTable,
        Self::DescribeTableReplicaAutoScaling,
        Self::DescribeTimeToLive,
        Self::GetItem,
        Self::GetResourcePolicy,
        Self::ListBulkOperations,
        Self::ListContributorInsights,
        Self::ListGlobalTables,
        Self::ListTables,
        Self::ListTagsOfResource,
        Self::PutItem,
        Self::Query,
        Self::Scan,
        Self::TagResource,
        Self::TransactGetItems,
        Self::TransactWriteItems,
        Self::UntagResource,
        Self::UpdateContinuousBackups,
        Self::UpdateGlobalTable,
        Self::UpdateGlobalTableSettings,
        Self::UpdateItem,
        Self::UpdateTable,
        Self::UpdateTableReplicaAutoScaling,
        Self::UpdateTimeToLive,
    ];

    /// The wire name.
    pub fn name(self) -> &'static str {
        match self {
            Self::BatchGetItem => "BatchGetItem",
            Self::BatchWriteItem => "BatchWriteItem",
            Self::CancelBulkOperation => "CancelBulkOperation",
            Self::CreateGlobalTable => "CreateGlobalTable",
            Self::CreateTable => "CreateTable",
            Self::DeleteItem => "DeleteItem",
            Self::DeleteTable => "DeleteTable",
            Self::DescribeBulkOperation => "DescribeBulkOperation",
            Self::DescribeContinuousBackups => "DescribeContinuousBackups",
            Self::DescribeContributorInsights => "DescribeContributorInsights",
            Self::DescribeEndpoints => "DescribeEndpoints",
            Self::DescribeGlobalTable => "DescribeGlobalTable",
            Self::DescribeGlobalTableSettings => "DescribeGlobalTableSettings",
            Self::DescribeKinesisStreamingDestination => "DescribeKinesisStreamingDestination",
            Self::DescribeLimits => "DescribeLimits",
            Self::DescribeTable => "DescribeTable",
            Self::DescribeTableReplicaAutoScaling => "DescribeTableReplicaAutoScaling",
            Self::DescribeTimeToLive => "DescribeTimeToLive",
            Self::GetItem => "GetItem",
            Self::GetResourcePolicy => "GetResourcePolicy",
            Self::ListBulkOperations => "ListBulkOperations",
            Self::ListContributorInsights => "ListContributorInsights",
            Self::ListGlobalTables => "ListGlobalTables",
            Self::ListTables => "ListTables",
            Self::ListTagsOfResource => "ListTagsOfResource",
            Self::PutItem => "PutItem",
            Self::Query => "Query",
            Self::Scan => "Scan",
            Self::TagResource => "TagResource",
            Self::TransactGetItems => "TransactGetItems",
            Self::TransactWriteItems => "TransactWriteItems",
            Self::UntagResource => "UntagResource",
            Self::UpdateContinuousBackups => "UpdateContinuousBackups",
            Self::UpdateGlobalTable => "UpdateGlobalTable",
            Self::UpdateGlobalTableSettings => "UpdateGlobalTableSettings",
            Self::UpdateItem => "UpdateItem",
            Self::UpdateTable => "UpdateTable",
            Self::UpdateTableReplicaAutoScaling => "UpdateTableReplicaAutoScaling",
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
            Self::PutItem
                | Self::UpdateItem
                | Self::DeleteItem
                | Self::BatchWriteItem
                | Self::TransactWriteItems
        )
    }

    /// Whether its members share one commit.
    pub fn is_transaction(self) -> bool {
        matches!(self, Self::TransactGetItems | Self::TransactWriteItems)
    }

    /// Whether it changes tables.
    pub fn writes_tables(self) -> bool {
        matches!(
            self,
            Self::CancelBulkOperation
                | Self::CreateGlobalTable
                | Self::CreateTable
                | Self::DeleteTable
                | Self::TagResource
                | Self::UntagResource
                | Self::UpdateContinuousBackups
                | Self::UpdateGlobalTable
                | Self::UpdateGlobalTableSettings
                | Self::UpdateTable
                | Self::UpdateTableReplicaAutoScaling
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
