//! What an error of the server says about the request that got it.

use tokio_postgres::{
    Error,
    error::{DbError, Severity, SqlState},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Rolled back because of others: the same request may well succeed.
    RunAgain,
    /// Rolled back; the session is fine.
    RolledBack,
    /// Rolled back; what the session prepared is not valid any more (the extension was replaced).
    NewSession,
    /// The session is gone, or talks nonsense: the request may have been committed.
    Unknown,
}

/// Only an ERROR proves a rollback. A FATAL may reach us between the commit and its report.
pub(crate) fn verdict(error: &Error) -> Verdict {
    error.as_db_error().map_or(Verdict::Unknown, verdict_of_report)
}

fn verdict_of_report(report: &DbError) -> Verdict {
    if report.parsed_severity() != Some(Severity::Error) {
        return Verdict::Unknown;
    }
    let code = report.code();
    if [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
    ]
    .contains(code)
    {
        Verdict::RunAgain
    } else if is_stale(code) {
        Verdict::NewSession
    } else {
        Verdict::RolledBack
    }
}

fn is_stale(code: &SqlState) -> bool {
    [
        SqlState::UNDEFINED_FUNCTION,
        SqlState::INVALID_SCHEMA_NAME,
        SqlState::INVALID_SQL_STATEMENT_NAME,
    ]
    .contains(code)
}

/// Code and message for the log. Never the detail: it may quote a request.
pub(crate) fn describe(error: &Error) -> String {
    match error.as_db_error() {
        Some(report) => {
            format!(
                "{} {}: {}",
                report.severity(),
                report.code().code(),
                report.message()
            )
        }
        None => {
            let mut text = error.to_string();
            let mut source = std::error::Error::source(error);
            while let Some(cause) = source {
                text = format!("{text}: {cause}");
                source = cause.source();
            }
            text
        }
    }
}
