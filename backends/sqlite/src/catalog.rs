//! The descriptions of all tables, in memory. The file has them too; only the writer changes either, the file first.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Bound,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use extenddb_core::table::{AccountId, Table, TableId, TableName, Version};
use rusqlite::Connection;

use crate::OpenError;

#[derive(Default)]
pub struct Catalog {
    known: RwLock<Known>,
}

#[derive(Default)]
struct Known {
    by_name: BTreeMap<TableName, Arc<Table>>,
    by_id: HashMap<TableId, Arc<Table>>,
}

impl Catalog {
    pub fn load(connection: &Connection) -> Result<Catalog, OpenError> {
        let catalog = Catalog::default();
        let mut statement = connection.prepare("SELECT description FROM tables")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let document = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
            let table =
                serde_json::from_str(document).map_err(|error| OpenError::Catalog(error.to_string()))?;
            catalog.put(table);
        }
        Ok(catalog)
    }

    pub fn tables(&self, names: &[TableName]) -> Vec<Option<Arc<Table>>> {
        let known = self.known();
        names
            .iter()
            .map(|name| known.by_name.get(name).cloned())
            .collect()
    }

    pub fn by_name(&self, name: &TableName) -> Option<Arc<Table>> {
        self.known().by_name.get(name).cloned()
    }

    pub fn by_id(&self, id: TableId) -> Option<Arc<Table>> {
        self.known().by_id.get(&id).cloned()
    }

    /// Whether a description is the one that stands. Those of the system tables always do.
    pub fn is_current(&self, id: TableId, version: Version) -> bool {
        if is_system(id) {
            return true;
        }
        let known = self.known();
        known.by_id.get(&id).is_some_and(|table| table.version == version)
    }

    pub fn has(&self, id: TableId) -> bool {
        is_system(id) || self.known().by_id.contains_key(&id)
    }

    pub fn names(&self, account: &AccountId, after: Option<&str>, limit: usize) -> Vec<String> {
        let start = TableName {
            account: account.clone(),
            name: after.unwrap_or_default().into(),
        };
        let known = self.known();
        let later = known.by_name.range((Bound::Excluded(start), Bound::Unbounded));
        let own = later.take_while(|(name, _)| name.account == *account);
        own.take(limit).map(|(name, _)| name.name.clone()).collect()
    }

    pub fn put(&self, table: Table) {
        let name = TableName {
            account: table.account.clone(),
            name: table.name.clone(),
        };
        let table = Arc::new(table);
        let mut known = self.change();
        known.by_id.insert(table.id, table.clone());
        known.by_name.insert(name, table);
    }

    pub fn remove(&self, name: &TableName) {
        let mut known = self.change();
        if let Some(table) = known.by_name.remove(name) {
            known.by_id.remove(&table.id);
        }
    }

    fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> RwLockWriteGuard<'_, Known> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_system(id: TableId) -> bool {
    id == TableId::TOKENS || id == TableId::CLAIMS
}
