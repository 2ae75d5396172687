//! Requests that found a lock held.
//!
//! Those that found the same lock held go out again together, in a call that may wait for it: one such call a lock at a
//! time for reads, writes, and for what travels by itself, and all of them on no more than half of the sessions. So a held
//! key holds up its own requests only. A request waits for `extenddb.lock_timeout` in all, whatever it waits for and
//! whomever it waits behind; then it goes out a last time, without waiting, and gets its conflict.

use std::{
    collections::{HashMap, VecDeque, hash_map::Entry},
    sync::{Arc, Mutex},
    time::Duration,
};

use extenddb_core::{
    operation::together::Kind,
    wire::{
        Answer,
        json::{self, Json},
    },
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};

use crate::{
    Failure,
    batch::{Batches, Waiting, expire, fail, locked},
    context::{SOON, Waits},
    pool::Lease,
};

/// How often a request that travels by itself waits for one lock and tries the others; then it waits for all that it
/// meets, in the order of everybody, so that those that want the same locks do not keep stepping on each other. With none,
/// transactions on one held item would take all sessions that may wait; with two, transactions that cross each other's way
/// (24 clients, ten of a hundred items each) got no faster, and the slowest took half as long again.
const ROUNDS: u32 = 1;

/// The lock that a request was not done for, and how long it may wait for locks in all.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Held {
    lock: String,
    lock_timeout: Duration,
}

impl Held {
    /// `None`: it was done.
    pub fn told_by(answer: &Answer) -> Option<Held> {
        if answer.status != 0 {
            return None;
        }
        let Ok(Json::Object(members)) = json::parse(&answer.body) else {
            return None;
        };
        let mut held = Held {
            lock: String::new(),
            lock_timeout: Duration::ZERO,
        };
        for (name, value) in members {
            match value {
                Json::String(tag) if name == "tag" => held.lock = tag.into_owned(),
                Json::Number(digits) if name == "lockTimeoutMs" => {
                    held.lock_timeout = Duration::from_millis(digits.parse().ok()?);
                }
                _ => {}
            }
        }
        Some(held)
    }
}

/// The locks that are waited for.
pub(crate) struct Locks {
    /// By the name of the lock and what may travel together; each has one task that serves it.
    lines: Mutex<HashMap<(String, Option<Kind>), LockLine>>,
    /// Sessions that may wait for locks at a time.
    holders: Arc<Semaphore>,
}

struct LockLine {
    /// Those with the least patience first.
    waiting: VecDeque<Waiting>,
    /// When its task comes for the next ones, at the latest.
    until: Instant,
}

impl Locks {
    pub fn new(sessions: usize) -> Locks {
        Locks {
            lines: Mutex::default(),
            holders: Arc::new(Semaphore::new((sessions / 2).max(1))),
        }
    }

    /// The right to wait for locks in a session; `None` where there was none until then.
    pub async fn holder(&self, until: Instant) -> Option<OwnedSemaphorePermit> {
        let holder = self.holders.clone().acquire_owned();
        timeout_at(until, holder).await.ok()?.ok()
    }
}

impl Batches {
    /// Sends a request that found a lock held, once the lock is free or the wait for it has ended.
    pub fn hold(self: &Arc<Self>, held: Held, mut request: Waiting) {
        let ends = request.deadline.min(Instant::now() + held.lock_timeout);
        let patience = *request.patience.get_or_insert(ends);
        request.rounds += 1;
        if request.kind().is_none() && request.rounds > ROUNDS {
            tokio::spawn(self.clone().wait_apart(None, request));
            return;
        }
        match locked(&self.locks.lines).entry((held.lock, request.kind())) {
            Entry::Occupied(mut line) if line.get().until <= patience => {
                let waiting = &mut line.get_mut().waiting;
                let behind = waiting.partition_point(|other| other.patience <= Some(patience));
                waiting.insert(behind, request);
            }
            // It came from another lock, and has less time than those before it.
            Entry::Occupied(line) => {
                let (lock, _) = line.key().clone();
                tokio::spawn(self.clone().wait_apart(Some(lock), request));
            }
            Entry::Vacant(place) => {
                let (lock, kind) = place.key().clone();
                place.insert(LockLine {
                    waiting: VecDeque::from([request]),
                    until: patience,
                });
                tokio::spawn(self.clone().serve_lock(lock, kind));
            }
        }
    }

