//! What can be wrong with an expression, with the texts.

use crate::error::Family;

/// The parameter an expression came in; its name stands in the texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Condition,
    Filter,
    KeyCondition,
    Projection,
    Update,
}

/// A static fault. Its text is `Invalid {Kind}: {body}`.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpressionFault {
    pub kind: Kind,
    pub body: Body,
}

/// One variant a text of spec'd bodies.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    Empty,
}

impl ExpressionFault {
    pub fn family(&self) -> Family {
        Family::Request
    }

    pub fn text(&self) -> String {
        todo!()
    }
}

/// An update that its item does not allow; found after a true condition, or on the statement after the table lookup.
#[derive(Clone, Debug, PartialEq)]
pub enum UpdateFault {
    /// An operand is not there.
    MissingOperand,
    OperandType,
    InvalidPath,
    NumberOverflow,
    NumberUnderflow,
    TooManyDigits,
    Nesting,
    /// The request's charge or the finished item.
    ItemSize,
}

impl UpdateFault {
    pub fn family(&self) -> Family {
        Family::Bare
    }

    pub fn text(&self) -> String {
        match self {
            Self::MissingOperand => {
                "The provided expression refers to an attribute that does not exist in the item"
            }
            Self::OperandType => "An operand in the update expression has an incorrect data type",
            Self::InvalidPath => "The document path provided in the update expression is invalid for update",
            Self::NumberOverflow => {
                "Number overflow. Attempting to store a number with magnitude larger than supported range"
            }
            Self::NumberUnderflow => {
                "Number underflow. Attempting to store a number with magnitude smaller than supported range"
            }
            Self::TooManyDigits => "Attempting to store more than 38 significant digits in a Number",
            Self::Nesting => "Nesting Levels have exceeded supported limits",
            Self::ItemSize => "Item size to update has exceeded the maximum allowed size",
        }
        .into()
    }
}
