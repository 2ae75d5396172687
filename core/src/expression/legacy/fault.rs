//! What can be wrong with a legacy parameter by itself, with the texts.

use crate::{error::Family, item::ValueType};

use super::Operator;

#[derive(Clone, Debug, PartialEq)]
pub enum LegacyFault {
    // ConditionalOperator.                                             behaviour/legacy §conditional-operator
    JoinWithoutConditions,
    JoinOfOneCondition,
    UnknownJoin,
    // Conditions.                                                                behaviour/legacy §conditions
    UnknownOperator,
    ArgumentCount(Operator),
    MixedTypes,
    ArgumentType {
        operator: Operator,
        kind: ValueType,
    },
    /// BETWEEN with its lower bound above the upper one.
    BetweenOrder,
    // Expected; the attribute is named.                                            behaviour/legacy §expected
    ValueAndList(String),
    ExistsAndOperator(String),
    NoArgument {
        operator: Operator,
        attribute: String,
    },
    ListWithoutOperator(String),
    /// No Value, and Exists absent or true.
    NoValue {
        exists: Option<bool>,
        attribute: String,
    },
    ValueOfAbsent(String),
    // KeyConditions.                                                         behaviour/legacy §key-conditions
    KeyConditionCount,
    // AttributeUpdates.                                                   behaviour/legacy §attribute-updates
    UnknownAction,
    /// No Value, and an Action other than DELETE.
    OnlyDelete,
    DeleteType(ValueType),
    AddType(ValueType),
}

impl LegacyFault {
    pub fn family(&self) -> Family {
        match self {
            Self::KeyConditionCount | Self::OnlyDelete | Self::DeleteType(_) | Self::AddType(_) => {
                Family::Bare
            }
            _ => Family::Request,
        }
    }

    pub fn text(&self) -> String {
        match self {
            Self::JoinWithoutConditions => "ConditionalOperator cannot be used without Filter or Expected".into(),
            Self::JoinOfOneCondition => {
                "ConditionalOperator can only be used when Filter or Expected has two or more elements".into()
            }
            // ALL for AND: so the service writes it.
            Self::UnknownJoin => {
                "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]".into()
            }
            Self::UnknownOperator => invalid("Invalid comparison operator"),
            Self::ArgumentCount(operator) => invalid(&format!(
                "Invalid number of argument(s) for the {} ComparisonOperator",
                operator.name()
            )),
            Self::MixedTypes => invalid("AttributeValues inside AttributeValueList must be of same type"),
            Self::ArgumentType { operator, kind } => invalid(&format!(
                "ComparisonOperator {} is not valid for {} AttributeValue type",
                operator.name(),
                kind.code()
            )),
            Self::BetweenOrder => {
                "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound"
                    .into()
            }
            Self::ValueAndList(attribute) => invalid(&format!(
                "Value and AttributeValueList cannot be used together for Attribute: {attribute}"
            )),
            Self::ExistsAndOperator(attribute) => invalid(&format!(
                "Exists and ComparisonOperator cannot be used together for Attribute: {attribute}"
            )),
            Self::NoArgument { operator, attribute } => invalid(&format!(
                "Value or AttributeValueList must be used with ComparisonOperator: {} for Attribute: {attribute}",
                operator.name()
            )),
            Self::ListWithoutOperator(attribute) => invalid(&format!(
                "AttributeValueList can only be used with a ComparisonOperator for Attribute: {attribute}"
            )),
            Self::NoValue { exists, attribute } => invalid(&format!(
                "Value must be provided when Exists is {} for Attribute: {attribute}",
                if exists.is_some() { "true" } else { "null" }
            )),
            Self::ValueOfAbsent(attribute) => invalid(&format!(
                "Value cannot be used when Exists is false for Attribute: {attribute}"
            )),
            Self::KeyConditionCount => "Conditions can be of length 1 or 2 only".into(),
            // The quote that opens nowhere is the service's.
            Self::UnknownAction => "Member must satisfy enum value set: [ADD, DELETE, PUT]' for Action".into(),
            Self::OnlyDelete => invalid("Only DELETE action is allowed when no attribute value is specified"),
            Self::DeleteType(kind) => invalid(&format!(
                "DELETE action with value is not supported for the type {}",
                kind.code()
            )),
            Self::AddType(kind) => {
                invalid(&format!("ADD action is not supported for the type {}", kind.code()))
            }
        }
    }
}

fn invalid(text: &str) -> String {
    format!("One or more parameter values were invalid: {text}")
}
