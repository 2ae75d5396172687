//! Tables: what a description holds and what follows from it.                                behaviour/tables

mod change_fault;
mod describe;
mod fault;
mod hash_order;
mod key_fault;
mod resource_fault;

pub use change_fault::{Alone, ChangeFault};
pub use describe::{Description, Running, warm_units};
pub use fault::{IndexList, MAXIMUM_UNITS, TableFault, Units};
pub use key_fault::KeyFault;
pub use resource_fault::ResourceFault;

use serde::{Deserialize, Serialize};

use crate::item::ScalarType;

/// Names a table for ever; a new table never gets an old one's. 0 and 1 are the system tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TableId(pub i32);

impl TableId {
    /// The idempotency tokens of transactions, in the layout of items.
    pub const TOKENS: TableId = TableId(0);
    /// The claims of the idempotency store.
    pub const CLAIMS: TableId = TableId(1);
}

/// Counts the changes of a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version(pub i64);

/// Twelve digits. `000000000000` is the first account.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AccountId(pub String);

impl Default for AccountId {
    fn default() -> Self {
        AccountId("000000000000".into())
    }
}

/// A table's name within its account.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableName {
    pub account: AccountId,
    pub name: String,
}

/// A table's description: all that planning and deciding need, and what DescribeTable answers. Stores keep it
/// as one document (its serde form) beside its name, id and version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    pub id: TableId,
    pub version: Version,
    pub account: AccountId,
    pub name: String,
    /// `TableId` of the API: a UUID, new at every CreateTable.
    pub uuid: String,
    pub created_ms: u64,
    pub status: TableStatus,
    pub hash: KeyAttribute,
    pub range: Option<KeyAttribute>,
    /// In the order of the request: LSIs, then GSIs. An index's number is never used again in its table.
    pub indexes: Vec<Index>,
    pub billing: Billing,
    pub deletion_protection: bool,
    /// `STANDARD_INFREQUENT_ACCESS`, where it was asked for.
    pub infrequent_access: bool,
    #[serde(default)]
    pub settings: Settings,
}

/// What a table got after its creation, and its tags. Documents of 0.1.0 have none of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The highest number that an index has had, where that index is gone.
    pub last_index: i32,
    /// Of the table; an index has its own.
    pub history: ThroughputHistory,
    /// Likewise.
    pub on_demand: OnDemandLimits,
    /// The ARN of the KMS key that encrypts the table; `None` for the service's own.
    pub encryption_key: Option<String>,
    /// When a table that is PROVISIONED now came to PAY_PER_REQUEST last.
    pub paid_per_request_ms: Option<u64>,
    /// When the table's class was switched last.
    pub class_switched_ms: Option<u64>,
    /// The attribute that says when an item expires, while time to live is enabled.
    pub ttl_attribute: Option<String>,
    /// Key and value, in the order in which they came.
    pub tags: Vec<(String, String)>,
}

/// What provisioned throughput was before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ThroughputHistory {
    pub increased_ms: Option<u64>,
    pub decreased_ms: Option<u64>,
    /// On the UTC day of `decreased_ms`.
    pub decreases: u64,
    /// What WarmThroughput never falls below.
    pub warm: Throughput,
}

/// `OnDemandThroughput`: what is taken a second at most. They are kept and shown, nothing is held to them. A -1 is only
/// ever answered: it takes a limit away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OnDemandLimits {
    pub read_units: Option<i64>,
    pub write_units: Option<i64>,
}

