//! Statements over raw SPI with generic plans that a backend keeps for its life.
//!
//! Parameters are of built-in types only: a plan's parameter types are frozen, and one of `ddb.item` would not
//! survive the extension being created again in the session. The SQL casts, which needs no function.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    ffi::{CString, c_char, c_long},
};

use pgrx::{PgSqlErrorCode, pg_sys};

use crate::call::varlena;

/// Which statement: plans are kept by it. `index` is `None` for a table's own storage; `shape` numbers the SQL text
/// within the module that names it. Ids of tables begin anew with an extension that is created again, and the session
/// goes on: an index of the same number may then have other columns, so the shape tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    pub table: i32,
    pub index: Option<i32>,
    pub statement: Statement,
    pub shape: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Statement {
    Walk,
    Expired,
    Measure,
    Catalog,
}

pub enum Arg<'a> {
    Int4(i32),
    Int8(i64),
    Bytes(&'a [u8]),
    Text(&'a str),
}

/// One row of a result, valid until the next statement.
pub struct Row {
    tuple: pg_sys::HeapTuple,
    descriptor: pg_sys::TupleDesc,
}

/// Kept plans are bounded: those of dropped tables stay until they are evicted.
const MAX_KEPT_PLANS: usize = 1000;

/// SPI takes it for: no argument is null.
const NO_NULLS: *const c_char = std::ptr::null();

struct Kept {
    plan: pg_sys::SPIPlanPtr,
    last_used: u64,
}

#[derive(Default)]
struct Plans {
    kept: HashMap<Plan, Kept>,
    uses: u64,
}

thread_local! {
    // Raw pointers: nothing may call SPI_freeplan when the thread ends.
    static PLANS: RefCell<Plans> = RefCell::default();
    // Statements in progress; a trigger may bring us here again.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Runs a read with the active snapshot and hands over each row. Needs no transaction id.
pub fn query(plan: Plan, sql: impl FnOnce() -> String, args: &[Arg], limit: u64, each: impl FnMut(Row)) {
    let _planner = IndexScansOnly::new();
    select(plan, sql, args, limit, each);
}

/// The same for a statement that reads a whole table, or blocks of it.
pub fn scan(plan: Plan, sql: impl FnOnce() -> String, args: &[Arg], each: impl FnMut(Row)) {
    select(plan, sql, args, 0, each);
}

fn select(plan: Plan, sql: impl FnOnce() -> String, args: &[Arg], limit: u64, mut each: impl FnMut(Row)) {
    connected(|| unsafe {
        let mut values = parameters(args);
        let prepared = kept(plan, sql, args);
        let code = pg_sys::SPI_execute_plan(prepared, values.as_mut_ptr(), NO_NULLS, true, limit as c_long);
        check(code);
        each_row(&mut each);
    })
}

/// Runs a change; answers how many rows it touched.
pub fn change(plan: Plan, sql: impl FnOnce() -> String, args: &[Arg]) -> u64 {
    connected(|| unsafe {
        let _planner = IndexScansOnly::new();
        let mut values = parameters(args);
        let prepared = kept(plan, sql, args);
        check(pg_sys::SPI_execute_plan(
            prepared,
            values.as_mut_ptr(),
            NO_NULLS,
            false,
            0,
        ));
        pg_sys::SPI_processed
    })
}

/// Reads with the active snapshot through a cursor until `each` answers false, in batches that grow; no more than
/// `max_rows` are read ahead.
pub fn walk(
    plan: Plan,
    sql: impl FnOnce() -> String,
    args: &[Arg],
    max_rows: Option<usize>,
    mut each: impl FnMut(Row) -> bool,
) {
    const FIRST_BATCH_ROWS: usize = 64;
    const MAX_BATCH_ROWS: u64 = 1024;
    connected(|| unsafe {
        let _planner = IndexScansOnly::new();
        let mut values = parameters(args);
        let prepared = kept(plan, sql, args);
        let cursor = pg_sys::SPI_cursor_open(std::ptr::null(), prepared, values.as_mut_ptr(), NO_NULLS, true);
        let mut batch_rows = max_rows.unwrap_or(FIRST_BATCH_ROWS).clamp(1, FIRST_BATCH_ROWS) as u64;
        let mut wanted = true;
        while wanted {
            pg_sys::SPI_cursor_fetch(cursor, true, batch_rows as c_long);
            let rows = pg_sys::SPI_processed;
            each_row(&mut |row| wanted = wanted && each(row));
            wanted = wanted && rows == batch_rows;
            batch_rows = (batch_rows * 2).min(MAX_BATCH_ROWS);
        }
        pg_sys::SPI_cursor_close(cursor);
    })
}

/// Runs a utility statement.
pub fn utility(sql: &str) {
    connected(|| unsafe {
        let text = CString::new(sql).expect("no NUL in a statement of ours");
        check(pg_sys::SPI_execute(text.as_ptr(), false, 0));
    })
}

/// Runs `work` with this snapshot as the active one. After an ERROR the (sub)transaction's end pops it.
pub fn with_snapshot<R>(snapshot: Snapshot, work: impl FnOnce() -> R) -> R {
    // SAFETY: a static snapshot is copied when pushed; popped below, or by the end of the (sub)transaction.
    unsafe {
        pg_sys::PushActiveSnapshot(match snapshot {
            Snapshot::Transaction => pg_sys::GetTransactionSnapshot(),
            Snapshot::Latest => pg_sys::GetLatestSnapshot(),
        });
        let result = work();
        pg_sys::PopActiveSnapshot();
        result
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Snapshot {
    /// What the caller's isolation level sees now, with the changes of this call.
    Transaction,
    /// What is committed now, whatever the isolation level.
    Latest,
}

impl Row {
    pub fn int4(&self, column: i32) -> i32 {
        self.datum(column).map_or(0, |datum| datum.value() as i32)
    }

    pub fn int8(&self, column: i32) -> i64 {
        self.datum(column).map_or(0, |datum| datum.value() as i64)
    }

    /// A copy of a value of type bytea or text, detoasted.
    pub fn bytes(&self, column: i32) -> Box<[u8]> {
        // SAFETY: the column is a varlena by the statement's text; the copy is taken before the row goes.
        self.datum(column)
            .map_or_else(Box::default, |datum| unsafe { copied(datum) })
    }

    pub fn text(&self, column: i32) -> String {
        String::from_utf8_lossy(&self.bytes(column)).into_owned()
    }

    fn datum(&self, column: i32) -> Option<pg_sys::Datum> {
        let mut null = false;
        // SAFETY: the tuple lives as long as the result.
        let datum = unsafe { pg_sys::SPI_getbinval(self.tuple, self.descriptor, column, &mut null) };
        (!null).then_some(datum)
    }
}

/// A copy of a varlena, detoasted.
///
/// # Safety
/// The datum must be a varlena that is there.
pub unsafe fn copied(datum: pg_sys::Datum) -> Box<[u8]> {
    // SAFETY: as promised; what detoasting allocates is freed.
    unsafe {
        let stored: *mut pg_sys::varlena = datum.cast_mut_ptr();
        let plain = pg_sys::pg_detoast_datum_packed(stored);
        let bytes = std::slice::from_raw_parts(
            pgrx::vardata_any(plain).cast::<u8>(),
            pgrx::varsize_any_exhdr(plain),
        );
        let copy = Box::from(bytes);
        if plain != stored {
            pg_sys::pfree(plain.cast());
        }
        copy
    }
}

/// Statements by key have an index that serves them; with an empty or never analysed table the planner would scan,
/// and the plan is kept. The settings are set for planning and execution and put back, also by an unwind.
struct IndexScansOnly([bool; 5]);

impl IndexScansOnly {
    fn new() -> Self {
        // SAFETY: planner settings of this backend, which has one thread.
        unsafe {
            let before = [
                pg_sys::enable_seqscan,
                pg_sys::enable_bitmapscan,
                pg_sys::enable_sort,
                pg_sys::enable_hashjoin,
                pg_sys::enable_mergejoin,
            ];
            Self::set([false; 5]);
            IndexScansOnly(before)
        }
    }

    fn set(values: [bool; 5]) {
        // SAFETY: as above.
        unsafe {
            [
                pg_sys::enable_seqscan,
                pg_sys::enable_bitmapscan,
                pg_sys::enable_sort,
                pg_sys::enable_hashjoin,
                pg_sys::enable_mergejoin,
            ] = values;
        }
    }
}

impl Drop for IndexScansOnly {
    fn drop(&mut self) {
        Self::set(self.0);
    }
}

fn connected<R>(work: impl FnOnce() -> R) -> R {
    struct Depth;
    impl Drop for Depth {
        fn drop(&mut self) {
            DEPTH.set(DEPTH.get() - 1);
        }
    }
    DEPTH.set(DEPTH.get() + 1);
    let _depth = Depth;
    pgrx::Spi::connect(|_| work())
}

/// The kept plan, prepared at its first use. The pointer is copied out of the map: executing it may come back here.
unsafe fn kept(plan: Plan, sql: impl FnOnce() -> String, args: &[Arg]) -> pg_sys::SPIPlanPtr {
    let known = PLANS.with_borrow_mut(|plans| {
        plans.uses += 1;
        let uses = plans.uses;
        plans.kept.get_mut(&plan).map(|kept| {
            kept.last_used = uses;
            kept.plan
        })
    });
    if let Some(known) = known {
        // Another statement under this key would be run with arguments that are not its own, and read past them.
        if unsafe { pg_sys::SPI_getargcount(known) } as usize != args.len() {
            raise(
                PgSqlErrorCode::ERRCODE_INTERNAL_ERROR,
                &format!("two statements share the plan {plan:?}"),
            );
        }
        return known;
    }
    let text = CString::new(sql()).expect("no NUL in a statement of ours");
    let mut types: Vec<pg_sys::Oid> = args.iter().map(Arg::type_oid).collect();
    // SAFETY: connected to SPI.
    let prepared = unsafe {
        let prepared = pg_sys::SPI_prepare_cursor(
            text.as_ptr(),
            types.len() as i32,
            types.as_mut_ptr(),
            pg_sys::CURSOR_OPT_GENERIC_PLAN as i32,
        );
        if prepared.is_null() {
            check(pg_sys::SPI_result);
        }
        check(pg_sys::SPI_keepplan(prepared));
        prepared
    };
    let evicted = PLANS.with_borrow_mut(|plans| {
        let evicted = if plans.kept.len() >= MAX_KEPT_PLANS && DEPTH.get() == 1 {
            plans.drop_older_half()
        } else {
            Vec::new()
        };
        plans.kept.insert(
            plan,
            Kept {
                plan: prepared,
                last_used: plans.uses,
            },
        );
        evicted
    });
    for plan in evicted {
        // SAFETY: no longer in the map, and no statement is in progress.
        unsafe { pg_sys::SPI_freeplan(plan) };
    }
    prepared
}

impl Plans {
    fn drop_older_half(&mut self) -> Vec<pg_sys::SPIPlanPtr> {
        let mut uses: Vec<u64> = self.kept.values().map(|kept| kept.last_used).collect();
        uses.sort_unstable();
        let median = uses[uses.len() / 2];
        let old = self.kept.extract_if(|_, kept| kept.last_used < median);
        old.map(|(_, kept)| kept.plan).collect()
    }
}

impl Arg<'_> {
    fn type_oid(&self) -> pg_sys::Oid {
        match self {
            Arg::Int4(_) => pg_sys::INT4OID,
            Arg::Int8(_) => pg_sys::INT8OID,
            Arg::Bytes(_) => pg_sys::BYTEAOID,
            Arg::Text(_) => pg_sys::TEXTOID,
        }
    }
}

/// Datums in SPI's memory, which goes when the connection ends.
unsafe fn parameters(args: &[Arg]) -> Vec<pg_sys::Datum> {
    let values = args.iter().map(|arg| match arg {
        Arg::Int4(value) => pg_sys::Datum::from(*value),
        Arg::Int8(value) => pg_sys::Datum::from(*value),
        Arg::Bytes(bytes) => varlena(bytes),
        Arg::Text(text) => varlena(text.as_bytes()),
    });
    values.collect()
}

/// Hands over the rows of the last statement and frees them.
unsafe fn each_row(each: &mut impl FnMut(Row)) {
    // SAFETY: SPI_tuptable is the result of the statement that just ran; taken before a callee can run another.
    unsafe {
        let table = pg_sys::SPI_tuptable;
        if table.is_null() {
            return;
        }
        for place in 0..(*table).numvals as usize {
            each(Row {
                tuple: *(*table).vals.add(place),
                descriptor: (*table).tupdesc,
            });
        }
        pg_sys::SPI_freetuptable(table);
    }
}

fn check(code: i32) {
    if code < 0 {
        // SAFETY: a static text for every code.
        let name = unsafe { std::ffi::CStr::from_ptr(pg_sys::SPI_result_code_string(code)) };
        raise(
            PgSqlErrorCode::ERRCODE_INTERNAL_ERROR,
            &format!("SPI: {}", name.to_string_lossy()),
        );
    }
}

/// Raises an ERROR of the store's: a state of the database, not a fault of a request.
pub fn raise(code: PgSqlErrorCode, text: &str) -> ! {
    pg_sys::panic::ErrorReport::new(code, text.to_owned(), "store").report(pgrx::PgLogLevel::ERROR);
    unreachable!("an ERROR does not return")
}
