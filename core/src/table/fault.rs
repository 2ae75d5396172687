//! What can be wrong with a table or its definition, with the texts.                        behaviour/tables

use crate::error::{Exception, Family};

use super::{
    TableStatus,
    change_fault::ChangeFault,
    hash_order::{Start, printed},
    resource_fault::ResourceFault,
};

/// One variant a text. A `String` alone is the name of the table or index that the text names.
#[derive(Clone, Debug, PartialEq)]
pub enum TableFault {
    // Names and states                                                     behaviour/tables §names, §states
    /// An item operation names a table that is not there (or not yet, or no longer).
    NotFound,
    /// A table operation does.
    TableNotFound(String),
    NoSuchIndex(String),
    AlreadyExists(String),
    BeingCreated(String),
    BeingDeleted(String),
    BeingUpdated(String),
    /// Somebody else changes the table, and the wait for them ended.
    BeingUsed(String),
    IndexesBusy,
    Protected,

    // Billing and throughput                                                    behaviour/tables §throughput
    ThroughputOnPayPerRequest,
    ThroughputMissing,
    UnitsOutOfBounds {
        units: Units,
        value: u64,
    },
    IndexThroughputOnPayPerRequest(String),
    IndexThroughputMissing(String),
    AboveTableMaximum {
        units: Units,
        value: u64,
        region: String,
    },
    AboveIndexMaximum {
        index: String,
        units: Units,
        value: u64,
        region: String,
    },
    /// `index`: of an index, not of the table.
    OnDemandOnProvisioned {
        units: Units,
        index: Option<String>,
    },
    OnDemandRange {
        units: Units,
        index: Option<String>,
    },
    OnDemandAboveMaximum {
        units: Units,
        index: Option<String>,
        region: String,
    },
    WarmBelowInitial {
        units: Units,
        index: Option<String>,
    },
    WarmBelowProvisioned {
        units: Units,
        index: Option<String>,
    },

    // Keys and definitions                                                            behaviour/tables §keys
    DefinitionTwice(String),
    TooFewDefinitions,
    /// `keys` and `definitions` in the order of the request.
    NotDefined {
        keys: Vec<String>,
        definitions: Vec<String>,
    },
    HashAndRangeSameName,
    FirstNotHash,
    SecondNotRange,
    TooManyDefinitions,
    /// `used`: the table's key, then the indexes' keys.
    NotUsed {
        definitions: Vec<String>,
        used: Vec<String>,
    },

    // Indexes                                                                      behaviour/tables §indexes
    EmptyList(IndexList),
    LocalIndexNeedsTableRange,
    LocalIndexWithoutRange(String),
    LocalIndexOtherHash {
        index: String,
        index_hash: String,
        table_hash: String,
    },
    HashAfterRange,
    TooManyHashAttributes,
    TooManyRangeAttributes,
    KeyAttributeTwice,
    NoProjectionType,
    NonKeyAttributesWith {
        projection_type: &'static str,
    },
    NonKeyAttributesMissing,
    NonKeyAttributeTwice(String),
    TooManyNonKeyAttributes,
    IndexNameTwice(String),
    TooManyLocalIndexes,
    TooManyGlobalIndexes,
    VectorOnProvisioned,

    // Other settings                                                              behaviour/tables §settings
    StreamViewTypeMissing,
    StreamViewTypeUnexpected,
    TableClass,
    EncryptionTypeWhileDisabled,
    EncryptionKeyWhileDisabled,
    EncryptionKeyNeedsKms,
    EncryptionAes256,
    TagKey(String),
    TagValue(String),
    TagKeyReserved(String),
    TagKeyTwice(String),
    TooManyTags,

    Change(ChangeFault),
    Resource(ResourceFault),

    // Time to live                                                            behaviour/tables §time-to-live
    TimeToLiveWhileCreating(String),
    TimeToLiveEnabled,
    TimeToLiveDisabled,
    TimeToLiveOtherAttribute(String),
    TimeToLiveUndescribed(TableStatus),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Units {
    Read,
    Write,
}

impl Units {
    /// Read is looked at first, everywhere but in the members of ProvisionedThroughput.
    pub const BOTH: [Units; 2] = [Units::Read, Units::Write];

