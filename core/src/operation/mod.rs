//! The operations, one file each: shape, members, plan, decision, answer.

mod batch;
mod fault;
mod item;
pub mod keys;
mod query;
mod table;

pub use fault::{KeyFault, ParameterFault};

use crate::{
    store::Store,
    table::AccountId,
    wire::{Answer, Layer, answer_error},
    write::Timestamp,
};

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
    PutItem,
    Query,
    Scan,
    UpdateItem,
    UpdateTable,
    UpdateTimeToLive,
}

impl Operation {
    pub const ALL: [Operation; 15] = [
        Self::BatchGetItem,
        Self::BatchWriteItem,
        Self::CreateTable,
        Self::DeleteItem,
        Self::DeleteTable,
        Self::DescribeTable,
        Self::DescribeTimeToLive,
        Self::GetItem,
        Self::ListTables,
        Self::PutItem,
        Self::Query,
        Self::Scan,
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
            Self::PutItem => "PutItem",
            Self::Query => "Query",
            Self::Scan => "Scan",
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
            Self::CreateTable | Self::DeleteTable | Self::UpdateTable | Self::UpdateTimeToLive
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

/// Serves one request, whatever it answers.
pub async fn serve<S: Store>(store: &S, operation: Operation, body: &str, context: &Context) -> Answer {
    let answered = match operation {
        Operation::BatchGetItem => batch::batch_get_item::run(store, body, context).await,
        Operation::BatchWriteItem => batch::batch_write_item::run(store, body, context).await,
        Operation::CreateTable => table::create_table::run(store, body, context).await,
        Operation::DeleteItem => item::delete_item::run(store, body, context).await,
        Operation::DeleteTable => table::delete_table::run(store, body, context).await,
        Operation::DescribeTable => table::describe_table::run(store, body, context).await,
        Operation::DescribeTimeToLive => table::describe_time_to_live::run(store, body, context).await,
        Operation::GetItem => item::get_item::run(store, body, context).await,
        Operation::ListTables => table::list_tables::run(store, body, context).await,
        Operation::PutItem => item::put_item::run(store, body, context).await,
        Operation::Query => query::query::run(store, body, context).await,
        Operation::Scan => query::scan::run(store, body, context).await,
        Operation::UpdateItem => item::update_item::run(store, body, context).await,
        Operation::UpdateTable => table::update_table::run(store, body, context).await,
        Operation::UpdateTimeToLive => table::update_time_to_live::run(store, body, context).await,
    };
    match answered {
        Ok(body) => Answer::ok(body),
        Err(error) => answer_error(&error, operation, Layer::of(operation, context.layer)),
    }
}
