//! From a request to an answer, in DynamoDB's order.                                        behaviour/wire §front-end

mod body;
mod reply;
mod target;
#[cfg(test)]
mod tests;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use bytes::Bytes;
use extenddb_core::wire::json;
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode, Version,
    body::Incoming,
    header::{
        ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, CONTENT_ENCODING, CONTENT_TYPE, HOST,
        ORIGIN,
    },
    http::request,
};
use time::UtcDateTime;

use crate::{
    backend::{Backend, Context, Failure},
    signature::{Authentication, SignedRequest},
};
pub use reply::ReplyBody;
use reply::{ContentType, Reply};
use target::Target;

/// The front end: protocol and authentication before a backend.
pub struct Front<B> {
    pub backend: B,
    pub authentication: Authentication,
    pub region: String,
    /// Whose tables are served.
    pub account: String,
    /// A client that takes longer to send a body is given up.
    pub body_timeout: Duration,
    /// While the server stops, each answer ends its connection.
    pub stopping: AtomicBool,
}

const NOT_FOUND: Bytes = Bytes::from_static(b"<UnknownOperationException/>\n");
const SERIALIZATION: Bytes =
    Bytes::from_static(br#"{"__type":"com.amazon.coral.service#SerializationException"}"#);
const UNKNOWN_OPERATION: Bytes =
    Bytes::from_static(br#"{"__type":"com.amazon.coral.service#UnknownOperationException"}"#);
const ANOTHER_ENDPOINT: Bytes = Bytes::from_static(
    br#"{"__type":"com.amazon.coral.service#UnknownOperationException","message":"This operation is not supported by this endpoint"}"#,
);
const INTERNAL: Bytes = Bytes::from_static(
    br#"{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"Internal server error"}"#,
);
const UNAVAILABLE: Bytes = Bytes::from_static(
    br#"{"__type":"com.amazonaws.dynamodb.v20120810#ServiceUnavailable","message":"Internal server error"}"#,
);

impl<B: Backend> Front<B> {
    pub async fn answer(&self, request: Request<Incoming>, source_ip: &str) -> Response<ReplyBody> {
        let started = Instant::now();
        let (head, incoming) = request.into_parts();
        let mut reply = Reply::new(&head.headers, head.version);
        if head.headers.get_all(HOST).iter().nth(1).is_some() {
            return reply.closing().empty(StatusCode::BAD_REQUEST);
        }

        let received = match body::read(incoming, &head.headers, self.body_timeout).await {
            Ok(received) => received,
            Err(body::Refused::TooLarge) => return Reply::too_large(),
            Err(body::Refused::NotSent) => return reply.closing().empty(StatusCode::REQUEST_TIMEOUT),
        };
        if head.headers.contains_key(ORIGIN) {
            reply = reply.for_any_origin();
            if head.method == Method::OPTIONS {
                let asked = |name| head.headers.get(name).cloned();
                return reply.preflight(
                    asked(ACCESS_CONTROL_REQUEST_HEADERS),
                    asked(ACCESS_CONTROL_REQUEST_METHOD),
                );
            }
        }
        if head.method == Method::GET {
            return self.health(head.uri.path(), reply).await;
        }
        let content_type = content_type(&head.headers);
        if head.method != Method::POST
            || head.uri.path() != "/"
            || (content_type.is_none() && !received.is_empty())
        {
            return reply.plain(StatusCode::NOT_FOUND, NOT_FOUND);
        }
        let reply = reply.typed(content_type.unwrap_or(ContentType::Json));

        let inflated = match body::inflate(&received, head.headers.get(CONTENT_ENCODING)) {
            Ok(body) => Some(body),
            Err(body::Inflation::Corrupt) => None,
            Err(body::Inflation::TooLarge) => return Reply::too_large(),
        };
        let text = inflated
            .as_deref()
            .and_then(|body| std::str::from_utf8(body).ok());
        let Outcome {
            operation,
            status,
            body,
            cause,
        } = self.serve(&head, &received, text, &reply, source_ip).await;

        let duration_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        let (request_id, status_code) = (reply.request_id(), status.as_u16());
        match cause {
            Some(cause) => {
                tracing::error!(
                    request_id,
                    operation,
                    status = status_code,
                    duration_us,
                    cause,
                    "failed"
                );
            }
            None => tracing::debug!(
                request_id,
                operation,
                status = status_code,
                duration_us,
                "answered"
            ),
        }
        let stopping = self.stopping.load(Ordering::Relaxed);
        if stopping { reply.closing() } else { reply }
            .in_place_of(head.headers)
            .json(status, body)
    }

    /// From the JSON check on. `text` is the body inflated, `None` where it is no text.
    async fn serve(
        &self,
        head: &request::Parts,
        received: &Bytes,
        text: Option<&str>,
        reply: &Reply,
        source_ip: &str,
    ) -> Outcome {
        let Some(text) = text.filter(|text| text.is_empty() || json::check(text).is_ok()) else {
            return Outcome::refused("", SERIALIZATION);
        };

        let target = Target::read(&head.headers);
        let name = target.name();
        match target {
            Target::Unknown => return Outcome::refused(name, UNKNOWN_OPERATION),
            Target::AnotherEndpoint => return Outcome::refused(name, ANOTHER_ENDPOINT),
            Target::Served(_) | Target::DescribeEndpoints => {}
        }

        let host = host(head);
        let signed = SignedRequest {
            method: &head.method,
            path: head.uri.path(),
            query: head.uri.query(),
            headers: &head.headers,
            host,
            body: received,
        };
        let access_key_id = match self.authentication.check(&signed, UtcDateTime::now()) {
            Ok(access_key_id) => access_key_id,
            Err(fault) => return Outcome::refused(name, service_fault(fault.exception(), &fault.text())),
        };

        // An object, or nothing that has members.
        if !text.trim_start().starts_with('{') {
            return Outcome::refused(name, SERIALIZATION);
        }
        let operation = match target {
            Target::Served(operation) => operation,
            _ => return Outcome::of(name, StatusCode::OK, self.endpoints(host)),
        };
        let context = Context {
            account: &self.account,
            request_id: reply.request_id(),
            host,
            source_ip,
            access_key_id: access_key_id.as_deref(),
        };
        match self.backend.call(operation, text, &context).await {
            Ok(answer) => match StatusCode::from_u16(answer.status) {
                Ok(status) => Outcome::of(name, status, answer.body.into()),
                Err(_) => {
                    let cause = format!("the backend answered status {}", answer.status);
                    Outcome::failed(name, StatusCode::INTERNAL_SERVER_ERROR, INTERNAL, cause)
                }
            },
            Err(Failure::Unavailable(cause)) => {
                Outcome::failed(name, StatusCode::SERVICE_UNAVAILABLE, UNAVAILABLE, cause)
            }
            Err(Failure::Internal(cause)) => {
                Outcome::failed(name, StatusCode::INTERNAL_SERVER_ERROR, INTERNAL, cause)
            }
        }
    }

    async fn health(&self, path: &str, reply: Reply) -> Response<ReplyBody> {
        if path != "/health" {
            let text = format!("healthy: dynamodb.{}.amazonaws.com ", self.region);
            return reply.plain(StatusCode::OK, text.into());
        }
        match self.backend.ready().await {
            Ok(()) => reply.plain(StatusCode::OK, Bytes::from_static(br#"{"status":"healthy"}"#)),
            Err(cause) => {
                tracing::warn!(cause, "not ready");
                let body = Bytes::from_static(br#"{"status":"unhealthy"}"#);
                reply.plain(StatusCode::SERVICE_UNAVAILABLE, body)
            }
        }
    }

    /// DescribeEndpoints: wherever the client came is where it should come again.
    fn endpoints(&self, host: Option<&str>) -> Bytes {
        let address = host.map_or_else(
            || format!("dynamodb.{}.amazonaws.com", self.region),
            str::to_owned,
        );
        serde_json::json!({ "Endpoints": [{ "Address": address, "CachePeriodInMinutes": 1440 }] })
            .to_string()
            .into()
    }
}

/// What is answered, and what the log hears of it.
struct Outcome {
    operation: &'static str,
    status: StatusCode,
    body: Bytes,
    /// What went wrong inside.
    cause: Option<String>,
}

impl Outcome {
    fn of(operation: &'static str, status: StatusCode, body: Bytes) -> Outcome {
        Outcome {
            operation,
            status,
            body,
            cause: None,
        }
    }

    fn refused(operation: &'static str, body: Bytes) -> Outcome {
        Self::of(operation, StatusCode::BAD_REQUEST, body)
    }

    fn failed(operation: &'static str, status: StatusCode, body: Bytes, cause: String) -> Outcome {
        Outcome {
            operation,
            status,
            body,
            cause: Some(cause),
        }
    }
}

/// `Host`, or `:authority` of HTTP/2.
fn host(head: &request::Parts) -> Option<&str> {
    let authority = || head.uri.authority().map(|authority| authority.as_str());
    if head.version == Version::HTTP_2 {
        authority().or_else(|| host_header(&head.headers))
    } else {
        host_header(&head.headers).or_else(authority)
    }
}

fn host_header(headers: &HeaderMap) -> Option<&str> {
    headers.get(HOST).and_then(|host| host.to_str().ok())
}

/// `None`: another type, or none.
fn content_type(headers: &HeaderMap) -> Option<ContentType> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let base = value.split(';').next().unwrap_or_default().trim();
    if base.eq_ignore_ascii_case("application/x-amz-json-1.0") {
        Some(ContentType::AmzJson)
    } else if base.eq_ignore_ascii_case("application/json") {
        Some(ContentType::Json)
    } else {
        None
    }
}

fn service_fault(exception: &str, text: &str) -> Bytes {
    let mut body = format!(r#"{{"__type":"com.amazon.coral.service#{exception}","message":"#);
    json::write_string(text, &mut body);
    body.push('}');
    body.into()
}
