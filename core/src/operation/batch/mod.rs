//! BatchGetItem and BatchWriteItem.                                              behaviour/operations §batches

pub mod batch_get_item;
pub mod batch_write_item;

use crate::{
    operation::named::Named,
    wire::Fields,
    write::{Arms, ReturnConsumedCapacity},
};

/// ConsumedCapacity: one entry a table.
fn write_capacity(
    named: &Named,
    tables: &[std::sync::Arc<crate::table::Table>],
    arms: &[Arms],
    wanted: ReturnConsumedCapacity,
    body: &mut crate::wire::Object<'_>,
) {
    if wanted.wanted() {
        body.array("ConsumedCapacity", named.sorted(), |place, out| {
            arms[place].write(wanted, &named.sent[place], &tables[place], out);
        });
    }
}

fn return_consumed_capacity<'f>(fields: &'f Fields<'_>) -> Option<&'f str> {
    fields.string("ReturnConsumedCapacity")
}
