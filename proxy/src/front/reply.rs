//! Answers: the headers that every one of them has.                                       behaviour/wire §front-end

use std::{
    cell::RefCell,
    convert::Infallible,
    io::Write,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use hyper::{
    HeaderMap, Response, StatusCode, Version,
    body::{Body, Frame, SizeHint},
    header::{
        ACCEPT_ENCODING, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
        ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_MAX_AGE, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH,
        CONTENT_TYPE, HeaderName, HeaderValue, SERVER,
    },
};

/// Below this an answer is not compressed, asked or not.
const GZIP_FROM_BYTES: usize = 4096;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-amzn-requestid");
const CRC32: HeaderName = HeaderName::from_static("x-amz-crc32");

#[derive(Clone, Copy)]
pub(super) enum ContentType {
    AmzJson,
    Json,
}

/// What an answer owes to its request.
pub(super) struct Reply {
    request_id: RequestId,
    content_type: Option<ContentType>,
    gzip: bool,
    any_origin: bool,
    /// Of HTTP/1, and whether it may go on after this answer. HTTP/2 has no such header.
    connection: Option<&'static str>,
    /// Empty, with room.
    headers: HeaderMap,
}

impl Reply {
    pub(super) fn new(headers: &HeaderMap, version: Version) -> Reply {
        let asked_to_close = headers.get(CONNECTION).is_some_and(|value| names(value, "close"));
        Reply {
            request_id: RequestId::new(),
            content_type: None,
            gzip: headers
                .get_all(ACCEPT_ENCODING)
                .iter()
                .any(|value| names(value, "gzip")),
            any_origin: false,
            connection: match version {
                Version::HTTP_2 => None,
                _ if asked_to_close => Some("close"),
                // HTTP/1.0 says keep-alive itself, or it is closed.
                Version::HTTP_10 => None,
                _ => Some("keep-alive"),
            },
            headers: HeaderMap::new(),
        }
    }

    pub(super) fn request_id(&self) -> &str {
        self.request_id.as_str()
    }

    pub(super) fn closing(mut self) -> Reply {
        self.connection = self.connection.map(|_| "close");
        self
    }

    pub(super) fn for_any_origin(mut self) -> Reply {
        self.any_origin = true;
        self
    }

    pub(super) fn typed(mut self, content_type: ContentType) -> Reply {
        self.content_type = Some(content_type);
        self
    }

    /// Takes the room of the request's headers; hyper, which has made it, takes it back for those of the next request.
    pub(super) fn in_place_of(mut self, mut headers: HeaderMap) -> Reply {
        headers.clear();
        self.headers = headers;
        self
    }

    /// The only answer without request id and checksum, and the only one in chunks.
    pub(super) fn too_large() -> Response<ReplyBody> {
        let mut response = Response::new(ReplyBody::Chunked);
        *response.status_mut() = StatusCode::PAYLOAD_TOO_LARGE;
        response
    }

    pub(super) fn empty(self, status: StatusCode) -> Response<ReplyBody> {
        self.plain(status, Bytes::new())
    }

    /// An answer to a cross-origin question of a browser.
    pub(super) fn preflight(
        self,
        headers: Option<HeaderValue>,
        method: Option<HeaderValue>,
    ) -> Response<ReplyBody> {
        let mut response = self.empty(StatusCode::OK);
        let out = response.headers_mut();
        out.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("172800"));
        if let Some(headers) = headers {
            out.insert(ACCESS_CONTROL_ALLOW_HEADERS, headers);
        }
        if let Some(method) = method {
            out.insert(ACCESS_CONTROL_ALLOW_METHODS, method);
        }
        response
    }

    /// Compressed where that was asked for and pays.
    pub(super) fn json(self, status: StatusCode, body: Bytes) -> Response<ReplyBody> {
        if self.gzip
            && body.len() >= GZIP_FROM_BYTES
            && let Some(compressed) = gzip(&body)
        {
            let mut response = self.plain(status, compressed);
            response
                .headers_mut()
                .insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            return response;
        }
        self.plain(status, body)
    }

    /// The body as it stands; the checksum is of the bytes sent.
    pub(super) fn plain(self, status: StatusCode, body: Bytes) -> Response<ReplyBody> {
        let checksum = crc32fast::hash(&body);
        let length = body.len();
        let mut response = Response::new(ReplyBody::Whole(body));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        *headers = self.headers;
        headers.reserve(8);
        headers.insert(SERVER, HeaderValue::from_static("Server"));
        if let Some(content_type) = self.content_type {
            headers.insert(
                CONTENT_TYPE,
                HeaderValue::from_static(match content_type {
                    ContentType::AmzJson => "application/x-amz-json-1.0",
                    ContentType::Json => "application/json",
                }),
            );
        }
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
        if let Some(connection) = self.connection {
            headers.insert(CONNECTION, HeaderValue::from_static(connection));
        }
        if let Ok(request_id) = HeaderValue::from_bytes(&self.request_id.0) {
            headers.insert(REQUEST_ID, request_id);
        }
        headers.insert(CRC32, HeaderValue::from(checksum));
        if self.any_origin {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        }
        response
    }
}

/// Whether a list header has a token, not refused by `q=0`.
fn names(value: &HeaderValue, token: &str) -> bool {
    value.to_str().is_ok_and(|value| {
        value.split(',').any(|entry| {
            let mut parts = entry.split(';').map(str::trim);
            let refused = |parameter: &str| {
                parameter
                    .strip_prefix("q=")
                    .is_some_and(|weight| weight.parse::<f32>().is_ok_and(|weight| weight <= 0.0))
            };
            parts.next().is_some_and(|name| name.eq_ignore_ascii_case(token)) && !parts.any(refused)
        })
    })
}

fn gzip(body: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::fast());
    encoder.write_all(body).ok()?;
    encoder.finish().ok().map(Bytes::from)
}

/// 52 characters, 260 random bits.
struct RequestId([u8; ID_LENGTH]);

const ID_LENGTH: usize = 52;

thread_local! {
    static RANDOM: RefCell<Random> = const { RefCell::new(Random { bytes: [0; 4096], used: 4096 }) };
}

/// Bytes of the system's randomness, drawn for many ids at once: a call for each takes longer than all else about an id.
struct Random {
    bytes: [u8; 4096],
    used: usize,
}

impl Random {
    fn draw(&mut self) -> [u8; ID_LENGTH] {
        if self.bytes.len() - self.used < ID_LENGTH {
            // Without the system's randomness the same ids again are better than no answer.
            let _ = getrandom::fill(&mut self.bytes);
            self.used = 0;
        }
        let drawn = std::array::from_fn(|i| self.bytes[self.used + i]);
        self.used += ID_LENGTH;
        drawn
    }
}

impl RequestId {
    fn new() -> RequestId {
        const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHIJKLMNOPQRSTUV";
        let drawn = RANDOM.with_borrow_mut(Random::draw);
        RequestId(drawn.map(|byte| DIGITS[usize::from(byte & 31)]))
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// A body that is there.
pub enum ReplyBody {
    Whole(Bytes),
    /// Empty, and its length not told beforehand.
    Chunked,
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            ReplyBody::Whole(bytes) if !bytes.is_empty() => {
                Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes)))))
            }
            _ => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, ReplyBody::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            ReplyBody::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            ReplyBody::Chunked => SizeHint::default(),
        }
    }
}
