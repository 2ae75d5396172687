//! The exceptions and what they carry. An [`Error`] says which rule was broken ([`Fault`]); its text and its
//! place in a family belong to the module of the rule, its prefix and its body to [`crate::wire`].

use crate::{
    expression::{ExpressionFault, LegacyFault, UpdateFault},
    item::Item,
    request::{ParameterFault, TransactionFault},
    table::{ChangeFault, KeyFault, ResourceFault, TableFault},
    wire::{MemberFault, PlaceholderFault, ShapeFault, ValueFault},
};

#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    pub exception: Exception,
    pub fault: Fault,
    /// `Item` of a failed condition, where it was asked for.
    pub item: Option<Item>,
}

/// The exceptions by their wire names.                                     behaviour/wire §exceptions
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exception {
    Validation,
    Serialization,
    UnknownOperation,
    MissingAuthenticationToken,
    IncompleteSignature,
    InvalidSignature,
    UnrecognizedClient,
    ExpiredToken,
    AccessDenied,
    ResourceNotFound,
    ResourceInUse,
    LimitExceeded,
    ConditionalCheckFailed,
    ProvisionedThroughputExceeded,
    Throttling,
    RequestLimitExceeded,
    ItemCollectionSizeLimitExceeded,
    TransactionCanceled,
    TransactionConflict,
    TransactionInProgress,
    IdempotentParameterMismatch,
    PolicyNotFound,
    TableNotFound,
    GlobalTableNotFound,
    ContinuousBackupsUnavailable,
    InternalServerError,
    ServiceUnavailable,
}

impl Exception {
    /// The name after the `#` of `__type`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Validation => "ValidationException",
            Self::Serialization => "SerializationException",
            Self::UnknownOperation => "UnknownOperationException",
            Self::MissingAuthenticationToken => "MissingAuthenticationTokenException",
            Self::IncompleteSignature => "IncompleteSignatureException",
            Self::InvalidSignature => "InvalidSignatureException",
            Self::UnrecognizedClient => "UnrecognizedClientException",
            Self::ExpiredToken => "ExpiredTokenException",
            Self::AccessDenied => "AccessDeniedException",
            Self::ResourceNotFound => "ResourceNotFoundException",
            Self::ResourceInUse => "ResourceInUseException",
            Self::LimitExceeded => "LimitExceededException",
            Self::ConditionalCheckFailed => "ConditionalCheckFailedException",
            Self::ProvisionedThroughputExceeded => "ProvisionedThroughputExceededException",
            Self::Throttling => "ThrottlingException",
            Self::RequestLimitExceeded => "RequestLimitExceeded",
            Self::ItemCollectionSizeLimitExceeded => "ItemCollectionSizeLimitExceededException",
            Self::TransactionCanceled => "TransactionCanceledException",
            Self::TransactionConflict => "TransactionConflictException",
            Self::TransactionInProgress => "TransactionInProgressException",
            Self::IdempotentParameterMismatch => "IdempotentParameterMismatchException",
            Self::PolicyNotFound => "PolicyNotFoundException",
            Self::TableNotFound => "TableNotFoundException",
            Self::GlobalTableNotFound => "GlobalTableNotFoundException",
            Self::ContinuousBackupsUnavailable => "ContinuousBackupsUnavailableException",
            Self::InternalServerError => "InternalServerError",
            Self::ServiceUnavailable => "ServiceUnavailable",
        }
    }

    /// What stands before the `#` of `__type`.
    pub fn namespace(self) -> &'static str {
        match self {
            Self::Validation => "com.amazon.coral.validate",
            Self::Serialization
            | Self::UnknownOperation
            | Self::MissingAuthenticationToken
            | Self::IncompleteSignature
            | Self::InvalidSignature
            | Self::UnrecognizedClient
            | Self::ExpiredToken
            | Self::AccessDenied => "com.amazon.coral.service",
            Self::Throttling => "com.amazon.coral.availability",
            _ => "com.amazonaws.dynamodb.v20120810",
        }
    }

    /// The HTTP status.
    pub fn status(self) -> u16 {
        match self {
            Self::InternalServerError => 500,
            Self::ServiceUnavailable => 503,
            _ => 400,
        }
    }

    /// The member of the body that holds the text.
    pub fn text_member(self) -> &'static str {
        match self {
            Self::Serialization
            | Self::AccessDenied
            | Self::TransactionCanceled
            | Self::IdempotentParameterMismatch
            | Self::TransactionInProgress => "Message",
            _ => "message",
        }
    }
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
    /// The contents of ExpressionAttributeNames and ExpressionAttributeValues.
    Placeholder(PlaceholderFault),
    /// How parameters go together: mixing, placeholders without an expression, Select, segments, ReturnValues.
    Parameter(ParameterFault),
    /// A legacy parameter by itself: ConditionalOperator, conditions, Expected, AttributeUpdates.
    Legacy(LegacyFault),
    /// A static fault of an expression. Boxed: it is several times the size of the others.
    Expression(Box<ExpressionFault>),
    /// An update that cannot be applied to the item.
    Update(UpdateFault),
    /// Keys and index keys, start keys and key conditions against the schema.
    Key(KeyFault),
    /// Tables and their definitions.
    Table(TableFault),
    /// A transaction as a whole.
    Transaction(TransactionFault),
    /// `The conditional request failed`.
    ConditionFailed,
    /// `Transaction is ongoing for the item`.
    Conflict,
    /// The same, where the store was told not to wait for this lock ([`StoreError::Held`]): nothing was done, and another try
    /// may wait.
    ///
    /// [`StoreError::Held`]: crate::store::StoreError::Held
    Held(u64),
    /// A member of the API that this server does not serve: refused, never accepted and dropped.
    NotServed(&'static str),
    /// What went wrong inside; the text stays in the log.
    Internal(String),
}

/// Families decide whether a text carries `1 validation error detected: ` (`wire::layer`).   behaviour/wire §layers
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Constraint forms: with their count, on every operation.
    Constraint,
    /// Expressions, placeholders, mixed parameters, ConditionalOperator, Expected, ReturnValues, AttributeUpdates'
    /// Action: with the prefix on PutItem, UpdateItem, DeleteItem.
    Request,
    /// Numbers, sets, NULL, names, nesting: the same column as `Request`, for requests read on the new layer.
    Value,
    /// Texts that never have it: keys, sizes, start keys, results; empty sets in a Key or in AttributeUpdates.
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
            Fault::Transaction(fault) => fault.exception(),
            Fault::ConditionFailed => Exception::ConditionalCheckFailed,
            Fault::Conflict | Fault::Held(_) => Exception::TransactionConflict,
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
    ShapeFault => Shape, MemberFault => Member, ValueFault => Value, PlaceholderFault => Placeholder,
    ParameterFault => Parameter, LegacyFault => Legacy, UpdateFault => Update, KeyFault => Key,
    TableFault => Table, TransactionFault => Transaction,
);

impl From<ResourceFault> for Error {
    fn from(fault: ResourceFault) -> Error {
        TableFault::from(fault).into()
    }
}

impl From<ChangeFault> for Error {
    fn from(fault: ChangeFault) -> Error {
        TableFault::from(fault).into()
    }
}

impl From<ExpressionFault> for Error {
    fn from(fault: ExpressionFault) -> Error {
        Fault::Expression(Box::new(fault)).into()
    }
}
