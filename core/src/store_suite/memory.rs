//! The memory store: everything under one mutex. For tests, and the plainest example of what a store does.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::{Future, ready},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    item::{IndexKey, Item, ItemKey},
    store::{
        Access, Alteration, Ended, Page, Part, Position, Proposal, Range, Row, Store, StoreError, TableChange,
    },
    table::{AccountId, Statistics, Table, TableId, TableName},
    write::{Base, Change, Image, Images, Need, RowWrite, Timestamp, Unit},
};

#[derive(Default)]
pub struct MemoryStore {
    database: Mutex<Database>,
}

#[derive(Default)]
struct Database {
    tables: BTreeMap<TableName, Arc<Table>>,
    last_id: i32,
    items: BTreeMap<ItemKey, Item>,
    /// In seconds, of the items that have such a time.
    expires: BTreeMap<ItemKey, i64>,
    /// By table, index number and key of the entry.
    entries: BTreeMap<(TableId, i32, IndexKey), Item>,
    /// Keys that somebody else holds locked.
    held: BTreeSet<ItemKey>,
    now_ms: u64,
}

impl MemoryStore {
    fn database(&self) -> MutexGuard<'_, Database> {
        self.database.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the clock.
    pub fn set_now(&self, now: Timestamp) {
        self.database().now_ms = now.0;
    }

    /// Holds a key as another writer would: whoever wants it now is told `Busy`.
    pub fn hold(&self, key: ItemKey) {
        self.database().held.insert(key);
    }

    pub fn release(&self, key: &ItemKey) {
        self.database().held.remove(key);
    }

    /// Every index row, for comparing with what the items imply.
    pub fn index_rows(&self, table: TableId) -> Vec<(i32, IndexKey, Item)> {
        let database = self.database();
        let rows = database.entries.iter().filter(|((id, ..), _)| *id == table);
        rows.map(|((_, number, key), item)| (*number, key.clone(), item.clone()))
            .collect()
    }

    /// When an item expires, in seconds since the epoch.
    pub fn expires(&self, key: &ItemKey) -> Option<i64> {
        self.database().expires.get(key).copied()
    }

    pub fn items(&self, table: TableId) -> Vec<(ItemKey, Item)> {
        let database = self.database();
        database
            .items
            .iter()
            .filter(|(key, _)| key.table == table)
            .map(|(k, i)| (k.clone(), i.clone()))
            .collect()
    }
}

impl Store for MemoryStore {
    fn tables(
        &self,
        names: &[TableName],
        _access: Access,
    ) -> impl Future<Output = Result<Vec<Option<Arc<Table>>>, StoreError>> + Send {
        let database = self.database();
        ready(Ok(names
            .iter()
            .map(|name| database.tables.get(name).cloned())
            .collect()))
    }

    fn read(&self, keys: &[ItemKey]) -> impl Future<Output = Result<Vec<Option<Item>>, StoreError>> + Send {
        let database = self.database();
        ready(Ok(keys
            .iter()
            .map(|key| database.items.get(key).cloned())
            .collect()))
    }

    fn walk(&self, range: Range) -> impl Future<Output = Result<Page, StoreError>> + Send {
        ready(Ok(self.database().walk(&range)))
    }

    fn transact<T: Send + 'static>(
        &self,
        units: Vec<Unit<T>>,
    ) -> impl Future<Output = Vec<Result<T, StoreError>>> + Send {
        let mut database = self.database();
        ready(units.into_iter().map(|unit| database.run(unit)).collect())
    }

    fn alter<T: Send + 'static>(
        &self,
        name: &TableName,
        decide: Box<dyn Fn(Proposal) -> Alteration<T> + Send>,
    ) -> impl Future<Output = Result<T, StoreError>> + Send {
        let mut database = self.database();
        let existing = database.tables.get(name).cloned();
        let fresh = TableId(database.last_id.max(1) + 1);
        let decided = decide(Proposal {
            existing: existing.as_deref(),
            fresh,
        });
        match decided.change {
            None => {}
            Some(TableChange::Create(table)) => {
                database.last_id = table.id.0;
                database.tables.insert(name.clone(), Arc::new(table));
            }
            Some(TableChange::Replace(table)) => {
                let kept: Vec<i32> = table.indexes.iter().map(|index| index.number).collect();
                database
                    .entries
                    .retain(|(id, number, _), _| *id != table.id || kept.contains(number));
                database.tables.insert(name.clone(), Arc::new(table));
            }
            Some(TableChange::Drop(id)) => {
                database.tables.remove(name);
                database.items.retain(|key, _| key.table != id);
                database.expires.retain(|key, _| key.table != id);
                database.entries.retain(|(table, ..), _| *table != id);
            }
        }
        ready(Ok(decided.answer))
    }

    fn table_names(
        &self,
        account: &AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<String>, StoreError>> + Send {
        let database = self.database();
        let names = database.tables.keys().filter(|name| name.account == *account);
        let names = names
            .map(|name| &name.name)
            .filter(|name| after.is_none_or(|after| name.as_str() > after));
        ready(Ok(names.take(limit).cloned().collect()))
    }

    fn expired(
        &self,
        table: TableId,
        before: Timestamp,
        max: usize,
    ) -> impl Future<Output = Result<Vec<ItemKey>, StoreError>> + Send {
        let database = self.database();
        let expired = database
            .expires
            .iter()
            .filter(|(key, seconds)| key.table == table && **seconds <= (before.0 / 1000) as i64);
        ready(Ok(expired.map(|(key, _)| key.clone()).take(max).collect()))
    }

    fn statistics(&self, table: &Table) -> impl Future<Output = Result<Statistics, StoreError>> + Send {
        let database = self.database();
        let items = database.items.iter().filter(|(key, _)| key.table == table.id);
        let mut statistics = Statistics::default();
        for (_, item) in items {
            statistics.items += 1;
            statistics.bytes += item.size() as u64;
        }
        for index in &table.indexes {
            let entries = database
                .entries
                .iter()
                .filter(|((id, n, _), _)| *id == table.id && *n == index.number);
            let (count, bytes) = entries.fold((0, 0), |(n, bytes), (_, item)| {
                (n + 1, bytes + item.size() as u64)
            });
            statistics.indexes.push((index.number, count, bytes));
        }
        ready(Ok(statistics))
    }
}

