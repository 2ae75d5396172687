//! Parameters that do not go together, with the texts.

use crate::error::Family;

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
