//! The response that is kept: what a replay answers, byte for byte.               behaviour/idempotency §replay

use crate::{
    item::{AttributeValue, Attributes, Number},
    operation::ITEM_MAX_BYTES,
};

use super::{FINGERPRINT_MAX_BYTES, IdempotencyFault, check_length};

#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    pub status: u16,
    /// JSON, as it was written.
    pub headers: String,
    pub body: Vec<u8>,
    /// Of the request's content, where that came too late for the fingerprint: the application compares it.
    pub content_digest: Option<Vec<u8>>,
}

const STATUS: &str = "status";
const HEADERS: &str = "headers";
const BODY: &str = "body";
const CONTENT_DIGEST: &str = "content_digest";

impl Response {
    /// `headers` is JSON. What is certainly too large is refused here, before anything is copied.
    pub fn new(
        status: i32,
        headers: &str,
        body: &[u8],
        content_digest: Option<&[u8]>,
    ) -> Result<Response, IdempotencyFault> {
        let http_status = u16::try_from(status)
            .ok()
            .filter(|status| (100..=599).contains(status))
            .ok_or(IdempotencyFault::Status(status))?;
        if !headers.trim_start().starts_with(['{', '[']) {
            return Err(IdempotencyFault::Headers);
        }
        if let Some(digest) = content_digest {
            check_length("content_digest", digest.len(), FINGERPRINT_MAX_BYTES)?;
        }
        let bytes = headers.len() + body.len();
        if bytes > ITEM_MAX_BYTES {
            let over_bytes = bytes - ITEM_MAX_BYTES;
            return Err(IdempotencyFault::ResponseSize { over_bytes });
        }
        Ok(Response {
            status: http_status,
            headers: headers.to_owned(),
            body: body.to_vec(),
            content_digest: content_digest.map(<[u8]>::to_vec),
        })
    }

    pub(super) fn write(self) -> AttributeValue {
        let mut kept = Attributes::from([
            (
                STATUS.to_owned(),
                AttributeValue::N(Number::from(u64::from(self.status))),
            ),
            (HEADERS.to_owned(), AttributeValue::S(self.headers)),
            (BODY.to_owned(), AttributeValue::B(self.body)),
        ]);
        if let Some(digest) = self.content_digest {
            kept.insert(CONTENT_DIGEST.to_owned(), AttributeValue::B(digest));
        }
        AttributeValue::M(kept)
    }

    pub(super) fn read(kept: &AttributeValue) -> Result<Response, IdempotencyFault> {
        let AttributeValue::M(kept) = kept else {
            return Err(IdempotencyFault::Corrupt);
        };
        let (
            Some(AttributeValue::N(status)),
            Some(AttributeValue::S(headers)),
            Some(AttributeValue::B(body)),
        ) = (kept.get(STATUS), kept.get(HEADERS), kept.get(BODY))
        else {
            return Err(IdempotencyFault::Corrupt);
        };
        let status = status.to_i64().and_then(|status| u16::try_from(status).ok());
        let content_digest = match kept.get(CONTENT_DIGEST) {
            Some(AttributeValue::B(digest)) => Some(digest.clone()),
            None => None,
            Some(_) => return Err(IdempotencyFault::Corrupt),
        };
        Ok(Response {
            status: status.ok_or(IdempotencyFault::Corrupt)?,
            headers: headers.clone(),
            body: body.clone(),
            content_digest,
        })
    }
}
