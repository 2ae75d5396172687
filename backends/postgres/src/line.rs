//! How many requests may wait, and with how many bytes: what the memory of this process is kept to.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use extenddb_core::{
    error::Exception,
    wire::{Answer, error_body},
};

use crate::config::Limits;

/// The requests that wait for a session or a lock, or are on their way with others.
pub(crate) struct Line {
    requests: AtomicUsize,
    bytes: AtomicUsize,
    limits: Limits,
}

/// A place in the line, given up when it is dropped.
pub(crate) struct Place {
    line: Arc<Line>,
    bytes: usize,
}

impl Line {
    pub fn new(limits: Limits) -> Arc<Line> {
        Arc::new(Line {
            requests: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            limits,
        })
    }

    /// `None` past the limits: the request is to be [`throttled`]. The one that reaches the limit of bytes still comes in.
    pub fn enter(self: &Arc<Self>, bytes: usize) -> Option<Place> {
        let requests = self.requests.fetch_add(1, Ordering::Relaxed);
        let before_bytes = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let line = self.clone();
        // Refused, it is dropped here, and what it added with it.
        let place = Place { line, bytes };
        (requests < self.limits.requests && before_bytes < self.limits.bytes).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.line.requests.fetch_sub(1, Ordering::Relaxed);
        self.line.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Past the limits: SDKs wait and try again.
pub(crate) fn throttled() -> Answer {
    let text = "Rate of requests exceeds the allowed throughput.";
    Answer {
        status: Exception::Throttling.status(),
        body: error_body(Exception::Throttling, Some(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(requests: usize, bytes: usize) -> Arc<Line> {
        Line::new(Limits { requests, bytes })
    }

    #[test]
    fn whoever_leaves_makes_room() {
        let line = line(2, usize::MAX);
        let (first, second) = (line.enter(1).unwrap(), line.enter(1).unwrap());
        assert!(line.enter(1).is_none());
        // Being refused takes no room.
        drop(first);
        let third = line.enter(1).unwrap();
        assert!(line.enter(1).is_none());
        drop((second, third));
        assert_eq!(line.requests.load(Ordering::Relaxed), 0);
        assert_eq!(line.bytes.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn bytes_are_limited_too() {
        let line = line(usize::MAX, 100);
        let first = line.enter(99).unwrap();
        let second = line.enter(50).unwrap();
        assert!(line.enter(0).is_none());
        drop(second);
        assert!(line.enter(1).is_some());
        drop(first);
        assert_eq!(line.bytes.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn the_answer_is_the_services_own() {
        let answer = throttled();
        assert_eq!(answer.status, 400);
        assert_eq!(
            answer.body,
            r#"{"__type":"com.amazon.coral.availability#ThrottlingException","message":"Rate of requests exceeds the allowed throughput."}"#
        );
    }
}
