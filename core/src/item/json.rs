//! DynamoDB JSON out. Reading it is `wire`'s work, where every fault has its text.

use super::{AttributeValue, Attributes};

/// Appends `{"S":"…"}`.
pub fn write_value(_value: &AttributeValue, _out: &mut String) {
    todo!()
}

/// Appends `{"name":{"S":"…"},…}`.
pub fn write_attributes(_attributes: &Attributes, _out: &mut String) {
    todo!()
}
