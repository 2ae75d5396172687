//! Requests on single items that wait for a session travel together: one statement, one commit, the answers after it.
//!
//! Nothing is held back to fill a batch: a session that becomes free takes what waits, reads and writes apart. Not all
//! sessions are used for that at a time: few with large batches do more than many with small ones. A batch
//! never waits for a lock either. What would have to is answered with the lock's name, and waits in [`held`](crate::held).

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use extenddb_core::{
    operation::{Operation, together::Kind},
    wire::Answer,
};
use tokio::{
    sync::{Semaphore, oneshot},
    time::{Instant, sleep, timeout_at},
};

use crate::{
    Failure, REPORT_GRACE,
    alarm::Late,
    config::Batching,
    context::{Waits, in_context},
    held::{Held, Locks},
    line::Place,
    pool::{Lease, Pool},
    verdict::{Verdict, describe, verdict},
};

/// A request on its way. Whoever drops it has answered, or lets its client see a fault.
pub(crate) struct Waiting {
    pub operation: Operation,
    pub body: String,
    /// A JSON object.
    pub context: String,
    pub deadline: Instant,
    /// Until when it waits for locks; `None`: it met none that was held.
    pub patience: Option<Instant>,
    /// How often it was sent to wait for a lock and met another one.
    pub rounds: u32,
    /// It, or what it travelled with, made the server raise an error: it spoils no other batch.
    pub suspect: bool,
    pub answer: oneshot::Sender<Result<Answer, Failure>>,
    pub place: Place,
}

impl Waiting {
    /// With what it may travel; `None`: with nothing.
    pub fn kind(&self) -> Option<Kind> {
        Kind::of(self.operation)
    }

    pub fn finish(self, answer: Result<Answer, Failure>) {
        // Whoever has an answer finds room for the next request.
        drop(self.place);
        // The client may have gone.
        let _ = self.answer.send(answer);
    }
}

/// What waits, by what it waits for.
pub(crate) struct Batches {
    pub(crate) pool: Arc<Pool>,
    /// The most requests of one statement.
    pub(crate) max: usize,
    reads: Queue,
    writes: Queue,
    pub(crate) locks: Locks,
}

struct Queue {
    queued: Mutex<Queued>,
    /// Statements at a time, of one request or several.
    lanes: Arc<Semaphore>,
}

