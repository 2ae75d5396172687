//! Who reads, and on which connection.
//!
//! What is short is read by whoever asks, in place: to hand it to another thread and back takes longer than the look
//! itself. All else goes to threads of its own. A thread of the runtime that waits for the disk keeps its other tasks
//! waiting, so where looks in place take long, those after them go to the threads for a while.

use std::{
    collections::VecDeque,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rusqlite::Connection;

type Look = Box<dyn FnOnce(&Connection) + Send>;

/// A look of some rows takes 20 µs where they are in memory. This is an average: one that took long may only have lost its
/// turn to another process.
const LONG: Duration = Duration::from_millis(1);

/// The average moves by such a part of the difference.
const WEIGHT: u64 = 64;

/// Then it is tried again, with the average as it was: as long as the disk is slow, one look a second waits for it in place.
const REST: Duration = Duration::from_secs(1);

pub struct Readers {
    queue: Arc<Queue>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    in_place: InPlace,
}

impl Readers {
    /// A thread for each of the first connections; the others are for looks in place.
    pub fn start(of_threads: Vec<Connection>, in_place: Vec<Connection>) -> io::Result<Readers> {
        let queue = Arc::<Queue>::default();
        let mut threads = Vec::new();
        for connection in of_threads {
            let queue = queue.clone();
            let reader = thread::Builder::new().name("sqlite-reader".into());
            threads.push(reader.spawn(move || queue.serve(&connection))?);
        }
        Ok(Readers {
            queue,
            threads: Mutex::new(threads),
            in_place: InPlace::new(in_place),
        })
    }

    /// Looks in place. `None` where that is not to be done now: then [`Readers::send`] it.
    pub fn look<T>(&self, look: impl FnOnce(&Connection) -> T) -> Option<T> {
        self.in_place.look(look)
    }

    /// If they are stopped, `look` is dropped.
    pub fn send(&self, look: Look) {
        self.queue.push(look);
    }

    /// Ends once everything that came before is done, and closes the connections.
    pub fn stop(&self) {
        self.queue.stop();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            let _ = thread.join();
        }
        self.in_place.stop();
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.queue.stop();
    }
}

struct InPlace {
    idle: Mutex<Idle>,
    returned: Condvar,
    started: Instant,
    /// How long looks took, in nanoseconds.
    average: AtomicU64,
    /// No look in place until so many nanoseconds after `started`.
    not_until: AtomicU64,
}

struct Idle {
    connections: Vec<Connection>,
    /// How many are in use.
    lent: usize,
    stopped: bool,
}

impl InPlace {
    fn new(connections: Vec<Connection>) -> InPlace {
        InPlace {
            idle: Mutex::new(Idle {
                connections,
                lent: 0,
                stopped: false,
            }),
            returned: Condvar::new(),
            started: Instant::now(),
            average: AtomicU64::new(0),
            not_until: AtomicU64::new(0),
        }
    }

    fn look<T>(&self, look: impl FnOnce(&Connection) -> T) -> Option<T> {
        let began = nanos(self.started.elapsed());
        if began < self.not_until.load(Ordering::Relaxed) {
            return None;
        }
        let lent = self.lend()?;
        let seen = lent.connection.as_ref().map(look);
        drop(lent);
        self.looked(began, nanos(self.started.elapsed()));
        seen
    }

    /// Of two that end at once one may not count.
    fn looked(&self, began: u64, ended: u64) {
        let before = self.average.load(Ordering::Relaxed);
        let average = before - before / WEIGHT + (ended - began) / WEIGHT;
        self.average.store(average.min(nanos(LONG)), Ordering::Relaxed);
        if average > nanos(LONG) {
            self.not_until.store(ended + nanos(REST), Ordering::Relaxed);
        }
    }

    fn lend(&self) -> Option<Lent<'_>> {
        let mut idle = self.idle();
        let connection = idle.connections.pop()?;
        idle.lent += 1;
        Some(Lent {
            to: self,
            connection: Some(connection),
        })
    }

    fn stop(&self) {
        let mut idle = self.idle();
        idle.stopped = true;
        idle.connections.clear();
        let in_use = |idle: &mut Idle| idle.lent > 0;
        drop(self.returned.wait_while(idle, in_use));
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Goes back when it is dropped, after a panic too.
struct Lent<'a> {
    to: &'a InPlace,
    connection: Option<Connection>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut idle = self.to.idle();
        idle.lent -= 1;
        if idle.stopped {
            drop(self.connection.take());
            self.to.returned.notify_all();
        } else {
            idle.connections.extend(self.connection.take());
        }
    }
}

