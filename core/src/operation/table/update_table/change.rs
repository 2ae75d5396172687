//! What an UpdateTable makes of a table: the rules that need its description, then the new description.
//!                                                                             behaviour/tables §update-table

use crate::{
    error::{Error, Fault},
    operation::table::{
        create_table::BillingMode,
        definition::{
            Definitions, EncryptionRequest, Figures, IndexRequest, MAXIMUM_GLOBAL_INDEXES,
            MAXIMUM_NON_KEY_ATTRIBUTES, check_global_key, check_on_demand, check_on_demand_quota,
            check_projection, check_quota, check_warm, key_arn,
        },
    },
    request::Context,
    table::{
        Billing, ChangeFault, Index, IndexScope, KeyRole, ON_DEMAND_INITIAL, OnDemandLimits, Projected,
        Running, Table, TableFault, TableStatus, Throughput, ThroughputHistory, Units, Version, warm_units,
    },
    time::Timestamp,
};

use super::request::{ThroughputUpdate, UpdateTable};

/// A request that a table takes.
#[derive(Clone, Debug)]
pub(super) struct Taken {
    /// The table from now on. Equal to the old one where nothing changes.
    pub(super) table: Table,
    /// What is answered: the table as it was, with the statuses of the change.
    pub(super) answered: Table,
    /// The index that is to be filled among it.
    pub(super) running: Running,
}

impl UpdateTable {
    /// Checks the request against the table, then changes it.
    pub(super) fn take(&self, existing: &Table, context: &Context) -> Result<Taken, Error> {
        let (region, now) = (context.region.as_str(), context.now);
        self.check_state(existing)?;
        self.check_throughput_change(existing, region)?;
        self.check_other_members(existing, context)?;
        self.check_one_index_at_a_time(existing)?;
        let mut taken = Taken {
            table: existing.clone(),
            answered: existing.clone(),
            running: Running::default(),
        };
        self.change_throughput(&mut taken, now);
        self.change_limits(&mut taken);
        self.change_encryption(&mut taken, context);
        for update in self.updates() {
            self.update_index(update, existing, region, &mut taken, now)?;
        }
        for create in self.creates() {
            self.create_index(create, existing, region, &mut taken)?;
        }
        for delete in self.deletes() {
            delete_index(delete, existing, &mut taken)?;
        }
        if let Some(protected) = self.deletion_protection {
            taken.table.deletion_protection = protected;
            taken.answered.deletion_protection = protected;
        }
        if let Some(class) = &self.table_class {
            let infrequent_access = class == "STANDARD_INFREQUENT_ACCESS";
            if infrequent_access != existing.infrequent_access {
                taken.table.infrequent_access = infrequent_access;
                taken.table.settings.class_switched_ms = Some(now.0);
            }
            taken.answered.status = TableStatus::Updating;
        }
        self.check_served()?;
        if taken.table != *existing {
            taken.table.version = Version(existing.version.0 + 1);
        }
        Ok(taken)
    }

    fn changes_throughput(&self) -> bool {
        self.throughput.is_some() || self.billing_mode.is_some()
    }

    /// How the table pays after the request.
    fn billing_after(&self, existing: &Table) -> BillingMode {
        self.billing_mode.unwrap_or(match existing.billing {
            Billing::Provisioned(_) => BillingMode::Provisioned,
            Billing::PayPerRequest { .. } => BillingMode::PayPerRequest,
        })
    }

    fn check_state(&self, existing: &Table) -> Result<(), TableFault> {
        let name = || existing.name.clone();
        match existing.status {
            TableStatus::Creating => return Err(TableFault::BeingCreated(name())),
            TableStatus::Deleting => return Err(TableFault::BeingDeleted(name())),
            TableStatus::Active | TableStatus::Updating => {}
        }
        let deleted: Vec<&Index> = existing
            .indexes
            .iter()
            .filter(|index| index.status == TableStatus::Deleting)
            .collect();
        if existing.status == TableStatus::Updating && deleted.is_empty() {
            if self.changes_throughput() {
                return Err(ChangeFault::ThroughputChanging(name()).into());
            }
            if self.creates().next().is_some() || self.deletes().next().is_some() {
                return Err(ChangeFault::IndexesWhileThroughputChanging(name()).into());
            }
        }
        if !deleted.is_empty() && self.throughput.is_some() {
            return Err(ChangeFault::ThroughputWhileIndexDeleted {
                table: name(),
                indexes: deleted.iter().map(|index| index.name.clone()).collect(),
            }
            .into());
        }
        Ok(())
    }

