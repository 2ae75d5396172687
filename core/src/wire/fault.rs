//! Faults of JSON types, members and attribute values, with the texts.

use crate::error::Family;

/// SerializationException.
#[derive(Clone, Debug, PartialEq)]
pub enum ShapeFault {
    /// The answer without a message.
    Bare,
}

/// Constraint forms, reported together, at most ten.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberFault {
    pub faults: Vec<String>,
}

/// Where an attribute value stands in a request; decides the wrapper and the family of its faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    Item,
    Key,
    ExpressionAttributeValues,
    ExclusiveStartKey,
    Expected,
    AttributeUpdates,
    Filter,
}

/// The content of a value is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueFault {
    pub position: Position,
    /// `:k`, where the wrapper names it.
    pub placeholder: Option<String>,
    pub layer: super::Layer,
    pub problem: ValueProblem,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ValueProblem {
    Empty,
}

impl ValueFault {
    pub fn family(&self) -> Family {
        todo!()
    }

    pub fn text(&self) -> String {
        todo!()
    }
}
