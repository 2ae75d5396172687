//! The settings beside keys and indexes, and what can be wrong with them.   behaviour/tables §settings

use crate::{
    operation::table::{
        definition::{Figures, check_on_demand, check_table_class, check_warm},
        tags::check_tags,
    },
    table::{TableFault, Throughput},
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
        let is_provisioned = self.billing_mode == BillingMode::Provisioned;
        self.on_demand_limits()
            .try_for_each(|(index, limits)| check_on_demand(limits, index, is_provisioned))
    }

    fn check_warm_throughput(&self) -> Result<(), TableFault> {
        self.warm_units()
            .try_for_each(|(index, provisioned, figures)| check_warm(figures, index, provisioned))
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