impl Database {
    fn run<T>(&mut self, unit: Unit<T>) -> Result<T, StoreError> {
        let current = |(id, version): &(TableId, _)| {
            id.0 < 2
                || self
                    .tables
                    .values()
                    .any(|table| table.id == *id && table.version == *version)
        };
        if !unit.tables.iter().all(current) {
            return Err(StoreError::Stale);
        }
        let image = |(key, need): &(ItemKey, Need)| match need {
            _ if self.held.contains(key) => Image::Busy,
            Need::RightToWrite => Image::Unread,
            Need::Image => self.items.get(key).cloned().map_or(Image::Absent, Image::Present),
        };
        let images: Vec<Image> = unit.keys.0.iter().map(image).collect();
        let decision = (unit.decide)(&Images {
            now: Timestamp(self.now_ms),
            all: &images,
        });
        for change in decision.changes {
            assert!(
                !matches!(images[change.of], Image::Busy),
                "a change names a key that is not locked"
            );
            let key = unit.keys.0[change.of].0.clone();
            self.apply(key, change);
        }
        Ok(decision.answer)
    }

    fn apply(&mut self, key: ItemKey, change: Change) {
        let table = key.table;
        match change.base {
            Base::Put(item) => {
                let kept = change
                    .keep_for
                    .map(|keep| (self.now_ms / 1000 + keep.as_secs()) as i64);
                match kept.or(change.expires) {
                    Some(seconds) => self.expires.insert(key.clone(), seconds),
                    None => self.expires.remove(&key),
                };
                self.items.insert(key, item);
            }
            Base::Delete => {
                self.expires.remove(&key);
                assert!(self.items.remove(&key).is_some(), "a deleted item was there")
            }
            Base::Untouched => {}
        }
        for row in change.rows {
            let place = (table, row.index, row.key);
            match row.write {
                RowWrite::Insert(item) => {
                    assert!(
                        self.entries.insert(place, item).is_none(),
                        "an inserted entry was not there"
                    )
                }
                RowWrite::Update(item) => {
                    assert!(
                        self.entries.insert(place, item).is_some(),
                        "an updated entry was there"
                    )
                }
                RowWrite::Delete => {
                    assert!(self.entries.remove(&place).is_some(), "a deleted entry was there")
                }
                RowWrite::Set(item) => {
                    self.entries.insert(place, item);
                }
                RowWrite::Clear => {
                    self.entries.remove(&place);
                }
            }
        }
    }

    fn walk(&self, range: &Range) -> Page {
        let mut rows: Vec<(Position, &Item)> = match range.index {
            None => (self.items.iter().filter(|(key, _)| key.table == range.table))
                .map(|(key, item)| (position(key.bucket, &key.pk, vec![key.sk.clone()]), item))
                .collect(),
            Some(number) => (self.entries.iter())
                .filter(|((id, n, _), _)| *id == range.table && *n == number)
                .map(|((_, _, key), item)| {
                    let rest = key.ranges.iter().chain([&key.pk, &key.sk]).cloned().collect();
                    (position(key.bucket, &key.hash, rest), item)
                })
                .collect(),
        };
        rows.retain(|(position, _)| within(&range.part, position));
        if range.reverse {
            rows.reverse();
        }
        let mut page = Page {
            rows: Vec::new(),
            ended: Ended::Data,
        };
        let mut bytes = 0;
        for (position, item) in rows {
            let order = range.after.as_ref().map(|after| {
                let own = (position.bucket, &position.hash, &position.rest);
                own.cmp(&(after.bucket, &after.hash, &after.rest))
            });
            if order.is_some_and(|order| {
                if range.reverse {
                    order.is_ge()
                } else {
                    order.is_le()
                }
            }) {
                continue;
            }
            bytes += item.size();
            let base = range.with_base.then(|| self.base_of(range.table, item)).flatten();
            page.rows.push(Row {
                item: item.clone(),
                base,
            });
            if range.max_items == Some(page.rows.len()) {
                page.ended = Ended::Items;
                break;
            }
            if bytes >= range.max_bytes {
                page.ended = Ended::Bytes;
                break;
            }
        }
        page
    }

    /// The item that an index entry belongs to: the entry holds its key.
    fn base_of(&self, id: TableId, entry: &Item) -> Option<Item> {
        let table = self.tables.values().find(|table| table.id == id)?;
        self.items.get(&ItemKey::of_stored(table, entry)?).cloned()
    }
}

fn position(bucket: i32, hash: &[u8], rest: Vec<Vec<u8>>) -> Position {
    Position {
        bucket,
        hash: hash.to_vec(),
        rest,
    }
}

fn within(part: &Part, position: &Position) -> bool {
    match part {
        Part::Buckets { first, last } => (*first..=*last).contains(&position.bucket),
        Part::Partition { bucket, hash, sort } => {
            position.bucket == *bucket && position.hash == *hash && sort.contains(&position.rest)
        }
    }
}
