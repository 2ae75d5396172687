//! TableName: a name or an ARN of this account and region, and the faults of each operation.
//!                                                                                  behaviour/wire §table-names

use super::{Constraint, Layer, MemberFault, members::failed};
use crate::{
    request::{Context, Operation},
    table::TableName,
};

/// A TableName that names nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum NameFault {
    /// Absent; the text of a data-plane operation.
    Missing,
    /// Absent; the control plane's own text, before every other fault.
    Required,
    /// An empty string, which is answered before every other fault (`alone`).
    Empty(String),
    Malformed(Vec<String>),
}

impl NameFault {
    pub(super) fn texts(&self) -> Vec<String> {
        match self {
            Self::Missing => vec![failed("Value null", PATH, &Constraint::NotNull)],
            Self::Required => {
                vec!["The parameter 'TableName' is required but was not present in the request".into()]
            }
            Self::Empty(text) => vec![text.clone()],
            Self::Malformed(texts) => texts.clone(),
        }
    }

    /// The answer, where this fault is answered before all others and without them.
    pub fn alone(&self) -> Option<MemberFault> {
        match self {
            Self::Required | Self::Empty(_) => Some(self.clone().into()),
            Self::Missing | Self::Malformed(_) => None,
        }
    }
}

impl From<NameFault> for MemberFault {
    fn from(fault: NameFault) -> MemberFault {
        MemberFault {
            faults: fault.texts(),
            bare: fault == NameFault::Required,
        }
    }
}

const PATH: &str = "tableName";
const LEAST: usize = 3;
const MOST: usize = 255;

const ARN_FORMAT: &str = "Valid ARN format is \
    'arn:<awsPartition>:<vendor>:<region>:<subscriber>:resourceType/resourceName', where Resource name must have \
    length less than or equal to 255, Resource name must have length greater than or equal to 3, Resource name \
    must satisfy regular expression pattern: [a-zA-Z0-9_.-]+";

/// The table that a TableName names. `layer` is the one the request is read on.
pub fn table_name(
    value: Option<&str>,
    operation: Operation,
    layer: Layer,
    context: &Context,
) -> Result<TableName, NameFault> {
    use Operation::*;
    let control_plane = matches!(
        operation,
        CreateTable
            | DeleteTable
            | DescribeContinuousBackups
            | DescribeContributorInsights
            | DescribeKinesisStreamingDestination
            | DescribeTable
            | DescribeTableReplicaAutoScaling
            | DescribeTimeToLive
            | ListContributorInsights
            | ListTables
            | UpdateContinuousBackups
            | UpdateTable
            | UpdateTableReplicaAutoScaling
            | UpdateTimeToLive
    );
    let Some(value) = value else {
        return Err(if control_plane {
            NameFault::Required
        } else {
            NameFault::Missing
        });
    };
    if value.starts_with("arn:") {
        return named_by_arn(value, PATH, context);
    }
    if value.is_empty() && operation != CreateTable {
        let constraint = Constraint::LengthAtLeast(1);
        return Err(NameFault::Empty(match layer {
            Layer::New => failed("Value", "TableName", &constraint),
            Layer::Old => failed("Value ''", PATH, &constraint),
        }));
    }
    let (length, pattern) = (length_fault(value), pattern_fault(value));
    let faults: Vec<Constraint> = if control_plane || operation == UpdateItem {
        pattern.into_iter().chain(length).collect()
    } else {
        length.or(pattern).into_iter().collect()
    };
    named(value, PATH, &faults, context)
}

/// The table that a member of a transaction names, at `path` in the request; its length and its pattern are both told.
pub fn table_name_of_member(value: &str, path: &str, context: &Context) -> Result<TableName, NameFault> {
    if value.starts_with("arn:") {
        return named_by_arn(value, path, context);
    }
    let faults: Vec<Constraint> = length_fault(value)
        .into_iter()
        .chain(pattern_fault(value))
        .collect();
    named(value, path, &faults, context)
}

fn length_fault(value: &str) -> Option<Constraint> {
    match value.encode_utf16().count() {
        ..LEAST => Some(Constraint::LengthAtLeast(LEAST as u64)),
        LEAST..=MOST => None,
        _ => Some(Constraint::LengthAtMost(MOST as u64)),
    }
}

fn pattern_fault(value: &str) -> Option<Constraint> {
    (!is_name(value)).then_some(Constraint::NAME_PATTERN)
}

fn named(value: &str, path: &str, faults: &[Constraint], context: &Context) -> Result<TableName, NameFault> {
    if faults.is_empty() {
        return Ok(TableName {
            account: context.account.clone(),
            name: value.to_owned(),
        });
    }
    let echo = format!("Value '{value}'");
    let faults = faults.iter().map(|constraint| failed(&echo, path, constraint));
    Err(NameFault::Malformed(faults.collect()))
}

fn named_by_arn(arn: &str, path: &str, context: &Context) -> Result<TableName, NameFault> {
    resolve_arn(arn, context).map_err(|detail| {
        NameFault::Malformed(vec![format!(
            "Value '{arn}' at '{path}' failed to satisfy constraint: {detail}"
        )])
    })
}

/// The table that a key of RequestItems names; `None` breaks the map-key constraint (`Constraint::TABLE_KEYS`).
pub fn table_of_key(key: &str, context: &Context) -> Option<TableName> {
    if key.starts_with("arn:") {
        return resolve_arn(key, context).ok();
    }
    let is_valid = (LEAST..=MOST).contains(&key.len()) && is_name(key);
    is_valid.then(|| TableName {
        account: context.account.clone(),
        name: key.to_owned(),
    })
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
}

/// An ARN of another account, region or partition names no table here. It stays itself, a name that no table can
/// have, so that the lookup answers as for an unknown one.
fn resolve_arn(arn: &str, context: &Context) -> Result<TableName, &'static str> {
    let parts: Vec<&str> = arn.splitn(6, ':').collect();
    let &[_, partition, vendor, region, account, resource] = parts.as_slice() else {
        return Err(ARN_FORMAT);
    };
    let Some((kind, name)) = resource.split_once('/') else {
        return Err(ARN_FORMAT);
    };
    if kind != "table" {
        return Err("Invalid resource type");
    }
    if is_name(name) && name.len() < LEAST || name.is_empty() {
        return Err("Table name of ARN must have length greater than or equal to 3");
    }
    if !is_name(name) || name.len() > MOST || vendor != "dynamodb" {
        return Err(ARN_FORMAT);
    }
    let is_here = partition.starts_with("aws") && region == context.region && account == context.account.0;
    let name = if is_here { name } else { arn };
    Ok(TableName {
        account: context.account.clone(),
        name: name.to_owned(),
    })
}
