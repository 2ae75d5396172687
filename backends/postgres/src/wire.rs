//! The connection of a session. Whoever waits for a statement brings it on.
//!
//! In a task of its own, as the driver's examples have it, the connection is woken to send each statement and woken
//! again to pass its answer on: three turns of the scheduler a statement where one is enough.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
    time::Duration,
};

use tokio::{runtime::Handle, time::timeout};
use tokio_postgres::{Connection, Error, Socket, tls::NoTlsStream};

use crate::verdict::describe;

/// `None` once it has ended. Boxed, for sessions go from hand to hand.
pub(crate) struct Wire(Option<Box<Connection<Socket, NoTlsStream>>>);

impl Wire {
    pub(crate) fn new(connection: Connection<Socket, NoTlsStream>) -> Wire {
        Wire(Some(Box::new(connection)))
    }

    /// What the server says to a statement of this connection's client.
    pub(crate) async fn answer<T>(&mut self, statement: impl Future<Output = T>) -> T {
        let mut statement = pin!(statement);
        // The first turn hands it to the connection. From then on it goes on by what the connection has read and by nothing
        // else, so it need not wake anybody.
        if let Poll::Ready(answer) = statement.as_mut().poll(&mut nobody()) {
            return answer;
        }
        poll_fn(|task| {
            self.bring_on(task);
            statement.as_mut().poll(&mut nobody())
        })
        .await
    }

    /// Reads and writes what can be read and written; the task hears when there is more.
    fn bring_on(&mut self, task: &mut Context<'_>) {
        if let Some(connection) = &mut self.0
            && let Poll::Ready(end) = Pin::new(&mut **connection).poll(task)
        {
            // With it, what waits for its answers.
            self.0 = None;
            ended(end);
        }
    }

    /// Whether the server has ended it. Nobody hears that while no statement runs.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.bring_on(&mut nobody());
        self.0.is_none()
    }

    /// Says goodbye, once its client is dropped, and waits for the end.
    pub(crate) async fn end(mut self, within: Duration) {
        let end = poll_fn(|task| {
            self.bring_on(task);
            if self.0.is_none() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        });
        let _ = timeout(within, end).await;
    }
}

impl Drop for Wire {
    /// The server hears goodbye after the statement that may still run.
    fn drop(&mut self) {
        if let (Some(connection), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(async { ended(connection.await) });
        }
    }
}

fn ended(end: Result<(), Error>) {
    if let Err(error) = end {
        tracing::warn!(cause = describe(&error), "a session with PostgreSQL ended");
    }
}

fn nobody() -> Context<'static> {
    Context::from_waker(Waker::noop())
}
