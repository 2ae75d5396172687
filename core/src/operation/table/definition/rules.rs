//! The rules about definitions that need no table.                        behaviour/tables §keys, §indexes

use std::collections::BTreeSet;

use crate::{
    item::ScalarType,
    table::{
        Index, IndexScope, KeyAttribute, KeyRole, MAXIMUM_UNITS, ON_DEMAND_INITIAL, Projected, TableFault,
        TableStatus, Throughput, ThroughputHistory, Units,
    },
};

use super::read::{
    EncryptionRequest, EncryptionType, Figures, IndexRequest, KeyElement, ProjectionType, RequestedProjection,
};

/// Above it, capacity units are out of bounds whatever the account's quotas.
const UNITS_BOUND: u64 = 1_000_000_000_000;
pub const MAXIMUM_GLOBAL_INDEXES: usize = 20;
/// HASH, and RANGE, attributes of a global index.
const MAXIMUM_KEY_ATTRIBUTES: usize = 4;
pub const MAXIMUM_NON_KEY_ATTRIBUTES: usize = 100;

/// AttributeDefinitions, in the order of the request.
#[derive(Clone, Debug, Default)]
pub struct Definitions(pub Vec<(String, ScalarType)>);

impl Definitions {
    /// The defined type of an attribute.
    pub fn kind(&self, attribute: &str) -> Option<ScalarType> {
        self.0
            .iter()
            .find(|(name, _)| name == attribute)
            .map(|(_, kind)| *kind)
    }

    pub fn check_keys_are_defined(&self, keys: &[KeyElement]) -> Result<(), TableFault> {
        if keys.len() > self.0.len() {
            return Err(TableFault::TooFewDefinitions);
        }
        if keys.iter().any(|key| self.kind(&key.name).is_none()) {
            return Err(TableFault::NotDefined {
                keys: names(keys),
                definitions: self.names(),
            });
        }
        Ok(())
    }

    /// The HASH and the RANGE attributes of a key whose attributes are all defined, with their types.
    pub fn key(&self, keys: &[KeyElement]) -> Result<(Vec<KeyAttribute>, Vec<KeyAttribute>), TableFault> {
        let (mut hash, mut range) = (Vec::new(), Vec::new());
        for key in keys {
            let kind = self.kind(&key.name).ok_or(TableFault::TooFewDefinitions)?;
            let attribute = KeyAttribute {
                name: key.name.clone(),
                kind,
            };
            match key.role {
                KeyRole::Hash => hash.push(attribute),
                KeyRole::Range => range.push(attribute),
            }
        }
        Ok((hash, range))
    }

    pub fn names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| name.clone()).collect()
    }
}

impl IndexRequest {
    /// The description of an index whose rules were checked.
    pub fn index(
        &self,
        number: i32,
        scope: IndexScope,
        definitions: &Definitions,
    ) -> Result<Index, TableFault> {
        let (hash, range) = definitions.key(&self.keys)?;
        Ok(Index {
            number,
            name: self.name.clone(),
            scope,
            hash,
            range,
            projection: match self.projection.kind {
                None => return Err(TableFault::NoProjectionType),
                Some(ProjectionType::All) => Projected::All,
                Some(ProjectionType::KeysOnly) => Projected::KeysOnly,
                Some(ProjectionType::Include) => {
                    let mut attributes = self.projection.non_key_attributes.clone().unwrap_or_default();
                    attributes.sort();
                    Projected::Include(attributes)
                }
            },
            status: TableStatus::Active,
            throughput: self.throughput,
            history: ThroughputHistory {
                warm: self.warm.units(),
                ..ThroughputHistory::default()
            },
            on_demand: self.on_demand.limits().kept(),
        })
    }
}

impl EncryptionRequest {
    pub fn check(&self) -> Result<(), TableFault> {
        if self.enabled == Some(false) && self.kind.is_some() {
            return Err(TableFault::EncryptionTypeWhileDisabled);
        }
        if self.enabled == Some(false) && self.key.is_some() {
            return Err(TableFault::EncryptionKeyWhileDisabled);
        }
        if self.key.is_some() && self.kind != Some(EncryptionType::Kms) {
            return Err(TableFault::EncryptionKeyNeedsKms);
        }
        if self.kind == Some(EncryptionType::Aes256) {
            return Err(TableFault::EncryptionAes256);
        }
        Ok(())
    }
}

/// Absent is right.
pub fn check_table_class(class: Option<&str>) -> Result<(), TableFault> {
    match class {
        None | Some("STANDARD" | "STANDARD_INFREQUENT_ACCESS") => Ok(()),
        Some(_) => Err(TableFault::TableClass),
    }
}

/// Units that are out of bounds whatever the account's quotas: read, then write.
pub fn check_units_bound(throughput: Throughput) -> Result<(), TableFault> {
    match each(throughput)
        .into_iter()
        .find(|(_, value)| *value > UNITS_BOUND)
    {
        Some((units, value)) => Err(TableFault::UnitsOutOfBounds { units, value }),
        None => Ok(()),
    }
}