    fn check_throughput_change(&self, existing: &Table, region: &str) -> Result<(), TableFault> {
        if let Some(throughput) = self.throughput {
            match existing.throughput() {
                None if self.billing_mode.is_none() => return Err(TableFault::ThroughputOnPayPerRequest),
                Some(current) if current == throughput => {
                    return Err(ChangeFault::SameThroughput {
                        index: None,
                        throughput,
                    }
                    .into());
                }
                _ => check_quota(throughput, None, region)?,
            }
        }
        if existing.throughput().is_none() && self.billing_mode == Some(BillingMode::Provisioned) {
            let unnamed: Vec<String> = existing
                .global_indexes()
                .filter(|index| {
                    let mut updates = self.updates();
                    !updates.any(|update| update.name == index.name && update.throughput.is_some())
                })
                .map(|index| index.name.clone())
                .collect();
            if !unnamed.is_empty() {
                return Err(ChangeFault::IndexThroughputMissing(unnamed).into());
            }
        }
        Ok(())
    }

    /// Streams, encryption, throughput limits and replicas.
    fn check_other_members(&self, existing: &Table, context: &Context) -> Result<(), TableFault> {
        if self.stream.as_ref().and_then(|stream| stream.enabled) == Some(false) {
            return Err(ChangeFault::NoStream(existing.name.clone()).into());
        }
        if let Some(encryption) = &self.encryption {
            check_encryption(encryption, existing)?;
        }
        self.check_limits(self.on_demand, None, existing, &context.region)?;
        check_warm_raised(
            self.warm,
            warm_units(existing.throughput(), existing.settings.history),
            None,
        )?;
        let regions = |of: fn(&super::request::ReplicaUpdate) -> Option<&String>| {
            self.replicas.iter().flatten().filter_map(of).cloned()
        };
        if let Some(region) = regions(|replica| replica.create.as_ref()).next() {
            return Err(ChangeFault::RegionNotSupported(region).into());
        }
        let unknown: Vec<String> = regions(|replica| replica.change.as_ref()).collect();
        if !unknown.is_empty() {
            return Err(ChangeFault::NoSuchReplicas(unknown).into());
        }
        Ok(())
    }

    /// OnDemandThroughput of the table or of the index that is named.
    fn check_limits(
        &self,
        limits: Figures,
        index: Option<&String>,
        existing: &Table,
        region: &str,
    ) -> Result<(), TableFault> {
        for (units, limit) in limits.each() {
            let index = index.cloned();
            if self.billing_after(existing) == BillingMode::Provisioned {
                return Err(ChangeFault::OnDemandOnProvisioned { units, index }.into());
            }
            if limit == 0 || limit < -1 {
                return Err(TableFault::OnDemandRange { units, index });
            }
        }
        check_on_demand_quota(limits, index, region)
    }

    /// Members that would change what the table does, and that this server does not serve.
    fn check_served(&self) -> Result<(), Fault> {
        let refused = [
            ("StreamSpecification", self.stream.is_some()),
            (
                "GlobalTableSettingsReplicationMode",
                self.settings_replication.is_some(),
            ),
            (
                "DisassociationProtectionEnabled",
                self.has_disassociation_protection,
            ),
            ("VectorIndexUpdates", self.has_vectors),
        ];
        match refused.into_iter().find(|(_, asked)| *asked) {
            Some((member, _)) => Err(Fault::NotServed(member)),
            None => Ok(()),
        }
    }

