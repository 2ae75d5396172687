//! What can be wrong with a resource that a request names by its ARN, and what is asked of features that a table here
//! has none of, with the texts.                                     behaviour/tables §tags, §features-without-use

use crate::error::Exception;

use super::fault::invalid;

/// One variant a text. A `String` alone is what the text quotes: an ARN, the name of a table or of a global table.
#[derive(Clone, Debug, PartialEq)]
pub enum ResourceFault {
    // ARNs                                                                             behaviour/tables §tags
    NoArn,
    Scheme(String),
    OtherService(String),
    Kind(String),
    /// Another region, or no name of a table.
    Elsewhere(String),
    PolicyElsewhere(String),
    ForeignAccount {
        caller: String,
        operation: &'static str,
        arn: String,
    },
    PolicyForeignAccount,
    NotFound(String),

    NoTags,
    NoTagKeys,

    NoPolicy(String),
    NoStream {
        label: String,
        table: String,
    },

    // Backups, global tables, insights                           behaviour/tables §features-without-use
    /// Operations on backups have a word of their own for it.
    TableMissing(String),
    BackupsNotServed,
    RecoveryPeriodOfNothing,
    LegacyGlobalTables,
    NoReplicaUpdates,
    NoGlobalTable(String),
    NoReplicas(String),
    NoInsightsIndex {
        table: String,
        index: String,
    },
    NoBulkOperation,
}

impl ResourceFault {
    pub fn exception(&self) -> Exception {
        match self {
            Self::ForeignAccount { .. } => Exception::AccessDenied,
            Self::NotFound(_)
            | Self::NoStream { .. }
            | Self::NoReplicas(_)
            | Self::NoInsightsIndex { .. }
            | Self::NoBulkOperation => Exception::ResourceNotFound,
            Self::NoPolicy(_) => Exception::PolicyNotFound,
            Self::TableMissing(_) => Exception::TableNotFound,
            Self::BackupsNotServed => Exception::ContinuousBackupsUnavailable,
            Self::NoGlobalTable(_) => Exception::GlobalTableNotFound,
            _ => Exception::Validation,
        }
    }

    pub fn text(&self) -> String {
        match self {
            Self::NoArn => "Invalid TableArn".into(),
            Self::Scheme(value) => invalid(&format!("ARNs must start with 'arn:': {value}")),
            Self::OtherService(arn) => {
                invalid(&format!("Provided Arn is not a DynamoDB resource arn: {arn}"))
            }
            Self::Kind(arn) => invalid(&format!(
                "Invalid resource arn provided, only table or stream is accepted. Provided resource arn: {arn}"
            )),
            Self::Elsewhere(arn) => {
                format!("Invalid TableArn: Invalid ResourceArn provided as input {arn}")
            }
            Self::PolicyElsewhere(arn) => invalid(&format!("Invalid resource Arn: {arn}")),
            Self::ForeignAccount {
                caller,
                operation,
                arn,
            } => format!(
                "User: {caller} is not authorized to perform: dynamodb:{operation} on resource: {arn}"
            ),
            Self::PolicyForeignAccount => {
                "This action is only supported by accounts that match the resource owner\u{2019}s account."
                    .into()
            }
            Self::NotFound(arn) => format!("Requested resource not found: ResourceArn: {arn} not found"),
            Self::NoTags => "Atleast one Tag needs to be provided as Input.".into(),
            Self::NoTagKeys => "Atleast one Tag Key needs to be provided as Input.".into(),
            Self::NoPolicy(arn) => {
                format!("Resource-based policy not found for the provided ResourceArn: {arn}")
            }
            Self::NoStream { label, table } => {
                format!("Requested resource not found: Stream: {label} not found for Table: {table}")
            }
            Self::TableMissing(table) => format!("Table not found: {table}"),
            Self::BackupsNotServed => "Point-in-time recovery is not supported by this server".into(),
            Self::RecoveryPeriodOfNothing => "Invalid Request: Cannot specify RecoveryPeriodInDays when \
                disabling point-in-time recovery."
                .into(),
            Self::LegacyGlobalTables => invalid(
                "DynamoDB global tables version 2017.11.29 is not supported. We recommend using DynamoDB global \
                 tables version 2019.11.21, instead of version 2017.11.29 (Legacy).",
            ),
            Self::NoReplicaUpdates => "One or more parameter values were invalid".into(),
            Self::NoGlobalTable(name) | Self::NoReplicas(name) => {
                format!("Global table with name: '{name}' does not exist.")
            }
            Self::NoInsightsIndex { table, index } => {
                format!("Requested resource not found: Index: {index} not found for table: {table}")
            }
            Self::NoBulkOperation => "Requested resource not found".into(),
        }
    }
}
