//! `ddb.idempotency_claim`, `_complete`, `_release`, `_sweep`: the storage half of an `Idempotency-Key` header, for any
//! application of the cluster.                                                        behaviour/idempotency

use extenddb_core::{
    claim::{
        idempotency::{
            Attempt, Claimed, IdempotencyFault, IdempotencyKey, Response, claim, complete, keep_for, release,
            sweep_size,
        },
        sweep_all,
    },
    engine::run_now,
};

use crate::{
    call::{Call, Returned, check_length, missing, sql_functions, varlena},
    clock,
    raise::{
        DATA_CORRUPTED, INTERNAL_ERROR, INVALID_PARAMETER_VALUE, LOCK_NOT_AVAILABLE, PROGRAM_LIMIT_EXCEEDED,
        Raise,
    },
    request::random,
    security::{Right, as_owner},
    store::SpiStore,
};

sql_functions! {
    "ddb_idempotency_claim" => idempotency_claim;
    "ddb_idempotency_complete" => idempotency_complete;
    "ddb_idempotency_release" => idempotency_release;
    "ddb_idempotency_sweep" => idempotency_sweep;
}

/// `ddb.idempotency_claim(owner_scope, method, path, key, fingerprint, stale_after)`.
fn idempotency_claim(call: &Call) -> Returned {
    Right::Write.require("function ddb.idempotency_claim")?;
    let key = key(call)?;
    let fingerprint = required(
        call.bytes(4),
        "fingerprint",
        "Pass a digest of the request, such as sha256 of its body.",
    )?;
    let stale_after = required(
        call.interval_us(5),
        "stale_after",
        "Leave it out for the default, 1 minute.",
    )?;
    let attempt = Attempt::new(fingerprint, stale_after, random()?).map_err(raise)?;
    let token = varlena(attempt.claim.as_bytes());
    let claimed =
        as_owner(|| run_now(claim(&SpiStore::new(), &key, attempt, clock::now())))?.map_err(raise)?;
    let outcome = |name: &str| Some(varlena(name.as_bytes()));
    match claimed {
        Claimed::Go => call.row(&[outcome("go"), Some(token), None, None, None, None]),
        Claimed::InFlight => call.row(&[outcome("in_flight"), None, None, None, None, None]),
        Claimed::Reused => call.row(&[outcome("reused"), None, None, None, None, None]),
        Claimed::Replay(response) => call.row(&[
            outcome("replay"),
            None,
            Some(i32::from(response.status).into()),
            Some(varlena(response.headers.as_bytes())),
            Some(varlena(&response.body)),
            response.content_digest.as_deref().map(varlena),
        ]),
    }
}

/// `ddb.idempotency_complete(owner_scope, method, path, key, claim, status, headers, body, keep_for, content_digest)`.
fn idempotency_complete(call: &Call) -> Returned {
    Right::Write.require("function ddb.idempotency_complete")?;
    let key = key(call)?;
    let attempt = token(call)?;
    let status = required(call.int4(5), "status", "Pass the HTTP status of the response.")?;
    let headers = required(
        call.text(6)?,
        "headers",
        "Pass '{}' where the response has none to keep.",
    )?;
    let body = required(call.bytes(7), "body", "Pass '' where the response has none.")?;
    let kept = required(
        call.interval_us(8),
        "keep_for",
        "Leave it out for the default, 24 hours.",
    )?;
    check_length(headers.as_bytes())?;
    let response = Response::new(status, headers, body, call.bytes(9)).map_err(raise)?;
    let keep_for = keep_for(kept).map_err(raise)?;
    let store = SpiStore::new();
    let completed = as_owner(|| run_now(complete(&store, &key, attempt, response, keep_for)))?;
    Ok(Some(completed.map_err(raise)?.into()))
}

/// `ddb.idempotency_release(owner_scope, method, path, key, claim)`.
fn idempotency_release(call: &Call) -> Returned {
    Right::Write.require("function ddb.idempotency_release")?;
    let key = key(call)?;
    let attempt = token(call)?;
    let released = as_owner(|| run_now(release(&SpiStore::new(), &key, attempt)))?;
    Ok(Some(released.map_err(raise)?.into()))
}

/// `ddb.idempotency_sweep(max)`: it changes no answer, so whoever may fill the store may empty it of what is over.
fn idempotency_sweep(call: &Call) -> Returned {
    Right::Write.require("function ddb.idempotency_sweep")?;
    let max = required(call.int4(0), "max", "Leave it out for the default, 1000.")?;
    let max = sweep_size(max).map_err(raise)?;
    let store = SpiStore::that_never_waits();
    let removed = as_owner(|| run_now(sweep_all(&store, clock::now(), max)))?;
    let removed = removed.map_err(|error| raise(error.into()))?;
    Ok(Some((removed as i64).into()))
}

/// Every function but the sweep takes these four first.
fn key(call: &Call) -> Result<IdempotencyKey, Raise> {
    let part = |argument, name, hint| required(call.text(argument)?, name, hint);
    let owner_scope = part(
        0,
        "owner_scope",
        "Name whose keys these are, such as a tenant or a user.",
    )?;
    let method = part(1, "method", "Pass the method of the request, such as 'POST'.")?;
    let path = part(2, "path", "Pass the path of the request, such as '/orders'.")?;
    let key = part(
        3,
        "key",
        "Pass the value of the Idempotency-Key header; a request without one needs no claim.",
    )?;
    IdempotencyKey::new(owner_scope, method, path, key).map_err(raise)
}

fn token(call: &Call) -> Result<String, Raise> {
    let hint = "Pass the claim that ddb.idempotency_claim answered beside the outcome go.";
    required(call.text(4)?, "claim", hint).map(str::to_owned)
}

fn required<T>(argument: Option<T>, name: &str, hint: &str) -> Result<T, Raise> {
    argument.ok_or_else(|| missing(name).hint(hint))
}

fn raise(fault: IdempotencyFault) -> Raise {
    let sqlstate = match &fault {
        IdempotencyFault::ResponseSize { .. } => PROGRAM_LIMIT_EXCEEDED,
        IdempotencyFault::Busy => LOCK_NOT_AVAILABLE,
        IdempotencyFault::Corrupt => DATA_CORRUPTED,
        IdempotencyFault::Unavailable(_) => INTERNAL_ERROR,
        _ => INVALID_PARAMETER_VALUE,
    };
    let raise = Raise::new(sqlstate, fault.text());
    match fault.hint() {
        Some(hint) => raise.hint(hint),
        None => raise,
    }
}
