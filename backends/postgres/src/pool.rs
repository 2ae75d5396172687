//! A bounded set of sessions, the last used first, so that few clients keep few backends warm.

use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, sleep, timeout, timeout_at},
};

use crate::{
    config::Config,
    session::{OpenError, Session},
};

/// How long an abandoned statement may still run before the server is asked to give it up.
const ABANDONED_FOR: Duration = Duration::from_secs(1);

/// How long to wait before the second try to reach a server that is starting.
const SECOND_TRY_AFTER: Duration = Duration::from_millis(200);

/// A pool that is wholly busy and gave an answer this recently is alive.
const RECENT: Duration = Duration::from_secs(10);

const GOODBYE_WITHIN: Duration = Duration::from_secs(2);

pub(crate) struct Pool {
    config: Config,
    /// Sessions that nobody holds; the last given back is taken first.
    idle: Mutex<Vec<Session>>,
    /// One for each session that may exist.
    permits: Arc<Semaphore>,
    extension_version: OnceLock<String>,
    started: Instant,
    /// When a session was last given back in good order, in milliseconds since `started`.
    last_good_ms: AtomicU64,
}

/// A session in use. Dropped in the middle of a statement, it lets the statement end before anyone else gets it.
pub(crate) struct Lease {
    held: Option<(Session, OwnedSemaphorePermit)>,
    /// The right to use it for what not every session may be used for at a time; others get it when the session's last
    /// statement has ended.
    right: Option<OwnedSemaphorePermit>,
    pool: Arc<Pool>,
}

impl Pool {
    pub(crate) fn new(config: Config) -> Pool {
        Pool {
            idle: Mutex::default(),
            permits: Arc::new(Semaphore::new(config.pool_size)),
            extension_version: OnceLock::new(),
            started: Instant::now(),
            last_good_ms: AtomicU64::new(0),
            config,
        }
    }

    pub(crate) fn request_timeout(&self) -> Duration {
        self.config.request_timeout
    }

    pub(crate) fn extension_version(&self) -> &str {
        self.extension_version.get().map_or("", String::as_str)
    }

    pub(crate) async fn open_first(&self) -> Result<(), OpenError> {
        let mut session = self.open().await?;
        let version = session.check_extension().await?;
        let _ = self.extension_version.set(version);
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(session);
        Ok(())
    }

    pub(crate) async fn lease(self: &Arc<Self>, deadline: Instant) -> Result<Lease, String> {
        let permit = match timeout_at(deadline, self.permits.clone().acquire_owned()).await {
            Ok(Ok(permit)) => permit,
            Ok(Err(_)) => return Err("the pool is closed".into()),
            Err(_) => return Err("every session was busy until the deadline".into()),
        };
        self.lease_with(permit, deadline).await
    }

    /// A session, where one is free or may be opened; `None` where all that may exist are busy.
    pub(crate) async fn try_lease(self: &Arc<Self>, deadline: Instant) -> Option<Result<Lease, String>> {
        let permit = self.permits.clone().try_acquire_owned().ok()?;
        Some(self.lease_with(permit, deadline).await)
    }

    /// `None`: every session is busy, and they answer.
    pub(crate) async fn lease_idle(self: &Arc<Self>, deadline: Instant) -> Result<Option<Lease>, String> {
        match self.permits.clone().try_acquire_owned() {
            Ok(permit) => self.lease_with(permit, deadline).await.map(Some),
            Err(_) => {
                let good = Duration::from_millis(self.last_good_ms.load(Ordering::Relaxed));
                if self.started.elapsed().saturating_sub(good) < RECENT {
                    Ok(None)
                } else {
                    self.lease(deadline).await.map(Some)
                }
            }
        }
    }

    async fn lease_with(
        self: &Arc<Self>,
        permit: OwnedSemaphorePermit,
        deadline: Instant,
    ) -> Result<Lease, String> {
        let session = match self.take_idle() {
            Some(session) => session,
            None => match timeout_at(deadline, self.open()).await {
                Ok(opened) => opened.map_err(|error| error.to_string())?,
                Err(_) => return Err("no connection until the deadline".into()),
            },
        };
        Ok(Lease {
            held: Some((session, permit)),
            right: None,
            pool: self.clone(),
        })
    }

    fn take_idle(&self) -> Option<Session> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(mut session) = idle.pop() {
            if !session.has_ended() {
                return Some(session);
            }
        }
        None
    }

    async fn open(&self) -> Result<Session, OpenError> {
        match Session::open(&self.config).await {
            Err(OpenError::Unreachable { passing: true, .. }) => {
                sleep(SECOND_TRY_AFTER).await;
                Session::open(&self.config).await
            }
            opened => opened,
        }
    }

    pub(crate) async fn close(&self) {
        self.permits.close();
        let sessions = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        for session in sessions {
            session.end(GOODBYE_WITHIN).await;
        }
    }

    fn put_idle(&self, session: Session) {
        if self.permits.is_closed() {
            return;
        }
        let now_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_good_ms.store(now_ms, Ordering::Relaxed);
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(session);
    }
}

impl Lease {
    #[allow(clippy::expect_used)] // `held` is taken only by what consumes the lease
    pub(crate) fn session(&mut self) -> &mut Session {
        &mut self
            .held
            .as_mut()
            .expect("a lease holds its session until it ends")
            .0
    }

    pub(crate) fn with(mut self, right: Option<OwnedSemaphorePermit>) -> Lease {
        self.right = right;
        self
    }

    /// The statement has ended and the session is as good as new.
    pub(crate) fn give_back(mut self) {
        if let Some((session, _permit)) = self.held.take() {
            self.pool.put_idle(session);
        }
    }

    pub(crate) fn discard(mut self) {
        self.held = None;
    }

    /// What ended this session (a restart, a replaced extension) has probably ended the idle ones too.
    pub(crate) fn discard_all(self) {
        self.pool
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
        self.discard();
    }
}

impl Drop for Lease {
    /// The client has gone while its statement runs. A short statement ends by itself; a long one is cancelled, and its
    /// session with it, since the cancellation could otherwise hit the next statement.
    fn drop(&mut self) {
        let (Some((mut session, permit)), Ok(runtime)) =
            (self.held.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        let (pool, right) = (self.pool.clone(), self.right.take());
        runtime.spawn(async move {
            match timeout(ABANDONED_FOR, session.settle()).await {
                Ok(Ok(())) => pool.put_idle(session),
                Ok(Err(_)) => {}
                Err(_) => {
                    session.cancel().await;
                    let _ = timeout(pool.config.request_timeout, session.settle()).await;
                    session.end(GOODBYE_WITHIN).await;
                }
            }
            drop((permit, right));
        });
    }
}
