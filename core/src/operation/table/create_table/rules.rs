//! What can be wrong with a definition that the request alone shows, in the service's order: the first fault
//! answers.                                                               behaviour/tables §create-table

use std::collections::BTreeSet;

use crate::{
    error::{Error, Fault},
    operation::table::definition::{
        IndexRequest, MAXIMUM_GLOBAL_INDEXES, MAXIMUM_NON_KEY_ATTRIBUTES, check_global_key,
        check_on_demand_quota, check_projection, check_quota, check_simple_key, check_units_bound, names,
    },
    table::{IndexList, TableFault},
};

use super::request::{BillingMode, CreateTable};

const MAXIMUM_LOCAL_INDEXES: usize = 5;

impl CreateTable {
    pub(super) fn check(&self, region: &str) -> Result<(), Error> {
        self.check_throughput()?;
        self.check_definitions()?;
        check_simple_key(&self.keys)?;
        self.check_number_of_definitions()?;
        self.check_index_lists()?;
        self.check_every_definition_is_used()?;
        self.check_indexes()?;
        self.check_settings()?;
        self.check_vector_indexes()?;
        self.check_served()?;
        self.check_quotas(region)?;
        Ok(())
    }

    fn check_throughput(&self) -> Result<(), TableFault> {
        match (self.billing_mode, self.throughput) {
            (BillingMode::PayPerRequest, Some(_)) => Err(TableFault::ThroughputOnPayPerRequest),
            (BillingMode::PayPerRequest, None) => Ok(()),
            (BillingMode::Provisioned, None) => Err(TableFault::ThroughputMissing),
            (BillingMode::Provisioned, Some(throughput)) => check_units_bound(throughput),
        }
    }

    /// No attribute twice, and one for each key of the table.
    fn check_definitions(&self) -> Result<(), TableFault> {
        let mut names = BTreeSet::new();
        for (name, _) in &self.definitions.0 {
            if !names.insert(name) {
                return Err(TableFault::DefinitionTwice(name.clone()));
            }
        }
        self.definitions.check_keys_are_defined(&self.keys)
    }

    fn check_number_of_definitions(&self) -> Result<(), TableFault> {
        let no_lists = self.locals.is_none() && self.globals.is_none() && self.vectors.is_none();
        if no_lists && self.definitions.0.len() > self.keys.len() {
            return Err(TableFault::TooManyDefinitions);
        }
        Ok(())
    }

    fn check_index_lists(&self) -> Result<(), TableFault> {
        if self.locals.as_ref().is_some_and(Vec::is_empty) {
            return Err(TableFault::EmptyList(IndexList::Local));
        }
        if self.globals.as_ref().is_some_and(Vec::is_empty) {
            return Err(TableFault::EmptyList(IndexList::Global));
        }
        if self.locals.is_some() && self.keys.len() < 2 {
            return Err(TableFault::LocalIndexNeedsTableRange);
        }
        if self.vectors.as_ref().is_some_and(Vec::is_empty) {
            return Err(TableFault::EmptyList(IndexList::Vector));
        }
        for index in self.locals().iter().chain(self.globals()) {
            self.definitions.check_keys_are_defined(&index.keys)?;
        }
        Ok(())
    }

    /// Stands before what is wrong with an index itself, so that an over-declared list masks it.
    fn check_every_definition_is_used(&self) -> Result<(), TableFault> {
        let mut used = names(&self.keys);
        for index in self.locals().iter().chain(self.globals()) {
            used.extend(names(&index.keys));
        }
        for vector in self.vectors.iter().flatten() {
            used.extend(vector.search_attributes.iter().cloned());
        }
        match self.definitions.0.iter().all(|(name, _)| used.contains(name)) {
            true => Ok(()),
            false => Err(TableFault::NotUsed {
                definitions: self.definitions.names(),
                used,
            }),
        }
    }

