//! Requests: the calls that carry one DynamoDB operation each, and the engine driven to completion in place.

use std::{
    ffi::c_int,
    time::{Duration, Instant},
};

use extenddb_core::{
    engine::run_now,
    operation::{
        self, Context, Operation,
        together::{self, Kind, Served},
    },
    table::AccountId,
    wire::{Answer, json, json::Json},
};
use pgrx::pg_sys;

use crate::{
    call::{Call, Returned, check_length, sql_functions, varlena},
    clock, guc,
    locks::LockName,
    raise::{INTERNAL_ERROR, INVALID_PARAMETER_VALUE, Raise},
    security::{Right, as_owner},
    store::SpiStore,
    subtransaction::undone_unless,
};

sql_functions! {
    "ddb_request" => request;
    "ddb_requests" => requests;
    "ddb_transact_explain" => transact_explain;
}

/// `ddb.request`: every answer of DynamoDB's is data, a fault too.
fn request(call: &Call) -> Returned {
    let began = Instant::now();
    let operation = call.required_text(0, "operation")?;
    let body = call.required_text(1, "request")?;
    let context = RequestContext::read(call.text(2)?)?;
    let request = Request {
        operation: Operation::from_name(operation),
        body,
        context,
        began,
    };
    Ok(Some(answer_row(&request.serve()?)))
}

/// `ddb.requests`: several in one call, in order; each its own answer. Operations on single items never wait for a lock,
/// but for the one that a context names: what would have to is not done, and answered with the name of its lock.
fn requests(call: &Call) -> Returned {
    let began = Instant::now();
    call.rows(|| {
        let (operations, bodies, contexts) = (call.texts(0)?, call.texts(1)?, call.texts(2)?);
        if operations.len() != bodies.len() || !(contexts.is_empty() || contexts.len() == bodies.len()) {
            return Err(Raise::new(
                INVALID_PARAMETER_VALUE,
                "operations, requests and contexts must be of one length",
            ));
        }
        let mut requests = Vec::with_capacity(bodies.len());
        for (at, (operation, body)) in operations.into_iter().zip(bodies).enumerate() {
            let (Some(operation), Some(body)) = (operation, body) else {
                return Err(Raise::new(
                    INVALID_PARAMETER_VALUE,
                    "operations and requests must not contain null",
                ));
            };
            requests.push(Request {
                operation: Operation::from_name(operation),
                body,
                context: RequestContext::read(contexts.get(at).copied().flatten())?,
                began,
            });
        }
        let wait_for = the_lock_to_wait_for(&requests)?;
        let mut answers = Vec::with_capacity(requests.len());
        for alike in requests.chunk_by(|a, b| a.kind().is_some() && a.kind() == b.kind()) {
            match alike[0].kind() {
                Some(kind) => answers.extend(together(kind, wait_for, alike)?),
                None => answers.push(alike[0].serve()?),
            }
        }
        Ok(answers.into_iter().map(|answer| Ok(answer_row(&answer))))
    })
}

/// A request of a call.
struct Request<'a> {
    /// `None`: there is no such operation.
    operation: Option<Operation>,
    body: &'a str,
    context: RequestContext,
    /// When the call began: what it waited for others counts too.
    began: Instant,
}

impl Request<'_> {
    fn kind(&self) -> Option<Kind> {
        self.operation.and_then(Kind::of)
    }

    /// How long it may still wait for locks.
    fn patience(&self) -> Duration {
        let whole = self
            .context
            .wait
            .unwrap_or(Duration::MAX)
            .min(guc::lock_timeout());
        whole.saturating_sub(self.began.elapsed())
    }

    /// Whether its waiting is over. The clock that ends a wait is another one, and has whole milliseconds.
    fn has_waited(&self) -> bool {
        const CLOCKS_DIFFER_BY: Duration = Duration::from_millis(2);
        self.patience() <= CLOCKS_DIFFER_BY
    }

    /// By itself.
    fn serve(&self) -> Result<Answer, Raise> {
        let Some(operation) = self.operation else {
            return Ok(unknown_operation());
        };
        let context = admit(operation, self.body, self.context.account.clone())?;
        // Who changes tables holds no items up, and is not told to come again.
        if let Some(lock) = self.context.wait_for
            && !operation.writes_tables()
            && !self.has_waited()
        {
            let store = SpiStore::that_waits_for(lock, self.patience(), false);
            let serve = || {
                run_now(operation::serve_unless_held(
                    &store, operation, self.body, &context,
                ))
            };
            let is_done = |served: &Served| matches!(served, Served::Answer(_));
            let served = as_owner(|| match operation {
                // Those of its items that are not held may be written by then.
                Operation::BatchWriteItem => undone_unless(is_done, serve),
                _ => serve(),
            })?;
            match served {
                Served::Answer(answer) => return Ok(answer),
                Served::Held(lock) if !self.has_waited() => return Ok(not_done(lock)),
                Served::Held(_) => {}
            }
        }
        let store = SpiStore::that_waits(self.patience());
        as_owner(|| run_now(operation::serve(&store, operation, self.body, &context)))
    }
}