    /// Creating and deleting is one thing; an index that is being filled may be deleted, though.
    fn check_one_index_at_a_time(&self, existing: &Table) -> Result<(), ChangeFault> {
        let wanted = self.creates().count() + self.deletes().count();
        let is_stop = |index: &Index| {
            index.status == TableStatus::Creating && self.deletes().any(|delete| *delete == index.name)
        };
        let is_busy = existing.indexes.iter().any(|index| {
            matches!(index.status, TableStatus::Creating | TableStatus::Deleting) && !is_stop(index)
        });
        if wanted > 1 || wanted == 1 && is_busy {
            return Err(self
                .being_created_again(existing)
                .unwrap_or(ChangeFault::OneIndexAtATime));
        }
        Ok(())
    }

    /// A single Create of the very index that is being created names it.
    fn being_created_again(&self, existing: &Table) -> Option<ChangeFault> {
        let ([entry], None) = (self.indexes(), self.deletes().next()) else {
            return None;
        };
        let name = &entry.create.as_ref()?.name;
        let index = existing
            .index(name)
            .filter(|index| index.status == TableStatus::Creating)?;
        Some(ChangeFault::IndexBeingCreated {
            table: existing.name.clone(),
            index: index.name.clone(),
        })
    }

    fn change_throughput(&self, taken: &mut Taken, now: Timestamp) {
        if !self.changes_throughput() {
            return;
        }
        taken.answered.status = TableStatus::Updating;
        let table = &mut taken.table;
        match (table.billing, self.throughput) {
            (Billing::Provisioned(current), Some(throughput)) => {
                table.billing = Billing::Provisioned(throughput);
                table.settings.history = table.settings.history.changed(current, throughput, now.0);
                // The answer shows when, and follows with the count when the change is done.
                let shown = &mut taken.answered.settings.history;
                shown.decreases = shown.decreases_today(now.0);
                shown.increased_ms = table.settings.history.increased_ms;
                shown.decreased_ms = table.settings.history.decreased_ms;
            }
            (Billing::PayPerRequest { since_ms }, Some(throughput)) => {
                table.billing = Billing::Provisioned(throughput);
                table.settings.paid_per_request_ms = Some(since_ms);
                stay_warm(&mut table.settings.history, ON_DEMAND_INITIAL);
                table.settings.on_demand = OnDemandLimits::default();
                for index in &mut table.indexes {
                    stay_warm(&mut index.history, ON_DEMAND_INITIAL);
                    index.on_demand = OnDemandLimits::default();
                }
            }
            (Billing::Provisioned(current), None) => {
                table.billing = Billing::PayPerRequest { since_ms: now.0 };
                stay_warm(&mut table.settings.history, current);
                for index in &mut table.indexes {
                    let units = index.throughput.take().unwrap_or_default();
                    stay_warm(&mut index.history, units);
                }
            }
            // Sent again: nothing happens.
            (Billing::PayPerRequest { .. }, None) => {}
        }
    }

    fn update_index(
        &self,
        update: &ThroughputUpdate,
        existing: &Table,
        region: &str,
        taken: &mut Taken,
        now: Timestamp,
    ) -> Result<(), TableFault> {
        let name = || update.name.clone();
        let table = || existing.name.clone();
        let index = existing
            .index(&update.name)
            .ok_or_else(|| ChangeFault::NoSuchIndex {
                table: table(),
                index: name(),
            })?;
        if index.scope == IndexScope::Local {
            return Err(ChangeFault::UpdateOfLocalIndex(name()).into());
        }
        match index.status {
            TableStatus::Updating => {
                return Err(ChangeFault::IndexBeingUpdated {
                    table: table(),
                    index: name(),
                }
                .into());
            }
            TableStatus::Deleting => {
                return Err(ChangeFault::IndexBeingDeleted {
                    table: table(),
                    index: name(),
                }
                .into());
            }
            TableStatus::Active | TableStatus::Creating => {}
        }
        let current = existing.throughput().and(index.throughput);
        if let Some(throughput) = update.throughput {
            if self.billing_after(existing) == BillingMode::PayPerRequest {
                return Err(ChangeFault::IndexThroughputOnDemand(name()).into());
            }
            if current == Some(throughput) {
                return Err(ChangeFault::SameThroughput {
                    index: Some(name()),
                    throughput,
                }
                .into());
            }
            check_quota(throughput, Some(&update.name), region)?;
        }
        self.check_limits(update.on_demand, Some(&update.name), existing, region)?;
        check_warm_raised(
            update.warm,
            warm_units(current, index.history),
            Some(&update.name),
        )?;
        let number = index.number;
        let of_index = |index: &&mut Index| index.number == number;
        if let Some(shown) = taken.answered.indexes.iter_mut().find(of_index) {
            if update.throughput.is_some() || update.on_demand.named() {
                shown.status = TableStatus::Updating;
            }
            shown.on_demand = shown.on_demand.merged(update.on_demand.limits());
        }
        if let Some(index) = taken.table.indexes.iter_mut().find(of_index) {
            index.on_demand = index.on_demand.merged(update.on_demand.limits()).kept();
            if is_raised(update.warm, warm_units(current, index.history)) {
                stay_warm(&mut index.history, update.warm.units());
                taken.running.warm_indexes.push(number);
            }
            if let Some(throughput) = update.throughput {
                index.throughput = Some(throughput);
                if let Some(current) = current {
                    index.history = index.history.changed(current, throughput, now.0);
                }
            }
        }
        Ok(())
    }