    fn capacity(self) -> &'static str {
        match self {
            Self::Read => "ReadCapacityUnits",
            Self::Write => "WriteCapacityUnits",
        }
    }

    pub(super) fn on_demand(self) -> &'static str {
        match self {
            Self::Read => "MaxReadRequestUnits",
            Self::Write => "MaxWriteRequestUnits",
        }
    }

    pub(super) fn warm(self) -> &'static str {
        match self {
            Self::Read => "ReadUnitsPerSecond",
            Self::Write => "WriteUnitsPerSecond",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexList {
    Local,
    Global,
    Vector,
}

impl IndexList {
    fn member(self) -> &'static str {
        match self {
            Self::Local => "LocalSecondaryIndexes",
            Self::Global => "GlobalSecondaryIndexes",
            Self::Vector => "VectorIndexes",
        }
    }
}

/// Units a second and table, or index, of an account.
pub const MAXIMUM_UNITS: u64 = 40_000;

impl From<ChangeFault> for TableFault {
    fn from(fault: ChangeFault) -> TableFault {
        TableFault::Change(fault)
    }
}

impl From<ResourceFault> for TableFault {
    fn from(fault: ResourceFault) -> TableFault {
        TableFault::Resource(fault)
    }
}

impl TableFault {
    pub fn exception(&self) -> Exception {
        match self {
            Self::NotFound | Self::TableNotFound(_) => Exception::ResourceNotFound,
            Self::AlreadyExists(_)
            | Self::BeingCreated(_)
            | Self::BeingDeleted(_)
            | Self::BeingUpdated(_)
            | Self::BeingUsed(_)
            | Self::TimeToLiveWhileCreating(_)
            | Self::IndexesBusy => Exception::ResourceInUse,
            Self::AboveTableMaximum { .. }
            | Self::AboveIndexMaximum { .. }
            | Self::OnDemandAboveMaximum { .. } => Exception::LimitExceeded,
            Self::Change(fault) => fault.exception(),
            Self::Resource(fault) => fault.exception(),
            _ => Exception::Validation,
        }
    }

    pub fn family(&self) -> Family {
        Family::Bare
    }