/// The quotas of a table, or of the index that is named.
pub fn check_quota(throughput: Throughput, index: Option<&str>, region: &str) -> Result<(), TableFault> {
    let above = each(throughput)
        .into_iter()
        .find(|(_, value)| *value > MAXIMUM_UNITS);
    let Some((units, value)) = above else {
        return Ok(());
    };
    let region = region.to_owned();
    Err(match index {
        None => TableFault::AboveTableMaximum { units, value, region },
        Some(index) => TableFault::AboveIndexMaximum {
            index: index.to_owned(),
            units,
            value,
            region,
        },
    })
}

/// Limits that a table or the index that is named gets at its creation.
pub fn check_on_demand(
    limits: Figures,
    index: Option<&String>,
    is_provisioned: bool,
) -> Result<(), TableFault> {
    for (units, value) in limits.each() {
        let index = index.cloned();
        if is_provisioned {
            return Err(TableFault::OnDemandOnProvisioned { units, index });
        }
        if value < 1 {
            return Err(TableFault::OnDemandRange { units, index });
        }
    }
    Ok(())
}

/// No limit is above what the account's tables may have at all.
pub fn check_on_demand_quota(
    limits: Figures,
    index: Option<&String>,
    region: &str,
) -> Result<(), TableFault> {
    let above = |value| u64::try_from(value).is_ok_and(|value| value > MAXIMUM_UNITS);
    match limits.each().find(|(_, value)| above(*value)) {
        None => Ok(()),
        Some((units, _)) => Err(TableFault::OnDemandAboveMaximum {
            units,
            index: index.cloned(),
            region: region.to_owned(),
        }),
    }
}

/// WarmThroughput that a table or the index that is named gets at its creation: not below what it has anyway.
pub fn check_warm(
    figures: Figures,
    index: Option<&String>,
    provisioned: Option<Throughput>,
) -> Result<(), TableFault> {
    for (units, value) in figures.each() {
        let least = provisioned.unwrap_or(ON_DEMAND_INITIAL);
        let least = match units {
            Units::Read => least.read_units,
            Units::Write => least.write_units,
        };
        if u64::try_from(value).is_ok_and(|value| value >= least) {
            continue;
        }
        let index = index.cloned();
        return Err(match provisioned {
            Some(_) => TableFault::WarmBelowProvisioned { units, index },
            None => TableFault::WarmBelowInitial { units, index },
        });
    }
    Ok(())
}

/// The key of a table or of a local index: HASH, and perhaps RANGE.
pub fn check_simple_key(keys: &[KeyElement]) -> Result<(), TableFault> {
    if let [first, second, ..] = keys
        && first.name == second.name
    {
        return Err(TableFault::HashAndRangeSameName);
    }
    if keys.first().is_none_or(|key| key.role != KeyRole::Hash) {
        return Err(TableFault::FirstNotHash);
    }
    if keys.get(1).is_some_and(|key| key.role != KeyRole::Range) {
        return Err(TableFault::SecondNotRange);
    }
    Ok(())
}

/// The key of a global index: one to four HASH, then up to four RANGE attributes.
pub fn check_global_key(keys: &[KeyElement]) -> Result<(), TableFault> {
    if keys.first().is_none_or(|key| key.role != KeyRole::Hash) {
        return Err(TableFault::FirstNotHash);
    }
    let hash = keys.iter().take_while(|key| key.role == KeyRole::Hash).count();
    let range = keys.len() - hash;
    if keys.iter().skip(hash).any(|key| key.role == KeyRole::Hash) {
        return Err(TableFault::HashAfterRange);
    }
    if hash > MAXIMUM_KEY_ATTRIBUTES {
        return Err(TableFault::TooManyHashAttributes);
    }
    if range > MAXIMUM_KEY_ATTRIBUTES {
        return Err(TableFault::TooManyRangeAttributes);
    }
    let unique: BTreeSet<&String> = keys.iter().map(|key| &key.name).collect();
    match unique.len() == keys.len() {
        true => Ok(()),
        false if keys.len() == 2 => Err(TableFault::HashAndRangeSameName),
        false => Err(TableFault::KeyAttributeTwice),
    }
}

pub fn check_projection(projection: &RequestedProjection) -> Result<(), TableFault> {
    match (projection.kind, &projection.non_key_attributes) {
        (None, _) => Err(TableFault::NoProjectionType),
        (Some(ProjectionType::All), Some(_)) => Err(TableFault::NonKeyAttributesWith {
            projection_type: "ALL",
        }),
        (Some(ProjectionType::KeysOnly), Some(_)) => Err(TableFault::NonKeyAttributesWith {
            projection_type: "KEYS_ONLY",
        }),
        (Some(ProjectionType::Include), None) => Err(TableFault::NonKeyAttributesMissing),
        (Some(_), None) => Ok(()),
        (Some(ProjectionType::Include), Some(attributes)) => {
            let mut seen = BTreeSet::new();
            match attributes.iter().find(|attribute| !seen.insert(*attribute)) {
                Some(twice) => Err(TableFault::NonKeyAttributeTwice(twice.clone())),
                None => Ok(()),
            }
        }
    }
}

pub fn names(keys: &[KeyElement]) -> Vec<String> {
    keys.iter().map(|key| key.name.clone()).collect()
}

/// Read, then write.
pub fn each(throughput: Throughput) -> [(Units, u64); 2] {
    [
        (Units::Read, throughput.read_units),
        (Units::Write, throughput.write_units),
    ]
}