    /// One call after the other, with those that wait for this lock, until none does.
    async fn serve_lock(self: Arc<Self>, lock: String, kind: Option<Kind>) {
        let line = (lock, kind);
        loop {
            let (until, deadline) = {
                let mut lines = locked(&self.locks.lines);
                let Some(of_lock) = lines.get_mut(&line) else {
                    return;
                };
                let Some(first) = of_lock.waiting.front() else {
                    lines.remove(&line);
                    return;
                };
                of_lock.until = first.patience.unwrap_or(first.deadline);
                (of_lock.until, first.deadline)
            };
            let holder = self.locks.holder(until).await;
            match self.pool.lease(deadline).await {
                Ok(lease) => {
                    let batch = self.take_held(&line, holder.is_some());
                    let waits = match holder {
                        Some(_) => Waits::For(&line.0),
                        None => Waits::NoLonger,
                    };
                    self.send(lease.with(holder), batch, waits).await;
                }
                Err(_) if deadline <= Instant::now() => {
                    if let Some(of_lock) = locked(&self.locks.lines).get_mut(&line) {
                        expire(&mut of_lock.waiting);
                    }
                }
                Err(cause) => fail(self.take_held(&line, true), || Failure::NotSent(cause.clone())),
            }
        }
    }

    /// What goes out in the next call. Without the right to wait, only those whose patience is at its end.
    fn take_held(&self, line: &(String, Option<Kind>), may_wait: bool) -> Vec<Waiting> {
        let max = if line.1.is_some() { self.max } else { 1 };
        let now = Instant::now();
        let mut batch: Vec<Waiting> = Vec::new();
        let mut lines = locked(&self.locks.lines);
        let Some(of_lock) = lines.get_mut(line) else {
            return batch;
        };
        while batch.len() < max
            && let Some(next) = of_lock.waiting.pop_front()
        {
            if next.answer.is_closed() {
                continue;
            }
            let has_time = !may_wait && next.patience > Some(now + SOON);
            if has_time || (next.suspect && !batch.is_empty()) {
                of_lock.waiting.push_front(next);
                break;
            }
            let goes_alone = next.suspect;
            batch.push(next);
            if goes_alone {
                break;
            }
        }
        if let Some(patience) = batch.first().and_then(|first| first.patience) {
            of_lock.until = patience;
        }
        batch
    }

    /// A request that does not wait in line, for one lock or for all that it meets.
    async fn wait_apart(self: Arc<Self>, lock: Option<String>, request: Waiting) {
        let until = request.patience.unwrap_or(request.deadline);
        let holder = self.locks.holder(until).await;
        let waits = match (&holder, &lock) {
            (None, _) => Waits::NoLonger,
            (Some(_), Some(lock)) => Waits::For(lock),
            (Some(_), None) => Waits::ForAll,
        };
        match self.pool.lease(request.deadline).await {
            Ok(lease) => self.send(lease.with(holder), vec![request], waits).await,
            Err(cause) => request.finish(Err(Failure::NotSent(cause))),
        }
    }

    async fn send(self: &Arc<Self>, lease: Lease, mut batch: Vec<Waiting>, waits: Waits<'_>) {
        if batch.iter().all(|request| request.kind().is_some()) {
            return self.run(lease, batch, waits).await;
        }
        if let Some(request) = batch.pop() {
            self.send_alone(lease, request, waits).await;
        }
    }

    /// An operation that travels by itself.
    async fn send_alone(self: &Arc<Self>, lease: Lease, mut request: Waiting, waits: Waits<'_>) {
        let context = waits.said_in(&request);
        let (operation, body, deadline) = (request.operation, request.body.clone(), request.deadline);
        let alone = crate::alone(&self.pool, Some(lease), operation, &body, &context, deadline);
        let outcome = tokio::select! {
            outcome = alone => outcome,
            // As in a batch.
            () = request.answer.closed() => return,
        };
        match outcome {
            Ok(answer) => self.deliver(request, answer),
            Err(failure) => request.finish(Err(failure)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_status_zero_names_a_lock() {
        let answer = |status, body: &str| Answer {
            status,
            body: body.into(),
        };
        let body = r#"{"tag":"00000000000000ff","lockTimeoutMs":5000}"#;
        assert_eq!(
            Held::told_by(&answer(0, body)),
            Some(Held {
                lock: "00000000000000ff".into(),
                lock_timeout: Duration::from_secs(5),
            })
        );
        assert_eq!(Held::told_by(&answer(200, body)), None);
    }
}
