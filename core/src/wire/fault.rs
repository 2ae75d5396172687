//! Faults of JSON types, members and attribute values, with the texts.

use base64::{Engine, engine::general_purpose::STANDARD};

use super::Layer;
use crate::{error::Family, item::NumberError, request::Operation};

/// SerializationException.                                                    behaviour/wire §types
#[derive(Clone, Debug, PartialEq)]
pub enum ShapeFault {
    /// The answer without a message.
    Bare,
    /// A JSON scalar where another one belongs: `NUMBER_VALUE cannot be converted to String`.
    Token {
        token: &'static str,
        class: &'static str,
    },
    /// An array where the Java type belongs.
    Collection(String),
    /// An object where none belongs.
    StructureStart,
    NotBase64,
    Base64Length(usize),
    Base64Character,
    /// A scalar where a list, a map or a structure belongs.
    FieldType,
    /// A scalar where a structure within a list or a map belongs.
    PayloadValue,
    /// A scalar where a list or a map within a list or a map belongs.
    ParameterizedType,
    /// A string that stands for no boolean.
    ParserToken,
}

impl ShapeFault {
    /// `None`: the body has no message.
    pub fn text(&self) -> Option<String> {
        let text = match self {
            Self::Bare => return None,
            Self::Token { token, class } => format!("{token} cannot be converted to {class}"),
            Self::Collection(java_type) => format!("Unrecognized collection type {java_type}"),
            Self::StructureStart => "Start of structure or map found where not expected".into(),
            Self::NotBase64 => "only base-64-encoded strings are convertible to bytes".into(),
            Self::Base64Length(bytes) => {
                format!("Base64 encoded length is expected a multiple of 4 bytes but found: {bytes}")
            }
            Self::Base64Character => "Invalid last non-pad Base64 character dectected".into(),
            Self::FieldType => "Unexpected field type".into(),
            Self::PayloadValue => "Unexpected value type in payload".into(),
            Self::ParameterizedType => concat!(
                "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class ",
                "java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and ",
                "java.lang.Class are in module java.base of loader 'bootstrap')"
            )
            .into(),
            Self::ParserToken => "Unexpected token received from parser".into(),
        };
        Some(text)
    }
}

/// Faults of members, reported together, at most ten ([`super::Members`] collects them).
#[derive(Clone, Debug, PartialEq)]
pub struct MemberFault {
    pub faults: Vec<String>,
    /// The few that are answered without their count.
    pub bare: bool,
}

impl MemberFault {
    /// One fault that is answered without its count.
    pub fn bare(text: impl Into<String>) -> MemberFault {
        MemberFault {
            faults: vec![text.into()],
            bare: true,
        }
    }

    pub fn family(&self) -> Family {
        if self.bare {
            Family::Bare
        } else {
            Family::Constraint
        }
    }

    /// The faults without their count.
    pub fn text(&self) -> String {
        self.faults.join("; ")
    }
}

/// Where an attribute value or a name stands in a request; decides the wrapper and the family of its faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    Item,
    Key,
    ExpressionAttributeValues,
    ExclusiveStartKey,
    Expected,
    AttributeUpdates,
    /// QueryFilter, ScanFilter, KeyConditions.
    Filter,
    /// Names only.
    AttributesToGet,
}

