//! Rows of a storage by their primary key, straight through its index. Nearly every request does this, and a kept plan of
//! a SELECT costs three times as much.
//!
//! What is opened here is closed by its owner; after an ERROR PostgreSQL does it.

use std::{ffi::c_int, mem::MaybeUninit};

use extenddb_core::{
    item::{IndexKey, ItemKey},
    table::TableId,
};
use pgrx::{PgSqlErrorCode, pg_sys};

use crate::{call::varlena, catalog, spi};

use super::storage;

/// `bucket`, `ipk`, four columns of RANGE attributes, `pk`, `sk`.
pub const MAX_KEY_COLUMNS: usize = 8;

/// A row's place in its storage. It stays that of the row while nobody writes the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tid {
    pub block: u32,
    pub offset: u16,
}

/// The primary key of a row, in the order of `storage::key_columns`.
#[derive(Clone, Copy)]
pub struct RowKey<'a> {
    bucket: i32,
    others: [&'a [u8]; MAX_KEY_COLUMNS - 1],
    columns: usize,
}

impl<'a> From<&'a ItemKey> for RowKey<'a> {
    fn from(key: &'a ItemKey) -> Self {
        RowKey::new(key.bucket, [key.pk.as_slice(), &key.sk].into_iter())
    }
}

impl<'a> From<&'a IndexKey> for RowKey<'a> {
    fn from(key: &'a IndexKey) -> Self {
        let ranges = key.ranges.iter().map(Vec::as_slice);
        let others = std::iter::once(key.hash.as_slice()).chain(ranges);
        RowKey::new(key.bucket, others.chain([key.pk.as_slice(), &key.sk]))
    }
}

impl<'a> RowKey<'a> {
    fn new(bucket: i32, values: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut key = RowKey {
            bucket,
            others: [&[]; MAX_KEY_COLUMNS - 1],
            columns: 1,
        };
        for value in values {
            key.others[key.columns - 1] = value;
            key.columns += 1;
        }
        key
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The columns' values, in the current memory context.
    pub fn datums(&self) -> impl Iterator<Item = pg_sys::Datum> {
        let others = self.others[..self.columns - 1].iter();
        std::iter::once(pg_sys::Datum::from(self.bucket)).chain(others.map(|value| varlena(value)))
    }
}

/// A storage and its primary key's index, open for one call.
pub struct Storage {
    table: TableId,
    index: Option<i32>,
    pub heap: pg_sys::Relation,
    primary_key: pg_sys::Relation,
}

const NO_LOCK: pg_sys::LOCKMODE = pg_sys::NoLock as pg_sys::LOCKMODE;

impl Storage {
    /// That of a table's items, on which the caller holds a lock.
    pub fn of_table(table: TableId) -> Storage {
        Storage::open(table, None, catalog::storage(table), NO_LOCK)
    }

    /// That of an index's entries, to write them.
    pub fn of_index(table: TableId, index: i32) -> Storage {
        const LOCK: pg_sys::LOCKMODE = pg_sys::RowExclusiveLock as pg_sys::LOCKMODE;
        Storage::open(table, Some(index), catalog::index_storage(table, index), LOCK)
    }

    fn open(table: TableId, index: Option<i32>, oid: Option<pg_sys::Oid>, lock: pg_sys::LOCKMODE) -> Storage {
        let Some(oid) = oid else {
            spi::raise(
                PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE,
                &format!("{} does not exist", storage::name(table, index)),
            );
        };
        const INDEX_LOCK: pg_sys::LOCKMODE = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
        // SAFETY: the executor's own steps.
        unsafe {
            let heap = pg_sys::table_open(oid, lock);
            Storage {
                table,
                index,
                heap,
                primary_key: pg_sys::index_open(primary_key(heap), INDEX_LOCK),
            }
        }
    }

    /// A scan with the active snapshot, which must be the same until it is closed.
    pub fn scan(&self) -> Scan {
        // SAFETY: open relations.
        unsafe {
            Scan {
                scan: begin_scan(self.heap, self.primary_key, self.key_columns()),
                slot: pg_sys::table_slot_create(self.heap, std::ptr::null_mut()),
            }
        }
    }

    fn key_columns(&self) -> c_int {
        // SAFETY: an open index; the primary key's columns are all compared.
        unsafe { c_int::from((*(*self.primary_key).rd_index).indnkeyatts) }
    }

    /// Where `storage::create_table` and `create_index` put the item.
    pub fn item_column(&self) -> usize {
        let expires = usize::from(self.index.is_none());
        self.key_columns() as usize + expires + 1
    }

    pub fn name(&self) -> String {
        storage::name(self.table, self.index)
    }

