//! What definitions of tables and indexes say, read in the service's order of faults.
//!                                                                     behaviour/tables §member-constraints

use crate::{
    item::ScalarType,
    operation::table::members::{ATTRIBUTE_NAME, Structure},
    table::{KeyRole, OnDemandLimits, Throughput, Units},
    wire::Constraint,
};

use super::shapes::{ATTRIBUTE_TYPES, KEY_TYPES, PROJECTION_TYPES, SSE_TYPES, STREAM_VIEW_TYPES};

#[derive(Clone, Debug)]
pub struct KeyElement {
    pub name: String,
    pub role: KeyRole,
}

#[derive(Clone, Debug)]
pub struct IndexRequest {
    pub name: String,
    pub keys: Vec<KeyElement>,
    pub projection: RequestedProjection,
    pub throughput: Option<Throughput>,
    pub on_demand: Figures,
    pub warm: Figures,
}

#[derive(Clone, Debug, Default)]
pub struct RequestedProjection {
    pub kind: Option<ProjectionType>,
    pub non_key_attributes: Option<Vec<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ProjectionType {
    All,
    KeysOnly,
    Include,
}

#[derive(Clone, Debug, Default)]
pub struct StreamRequest {
    pub enabled: Option<bool>,
    pub has_view_type: bool,
}

#[derive(Clone, Debug, Default)]
pub struct EncryptionRequest {
    pub enabled: Option<bool>,
    pub kind: Option<EncryptionType>,
    pub key: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EncryptionType {
    Aes256,
    Kms,
}

/// A read and a write figure, each of which may be absent: OnDemandThroughput, WarmThroughput.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    pub read: Option<i64>,
    pub write: Option<i64>,
}

impl EncryptionRequest {
    /// `{}` and `{"Enabled":false}` ask for nothing.
    pub fn requested(&self) -> bool {
        self.enabled == Some(true) || self.kind.is_some() || self.key.is_some()
    }
}

impl Figures {
    pub fn named(self) -> bool {
        self.read.is_some() || self.write.is_some()
    }

    /// As limits of an on-demand table or index.
    pub fn limits(self) -> OnDemandLimits {
        OnDemandLimits {
            read_units: self.read,
            write_units: self.write,
        }
    }

    /// As units, none where a figure is absent.
    pub fn units(self) -> Throughput {
        let units = |figure: Option<i64>| figure.and_then(|figure| figure.try_into().ok()).unwrap_or(0);
        Throughput {
            read_units: units(self.read),
            write_units: units(self.write),
        }
    }

    /// Those that are present, read first.
    pub fn each(self) -> impl Iterator<Item = (Units, i64)> {
        let read = self.read.map(|value| (Units::Read, value));
        read.into_iter()
            .chain(self.write.map(|value| (Units::Write, value)))
    }
}

pub fn read_definition(mut definition: Structure) -> (String, ScalarType) {
    let name = definition.required_string("AttributeName", ATTRIBUTE_NAME);
    let kind = definition.required_string("AttributeType", &[ATTRIBUTE_TYPES]);
    (name, scalar_type(&kind))
}

/// Its over-length fault stands at `keySchema`, whatever list it is in.
pub fn read_key_schema(of: &mut Structure, at_most: u64) -> Vec<KeyElement> {
    of.check_key_schema_length(at_most);
    of.required_structures("KeySchema", |mut element| {
        let name = element.required_string("AttributeName", ATTRIBUTE_NAME);
        let role = match element.required_string("KeyType", &[KEY_TYPES]).as_str() {
            "HASH" => KeyRole::Hash,
            _ => KeyRole::Range,
        };
        KeyElement { name, role }
    })
}

pub fn read_projection(mut projection: Structure) -> RequestedProjection {
    const LENGTH: &[Constraint] = &[Constraint::LengthAtLeast(1), Constraint::LengthAtMost(20)];
    RequestedProjection {
        kind: projection
            .string("ProjectionType", &[PROJECTION_TYPES])
            .map(|kind| match kind.as_str() {
                "ALL" => ProjectionType::All,
                "KEYS_ONLY" => ProjectionType::KeysOnly,
                _ => ProjectionType::Include,
            }),
        non_key_attributes: projection.strings("NonKeyAttributes", LENGTH, ATTRIBUTE_NAME),
    }
}

/// Write is reported before read.
pub fn read_throughput(mut throughput: Structure) -> Throughput {
    const UNITS: &[Constraint] = &[Constraint::ValueAtLeast(1)];
    let write_units = throughput.required_integer("WriteCapacityUnits", UNITS);
    let read_units = throughput.required_integer("ReadCapacityUnits", UNITS);
    Throughput {
        read_units: read_units.max(0).unsigned_abs(),
        write_units: write_units.max(0).unsigned_abs(),
    }
}

/// No range of its own: what is out of range is refused by the rules.
pub fn read_on_demand(limits: Structure) -> Figures {
    Figures {
        read: limits.integer("MaxReadRequestUnits"),
        write: limits.integer("MaxWriteRequestUnits"),
    }
}

/// Likewise.
pub fn read_warm(units: Structure) -> Figures {
    Figures {
        read: units.integer("ReadUnitsPerSecond"),
        write: units.integer("WriteUnitsPerSecond"),
    }
}

pub fn read_stream(mut stream: Structure) -> StreamRequest {
    StreamRequest {
        enabled: stream.required_boolean("StreamEnabled"),
        has_view_type: stream.string("StreamViewType", &[STREAM_VIEW_TYPES]).is_some(),
    }
}

pub fn read_encryption(mut encryption: Structure) -> EncryptionRequest {
    EncryptionRequest {
        enabled: encryption.boolean("Enabled"),
        kind: encryption
            .string("SSEType", &[SSE_TYPES])
            .map(|kind| match kind.as_str() {
                "KMS" => EncryptionType::Kms,
                _ => EncryptionType::Aes256,
            }),
        key: encryption.string("KMSMasterKeyId", &[]),
    }
}

fn scalar_type(letter: &str) -> ScalarType {
    match letter {
        "N" => ScalarType::N,
        "B" => ScalarType::B,
        _ => ScalarType::S,
    }
}
