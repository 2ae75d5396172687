//! A description as CreateTable, UpdateTable, DescribeTable and DeleteTable answer it.          behaviour/tables §descriptions

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::{item::ScalarType, time::Timestamp};

use super::{
    Billing, Index, IndexScope, KeyRole, ON_DEMAND_INITIAL, OnDemandLimits, Projected, Statistics, Table,
    TableStatus, Throughput, ThroughputHistory,
};

/// Which operation answers with the description. A table is there at once, and gone at once; the answers of
/// CreateTable and DeleteTable say CREATING and DELETING all the same, as clients expect.
#[derive(Clone, Copy, Debug)]
enum Answered<'a> {
    /// Of the table and its global indexes by number, those that WarmThroughput was asked for.
    Created(&'a Running),
    Described(&'a Statistics),
    Updated(&'a Statistics, &'a Running),
    Deleted(&'a Statistics),
}

/// What a request set off and its answer does not show done yet, besides the statuses in the description.
#[derive(Clone, Debug, Default)]
pub struct Running {
    /// The number of the index that UpdateTable creates: nothing of it is filled yet.
    pub created: Option<i32>,
    pub encryption: bool,
    /// WarmThroughput of the table.
    pub warm: bool,
    /// And of indexes, by number.
    pub warm_indexes: Vec<i32>,
}

impl<'a> Answered<'a> {
    fn statistics(self) -> Option<&'a Statistics> {
        match self {
            Self::Created(_) => None,
            Self::Described(statistics) | Self::Updated(statistics, _) | Self::Deleted(statistics) => {
                Some(statistics)
            }
        }
    }
}

/// `TableDescription`, ready to be serialised.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Description<'a> {
    attribute_definitions: Vec<AttributeDefinition<'a>>,
    table_name: &'a str,
    key_schema: Vec<KeySchemaElement<'a>>,
    #[serde(serialize_with = "status")]
    table_status: TableStatus,
    #[serde(serialize_with = "seconds")]
    creation_date_time: u64,
    provisioned_throughput: ProvisionedThroughput,
    table_size_bytes: u64,
    item_count: u64,
    table_arn: String,
    table_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    billing_mode_summary: Option<BillingModeSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    table_throughput_mode_summary: Option<ThroughputModeSummary>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    local_secondary_indexes: Vec<IndexDescription<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    global_secondary_indexes: Vec<IndexDescription<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "SSEDescription")]
    encryption: Option<EncryptionDescription<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    table_class_summary: Option<TableClassSummary>,
    deletion_protection_enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_demand_throughput: Option<OnDemandThroughput>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warm_throughput: Option<WarmThroughput>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct AttributeDefinition<'a> {
    attribute_name: &'a str,
    #[serde(serialize_with = "attribute_type")]
    attribute_type: ScalarType,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct KeySchemaElement<'a> {
    attribute_name: &'a str,
    key_type: KeyRole,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct ProvisionedThroughput {
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "optional_seconds")]
    last_increase_date_time: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "optional_seconds")]
    last_decrease_date_time: Option<u64>,
    number_of_decreases_today: u64,
    read_capacity_units: u64,
    write_capacity_units: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct BillingModeSummary {
    billing_mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "optional_seconds")]
    last_update_to_pay_per_request_date_time: Option<u64>,
}