    pub fn text(&self) -> String {
        match self {
            Self::NotFound => "Requested resource not found".into(),
            Self::TableNotFound(table) => format!("Requested resource not found: Table: {table} not found"),
            Self::NoSuchIndex(index) => format!("The table does not have the specified index: {index}"),
            Self::AlreadyExists(table) => format!("Table already exists: {table}"),
            Self::BeingCreated(table) => in_use(&format!("Table is being created: {table}")),
            Self::BeingDeleted(table) => in_use(&format!("Table is being deleted: {table}")),
            Self::BeingUpdated(table) => {
                in_use(&format!("Table: {table} is in the process of being updated."))
            }
            Self::BeingUsed(table) => in_use(&format!("Table is being used: {table}")),
            Self::IndexesBusy => {
                in_use("Cannot delete table while indexes are being created, updated, or deleted.")
            }
            Self::Protected => "Resource cannot be deleted as it is currently protected against deletion. \
                Disable deletion protection first."
                .into(),

            Self::ThroughputOnPayPerRequest => invalid(
                "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is \
                 PAY_PER_REQUEST",
            ),
            Self::ThroughputMissing => invalid(
                "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED",
            ),
            Self::UnitsOutOfBounds { units, value } => {
                format!("Given value {value} for {} is out of bounds", units.capacity())
            }
            Self::IndexThroughputOnPayPerRequest(index) => invalid(&format!(
                "ProvisionedThroughput should not be specified for index: {index} when BillingMode is \
                 PAY_PER_REQUEST"
            )),
            Self::IndexThroughputMissing(index) => invalid(&format!(
                "ProvisionedThroughput is not specified for index: {index}"
            )),
            Self::AboveTableMaximum { units, value, region } => format!(
                "The requested {}, {value}, is above the per table maximum for the account in {region}. \
                 Per table maximum: {MAXIMUM_UNITS}. {LIMITS_GUIDE}",
                units.capacity()
            ),
            Self::AboveIndexMaximum {
                index,
                units,
                value,
                region,
            } => format!(
                "The requested {} for index {index}, {value}, is above the per index maximum for the account \
                 in {region}. Per index maximum: {MAXIMUM_UNITS}. {LIMITS_GUIDE}",
                units.capacity()
            ),
            Self::OnDemandOnProvisioned { units, index } => {
                let index = index
                    .as_ref()
                    .map(|index| format!(" for index: {index}"))
                    .unwrap_or_default();
                invalid(&format!(
                    "{} for OnDemandThroughput{index} cannot be specified when table BillingMode is PROVISIONED.",
                    units.on_demand()
                ))
            }
            Self::OnDemandRange { units, index } => invalid(&format!(
                "Requested {} for OnDemandThroughput for {} is outside of valid range",
                units.on_demand(),
                on_demand_of(index)
            )),
            Self::OnDemandAboveMaximum { units, index, region } => format!(
                "Subscriber limit exceeded: Requested {} for OnDemandThroughput for {} exceeds TableMax{} of the \
                 account in region {region}",
                units.on_demand(),
                on_demand_of(index),
                units.capacity()
            ),
            Self::WarmBelowInitial { units, index } => invalid(&format!(
                "Requested {} for WarmThroughput for {} is lower than initial throughput for OnDemand. \
                 See: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/\
                 on-demand-capacity-mode.html#on-demand-capacity-mode-initial",
                units.warm(),
                warm_of(index)
            )),
            Self::WarmBelowProvisioned { units, index } => invalid(&format!(
                "Requested {} for WarmThroughput for {} is lower than {} of ProvisionedThroughput",
                units.warm(),
                warm_of(index),
                units.capacity()
            )),

            Self::DefinitionTwice(attribute) => format!("Attribute Name is duplicated: {attribute}"),
            Self::TooFewDefinitions => {
                "Invalid KeySchema: Some index key attribute have no definition".into()
            }
            Self::NotDefined { keys, definitions } => invalid(&format!(
                "Some index key attributes are not defined in AttributeDefinitions. Keys: [{}], \
                 AttributeDefinitions: [{}]",
                printed(keys.iter().map(String::as_str), Start::Fitted),
                printed(definitions.iter().map(String::as_str), Start::Fitted)
            )),
            Self::HashAndRangeSameName => {
                "Both the Hash Key and the Range Key element in the KeySchema have the same name".into()
            }
            Self::FirstNotHash => {
                "Invalid KeySchema: The first KeySchemaElement is not a HASH key type".into()
            }
            Self::SecondNotRange => {
                "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type".into()
            }
            Self::TooManyDefinitions => invalid(
                "Number of attributes in KeySchema does not exactly match number of attributes defined in \
                 AttributeDefinitions",
            ),
            Self::NotUsed { definitions, used } => invalid(&format!(
                "Some AttributeDefinitions are not used. AttributeDefinitions: [{}], keys used: [{}]",
                printed(definitions.iter().map(String::as_str), Start::Fitted),
                printed(used.iter().map(String::as_str), Start::Sixteen)
            )),

            Self::EmptyList(list) => invalid(&format!("List of {} is empty", list.member())),
            Self::LocalIndexNeedsTableRange => invalid(
                "Table KeySchema does not have a range key, which is required when specifying a \
                 LocalSecondaryIndex",
            ),
            Self::LocalIndexWithoutRange(index) => invalid(&format!(
                "Index KeySchema does not have a range key for index: {index}"
            )),
            Self::LocalIndexOtherHash {
                index,
                index_hash,
                table_hash,
            } => invalid(&format!(
                "Index KeySchema does not have the same leading hash key as table KeySchema for index: {index}. \
                 index hash key: {index_hash}, table hash key: {table_hash}"
            )),
            Self::HashAfterRange => {
                invalid("All HASH key attributes must precede RANGE key attributes in the KeySchema")
            }
            Self::TooManyHashAttributes => {
                invalid("The KeySchema exceeds the maximum allowed number of HASH key attributes")
            }
            Self::TooManyRangeAttributes => {
                invalid("The KeySchema exceeds the maximum allowed number of RANGE key attributes")
            }
            Self::KeyAttributeTwice => {
                "The KeySchema contains multiple key attributes with the same name".into()
            }
            Self::NoProjectionType => invalid("Unknown ProjectionType: null"),
            Self::NonKeyAttributesWith { projection_type } => invalid(&format!(
                "ProjectionType is {projection_type}, but NonKeyAttributes is specified"
            )),
            Self::NonKeyAttributesMissing => {
                invalid("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
            }
            Self::NonKeyAttributeTwice(attribute) => {
                invalid(&format!("Duplicate element in NonKeyAttributes: {attribute}"))
            }
            Self::TooManyNonKeyAttributes => {
                invalid("Number of NonKeyAttributes in all indexes exceeds per-table limit of 100")
            }
            Self::IndexNameTwice(index) => invalid(&format!("Duplicate index name: {index}")),
            Self::TooManyLocalIndexes => {
                invalid("Number of LocalSecondaryIndexes exceeds per-table limit of 5")
            }
            Self::TooManyGlobalIndexes => {
                invalid("GlobalSecondaryIndex count exceeds the per-table limit of 20")
            }
            Self::VectorOnProvisioned => {
                invalid("Vector indexes are only supported for PAY_PER_REQUEST tables")
            }

            Self::StreamViewTypeMissing => {
                invalid("Table is being created with a stream enabled, UpdateViewType is required")
            }
            Self::StreamViewTypeUnexpected => invalid(
                "Table is being created with a stream disabled, UpdateViewType should not be specified",
            ),
            Self::TableClass => "Invalid table-class parameter provided. Please try again with a valid \
                table-class value: [STANDARD, STANDARD_INFREQUENT_ACCESS]."
                .into(),
            Self::EncryptionTypeWhileDisabled => invalid("SSEType can not be specified if Enabled is false"),
            Self::EncryptionKeyWhileDisabled => {
                invalid("KMSMasterKeyId can not be specified if Enabled is false")
            }
            Self::EncryptionKeyNeedsKms => invalid("SSEType KMS is required if KMSMasterKeyId is specified"),
            Self::EncryptionAes256 => invalid("SSEType AES256 is not supported"),
            Self::TagKey(key) => format!("The Tag Key provided is invalid, Key: {key}"),
            Self::TagValue(value) => format!("The Tag Value provided is invalid, Value: {value}"),
            Self::TagKeyReserved(key) => format!("Tag Key cannot be prefixed with aws:, Key: {key}"),
            Self::TagKeyTwice(key) => {
                format!("Duplicate Tag Keys provided as input: Duplicate Tag Key found {key}")
            }
            Self::TooManyTags => {
                "Number of Tags exceed the current limit for the provided ResourceArn".into()
            }

            Self::Change(fault) => fault.text(),
            Self::Resource(fault) => fault.text(),

            Self::TimeToLiveWhileCreating(table) => in_use(&format!("Table {table} is being created")),
            Self::TimeToLiveEnabled => "TimeToLive is already enabled".into(),
            Self::TimeToLiveDisabled => "TimeToLive is already disabled".into(),
            Self::TimeToLiveOtherAttribute(attribute) => format!(
                "TimeToLive is active on a different AttributeName: current AttributeName is {attribute}"
            ),
            Self::TimeToLiveUndescribed(status) => {
                let status = status.name();
                format!(
                    "Cannot describe time to live while table is in {status} state: Current table state is {status}"
                )
            }
        }
    }
}

pub(super) fn invalid(text: &str) -> String {
    format!("One or more parameter values were invalid: {text}")
}

pub(super) fn in_use(text: &str) -> String {
    format!("Attempt to change a resource which is still in use: {text}")
}

/// `table`, or the index by name.
fn on_demand_of(index: &Option<String>) -> String {
    index
        .as_ref()
        .map_or("table".into(), |index| format!("index : {index}"))
}

/// `table`, or the index by name (unlike OnDemandThroughput, without a colon).
fn warm_of(index: &Option<String>) -> String {
    index
        .as_ref()
        .map_or("table".into(), |index| format!("index {index}"))
}

const LIMITS_GUIDE: &str = "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request \
    higher limits.";
