//! A subtransaction around a piece of work whose error is wanted as a value.

use std::panic::AssertUnwindSafe;

use pgrx::{PgSqlErrorCode, PgTryBuilder, pg_sys, pg_sys::panic::CaughtError};

/// Runs `work` in a subtransaction. An ERROR whose SQLSTATE is in `expected` rolls it back and is answered as that
/// SQLSTATE; any other, a cancel and a bug too, rolls it back and goes on its way.
///
/// Without the subtransaction a caught ERROR would leave its locks, pins and snapshots behind.
pub fn subtransaction<T>(expected: &[PgSqlErrorCode], work: impl FnOnce() -> T) -> Result<T, PgSqlErrorCode> {
    kept_where(|_| true, expected, work)
}

/// Runs `work` in a subtransaction that is rolled back where `keep` says so of the outcome.
pub fn undone_unless<T>(keep: impl FnOnce(&T) -> bool, work: impl FnOnce() -> T) -> T {
    match kept_where(keep, &[], work) {
        Ok(outcome) => outcome,
        Err(_) => unreachable!("no error was expected"),
    }
}

fn kept_where<T>(
    keep: impl FnOnce(&T) -> bool,
    expected: &[PgSqlErrorCode],
    work: impl FnOnce() -> T,
) -> Result<T, PgSqlErrorCode> {
    enum Outcome<T> {
        Done(T),
        Expected(PgSqlErrorCode),
        Other(Box<CaughtError>),
    }
    // SAFETY: the calls are PL/pgSQL's for a block with EXCEPTION, in its order.
    unsafe {
        let context = pg_sys::CurrentMemoryContext;
        let owner = pg_sys::CurrentResourceOwner;
        pg_sys::BeginInternalSubTransaction(std::ptr::null());
        pg_sys::MemoryContextSwitchTo(context);
        let outcome = PgTryBuilder::new(AssertUnwindSafe(|| Outcome::Done(work())))
            .catch_others(|error| match error {
                CaughtError::PostgresError(ref report) | CaughtError::ErrorReport(ref report)
                    if expected.contains(&report.sql_error_code()) =>
                {
                    Outcome::Expected(report.sql_error_code())
                }
                other => Outcome::Other(Box::new(other)),
            })
            .execute();
        match &outcome {
            Outcome::Done(value) if keep(value) => pg_sys::ReleaseCurrentSubTransaction(),
            _ => pg_sys::RollbackAndReleaseCurrentSubTransaction(),
        }
        pg_sys::MemoryContextSwitchTo(context);
        pg_sys::CurrentResourceOwner = owner;
        match outcome {
            Outcome::Done(value) => Ok(value),
            Outcome::Expected(code) => Err(code),
            Outcome::Other(error) => error.rethrow(),
        }
    }
}
