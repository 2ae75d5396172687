//! DynamoDB's sizes in bytes.                                                           behaviour/items §sizes

use super::{AttributeValue, Attributes};

pub fn value_size(_value: &AttributeValue) -> usize {
    todo!()
}

/// The size of an item: names and values, no overhead.
pub fn attributes_size(_attributes: &Attributes) -> usize {
    todo!()
}
