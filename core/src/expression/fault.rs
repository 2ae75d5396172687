//! What can be wrong with an expression, with the texts.

use std::fmt;

use base64::{Engine, prelude::BASE64_STANDARD};

use crate::{
    error::Family,
    item::{AttributeValue, ValueType},
};

use super::Path;

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

/// One variant a text.                          behaviour/expressions §static-checks, behaviour/updates §static-checks
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Over 4,096 bytes. The size stands in the text of Scan's filter and of a transaction's condition only.
    TooLong {
        named_bytes: Option<usize>,
    },
    Empty,
    /// `token`: the first that cannot go on, as typed, or `<EOF>`.
    Syntax {
        token: String,
        near: String,
    },
    RedundantParentheses,
    /// As typed.
    UnknownFunction(String),
    MisusedFunction(String),
    /// As typed.
    ReservedWord(String),
    /// `#n`
    UndefinedName(String),
    /// `:v`
    UndefinedValue(String),
    OperandCount {
        function: String,
        count: usize,
    },
    /// The first operand is a path that stands again among the others.
    SameOperand {
        operator: &'static str,
        path: Path,
    },
    /// `operator` is a symbol, `BETWEEN` or a function; `operand` a type code, or the set that a path may have.
    OperandType {
        operator: &'static str,
        operand: &'static str,
    },
    /// ADD and DELETE of an update: `action` in upper case.
    ActionOperandType {
        action: &'static str,
        operand: ValueType,
    },
    PathRequired(&'static str),
    /// The second operand of `attribute_type` names no type.
    UnknownType(String),
    /// The lower and the upper bound, of different types.
    BetweenTypes(Box<[AttributeValue; 2]>),
    /// The lower bound is above the upper one.
    BetweenOrder(Box<[AttributeValue; 2]>),
    /// IN with over 100 operands.
    TooManyCandidates(usize),
    /// The count at which the limit was passed.
    TooManyOperators(usize),
    /// The keyword in upper case.
    RepeatedSection(&'static str),
    Overlap {
        one: Path,
        two: Path,
    },
    Conflict {
        one: Path,
        two: Path,
    },
    /// An operator or function that no key condition may have.
    KeyOperator(&'static str),
    /// BETWEEN or begins_with that does not begin with the key.
    KeyNotFirst(&'static str),
    SeveralKeys,
    NestedKey,
    NestedOperation,
    NoKey,
    RepeatedKey,
}

impl Kind {
    /// The parameter's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Condition => "ConditionExpression",
            Self::Filter => "FilterExpression",
            Self::KeyCondition => "KeyConditionExpression",
            Self::Projection => "ProjectionExpression",
            Self::Update => "UpdateExpression",
        }
    }
}

impl Body {
    pub(super) fn of(self, kind: Kind) -> ExpressionFault {
        ExpressionFault { kind, body: self }
    }
}

impl ExpressionFault {
    pub fn family(&self) -> Family {
        Family::Request
    }

    pub fn text(&self) -> String {
        format!("Invalid {}: {}", self.kind.name(), self.body)
    }
}

impl fmt::Display for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { named_bytes } => {
                f.write_str("Expression size has exceeded the maximum allowed size;")?;
                named_bytes.map_or(Ok(()), |bytes| write!(f, " expression size: {bytes}"))
            }
            Self::Empty => f.write_str("The expression can not be empty;"),
            Self::Syntax { token, near } => write!(f, "Syntax error; token: \"{token}\", near: \"{near}\""),
            Self::RedundantParentheses => f.write_str("The expression has redundant parentheses;"),
            Self::UnknownFunction(function) => write!(f, "Invalid function name; function: {function}"),
            Self::MisusedFunction(function) => write!(
                f,
                "The function is not allowed to be used this way in an expression; function: {function}"
            ),
            Self::ReservedWord(word) => {
                write!(
                    f,
                    "Attribute name is a reserved keyword; reserved keyword: {word}"
                )
            }
            Self::UndefinedName(name) => write!(
                f,
                "An expression attribute name used in the document path is not defined; attribute name: {name}"
            ),
            Self::UndefinedValue(value) => write!(
                f,
                "An expression attribute value used in expression is not defined; attribute value: {value}"
            ),
            Self::OperandCount { function, count } => write!(
                f,
                "Incorrect number of operands for operator or function; operator or function: {function}, \
                 number of operands: {count}"
            ),
            Self::SameOperand { operator, path } => write!(
                f,
                "The first operand must be distinct from the remaining operands for this operator or function; \
                 operator: {operator}, first operand: {path}"
            ),
            Self::OperandType { operator, operand } => write!(
                f,
                "Incorrect operand type for operator or function; operator or function: {operator}, \
                 operand type: {operand}"
            ),
            Self::ActionOperandType { action, operand } => write!(
                f,
                "Incorrect operand type for operator or function; operator: {action}, operand type: {}, \
                 typeSet: ALLOWED_FOR_ADD_OPERAND",
                long_name(*operand)
            ),
            Self::PathRequired(function) => {
                write!(
                    f,
                    "Operator or function requires a document path; operator or function: {function}"
                )
            }
            Self::UnknownType(name) => write!(
                f,
                "Invalid attribute type name found; type: {name}, valid types: {{B,NULL,SS,BOOL,L,BS,N,NS,S,M}}"
            ),
            Self::BetweenTypes(bounds) => write!(
                f,
                "The BETWEEN operator requires same data type for lower and upper bounds; \
                 lower bound operand: AttributeValue: {}, upper bound operand: AttributeValue: {}",
                Shown(&bounds[0]),
                Shown(&bounds[1])
            ),
            Self::BetweenOrder(bounds) => write!(
                f,
                "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; \
                 lower bound operand: AttributeValue: {}, upper bound operand: AttributeValue: {}",
                Shown(&bounds[0]),
                Shown(&bounds[1])
            ),
            Self::TooManyCandidates(count) => {
                write!(
                    f,
                    "The IN operator is provided with too many operands; number of operands: {count}"
                )
            }
            Self::TooManyOperators(count) => {
                write!(
                    f,
                    "The expression contains too many operators; operator count: {count}"
                )
            }
            Self::RepeatedSection(section) => {
                write!(
                    f,
                    "The \"{section}\" section can only be used once in an update expression;"
                )
            }
            Self::Overlap { one, two } => write!(
                f,
                "Two document paths overlap with each other; must remove or rewrite one of these paths; \
                 path one: {one}, path two: {two}"
            ),
            Self::Conflict { one, two } => write!(
                f,
                "Two document paths conflict with each other; must remove or rewrite one of these paths; \
                 path one: {one}, path two: {two}"
            ),
            Self::KeyOperator(operator) => {
                write!(f, "Invalid operator used in KeyConditionExpression: {operator}")
            }
            Self::KeyNotFirst(operator) => write!(
                f,
                "Invalid condition in KeyConditionExpression: {operator} operator must have the key attribute \
                 as its first operand"
            ),
            Self::SeveralKeys => f.write_str(
                "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition",
            ),
            Self::NestedKey => {
                f.write_str("KeyConditionExpressions cannot have conditions on nested attributes")
            }
            Self::NestedOperation => f.write_str("KeyConditionExpressions cannot contain nested operations"),
            Self::NoKey => {
                f.write_str("Invalid condition in KeyConditionExpression: No key attribute specified")
            }
            Self::RepeatedKey => {
                f.write_str("KeyConditionExpressions must only contain one condition per key")
            }
        }
    }
}

