//! What can be wrong with a change of a table, with the texts.                         behaviour/tables §update-table

use crate::error::Exception;

use super::{
    Throughput, Units,
    fault::{in_use, invalid},
};

/// One variant a text. A `String` alone is the name of the index, table or member that the text names.
#[derive(Clone, Debug, PartialEq)]
pub enum ChangeFault {
    // The request by itself                                                behaviour/tables §update-table-request
    /// The members that the text does not list.
    NothingToDo(Vec<&'static str>),
    EmptyIndexUpdates,
    /// What must be the only operation in the request.
    NotAlone(Alone),
    WarmWithIndexCreate,
    OnDemandCombined,
    StreamWithThroughput,
    IndexWithThroughput,
    IndexWithStream,
    ReplicasWithOthers,
    NoIndexAction,
    SeveralIndexActions,
    IndexTwice(String),
    ThroughputMissing,
    StreamViewTypeMissing,
    StreamViewTypeUnexpected,
    NoReplicaAction,
    SettingsReplication,

    // Against the table                                                            behaviour/tables §update-table
    SameThroughput {
        index: Option<String>,
        throughput: Throughput,
    },
    IndexThroughputMissing(Vec<String>),
    OneIndexAtATime,
    IndexExists,
    IndexBeingCreated {
        table: String,
        index: String,
    },
    IndexBeingDeleted {
        table: String,
        index: String,
    },
    IndexBeingUpdated {
        table: String,
        index: String,
    },
    NoDefinitions(String),
    Redefined {
        existing: String,
        new: String,
    },
    CreateWithoutThroughput(String),
    CreateWithThroughput(String),
    TooManyIndexes,
    NoSuchIndex {
        table: String,
        index: String,
    },
    UpdateOfLocalIndex(String),
    DeleteOfLocalIndex(String),
    IndexThroughputOnDemand(String),
    ThroughputChanging(String),
    IndexesWhileThroughputChanging(String),
    ThroughputWhileIndexDeleted {
        table: String,
        indexes: Vec<String>,
    },
    NoStream(String),
    EncryptedByDefault,
    EncryptedWithKey,
    OnDemandOnProvisioned {
        units: Units,
        index: Option<String>,
    },
    WarmDecreased {
        units: Units,
        index: Option<String>,
    },
    RegionNotSupported(String),
    NoSuchReplicas(Vec<String>),
}

/// Named in this order where several break the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alone {
    Encryption,
    TableClass,
    DeletionProtection,
    WarmThroughput,
    Replicas,
}

impl Alone {
    fn text(self) -> &'static str {
        match self {
            Self::Encryption => {
                "Server-Side Encryption modification must be the only operation in the request"
            }
            Self::TableClass => "TableClass modification must be the only operation in the request",
            Self::DeletionProtection => {
                "DeletionProtection modification must be the only operation in the request"
            }
            Self::WarmThroughput => "WarmThroughput must be the only operation in the request",
            Self::Replicas => "Replica modification must be the only operation in the request",
        }
    }
}

/// What there is to do, as the service lists it. Three of them are no members of the API.
const TO_DO: [&str; 13] = [
    "ProvisionedThroughput",
    "BillingMode",
    "UpdateStreamEnabled",
    "GlobalSecondaryIndexUpdates",
    "SSESpecification",
    "ReplicaUpdates",
    "MultiAccountReplicaReady",
    "ReplicaTransitRoleArn",
    "MultiRegionConsistency",
    "DeletionProtectionEnabled",
    "OnDemandThroughput",
    "WarmThroughput",
    "TableClass",
];

impl ChangeFault {
    pub fn exception(&self) -> Exception {
        match self {
            Self::NoSuchIndex { .. } => Exception::ResourceNotFound,
            Self::OneIndexAtATime | Self::TooManyIndexes => Exception::LimitExceeded,
            Self::IndexBeingCreated { .. }
            | Self::IndexBeingDeleted { .. }
            | Self::IndexBeingUpdated { .. }
            | Self::ThroughputChanging(_)
            | Self::IndexesWhileThroughputChanging(_)
            | Self::ThroughputWhileIndexDeleted { .. } => Exception::ResourceInUse,
            _ => Exception::Validation,
        }
    }

