//! The settings beside keys and indexes, and what can be wrong with them.   behaviour/tables §settings

use crate::{
    operation::table::{
        definition::{Figures, check_table_class},
        tags::check_tags,
    },
    table::{ON_DEMAND_INITIAL, TableFault, Throughput, Units},
};

use super::request::{BillingMode, CreateTable};

impl CreateTable {
    pub(super) fn check_settings(&self) -> Result<(), TableFault> {
        self.check_stream()?;
        check_table_class(self.table_class.as_deref())?;
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
