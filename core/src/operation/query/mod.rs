//! Reading many items: Query and Scan.

pub mod query;
pub mod scan;
