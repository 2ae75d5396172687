//! What is wrong with a transaction as a whole, and why it was cancelled.          behaviour/transactions

use crate::{
    error::{Exception, Family},
    item::Item,
};

#[derive(Clone, Debug, PartialEq)]
pub enum TransactionFault {
    /// An entry of TransactItems without an action.
    NoAction,
    /// One with several.
    SeveralActions,
    DuplicateItem,
    TotalSize,
    /// One reason a member, in the order of the request.
    Canceled(Vec<Reason>),
    /// The token was used for another request.
    TokenMismatch,
    /// The first send of this request is still running.
    InProgress,
}

/// What became of one member of a cancelled transaction.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    None,
    /// `Item`, where it was asked for and there is one.
    ConditionFailed(Option<Item>),
    /// With the text of what is wrong.
    Invalid(String),
    Conflict,
}

impl Reason {
    pub fn code(&self) -> &'static str {
        match self {
            Self::None => "None",
            Self::ConditionFailed(_) => "ConditionalCheckFailed",
            Self::Invalid(_) => "ValidationError",
            Self::Conflict => "TransactionConflict",
        }
    }

    pub fn message(&self) -> Option<&str> {
        match self {
            Self::None => None,
            Self::ConditionFailed(_) => Some(CONDITION_FAILED),
            Self::Invalid(text) => Some(text),
            Self::Conflict => Some(CONFLICT),
        }
    }
}

pub const CONDITION_FAILED: &str = "The conditional request failed";
pub const CONFLICT: &str = "Transaction is ongoing for the item";

impl TransactionFault {
    pub fn exception(&self) -> Exception {
        match self {
            Self::Canceled(_) => Exception::TransactionCanceled,
            Self::TokenMismatch => Exception::IdempotentParameterMismatch,
            Self::InProgress => Exception::TransactionInProgress,
            _ => Exception::Validation,
        }
    }

    pub fn family(&self) -> Family {
        Family::Bare
    }

    pub fn text(&self) -> String {
        match self {
            Self::NoAction => {
                "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request".into()
            }
            Self::SeveralActions => {
                "TransactItems can only contain one of Check, Put, Update or Delete".into()
            }
            Self::DuplicateItem => {
                "Transaction request cannot include multiple operations on one item".into()
            }
            Self::TotalSize => "Transaction item size has exceeded the 4 MB limit".into(),
            Self::Canceled(reasons) => {
                let codes: Vec<&str> = reasons.iter().map(Reason::code).collect();
                format!(
                    "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]",
                    codes.join(", ")
                )
            }
            Self::TokenMismatch => {
                "Specified idempotent token was used with different request parameters within \
                                    the idempotency window"
                    .into()
            }
            Self::InProgress => "Transaction from previous request is still in progress".into(),
        }
    }
}
