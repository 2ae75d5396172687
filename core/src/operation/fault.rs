//! Faults of parameters that go together, and of keys, with the texts.

use crate::error::Family;

/// How parameters go together.                                          behaviour/operations §parameters
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterFault {
    /// `Item size has exceeded the maximum allowed size`
    ItemSize,
}

impl ParameterFault {
    pub fn family(&self) -> Family {
        match self {
            Self::ItemSize => Family::Bare,
        }
    }

    pub fn text(&self) -> String {
        match self {
            Self::ItemSize => "Item size has exceeded the maximum allowed size".into(),
        }
    }
}

/// Keys against the schema.                                                  behaviour/operations §keys
#[derive(Clone, Debug, PartialEq)]
pub enum KeyFault {
    /// `The provided key element does not match the schema`
    Schema,
}

impl KeyFault {
    pub fn family(&self) -> Family {
        Family::Bare
    }

    pub fn text(&self) -> String {
        match self {
            Self::Schema => "The provided key element does not match the schema".into(),
        }
    }
}