    /// Index by index: its key, projection, throughput and name; after each list its count.
    fn check_indexes(&self) -> Result<(), TableFault> {
        let mut index_names = BTreeSet::new();
        for index in self.locals() {
            self.check_local_key(index)?;
            check_projection(&index.projection)?;
            check_name(&mut index_names, index)?;
        }
        if self.locals().len() > MAXIMUM_LOCAL_INDEXES {
            return Err(TableFault::TooManyLocalIndexes);
        }
        for index in self.globals() {
            check_global_key(&index.keys)?;
            check_projection(&index.projection)?;
            self.check_index_throughput(index)?;
            check_name(&mut index_names, index)?;
        }
        if self.globals().len() > MAXIMUM_GLOBAL_INDEXES {
            return Err(TableFault::TooManyGlobalIndexes);
        }
        let non_key = |index: &IndexRequest| index.projection.non_key_attributes.as_ref().map_or(0, Vec::len);
        if self
            .locals()
            .iter()
            .chain(self.globals())
            .map(non_key)
            .sum::<usize>()
            > MAXIMUM_NON_KEY_ATTRIBUTES
        {
            return Err(TableFault::TooManyNonKeyAttributes);
        }
        Ok(())
    }

    fn check_local_key(&self, index: &IndexRequest) -> Result<(), TableFault> {
        check_simple_key(&index.keys)?;
        if index.keys.len() < 2 {
            return Err(TableFault::LocalIndexWithoutRange(index.name.clone()));
        }
        let (index_hash, table_hash) = (&index.keys[0].name, &self.keys[0].name);
        if index_hash != table_hash {
            return Err(TableFault::LocalIndexOtherHash {
                index: index.name.clone(),
                index_hash: index_hash.clone(),
                table_hash: table_hash.clone(),
            });
        }
        Ok(())
    }

    fn check_index_throughput(&self, index: &IndexRequest) -> Result<(), TableFault> {
        match (self.billing_mode, index.throughput) {
            (BillingMode::PayPerRequest, Some(_)) => {
                Err(TableFault::IndexThroughputOnPayPerRequest(index.name.clone()))
            }
            (BillingMode::Provisioned, None) => Err(TableFault::IndexThroughputMissing(index.name.clone())),
            _ => Ok(()),
        }
    }

    fn check_vector_indexes(&self) -> Result<(), TableFault> {
        if self.vectors.is_some() && self.billing_mode == BillingMode::Provisioned {
            return Err(TableFault::VectorOnProvisioned);
        }
        let mut index_names: BTreeSet<&String> = self
            .locals()
            .iter()
            .chain(self.globals())
            .map(|index| &index.name)
            .collect();
        for vector in self.vectors.iter().flatten() {
            if !index_names.insert(&vector.name) {
                return Err(TableFault::IndexNameTwice(vector.name.clone()));
            }
        }
        Ok(())
    }

    /// Members that would change what the table does, and that this server does not serve.
    fn check_served(&self) -> Result<(), Fault> {
        let refused = [
            ("StreamSpecification", self.stream.enabled == Some(true)),
            ("VectorIndexes", self.vectors.is_some()),
            ("ResourcePolicy", self.resource_policy),
            ("GlobalTableSourceArn", self.global_table_source),
            ("GlobalTableSettingsReplicationMode", self.global_table_settings),
        ];
        match refused.into_iter().find(|(_, asked)| *asked) {
            Some((member, _)) => Err(Fault::NotServed(member)),
            None => Ok(()),
        }
    }

    fn check_quotas(&self, region: &str) -> Result<(), TableFault> {
        if let Some(throughput) = self.throughput {
            check_quota(throughput, None, region)?;
        }
        for index in self.globals() {
            if let Some(throughput) = index.throughput {
                check_quota(throughput, Some(&index.name), region)?;
            }
        }
        for (index, limits) in self.on_demand_limits() {
            check_on_demand_quota(limits, index, region)?;
        }
        Ok(())
    }
}

fn check_name<'a>(taken: &mut BTreeSet<&'a String>, index: &'a IndexRequest) -> Result<(), TableFault> {
    match taken.insert(&index.name) {
        true => Ok(()),
        false => Err(TableFault::IndexNameTwice(index.name.clone())),
    }
}