/// The undocumented twin of `BillingModeSummary`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct ThroughputModeSummary {
    table_throughput_mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "optional_seconds")]
    last_update_to_pay_per_request_date_time: Option<u64>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct EncryptionDescription<'a> {
    status: &'static str,
    #[serde(rename = "SSEType")]
    kind: &'static str,
    #[serde(rename = "KMSMasterKeyArn")]
    key: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct OnDemandThroughput {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_read_request_units: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_write_request_units: Option<i64>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct TableClassSummary {
    table_class: &'static str,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "optional_seconds")]
    last_update_date_time: Option<u64>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct WarmThroughput {
    read_units_per_second: u64,
    write_units_per_second: u64,
    status: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct IndexDescription<'a> {
    index_name: &'a str,
    key_schema: Vec<KeySchemaElement<'a>>,
    projection: Projection<'a>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "optional_status")]
    index_status: Option<TableStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    backfilling: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provisioned_throughput: Option<ProvisionedThroughput>,
    index_size_bytes: u64,
    item_count: u64,
    index_arn: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_demand_throughput: Option<OnDemandThroughput>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warm_throughput: Option<WarmThroughput>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Projection<'a> {
    projection_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    non_key_attributes: Option<&'a [String]>,
}

impl Table {
    /// As CreateTable answers it. `running`: the WarmThroughput that was asked for.
    pub fn created(&self, region: &str, running: &Running) -> Description<'_> {
        self.description(region, Timestamp(self.created_ms), Answered::Created(running))
    }

    /// As DescribeTable answers it.
    pub fn described(&self, region: &str, now: Timestamp, statistics: &Statistics) -> Description<'_> {
        self.description(region, now, Answered::Described(statistics))
    }

    /// As UpdateTable answers it: `self` shows the table before the change and the statuses of the change.
    pub fn updated(
        &self,
        region: &str,
        now: Timestamp,
        statistics: &Statistics,
        running: &Running,
    ) -> Description<'_> {
        self.description(region, now, Answered::Updated(statistics, running))
    }

    /// As DeleteTable answers it.
    pub fn deleted(&self, region: &str, now: Timestamp, statistics: &Statistics) -> Description<'_> {
        self.description(region, now, Answered::Deleted(statistics))
    }

    fn description(&self, region: &str, now: Timestamp, answered: Answered) -> Description<'_> {
        let table_arn = self.arn(region);
        let indexes = |scope| {
            let described = |index| index_description(self, index, &table_arn, now, answered);
            self.indexes
                .iter()
                .filter(|index| index.scope == scope)
                .map(described)
                .collect()
        };
        let (billing_mode, since_ms) = match (self.billing, answered) {
            (Billing::Provisioned(_), _) => ("PROVISIONED", self.settings.paid_per_request_ms.map(Some)),
            (Billing::PayPerRequest { .. }, Answered::Created(_)) => ("PAY_PER_REQUEST", Some(None)),
            (Billing::PayPerRequest { since_ms }, _) => ("PAY_PER_REQUEST", Some(Some(since_ms))),
        };
        let (bytes, items) = answered
            .statistics()
            .map_or((0, 0), |statistics| (statistics.bytes, statistics.items));
        let switched_ms = self.settings.class_switched_ms;
        Description {
            attribute_definitions: definitions(self),
            table_name: &self.name,
            key_schema: key_schema(self, None),
            table_status: match answered {
                Answered::Created(_) => TableStatus::Creating,
                Answered::Described(_) | Answered::Updated(..) => self.status,
                Answered::Deleted(_) => TableStatus::Deleting,
            },
            creation_date_time: self.created_ms,
            provisioned_throughput: provisioned(self.throughput(), self.settings.history, now),
            table_size_bytes: bytes,
            item_count: items,
            table_id: &self.uuid,
            billing_mode_summary: since_ms.map(|since_ms| BillingModeSummary {
                billing_mode,
                last_update_to_pay_per_request_date_time: since_ms,
            }),
            table_throughput_mode_summary: since_ms.map(|since_ms| ThroughputModeSummary {
                table_throughput_mode: billing_mode,
                last_update_to_pay_per_request_date_time: since_ms,
            }),
            local_secondary_indexes: indexes(IndexScope::Local),
            global_secondary_indexes: match answered {
                Answered::Deleted(_) => Vec::new(),
                _ => indexes(IndexScope::Global),
            },
            encryption: self
                .settings
                .encryption_key
                .as_deref()
                .map(|key| EncryptionDescription {
                    status: match answered {
                        Answered::Updated(_, running) if running.encryption => "UPDATING",
                        _ => "ENABLED",
                    },
                    kind: "KMS",
                    key,
                }),
            table_class_summary: (self.infrequent_access || switched_ms.is_some()).then_some(
                TableClassSummary {
                    table_class: match self.infrequent_access {
                        true => "STANDARD_INFREQUENT_ACCESS",
                        false => "STANDARD",
                    },
                    last_update_date_time: switched_ms,
                },
            ),
            deletion_protection_enabled: self.deletion_protection,
            on_demand_throughput: on_demand(self.settings.on_demand),
            warm_throughput: warm(self.throughput(), self.settings.history, answered, |running| {
                running.warm
            }),
            table_arn,
        }
    }
}

fn index_description<'a>(
    table: &'a Table,
    index: &'a Index,
    table_arn: &str,
    now: Timestamp,
    answered: Answered,
) -> IndexDescription<'a> {
    let global = index.scope == IndexScope::Global;
    let throughput = table.throughput().and(index.throughput);
    let figures = answered.statistics().and_then(|statistics| {
        let mut figures = statistics.indexes.iter();
        figures.find(|(number, ..)| *number == index.number)
    });
    // Indexes that CreateTable makes are there at once, so whatever is being created is being filled.
    let backfilling = match answered {
        Answered::Created(_) => None,
        _ if index.status != TableStatus::Creating => None,
        Answered::Updated(_, running) => Some(running.created != Some(index.number)),
        _ => Some(true),
    };
    let (item_count, index_size_bytes) = figures.map_or((0, 0), |&(_, items, bytes)| (items, bytes));
    IndexDescription {
        index_name: &index.name,
        key_schema: key_schema(table, Some(index)),
        projection: projection(&index.projection),
        index_status: global.then_some(match answered {
            Answered::Created(_) => TableStatus::Creating,
            _ => index.status,
        }),
        backfilling,
        provisioned_throughput: global.then(|| provisioned(throughput, index.history, now)),
        index_size_bytes,
        item_count,
        index_arn: format!("{table_arn}/index/{}", index.name),
        on_demand_throughput: on_demand(index.on_demand),
        warm_throughput: global
            .then(|| {
                warm(throughput, index.history, answered, |running| {
                    running.warm_indexes.contains(&index.number)
                })
            })
            .flatten(),
    }
}