/// What waits for a reader. One that is free is woken for each, and no other.
#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    looks: VecDeque<Look>,
    stopped: bool,
}

impl Queue {
    fn push(&self, look: Look) {
        let mut waiting = self.waiting();
        if waiting.stopped {
            return;
        }
        waiting.looks.push_back(look);
        drop(waiting);
        self.changed.notify_one();
    }

    fn stop(&self) {
        self.waiting().stopped = true;
        self.changed.notify_all();
    }

    /// The next one; none after a stop.
    fn next(&self) -> Option<Look> {
        let idle = |waiting: &mut Waiting| waiting.looks.is_empty() && !waiting.stopped;
        let waiting = self.changed.wait_while(self.waiting(), idle);
        waiting.unwrap_or_else(PoisonError::into_inner).looks.pop_front()
    }

    fn serve(&self, connection: &Connection) {
        while let Some(look) = self.next() {
            if catch_unwind(AssertUnwindSafe(|| look(connection))).is_err() {
                tracing::error!("a look-up panicked");
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn readers(of_threads: usize, in_place: usize) -> Readers {
        let open = |count| {
            (0..count)
                .map(|_| Connection::open_in_memory().unwrap())
                .collect()
        };
        Readers::start(open(of_threads), open(in_place)).unwrap()
    }

    #[test]
    fn a_look_in_place_needs_no_thread_that_is_free() {
        let readers = readers(1, 1);
        let (go_on, goes_on) = mpsc::channel::<()>();
        readers.send(Box::new(move |_| goes_on.recv().unwrap()));
        assert_eq!(readers.look(|_| 1), Some(1));
        // Nor is there more than one on a connection.
        assert_eq!(readers.look(|_| readers.look(|_| 2)), Some(None));
        go_on.send(()).unwrap();
        readers.stop();
        assert_eq!(readers.look(|_| 3), None);
    }

    #[test]
    fn after_a_panic_the_connection_is_there_again() {
        let readers = readers(0, 1);
        let panicked = catch_unwind(AssertUnwindSafe(|| readers.look(|_| panic!("a look of a test"))));
        assert!(panicked.is_err());
        assert_eq!(readers.look(|_| 1), Some(1));
    }

    #[test]
    fn where_looks_take_long_the_threads_have_those_after_them() {
        let readers = readers(0, 1);
        let in_place = &readers.in_place;
        let look = |took: Duration| {
            let began = nanos(in_place.started.elapsed());
            in_place.looked(began, began + nanos(took));
        };
        let rest_is_over = || in_place.not_until.store(0, Ordering::Relaxed);
        // One that lost its turn.
        look(Duration::from_millis(50));
        assert_eq!(readers.look(|_| 1), Some(1));
        for _ in 0..20 {
            look(Duration::from_millis(5));
        }
        assert_eq!(readers.look(|_| 1), None);
        rest_is_over();
        look(Duration::from_millis(5));
        assert_eq!(readers.look(|_| 1), None);
        rest_is_over();
        for _ in 0..200 {
            look(Duration::from_micros(20));
        }
        look(Duration::from_millis(5));
        assert_eq!(readers.look(|_| 1), Some(1));
    }

    #[test]
    fn a_stop_waits_for_a_look_in_place() {
        let readers = Arc::new(readers(1, 1));
        let (stopped, is_stopped) = mpsc::channel();
        let looked = readers.look(|_| {
            let stopping = readers.clone();
            thread::spawn(move || {
                stopping.stop();
                stopped.send(()).unwrap();
            });
            // Nobody else gets it from the moment of the stop on.
            while !readers.in_place.idle().stopped {
                thread::yield_now();
            }
            is_stopped.try_recv().is_err()
        });
        assert_eq!(looked, Some(true));
        is_stopped.recv().unwrap();
    }
}
