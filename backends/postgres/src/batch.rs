//! Requests on single items that wait for a session travel together: one statement, one commit, the answers after it.
//!
//! Nothing is held back to fill a batch: a session that becomes free takes what waits, reads and writes apart. A batch
//! never waits for a lock either. What would have to is answered with the lock's name, and goes out again with all
//! others that found the same lock held, in a call that may wait for it: one such call a lock, and never on more than
//! half of the sessions, so that a held key holds up its own requests only.

use std::{
    collections::{HashMap, VecDeque, hash_map::Entry},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use extenddb_core::{
    error::Exception,
    operation::{Operation, together::Kind},
    wire::{Answer, error_body},
};
use tokio::{
    sync::{Semaphore, oneshot},
    time::{Instant, sleep, timeout_at},
};

use crate::{
    Failure, REPORT_GRACE,
    alarm::Late,
    config::Limits,
    pool::{Lease, Pool},
    verdict::{Verdict, describe, verdict},
};

/// The most requests of one statement. More of them gain little, and each waits for the slowest.
pub const BATCH_MAX: usize = 32;

/// A request on its way. Whoever drops it has answered, or lets its client see a fault.
pub(crate) struct Waiting {
    pub operation: Operation,
    pub body: String,
    /// A JSON object.
    pub context: String,
    pub deadline: Instant,
    pub answer: oneshot::Sender<Result<Answer, Failure>>,
}

/// What waits, by what it waits for.
pub(crate) struct Batches {
    pool: Arc<Pool>,
    reads: Queue,
    writes: Queue,
    /// By the name of the lock; each has one task that waits for it.
    held: Mutex<HashMap<String, VecDeque<Waiting>>>,
    /// Sessions that may wait for locks at a time.
    holders: Semaphore,
    /// Requests that wait for a session or a lock, and the bytes of their bodies.
    waiting: AtomicUsize,
    waiting_bytes: AtomicUsize,
    limits: Limits,
}

#[derive(Default)]
struct Queue(Mutex<Queued>);

#[derive(Default)]
struct Queued {
    waiting: VecDeque<Waiting>,
    /// A task is waiting for a session to take from here.
    served: bool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Batches {
    pub fn new(pool: Arc<Pool>, sessions: usize, limits: Limits) -> Batches {
        Batches {
            pool,
            reads: Queue::default(),
            writes: Queue::default(),
            held: Mutex::default(),
            holders: Semaphore::new((sessions / 2).max(1)),
            waiting: AtomicUsize::new(0),
            waiting_bytes: AtomicUsize::new(0),
            limits,
        }
    }

    /// Sends a request with the next session that becomes free.
    pub fn queue(self: &Arc<Self>, kind: Kind, request: Waiting) {
        if let Some(request) = self.admit(request) {
            self.enqueue(kind, request);
        }
    }

    /// Sends a request that found a lock held, once the lock is free or the wait for it has ended.
    pub fn hold(self: &Arc<Self>, lock: String, request: Waiting) {
        if let Some(request) = self.admit(request) {
            self.hold_admitted(lock, request);
        }
    }

    /// Counts a request in; past the limits it is answered here.
    fn admit(&self, request: Waiting) -> Option<Waiting> {
        let requests = self.waiting.fetch_add(1, Ordering::Relaxed);
        let bytes = self
            .waiting_bytes
            .fetch_add(request.body.len(), Ordering::Relaxed);
        if requests < self.limits.requests && bytes < self.limits.bytes {
            return Some(request);
        }
        self.answer(request, Ok(throttled()));
        None
    }

    fn answer(&self, request: Waiting, answer: Result<Answer, Failure>) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        self.waiting_bytes
            .fetch_sub(request.body.len(), Ordering::Relaxed);
        // The client may have gone.
        let _ = request.answer.send(answer);
    }

    fn queue_of(&self, kind: Kind) -> &Queue {
        match kind {
            Kind::Read => &self.reads,
            Kind::Write => &self.writes,
        }
    }

    fn enqueue(self: &Arc<Self>, kind: Kind, request: Waiting) {
        let mut queued = locked(&self.queue_of(kind).0);
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
            match self.pool.lease(deadline).await {
                Ok(lease) => {
                    let (batches, batch) = (self.clone(), self.take(kind));
                    tokio::spawn(async move { batches.run(lease, batch, None).await });
                }
                // The time of the first is up; that of others may not be.
                Err(_) if deadline <= Instant::now() => {
                    self.expire(&mut locked(&self.queue_of(kind).0).waiting);
                }
                Err(cause) => self.fail(self.take(kind), || Failure::NotSent(cause.clone())),
            }
        }
    }

    /// Until when the first that waits does; `None`, and nobody serves the queue any more, where nothing waits.
    fn first_deadline(&self, kind: Kind) -> Option<Instant> {
        let mut queued = locked(&self.queue_of(kind).0);
        let deadline = queued.waiting.front().map(|request| request.deadline);
        queued.served = deadline.is_some();
        deadline
    }

    fn take(&self, kind: Kind) -> Vec<Waiting> {
        let mut queued = locked(&self.queue_of(kind).0);
        self.take_from(&mut queued.waiting)
    }

    /// Up to a batch of what somebody still waits for.
    fn take_from(&self, waiting: &mut VecDeque<Waiting>) -> Vec<Waiting> {
        let mut batch = Vec::new();
        let now = Instant::now();
        while batch.len() < BATCH_MAX
            && let Some(request) = waiting.pop_front()
        {
            if request.answer.is_closed() {
                self.answer(request, Err(Failure::NotSent("abandoned".into())));
            } else if request.deadline <= now {
                let cause = "every session was busy until the deadline".into();
                self.answer(request, Err(Failure::NotSent(cause)));
            } else {
                batch.push(request);
            }
        }
        batch
    }

    /// Answers those whose time is up; the others go on waiting.
    fn expire(&self, waiting: &mut VecDeque<Waiting>) {
        let now = Instant::now();
        let (expired, rest): (VecDeque<_>, VecDeque<_>) = std::mem::take(waiting)
            .into_iter()
            .partition(|request| request.deadline <= now);
        *waiting = rest;
        let cause = || Failure::NotSent("every session was busy until the deadline".into());
        self.fail(expired.into(), cause);
    }

    fn fail(&self, batch: Vec<Waiting>, failure: impl Fn() -> Failure) {
        for request in batch {
            self.answer(request, Err(failure()));
        }
    }

    fn hold_admitted(self: &Arc<Self>, lock: String, request: Waiting) {
        match locked(&self.held).entry(lock) {
            Entry::Occupied(mut waiting) => waiting.get_mut().push_back(request),
            Entry::Vacant(place) => {
                let lock = place.key().clone();
                place.insert(VecDeque::from([request]));
                tokio::spawn(self.clone().wait_for(lock));
            }
        }
    }

    /// One call after the other waits for this lock, with all that wait for it, until none does.
    async fn wait_for(self: Arc<Self>, lock: String) {
        loop {
            let deadline = match locked(&self.held).entry(lock.clone()) {
                Entry::Occupied(waiting) => match waiting.get().front() {
                    Some(first) => first.deadline,
                    None => {
                        waiting.remove();
                        return;
                    }
                },
                Entry::Vacant(_) => return,
            };
            let holder = timeout_at(deadline, self.holders.acquire()).await;
            let lease = match &holder {
                Ok(_) => self.pool.lease(deadline).await,
                Err(_) => Err("too many sessions waited for locks until the deadline".to_owned()),
            };
            let take = || {
                let mut held = locked(&self.held);
                held.get_mut(&lock)
                    .map(|waiting| self.take_from(waiting))
                    .unwrap_or_default()
            };
            match lease {
                Ok(lease) => self.run(lease, take(), Some(&lock)).await,
                Err(_) if deadline <= Instant::now() => {
                    if let Some(waiting) = locked(&self.held).get_mut(&lock) {
                        self.expire(waiting);
                    }
                }
                Err(cause) => self.fail(take(), || Failure::NotSent(cause.clone())),
            }
        }
    }

    /// One statement for all of them. `lock`: the one that they may wait for.
    async fn run(self: &Arc<Self>, mut lease: Lease, batch: Vec<Waiting>, lock: Option<&str>) {
        let Some(deadline) = batch.iter().map(|request| request.deadline).max() else {
            return lease.give_back();
        };
        let operations: Vec<&str> = batch.iter().map(|request| request.operation.name()).collect();
        let bodies: Vec<&str> = batch.iter().map(|request| request.body.as_str()).collect();
        let contexts: Vec<String> = batch
            .iter()
            .map(|request| waiting_for(&request.context, lock.unwrap_or(NO_LOCK)))
            .collect();
        let until = deadline + REPORT_GRACE;
        let call = lease.session().requests(&operations, &bodies, &contexts, until);
        let outcome = tokio::select! {
            outcome = call => outcome,
            () = abandoned(&batch) => {
                // Dropped in the middle of its statement, the lease sees to it that it ends.
                drop(lease);
                return self.fail(batch, || Failure::NotSent("abandoned".into()));
            }
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
                return self.fail(batch, || Failure::Unknown("the server answered too few".into()));
            }
            Ok(Err(error)) => error,
            Err(Late) => {
                lease.discard();
                let cause = "the server did not answer in time";
                return self.fail(batch, || Failure::Unknown(cause.into()));
            }
        };
        match verdict(&error) {
            // One of them is the cause, and nothing was done: each by itself.
            Verdict::RunAgain | Verdict::RolledBack => lease.give_back(),
            Verdict::NewSession => lease.discard_all(),
            Verdict::Unknown => {
                lease.discard_all();
                let (reads, writes): (Vec<_>, Vec<_>) = batch
                    .into_iter()
                    .partition(|request| Kind::of(request.operation) == Some(Kind::Read));
                self.fail(writes, || Failure::Unknown(describe(&error)));
                return self.rerun(reads);
            }
        }
        self.rerun(batch);
    }

    fn rerun(self: &Arc<Self>, batch: Vec<Waiting>) {
        for request in batch {
            let batches = self.clone();
            tokio::spawn(async move {
                let alone = crate::alone(
                    &batches.pool,
                    None,
                    request.operation,
                    &request.body,
                    &request.context,
                    request.deadline,
                );
                match alone.await {
                    Ok(answer) => batches.deliver(request, answer),
                    Err(failure) => batches.answer(request, Err(failure)),
                }
            });
        }
    }

    /// Hands out an answer; a request that found a lock held waits for it.
    fn deliver(self: &Arc<Self>, request: Waiting, answer: Answer) {
        match held_lock(&answer) {
            Some(lock) => self.hold_admitted(lock, request),
            None => self.answer(request, Ok(answer)),
        }
    }
}