/// The attributes that are keys of the table or of an index, each once, sorted by name.
fn definitions(table: &Table) -> Vec<AttributeDefinition<'_>> {
    let keys = table
        .key_attributes()
        .chain(table.indexes.iter().flat_map(Index::key_attributes));
    let by_name: BTreeMap<&str, ScalarType> = keys.map(|key| (key.name.as_str(), key.kind)).collect();
    let definition = |(attribute_name, attribute_type)| AttributeDefinition {
        attribute_name,
        attribute_type,
    };
    by_name.into_iter().map(definition).collect()
}

fn key_schema<'a>(table: &'a Table, index: Option<&'a Index>) -> Vec<KeySchemaElement<'a>> {
    let element = |(attribute, key_type): (&'a super::KeyAttribute, KeyRole)| KeySchemaElement {
        attribute_name: &attribute.name,
        key_type,
    };
    table.key_schema(index).map(element).collect()
}

fn projection(projected: &Projected) -> Projection<'_> {
    let (projection_type, non_key_attributes) = match projected {
        Projected::All => ("ALL", None),
        Projected::KeysOnly => ("KEYS_ONLY", None),
        Projected::Include(names) => ("INCLUDE", Some(names.as_slice())),
    };
    Projection {
        projection_type,
        non_key_attributes,
    }
}

/// Zeros where the table pays per request.
fn provisioned(
    throughput: Option<Throughput>,
    history: ThroughputHistory,
    now: Timestamp,
) -> ProvisionedThroughput {
    let units = throughput.unwrap_or_default();
    ProvisionedThroughput {
        last_increase_date_time: history.increased_ms,
        last_decrease_date_time: history.decreased_ms,
        number_of_decreases_today: history.decreases_today(now.0),
        read_capacity_units: units.read_units,
        write_capacity_units: units.write_units,
    }
}

fn on_demand(limits: OnDemandLimits) -> Option<OnDemandThroughput> {
    limits.is_set().then_some(OnDemandThroughput {
        max_read_request_units: limits.read_units,
        max_write_request_units: limits.write_units,
    })
}

/// The most that there has been, provisioned, on demand or asked for. CreateTable answers it where it was asked for.
fn warm(
    throughput: Option<Throughput>,
    history: ThroughputHistory,
    answered: Answered,
    is_asked: impl Fn(&Running) -> bool,
) -> Option<WarmThroughput> {
    let status = match answered {
        Answered::Created(running) if !is_asked(running) => return None,
        Answered::Created(running) | Answered::Updated(_, running) if is_asked(running) => "UPDATING",
        _ => "ACTIVE",
    };
    let units = warm_units(throughput, history);
    Some(WarmThroughput {
        read_units_per_second: units.read_units,
        write_units_per_second: units.write_units,
        status,
    })
}

/// What WarmThroughput stands at; `throughput` is `None` on demand.
pub fn warm_units(throughput: Option<Throughput>, history: ThroughputHistory) -> Throughput {
    throughput.unwrap_or(ON_DEMAND_INITIAL).at_least(history.warm)
}

fn status<S: Serializer>(status: &TableStatus, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(status.name())
}

fn optional_status<S: Serializer>(of: &Option<TableStatus>, serializer: S) -> Result<S::Ok, S::Error> {
    match of {
        Some(of) => status(of, serializer),
        None => serializer.serialize_none(),
    }
}

/// Seconds since the epoch with a fraction of milliseconds: `1791500965.303`.
fn seconds<S: Serializer>(milliseconds: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(*milliseconds as f64 / 1000.0)
}

fn optional_seconds<S: Serializer>(milliseconds: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    match milliseconds {
        Some(milliseconds) => seconds(milliseconds, serializer),
        None => serializer.serialize_none(),
    }
}

fn attribute_type<S: Serializer>(kind: &ScalarType, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match kind {
        ScalarType::S => "S",
        ScalarType::N => "N",
        ScalarType::B => "B",
    })
}
