//! A ComparisonOperator and its AttributeValueList, in all the parameters that have them.
//!                                                                               behaviour/legacy §conditions

use std::cmp::Ordering;

use crate::{
    expression::{
        Condition, KeyCondition, SortCondition,
        condition::{Comparator, Joined, Operand, Test, order},
    },
    item::{AttributeValue, ValueType},
};

use super::LegacyFault;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Equal,
    NotEqual,
    LessOrEqual,
    Less,
    GreaterOrEqual,
    Greater,
    Between,
    BeginsWith,
    Contains,
    NotContains,
    In,
    NotNull,
    Null,
}

/// One attribute's condition in QueryFilter, ScanFilter or KeyConditions, as it is written.
#[derive(Clone, Debug)]
pub struct WrittenComparison {
    pub attribute: String,
    /// Of any spelling.
    pub operator: String,
    pub values: Vec<AttributeValue>,
}

/// One attribute's condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    pub(super) attribute: String,
    pub(super) operator: Operator,
    pub(super) values: Vec<AttributeValue>,
}

/// ConditionalOperator.                                                behaviour/legacy §conditional-operator
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    And,
    Or,
}

impl Operator {
    const ALL: [Operator; 13] = [
        Self::Equal,
        Self::NotEqual,
        Self::LessOrEqual,
        Self::Less,
        Self::GreaterOrEqual,
        Self::Greater,
        Self::Between,
        Self::BeginsWith,
        Self::Contains,
        Self::NotContains,
        Self::In,
        Self::NotNull,
        Self::Null,
    ];

    /// Names are case-sensitive.
    pub(super) fn parse(name: &str) -> Result<Operator, LegacyFault> {
        let named = Self::ALL.into_iter().find(|operator| operator.name() == name);
        named.ok_or(LegacyFault::UnknownOperator)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Equal => "EQ",
            Self::NotEqual => "NE",
            Self::LessOrEqual => "LE",
            Self::Less => "LT",
            Self::GreaterOrEqual => "GE",
            Self::Greater => "GT",
            Self::Between => "BETWEEN",
            Self::BeginsWith => "BEGINS_WITH",
            Self::Contains => "CONTAINS",
            Self::NotContains => "NOT_CONTAINS",
            Self::In => "IN",
            Self::NotNull => "NOT_NULL",
            Self::Null => "NULL",
        }
    }

    pub(super) fn takes_none(self) -> bool {
        matches!(self, Self::NotNull | Self::Null)
    }

    fn takes_count(self, count: usize) -> bool {
        match self {
            Self::NotNull | Self::Null => count == 0,
            Self::Between => count == 2,
            Self::In => count > 0,
            _ => count == 1,
        }
    }

    fn takes_type(self, kind: ValueType) -> bool {
        use ValueType::{B, Bool, N, Null, S};
        match self {
            Self::Equal | Self::NotEqual | Self::NotNull | Self::Null => true,
            Self::LessOrEqual
            | Self::Less
            | Self::GreaterOrEqual
            | Self::Greater
            | Self::Between
            | Self::In => {
                matches!(kind, S | N | B)
            }
            Self::BeginsWith => matches!(kind, S | B),
            Self::Contains | Self::NotContains => matches!(kind, S | N | B | Bool | Null),
        }
    }
}

impl Join {
    /// Needs two conditions to join, whatever its value.
    pub fn parse(text: Option<&str>, conditions: usize) -> Result<Join, LegacyFault> {
        match (text, conditions) {
            (None, _) => Ok(Self::And),
            (Some(_), 0) => Err(LegacyFault::JoinWithoutConditions),
            (Some(_), 1) => Err(LegacyFault::JoinOfOneCondition),
            (Some("AND"), _) => Ok(Self::And),
            (Some("OR"), _) => Ok(Self::Or),
            (Some(_), _) => Err(LegacyFault::UnknownJoin),
        }
    }
}

/// A whole filter, or KeyConditions; each check looks at all conditions before the next starts.
pub fn check_comparisons(written: Vec<WrittenComparison>) -> Result<Vec<Comparison>, LegacyFault> {
    let comparison = |written: WrittenComparison| {
        Ok(Comparison {
            operator: Operator::parse(&written.operator)?,
            attribute: written.attribute,
            values: written.values,
        })
    };
    let comparisons: Vec<Comparison> = written.into_iter().map(comparison).collect::<Result<_, _>>()?;
    check_arguments(&comparisons)?;
    check_bounds(&comparisons)?;
    Ok(comparisons)
}

