//! Keys against a table's schema: what can be wrong, with the texts.            behaviour/operations §keys

use crate::{error::Family, item::ValueType};

/// Keys against the schema.                                                  behaviour/operations §keys
#[derive(Clone, Debug, PartialEq)]
pub enum KeyFault {
    /// A Key of the wrong shape.
    Schema,
    /// An Item without a key attribute.
    Missing(String),
    /// An Item with a key attribute of the wrong type.
    Type {
        attribute: String,
        expected: ValueType,
        actual: ValueType,
    },
    Empty {
        attribute: String,
        kind: ValueType,
    },
    HashSize,
    RangeSize,
    /// An index key of the wrong type.
    IndexType {
        attribute: String,
        expected: ValueType,
        actual: ValueType,
        index: String,
    },
    /// An empty index key in a whole item.
    IndexEmpty {
        attribute: String,
        kind: ValueType,
        index: String,
    },
    IndexSize {
        attribute: String,
        bytes: usize,
        max_bytes: usize,
        index: String,
    },
    /// An update whose target is, or lies in, a key of the table.
    CannotUpdateKey(String),
    /// A path into a key attribute of the table, or of an index.
    KeyPath {
        attribute: String,
        index: bool,
    },
    /// An index key that an update expression left empty.
    IndexEmptyUpdate {
        kind: ValueType,
    },
    // Key conditions against the schema.                          behaviour/expressions §key-conditions
    TooManyConditions {
        conditions: usize,
        keys: usize,
    },
    /// No condition on this key attribute.
    ConditionMissing(String),
    /// An operator other than `=` on the HASH attribute.
    ConditionNotSupported,
    /// An operator of KeyConditions that no key takes.
    ConditionNotIndexable,
    ConditionType,
    /// HASH attributes of an index with several key attributes.
    HashNotEqual(Vec<String>),
    /// RANGE attributes likewise, before one that has a condition.
    RangeNotEqual {
        missing: Vec<String>,
        because: String,
    },
    // Start keys.                                              behaviour/operations §start-keys
    StartKey,
    /// The old layer's, of a Scan, about the table's key.
    StartKeySchema,
    StartKeyOutside,
    StartKeyRange,
    StartKeyRestart,
    StartKeyExclusive,
    StartKeySegment {
        segment: i64,
        total: i64,
    },
}

impl KeyFault {
    pub fn family(&self) -> Family {
        Family::Bare
    }

    pub fn text(&self) -> String {
        match self {
            Self::Schema => "The provided key element does not match the schema".into(),
            Self::Missing(attribute) => {
                format!("One or more parameter values were invalid: Missing the key {attribute} in the item")
            }
            Self::Type { attribute, expected, actual } => format!(
                "One or more parameter values were invalid: Type mismatch for key {attribute} expected: {} actual: {}",
                expected.code(),
                actual.code()
            ),
            Self::Empty { attribute, kind } => format!(
                "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an \
                 empty {} value. Key: {attribute}",
                long_name(*kind)
            ),
            // No space before 2048: so the service writes it.
            Self::HashSize => "One or more parameter values were invalid: Size of hashkey has exceeded the maximum \
                               size limit of2048 bytes"
                .into(),
            Self::RangeSize => "One or more parameter values were invalid: Aggregated size of all range keys has \
                                exceeded the size limit of 1024 bytes"
                .into(),
            Self::IndexType { attribute, expected, actual, index } => format!(
                "One or more parameter values were invalid: Type mismatch for Index Key {attribute} Expected: {} \
                 Actual: {} IndexName: {index}",
                expected.code(),
                actual.code()
            ),
            Self::IndexEmpty { attribute, kind, index } => format!(
                "One or more parameter values are not valid. A value specified for a secondary index key is not \
                 supported. The AttributeValue for a key attribute cannot contain an empty {} value. IndexName: \
                 {index}, IndexKey: {attribute}",
                long_name(*kind)
            ),
            Self::IndexSize { attribute, bytes, max_bytes, index } => format!(
                "One or more parameter values were invalid: Size limit exceeded for Index Key {attribute} Actual \
                 Size: {bytes} bytes Max Size: {max_bytes} bytes IndexName: {index}"
            ),
            Self::CannotUpdateKey(attribute) => format!(
                "One or more parameter values were invalid: Cannot update attribute {attribute}. This attribute is part \
                 of the key"
            ),
            Self::KeyPath { attribute, index } => format!(
                "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: {}: \
                 {attribute}",
                if *index { "IndexKey" } else { "Key" }
            ),
            Self::IndexEmptyUpdate { kind } => format!(
                "One or more parameter values are not valid. The update expression attempted to update a secondary \
                 index key to a value that is not supported. The AttributeValue for a key attribute cannot contain an \
                 empty {} value.",
                long_name(*kind)
            ),
            Self::StartKey => "The provided starting key is invalid".into(),
            Self::StartKeySchema => "The provided starting key is invalid: The provided key element does not match \
                the schema"
                .into(),
            Self::StartKeyOutside => {
                "The provided starting key is outside query boundaries based on provided conditions".into()
            }
            Self::StartKeyRange => "The provided starting key does not match the range key predicate".into(),
            Self::StartKeyRestart => "The query can return at most one row and cannot be restarted".into(),
            Self::StartKeyExclusive => "The provided exclusive start key is invalid".into(),
            Self::StartKeySegment { segment, total } => format!(
                "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with \
                 correct Segment. TotalSegments: {total} Segment: {segment}"
            ),
            Self::TooManyConditions { conditions, keys } => format!(
                "The number of query conditions ({conditions}) exceeds the number of key attributes defined in the \
                 schema ({keys})"
            ),
            Self::ConditionMissing(attribute) => {
                format!("Query condition missed key schema element: {attribute}")
            }
            Self::ConditionNotSupported => "Query key condition not supported".into(),
            Self::ConditionNotIndexable => {
                "Attempted conditional constraint is not an indexable operation".into()
            }
            Self::ConditionType => {
                "One or more parameter values were invalid: Condition parameter type does not match schema type".into()
            }
            Self::HashNotEqual(attributes) => format!(
                "HASH key attributes {} must have equality conditions specified in the query",
                attributes.join(", ")
            ),
            Self::RangeNotEqual { missing, because } => format!(
                "RANGE key attributes {} must have equality conditions specified in the query because a condition is \
                 present on key attribute {because}",
                missing.join(", ")
            ),
        }
    }
}

/// `string` or `binary`, as the texts on empty keys say.
fn long_name(kind: ValueType) -> &'static str {
    if kind == ValueType::B { "binary" } else { "string" }
}
