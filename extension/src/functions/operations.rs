//! `ddb.<operation>(request json) → json`: an answer, or a fault as an ERROR.

use extenddb_core::{operation::Operation, table::AccountId};

use crate::{
    call::{Call, Returned, sql_functions, varlena},
    raise::Raise,
    request,
};

sql_functions! {
    "ddb_batch_get_item" => |call: &Call| operation(Operation::BatchGetItem, call);
    "ddb_batch_write_item" => |call: &Call| operation(Operation::BatchWriteItem, call);
    "ddb_cancel_bulk_operation" => |call: &Call| operation(Operation::CancelBulkOperation, call);
    "ddb_create_global_table" => |call: &Call| operation(Operation::CreateGlobalTable, call);
    "ddb_create_table" => |call: &Call| operation(Operation::CreateTable, call);
    "ddb_delete_item" => |call: &Call| operation(Operation::DeleteItem, call);
    "ddb_delete_table" => |call: &Call| operation(Operation::DeleteTable, call);
    "ddb_describe_bulk_operation" => |call: &Call| operation(Operation::DescribeBulkOperation, call);
    "ddb_describe_continuous_backups" => |call: &Call| operation(Operation::DescribeContinuousBackups, call);
    "ddb_describe_contributor_insights" => |call: &Call| operation(Operation::DescribeContributorInsights, call);
    "ddb_describe_endpoints" => |call: &Call| operation(Operation::DescribeEndpoints, call);
    "ddb_describe_global_table" => |call: &Call| operation(Operation::DescribeGlobalTable, call);
    "ddb_describe_global_table_settings" => |call: &Call| operation(Operation::DescribeGlobalTableSettings, call);
    "ddb_describe_kinesis_streaming_destination" => |call: &Call| operation(Operation::DescribeKinesisStreamingDestination, call);
    "ddb_describe_limits" => |call: &Call| operation(Operation::DescribeLimits, call);
    "ddb_describe_table" => |call: &Call| operation(Operation::DescribeTable, call);
    "ddb_describe_table_replica_auto_scaling" => |call: &Call| operation(Operation::DescribeTableReplicaAutoScaling, call);
    "ddb_describe_time_to_live" => |call: &Call| operation(Operation::DescribeTimeToLive, call);
    "ddb_get_item" => |call: &Call| operation(Operation::GetItem, call);
    "ddb_get_resource_policy" => |call: &Call| operation(Operation::GetResourcePolicy, call);
    "ddb_list_bulk_operations" => |call: &Call| operation(Operation::ListBulkOperations, call);
    "ddb_list_contributor_insights" => |call: &Call| operation(Operation::ListContributorInsights, call);
    "ddb_list_global_tables" => |call: &Call| operation(Operation::ListGlobalTables, call);
    "ddb_list_tables" => |call: &Call| operation(Operation::ListTables, call);
    "ddb_list_tags_of_resource" => |call: &Call| operation(Operation::ListTagsOfResource, call);
    "ddb_put_item" => |call: &Call| operation(Operation::PutItem, call);
    "ddb_query" => |call: &Call| operation(Operation::Query, call);
    "ddb_scan" => |call: &Call| operation(Operation::Scan, call);
    "ddb_tag_resource" => |call: &Call| operation(Operation::TagResource, call);
    "ddb_transact_get_items" => |call: &Call| operation(Operation::TransactGetItems, call);
    "ddb_transact_write_items" => |call: &Call| operation(Operation::TransactWriteItems, call);
    "ddb_untag_resource" => |call: &Call| operation(Operation::UntagResource, call);
    "ddb_update_continuous_backups" => |call: &Call| operation(Operation::UpdateContinuousBackups, call);
    "ddb_update_global_table" => |call: &Call| operation(Operation::UpdateGlobalTable, call);
    "ddb_update_global_table_settings" => |call: &Call| operation(Operation::UpdateGlobalTableSettings, call);
    "ddb_update_item" => |call: &Call| operation(Operation::UpdateItem, call);
    "ddb_update_table" => |call: &Call| operation(Operation::UpdateTable, call);
    "ddb_update_table_replica_auto_scaling" => |call: &Call| operation(Operation::UpdateTableReplicaAutoScaling, call);
    "ddb_update_time_to_live" => |call: &Call| operation(Operation::UpdateTimeToLive, call);
}

fn operation(operation: Operation, call: &Call) -> Returned {
    let body = serve(operation, call.required_text(0, "request")?)?;
    // An operation that answers nothing answers null.
    Ok((!body.is_empty()).then(|| varlena(body.as_bytes())))
}

/// The body of a request's answer; a fault is an ERROR, which rolls the caller back.
pub fn serve(operation: Operation, request: &str) -> Result<String, Raise> {
    let answer = request::serve(operation, request, AccountId::default())?;
    if answer.status == 200 {
        Ok(answer.body)
    } else {
        Err(Raise::from_answer(answer))
    }
}
