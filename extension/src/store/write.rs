//! Rows written by their primary key: inserted, updated and deleted by the executor's own steps for one row, which fire
//! triggers, check constraints and maintain indexes, but without a plan. A kept plan of an upsert costs three times as much.

use std::mem::MaybeUninit;

use extenddb_core::item::Item;
use pgrx::{PgSqlErrorCode, pg_sys};

use crate::{call::varlena, spi};

use super::rows::{RowKey, Scan, Storage, Tid, empty};

/// Writes to one storage, each row at most once. They are what one statement is to the triggers of the storage.
pub struct Writer {
    storage: Storage,
    scan: Scan,
    result: *mut pg_sys::ResultRelInfo,
    estate: *mut pg_sys::EState,
    recheck: Box<MaybeUninit<pg_sys::EPQState>>,
    /// The row to be written.
    new: *mut pg_sys::TupleTableSlot,
    fired: Fired,
}

/// Which triggers of statements have been fired.
#[derive(Default)]
struct Fired {
    insert: bool,
    update: bool,
    delete: bool,
}

/// What is known of the row under a key before the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    Unknown,
    Absent,
    At(Tid),
}

/// What becomes of a row. Update and delete must find it; an insert must find none.
pub enum Row<'a> {
    Insert(&'a Item),
    Update(&'a Item),
    UpdateAt(Tid, &'a Item),
    Delete,
    DeleteAt(Tid),
    /// Insert or update.
    Set(&'a Item),
    /// Delete what is there, if anything.
    Clear,
}

impl Writer {
    /// The active snapshot must see what was committed before the keys were locked, and must be the same until the end.
    pub fn begin(storage: Storage) -> Writer {
        // SAFETY: what the executor does before it changes a table; `end` undoes it.
        unsafe {
            let estate = pg_sys::CreateExecutorState();
            let before = pg_sys::MemoryContextSwitchTo((*estate).es_query_cxt);
            (*estate).es_snapshot = pg_sys::GetActiveSnapshot();
            (*estate).es_output_cid = pg_sys::GetCurrentCommandId(true);
            let result: *mut pg_sys::ResultRelInfo =
                pg_sys::palloc0(size_of::<pg_sys::ResultRelInfo>()).cast();
            (*result).type_ = pg_sys::NodeTag::T_ResultRelInfo;
            const NO_RANGE_TABLE: pg_sys::Index = 0;
            pg_sys::InitResultRelInfo(result, storage.heap, NO_RANGE_TABLE, std::ptr::null_mut(), 0);
            pg_sys::ExecOpenIndices(result, false);
            pg_sys::AfterTriggerBeginQuery();
            let mut recheck = Box::new(MaybeUninit::<pg_sys::EPQState>::zeroed());
            begin_recheck(recheck.as_mut_ptr(), estate);
            let writer = Writer {
                scan: storage.scan(),
                new: pg_sys::table_slot_create(storage.heap, std::ptr::null_mut()),
                storage,
                result,
                estate,
                recheck,
                fired: Fired::default(),
            };
            pg_sys::MemoryContextSwitchTo(before);
            writer
        }
    }

    /// Writes a row. What touched another number of rows than it promises would leave item and index apart.
    pub fn write(&mut self, key: &RowKey, row: Row, expires_s: Option<i64>) {
        // SAFETY: a scan keeps what it allocates while it looks, so that must live until the end.
        let before = unsafe { pg_sys::MemoryContextSwitchTo((*self.estate).es_query_cxt) };
        let (stands, item) = match row {
            Row::Insert(item) => (None, Some(item)),
            Row::Update(item) => (Some(self.found(key)), Some(item)),
            Row::UpdateAt(tid, item) => (Some(self.still(key, tid)), Some(item)),
            Row::Delete => (Some(self.found(key)), None),
            Row::DeleteAt(tid) => (Some(tid), None),
            Row::Set(item) => (self.scan.find(key), Some(item)),
            Row::Clear => (self.scan.find(key), None),
        };
        match (stands, item) {
            (None, Some(item)) => self.insert(key, item, expires_s),
            (Some(tid), Some(item)) => self.update(key, tid, item, expires_s),
            (Some(tid), None) => self.delete(key, tid),
            (None, None) => {}
        }
        // SAFETY: the context that was current.
        unsafe { pg_sys::MemoryContextSwitchTo(before) };
    }

    fn found(&mut self, key: &RowKey) -> Tid {
        match self.scan.find(key) {
            Some(tid) => tid,
            None => touched_none(&self.storage),
        }
    }

    /// Where a row was found before. Its other columns are wanted only where somebody added some by hand.
    fn still(&mut self, key: &RowKey, tid: Tid) -> Tid {
        // SAFETY: an open relation.
        let columns = unsafe { (*(*self.storage.heap).rd_att).natts };
        if columns as usize > self.storage.item_column() {
            self.found(key)
        } else {
            tid
        }
    }

    fn insert(&mut self, key: &RowKey, item: &Item, expires_s: Option<i64>) {
        if !std::mem::replace(&mut self.fired.insert, true) {
            // SAFETY: begun with this storage.
            unsafe { pg_sys::ExecBSInsertTriggers(self.estate, self.result) };
        }
        // SAFETY: the slot is that of the storage, and holds the whole row.
        unsafe {
            self.fill(key, item, expires_s, false);
            pg_sys::ExecSimpleRelationInsert(self.result, self.estate, self.new);
        }
        self.has_written();
    }

    fn update(&mut self, key: &RowKey, tid: Tid, item: &Item, expires_s: Option<i64>) {
        if !std::mem::replace(&mut self.fired.update, true) {
            // SAFETY: begun with this storage.
            unsafe { pg_sys::ExecBSUpdateTriggers(self.estate, self.result) };
        }
        // SAFETY: as for an insert; what stands there is found by its place.
        unsafe {
            self.fill(key, item, expires_s, true);
            self.scan.point_at(tid);
            let recheck = self.recheck.as_mut_ptr();
            pg_sys::ExecSimpleRelationUpdate(self.result, self.estate, recheck, self.scan.slot, self.new);
        }
        self.has_written();
    }

    fn delete(&mut self, key: &RowKey, tid: Tid) {
        if !std::mem::replace(&mut self.fired.delete, true) {
            // SAFETY: begun with this storage.
            unsafe { pg_sys::ExecBSDeleteTriggers(self.estate, self.result) };
        }
        self.scan.point_at(tid);
        // SAFETY: what stands there is found by its place.
        let may_be_kept = unsafe {
            let recheck = self.recheck.as_mut_ptr();
            pg_sys::ExecSimpleRelationDelete(self.result, self.estate, recheck, self.scan.slot);
            let triggers = (*self.storage.heap).trigdesc;
            !triggers.is_null() && (*triggers).trig_delete_before_row
        };
        if may_be_kept {
            // SAFETY: makes what was done visible to the look that follows.
            unsafe { pg_sys::CommandCounterIncrement() };
            let kept = spi::with_snapshot(spi::Snapshot::Latest, || {
                let mut scan = self.storage.scan();
                let kept = scan.find(key).is_some();
                scan.close();
                kept
            });
            if kept {
                touched_none(&self.storage);
            }
        }
    }

    /// Puts the row into the slot for new rows. Columns that are not ours (added by hand) keep their values in an update.
    ///
    /// # Safety
    /// For an update of a storage with such columns, the scan has found the old row.
    unsafe fn fill(&mut self, key: &RowKey, item: &Item, expires_s: Option<i64>, is_update: bool) {
        let item_column = self.storage.item_column();
        // SAFETY: a slot has room for as many values as its descriptor has columns, and the item's is one of them. What the
        // values take goes with the next row.
        unsafe {
            empty(self.new);
            let of_row = (*pg_sys::MakePerTupleExprContext(self.estate)).ecxt_per_tuple_memory;
            pg_sys::MemoryContextReset(of_row);
            let of_writer = pg_sys::MemoryContextSwitchTo(of_row);
            let columns = (*(*self.new).tts_tupleDescriptor).natts as usize;
            let values = std::slice::from_raw_parts_mut((*self.new).tts_values, columns);
            let nulls = std::slice::from_raw_parts_mut((*self.new).tts_isnull, columns);
            nulls.fill(true);
            for (place, value) in key.datums().enumerate() {
                (values[place], nulls[place]) = (value, false);
            }
            if let Some(expires_s) = expires_s {
                (values[item_column - 2], nulls[item_column - 2]) = (pg_sys::Datum::from(expires_s), false);
            }
            (values[item_column - 1], nulls[item_column - 1]) = (varlena(item.as_bytes()), false);
            if is_update && columns > item_column {
                pg_sys::slot_getsomeattrs_int(self.scan.slot, columns as i32);
                let old = self.scan.slot;
                for place in item_column..columns {
                    values[place] = *(*old).tts_values.add(place);
                    nulls[place] = *(*old).tts_isnull.add(place);
                }
            }
            pg_sys::MemoryContextSwitchTo(of_writer);
            pg_sys::ExecStoreVirtualTuple(self.new);
        }
    }

    /// A trigger may keep a row from being written; an answer that says it was would be a lie.
    fn has_written(&self) {
        // SAFETY: a slot that was written has its row's place.
        if unsafe { (*self.new).tts_tid.ip_posid } == 0 {
            touched_none(&self.storage);
        }
    }

    /// Fires what waited for the end of the statement, and closes the storage.
    pub fn end(mut self) {
        // SAFETY: the executor's own order; all of it was opened by `begin`.
        unsafe {
            let no_capture = std::ptr::null_mut();
            if self.fired.insert {
                pg_sys::ExecASInsertTriggers(self.estate, self.result, no_capture);
            }
            if self.fired.update {
                pg_sys::ExecASUpdateTriggers(self.estate, self.result, no_capture);
            }
            if self.fired.delete {
                pg_sys::ExecASDeleteTriggers(self.estate, self.result, no_capture);
            }
            pg_sys::AfterTriggerEndQuery(self.estate);
            pg_sys::EvalPlanQualEnd(self.recheck.as_mut_ptr());
            pg_sys::ExecDropSingleTupleTableSlot(self.new);
            self.scan.close();
            pg_sys::ExecCloseIndices(self.result);
            pg_sys::ExecCloseResultRelations(self.estate);
            self.storage.close();
            pg_sys::FreeExecutorState(self.estate);
            // What comes after sees it.
            pg_sys::CommandCounterIncrement();
        }
    }
}

/// For the look at a row that a trigger takes again; it has no plan to run.
unsafe fn begin_recheck(recheck: *mut pg_sys::EPQState, estate: *mut pg_sys::EState) {
    const NO_PARAMETER: i32 = -1;
    let (no_plan, no_marks) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: room for the state, which `EvalPlanQualEnd` ends.
    unsafe {
        #[cfg(feature = "pg15")]
        pg_sys::EvalPlanQualInit(recheck, estate, no_plan, no_marks, NO_PARAMETER);
        #[cfg(not(feature = "pg15"))]
        pg_sys::EvalPlanQualInit(
            recheck,
            estate,
            no_plan,
            no_marks,
            NO_PARAMETER,
            std::ptr::null_mut(),
        );
    }
}

fn touched_none(storage: &Storage) -> ! {
    if one_snapshot() {
        serialization_failure();
    }
    spi::raise(
        PgSqlErrorCode::ERRCODE_INTERNAL_ERROR,
        &format!("a write of {} touched 0 rows", storage.name()),
    );
}

/// Whether the caller's isolation level keeps one snapshot for the transaction.
pub fn one_snapshot() -> bool {
    // SAFETY: a setting of this backend's transaction.
    unsafe { pg_sys::XactIsoLevel >= pg_sys::XACT_REPEATABLE_READ as i32 }
}

pub fn serialization_failure() -> ! {
    spi::raise(
        PgSqlErrorCode::ERRCODE_T_R_SERIALIZATION_FAILURE,
        "could not serialize access due to concurrent update",
    )
}
