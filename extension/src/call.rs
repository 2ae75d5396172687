//! A call from SQL: arguments in, one value or a set out. The signatures stand in `sql/`, the bodies in Rust.
//!
//! Bodies answer `Err` for the errors that are ours, and those become ERRORs only when all of Rust's frames are
//! gone; a PostgreSQL ERROR below a body unwinds through it as pgrx has it.

use std::ffi::c_void;

use extenddb_core::item::Item;
use pgrx::pg_sys;

use crate::raise::{
    DATA_CORRUPTED, INTERNAL_ERROR, INVALID_PARAMETER_VALUE, NULL_VALUE_NOT_ALLOWED, PROGRAM_LIMIT_EXCEEDED,
    Raise, Report,
};

/// What a body answers; `None` is SQL's NULL.
pub type Returned = Result<Option<pg_sys::Datum>, Raise>;

/// The arguments of one call.
pub struct Call(pg_sys::FunctionCallInfo);

/// Exports `symbol` to SQL (`AS 'MODULE_PATHNAME', 'symbol'`) with a body `fn(&Call) -> Returned`.
macro_rules! sql_functions {
    ($($symbol:literal => $body:expr;)+) => {$(
        const _: () = {
            #[unsafe(export_name = concat!("pg_finfo_", $symbol))]
            pub extern "C" fn version() -> &'static pgrx::pg_sys::Pg_finfo_record {
                static VERSION_1: pgrx::pg_sys::Pg_finfo_record = pgrx::pg_sys::Pg_finfo_record { api_version: 1 };
                &VERSION_1
            }
            #[unsafe(export_name = $symbol)]
            pub unsafe extern "C-unwind" fn entry(fcinfo: pgrx::pg_sys::FunctionCallInfo) -> pgrx::pg_sys::Datum {
                unsafe { $crate::call::enter(fcinfo, $body) }
            }
        };
    )+};
}
pub(crate) use sql_functions;

#[derive(Clone, Copy)]
enum Outcome {
    Value(pg_sys::Datum),
    Null,
    Raise(Report),
}

/// # Safety
/// Only for functions that PostgreSQL calls by the version 1 convention.
pub unsafe fn enter(fcinfo: pg_sys::FunctionCallInfo, body: impl FnOnce(&Call) -> Returned) -> pg_sys::Datum {
    let guarded = || match body(&Call(fcinfo)) {
        Ok(Some(datum)) => Outcome::Value(datum),
        Ok(None) => Outcome::Null,
        Err(raise) => Outcome::Raise(raise.into_report()),
    };
    // SAFETY: this frame and the entry above it own nothing, so both an ERROR of pgrx's and ours may jump over them.
    unsafe {
        match pg_sys::panic::pgrx_extern_c_guard(guarded) {
            Outcome::Value(datum) => {
                (*fcinfo).isnull = false;
                datum
            }
            Outcome::Null => {
                (*fcinfo).isnull = true;
                pg_sys::Datum::from(0usize)
            }
            Outcome::Raise(report) => report.raise(),
        }
    }
}

impl Call {
    /// The argument as PostgreSQL passes it.
    pub fn datum(&self, argument: usize) -> Option<pg_sys::Datum> {
        // SAFETY: the executor filled `nargs` arguments; sql/ declares as many as the bodies ask for.
        unsafe {
            let fcinfo = &*self.0;
            if argument >= fcinfo.nargs as usize {
                return None;
            }
            let argument = &fcinfo.args.as_slice(fcinfo.nargs as usize)[argument];
            (!argument.isnull).then_some(argument.value)
        }
    }

    /// A `text` or `json` argument.
    pub fn text(&self, argument: usize) -> Result<Option<&str>, Raise> {
        self.datum(argument)
            .map(|datum| unsafe { text_of(datum) })
            .transpose()
    }

    pub fn required_text(&self, argument: usize, name: &str) -> Result<&str, Raise> {
        self.text(argument)?.ok_or_else(|| missing(name))
    }

    /// The bytes of an item argument as they are, to compare; [`item_of`] makes an item of them.
    pub fn bytes(&self, argument: usize) -> Option<&[u8]> {
        // SAFETY: the declared type is a varlena.
        self.datum(argument).map(|datum| unsafe { varlena_bytes(datum) })
    }

