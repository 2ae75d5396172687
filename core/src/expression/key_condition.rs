//! Key conditions: the structure a KeyConditionExpression may have, and what it selects in a key schema.
//!                                                                     behaviour/expressions §key-conditions

use crate::{item::AttributeValue, operation::KeyFault, store::SortBounds, table::KeyAttribute};

use super::{Condition, ExpressionFault};

/// Conditions joined by AND, one an attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyCondition {
    /// In text order: attribute, condition.
    pub conditions: Vec<(String, SortCondition)>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SortCondition {
    Equal(AttributeValue),
    Less(AttributeValue),
    LessOrEqual(AttributeValue),
    Greater(AttributeValue),
    GreaterOrEqual(AttributeValue),
    Between(AttributeValue, AttributeValue),
    BeginsWith(AttributeValue),
}

/// What a key condition selects: HASH values and bounds on the RANGE columns, encoded.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    pub hash: Vec<AttributeValue>,
    pub sort: SortBounds,
}

impl KeyCondition {
    /// The structure rules, which run after every expression of the request was parsed.
    pub fn from_condition(_condition: &Condition) -> Result<KeyCondition, ExpressionFault> {
        todo!()
    }

    /// Against the key schema of the table or index that is queried.
    pub fn select(&self, _hash: &[KeyAttribute], _range: &[KeyAttribute]) -> Result<Selection, KeyFault> {
        todo!()
    }
}
