//! Threads that read, each on a connection of its own.

use std::{
    collections::VecDeque,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
};

use rusqlite::Connection;

type Look = Box<dyn FnOnce(&Connection) + Send>;

pub struct Readers {
    queue: Arc<Queue>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Readers {
    pub fn start(connections: Vec<Connection>) -> io::Result<Readers> {
        let queue = Arc::<Queue>::default();
        let mut threads = Vec::new();
        for connection in connections {
            let queue = queue.clone();
            let reader = thread::Builder::new().name("sqlite-reader".into());
            threads.push(reader.spawn(move || queue.serve(&connection))?);
        }
        Ok(Readers {
            queue,
            threads: Mutex::new(threads),
        })
    }

    /// If they are stopped, `look` is dropped.
    pub fn send(&self, look: Look) {
        self.queue.push(look);
    }

    /// Ends the threads once they have done what came before, and their connections with them.
    pub fn stop(&self) {
        self.queue.stop();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            let _ = thread.join();
        }
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.queue.stop();
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