fn the_lock_to_wait_for(requests: &[Request<'_>]) -> Result<Option<LockName>, Raise> {
    let mut named = requests.iter().filter_map(|request| request.context.wait_for);
    let first = named.next();
    if named.any(|other| Some(other) != first) {
        return Err(Raise::new(
            INVALID_PARAMETER_VALUE,
            "a call may wait for one lock: every context.waitTag must be the same",
        ));
    }
    Ok(first)
}

/// Requests on single items, all reads or all writes, as the owner and in one go. They wait as long as the one of them that
/// has the least time left.
fn together(kind: Kind, wait_for: Option<LockName>, requests: &[Request<'_>]) -> Result<Vec<Answer>, Raise> {
    let mut contexts = Vec::with_capacity(requests.len());
    for request in requests {
        if let Some(operation) = request.operation {
            let account = request.context.account.clone();
            contexts.push((operation, request.body, admit(operation, request.body, account)?));
        }
    }
    let to_serve: Vec<together::Request<'_>> = contexts
        .iter()
        .map(|(operation, body, context)| together::Request {
            operation: *operation,
            body,
            context,
        })
        .collect();
    let store = match wait_for {
        Some(lock) => {
            let least = requests.iter().map(Request::patience).min();
            SpiStore::that_waits_for(lock, least.unwrap_or_default(), true)
        }
        None => SpiStore::that_never_waits(),
    };
    let served = as_owner(|| run_now(together::serve(&store, kind, &to_serve)))?;
    let answers = requests.iter().zip(&to_serve).zip(served);
    Ok(answers
        .map(|((request, sent), served)| match served {
            Served::Answer(answer) => answer,
            Served::Held(_) if request.has_waited() => sent.conflict(),
            Served::Held(lock) => not_done(lock),
        })
        .collect())
}

/// What a request would have to wait for, and how long it may in all.
fn not_done(lock: u64) -> Answer {
    let lock_timeout_ms = guc::lock_timeout().as_millis();
    Answer {
        status: NOT_DONE,
        body: format!(r#"{{"tag":"{lock:016x}","lockTimeoutMs":{lock_timeout_ms}}}"#),
    }
}

/// The status of a request that was not done, for it would have had to wait.
const NOT_DONE: u16 = 0;

/// behaviour/wire §front-end: without a message.
fn unknown_operation() -> Answer {
    Answer {
        status: 400,
        body: r#"{"__type":"com.amazon.coral.service#UnknownOperationException"}"#.into(),
    }
}

/// Serves the request as the owner; it waits for what is held.
pub fn serve(operation: Operation, body: &str, account: AccountId) -> Result<Answer, Raise> {
    let context = admit(operation, body, account)?;
    as_owner(|| run_now(operation::serve(&SpiStore::new(), operation, body, &context)))
}

/// Checks the caller's right.
fn admit(operation: Operation, body: &str, account: AccountId) -> Result<Context, Raise> {
    check_length(body.as_bytes())?;
    Right::of(operation).require(format_args!("DynamoDB operation {}", operation.name()))?;
    // Only what creates something uses them: asking costs a tenth of a GetItem.
    let random = if operation.writes_tables() {
        random()?
    } else {
        [0; 16]
    };
    Ok(context(account, random))
}

/// `ddb.transact_explain(request)`: how a TransactWriteItems would be ranked; nothing is written.
fn transact_explain(call: &Call) -> Returned {
    Right::Read.require("function ddb.transact_explain")?;
    let body = call.required_text(0, "request")?;
    check_length(body.as_bytes())?;
    let context = context(AccountId::default(), [0; 16]);
    let explained = as_owner(|| run_now(operation::explain_transaction(&SpiStore::new(), body, &context)))?;
    Ok(Some(varlena(explained.as_bytes())))
}

fn context(account: AccountId, random: [u8; 16]) -> Context {
    Context {
        account,
        region: guc::region(),
        now: clock::now(),
        random,
        layer: guc::validation_layer(),
    }
}

/// Bytes that nobody can guess.
pub fn random() -> Result<[u8; 16], Raise> {
    let mut bytes = [0; 16];
    // SAFETY: writes as many bytes as it is told.
    if unsafe { pg_sys::pg_strong_random(bytes.as_mut_ptr().cast(), bytes.len()) } {
        Ok(bytes)
    } else {
        Err(Raise::new(INTERNAL_ERROR, "could not generate random bytes"))
    }
}

/// What `context` says about a request. Members that are not known here are ignored.
pub struct RequestContext {
    account: AccountId,
    /// `waitTag`: the one lock that may be waited for; none where none has this name.
    wait_for: Option<LockName>,
    /// `waitMs`: how long the request may wait for locks, if that is less than `extenddb.lock_timeout`.
    wait: Option<Duration>,
}

impl RequestContext {
    /// Whoever names an account or a principal speaks for somebody else, and only the proxy may.
    pub fn read(context: Option<&str>) -> Result<RequestContext, Raise> {
        let mut account = AccountId::default();
        let (mut wait_for, mut wait) = (None, None);
        let text = context.unwrap_or("{}");
        if text == "{}" {
            return Ok(RequestContext {
                account,
                wait_for,
                wait,
            });
        }
        check_length(text.as_bytes())?;
        let Ok(Json::Object(members)) = json::parse(text) else {
            return Err(Raise::new(
                INVALID_PARAMETER_VALUE,
                "context must be a JSON object",
            ));
        };
        let mut for_another = false;
        for (name, value) in &members {
            let known = [
                "account",
                "principal",
                "requestId",
                "host",
                "sourceIp",
                "accessKeyId",
                "waitTag",
            ];
            match value {
                Json::Null => {}
                Json::String(text) if name == "account" => {
                    if text.len() != 12 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
                        return Err(Raise::new(
                            INVALID_PARAMETER_VALUE,
                            "context.account must be twelve digits",
                        ));
                    }
                    let named = AccountId(text.to_string());
                    for_another |= named != AccountId::default();
                    account = named;
                }
                Json::String(text) if name == "waitTag" => {
                    let is_name = text.len() == 16 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
                    let lock = u64::from_str_radix(text, 16).ok().filter(|_| is_name);
                    wait_for = Some(LockName(lock.ok_or_else(|| {
                        Raise::new(
                            INVALID_PARAMETER_VALUE,
                            "context.waitTag must be sixteen hexadecimal digits",
                        )
                    })?));
                }
                Json::Number(digits) if name == "waitMs" => {
                    let wait_ms = digits.parse().map_err(|_| not_a_wait())?;
                    wait = Some(Duration::from_millis(wait_ms));
                }
                _ if name == "waitMs" => return Err(not_a_wait()),
                Json::String(_) if name == "principal" => for_another = true,
                Json::String(_) => {}
                _ if known.contains(&name.as_ref()) => {
                    return Err(Raise::new(
                        INVALID_PARAMETER_VALUE,
                        format!("context.{name} must be a string"),
                    ));
                }
                _ => {}
            }
        }
        if for_another {
            Right::Proxy.require("naming an account or principal in context")?;
        }
        Ok(RequestContext {
            account,
            wait_for,
            wait,
        })
    }
}

fn not_a_wait() -> Raise {
    Raise::new(
        INVALID_PARAMETER_VALUE,
        "context.waitMs must be a whole number of milliseconds",
    )
}

/// `(status int, body json)`. An empty body is no JSON: null.
fn answer_row(answer: &Answer) -> pg_sys::Datum {
    let mut values = [
        pg_sys::Datum::from(i32::from(answer.status)),
        varlena(answer.body.as_bytes()),
    ];
    let mut nulls = [false, answer.body.is_empty()];
    // SAFETY: a blessed descriptor of two columns, and as many values.
    unsafe {
        let tuple = pg_sys::heap_form_tuple(answer_columns(), values.as_mut_ptr(), nulls.as_mut_ptr());
        pg_sys::HeapTupleHeaderGetDatum((*tuple).t_data)
    }
}

/// The row type of answers, made once a backend: asking for the call's own costs more than it serves a small GetItem.
fn answer_columns() -> pg_sys::TupleDesc {
    thread_local! {
        static COLUMNS: std::cell::Cell<pg_sys::TupleDesc> = const { std::cell::Cell::new(std::ptr::null_mut()) };
    }
    let known = COLUMNS.get();
    if !known.is_null() {
        return known;
    }
    // SAFETY: the descriptor lives in TopMemoryContext, for the life of the backend.
    unsafe {
        let before = pg_sys::MemoryContextSwitchTo(pg_sys::TopMemoryContext);
        let columns = pg_sys::CreateTemplateTupleDesc(2);
        const NO_MODIFIER: c_int = -1;
        pg_sys::TupleDescInitEntry(columns, 1, c"status".as_ptr(), pg_sys::INT4OID, NO_MODIFIER, 0);
        pg_sys::TupleDescInitEntry(columns, 2, c"body".as_ptr(), pg_sys::JSONOID, NO_MODIFIER, 0);
        let columns = pg_sys::BlessTupleDesc(columns);
        pg_sys::MemoryContextSwitchTo(before);
        COLUMNS.set(columns);
        columns
    }
}