    pub fn text(&self) -> String {
        match self {
            Self::NothingToDo(unlisted) => {
                let listed: Vec<&str> = TO_DO
                    .into_iter()
                    .filter(|member| !unlisted.contains(member))
                    .collect();
                let (last, others) = listed.split_last().unwrap_or((&"", &[]));
                format!("At least one of {} or {last} is required", others.join(", "))
            }
            Self::EmptyIndexUpdates => invalid("List of GlobalSecondaryIndexUpdates is empty"),
            Self::NotAlone(what) => invalid(what.text()),
            Self::WarmWithIndexCreate => {
                invalid("Create global secondary index cannot be specified when updating WarmThroughput")
            }
            Self::OnDemandCombined => {
                invalid("OnDemandThroughput can only be combined with BillingMode in an UpdateTable request")
            }
            Self::StreamWithThroughput => {
                invalid("You cannot modify stream status while updating table IOPS")
            }
            Self::IndexWithThroughput => {
                invalid("You cannot create or delete index while updating table IOPS")
            }
            Self::IndexWithStream => {
                invalid("You cannot create or delete index while changing stream status")
            }
            Self::ReplicasWithOthers => {
                invalid("Requests that modify replicas or witnesses must not also modify other fields")
            }
            Self::NoIndexAction => invalid(
                "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, \
                 GlobalSecondaryIndexUpdate.Delete must not be null",
            ),
            Self::SeveralIndexActions => invalid(
                "Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object",
            ),
            Self::IndexTwice(index) => invalid(&format!(
                "Only one global secondary index update per index is allowed simultaneously. Index: {index}"
            )),
            Self::ThroughputMissing => {
                invalid("ProvisionedThroughput must be specified when BillingMode is PROVISIONED")
            }
            Self::StreamViewTypeMissing => {
                invalid("If stream is being enabled then UpdateViewType is required")
            }
            Self::StreamViewTypeUnexpected => {
                invalid("If stream is being disabled, then UpdateViewType must not be specified")
            }
            Self::NoReplicaAction => {
                "There are no actions specified in the Replica Update Action of the request.".into()
            }
            Self::SettingsReplication => "Value 'ENABLED_WITH_OVERRIDES' at \
                'GlobalTableSettingsReplicationMode' failed to satisfy constraint: Only ENABLED and DISABLED \
                settings replication are supported for a Regional Table."
                .into(),

            Self::SameThroughput { index, throughput } => {
                let Throughput {
                    read_units,
                    write_units,
                } = throughput;
                let (of, provisioned) = match index {
                    None => ("the table".into(), "the table".into()),
                    Some(index) => (format!("the index {index}"), format!("index {index}")),
                };
                format!(
                    "The provisioned throughput for {of} will not change. The requested value equals the current \
                     value. Current ReadCapacityUnits provisioned for {provisioned}: {read_units}. Requested \
                     ReadCapacityUnits: {read_units}. Current WriteCapacityUnits provisioned for {provisioned}: \
                     {write_units}. Requested WriteCapacityUnits: {write_units}. Refer to the Amazon DynamoDB \
                     Developer Guide for current limits and how to request higher limits."
                )
            }
            Self::IndexThroughputMissing(indexes) => invalid(&format!(
                "ProvisionedThroughput must be specified for index: {}",
                indexes.join(",")
            )),
            Self::OneIndexAtATime => {
                "Subscriber limit exceeded: Only 1 online index can be created or deleted \
                simultaneously per table"
                    .into()
            }
            Self::IndexExists => "Attempting to create an index which already exists".into(),
            Self::IndexBeingCreated { table, index } => {
                in_use(&format!("Index is being created.  Table: {table} Index: {index}"))
            }
            Self::IndexBeingDeleted { table, index } => {
                in_use(&format!("Index is being deleted. Table: {table} Index: {index}"))
            }
            Self::IndexBeingUpdated { table, index } => {
                in_use(&format!("Index is being updated. Table: {table} Index: {index}"))
            }
            Self::NoDefinitions(index) => invalid(&format!(
                "AttributeDefinitions is not specified for index: {index}"
            )),
            Self::Redefined { existing, new } => invalid(&format!(
                "Attributes cannot be redefined. Please check that your attribute has the same type as \
                 previously defined. Existing schema: Schema:[{existing}] New schema: Schema:[{new}]"
            )),
            Self::CreateWithoutThroughput(index) => invalid(&format!(
                "Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: {index}"
            )),
            Self::CreateWithThroughput(index) => invalid(&format!(
                "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: {index} when \
                 BillingMode is PAY_PER_REQUEST"
            )),
            Self::TooManyIndexes => "Subscriber limit exceeded: Number of global secondary indexes exceeds \
                per-table limit of 20"
                .into(),
            Self::NoSuchIndex { table, index } => {
                format!("Requested resource not found: Index {index} for table {table}")
            }
            Self::UpdateOfLocalIndex(index) => {
                format!("Cannot update an index that is not a GlobalSecondaryIndex: {index}")
            }
            Self::DeleteOfLocalIndex(index) => {
                format!("Cannot delete an index that is not a GlobalSecondaryIndex: {index}")
            }
            Self::IndexThroughputOnDemand(index) => invalid(&format!(
                "The only Updates for index: {index} when TableThroughputMode is PAY_PER_REQUEST can be to \
                 OnDemandThroughput, WarmThroughput"
            )),
            Self::ThroughputChanging(table) => {
                in_use(&format!("Table IOPS are currently being updated. Table: {table}"))
            }
            Self::IndexesWhileThroughputChanging(table) => in_use(&format!(
                "Can't create or delete indexes while table IOPS are being updated. Table: {table}"
            )),
            Self::ThroughputWhileIndexDeleted { table, indexes } => in_use(&format!(
                "Can't change table IOPS when an index is being deleted. Table: {table} Indexes: [{}]",
                indexes.join(", ")
            )),
            Self::NoStream(table) => format!("Table has no stream to disable: TableName: {table}"),
            Self::EncryptedByDefault => invalid("Table is already encrypted by default"),
            Self::EncryptedWithKey => invalid(
                "Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId parameter if you want to \
                 change Master Key",
            ),
            Self::OnDemandOnProvisioned { units, index } => {
                let of = index
                    .as_ref()
                    .map(|index| format!(" for index: {index}"))
                    .unwrap_or_default();
                invalid(&format!(
                    "{} for OnDemandThroughput{of} cannot be specified when the table BillingMode is PROVISIONED",
                    units.on_demand()
                ))
            }
            Self::WarmDecreased { units, index } => {
                let of = index
                    .as_ref()
                    .map_or("table".into(), |index| format!("index {index}"));
                invalid(&format!(
                    "Requested {} for WarmThroughput for {of} is lower than current WarmThroughput, decreasing \
                     WarmThroughput is not supported",
                    units.warm()
                ))
            }
            Self::RegionNotSupported(region) => format!(
                "Region {region} is not supported. The latest version of global tables are only supported in \
                 the following regions: []"
            ),
            Self::NoSuchReplicas(regions) => format!(
                "Update global table operation failed because one or more replicas were not part of the global \
                 table. Please retry the request without these replicas: [{}].",
                regions.join(", ")
            ),
        }
    }
}
