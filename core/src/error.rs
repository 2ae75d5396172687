//! The exceptions and what they carry. An [`Error`] says which rule was broken ([`Fault`]); its text and its
//! place in a family belong to the module of the rule, its prefix and its body to [`crate::wire`].

use crate::{
    expression::{ExpressionFault, UpdateFault},
    item::Item,
    operation::{KeyFault, ParameterFault},
    table::TableFault,
    wire::{MemberFault, ShapeFault, ValueFault},
};

#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    pub exception: Exception,
    pub fault: Fault,
    /// `Item` of a failed condition, where it was asked for.
    pub item: Option<Item>,
}

/// The exceptions by their wire names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exception {
    Validation,
    Serialization,
    UnknownOperation,
    AccessDenied,
    ResourceNotFound,
    ResourceInUse,
    LimitExceeded,
    ConditionalCheckFailed,
    TransactionConflict,
    InternalServerError,
}

/// The rule that was broken. One enum a module; each has `text()` and `family()`.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// A JSON value of the wrong type.
    Shape(ShapeFault),
    /// Request members: null, length, range, enum, pattern; one or several, reported together.
    Member(MemberFault),
    /// The content of an attribute value, and where it stands.
    Value(ValueFault),
    /// How parameters go together: mixing, placeholders, Select, segments, ReturnValues.
    Parameter(ParameterFault),
    /// A static fault of an expression.
    Expression(ExpressionFault),
    /// An update that cannot be applied to the item.
    Update(UpdateFault),
    /// Keys and index keys, start keys and key conditions against the schema.
    Key(KeyFault),
    /// Tables and their definitions.
    Table(TableFault),
    /// `The conditional request failed`.
    ConditionFailed,
    /// `Transaction is ongoing for the item`.
    Conflict,
    /// A member of the API that this server does not serve: refused, never accepted and dropped.
    NotServed(&'static str),
    /// What went wrong inside; the text stays in the log.
    Internal(String),
}

/// Families decide whether a text carries `1 validation error detected: ` (`wire::layer`).   behaviour/wire §layers
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Constraint forms: they carry their count themselves.
    Constraint,
    /// Expressions, placeholders, unused names: with the prefix on PutItem, UpdateItem, DeleteItem.
    Request,
    /// Numbers, duplicates, NULL, names, nesting: the same column as `Request`.
    Value,
    /// Empty sets in a Key or in AttributeUpdates, and other texts that never have it.
    Bare,
    /// Select rules: with the prefix on Query and Scan.
    Select,
}

impl From<Fault> for Error {
    /// The exception that a fault has by itself.
    fn from(fault: Fault) -> Error {
        let exception = match &fault {
            Fault::Shape(_) => Exception::Serialization,
            Fault::Table(fault) => fault.exception(),
            Fault::ConditionFailed => Exception::ConditionalCheckFailed,
            Fault::Conflict => Exception::TransactionConflict,
            Fault::Internal(_) => Exception::InternalServerError,
            _ => Exception::Validation,
        };
        Error {
            exception,
            fault,
            item: None,
        }
    }
}

macro_rules! error_from {
    ($($fault:ident => $variant:ident),* $(,)?) => {$(
        impl From<$fault> for Error {
            fn from(fault: $fault) -> Error {
                Fault::$variant(fault).into()
            }
        }
    )*};
}
error_from!(
    ShapeFault => Shape, MemberFault => Member, ValueFault => Value, ParameterFault => Parameter,
    ExpressionFault => Expression, UpdateFault => Update, KeyFault => Key, TableFault => Table,
);