#[derive(Default)]
struct Queued {
    waiting: VecDeque<Waiting>,
    /// A task is waiting for a session to take from here.
    served: bool,
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Batches {
    pub fn new(pool: Arc<Pool>, sessions: usize, batching: Batching) -> Batches {
        let queue = |lanes| Queue {
            queued: Mutex::default(),
            lanes: Arc::new(Semaphore::new(lanes)),
        };
        Batches {
            pool,
            max: batching.max,
            reads: queue(batching.reads),
            writes: queue(batching.writes),
            locks: Locks::new(sessions),
        }
    }

    fn queue_of(&self, kind: Kind) -> &Queue {
        match kind {
            Kind::Read => &self.reads,
            Kind::Write => &self.writes,
        }
    }

    /// A session for a request by itself, where one may serve its kind now.
    pub async fn try_lease(&self, kind: Kind, deadline: Instant) -> Option<Result<Lease, String>> {
        let lane = self.queue_of(kind).lanes.clone().try_acquire_owned().ok()?;
        let lease = self.pool.try_lease(deadline).await?;
        Some(lease.map(|lease| lease.with(Some(lane))))
    }

    /// A session for what waits.
    async fn lease(&self, kind: Kind, deadline: Instant) -> Result<Lease, String> {
        let lane = self.queue_of(kind).lanes.clone().acquire_owned();
        match timeout_at(deadline, lane).await {
            Ok(lane) => Ok(self.pool.lease(deadline).await?.with(lane.ok())),
            Err(_) => Err(NO_SESSION.into()),
        }
    }

    /// Sends a request with the next session that becomes free.
    pub fn queue(self: &Arc<Self>, kind: Kind, request: Waiting) {
        let mut queued = locked(&self.queue_of(kind).queued);
        queued.waiting.push_back(request);
        if !queued.served {
            queued.served = true;
            tokio::spawn(self.clone().serve(kind));
        }
    }

    /// Takes session after session as they become free, until nothing waits.
    async fn serve(self: Arc<Self>, kind: Kind) {
        loop {
            let Some(deadline) = self.first_deadline(kind) else {
                return;
            };
            match self.lease(kind, deadline).await {
                Ok(lease) => {
                    let (batches, batch) = (self.clone(), self.take(kind));
                    tokio::spawn(async move { batches.run(lease, batch, Waits::ForNone).await });
                }
                // The time of the first is up; that of others may not be.
                Err(_) if deadline <= Instant::now() => {
                    expire(&mut locked(&self.queue_of(kind).queued).waiting);
                }
                Err(cause) => fail(self.take(kind), || Failure::NotSent(cause.clone())),
            }
        }
    }

    /// Until when the first that waits does; `None`, and nobody serves the queue any more, where nothing waits.
    fn first_deadline(&self, kind: Kind) -> Option<Instant> {
        let mut queued = locked(&self.queue_of(kind).queued);
        let deadline = queued.waiting.front().map(|request| request.deadline);
        queued.served = deadline.is_some();
        deadline
    }

    /// Up to a batch of what somebody still waits for.
    fn take(&self, kind: Kind) -> Vec<Waiting> {
        let mut queued = locked(&self.queue_of(kind).queued);
        let mut batch = Vec::new();
        let now = Instant::now();
        while batch.len() < self.max
            && let Some(request) = queued.waiting.pop_front()
        {
            if request.answer.is_closed() {
                drop(request);
            } else if request.deadline <= now {
                request.finish(Err(Failure::NotSent(NO_SESSION.into())));
            } else {
                batch.push(request);
            }
        }
        batch
    }

    /// One statement for all of them.
    pub async fn run(self: &Arc<Self>, mut lease: Lease, batch: Vec<Waiting>, waits: Waits<'_>) {
        let Some(deadline) = batch.iter().map(|request| request.deadline).max() else {
            return lease.give_back();
        };
        let operations: Vec<&str> = batch.iter().map(|request| request.operation.name()).collect();
        let bodies: Vec<&str> = batch.iter().map(|request| request.body.as_str()).collect();
        let contexts = in_context(&batch, waits);
        let until = deadline + REPORT_GRACE;
        let call = lease.session().requests(&operations, &bodies, &contexts, until);
        let outcome = tokio::select! {
            outcome = call => outcome,
            // Dropped in the middle of its statement, the lease sees to it that it ends.
            () = abandoned(&batch) => return,
        };
        let error = match outcome {
            Ok(Ok(answers)) if answers.len() == batch.len() => {
                lease.give_back();
                for (request, answer) in batch.into_iter().zip(answers) {
                    self.deliver(request, answer);
                }
                return;
            }
            Ok(Ok(_)) => {
                lease.discard();
                return fail(batch, || Failure::Unknown("the server answered too few".into()));
            }
            Ok(Err(error)) => error,
            Err(Late) => {
                lease.discard();
                let cause = "the server did not answer in time";
                return fail(batch, || Failure::Unknown(cause.into()));
            }
        };
        match verdict(&error) {
            Verdict::RolledBack if batch.len() == 1 => {
                lease.give_back();
                return fail(batch, || Failure::RolledBack(describe(&error)));
            }
            // One of them is the cause, and nothing was done: each by itself.
            Verdict::RunAgain | Verdict::RolledBack => lease.give_back(),
            Verdict::NewSession => lease.discard_all(),
            Verdict::Unknown => {
                lease.discard_all();
                let (reads, writes): (Vec<_>, Vec<_>) = batch
                    .into_iter()
                    .partition(|request| request.kind() == Some(Kind::Read));
                fail(writes, || Failure::Unknown(describe(&error)));
                return self.rerun(reads, || Failure::Unknown(describe(&error)));
            }
        }
        self.rerun(batch, || Failure::RolledBack(describe(&error)));
    }

    /// Each by itself, where there is time left.
    fn rerun(self: &Arc<Self>, batch: Vec<Waiting>, failure: impl Fn() -> Failure) {
        for mut request in batch {
            if request.deadline <= Instant::now() {
                request.finish(Err(failure()));
                continue;
            }
            request.suspect = true;
            let batches = self.clone();
            tokio::spawn(async move {
                let context = Waits::ForNone.said_in(&request);
                let alone = crate::alone(
                    &batches.pool,
                    None,
                    request.operation,
                    &request.body,
                    &context,
                    request.deadline,
                );
                match alone.await {
                    Ok(answer) => batches.deliver(request, answer),
                    Err(failure) => request.finish(Err(failure)),
                }
            });
        }
    }

    /// Hands out an answer; a request that found a lock held waits for it.
    pub fn deliver(self: &Arc<Self>, request: Waiting, answer: Answer) {
        match Held::told_by(&answer) {
            Some(held) => self.hold(held, request),
            None => request.finish(Ok(answer)),
        }
    }
}

const NO_SESSION: &str = "every session was busy until the deadline";

/// Answers those whose time is up; the others go on waiting.
pub(crate) fn expire(waiting: &mut VecDeque<Waiting>) {
    let now = Instant::now();
    let (expired, rest): (VecDeque<_>, VecDeque<_>) = std::mem::take(waiting)
        .into_iter()
        .partition(|request| request.deadline <= now);
    *waiting = rest;
    fail(expired.into(), || Failure::NotSent(NO_SESSION.into()));
}

pub(crate) fn fail(batch: Vec<Waiting>, failure: impl Fn() -> Failure) {
    for request in batch {
        request.finish(Err(failure()));
    }
}

/// Returns when nobody waits for any of them any more.
pub(crate) async fn abandoned(batch: &[Waiting]) {
    const LOOK_EVERY: Duration = Duration::from_millis(100);
    while !batch.iter().all(|request| request.answer.is_closed()) {
        sleep(LOOK_EVERY).await;
    }
}
