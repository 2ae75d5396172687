//! A store of the core: the semantics run in this process.

use std::{
    any::Any,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    task::Poll,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use extenddb_backend_sqlite::Sqlite;
use extenddb_core::{
    claim,
    operation::{self, Operation},
    request::Layer,
    store::Store,
    table::{AccountId, TableId},
    time::Timestamp,
    wire::Answer,
};
use tokio::{
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::{Backend, Context, Failure};

pub struct Embedded<S> {
    store: Arc<S>,
    region: String,
    request_timeout: Duration,
    duties: JoinHandle<()>,
}

/// Tokens are remembered for ten minutes; that they stay longer costs space alone.
const BETWEEN_SWEEPS: Duration = Duration::from_secs(60);
/// Writers wait no longer than such a batch takes.
const SWEPT_AT_ONCE: usize = 200;

impl<S: Store + Send + Sync + 'static> Embedded<S> {
    /// Also does, beside the requests, what nobody asks for: takes up what a crash has left undone of `account`, and sweeps.
    pub fn start(store: S, region: String, account: AccountId, request_timeout: Duration) -> Embedded<S> {
        let store = Arc::new(store);
        let duties = tokio::spawn(duties(store.clone(), account));
        Embedded {
            store,
            region,
            request_timeout,
            duties,
        }
    }

    async fn serve(
        &self,
        operation: Operation,
        body: &str,
        context: &Context<'_>,
    ) -> Result<Answer, Failure> {
        let mut random = [0; 16];
        // Items need none.
        if operation.writes_tables() {
            getrandom::fill(&mut random).map_err(|error| Failure::Internal(error.to_string()))?;
        }
        let context = operation::Context {
            account: AccountId(context.account.to_owned()),
            region: self.region.clone(),
            now: now(),
            random,
            layer: Layer::New,
        };
        // What the store does in place ends before the deadline is looked at.
        let answered = operation::serve(&*self.store, operation, body, &context);
        match timeout(self.request_timeout, caught(answered)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(panicked)) => Err(Failure::Internal(format!("panicked: {}", text_of(&*panicked)))),
            Err(_) => Err(Failure::Internal(
                "outcome unknown: there was no answer within the deadline".into(),
            )),
        }
    }
}

impl Backend for Embedded<Sqlite> {
    async fn call(&self, operation: Operation, body: &str, context: &Context<'_>) -> Result<Answer, Failure> {
        self.serve(operation, body, context).await
    }

    async fn ready(&self) -> Result<(), String> {
        self.store.ready().await
    }

    async fn close(&self) {
        self.duties.abort();
        let store = self.store.clone();
        // A checkpoint writes and flushes.
        let _ = tokio::task::spawn_blocking(move || store.close()).await;
    }
}

async fn duties<S: Store>(store: Arc<S>, account: AccountId) {
    if let Err(error) = operation::resume_index_fills(&*store, &account).await {
        tracing::error!(cause = ?error, "the fill of an index could not be taken up again");
    }
    loop {
        for table in [TableId::TOKENS, TableId::CLAIMS] {
            loop {
                match claim::sweep(&*store, table, now(), SWEPT_AT_ONCE).await {
                    Ok(SWEPT_AT_ONCE) => {}
                    Ok(_) => break,
                    Err(error) => {
                        tracing::warn!(cause = ?error, "the sweep of tokens failed: it is tried again");
                        break;
                    }
                }
            }
        }
        sleep(BETWEEN_SWEEPS).await;
    }
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// A panic ends its request, not the connection that it came on.
async fn caught<F: Future>(future: F) -> Result<F::Output, Box<dyn Any + Send>> {
    let mut future = pin!(future);
    poll_fn(
        |task| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(task))) {
            Ok(poll) => poll.map(Ok),
            Err(panicked) => Poll::Ready(Err(panicked)),
        },
    )
    .await
}

fn text_of(panicked: &(dyn Any + Send)) -> &str {
    let text = panicked.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panicked.downcast_ref::<&str>().copied())
        .unwrap_or("without a text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_outcome() {
        assert_eq!(caught(async { 1 }).await.unwrap(), 1);
        let panicked = caught(async { panic!("of a {}", "test") }).await.unwrap_err();
        assert_eq!(text_of(&*panicked), "of a test");
    }
}
