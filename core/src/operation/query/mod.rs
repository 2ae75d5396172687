//! Reading many items: Query and Scan, and the pages, start keys and selections that they share.

mod page;
#[expect(clippy::module_inception, reason = "a file bears its operation's name")]
pub mod query;
pub mod scan;
mod select;
mod source;
mod start_key;

use crate::wire::{Member, Shape, Type};

/// A page ends once the items evaluated for it come to this size.
const PAGE_MAX_BYTES: usize = 1_048_576;

/// `QueryFilter`, `ScanFilter`, `KeyConditions`.
const CONDITIONS: Type = Type::Map(&Type::Structure(&CONDITION));

static CONDITION: Shape = Shape {
    name: "Condition",
    members: &[
        Member::new("AttributeValueList", Type::List(&Type::AttributeValue)),
        Member::new("ComparisonOperator", Type::String),
    ],
};
