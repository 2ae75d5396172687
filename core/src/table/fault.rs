//! What can be wrong with a table or its definition, with the texts.                        behaviour/tables

use crate::error::{Exception, Family};

#[derive(Clone, Debug, PartialEq)]
pub enum TableFault {
    /// An item operation names a table that is not there (or not yet, or no longer).
    NotFound,
    /// A table operation does.
    TableNotFound(String),
    /// `The table does not have the specified index: {0}`
    NoSuchIndex(String),
}

impl TableFault {
    pub fn exception(&self) -> Exception {
        match self {
            Self::NotFound | Self::TableNotFound(_) => Exception::ResourceNotFound,
            Self::NoSuchIndex(_) => Exception::Validation,
        }
    }

    pub fn family(&self) -> Family {
        Family::Bare
    }

    pub fn text(&self) -> String {
        match self {
            Self::NotFound => "Requested resource not found".into(),
            Self::TableNotFound(name) => format!("Requested resource not found: Table: {name} not found"),
            Self::NoSuchIndex(name) => format!("The table does not have the specified index: {name}"),
        }
    }
}
