//! The one thread that writes.
//!
//! It takes what waits, and makes it durable in one commit. Nothing is answered before that. If anything in it fails (a
//! statement, a full disk, the commit), all of it is rolled back, and each unit runs again in a commit of its own: only
//! the one that fails by itself is answered so. A decision that panics has written nothing and costs its unit alone.

use std::{
    fs::File,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, JoinHandle},
};

use extenddb_core::{store::StoreError, write::Unit};
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::{
    Fault,
    catalog::Catalog,
    unit::{self, Units},
};

/// Units in one commit, beyond what came in one call.
const GROUP_UNITS: usize = 256;

pub enum Job {
    /// Shares a commit with others.
    Units(Box<dyn Units>),
    /// Between commits, with the connection to itself.
    Alone(Box<dyn FnOnce(&mut Database) + Send>),
    Stop,
}

pub struct Writer {
    sender: Sender<Job>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Writer {
    pub fn start(connection: Connection, catalog: Arc<Catalog>, lock: Option<File>) -> io::Result<Writer> {
        let (sender, receiver) = mpsc::channel();
        let mut database = Database { connection, catalog };
        let serve = move || {
            database.serve(&receiver);
            database.close();
            // The file is another server's to take only when all of this is done.
            drop(lock);
        };
        let thread = thread::Builder::new().name("sqlite-writer".into()).spawn(serve)?;
        Ok(Writer {
            sender,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// If it is stopped, the job is dropped.
    pub fn send(&self, job: Job) {
        let _ = self.sender.send(job);
    }

    pub fn transact<T: Send + 'static>(
        &self,
        units: Vec<Unit<T>>,
    ) -> oneshot::Receiver<Vec<Result<T, StoreError>>> {
        let (units, answered) = unit::pending(units);
        self.send(Job::Units(units));
        answered
    }

    /// Ends the thread once it has done what came before.
    pub fn stop(&self) {
        self.send(Job::Stop);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

/// The writer's own: its connection, and the catalog that nobody else changes.
pub struct Database {
    connection: Connection,
    catalog: Arc<Catalog>,
}

impl Database {
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Runs `work` in a transaction, which is rolled back where it fails.
    pub fn commit<T>(&self, work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
        let run = || {
            self.execute("BEGIN IMMEDIATE")?;
            let done = work()?;
            self.execute("COMMIT")?;
            Ok(done)
        };
        let done = catch_unwind(AssertUnwindSafe(run))
            .unwrap_or_else(|_| Err(Fault::Corrupt("a write panicked".into())));
        // Some errors roll back by themselves.
        if !self.connection.is_autocommit()
            && let Err(error) = self.execute("ROLLBACK")
        {
            tracing::error!(cause = %error, "a transaction could not be rolled back");
        }
        done
    }

    fn execute(&self, sql: &str) -> Result<(), Fault> {
        self.connection.prepare_cached(sql)?.execute([])?;
        Ok(())
    }

    fn serve(&mut self, receiver: &Receiver<Job>) {
        let mut group: Vec<Box<dyn Units>> = Vec::new();
        while let Ok(first) = receiver.recv() {
            let mut next = Some(first);
            let mut count = 0;
            while let Some(Job::Units(units)) = next {
                count += units.count();
                group.push(units);
                next = match count < GROUP_UNITS {
                    true => receiver.try_recv().ok(),
                    false => None,
                };
            }
            self.write(&mut group);
            match next {
                Some(Job::Alone(work)) => {
                    if catch_unwind(AssertUnwindSafe(|| work(self))).is_err() {
                        tracing::error!("a job of the writer panicked");
                    }
                }
                Some(Job::Stop) => return,
                Some(Job::Units(_)) | None => {}
            }
        }
    }

    /// Commits them together, or else one by one, and answers them.
    fn write(&self, group: &mut Vec<Box<dyn Units>>) {
        if group.is_empty() {
            return;
        }
        let together = self.commit(|| {
            for units in group.iter_mut() {
                for place in 0..units.count() {
                    units.run(place, self)?;
                }
            }
            Ok(())
        });
        if let Err(fault) = together {
            let count: usize = group.iter().map(|units| units.count()).sum();
            tracing::warn!(units = count, cause = %fault, "a commit failed: its units run one by one");
            for units in group.iter_mut() {
                for place in 0..units.count() {
                    if let Err(fault) = self.commit(|| units.run(place, self)) {
                        units.fail(place, fault.into());
                    }
                }
            }
        }
        for units in group.drain(..) {
            units.answer();
        }
    }

    /// Writes the log into the file.
    fn close(&self) {
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        if let Err(error) = self.connection.query_row(checkpoint, [], |_| Ok(())) {
            // It stays beside the file, and is read at the next start.
            tracing::warn!(cause = %error, "the log could not be written into the database");
        }
    }
}
