//! Bodies of requests: never more than the limit in memory.

use std::{borrow::Cow, io::Read, time::Duration};

use bytes::{Bytes, BytesMut};
use flate2::read::MultiGzDecoder;
use http_body_util::BodyExt;
use hyper::{
    HeaderMap,
    body::{Body, Incoming},
    header::{EXPECT, HeaderValue},
};
use tokio::time::timeout;

/// 16 MiB exactly are still accepted.
pub(super) const MAX_BODY_BYTES: usize = 16_777_216;

/// Of a body that is too large this much more is read and thrown away, so that a client that only listens once it has sent
/// everything hears the answer.
const MAX_DRAINED_BYTES: usize = 2 * MAX_BODY_BYTES;

/// A client's Content-Length is a promise; memory for more than this is taken when the bytes come.
const FIRST_BYTES: usize = 16 * 1024;

pub(super) enum Refused {
    TooLarge,
    /// The client stopped sending.
    NotSent,
}

pub(super) async fn read(
    incoming: Incoming,
    headers: &HeaderMap,
    within: Duration,
) -> Result<Bytes, Refused> {
    if incoming.is_end_stream() {
        return Ok(Bytes::new());
    }
    timeout(within, read_all(incoming, headers))
        .await
        .unwrap_or(Err(Refused::NotSent))
}

async fn read_all(mut incoming: Incoming, headers: &HeaderMap) -> Result<Bytes, Refused> {
    let promised = usize::try_from(incoming.size_hint().lower()).unwrap_or(usize::MAX);
    if promised > MAX_BODY_BYTES {
        // Who waits for "100 Continue" has sent nothing yet.
        if !headers.contains_key(EXPECT) {
            drain(incoming).await;
        }
        return Err(Refused::TooLarge);
    }
    let Some(first) = next(&mut incoming).await? else {
        return Ok(Bytes::new());
    };
    if first.len() == promised && incoming.is_end_stream() {
        return Ok(first);
    }
    let mut body = BytesMut::with_capacity(promised.min(FIRST_BYTES).max(first.len()));
    let mut chunk = Some(first);
    while let Some(bytes) = chunk {
        if body.len() + bytes.len() > MAX_BODY_BYTES {
            drop(body);
            drain(incoming).await;
            return Err(Refused::TooLarge);
        }
        body.extend_from_slice(&bytes);
        chunk = next(&mut incoming).await?;
    }
    Ok(body.freeze())
}

/// The next data; trailers are skipped.
async fn next(incoming: &mut Incoming) -> Result<Option<Bytes>, Refused> {
    while let Some(frame) = incoming.frame().await {
        if let Ok(data) = frame.map_err(|_| Refused::NotSent)?.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

async fn drain(mut incoming: Incoming) {
    let mut drained = 0;
    while drained < MAX_DRAINED_BYTES {
        match next(&mut incoming).await {
            Ok(Some(bytes)) => drained += bytes.len(),
            Ok(None) | Err(_) => return,
        }
    }
}

#[derive(Debug)]
pub(super) enum Inflation {
    /// Over the limit once inflated.
    TooLarge,
    Corrupt,
}

/// The body as the client means it.
pub(super) fn inflate<'a>(
    received: &'a Bytes,
    encoding: Option<&HeaderValue>,
) -> Result<Cow<'a, [u8]>, Inflation> {
    let gzip =
        encoding.is_some_and(|encoding| encoding.as_bytes().trim_ascii().eq_ignore_ascii_case(b"gzip"));
    if !gzip || received.is_empty() {
        return Ok(Cow::from(&received[..]));
    }
    let mut inflated = Vec::new();
    let limit = u64::try_from(MAX_BODY_BYTES + 1).unwrap_or(u64::MAX);
    match MultiGzDecoder::new(&received[..])
        .take(limit)
        .read_to_end(&mut inflated)
    {
        Ok(_) if inflated.len() > MAX_BODY_BYTES => Err(Inflation::TooLarge),
        Ok(_) => Ok(Cow::from(inflated)),
        Err(_) => Err(Inflation::Corrupt),
    }
}
