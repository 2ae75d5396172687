//! Member constraints: collecting the faults of a request in the order of its operation.  behaviour/wire §constraints

use super::MemberFault;

#[derive(Clone, Debug, PartialEq)]
pub enum Constraint {
    NotNull,
    LengthAtLeast(u64),
    LengthAtMost(u64),
    ValueAtLeast(i64),
    ValueAtMost(i64),
    Pattern(&'static str),
    Enum(&'static [&'static str]),
}

/// Collects faults; up to ten are reported.
#[derive(Debug, Default)]
pub struct Members {}

impl Members {
    pub fn finish(self) -> Result<(), MemberFault> {
        todo!()
    }
}
