//! Errors as PostgreSQL's clients see them: DynamoDB's exceptions have SQLSTATEs of our own, class DD.
//!
//! pgrx knows PostgreSQL's SQLSTATEs only, so an error of ours leaves a function as a value ([`Raise`]) and is
//! reported when no Rust frame is left that would have to be unwound (`call.rs`).

use std::ffi::{CStr, c_char, c_int};

use extenddb_core::wire::{Answer, json, json::Json};
use pgrx::PgLogLevel;

/// The SQLSTATE of each exception: a fixed list, so that a handler written today stays right. An exception that
/// is new to this list is `DD000` until it gets a number. `docs/sql-reference.md` shows the same table.
const SQLSTATES: &[(&str, &str)] = &[
    ("ValidationException", "DD001"),
    ("SerializationException", "DD002"),
    ("UnknownOperationException", "DD003"),
    ("AccessDeniedException", "DD004"),
    ("ResourceNotFoundException", "DD005"),
    ("ResourceInUseException", "DD006"),
    ("LimitExceededException", "DD007"),
    ("ConditionalCheckFailedException", "DD008"),
    ("TransactionCanceledException", "DD009"),
    ("TransactionConflictException", "DD010"),
    ("TransactionInProgressException", "DD011"),
    ("IdempotentParameterMismatchException", "DD012"),
    ("DuplicateItemException", "DD013"),
    ("ItemCollectionSizeLimitExceededException", "DD014"),
    ("ProvisionedThroughputExceededException", "DD015"),
    ("RequestLimitExceeded", "DD016"),
    ("ThrottlingException", "DD017"),
    ("ReplicatedWriteConflictException", "DD018"),
    ("TableAlreadyExistsException", "DD020"),
    ("TableInUseException", "DD021"),
    ("TableNotFoundException", "DD022"),
    ("IndexNotFoundException", "DD023"),
    ("BackupInUseException", "DD024"),
    ("BackupNotFoundException", "DD025"),
    ("ContinuousBackupsUnavailableException", "DD026"),
    ("PointInTimeRecoveryUnavailableException", "DD027"),
    ("InvalidRestoreTimeException", "DD028"),
    ("ExportConflictException", "DD029"),
    ("ExportNotFoundException", "DD030"),
    ("InvalidExportTimeException", "DD031"),
    ("ImportConflictException", "DD032"),
    ("ImportNotFoundException", "DD033"),
    ("PolicyNotFoundException", "DD034"),
    ("GlobalTableNotFoundException", "DD035"),
    ("ExpiredIteratorException", "DD040"),
    ("TrimmedDataAccessException", "DD041"),
    ("InternalServerError", "DD500"),
    ("ServiceUnavailable", "DD503"),
];

const UNLISTED: &str = "DD000";

/// PostgreSQL's own SQLSTATEs, where its users expect them.
pub const INSUFFICIENT_PRIVILEGE: &str = "42501";
pub const INVALID_PARAMETER_VALUE: &str = "22023";
pub const INVALID_TEXT_REPRESENTATION: &str = "22P02";
pub const INVALID_BINARY_REPRESENTATION: &str = "22P03";
pub const UNTRANSLATABLE_CHARACTER: &str = "22P05";
pub const NULL_VALUE_NOT_ALLOWED: &str = "22004";
pub const PROGRAM_LIMIT_EXCEEDED: &str = "54000";
pub const LOCK_NOT_AVAILABLE: &str = "55P03";
pub const DATA_CORRUPTED: &str = "XX001";
pub const INTERNAL_ERROR: &str = "XX000";

/// An ERROR to be.
#[derive(Debug)]
pub struct Raise {
    sqlstate: &'static str,
    message: String,
    detail: Option<String>,
    hint: Option<String>,
}

impl Raise {
    pub fn new(sqlstate: &'static str, message: impl Into<String>) -> Raise {
        Raise {
            sqlstate,
            message: message.into(),
            detail: None,
            hint: None,
        }
    }

    pub fn detail(self, detail: impl Into<String>) -> Raise {
        Raise {
            detail: Some(detail.into()),
            ..self
        }
    }

