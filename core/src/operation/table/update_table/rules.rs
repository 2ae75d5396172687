//! What can be wrong with an UpdateTable that the request alone shows, in the service's order: the first fault answers.
//!                                                                     behaviour/tables §update-table-request

use std::collections::BTreeSet;

use crate::{
    error::Error,
    operation::table::{
        create_table::BillingMode,
        definition::{check_table_class, check_units_bound},
    },
    table::{Alone, ChangeFault, TableFault},
};

use super::request::UpdateTable;

impl UpdateTable {
    pub(super) fn check(&self) -> Result<(), Error> {
        self.check_something_to_do()?;
        if self.indexes.as_ref().is_some_and(Vec::is_empty) {
            return Err(ChangeFault::EmptyIndexUpdates.into());
        }
        self.check_single_concern()?;
        self.check_index_entries()?;
        self.check_throughput()?;
        self.check_stream()?;
        if let Some(encryption) = &self.encryption {
            encryption.check()?;
        }
        check_table_class(self.table_class.as_deref())?;
        self.check_replicas()?;
        Ok(())
    }

    /// Members that change something. The empty forms of others count as nothing.
    fn concerns(&self) -> [(&'static str, bool); 13] {
        [
            ("ProvisionedThroughput", self.throughput.is_some()),
            ("BillingMode", self.billing_mode.is_some()),
            ("StreamSpecification", self.stream.is_some()),
            ("GlobalSecondaryIndexUpdates", !self.indexes().is_empty()),
            ("SSESpecification", self.encryption.is_some()),
            ("ReplicaUpdates", self.replicas.is_some()),
            ("DeletionProtectionEnabled", self.deletion_protection.is_some()),
            ("OnDemandThroughput", self.on_demand.named()),
            ("WarmThroughput", self.warm.named()),
            ("TableClass", self.table_class.is_some()),
            (
                "GlobalTableSettingsReplicationMode",
                self.settings_replication.is_some(),
            ),
            (
                "DisassociationProtectionEnabled",
                self.has_disassociation_protection,
            ),
            ("VectorIndexUpdates", self.has_vectors),
        ]
    }

    fn check_something_to_do(&self) -> Result<(), ChangeFault> {
        if self.concerns().into_iter().any(|(_, concerned)| concerned) {
            return Ok(());
        }
        let unlisted = if self.has_consistency {
            vec!["MultiRegionConsistency"]
        } else {
            Vec::new()
        };
        Err(ChangeFault::NothingToDo(unlisted))
    }

    /// A request is about one thing, but for a few combinations.
    fn check_single_concern(&self) -> Result<(), ChangeFault> {
        let concerned = |members: &[&str]| {
            self.concerns()
                .into_iter()
                .any(|(member, concerned)| concerned && members.contains(&member))
        };
        let beside = |members: &[&str]| {
            self.concerns()
                .into_iter()
                .any(|(member, concerned)| concerned && !members.contains(&member))
        };
        let alone = [
            ("SSESpecification", Alone::Encryption),
            ("TableClass", Alone::TableClass),
            ("DeletionProtectionEnabled", Alone::DeletionProtection),
            ("WarmThroughput", Alone::WarmThroughput),
        ];
        for (member, what) in alone {
            if concerned(&[member]) && beside(&[member]) {
                if what == Alone::WarmThroughput && self.creates().next().is_some() {
                    return Err(ChangeFault::WarmWithIndexCreate);
                }
                return Err(ChangeFault::NotAlone(what));
            }
        }
        if self.on_demand.named() && beside(&["OnDemandThroughput", "BillingMode"]) {
            return Err(ChangeFault::OnDemandCombined);
        }
        let changes_indexes = self.creates().next().is_some() || self.deletes().next().is_some();
        if self.stream.is_some() {
            if self.throughput.is_some() || self.billing_mode == Some(BillingMode::Provisioned) {
                return Err(ChangeFault::StreamWithThroughput);
            }
            if changes_indexes {
                return Err(ChangeFault::IndexWithStream);
            }
            if self.updates().next().is_some() {
                return Err(ChangeFault::StreamWithThroughput);
            }
        }
        if changes_indexes && self.throughput.is_some()
            || self.deletes().next().is_some() && self.billing_mode.is_some()
        {
            return Err(ChangeFault::IndexWithThroughput);
        }
        if self.replicas.is_some() && beside(&["ReplicaUpdates"]) {
            return Err(ChangeFault::NotAlone(Alone::Replicas));
        }
        if self.has_witnesses {
            return Err(ChangeFault::ReplicasWithOthers);
        }
        Ok(())
    }

    /// Each entry one action, each index one entry.
    fn check_index_entries(&self) -> Result<(), ChangeFault> {
        let mut names = BTreeSet::new();
        for entry in self.indexes() {
            let update = entry.update.as_ref().map(|update| &update.name);
            let create = entry.create.as_ref().map(|create| &create.name);
            let mut actions = [update, create, entry.delete.as_ref()].into_iter().flatten();
            match (actions.next(), actions.next()) {
                (None, _) => return Err(ChangeFault::NoIndexAction),
                (Some(_), Some(_)) => return Err(ChangeFault::SeveralIndexActions),
                (Some(name), None) if !names.insert(name) => {
                    return Err(ChangeFault::IndexTwice(name.clone()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn check_throughput(&self) -> Result<(), TableFault> {
        match (self.billing_mode, self.throughput) {
            (Some(BillingMode::Provisioned), None) => Err(ChangeFault::ThroughputMissing.into()),
            (Some(BillingMode::PayPerRequest), Some(_)) => Err(TableFault::ThroughputOnPayPerRequest),
            (_, Some(throughput)) => check_units_bound(throughput),
            (_, None) => Ok(()),
        }
    }

    fn check_stream(&self) -> Result<(), ChangeFault> {
        match &self.stream {
            Some(stream) if stream.enabled == Some(true) && !stream.has_view_type => {
                Err(ChangeFault::StreamViewTypeMissing)
            }
            Some(stream) if stream.enabled == Some(false) && stream.has_view_type => {
                Err(ChangeFault::StreamViewTypeUnexpected)
            }
            _ => Ok(()),
        }
    }

    fn check_replicas(&self) -> Result<(), ChangeFault> {
        let mut replicas = self.replicas.iter().flatten();
        if replicas.any(|replica| replica.create.is_none() && replica.change.is_none()) {
            return Err(ChangeFault::NoReplicaAction);
        }
        match self.settings_replication.as_deref() {
            Some("ENABLED_WITH_OVERRIDES") => Err(ChangeFault::SettingsReplication),
            _ => Ok(()),
        }
    }
}