/// The types as ADD and DELETE name them; the mixed spelling is the service's.
fn long_name(kind: ValueType) -> &'static str {
    match kind {
        ValueType::S => "STRING",
        ValueType::N => "NUMBER",
        ValueType::B => "Binary",
        ValueType::Bool => "BOOL",
        ValueType::Null => "NULL",
        ValueType::L => "LIST",
        ValueType::M => "MAP",
        // Sets suit both actions: no text names them.
        ValueType::Ss | ValueType::Ns | ValueType::Bs => kind.code(),
    }
}

/// A bound as texts print it: `{N:5}`.
struct Shown<'a>(&'a AttributeValue);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            AttributeValue::S(text) => write!(f, "{{S:{text}}}"),
            AttributeValue::N(number) => write!(f, "{{N:{number}}}"),
            AttributeValue::B(bytes) => write!(f, "{{B:{}}}", BASE64_STANDARD.encode(bytes)),
            // Bounds of another type are refused before their values are looked at.
            other => write!(f, "{{{}}}", other.kind().code()),
        }
    }
}

/// An update that its item does not allow; found after a true condition, or on the statement after the table
/// lookup.
#[derive(Clone, Debug, PartialEq)]
pub enum UpdateFault {
    /// An operand is not there.
    MissingOperand,
    OperandType,
    /// The same of AttributeUpdates.
    AttributeType,
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
            Self::AttributeType => "Type mismatch for attribute to update",
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
