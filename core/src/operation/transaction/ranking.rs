//! One answer of the outcomes of all members: the service's own order of faults.
//!                                                                            behaviour/transactions §ranking

use crate::{
    error::{Error, Fault},
    item::Item,
    operation::{KeyFault, Operation},
    request::{Layer, Reason, TransactionFault},
    wire,
};

use super::member::Effect;

/// What became of a member.
#[derive(Debug)]
pub enum Outcome {
    NotRun,
    Done(Effect),
    /// The stored item, where it was asked for.
    ConditionFailed(Option<Item>),
    Invalid(Error),
    /// An update that leaves an index key empty: it refuses the whole request, whatever else is wrong.
    EmptyKey(Error),
    Conflict,
}

impl Outcome {
    /// The outcome of a member with this fault of its own.
    pub fn of_fault(fault: Error) -> Outcome {
        match &fault.fault {
            Fault::Key(KeyFault::IndexEmptyUpdate { .. }) => Outcome::EmptyKey(fault),
            Fault::ConditionFailed => Outcome::ConditionFailed(fault.item),
            Fault::Conflict => Outcome::Conflict,
            _ => Outcome::Invalid(fault),
        }
    }

    pub fn reason(&self) -> Reason {
        match self {
            // An empty key is never listed: it answers alone.
            Self::NotRun | Self::Done(_) | Self::EmptyKey(_) => Reason::None,
            Self::ConditionFailed(item) => Reason::ConditionFailed(item.clone()),
            Self::Invalid(fault) => Reason::Invalid(text(fault)),
            Self::Conflict => Reason::Conflict,
        }
    }
}

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

/// The text of a fault as a reason tells it.
pub fn text(fault: &Error) -> String {
    wire::message(fault, Operation::TransactWriteItems, Layer::Old).unwrap_or_default()
}
