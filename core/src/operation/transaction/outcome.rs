//! What became of a member, and how a reason tells it.                              behaviour/transactions §members

use crate::{
    error::{Error, Fault},
    item::Item,
    operation::{KeyFault, Operation},
    request::{Layer, Reason},
    wire,
    write::{Arms, Change, WRITE_UNIT_BYTES, units},
};

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

/// What a member does to its item, once nothing is wrong with it.
#[derive(Debug)]
pub struct Effect {
    /// `None`: the item stays as it is.
    pub change: Option<Change>,
    pub arms: Arms,
    /// The larger of its two images.
    pub bytes: usize,
}

impl Effect {
    /// Of a member that leaves its item alone.
    pub fn none(stored: Option<&Item>) -> Effect {
        let bytes = stored.map_or(0, Item::size);
        let arms = Arms {
            table: units(bytes, WRITE_UNIT_BYTES),
            ..Arms::default()
        };
        Effect {
            change: None,
            arms: arms.of_transaction(),
            bytes,
        }
    }
}

/// The text of a fault as a reason tells it.
pub fn text(fault: &Error) -> String {
    wire::message(fault, Operation::TransactWriteItems, Layer::Old).unwrap_or_default()
}
