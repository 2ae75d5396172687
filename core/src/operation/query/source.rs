//! What a Query or Scan reads: a table, or one of its indexes.

use crate::{
    error::Error,
    operation::ParameterFault,
    table::{Index, IndexScope, KeyAttribute, Projected, Table, TableFault, TableStatus},
};

#[derive(Clone, Copy, Debug)]
pub struct Source<'t> {
    pub table: &'t Table,
    pub index: Option<&'t Index>,
}

impl<'t> Source<'t> {
    /// An index that is being deleted is there no more; one that is being built cannot be read yet.
    pub fn find(table: &'t Table, index_name: Option<&str>) -> Result<Self, Error> {
        let Some(name) = index_name else {
            return Ok(Source { table, index: None });
        };
        let index = table
            .index(name)
            .filter(|index| index.status != TableStatus::Deleting)
            .ok_or_else(|| TableFault::NoSuchIndex(name.to_owned()))?;
        if index.status == TableStatus::Creating {
            return Err(ParameterFault::IndexBackfilling(name.to_owned()).into());
        }
        Ok(Source {
            table,
            index: Some(index),
        })
    }

    /// A global index is never read consistently.
    pub fn check_consistency(&self, consistent: bool) -> Result<(), ParameterFault> {
        if consistent && self.is_global() {
            return Err(ParameterFault::ConsistentReadOnGlobalIndex);
        }
        Ok(())
    }

    pub fn is_global(&self) -> bool {
        self.index.is_some_and(|index| index.scope == IndexScope::Global)
    }

    pub fn hash(&self) -> &'t [KeyAttribute] {
        match self.index {
            Some(index) => &index.hash,
            None => std::slice::from_ref(&self.table.hash),
        }
    }

    pub fn range(&self) -> &'t [KeyAttribute] {
        match self.index {
            Some(index) => &index.range,
            None => self.table.range.as_slice(),
        }
    }

    pub fn is_key(&self, attribute: &str) -> bool {
        self.hash()
            .iter()
            .chain(self.range())
            .any(|key| key.name == attribute)
    }

    /// The attributes of a start key: the index's key, then the table's, shared names once.
    pub fn start_key_attributes(&self) -> Vec<&'t KeyAttribute> {
        let mut attributes: Vec<&KeyAttribute> = self.hash().iter().chain(self.range()).collect();
        for key in self.table.key_attributes() {
            if !attributes.iter().any(|other| other.name == key.name) {
                attributes.push(key);
            }
        }
        attributes
    }

    /// Whether an entry of the index holds this attribute of its item.
    pub fn projects(&self, attribute: &str) -> bool {
        let Some(index) = self.index else { return true };
        match &index.projection {
            Projected::All => true,
            _ if self.table.is_key(attribute) || self.is_key(attribute) => true,
            Projected::KeysOnly => false,
            Projected::Include(names) => names.iter().any(|name| name == attribute),
        }
    }

    pub fn projects_all(&self) -> bool {
        self.index.is_none_or(|index| index.projection == Projected::All)
    }
}