/// The content of a value, or an attribute name, is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueFault {
    pub position: Position,
    pub operation: Operation,
    /// The layer that read the request: the old one too where the request was coerced.
    pub layer: Layer,
    /// `:k`, in ExpressionAttributeValues.
    pub placeholder: Option<String>,
    pub problem: ValueProblem,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ValueProblem {
    /// None of the ten types.
    Empty,
    SeveralTypes,
    NullNotTrue {
        /// A false and nothing else: not from a string, no other type beside it.
        lone: bool,
    },
    EmptySet(SetType),
    /// A JSON null as a member.
    NullInSet(SetType),
    /// As sent.
    DuplicateStrings(Vec<String>),
    DuplicateNumbers,
    /// As sent.
    DuplicateBinaries(Vec<Vec<u8>>),
    Number {
        raw: String,
        error: NumberError,
    },
    /// Levels of lists and maps around the innermost value.
    Nesting {
        levels: usize,
    },
    EmptyName,
    NameTooLarge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetType {
    Ss,
    Ns,
    Bs,
}

/// From here on nesting is refused by the service's front, not by the operation.      behaviour/wire §values
pub(super) const REFUSED_LEVELS: usize = 63;

const NESTING: &str = "Nesting Levels have exceeded supported limits: \
                       Attributes in the item have nested levels beyond supported limit";
const STARTING_KEY: &str = "The provided starting key is invalid";

impl ValueFault {
    pub fn family(&self) -> Family {
        use ValueProblem::*;
        if self.layer == Layer::Old {
            return Family::Bare;
        }
        match &self.problem {
            Empty | SeveralTypes | NullNotTrue { lone: false } => Family::Bare,
            EmptySet(_) | NullInSet(_)
                if matches!(self.position, Position::Key | Position::AttributeUpdates) =>
            {
                Family::Bare
            }
            Nesting { levels } if *levels >= REFUSED_LEVELS => Family::Bare,
            _ => Family::Value,
        }
    }

    pub fn text(&self) -> String {
        let text = self.problem.text(self.layer);
        match (self.position, &self.placeholder) {
            (Position::ExpressionAttributeValues, Some(placeholder)) if self.is_wrapped() => {
                format!("ExpressionAttributeValues contains invalid value: {text} for key {placeholder}")
            }
            (Position::ExclusiveStartKey, _) if self.names_starting_key() => {
                format!("{STARTING_KEY}: {text}")
            }
            _ => text,
        }
    }

    /// Whether a fault in ExpressionAttributeValues names its entry.              behaviour/wire §values
    fn is_wrapped(&self) -> bool {
        use Operation::{DeleteItem, Query, UpdateItem};
        use ValueProblem::*;
        match &self.problem {
            EmptySet(_) | NullInSet(_) => true,
            Empty => matches!(self.operation, DeleteItem | Query),
            SeveralTypes => matches!(self.operation, UpdateItem | DeleteItem),
            NullNotTrue { lone } => !lone && matches!(self.operation, UpdateItem | DeleteItem | Query),
            DuplicateStrings(_) | DuplicateNumbers | DuplicateBinaries(_) | Number { .. } => {
                self.layer == Layer::Old
            }
            Nesting { levels } => *levels >= REFUSED_LEVELS || self.operation.is_transaction(),
            EmptyName => self.operation.is_transaction(),
            NameTooLarge => false,
        }
    }

    /// Whether a fault in ExclusiveStartKey begins with the text about it.       behaviour/wire §values
    fn names_starting_key(&self) -> bool {
        use ValueProblem::*;
        let scan = self.operation == Operation::Scan;
        match &self.problem {
            Empty | SeveralTypes => true,
            Nesting { levels } => scan || *levels >= REFUSED_LEVELS,
            NullNotTrue { .. } | EmptySet(SetType::Ss | SetType::Bs) => scan,
            _ => false,
        }
    }
}

impl ValueProblem {
    fn text(&self, layer: Layer) -> String {
        match self {
            Self::Empty => "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes".into(),
            Self::SeveralTypes => {
                "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the \
                 supported datatypes"
                    .into()
            }
            Self::NullNotTrue { .. } => invalid("Null attribute value types must have the value of true"),
            Self::EmptySet(SetType::Ss) => invalid("An string set  may not be empty"),
            Self::EmptySet(SetType::Ns) => invalid("An number set  may not be empty"),
            Self::EmptySet(SetType::Bs) => invalid("Binary sets should not be empty"),
            Self::NullInSet(SetType::Ss) => invalid("An string set may not have a null string as a member"),
            Self::NullInSet(SetType::Ns) => invalid("An number set may not have a null string as a member"),
            Self::NullInSet(SetType::Bs) => invalid("Binary sets may not contain null values"),
            Self::DuplicateStrings(sent) => {
                let members = match layer {
                    Layer::New => up_to_repeat(sent).into_iter().map(|member| format!("\"{member}\"")).collect(),
                    Layer::Old => sent.clone(),
                };
                invalid(&format!("Input collection [{}] contains duplicates.", members.join(", ")))
            }
            Self::DuplicateBinaries(sent) => {
                let members = match layer {
                    Layer::New => {
                        let members = up_to_repeat(sent).into_iter();
                        members.map(|member| format!("\"{}\"", STANDARD.encode(member))).collect::<Vec<_>>().join(",")
                    }
                    Layer::Old => sent.iter().map(|member| STANDARD.encode(member)).collect::<Vec<_>>().join(", "),
                };
                invalid(&format!("Input collection [{members}]of type BS contains duplicates."))
            }
            Self::DuplicateNumbers => match layer {
                Layer::New => invalid("Input collection contains duplicates."),
                Layer::Old => "Input collection contains duplicates".into(),
            },
            Self::Number { raw, error } => match error {
                NumberError::Grammar if raw.is_empty() && layer == Layer::Old => {
                    "The parameter cannot be converted to a numeric value".into()
                }
                NumberError::Grammar => format!("The parameter cannot be converted to a numeric value: {raw}"),
                NumberError::TooManyDigits => {
                    "Attempting to store more than 38 significant digits in a Number".into()
                }
                NumberError::Overflow => {
                    "Number overflow. Attempting to store a number with magnitude larger than supported range".into()
                }
                NumberError::Underflow => {
                    "Number underflow. Attempting to store a number with magnitude smaller than supported range"
                        .into()
                }
            },
            Self::Nesting { .. } => NESTING.into(),
            Self::EmptyName => "Empty attribute name".into(),
            Self::NameTooLarge => "Attribute name is too large, must be less than 65536 bytes".into(),
        }
    }
}

fn invalid(text: &str) -> String {
    format!("One or more parameter values were invalid: {text}")
}

/// The members as the new layer prints them: those before the first repeat sorted, then the rest as sent.
fn up_to_repeat<T: Ord>(sent: &[T]) -> Vec<&T> {
    let repeat = (0..sent.len())
        .find(|&place| sent[..place].contains(&sent[place]))
        .unwrap_or(sent.len());
    let mut members: Vec<&T> = sent.iter().collect();
    members[..repeat].sort();
    members
}
