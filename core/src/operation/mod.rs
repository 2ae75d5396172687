//! The operations, one file each: shape, members, plan, decision, answer.

mod batch;
mod item;
pub mod keys;
mod legacy;
mod named;
mod query;
mod table;
mod transaction;

pub use item::{put_item::ITEM_MAX_BYTES, together};

pub use table::update_table::resume as resume_index_fills;
pub use transaction::explain::explain as explain_transaction;

pub use crate::{
    request::{Context, Operation, ParameterFault},
    table::KeyFault,
};

use crate::{
    error::{Error, Fault},
    request::Layer,
    store::Store,
    wire::{Answer, answer_error},
};

use together::Served;

/// Serves one request, whatever it answers.
pub async fn serve<S: Store>(store: &S, operation: Operation, body: &str, context: &Context) -> Answer {
    let answered = run(store, operation, body, context).await;
    answer(answered, operation, context)
}

/// Serves one request on a store that was told not to wait. Held, a BatchWriteItem may have written some of its items:
/// undo it then.
pub async fn serve_unless_held<S: Store>(
    store: &S,
    operation: Operation,
    body: &str,
    context: &Context,
) -> Served {
    match run(store, operation, body, context).await {
        Err(Error {
            fault: Fault::Held(lock),
            ..
        }) => Served::Held(lock),
        answered => Served::Answer(answer(answered, operation, context)),
    }
}

fn answer(answered: Result<String, Error>, operation: Operation, context: &Context) -> Answer {
    match answered {
        Ok(body) => Answer::ok(body),
        Err(error) => answer_error(&error, operation, Layer::of(operation, context.layer)),
    }
}

async fn run<S: Store>(
    store: &S,
    operation: Operation,
    body: &str,
    context: &Context,
) -> Result<String, Error> {
    match operation {
        Operation::BatchGetItem => batch::batch_get_item::run(store, body, context).await,
        Operation::BatchWriteItem => batch::batch_write_item::run(store, body, context).await,
        Operation::CancelBulkOperation => table::bulk_operations::named(store, body, context).await,
        Operation::CreateGlobalTable => table::global_tables::create(store, body, context).await,
        Operation::CreateTable => table::create_table::run(store, body, context).await,
        Operation::DeleteItem => item::delete_item::run(store, body, context).await,
        Operation::DeleteTable => table::delete_table::run(store, body, context).await,
        Operation::DescribeBulkOperation => table::bulk_operations::named(store, body, context).await,
        Operation::DescribeContinuousBackups => {
            table::continuous_backups::describe(store, body, context).await
        }
        Operation::DescribeContributorInsights => {
            table::insights::describe_contributor_insights(store, body, context).await
        }
        Operation::DescribeEndpoints => table::account::describe_endpoints(store, body, context).await,
        Operation::DescribeGlobalTable => table::global_tables::named(store, body, context).await,
        Operation::DescribeGlobalTableSettings => table::global_tables::named(store, body, context).await,
        Operation::DescribeKinesisStreamingDestination => {
            table::insights::describe_kinesis_streaming_destination(store, body, context).await
        }
        Operation::DescribeLimits => table::account::describe_limits(store, body, context).await,
        Operation::DescribeTable => table::describe_table::run(store, body, context).await,
        Operation::DescribeTableReplicaAutoScaling => {
            table::global_tables::describe_scaling(store, body, context).await
        }
        Operation::DescribeTimeToLive => table::describe_time_to_live::run(store, body, context).await,
        Operation::GetItem => item::get_item::run(store, body, context).await,
        Operation::GetResourcePolicy => table::get_resource_policy::run(store, body, context).await,
        Operation::ListBulkOperations => table::bulk_operations::list(store, body, context).await,
        Operation::ListContributorInsights => {
            table::insights::list_contributor_insights(store, body, context).await
        }
        Operation::ListGlobalTables => table::global_tables::list(store, body, context).await,
        Operation::ListTables => table::list_tables::run(store, body, context).await,
        Operation::ListTagsOfResource => table::list_tags_of_resource::run(store, body, context).await,
        Operation::PutItem => item::put_item::run(store, body, context).await,
        Operation::Query => query::query::run(store, body, context).await,
        Operation::Scan => query::scan::run(store, body, context).await,
        Operation::TagResource => table::tag_resource::run(store, body, context).await,
        Operation::TransactGetItems => transaction::transact_get_items::run(store, body, context).await,
        Operation::TransactWriteItems => transaction::transact_write_items::run(store, body, context).await,
        Operation::UntagResource => table::untag_resource::run(store, body, context).await,
        Operation::UpdateContinuousBackups => table::continuous_backups::update(store, body, context).await,
        Operation::UpdateGlobalTable => table::global_tables::update(store, body, context).await,
        Operation::UpdateGlobalTableSettings => table::global_tables::named(store, body, context).await,
        Operation::UpdateItem => item::update_item::run(store, body, context).await,
        Operation::UpdateTable => table::update_table::run(store, body, context).await,
        Operation::UpdateTableReplicaAutoScaling => {
            table::global_tables::update_scaling(store, body, context).await
        }
        Operation::UpdateTimeToLive => table::update_time_to_live::run(store, body, context).await,
    }
}
