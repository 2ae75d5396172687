//! BatchGetItem and BatchWriteItem.

pub mod batch_get_item;
pub mod batch_write_item;
