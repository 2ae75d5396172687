//! What an update expression says, with names and values put in.

use crate::{
    expression::Path,
    item::{AttributeValue, ValueType},
};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Action {
    pub target: Path,
    pub verb: Verb,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verb {
    Set(Operand),
    Remove,
    /// A number or a set; in AttributeUpdates a list too.
    Add(AttributeValue),
    /// A set.
    Delete(AttributeValue),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    Value(AttributeValue),
    Path(Path),
    Arithmetic {
        operator: Operator,
        operands: Box<[Operand; 2]>,
    },
    IfNotExists {
        path: Path,
        otherwise: Box<Operand>,
    },
    ListAppend(Box<[Operand; 2]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Plus,
    Minus,
}

impl Operator {
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Plus => "+",
            Self::Minus => "-",
        }
    }
}

impl Operand {
    /// The paths it reads, in text order.
    pub fn paths<'a>(&'a self, found: &mut Vec<&'a Path>) {
        match self {
            Self::Value(_) => {}
            Self::Path(path) => found.push(path),
            Self::IfNotExists { path, otherwise } => {
                found.push(path);
                otherwise.paths(found);
            }
            Self::Arithmetic { operands, .. } | Self::ListAppend(operands) => {
                operands.iter().for_each(|operand| operand.paths(found));
            }
        }
    }
}

impl Action {
    /// The type of what it writes, where the statement alone decides it: a literal's, a number for a sum, a list for
    /// `list_append`, whatever their operands turn out to be.
    pub fn supplied_type(&self) -> Option<ValueType> {
        match &self.verb {
            Verb::Set(Operand::Arithmetic { .. }) => Some(ValueType::N),
            Verb::Set(Operand::ListAppend(_)) => Some(ValueType::L),
            _ => self.literal().map(AttributeValue::kind),
        }
    }

    /// The value that the statement itself carries for its target.
    pub fn literal(&self) -> Option<&AttributeValue> {
        match &self.verb {
            Verb::Set(Operand::Value(value)) | Verb::Add(value) | Verb::Delete(value) => Some(value),
            _ => None,
        }
    }
}
