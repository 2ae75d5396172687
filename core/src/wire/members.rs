//! Member constraints: collecting the faults of a request in the order of its operation.  behaviour/wire §constraints

use std::fmt::Display;

use super::{Layer, MemberFault, NameFault};
use crate::table::TableName;

#[derive(Clone, Debug, PartialEq)]
pub enum Constraint {
    NotNull,
    LengthAtLeast(u64),
    LengthAtMost(u64),
    ValueAtLeast(i64),
    ValueAtMost(i64),
    Pattern(&'static str),
    Enum(&'static [&'static str]),
    MapKeys(&'static [Constraint]),
    MapValues(&'static [Constraint]),
}

impl Constraint {
    /// Names of tables and indexes.
    pub const NAME_PATTERN: Constraint = Constraint::Pattern("[a-zA-Z0-9_.-]+");

    /// The keys of RequestItems.
    pub const TABLE_KEYS: Constraint = Constraint::MapKeys(&[
        Constraint::LengthAtMost(255),
        Constraint::LengthAtLeast(3),
        Constraint::NAME_PATTERN,
    ]);

    pub fn text(&self) -> String {
        let all =
            |constraints: &[Constraint]| constraints.iter().map(Self::text).collect::<Vec<_>>().join(", ");
        match self {
            Self::NotNull => "Member must not be null".into(),
            Self::LengthAtLeast(least) => format!("Member must have length greater than or equal to {least}"),
            Self::LengthAtMost(most) => format!("Member must have length less than or equal to {most}"),
            Self::ValueAtLeast(least) => format!("Member must have value greater than or equal to {least}"),
            Self::ValueAtMost(most) => format!("Member must have value less than or equal to {most}"),
            Self::Pattern(pattern) => format!("Member must satisfy regular expression pattern: {pattern}"),
            Self::Enum(values) => format!("Member must satisfy enum value set: [{}]", values.join(", ")),
            Self::MapKeys(constraints) => format!("Map keys must satisfy constraint: [{}]", all(constraints)),
            Self::MapValues(constraints) => {
                format!("Map value must satisfy constraint: [{}]", all(constraints))
            }
        }
    }
}

/// Enum values in the order in which the service prints them.
pub mod enums {
    pub const RETURN_CONSUMED_CAPACITY: &[&str] = &["INDEXES", "TOTAL", "NONE"];
    pub const RETURN_VALUES: &[&str] = &["ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"];
    pub const RETURN_ITEM_COLLECTION_METRICS: &[&str] = &["SIZE", "NONE"];
    pub const RETURN_VALUES_ON_CONDITION_CHECK_FAILURE: &[&str] = &["ALL_OLD", "NONE"];
    pub const SELECT: &[&str] = &[
        "SPECIFIC_ATTRIBUTES",
        "COUNT",
        "ALL_ATTRIBUTES",
        "ALL_PROJECTED_ATTRIBUTES",
    ];
    pub const CONDITIONAL_OPERATOR: &[&str] = &["OR", "AND"];
    pub const COMPARISON_OPERATOR: &[&str] = &[
        "IN",
        "NULL",
        "BETWEEN",
        "LT",
        "NOT_CONTAINS",
        "EQ",
        "GT",
        "NOT_NULL",
        "NE",
        "LE",
        "BEGINS_WITH",
        "GE",
        "CONTAINS",
    ];
    pub const BILLING_MODE: &[&str] = &["PROVISIONED", "PAY_PER_REQUEST"];
    pub const KEY_TYPE: &[&str] = &["HASH", "RANGE"];
    pub const ATTRIBUTE_TYPE: &[&str] = &["B", "N", "S"];
    pub const PROJECTION_TYPE: &[&str] = &["ALL", "INCLUDE", "KEYS_ONLY"];
    pub const STREAM_VIEW_TYPE: &[&str] = &["NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY"];
    pub const SSE_TYPE: &[&str] = &["AES256", "KMS"];
}

/// The service's own list in the new layer's text about ReturnValues.
const RETURN_VALUES_PRINTED: &[&str] = &["ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATE_NEW", "NONE"];

/// Reported at most; the count says so many.
const REPORTED: usize = 10;

/// An echoed value is cut here.
const ECHO_BYTES: usize = 1 << 20;

/// Collects faults in the order they are told; up to ten are reported.
#[derive(Clone, Debug)]
pub struct Members {
    layer: Layer,
    faults: Vec<String>,
}

impl Members {
    /// `layer` is the one the request is read on.
    pub fn new(layer: Layer) -> Members {
        Members {
            layer,
            faults: Vec::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.faults.is_empty()
    }

    /// A whole text of its own.
    pub fn text(&mut self, text: impl Into<String>) {
        if self.faults.len() < REPORTED {
            self.faults.push(text.into());
        }
    }

    /// `Value null at 'path' …` unless the member is there.
    pub fn required(&mut self, path: &str, is_present: bool) {
        if !is_present {
            self.text(failed("Value null", path, &Constraint::NotNull));
        }
    }

    /// `Value 'value' at 'path' …`: the rendering of both layers for most members. `path` as it is printed:
    /// `returnConsumedCapacity`, `keySchema.1.member.keyType`.
    pub fn fault(&mut self, path: &str, value: impl Display, constraint: &Constraint) {
        self.text(failed(&echo(value), path, constraint));
    }

    /// The same of the few members that the new layer prints without their value and as they are on the wire.
    /// `path` in that form: `Limit`, `RequestItems.T.member.Keys`.
    pub fn renewed(&mut self, path: &str, value: impl Display, constraint: &Constraint) {
        match self.layer {
            Layer::New => self.text(failed("Value", path, constraint)),
            Layer::Old => self.text(failed(&echo(value), &lowered(path), constraint)),
        }
    }

    /// An enum in the old rendering.
    pub fn one_of(&mut self, path: &str, value: Option<&str>, values: &'static [&'static str]) {
        if let Some(value) = value.filter(|value| !values.contains(value)) {
            self.fault(path, value, &Constraint::Enum(values));
        }
    }

    pub fn return_consumed_capacity(&mut self, value: Option<&str>) {
        self.one_of("returnConsumedCapacity", value, enums::RETURN_CONSUMED_CAPACITY);
    }

    pub fn return_item_collection_metrics(&mut self, value: Option<&str>) {
        self.one_of(
            "returnItemCollectionMetrics",
            value,
            enums::RETURN_ITEM_COLLECTION_METRICS,
        );
    }

    pub fn return_values_on_condition_check_failure(&mut self, value: Option<&str>) {
        self.one_of(
            "returnValuesOnConditionCheckFailure",
            value,
            enums::RETURN_VALUES_ON_CONDITION_CHECK_FAILURE,
        );
    }

    /// The new layer says neither value nor path, and `UPDATE_NEW`.
    pub fn return_values(&mut self, value: Option<&str>) {
        match (value, self.layer) {
            (Some(value), Layer::New) if !enums::RETURN_VALUES.contains(&value) => {
                let constraint = Constraint::Enum(RETURN_VALUES_PRINTED);
                self.text(format!("Failed to satisfy constraint: {}", constraint.text()));
            }
            _ => self.one_of("returnValues", value, enums::RETURN_VALUES),
        }
    }

    /// `Limit`, `Segment`, `TotalSegments`.
    pub fn range(&mut self, member: &str, value: Option<i64>, least: i64, most: i64) {
        let Some(value) = value else { return };
        if value < least {
            self.renewed(member, value, &Constraint::ValueAtLeast(least));
        } else if value > most {
            self.renewed(member, value, &Constraint::ValueAtMost(most));
        }
    }

    /// A string's length in characters; the least first. `path` as it is printed.
    pub fn length(&mut self, path: &str, value: Option<&str>, least: u64, most: u64) {
        let Some(value) = value else { return };
        let characters = value.encode_utf16().count() as u64;
        if characters < least {
            self.fault(path, value, &Constraint::LengthAtLeast(least));
        } else if characters > most {
            self.fault(path, value, &Constraint::LengthAtMost(most));
        }
    }

    /// The faults of a TableName ([`super::table_name`]).
    pub fn table_name(&mut self, name: &Result<TableName, NameFault>) {
        if let Err(fault) = name {
            for text in fault.texts() {
                self.text(text);
            }
        }
    }

    /// The faults together, with their count.
    pub fn finish(self) -> Result<(), MemberFault> {
        if self.faults.is_empty() {
            Ok(())
        } else {
            Err(MemberFault {
                faults: self.faults,
                bare: false,
            })
        }
    }

    /// The faults without their count (UpdateItem's ReturnValuesOnConditionCheckFailure and
    /// ReturnConsumedCapacity).
    pub fn finish_bare(self) -> Result<(), MemberFault> {
        if self.faults.is_empty() {
            Ok(())
        } else {
            Err(MemberFault {
                faults: self.faults,
                bare: true,
            })
        }
    }
}

pub(super) fn failed(value: &str, path: &str, constraint: &Constraint) -> String {
    format!(
        "{value} at '{path}' failed to satisfy constraint: {}",
        constraint.text()
    )
}

fn echo(value: impl Display) -> String {
    let mut text = format!("Value '{value}");
    if text.len() > ECHO_BYTES {
        text.truncate(
            (0..=ECHO_BYTES)
                .rev()
                .find(|&at| text.is_char_boundary(at))
                .unwrap_or(0),
        );
        text.push_str("...");
    }
    text.push('\'');
    text
}

/// Each member name of a path with its first letter lowered. A table's name in it stays.
fn lowered(path: &str) -> String {
    let lower = |name: &str| {
        let mut letters = name.chars();
        letters
            .next()
            .map(|first| first.to_ascii_lowercase().to_string() + letters.as_str())
            .unwrap_or_default()
    };
    match (path.split_once('.'), path.rsplit_once('.')) {
        (Some((head, _)), Some((_, tail))) if head.len() + tail.len() + 2 <= path.len() => {
            let middle = &path[head.len()..path.len() - tail.len()];
            format!("{}{middle}{}", lower(head), lower(tail))
        }
        (Some((head, tail)), _) => format!("{}.{}", lower(head), lower(tail)),
        _ => lower(path),
    }
}
