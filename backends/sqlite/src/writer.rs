//! Who writes: one at a time.
//!
//! A request that comes while nobody writes and nothing waits does so itself, in place: to wake a thread and to be woken by it
//! takes longer than all but the flush. What comes meanwhile waits for the writer's thread, which takes what waits and makes
//! it durable in one commit. Nothing is answered before that. If anything in it fails (a statement, a full disk, the
//! commit), all of it is rolled back, and each unit runs again in a commit of its own: only the one that fails by itself is
//! answered so. A decision that panics has written nothing and costs its unit alone.

use std::{
    collections::VecDeque,
    fs::File,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
};

use extenddb_core::{store::StoreError, write::Unit};
use rusqlite::Connection;
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::oneshot,
    task::block_in_place,
};

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
}

pub struct Writer {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// A commit waits for a disk.
    on_disk: bool,
}

impl Writer {
    /// `lock` holds the file for this process; none in memory.
    pub fn start(connection: Connection, catalog: Arc<Catalog>, lock: Option<File>) -> io::Result<Writer> {
        let on_disk = lock.is_some();
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                jobs: VecDeque::new(),
                database: Some(Box::new(Database { connection, catalog })),
                stopped: false,
            }),
            changed: Condvar::new(),
        });
        let of_thread = shared.clone();
        let serve = move || {
            of_thread.serve();
            // The file is another server's to take only when all of this is done.
            drop(lock);
        };
        let thread = thread::Builder::new().name("sqlite-writer".into()).spawn(serve)?;
        Ok(Writer {
            shared,
            thread: Mutex::new(Some(thread)),
            on_disk,
        })
    }

    /// If it is stopped, the job is dropped.
    pub fn send(&self, job: Job) {
        let mut state = self.shared.state();
        if state.stopped {
            return;
        }
        state.jobs.push_back(job);
        // Whoever has the database looks for jobs when done with it.
        let is_idle = state.database.is_some();
        drop(state);
        if is_idle {
            self.shared.changed.notify_one();
        }
    }

    pub fn transact<T: Send + 'static>(
        &self,
        units: Vec<Unit<T>>,
    ) -> oneshot::Receiver<Vec<Result<T, StoreError>>> {
        let (units, answered) = unit::pending(units);
        let taken = match !self.on_disk || may_block() {
            true => self.shared.take_idle(),
            false => None,
        };
        let Some(mut taken) = taken else {
            self.send(Job::Units(units));
            return answered;
        };
        let write = move || {
            taken.with(|database| database.write(vec![units]));
        };
        match self.on_disk {
            true => block_in_place(write),
            false => write(),
        }
        answered
    }

    /// Looks in place at what the database has. `None` while others have it.
    pub fn look<T>(&self, look: impl FnOnce(&Connection) -> T) -> Option<T> {
        self.shared
            .take_idle()?
            .with(|database| look(database.connection()))
    }

    /// Ends once everything that came before is done, and closes the connection.
    pub fn stop(&self) {
        self.shared.stop();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.shared.stop();
    }
}

/// Whether the tasks of this thread can go on elsewhere while it waits for the disk.
fn may_block() -> bool {
    Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread)
}

struct Shared {
    state: Mutex<State>,
    /// For the thread.
    changed: Condvar,
}

struct State {
    jobs: VecDeque<Job>,
    /// Away while somebody works with it.
    database: Option<Box<Database>>,
    /// No more jobs are taken. What was taken is done, then the database is closed.
    stopped: bool,
}

impl Shared {
    fn serve(&self) {
        while let Some((database, work)) = self.next() {
            let mut taken = self.taken(database, true);
            let run = |database: &mut Database| match work {
                Work::Group(group) => database.write(group),
                Work::Alone(work) => work(database),
            };
            let done = catch_unwind(AssertUnwindSafe(|| taken.with(run)));
            if done.is_err() {
                tracing::error!("a job of the writer panicked");
            }
        }
    }

    /// What is to be done next, and the database to do it with. After a stop it is closed instead.
    fn next(&self) -> Option<(Box<Database>, Work)> {
        let nothing =
            |state: &mut State| state.database.is_none() || (state.jobs.is_empty() && !state.stopped);
        let waited = self.changed.wait_while(self.state(), nothing);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let database = state.database.take()?;
        let mut group = Vec::new();
        let mut count = 0;
        while count < GROUP_UNITS {
            match state.jobs.pop_front() {
                Some(Job::Units(units)) => {
                    count += units.count();
                    group.push(units);
                }
                Some(Job::Alone(work)) if group.is_empty() => return Some((database, Work::Alone(work))),
                Some(alone) => {
                    state.jobs.push_front(alone);
                    break;
                }
                None => break,
            }
        }
        drop(state);
        if group.is_empty() {
            database.close();
            return None;
        }
        Some((database, Work::Group(group)))
    }

    /// The database, where nobody has it and nobody waits for it.
    fn take_idle(&self) -> Option<Taken<'_>> {
        let mut state = self.state();
        if state.stopped || !state.jobs.is_empty() {
            return None;
        }
        let database = state.database.take()?;
        Some(self.taken(database, false))
    }

    fn taken(&self, database: Box<Database>, by_thread: bool) -> Taken<'_> {
        Taken {
            from: self,
            database: Some(database),
            by_thread,
        }
    }

    fn stop(&self) {
        self.state().stopped = true;
        self.changed.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Work {
    Group(Vec<Box<dyn Units>>),
    Alone(Box<dyn FnOnce(&mut Database) + Send>),
}

/// The database in somebody's hands. It goes back when this is dropped, after a panic too.
struct Taken<'a> {
    from: &'a Shared,
    /// None only while it goes back.
    database: Option<Box<Database>>,
    /// Whether it is the thread that has it: then it need not be told of what has come meanwhile.
    by_thread: bool,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut state = self.from.state();
        state.database = self.database.take();
        let is_wanted = state.stopped || !state.jobs.is_empty();
        drop(state);
        if is_wanted && !self.by_thread {
            self.from.changed.notify_one();
        }
    }
}

impl Taken<'_> {
    fn with<T>(&mut self, work: impl FnOnce(&mut Database) -> T) -> Option<T> {
        self.database.as_deref_mut().map(work)
    }
}

/// Of whoever writes: the connection, and the catalog that nobody else changes.
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

    /// Commits them together, or else one by one, and answers them.
    fn write(&self, mut group: Vec<Box<dyn Units>>) {
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
        for units in group {
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