/// How many, of one type, of a type that suits the operator.
pub(super) fn check_arguments(comparisons: &[Comparison]) -> Result<(), LegacyFault> {
    for Comparison { operator, values, .. } in comparisons {
        if !operator.takes_count(values.len()) {
            return Err(LegacyFault::ArgumentCount(*operator));
        }
    }
    for Comparison { values, .. } in comparisons {
        if values.windows(2).any(|pair| pair[0].kind() != pair[1].kind()) {
            return Err(LegacyFault::MixedTypes);
        }
    }
    for Comparison { operator, values, .. } in comparisons {
        let mut kinds = values.iter().map(AttributeValue::kind);
        if let Some(kind) = kinds.find(|kind| !operator.takes_type(*kind)) {
            return Err(LegacyFault::ArgumentType {
                operator: *operator,
                kind,
            });
        }
    }
    Ok(())
}

pub(super) fn check_bounds(comparisons: &[Comparison]) -> Result<(), LegacyFault> {
    for Comparison { operator, values, .. } in comparisons {
        if let (Operator::Between, [lower, upper]) = (operator, values.as_slice())
            && order(lower, upper) == Some(Ordering::Greater)
        {
            return Err(LegacyFault::BetweenOrder);
        }
    }
    Ok(())
}

/// What checked comparisons mean together; nothing where there are none.
pub fn condition(comparisons: Vec<Comparison>, join: Join) -> Option<Condition> {
    if comparisons.is_empty() {
        return None;
    }
    let mut joined = Joined::new(join == Join::Or);
    for Comparison {
        attribute,
        operator,
        values,
    } in comparisons
    {
        let attribute = joined.attribute(attribute);
        let mut values = values.into_iter().map(Operand::Value);
        let mut value = || values.next().unwrap_or(Operand::Value(AttributeValue::Null)); // never: counted
        let path = Operand::Path(attribute.clone());
        let test = match operator {
            Operator::Equal => Test::Compare(Comparator::Equal, path, value()),
            Operator::NotEqual => Test::Compare(Comparator::NotEqual, path, value()),
            Operator::LessOrEqual => Test::Compare(Comparator::LessOrEqual, path, value()),
            Operator::Less => Test::Compare(Comparator::Less, path, value()),
            Operator::GreaterOrEqual => Test::Compare(Comparator::GreaterOrEqual, path, value()),
            Operator::Greater => Test::Compare(Comparator::Greater, path, value()),
            Operator::Between => Test::Between(path, value(), value()),
            Operator::BeginsWith => Test::BeginsWith(path, value()),
            Operator::Contains | Operator::NotContains => Test::Contains(path, value()),
            Operator::In => Test::In(path, values.collect()),
            Operator::NotNull => Test::Exists(attribute),
            Operator::Null => Test::NotExists(attribute),
        };
        joined.push(test, operator == Operator::NotContains);
    }
    Some(joined.finish())
}

/// KeyConditions that were checked as comparisons. Operators that no key takes are refused by
/// [`KeyCondition::select`], with the schema.
pub fn key_condition(comparisons: Vec<Comparison>) -> Result<KeyCondition, LegacyFault> {
    if !matches!(comparisons.len(), 1 | 2) {
        return Err(LegacyFault::KeyConditionCount);
    }
    let lowered = |comparison: Comparison| {
        let mut values = comparison.values.into_iter();
        let condition = match (comparison.operator, values.next(), values.next()) {
            (Operator::Equal, Some(value), _) => SortCondition::Equal(value),
            (Operator::Less, Some(value), _) => SortCondition::Less(value),
            (Operator::LessOrEqual, Some(value), _) => SortCondition::LessOrEqual(value),
            (Operator::Greater, Some(value), _) => SortCondition::Greater(value),
            (Operator::GreaterOrEqual, Some(value), _) => SortCondition::GreaterOrEqual(value),
            (Operator::BeginsWith, Some(value), _) => SortCondition::BeginsWith(value),
            (Operator::Between, Some(lower), Some(upper)) => SortCondition::Between(lower, upper),
            _ => SortCondition::NotIndexable,
        };
        (comparison.attribute, condition)
    };
    Ok(KeyCondition {
        conditions: comparisons.into_iter().map(lowered).collect(),
    })
}
