//! Reading many items: Query and Scan, and the pages, start keys and selections that they share.

mod page;
#[expect(clippy::module_inception, reason = "a file bears its operation's name")]
pub mod query;
pub mod scan;
mod select;
mod source;
mod start_key;

/// A page ends once the items evaluated for it come to this size.
const PAGE_MAX_BYTES: usize = 1_048_576;