    /// An item argument, validated: casts let a caller make one of any bytes.
    pub fn item(&self, argument: usize) -> Result<Option<Item>, Raise> {
        self.bytes(argument).map(item_of).transpose()
    }

    pub fn required_item(&self, argument: usize, name: &str) -> Result<Item, Raise> {
        self.item(argument)?.ok_or_else(|| missing(name))
    }

    pub fn int4(&self, argument: usize) -> Option<i32> {
        self.datum(argument).map(|datum| datum.value() as i32)
    }

    /// An `interval` in microseconds, with months of 30 days as PostgreSQL compares them.
    pub fn interval_us(&self, argument: usize) -> Option<i128> {
        const DAY_US: i128 = 24 * 60 * 60 * 1_000_000;
        self.datum(argument).map(|datum| {
            // SAFETY: the declared type is passed as a pointer to this.
            let interval = unsafe { &*datum.cast_mut_ptr::<pg_sys::Interval>() };
            let days = i128::from(interval.month) * 30 + i128::from(interval.day);
            days * DAY_US + i128::from(interval.time)
        })
    }

    /// A row of the function's own OUT parameters.
    pub fn row(&self, columns: &[Option<pg_sys::Datum>]) -> Returned {
        let mut values: Vec<pg_sys::Datum> = columns
            .iter()
            .map(|column| column.unwrap_or(pg_sys::Datum::from(0usize)))
            .collect();
        let mut nulls: Vec<bool> = columns.iter().map(Option::is_none).collect();
        // SAFETY: the descriptor is of the declared OUT parameters, of which the bodies give as many.
        unsafe {
            let mut descriptor = std::ptr::null_mut();
            let class = pg_sys::get_call_result_type(self.0, std::ptr::null_mut(), &mut descriptor);
            if class != pg_sys::TypeFuncClass::TYPEFUNC_COMPOSITE
                || (*descriptor).natts as usize != values.len()
            {
                return Err(Raise::new(
                    INTERNAL_ERROR,
                    "the function is declared with another row",
                ));
            }
            let tuple = pg_sys::heap_form_tuple(
                pg_sys::BlessTupleDesc(descriptor),
                values.as_mut_ptr(),
                nulls.as_mut_ptr(),
            );
            Ok(Some(pg_sys::HeapTupleHeaderGetDatum((*tuple).t_data)))
        }
    }

    pub fn boolean(&self, argument: usize) -> Option<bool> {
        self.datum(argument).map(|datum| datum.value() != 0)
    }

    /// A `text[]` or `json[]` argument; a NULL array is empty.
    pub fn texts(&self, argument: usize) -> Result<Vec<Option<&str>>, Raise> {
        let Some(datum) = self.datum(argument) else {
            return Ok(Vec::new());
        };
        // SAFETY: the declared type is an array of a varlena type with int alignment.
        unsafe {
            let array: *mut pg_sys::ArrayType = pg_sys::pg_detoast_datum(datum.cast_mut_ptr()).cast();
            let (mut values, mut nulls, mut count) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
            const INT_ALIGNED: std::ffi::c_char = b'i' as std::ffi::c_char;
            pg_sys::deconstruct_array(
                array,
                (*array).elemtype,
                -1,
                false,
                INT_ALIGNED,
                &mut values,
                &mut nulls,
                &mut count,
            );
            (0..count as usize)
                .map(|at| {
                    if *nulls.add(at) {
                        Ok(None)
                    } else {
                        text_of(*values.add(at)).map(Some)
                    }
                })
                .collect()
        }
    }

