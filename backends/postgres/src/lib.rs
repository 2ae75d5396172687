//! A thin client of the extension: one request is one prepared statement on a pooled session.
//!
//! An answer is handed out only after the server said ReadyForQuery, which follows the commit. What fails before
//! that is told apart by one question, asked in [`verdict`]: is it certain that nothing was done?

mod alarm;
mod batch;
mod config;
mod context;
mod held;
mod line;
mod pool;
mod session;
mod verdict;
mod wire;

pub use config::{Batching, Config, ConfigError, Limits, SynchronousCommit, connection_settings};
pub use session::OpenError;

use std::{sync::Arc, time::Duration};

use extenddb_core::{
    operation::{Operation, together::Kind},
    wire::Answer,
};
use tokio::{
    sync::oneshot,
    time::{Instant, sleep, timeout_at},
};

use alarm::Late;
use batch::{Batches, Waiting};
use context::Waits;
use held::Held;
use line::{Line, Place, throttled};
use pool::{Lease, Pool};
use verdict::{Verdict, describe, verdict};

/// How long past `statement_timeout` the server may take to report it before its connection is given up.
const REPORT_GRACE: Duration = Duration::from_secs(5);

/// Runs of one request that PostgreSQL rolled back as a serialization failure or deadlock, the first included.
const MAX_RUNS: u32 = 5;

/// How long a readiness check waits for the server.
const READY_WITHIN: Duration = Duration::from_secs(2);

/// A request that got no answer from the extension. The texts are for the log, never for the client.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// No session could be had: nothing was sent.
    #[error("not sent: {0}")]
    NotSent(String),
    /// The server rolled it back.
    #[error("rolled back: {0}")]
    RolledBack(String),
    /// It was sent, and whether it took effect is not known.
    #[error("outcome unknown: {0}")]
    Unknown(String),
}

/// A database with the extension.
pub struct Postgres {
    pool: Arc<Pool>,
    batches: Arc<Batches>,
    batching: Batching,
    line: Arc<Line>,
}

impl Postgres {
    /// Opens one session, so that what is wrong with the configuration shows at the start.
    pub async fn connect(config: Config) -> Result<Postgres, OpenError> {
        let (sessions, batching) = (config.pool_size, config.batching);
        let line = Line::new(config.limits);
        let pool = Arc::new(Pool::new(config));
        pool.open_first().await?;
        let batches = Arc::new(Batches::new(pool.clone(), sessions, batching));
        Ok(Postgres {
            pool,
            batches,
            batching,
            line,
        })
    }

    /// The extension's version, asked at connect.
    pub fn extension_version(&self) -> &str {
        self.pool.extension_version()
    }

    /// One request. `body` and `context` are JSON objects and go through untouched. On a free session it is one statement
    /// by itself; while there is none, requests on single items travel together.
    pub async fn call(&self, operation: Operation, body: &str, context: &str) -> Result<Answer, Failure> {
        let deadline = Instant::now() + self.pool.request_timeout();
        if operation.writes_tables() {
            // It waits in its session for whoever uses the table, so not everyone may do so at a time.
            let holder = self.batches.locks.holder(deadline).await;
            let lease = self.pool.lease(deadline).await.map_err(Failure::NotSent)?;
            let lease = Some(lease.with(holder));
            return alone(&self.pool, lease, operation, body, context, deadline).await;
        }
        let kind = Kind::of(operation);
        let lease = match kind {
            None => None,
            Some(_) if self.batching.always => None,
            Some(_) if self.batching.max == 1 => self.pool.try_lease(deadline).await,
            Some(kind) => self.batches.try_lease(kind, deadline).await,
        };
        let lease = match (lease, kind) {
            (Some(lease), _) => Some(lease.map_err(Failure::NotSent)?),
            (None, None) => None,
            (None, Some(kind)) => {
                let Some(place) = self.line.enter(body.len()) else {
                    return Ok(throttled());
                };
                if self.batching.max > 1 {
                    let (request, answer) = waiting(operation, body, context, deadline, place);
                    self.batches.queue(kind, request);
                    return answered(answer, deadline).await;
                }
                // Its place is given up with its turn.
                let lease = self.pool.lease(deadline).await;
                drop(place);
                Some(lease.map_err(Failure::NotSent)?)
            }
        };
        // It takes no session to wait for a lock: those are few, and the lock may be held for long.
        let impatient = Waits::ForNone.said_at_first(context);
        let answer = alone(&self.pool, lease, operation, body, &impatient, deadline).await?;
        let Some(held) = Held::told_by(&answer) else {
            return Ok(answer);
        };
        let Some(place) = self.line.enter(body.len()) else {
            return Ok(throttled());
        };
        let (request, answer) = waiting(operation, body, context, deadline, place);
        self.batches.hold(held, request);
        answered(answer, deadline).await
    }

