//! Faults of parameters that go together, and of keys, with the texts.

use crate::{error::Family, item::ValueType};

use super::Operation;

/// How parameters go together.                                          behaviour/operations §parameters
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterFault {
    /// Legacy parameters beside expressions; only those present, in the service's order.
    Mixed {
        legacy: Vec<&'static str>,
        expression: Vec<&'static str>,
    },
    NamesWithoutExpression,
    /// `suffix` names the expressions that were missing, on the operations that do.
    ValuesWithoutExpression {
        suffix: &'static str,
    },
    UnusedNames(Vec<String>),
    UnusedValues(Vec<String>),
    ReturnValues,
    ItemSize,
    DuplicateAttribute(String),
    NoKeyCondition,
    /// ProjectionExpression or AttributesToGet beside another Select.
    SelectWith {
        parameter: &'static str,
        select: &'static str,
    },
    SelectSpecific,
    SelectProjectedWithoutIndex,
    ConsistentReadOnGlobalIndex,
    /// An index that is not built yet.
    IndexBackfilling(String),
    /// ALL_ATTRIBUTES on an index that does not hold them.
    SelectAllOnIndex(String),
    NotProjected {
        index: String,
        attributes: Vec<String>,
    },
    /// `filter`: as the text names the parameter.
    FilterOnKey {
        filter: &'static str,
        attribute: String,
    },
    SegmentWithoutTotal,
    TotalWithoutSegment,
    SegmentBeyondTotal {
        old_layer: Option<(i64, i64)>,
    },
    /// An empty RequestItems, as the old layer says it.
    BatchRequired(Operation),
    DuplicateKeys,
    /// A WriteRequest with neither or both of its members.
    WriteRequest,
}

impl ParameterFault {
    pub fn family(&self) -> Family {
        match self {
            Self::Mixed { .. }
            | Self::NamesWithoutExpression
            | Self::ValuesWithoutExpression { .. }
            | Self::UnusedNames(_)
            | Self::UnusedValues(_)
            | Self::ReturnValues => Family::Request,
            Self::SelectWith { .. } | Self::SelectSpecific | Self::SelectProjectedWithoutIndex => {
                Family::Select
            }
            _ => Family::Bare,
        }
    }

    pub fn text(&self) -> String {
        match self {
            Self::Mixed { legacy, expression } => format!(
                "Can not use both expression and non-expression parameters in the same request: Non-expression \
                 parameters: {{{}}} Expression parameters: {{{}}}",
                legacy.join(", "),
                expression.join(", ")
            ),
            Self::NamesWithoutExpression => {
                "ExpressionAttributeNames can only be specified when using expressions".into()
            }
            Self::ValuesWithoutExpression { suffix } => {
                format!("ExpressionAttributeValues can only be specified when using expressions{suffix}")
            }
            Self::UnusedNames(names) => unused("ExpressionAttributeNames", names),
            Self::UnusedValues(values) => unused("ExpressionAttributeValues", values),
            Self::ReturnValues => "ReturnValues can only be ALL_OLD or NONE".into(),
            Self::ItemSize => "Item size has exceeded the maximum allowed size".into(),
            Self::DuplicateAttribute(name) => {
                format!("One or more parameter values were invalid: Duplicate value in attribute name: {name}")
            }
            Self::NoKeyCondition => {
                "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
                    .into()
            }
            Self::SelectWith { parameter, select } => {
                format!("Cannot specify the {parameter} when choosing to get {select}")
            }
            Self::SelectSpecific => {
                "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"
                    .into()
            }
            Self::SelectProjectedWithoutIndex => {
                "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName".into()
            }
            Self::ConsistentReadOnGlobalIndex => {
                "Consistent reads are not supported on global secondary indexes".into()
            }
            Self::IndexBackfilling(index) => {
                format!("Cannot read from backfilling global secondary index: {index}")
            }
            Self::SelectAllOnIndex(index) => format!(
                "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global \
                 secondary index {index} because its projection type is not ALL"
            ),
            Self::NotProjected { index, attributes } => format!(
                "One or more parameter values were invalid: Global secondary index {index} does not project [{}]",
                attributes.join(", ")
            ),
            Self::FilterOnKey { filter, attribute } => {
                format!("{filter} can only contain non-primary key attributes: Primary key attribute: {attribute}")
            }
            Self::SegmentWithoutTotal => "The TotalSegments parameter is required but was not present in the request \
                                          when Segment parameter is present"
                .into(),
            Self::TotalWithoutSegment => "The Segment parameter is required but was not present in the request when \
                                          parameter TotalSegments is present"
                .into(),
            Self::SegmentBeyondTotal { old_layer } => {
                let text =
                    "The Segment parameter is zero-based and must be less than parameter TotalSegments".to_owned();
                match old_layer {
                    Some((segment, total)) => {
                        format!("{text}: Segment: {segment} is not less than TotalSegments: {total}")
                    }
                    None => text,
                }
            }
            Self::BatchRequired(operation) => {
                format!("The requestItems parameter is required for {}", operation.name())
            }
            Self::DuplicateKeys => "Provided list of item keys contains duplicates".into(),
            Self::WriteRequest => "Supplied AttributeValue has more than one datatypes set, must contain exactly one \
                                   of the supported datatypes"
                .into(),
        }
    }
}

fn unused(map: &str, keys: &[String]) -> String {
    format!(
        "Value provided in {map} unused in expressions: keys: {{{}}}",
        keys.join(", ")
    )
}

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