/// Returns when nobody waits for any of them any more.
async fn abandoned(batch: &[Waiting]) {
    const LOOK_EVERY: Duration = Duration::from_millis(100);
    while !batch.iter().all(|request| request.answer.is_closed()) {
        sleep(LOOK_EVERY).await;
    }
}

/// The name of no lock: nothing may be waited for.
pub(crate) const NO_LOCK: &str = "0000000000000000";

/// A context that says which lock may be waited for.
pub(crate) fn waiting_for(context: &str, lock: &str) -> String {
    let rest = context.strip_prefix('{').unwrap_or("}");
    let separator = if rest.trim_start().starts_with('}') {
        ""
    } else {
        ","
    };
    format!(r#"{{"waitTag":"{lock}"{separator}{rest}"#)
}

/// The lock that a request was not done for.
pub(crate) fn held_lock(answer: &Answer) -> Option<String> {
    if answer.status != 0 {
        return None;
    }
    let lock = answer.body.strip_prefix(r#"{"tag":""#)?.strip_suffix(r#""}"#)?;
    Some(lock.to_owned())
}

/// Past the limits: SDKs wait and try again.
fn throttled() -> Answer {
    let text = "Rate of requests exceeds the allowed throughput.";
    Answer {
        status: Exception::Throttling.status(),
        body: error_body(Exception::Throttling, Some(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_says_what_may_be_waited_for() {
        assert_eq!(waiting_for("{}", NO_LOCK), r#"{"waitTag":"0000000000000000"}"#);
        assert_eq!(
            waiting_for(r#"{"account":"000000000000"}"#, "00000000000000ff"),
            r#"{"waitTag":"00000000000000ff","account":"000000000000"}"#
        );
    }

    #[test]
    fn only_status_zero_names_a_lock() {
        let answer = |status, body: &str| Answer {
            status,
            body: body.into(),
        };
        assert_eq!(
            held_lock(&answer(0, r#"{"tag":"00000000000000ff"}"#)).as_deref(),
            Some("00000000000000ff")
        );
        assert_eq!(held_lock(&answer(200, r#"{"tag":"00000000000000ff"}"#)), None);
    }
}
