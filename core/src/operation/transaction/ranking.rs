//! One answer of the outcomes of all members: the service's own order of faults.
//!                                                                            behaviour/transactions §ranking

use crate::{
    error::Error,
    request::{Reason, TransactionFault},
};

use super::outcome::Outcome;

/// The fault of a request whose members had these outcomes, in the order of the request. The first empty key answers alone;
/// else each member keeps its own.
pub fn resolve(outcomes: &[Outcome]) -> Result<(), Error> {
    let empty_key = outcomes.iter().find_map(|outcome| match outcome {
        Outcome::EmptyKey(fault) => Some(fault.clone()),
        _ => None,
    });
    if let Some(fault) = empty_key {
        return Err(fault);
    }
    let reasons: Vec<Reason> = outcomes.iter().map(Outcome::reason).collect();
    if reasons.iter().all(|reason| *reason == Reason::None) {
        Ok(())
    } else {
        Err(TransactionFault::Canceled(reasons).into())
    }
}

/// A cancellation for what the request itself supplies: the first member with a fault is told, no other was looked at.
pub fn cancel_at(member: usize, members: usize, reason: Reason) -> Error {
    let mut reasons = vec![Reason::None; members];
    reasons[member] = reason;
    TransactionFault::Canceled(reasons).into()
}