/// What an on-demand table starts with, in units a second.
pub const ON_DEMAND_INITIAL: Throughput = Throughput {
    read_units: 12_000,
    write_units: 4_000,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TableStatus {
    Creating,
    Active,
    Updating,
    Deleting,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct KeyAttribute {
    pub name: String,
    pub kind: ScalarType,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Index {
    /// Numbers the index within its table; names its storage (`t42_i3`).
    pub number: i32,
    pub name: String,
    pub scope: IndexScope,
    /// One for an LSI (the table's), 1 to 4 for a GSI.
    pub hash: Vec<KeyAttribute>,
    /// One for an LSI, 0 to 4 for a GSI.
    pub range: Vec<KeyAttribute>,
    pub projection: Projected,
    pub status: TableStatus,
    pub throughput: Option<Throughput>,
    #[serde(default)]
    pub history: ThroughputHistory,
    #[serde(default)]
    pub on_demand: OnDemandLimits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IndexScope {
    Local,
    Global,
}

/// What of an item its index entry holds, besides all keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Projected {
    All,
    KeysOnly,
    /// Sorted by name.
    Include(Vec<String>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Billing {
    Provisioned(Throughput),
    /// `since_ms`: when the table came to it; its creation, for a table created so.
    PayPerRequest {
        since_ms: u64,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Throughput {
    pub read_units: u64,
    pub write_units: u64,
}

/// Measured figures of a table; never kept in the write path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    pub items: u64,
    pub bytes: u64,
    /// (index number, entries, bytes)
    pub indexes: Vec<(i32, u64, u64)>,
}

impl Table {
    /// The built-in description of a system table: never stale, no index. `None` for any other id.
    pub fn system(id: TableId) -> Option<Table> {
        let name = match id {
            TableId::TOKENS => "tokens",
            TableId::CLAIMS => "claims",
            _ => return None,
        };
        let string = |name: &str| KeyAttribute {
            name: name.into(),
            kind: ScalarType::S,
        };
        Some(Table {
            id,
            version: Version(0),
            account: AccountId::default(),
            name: name.into(),
            uuid: format!("00000000-0000-0000-0000-{:012}", id.0),
            created_ms: 0,
            status: TableStatus::Active,
            hash: string("pk"),
            range: Some(string("sk")),
            indexes: Vec::new(),
            billing: Billing::PayPerRequest { since_ms: 0 },
            deletion_protection: false,
            infrequent_access: false,
            settings: Settings::default(),
        })
    }

    /// `TableArn`. A table created again under its name has the same.
    pub fn arn(&self, region: &str) -> String {
        format!("arn:aws:dynamodb:{region}:{}:table/{}", self.account.0, self.name)
    }

    pub fn local_indexes(&self) -> impl Iterator<Item = &Index> {
        self.indexes
            .iter()
            .filter(|index| index.scope == IndexScope::Local)
    }

    pub fn global_indexes(&self) -> impl Iterator<Item = &Index> {
        self.indexes
            .iter()
            .filter(|index| index.scope == IndexScope::Global)
    }

    /// The key attributes of an index, or of the table: first HASH, then RANGE.
    pub fn key_schema<'a>(
        &'a self,
        index: Option<&'a Index>,
    ) -> impl Iterator<Item = (&'a KeyAttribute, KeyRole)> {
        let (hash, range) = match index {
            Some(index) => (index.hash.as_slice(), index.range.as_slice()),
            None => (std::slice::from_ref(&self.hash), self.range.as_slice()),
        };
        let hash = hash.iter().map(|attribute| (attribute, KeyRole::Hash));
        hash.chain(range.iter().map(|attribute| (attribute, KeyRole::Range)))
    }

    /// Whether an entry of the index holds this attribute of the item. All keys are in it, whatever the projection.
    pub fn projects(&self, index: &Index, attribute: &str) -> bool {
        self.is_key(attribute) || index.projects(attribute)
    }

    pub fn index(&self, name: &str) -> Option<&Index> {
        self.indexes.iter().find(|index| index.name == name)
    }

    /// A number that no index of the table has had.
    pub fn next_index_number(&self) -> i32 {
        let highest = self.indexes.iter().map(|index| index.number).max();
        highest.unwrap_or(0).max(self.settings.last_index) + 1
    }

    /// The provisioned units; `None` on PAY_PER_REQUEST.
    pub fn throughput(&self) -> Option<Throughput> {
        match self.billing {
            Billing::Provisioned(throughput) => Some(throughput),
            Billing::PayPerRequest { .. } => None,
        }
    }

    /// The key attributes of the table: HASH, then RANGE.
    pub fn key_attributes(&self) -> impl Iterator<Item = &KeyAttribute> {
        std::iter::once(&self.hash).chain(&self.range)
    }

    pub fn is_key(&self, attribute: &str) -> bool {
        self.key_attributes().any(|key| key.name == attribute)
    }
}

/// `KeyType` of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum KeyRole {
    Hash,
    Range,
}

impl TableStatus {
    /// The wire name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Creating => "CREATING",
            Self::Active => "ACTIVE",
            Self::Updating => "UPDATING",
            Self::Deleting => "DELETING",
        }
    }
}

impl Throughput {
    /// The higher of each.
    pub fn at_least(self, other: Throughput) -> Throughput {
        Throughput {
            read_units: self.read_units.max(other.read_units),
            write_units: self.write_units.max(other.write_units),
        }
    }
}

impl OnDemandLimits {
    /// With what `other` says instead; what it says nothing of stays.
    pub fn merged(self, other: OnDemandLimits) -> OnDemandLimits {
        OnDemandLimits {
            read_units: other.read_units.or(self.read_units),
            write_units: other.write_units.or(self.write_units),
        }
    }

    /// Without those that are taken away.
    pub fn kept(self) -> OnDemandLimits {
        let kept = |limit: &i64| *limit >= 0;
        OnDemandLimits {
            read_units: self.read_units.filter(kept),
            write_units: self.write_units.filter(kept),
        }
    }

    pub fn is_set(self) -> bool {
        self.read_units.is_some() || self.write_units.is_some()
    }
}

impl ThroughputHistory {
    const DAY_MS: u64 = 24 * 60 * 60 * 1000;

    /// What `to` instead of `from` makes of it.
    pub fn changed(self, from: Throughput, to: Throughput, now_ms: u64) -> ThroughputHistory {
        let mut history = ThroughputHistory {
            warm: self.warm.at_least(from),
            ..self
        };
        if to.read_units > from.read_units || to.write_units > from.write_units {
            history.increased_ms = Some(now_ms);
        }
        if to.read_units < from.read_units || to.write_units < from.write_units {
            history.decreases = self.decreases_today(now_ms) + 1;
            history.decreased_ms = Some(now_ms);
        }
        history
    }

    /// `NumberOfDecreasesToday`.
    pub fn decreases_today(self, now_ms: u64) -> u64 {
        let is_today = |decreased_ms| decreased_ms / Self::DAY_MS == now_ms / Self::DAY_MS;
        if self.decreased_ms.is_some_and(is_today) {
            self.decreases
        } else {
            0
        }
    }
}

impl Index {
    /// Whether the projection or the index's own key has this attribute. The table's key is in every entry too:
    /// [`Table::projects`].
    pub fn projects(&self, attribute: &str) -> bool {
        let projected = match &self.projection {
            Projected::All => true,
            Projected::KeysOnly => false,
            Projected::Include(names) => names.iter().any(|name| name == attribute),
        };
        projected || self.key_attributes().any(|key| key.name == attribute)
    }

    pub fn key_attributes(&self) -> impl Iterator<Item = &KeyAttribute> {
        self.hash.iter().chain(&self.range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(name: &str, kind: ScalarType) -> KeyAttribute {
        KeyAttribute {
            name: name.into(),
            kind,
        }
    }

    fn table() -> Table {
        Table {
            id: TableId(42),
            version: Version(3),
            account: AccountId::default(),
            name: "Music".into(),
            uuid: "a225901b-431e-4a8a-a584-e9b8d88d010f".into(),
            created_ms: 1_791_500_965_303,
            status: TableStatus::Active,
            hash: attribute("pk", ScalarType::S),
            range: Some(attribute("sk", ScalarType::B)),
            indexes: vec![
                Index {
                    number: 1,
                    name: "lsi".into(),
                    scope: IndexScope::Local,
                    hash: vec![attribute("pk", ScalarType::S)],
                    range: vec![attribute("lk", ScalarType::N)],
                    projection: Projected::KeysOnly,
                    status: TableStatus::Active,
                    throughput: None,
                    history: ThroughputHistory::default(),
                    on_demand: OnDemandLimits::default(),
                },
                Index {
                    number: 2,
                    name: "gsi".into(),
                    scope: IndexScope::Global,
                    hash: vec![attribute("g", ScalarType::S), attribute("h", ScalarType::N)],
                    range: vec![],
                    projection: Projected::Include(vec!["a".into(), "b".into()]),
                    status: TableStatus::Creating,
                    throughput: Some(Throughput {
                        read_units: 5,
                        write_units: 6,
                    }),
                    history: ThroughputHistory::default(),
                    on_demand: OnDemandLimits::default(),
                },
            ],
            billing: Billing::Provisioned(Throughput {
                read_units: 1,
                write_units: 2,
            }),
            deletion_protection: true,
            infrequent_access: true,
            settings: Settings::default(),
        }
    }

    #[test]
    fn a_stored_description_reads_back() {
        let mut table = table();
        let document = serde_json::to_string(&table).unwrap();
        assert_eq!(serde_json::from_str::<Table>(&document).unwrap(), table);
        table.billing = Billing::PayPerRequest { since_ms: 7 };
        table.settings = Settings {
            last_index: 3,
            history: ThroughputHistory {
                increased_ms: Some(8),
                decreased_ms: Some(9),
                decreases: 1,
                warm: ON_DEMAND_INITIAL,
            },
            on_demand: OnDemandLimits {
                read_units: Some(5),
                write_units: None,
            },
            encryption_key: Some("arn:aws:kms:us-east-1:000000000000:key/k".into()),
            paid_per_request_ms: Some(10),
            class_switched_ms: Some(11),
            ttl_attribute: Some("until".into()),
            tags: vec![("a".into(), "b".into())],
        };
        table.indexes[1].history = table.settings.history;
        table.indexes[1].on_demand = table.settings.on_demand;
        let document = serde_json::to_string(&table).unwrap();
        assert_eq!(serde_json::from_str::<Table>(&document).unwrap(), table);
    }

    /// A document as an earlier server has stored it must stay readable.
    #[test]
    fn the_stored_form_stays() {
        let document = r#"{"id":42,"version":3,"account":"000000000000","name":"Music",
            "uuid":"a225901b-431e-4a8a-a584-e9b8d88d010f","created_ms":1791500965303,"status":"Active",
            "hash":{"name":"pk","kind":"S"},"range":{"name":"sk","kind":"B"},
            "indexes":[
                {"number":1,"name":"lsi","scope":"Local","hash":[{"name":"pk","kind":"S"}],
                 "range":[{"name":"lk","kind":"N"}],"projection":"KeysOnly","status":"Active","throughput":null},
                {"number":2,"name":"gsi","scope":"Global","hash":[{"name":"g","kind":"S"},{"name":"h","kind":"N"}],
                 "range":[],"projection":{"Include":["a","b"]},"status":"Creating",
                 "throughput":{"read_units":5,"write_units":6}}],
            "billing":{"Provisioned":{"read_units":1,"write_units":2}},
            "deletion_protection":true,"infrequent_access":true}"#;
        assert_eq!(serde_json::from_str::<Table>(document).unwrap(), table());
    }

    #[test]
    fn an_entry_holds_all_keys_and_what_is_projected() {
        let table = table();
        let (lsi, gsi) = (&table.indexes[0], &table.indexes[1]);
        assert!(lsi.projects("lk") && !lsi.projects("a") && !lsi.projects("sk"));
        assert!(table.projects(lsi, "sk") && !table.projects(lsi, "a"));
        assert!(gsi.projects("a") && gsi.projects("h") && !gsi.projects("c"));
        let schema: Vec<_> = table
            .key_schema(Some(gsi))
            .map(|(key, role)| (key.name.as_str(), role))
            .collect();
        assert_eq!(schema, [("g", KeyRole::Hash), ("h", KeyRole::Hash)]);
        let schema: Vec<_> = table
            .key_schema(None)
            .map(|(key, role)| (key.name.as_str(), role))
            .collect();
        assert_eq!(schema, [("pk", KeyRole::Hash), ("sk", KeyRole::Range)]);
    }

    #[test]
    fn system_tables_have_built_in_descriptions() {
        for id in [TableId::TOKENS, TableId::CLAIMS] {
            let table = Table::system(id).unwrap();
            assert_eq!((table.id, table.version), (id, Version(0)));
            assert_eq!(table.hash, attribute("pk", ScalarType::S));
            assert_eq!(table.range, Some(attribute("sk", ScalarType::S)));
            assert!(table.indexes.is_empty());
        }
        assert_eq!(Table::system(TableId(2)), None);
    }
}
