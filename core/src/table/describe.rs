//! A description as CreateTable, DescribeTable and DeleteTable answer it.          behaviour/tables §descriptions

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::item::ScalarType;

use super::{Billing, Index, IndexScope, KeyRole, Projected, Statistics, Table, TableStatus, Throughput};

/// Which operation answers with the description. A table is there at once, and gone at once; the answers of
/// CreateTable and DeleteTable say CREATING and DELETING all the same, as clients expect.
#[derive(Clone, Copy, Debug)]
enum Answered<'a> {
    Created,
    Described(&'a Statistics),
    Deleted(&'a Statistics),
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
    table_class_summary: Option<TableClassSummary>,
    deletion_protection_enabled: bool,
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
struct TableClassSummary {
    table_class: &'static str,
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
    provisioned_throughput: Option<ProvisionedThroughput>,
    index_size_bytes: u64,
    item_count: u64,
    index_arn: String,
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
    /// As CreateTable answers it.
    pub fn created(&self, region: &str) -> Description<'_> {
        self.description(region, Answered::Created)
    }

    /// As DescribeTable answers it.
    pub fn described(&self, region: &str, statistics: &Statistics) -> Description<'_> {
        self.description(region, Answered::Described(statistics))
    }

    /// As DeleteTable answers it.
    pub fn deleted(&self, region: &str, statistics: &Statistics) -> Description<'_> {
        self.description(region, Answered::Deleted(statistics))
    }

    fn description(&self, region: &str, answered: Answered) -> Description<'_> {
        let table_arn = self.arn(region);
        let indexes = |scope| {
            let described = |index| index_description(self, index, &table_arn, answered);
            self.indexes
                .iter()
                .filter(|index| index.scope == scope)
                .map(described)
                .collect()
        };
        let since_ms = match (self.billing, answered) {
            (Billing::Provisioned(_), _) => None,
            (Billing::PayPerRequest { .. }, Answered::Created) => Some(None),
            (Billing::PayPerRequest { since_ms }, _) => Some(Some(since_ms)),
        };
        let (bytes, items) = match answered {
            Answered::Created => (0, 0),
            Answered::Described(statistics) | Answered::Deleted(statistics) => {
                (statistics.bytes, statistics.items)
            }
        };
        Description {
            attribute_definitions: definitions(self),
            table_name: &self.name,
            key_schema: key_schema(self, None),
            table_status: match answered {
                Answered::Created => TableStatus::Creating,
                Answered::Described(_) => self.status,
                Answered::Deleted(_) => TableStatus::Deleting,
            },
            creation_date_time: self.created_ms,
            provisioned_throughput: provisioned(table_throughput(self)),
            table_size_bytes: bytes,
            item_count: items,
            table_id: &self.uuid,
            billing_mode_summary: since_ms.map(|since_ms| BillingModeSummary {
                billing_mode: "PAY_PER_REQUEST",
                last_update_to_pay_per_request_date_time: since_ms,
            }),
            table_throughput_mode_summary: since_ms.map(|since_ms| ThroughputModeSummary {
                table_throughput_mode: "PAY_PER_REQUEST",
                last_update_to_pay_per_request_date_time: since_ms,
            }),
            local_secondary_indexes: indexes(IndexScope::Local),
            global_secondary_indexes: match answered {
                Answered::Deleted(_) => Vec::new(),
                _ => indexes(IndexScope::Global),
            },
            table_class_summary: self.infrequent_access.then_some(TableClassSummary {
                table_class: "STANDARD_INFREQUENT_ACCESS",
            }),
            deletion_protection_enabled: self.deletion_protection,
            warm_throughput: warm(table_throughput(self), answered),
            table_arn,
        }
    }
}

fn index_description<'a>(
    table: &'a Table,
    index: &'a Index,
    table_arn: &str,
    answered: Answered,
) -> IndexDescription<'a> {
    let global = index.scope == IndexScope::Global;
    let throughput = match table.billing {
        Billing::Provisioned(_) => index.throughput,
        Billing::PayPerRequest { .. } => None,
    };
    let figures = match answered {
        Answered::Created => None,
        Answered::Described(statistics) | Answered::Deleted(statistics) => statistics
            .indexes
            .iter()
            .find(|(number, ..)| *number == index.number),
    };
    let (item_count, index_size_bytes) = figures.map_or((0, 0), |&(_, items, bytes)| (items, bytes));
    IndexDescription {
        index_name: &index.name,
        key_schema: key_schema(table, Some(index)),
        projection: projection(&index.projection),
        index_status: global.then_some(match answered {
            Answered::Created => TableStatus::Creating,
            _ => index.status,
        }),
        provisioned_throughput: global.then(|| provisioned(throughput)),
        index_size_bytes,
        item_count,
        index_arn: format!("{table_arn}/index/{}", index.name),
        warm_throughput: global.then(|| warm(throughput, answered)).flatten(),
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

fn table_throughput(table: &Table) -> Option<Throughput> {
    match table.billing {
        Billing::Provisioned(throughput) => Some(throughput),
        Billing::PayPerRequest { .. } => None,
    }
}

/// Zeros where the table pays per request.
fn provisioned(throughput: Option<Throughput>) -> ProvisionedThroughput {
    ProvisionedThroughput {
        number_of_decreases_today: 0,
        read_capacity_units: throughput.map_or(0, |throughput| throughput.read_units),
        write_capacity_units: throughput.map_or(0, |throughput| throughput.write_units),
    }
}

/// The provisioned units, or what an on-demand table starts with. CreateTable does not answer it.
fn warm(throughput: Option<Throughput>, answered: Answered) -> Option<WarmThroughput> {
    const ON_DEMAND: Throughput = Throughput {
        read_units: 12_000,
        write_units: 4_000,
    };
    match answered {
        Answered::Created => None,
        _ => {
            let Throughput {
                read_units,
                write_units,
            } = throughput.unwrap_or(ON_DEMAND);
            Some(WarmThroughput {
                read_units_per_second: read_units,
                write_units_per_second: write_units,
                status: "ACTIVE",
            })
        }
    }
}

fn status<S: Serializer>(status: &TableStatus, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match status {
        TableStatus::Creating => "CREATING",
        TableStatus::Active => "ACTIVE",
        TableStatus::Updating => "UPDATING",
        TableStatus::Deleting => "DELETING",
    })
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
