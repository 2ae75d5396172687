//! The parameters from before there were expressions, lowered to the trees that expressions make.  behaviour/legacy
//!
//! Expected, QueryFilter and ScanFilter become a [`Condition`](super::Condition), KeyConditions a
//! [`KeyCondition`](super::KeyCondition), AttributeUpdates an [`Update`](super::Update). Attribute names are whole and literal. What
//! a request says is read in `operation::legacy`; here it is checked and lowered.

mod comparison;
mod expected;
mod fault;
mod updates;

#[cfg(test)]
mod tests;

pub use comparison::{Comparison, Join, WrittenComparison, check_comparisons, condition, key_condition};
pub use expected::{Expectation, expectations};
pub use fault::LegacyFault;
pub use updates::{WrittenUpdate, update};

pub(super) use comparison::Operator;