    pub fn hint(self, hint: impl Into<String>) -> Raise {
        Raise {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// A fault that a request answered: MESSAGE is its text, DETAIL the error body.
    pub fn from_answer(answer: Answer) -> Raise {
        let (exception, text) = exception_and_text(&answer.body);
        let message = text.unwrap_or_else(|| exception.clone());
        Raise::new(sqlstate(&exception), message).detail(answer.body)
    }

    /// Moves the texts into PostgreSQL's memory, so that nothing of Rust's is left when the report jumps away.
    pub fn into_report(self) -> Report {
        // SAFETY: the current memory context outlives the report, which is copied when it is raised.
        let text = |text: &str| unsafe {
            pgrx::PgMemoryContexts::CurrentMemoryContext.pstrdup(&text.replace('\0', "\\u0000"))
        };
        let or_null = |value: Option<&str>| value.map_or(std::ptr::null_mut(), text);
        Report {
            sqlstate: pack(self.sqlstate),
            message: text(&self.message),
            detail: or_null(self.detail.as_deref()),
            hint: or_null(self.hint.as_deref()),
        }
    }
}

fn sqlstate(exception: &str) -> &'static str {
    SQLSTATES
        .iter()
        .find(|(name, _)| *name == exception)
        .map_or(UNLISTED, |(_, sqlstate)| sqlstate)
}

/// The name behind `#` in `__type`, and the text, which is `message` or `Message` by exception.
fn exception_and_text(body: &str) -> (String, Option<String>) {
    let Ok(Json::Object(members)) = json::parse(body) else {
        return ("InternalServerError".into(), None);
    };
    let string = |wanted: &[&str]| {
        members.iter().find_map(|(name, value)| match value {
            Json::String(text) if wanted.contains(&name.as_ref()) => Some(text.to_string()),
            _ => None,
        })
    };
    let named = string(&["__type"]).unwrap_or_default();
    let exception = named.rsplit('#').next().unwrap_or_default().to_owned();
    (exception, string(&["message", "Message"]))
}

/// PostgreSQL's MAKE_SQLSTATE: five characters of six bits.
fn pack(sqlstate: &str) -> c_int {
    sqlstate.bytes().rev().fold(0, |packed, byte| {
        (packed << 6) | (c_int::from(byte.wrapping_sub(b'0')) & 0x3f)
    })
}

/// What `ereport` is given: plain pointers into PostgreSQL's memory, nothing to drop.
#[derive(Clone, Copy)]
pub struct Report {
    sqlstate: c_int,
    message: *mut c_char,
    detail: *mut c_char,
    hint: *mut c_char,
}

impl Report {
    /// Raises the ERROR.
    ///
    /// # Safety
    /// Jumps over every frame up to PostgreSQL's: none of them may own anything that must be dropped.
    pub unsafe fn raise(self) -> ! {
        // Not in pgrx's bindings: it would turn the jump into a panic, and the SQLSTATE into one that it knows.
        unsafe extern "C-unwind" {
            fn errstart(level: c_int, domain: *const c_char) -> bool;
            fn errcode(sqlstate: c_int) -> c_int;
            fn errmsg(format: *const c_char, ...) -> c_int;
            fn errdetail(format: *const c_char, ...) -> c_int;
            fn errhint(format: *const c_char, ...) -> c_int;
            fn errfinish(file: *const c_char, line: c_int, function: *const c_char);
        }
        const TEXT: &CStr = c"%s";
        unsafe {
            errstart(PgLogLevel::ERROR as c_int, std::ptr::null());
            errcode(self.sqlstate);
            errmsg(TEXT.as_ptr(), self.message);
            if !self.detail.is_null() {
                errdetail(TEXT.as_ptr(), self.detail);
            }
            if !self.hint.is_null() {
                errhint(TEXT.as_ptr(), self.hint);
            }
            errfinish(c"raise.rs".as_ptr(), line!() as c_int, c"raise".as_ptr());
            unreachable!("errfinish returned from an ERROR")
        }
    }
}