    /// Answers a set, one row a call. `start` runs at the first call of a scan; what it answers lives until the
    /// scan ends, so it must hold nothing of PostgreSQL's.
    pub fn rows<R>(&self, start: impl FnOnce() -> Result<R, Raise>) -> Returned
    where
        R: Iterator<Item = Result<pg_sys::Datum, Raise>> + 'static,
    {
        // SAFETY: the set-returning convention of funcapi.h; the rows are dropped with the scan's memory context.
        unsafe {
            let first = (*(*self.0).flinfo).fn_extra.is_null();
            if first {
                let context = pg_sys::init_MultiFuncCall(self.0);
                let rows = start()?;
                let rows: *mut R = Box::into_raw(Box::new(rows));
                (*context).user_fctx = rows.cast();
                let callback = pg_sys::MemoryContextAllocZero(
                    (*context).multi_call_memory_ctx,
                    size_of::<pg_sys::MemoryContextCallback>(),
                )
                .cast::<pg_sys::MemoryContextCallback>();
                (*callback).func = Some(drop_rows::<R>);
                (*callback).arg = rows.cast();
                pg_sys::MemoryContextRegisterResetCallback((*context).multi_call_memory_ctx, callback);
            }
            let context = pg_sys::per_MultiFuncCall(self.0);
            let result: *mut pg_sys::ReturnSetInfo = (*self.0).resultinfo.cast();
            match (*(*context).user_fctx.cast::<R>()).next() {
                Some(row) => {
                    let row = row?;
                    (*context).call_cntr += 1;
                    (*result).isDone = pg_sys::ExprDoneCond::ExprMultipleResult;
                    Ok(Some(row))
                }
                None => {
                    pg_sys::end_MultiFuncCall(self.0, context);
                    (*result).isDone = pg_sys::ExprDoneCond::ExprEndResult;
                    Ok(None)
                }
            }
        }
    }
}

unsafe extern "C-unwind" fn drop_rows<R>(rows: *mut c_void) {
    drop(unsafe { Box::from_raw(rows.cast::<R>()) });
}

pub fn missing(name: &str) -> Raise {
    Raise::new(NULL_VALUE_NOT_ALLOWED, format!("{name} must not be null"))
}

/// Refuses what is too long to be read into Rust's memory, whoever sends it. Where there is no memory left, PostgreSQL
/// raises an ERROR but Rust aborts, which ends every session of the server; and the tree of a text takes many times
/// its bytes. The longest text of an item that DynamoDB stores has 27 MB (400 kB of numbers such as 1E125, written out).
pub fn check_length(input: &[u8]) -> Result<(), Raise> {
    const INPUT_MAX_BYTES: usize = 64 * 1024 * 1024;
    if input.len() <= INPUT_MAX_BYTES {
        return Ok(());
    }
    Err(Raise::new(
        PROGRAM_LIMIT_EXCEEDED,
        "items and requests must not be longer than 64 MB",
    ))
}

/// An item out of bytes that anybody may have written.
pub fn item_of(bytes: &[u8]) -> Result<Item, Raise> {
    check_length(bytes)?;
    Item::from_bytes(bytes.into()).map_err(|_| {
        Raise::new(DATA_CORRUPTED, "the bytes are no ddb.item")
            .hint("Cast from bytea only what was cast to bytea from a ddb.item.")
    })
}

/// The bytes of a varlena, detoasted.
///
/// # Safety
/// The datum must be a varlena; the bytes live as long as the current memory context.
pub unsafe fn varlena_bytes<'a>(datum: pg_sys::Datum) -> &'a [u8] {
    unsafe {
        let varlena = pg_sys::pg_detoast_datum_packed(datum.cast_mut_ptr());
        std::slice::from_raw_parts(
            pgrx::vardata_any(varlena).cast(),
            pgrx::varsize_any_exhdr(varlena),
        )
    }
}

/// # Safety
/// As [`varlena_bytes`].
pub unsafe fn text_of<'a>(datum: pg_sys::Datum) -> Result<&'a str, Raise> {
    std::str::from_utf8(unsafe { varlena_bytes(datum) })
        .map_err(|_| Raise::new(INVALID_PARAMETER_VALUE, "the text is not valid UTF-8"))
}

/// A varlena (text, json, bytea, item) in the current memory context.
pub fn varlena(bytes: &[u8]) -> pg_sys::Datum {
    // SAFETY: palloc answers that many bytes or raises.
    unsafe {
        let length = bytes.len() + pg_sys::VARHDRSZ;
        let varlena: *mut pg_sys::varlena = pg_sys::palloc(length).cast();
        pgrx::set_varsize_4b(varlena, length as i32);
        std::ptr::copy_nonoverlapping(
            bytes.as_ptr(),
            varlena.cast::<u8>().add(pg_sys::VARHDRSZ),
            bytes.len(),
        );
        pg_sys::Datum::from(varlena)
    }
}

/// The datum of an item.
pub fn item_datum(item: &Item) -> pg_sys::Datum {
    varlena(item.as_bytes())
}