    /// OnDemandThroughput and WarmThroughput of the table: the limits are shown as they are now, the other as it was.
    fn change_limits(&self, taken: &mut Taken) {
        let limits = taken.table.settings.on_demand.merged(self.on_demand.limits());
        taken.table.settings.on_demand = limits.kept();
        if self.on_demand.named() {
            taken.answered.settings.on_demand = limits;
        }
        let table = &mut taken.table;
        if is_raised(self.warm, warm_units(table.throughput(), table.settings.history)) {
            stay_warm(&mut table.settings.history, self.warm.units());
            taken.running.warm = true;
        }
    }

    /// The key that was there is shown until the change is done; where there was none, the new one.
    fn change_encryption(&self, taken: &mut Taken, context: &Context) {
        let Some(encryption) = &self.encryption else {
            return;
        };
        let asked = encryption.requested();
        let key = asked.then(|| key_arn(encryption.key.as_deref(), context));
        let shown = &mut taken.answered.settings.encryption_key;
        *shown = shown.take().or(key.clone());
        taken.table.settings.encryption_key = key;
        taken.running.encryption = true;
    }

    fn create_index(
        &self,
        create: &IndexRequest,
        existing: &Table,
        region: &str,
        taken: &mut Taken,
    ) -> Result<(), TableFault> {
        if existing.index(&create.name).is_some() {
            return Err(ChangeFault::IndexExists.into());
        }
        let Some(definitions) = &self.definitions else {
            return Err(ChangeFault::NoDefinitions(create.name.clone()).into());
        };
        definitions.check_keys_are_defined(&create.keys)?;
        check_global_key(&create.keys)?;
        check_projection(&create.projection)?;
        match (self.billing_after(existing), create.throughput) {
            (BillingMode::Provisioned, None) => {
                return Err(ChangeFault::CreateWithoutThroughput(create.name.clone()).into());
            }
            (BillingMode::PayPerRequest, Some(_)) => {
                return Err(ChangeFault::CreateWithThroughput(create.name.clone()).into());
            }
            (_, throughput) => {
                if let Some(throughput) = throughput {
                    check_quota(throughput, Some(&create.name), region)?;
                }
            }
        }
        let is_provisioned = create.throughput.is_some();
        check_on_demand(create.on_demand, Some(&create.name), is_provisioned)?;
        check_warm(create.warm, Some(&create.name), create.throughput)?;
        check_on_demand_quota(create.on_demand, Some(&create.name), region)?;
        if existing.global_indexes().count() >= MAXIMUM_GLOBAL_INDEXES {
            return Err(ChangeFault::TooManyIndexes.into());
        }
        let projected = |index: &Index| match &index.projection {
            Projected::Include(names) => names.len(),
            _ => 0,
        };
        let mut index = create.index(existing.next_index_number(), IndexScope::Global, definitions)?;
        if existing.indexes.iter().map(projected).sum::<usize>() + projected(&index)
            > MAXIMUM_NON_KEY_ATTRIBUTES
        {
            return Err(TableFault::TooManyNonKeyAttributes);
        }
        check_types(existing, &index, create, definitions)?;
        index.status = TableStatus::Creating;
        taken.running.created = Some(index.number);
        if create.warm.named() {
            taken.running.warm_indexes.push(index.number);
        }
        taken.answered.status = TableStatus::Updating;
        taken.answered.indexes.push(index.clone());
        taken.table.indexes.push(index);
        Ok(())
    }
}

