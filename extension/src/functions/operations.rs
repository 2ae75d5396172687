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
    "ddb_create_table" => |call: &Call| operation(Operation::CreateTable, call);
    "ddb_delete_item" => |call: &Call| operation(Operation::DeleteItem, call);
    "ddb_delete_table" => |call: &Call| operation(Operation::DeleteTable, call);
    "ddb_describe_table" => |call: &Call| operation(Operation::DescribeTable, call);
    "ddb_describe_time_to_live" => |call: &Call| operation(Operation::DescribeTimeToLive, call);
    "ddb_get_item" => |call: &Call| operation(Operation::GetItem, call);
    "ddb_list_tables" => |call: &Call| operation(Operation::ListTables, call);
    "ddb_list_tags_of_resource" => |call: &Call| operation(Operation::ListTagsOfResource, call);
    "ddb_put_item" => |call: &Call| operation(Operation::PutItem, call);
    "ddb_query" => |call: &Call| operation(Operation::Query, call);
    "ddb_scan" => |call: &Call| operation(Operation::Scan, call);
    "ddb_tag_resource" => |call: &Call| operation(Operation::TagResource, call);
    "ddb_untag_resource" => |call: &Call| operation(Operation::UntagResource, call);
    "ddb_update_item" => |call: &Call| operation(Operation::UpdateItem, call);
    "ddb_update_table" => |call: &Call| operation(Operation::UpdateTable, call);
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