    /// The locks on the relations stay to the end of the transaction, as the executor leaves them.
    pub fn close(self) {
        // SAFETY: opened by `open`, and nothing has closed them since.
        unsafe {
            pg_sys::index_close(self.primary_key, NO_LOCK);
            pg_sys::table_close(self.heap, NO_LOCK);
        }
    }
}

/// For one key after the other.
pub struct Scan {
    scan: pg_sys::IndexScanDesc,
    /// The row that was found last.
    pub slot: *mut pg_sys::TupleTableSlot,
}

impl Scan {
    /// The row under this key as the snapshot sees it: there is one at most.
    pub fn find(&mut self, key: &RowKey) -> Option<Tid> {
        // SAFETY: as many keys as the scan was begun with. The values that it compares with are its own until the next
        // look-up.
        unsafe {
            let mut keys: [MaybeUninit<pg_sys::ScanKeyData>; MAX_KEY_COLUMNS] =
                [MaybeUninit::uninit(); MAX_KEY_COLUMNS];
            for (place, value) in key.datums().enumerate() {
                let equal = if place == 0 {
                    pg_sys::F_INT4EQ
                } else {
                    pg_sys::F_BYTEAEQ
                };
                pg_sys::ScanKeyInit(
                    keys[place].as_mut_ptr(),
                    place as pg_sys::AttrNumber + 1,
                    pg_sys::BTEqualStrategyNumber as pg_sys::StrategyNumber,
                    pg_sys::Oid::from(equal),
                    value,
                );
            }
            let columns = key.columns() as c_int;
            pg_sys::index_rescan(
                self.scan,
                keys.as_mut_ptr().cast(),
                columns,
                std::ptr::null_mut(),
                0,
            );
            let forward = pg_sys::ScanDirection::ForwardScanDirection;
            let found = pg_sys::index_getnext_slot(self.scan, forward, self.slot);
            for value in &keys[1..key.columns()] {
                pg_sys::pfree(value.assume_init_ref().sk_argument.cast_mut_ptr());
            }
            found.then(|| tid_of(self.slot))
        }
    }

    /// Makes the slot name a row that was found before. What it held stays where it is that row.
    pub fn point_at(&mut self, tid: Tid) {
        // SAFETY: a slot of the table.
        unsafe {
            if tid_of(self.slot) != tid {
                empty(self.slot);
                (*self.slot).tts_tid = pg_sys::ItemPointerData {
                    ip_blkid: pg_sys::BlockIdData {
                        bi_hi: (tid.block >> 16) as u16,
                        bi_lo: tid.block as u16,
                    },
                    ip_posid: tid.offset,
                };
            }
        }
    }

    /// A column of the row that was found last; not null.
    pub fn column(&self, number: usize) -> pg_sys::Datum {
        // SAFETY: the slot holds a row with that many columns.
        unsafe {
            pg_sys::slot_getsomeattrs_int(self.slot, number as c_int);
            *(*self.slot).tts_values.add(number - 1)
        }
    }

    pub fn close(self) {
        // SAFETY: begun by `Storage::scan`.
        unsafe {
            pg_sys::index_endscan(self.scan);
            pg_sys::ExecDropSingleTupleTableSlot(self.slot);
        }
    }
}

/// # Safety
/// A slot of a table.
pub unsafe fn empty(slot: *mut pg_sys::TupleTableSlot) {
    // SAFETY: its own function, which may raise.
    unsafe {
        if let Some(clear) = (*(*slot).tts_ops).clear {
            pg_sys::ffi::pg_guard_ffi_boundary(|| clear(slot));
        }
    }
}

/// # Safety
/// A slot of a table.
unsafe fn tid_of(slot: *mut pg_sys::TupleTableSlot) -> Tid {
    // SAFETY: as promised.
    let tid = unsafe { (*slot).tts_tid };
    Tid {
        block: u32::from(tid.ip_blkid.bi_hi) << 16 | u32::from(tid.ip_blkid.bi_lo),
        offset: tid.ip_posid,
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

unsafe fn begin_scan(heap: pg_sys::Relation, index: pg_sys::Relation, keys: c_int) -> pg_sys::IndexScanDesc {
    // SAFETY: open relations, an active snapshot.
    unsafe {
        let snapshot = pg_sys::GetActiveSnapshot();
        #[cfg(not(feature = "pg18"))]
        return pg_sys::index_beginscan(heap, index, snapshot, keys, 0);
        #[cfg(feature = "pg18")]
        return pg_sys::index_beginscan(heap, index, snapshot, std::ptr::null_mut(), keys, 0);
    }
}