fn delete_index(name: &str, existing: &Table, taken: &mut Taken) -> Result<(), TableFault> {
    let index = existing.index(name).ok_or_else(|| ChangeFault::NoSuchIndex {
        table: existing.name.clone(),
        index: name.to_owned(),
    })?;
    if index.scope == IndexScope::Local {
        return Err(ChangeFault::DeleteOfLocalIndex(name.to_owned()).into());
    }
    taken.table.settings.last_index = existing.next_index_number() - 1;
    taken.table.indexes.retain(|other| other.number != index.number);
    taken.answered.status = TableStatus::Updating;
    for other in taken
        .answered
        .indexes
        .iter_mut()
        .filter(|other| other.number == index.number)
    {
        other.status = TableStatus::Deleting;
    }
    Ok(())
}

/// An attribute that is a key already keeps its type.
fn check_types(
    existing: &Table,
    index: &Index,
    create: &IndexRequest,
    definitions: &Definitions,
) -> Result<(), ChangeFault> {
    let known = |name: &str| {
        let of_indexes = existing.indexes.iter().flat_map(Index::key_attributes);
        let mut keys = existing.key_attributes().chain(of_indexes);
        keys.find(|key| key.name == name).map(|key| key.kind)
    };
    let retyped = index
        .key_attributes()
        .any(|key| known(&key.name).is_some_and(|kind| kind != key.kind));
    if !retyped {
        return Ok(());
    }
    let role = |role| match role {
        KeyRole::Hash => "HASH",
        KeyRole::Range => "RANGE",
    };
    let element = |name: &str, kind, of| format!("SchemaElement: key{{{name}:{kind:?}:{}}}", role(of));
    let old: Vec<String> = existing
        .key_schema(None)
        .map(|(key, of)| element(&key.name, key.kind, of))
        .collect();
    let new: Vec<String> = create
        .keys
        .iter()
        .filter_map(|key| Some(element(&key.name, definitions.kind(&key.name)?, key.role)))
        .collect();
    Err(ChangeFault::Redefined {
        existing: old.join(", "),
        new: new.join(", "),
    })
}

/// What asks for nothing is refused where there is nothing, and what names the key's ARN where it is that key.
fn check_encryption(encryption: &EncryptionRequest, existing: &Table) -> Result<(), ChangeFault> {
    match (&existing.settings.encryption_key, encryption.requested()) {
        (None, false) => Err(ChangeFault::EncryptedByDefault),
        (Some(current), true) if encryption.key.as_ref() == Some(current) => {
            Err(ChangeFault::EncryptedWithKey)
        }
        _ => Ok(()),
    }
}

fn is_raised(figures: Figures, current: Throughput) -> bool {
    let is_higher =
        |(units, value): (Units, i64)| u64::try_from(value).is_ok_and(|value| value > of(current, units));
    figures.each().any(is_higher)
}

fn check_warm_raised(figures: Figures, current: Throughput, index: Option<&str>) -> Result<(), ChangeFault> {
    for (units, value) in figures.each() {
        if !u64::try_from(value).is_ok_and(|value| value >= of(current, units)) {
            return Err(ChangeFault::WarmDecreased {
                units,
                index: index.map(str::to_owned),
            });
        }
    }
    Ok(())
}

fn of(throughput: Throughput, units: Units) -> u64 {
    match units {
        Units::Read => throughput.read_units,
        Units::Write => throughput.write_units,
    }
}

fn stay_warm(history: &mut ThroughputHistory, units: Throughput) {
    history.warm = history.warm.at_least(units);
}
