//! `AttributeValue`: what an attribute holds. A value that exists is in canonical form: maps and sets sorted
//! and without duplicates, numbers normalised, so that `==` is DynamoDB's equality.

use std::collections::BTreeMap;

use super::Number;

/// The attributes of an item or of a map, sorted by the bytes of their names.
pub type Attributes = BTreeMap<String, AttributeValue>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributeValue {
    S(String),
    N(Number),
    B(Vec<u8>),
    Bool(bool),
    Null,
    /// Sorted by bytes, no duplicates, not empty.
    Ss(Vec<String>),
    /// Sorted by value, no duplicates, not empty.
    Ns(Vec<Number>),
    /// Sorted by bytes, no duplicates, not empty.
    Bs(Vec<Vec<u8>>),
    L(Vec<AttributeValue>),
    M(Attributes),
}

/// The ten types, by the letters that DynamoDB JSON and the error texts use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueType {
    S,
    N,
    B,
    Bool,
    Null,
    Ss,
    Ns,
    Bs,
    L,
    M,
}

/// The three types that a key attribute may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum ScalarType {
    S,
    N,
    B,
}

impl AttributeValue {
    pub fn kind(&self) -> ValueType {
        match self {
            Self::S(_) => ValueType::S,
            Self::N(_) => ValueType::N,
            Self::B(_) => ValueType::B,
            Self::Bool(_) => ValueType::Bool,
            Self::Null => ValueType::Null,
            Self::Ss(_) => ValueType::Ss,
            Self::Ns(_) => ValueType::Ns,
            Self::Bs(_) => ValueType::Bs,
            Self::L(_) => ValueType::L,
            Self::M(_) => ValueType::M,
        }
    }
}

impl ValueType {
    /// `S`, `N`, `BOOL` …
    pub fn code(self) -> &'static str {
        match self {
            Self::S => "S",
            Self::N => "N",
            Self::B => "B",
            Self::Bool => "BOOL",
            Self::Null => "NULL",
            Self::Ss => "SS",
            Self::Ns => "NS",
            Self::Bs => "BS",
            Self::L => "L",
            Self::M => "M",
        }
    }
}

impl ScalarType {
    pub fn code(self) -> &'static str {
        self.value_type().code()
    }

    pub fn value_type(self) -> ValueType {
        match self {
            Self::S => ValueType::S,
            Self::N => ValueType::N,
            Self::B => ValueType::B,
        }
    }
}
