//! The settings beside keys and indexes, and what can be wrong with them.   behaviour/tables §settings

use std::collections::BTreeSet;

use crate::table::{TableFault, Throughput, Units};

use super::request::{BillingMode, CreateTable};

/// What an on-demand table starts with.
const INITIAL: Throughput = Throughput {
    read_units: 12_000,
    write_units: 4_000,
};
const MAXIMUM_TAGS: usize = 50;

#[derive(Debug, Default)]
pub(super) struct StreamRequest {
    pub(super) enabled: Option<bool>,
    pub(super) has_view_type: bool,
}

#[derive(Debug, Default)]
pub(super) struct EncryptionRequest {
    pub(super) enabled: Option<bool>,
    pub(super) kind: Option<EncryptionType>,
    pub(super) has_key: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum EncryptionType {
    Aes256,
    Kms,
}

/// A read and a write figure, each of which may be absent: OnDemandThroughput, WarmThroughput.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Figures {
    pub(super) read: Option<i64>,
    pub(super) write: Option<i64>,
}

#[derive(Debug)]
pub(super) struct Tag {
    pub(super) key: Option<String>,
    pub(super) value: Option<String>,
}

impl EncryptionRequest {
    /// `{}` and `{"Enabled":false}` ask for nothing.
    pub(super) fn requested(&self) -> bool {
        self.enabled == Some(true) || self.kind.is_some() || self.has_key
    }

    fn check(&self) -> Result<(), TableFault> {
        if self.enabled == Some(false) && self.kind.is_some() {
            return Err(TableFault::EncryptionTypeWhileDisabled);
        }
        if self.enabled == Some(false) && self.has_key {
            return Err(TableFault::EncryptionKeyWhileDisabled);
        }
        if self.has_key && self.kind != Some(EncryptionType::Kms) {
            return Err(TableFault::EncryptionKeyNeedsKms);
        }
        if self.kind == Some(EncryptionType::Aes256) {
            return Err(TableFault::EncryptionAes256);
        }
        Ok(())
    }
}

impl Figures {
    pub(super) fn named(self) -> bool {
        self.read.is_some() || self.write.is_some()
    }

    /// Those that are present, read first.
    fn each(self) -> impl Iterator<Item = (Units, i64)> {
        let read = self.read.map(|value| (Units::Read, value));
        read.into_iter()
            .chain(self.write.map(|value| (Units::Write, value)))
    }
}

impl CreateTable {
    pub(super) fn check_settings(&self) -> Result<(), TableFault> {
        self.check_stream()?;
        if !matches!(
            self.table_class.as_deref(),
            None | Some("STANDARD" | "STANDARD_INFREQUENT_ACCESS")
        ) {
            return Err(TableFault::TableClass);
        }
        self.encryption.check()?;
        self.check_on_demand_throughput()?;
        self.check_warm_throughput()?;
        check_tags(&self.tags)
    }

    fn check_stream(&self) -> Result<(), TableFault> {
        match (self.stream.enabled, self.stream.has_view_type) {
            (Some(true), false) => Err(TableFault::StreamViewTypeMissing),
            (Some(false), true) => Err(TableFault::StreamViewTypeUnexpected),
            _ => Ok(()),
        }
    }

    fn check_on_demand_throughput(&self) -> Result<(), TableFault> {
        for (index, limits) in self.on_demand_limits() {
            for (units, value) in limits.each() {
                let index = index.cloned();
                if self.billing_mode == BillingMode::Provisioned {
                    return Err(TableFault::OnDemandOnProvisioned { units, index });
                }
                if value < 1 {
                    return Err(TableFault::OnDemandRange { units, index });
                }
            }
        }
        Ok(())
    }

    fn check_warm_throughput(&self) -> Result<(), TableFault> {
        for (index, provisioned, figures) in self.warm_units() {
            for (units, value) in figures.each() {
                let least = provisioned.unwrap_or(INITIAL);
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
        }
        Ok(())
    }

    /// Of the table, then of its global indexes by name.
    pub(super) fn on_demand_limits(&self) -> impl Iterator<Item = (Option<&String>, Figures)> {
        let of_indexes = self
            .globals()
            .iter()
            .map(|index| (Some(&index.name), index.on_demand));
        std::iter::once((None, self.on_demand)).chain(of_indexes)
    }

    /// Likewise, with the provisioned units of each.
    pub(super) fn warm_units(&self) -> impl Iterator<Item = (Option<&String>, Option<Throughput>, Figures)> {
        let of_indexes = self
            .globals()
            .iter()
            .map(|index| (Some(&index.name), index.throughput, index.warm));
        std::iter::once((None, self.throughput, self.warm)).chain(of_indexes)
    }
}

fn check_tags(tags: &[Tag]) -> Result<(), TableFault> {
    let printed = |text: &Option<String>| text.clone().unwrap_or_else(|| "null".into());
    let mut keys = BTreeSet::new();
    for tag in tags {
        let key = match &tag.key {
            Some(key) if (1..=128).contains(&key.chars().count()) && key.chars().all(is_tag_character) => key,
            other => return Err(TableFault::TagKey(printed(other))),
        };
        match &tag.value {
            Some(value) if value.chars().count() <= 256 && value.chars().all(is_tag_character) => {}
            other => return Err(TableFault::TagValue(printed(other))),
        }
        if key.starts_with("aws:") {
            return Err(TableFault::TagKeyReserved(key.clone()));
        }
        if !keys.insert(key) {
            return Err(TableFault::TagKeyTwice(key.clone()));
        }
    }
    match tags.len() > MAXIMUM_TAGS {
        true => Err(TableFault::TooManyTags),
        false => Ok(()),
    }
}

fn is_tag_character(c: char) -> bool {
    c.is_alphanumeric() || c.is_whitespace() || "+-=._:/".contains(c)
}
