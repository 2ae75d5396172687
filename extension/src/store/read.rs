//! Items by key: straight through the primary key's index. Nearly every request does this, and a kept plan of a SELECT
//! costs three times as much.

use std::{collections::BTreeMap, mem::MaybeUninit};

use extenddb_core::{
    item::{Item, ItemKey},
    table::TableId,
};
use pgrx::{PgSqlErrorCode, pg_sys};

use crate::{call::varlena, catalog, spi};

use super::storage;

/// The items under these keys as the active snapshot sees them, in the order asked.
pub fn items(keys: &[&ItemKey]) -> Vec<Option<Item>> {
    if let [key] = keys {
        let lookup = Lookup::open(key.table);
        let found = lookup.item(key);
        lookup.close();
        return vec![found];
    }
    let mut found = vec![None; keys.len()];
    let mut places_by_table: BTreeMap<TableId, Vec<usize>> = BTreeMap::new();
    for (place, key) in keys.iter().enumerate() {
        places_by_table.entry(key.table).or_default().push(place);
    }
    for (table, places) in places_by_table {
        let lookup = Lookup::open(table);
        for place in places {
            found[place] = lookup.item(keys[place]);
        }
        lookup.close();
    }
    found
}

/// Where `storage::create_table` puts the item.
const ITEM_COLUMN: usize = 5;

/// A scan of the primary key of one table's storage, for one key after the other. After an ERROR PostgreSQL closes it.
struct Lookup {
    table: TableId,
    heap: pg_sys::Relation,
    index: pg_sys::Relation,
    scan: pg_sys::IndexScanDesc,
    slot: *mut pg_sys::TupleTableSlot,
}

impl Lookup {
    /// The caller holds a lock on the storage and has an active snapshot.
    fn open(table: TableId) -> Lookup {
        let Some(oid) = catalog::storage(table) else {
            spi::raise(
                PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE,
                &format!("{} does not exist", storage::name(table, None)),
            );
        };
        const LOCK: pg_sys::LOCKMODE = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
        // SAFETY: the executor's own steps for an index scan; what is opened here is closed in `close`.
        unsafe {
            let heap = pg_sys::table_open(oid, LOCK);
            let index = pg_sys::index_open(primary_key(heap), LOCK);
            Lookup {
                table,
                heap,
                index,
                scan: begin_scan(heap, index),
                slot: pg_sys::table_slot_create(heap, std::ptr::null_mut()),
            }
        }
    }

    fn item(&self, key: &ItemKey) -> Option<Item> {
        let columns = [
            (pg_sys::F_INT4EQ, pg_sys::Datum::from(key.bucket)),
            (pg_sys::F_BYTEAEQ, varlena(&key.pk)),
            (pg_sys::F_BYTEAEQ, varlena(&key.sk)),
        ];
        // SAFETY: as many keys as the scan was begun with; the primary key is (bucket, pk, sk), all its columns are
        // compared, so there is one row at most.
        unsafe {
            let mut keys: [MaybeUninit<pg_sys::ScanKeyData>; 3] = [MaybeUninit::uninit(); 3];
            for (place, (equal, value)) in columns.into_iter().enumerate() {
                pg_sys::ScanKeyInit(
                    keys[place].as_mut_ptr(),
                    place as pg_sys::AttrNumber + 1,
                    pg_sys::BTEqualStrategyNumber as pg_sys::StrategyNumber,
                    pg_sys::Oid::from(equal),
                    value,
                );
            }
            pg_sys::index_rescan(self.scan, keys.as_mut_ptr().cast(), 3, std::ptr::null_mut(), 0);
            let forward = pg_sys::ScanDirection::ForwardScanDirection;
            if !pg_sys::index_getnext_slot(self.scan, forward, self.slot) {
                return None;
            }
            pg_sys::slot_getsomeattrs_int(self.slot, ITEM_COLUMN as i32);
            let item = *(*self.slot).tts_values.add(ITEM_COLUMN - 1);
            Some(checked(spi::copied(item), self.table))
        }
    }

    /// The locks stay to the end of the transaction, as the executor leaves them.
    fn close(self) {
        const KEEP_LOCK: pg_sys::LOCKMODE = pg_sys::NoLock as pg_sys::LOCKMODE;
        // SAFETY: opened by `open`, and nothing has closed them since.
        unsafe {
            pg_sys::index_endscan(self.scan);
            pg_sys::ExecDropSingleTupleTableSlot(self.slot);
            pg_sys::index_close(self.index, KEEP_LOCK);
            pg_sys::table_close(self.heap, KEEP_LOCK);
        }
    }
}

unsafe fn primary_key(heap: pg_sys::Relation) -> pg_sys::Oid {
    // SAFETY: an open relation.
    unsafe {
        #[cfg(not(feature = "pg18"))]
        return pg_sys::RelationGetPrimaryKeyIndex(heap);
        #[cfg(feature = "pg18")]
        return pg_sys::RelationGetPrimaryKeyIndex(heap, false);
    }
}

/// Of three keys, with the active snapshot.
unsafe fn begin_scan(heap: pg_sys::Relation, index: pg_sys::Relation) -> pg_sys::IndexScanDesc {
    // SAFETY: open relations.
    unsafe {
        let snapshot = pg_sys::GetActiveSnapshot();
        #[cfg(not(feature = "pg18"))]
        return pg_sys::index_beginscan(heap, index, snapshot, 3, 0);
        #[cfg(feature = "pg18")]
        return pg_sys::index_beginscan(heap, index, snapshot, std::ptr::null_mut(), 3, 0);
    }
}

/// An item of a table's storage. Bytes that are none mean corruption: never passed on.
pub fn checked(bytes: Box<[u8]>, table: TableId) -> Item {
    match Item::from_bytes(bytes) {
        Ok(item) => item,
        Err(_) => spi::raise(
            PgSqlErrorCode::ERRCODE_DATA_CORRUPTED,
            &format!("{} holds bytes that are no item", storage::name(table, None)),
        ),
    }
}
