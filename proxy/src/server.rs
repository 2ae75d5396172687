//! Sockets: accepting connections, and letting go of them in order.

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, sync::atomic::Ordering, time::Duration};

use hyper::service::service_fn;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto, graceful::GracefulShutdown},
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{backend::Backend, front::Front, repoll::repolled};

/// A connection of HTTP/1 that says nothing for so long is closed; SDKs keep theirs for less.
const IDLE_TIMEOUT: Duration = Duration::from_secs(300);

/// A peer of HTTP/2 is asked for a sign of life this often.
const PING_INTERVAL: Duration = Duration::from_secs(60);

/// The most that a connection keeps to read into; also the most that headers may take. The library's own limit of 400 KiB
/// would let 1,000 idle connections hold 400 MB.
const READ_BUFFER_BYTES: usize = 64 * 1024;

const MAX_STREAMS: u32 = 256;

/// When the system has no file descriptor left, trying again at once would only burn time.
const AFTER_ACCEPT_FAILED: Duration = Duration::from_millis(100);

/// Serves until `stop` is done, then lets running requests end for at most `drain`.
pub async fn run<B: Backend>(
    listeners: Vec<TcpListener>,
    front: Arc<Front<B>>,
    stop: impl Future<Output = ()>,
    drain: Duration,
) {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE_TIMEOUT)
        .max_buf_size(READ_BUFFER_BYTES);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_INTERVAL)
        .max_concurrent_streams(MAX_STREAMS);
    let builder = Arc::new(builder);
    let graceful = Arc::new(GracefulShutdown::new());
    let (stopping, _) = watch::channel(());

    let mut accepting = JoinSet::new();
    for listener in listeners {
        let (front, builder, graceful, mut stopping) = (
            front.clone(),
            builder.clone(),
            graceful.clone(),
            stopping.subscribe(),
        );
        accepting.spawn(async move {
            loop {
                let accepted = tokio::select! {
                    accepted = listener.accept() => accepted,
                    _ = stopping.changed() => return,
                };
                let Some((stream, peer)) = usable(accepted).await else {
                    continue;
                };
                let of_connection = Arc::new((front.clone(), peer.ip().to_canonical().to_string()));
                let service = service_fn(move |request| {
                    let of_connection = of_connection.clone();
                    async move {
                        let (front, source_ip) = &*of_connection;
                        Ok::<_, Infallible>(front.answer(request, source_ip).await)
                    }
                });
                let connection = builder
                    .serve_connection(TokioIo::new(stream), service)
                    .into_owned();
                let connection = graceful.watch(connection);
                tokio::spawn(async move {
                    if let Err(error) = repolled(connection).await {
                        tracing::debug!(%peer, cause = %error, "a connection broke");
                    }
                });
            }
        });
    }

    stop.await;
    front.stopping.store(true, Ordering::Relaxed);
    let _ = stopping.send(());
    while accepting.join_next().await.is_some() {}
    tracing::info!(
        connections = graceful.count(),
        "stopping: no new connections, running requests end"
    );
    // The accepting tasks have ended, so nobody else holds it.
    let Some(graceful) = Arc::into_inner(graceful) else {
        return;
    };
    if timeout(drain, graceful.shutdown()).await.is_err() {
        tracing::warn!("the deadline for running requests has passed");
    }
}

async fn usable(accepted: io::Result<(TcpStream, SocketAddr)>) -> Option<(TcpStream, SocketAddr)> {
    match accepted {
        Ok((stream, peer)) => {
            // Answers are written whole: waiting for more only adds latency.
            let _ = stream.set_nodelay(true);
            Some((stream, peer))
        }
        Err(error) => {
            tracing::warn!(cause = %error, "a connection could not be accepted");
            sleep(AFTER_ACCEPT_FAILED).await;
            None
        }
    }
}
