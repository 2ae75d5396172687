//! What is wrong with a call, in words for the application's developer.          behaviour/idempotency §limits

use std::time::Duration;

use crate::{claim::Corrupt, operation::ITEM_MAX_BYTES, store::StoreError};

use super::METHOD_MAX_BYTES;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdempotencyFault {
    Length {
        argument: &'static str,
        bytes: usize,
        max_bytes: usize,
    },
    Method,
    Duration {
        argument: &'static str,
        max: Duration,
    },
    Status(i32),
    /// `headers` is neither an object nor an array.
    Headers,
    ResponseSize {
        over_bytes: usize,
    },
    /// How many rows a sweep may remove.
    Max,
    /// Another session's open transaction has the key: nobody knows yet whether the claim is still held.
    Busy,
    /// A row of the claims that is none.
    Corrupt,
    Unavailable(String),
}

impl IdempotencyFault {
    pub fn text(&self) -> String {
        match self {
            Self::Length {
                argument,
                bytes,
                max_bytes,
            } => format!("{argument} must have 1 to {max_bytes} bytes, this one has {bytes}"),
            Self::Method => format!("method must be an HTTP method of 1 to {METHOD_MAX_BYTES} characters"),
            Self::Duration { argument, max } => {
                let days = max.as_secs() / (24 * 60 * 60);
                let unit = if days == 1 { "day" } else { "days" };
                format!("{argument} must be from 1 millisecond to {days} {unit}")
            }
            Self::Status(status) => format!("status must be an HTTP status from 100 to 599, not {status}"),
            Self::Headers => "headers must be a JSON object or array".into(),
            Self::ResponseSize { over_bytes } => format!(
                "the response is {over_bytes} bytes too large to be kept: with its key it may have \
                 {ITEM_MAX_BYTES} bytes"
            ),
            Self::Max => format!("max must be from 1 to {}", crate::claim::SWEEP_MAX),
            Self::Busy => "another session's open transaction holds this idempotency key".into(),
            Self::Corrupt => "a stored claim is not readable".into(),
            Self::Unavailable(text) => text.clone(),
        }
    }

    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Length {
                argument: "fingerprint",
                ..
            } => "Pass a digest of the request, such as sha256 of its body.",
            Self::Method => "As the request line has it: GET, POST, …; case counts.",
            Self::ResponseSize { .. } => {
                "Keep the body elsewhere and complete with a reference to it, or release the claim."
            }
            Self::Headers => "Such as {\"Content-Type\":\"text/plain\"}; {} where there are none.",
            Self::Max => "A sweep is one transaction: call it again for more.",
            Self::Busy => {
                "Try again. Sessions that were not told to go ahead should end their transaction at once."
            }
            _ => return None,
        })
    }
}

impl From<Corrupt> for IdempotencyFault {
    fn from(_: Corrupt) -> IdempotencyFault {
        IdempotencyFault::Corrupt
    }
}

impl From<StoreError> for IdempotencyFault {
    fn from(error: StoreError) -> IdempotencyFault {
        match error {
            StoreError::Busy | StoreError::Held(_) => IdempotencyFault::Busy,
            StoreError::Stale => IdempotencyFault::Unavailable("the table of claims is not there".into()),
            StoreError::Unavailable(text) => IdempotencyFault::Unavailable(text),
        }
    }
}