    /// Whether a request would be served now. A pool that is wholly busy and answering counts as ready.
    pub async fn ready(&self) -> Result<(), String> {
        let Some(mut lease) = self.pool.lease_idle(Instant::now() + READY_WITHIN).await? else {
            return Ok(());
        };
        match timeout_at(Instant::now() + READY_WITHIN, lease.session().check_extension()).await {
            Ok(Ok(_)) => {
                lease.give_back();
                Ok(())
            }
            Ok(Err(error)) => {
                lease.discard();
                Err(error.to_string())
            }
            Err(_) => {
                lease.discard();
                Err("the server did not answer in time".into())
            }
        }
    }

    /// Ends the idle sessions and refuses new leases. Call it when no request is running.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

/// A request that waits, and where its answer will come.
fn waiting(
    operation: Operation,
    body: &str,
    context: &str,
    deadline: Instant,
    place: Place,
) -> (Waiting, oneshot::Receiver<Result<Answer, Failure>>) {
    let (answer, receiver) = oneshot::channel();
    let request = Waiting {
        operation,
        body: body.to_owned(),
        context: context.to_owned(),
        deadline,
        patience: None,
        rounds: 0,
        suspect: false,
        answer,
        place,
    };
    (request, receiver)
}

async fn answered(
    answer: oneshot::Receiver<Result<Answer, Failure>>,
    deadline: Instant,
) -> Result<Answer, Failure> {
    // Longer than whoever serves it waits for the server.
    match timeout_at(deadline + 2 * REPORT_GRACE, answer).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) => Err(Failure::Unknown("the request was lost".into())),
        Err(_) => Err(Failure::Unknown("the server did not answer in time".into())),
    }
}

/// One request, one statement, one commit; `lease` is the session for the first try.
async fn alone(
    pool: &Arc<Pool>,
    mut lease: Option<Lease>,
    operation: Operation,
    body: &str,
    context: &str,
    deadline: Instant,
) -> Result<Answer, Failure> {
    let mut runs = 0;
    let mut replaced = false;
    loop {
        let mut lease = match lease.take() {
            Some(lease) => lease,
            None => pool.lease(deadline).await.map_err(Failure::NotSent)?,
        };
        runs += 1;
        let until = deadline + REPORT_GRACE;
        let answer = lease.session().request(operation.name(), body, context, until);
        let error = match answer.await {
            Ok(Ok(answer)) => {
                lease.give_back();
                return Ok(answer);
            }
            Ok(Err(error)) => error,
            Err(Late) => {
                lease.discard();
                return Err(Failure::Unknown("the server did not answer in time".into()));
            }
        };
        match verdict(&error) {
            Verdict::RunAgain => {
                lease.give_back();
                if runs >= MAX_RUNS || Instant::now() >= deadline {
                    return Err(Failure::RolledBack(describe(&error)));
                }
                sleep(jitter(runs)).await;
            }
            Verdict::RolledBack => {
                lease.give_back();
                return Err(Failure::RolledBack(describe(&error)));
            }
            Verdict::NewSession => {
                lease.discard_all();
                if replaced {
                    return Err(Failure::RolledBack(describe(&error)));
                }
                replaced = true;
            }
            Verdict::Unknown => {
                lease.discard_all();
                // To read twice harms nobody; to write twice may.
                if replaced || operation.writes_items() || operation.writes_tables() {
                    return Err(Failure::Unknown(describe(&error)));
                }
                replaced = true;
            }
        }
    }
}

/// Up to 4, 8, 16 … ms: those that collided should not meet again.
fn jitter(runs: u32) -> Duration {
    let ceiling_us = 2_000u64 << runs.min(6);
    Duration::from_micros(getrandom::u64().map_or(ceiling_us / 2, |random| random % ceiling_us))
}
