//! The front end over real sockets, in front of a backend that remembers what it was asked.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::{Arc, Mutex},
};

use extenddb_core::{operation::Operation, wire::Answer};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

use super::*;
use crate::{
    server,
    signature::{Key, Verifier},
};

#[derive(Default)]
struct Remembering {
    /// Operation, body, context.
    calls: Mutex<Vec<(Operation, String, String)>>,
    failure: Mutex<Option<Failure>>,
    answer: Mutex<Option<Answer>>,
    delay: Duration,
    unready: AtomicBool,
}

impl Backend for Arc<Remembering> {
    async fn call(&self, operation: Operation, body: &str, context: &Context<'_>) -> Result<Answer, Failure> {
        let context = context.to_json();
        self.calls
            .lock()
            .unwrap()
            .push((operation, body.to_owned(), context));
        tokio::time::sleep(self.delay).await;
        if let Some(failure) = self.failure.lock().unwrap().take() {
            return Err(failure);
        }
        let answer = self.answer.lock().unwrap().clone();
        Ok(answer.unwrap_or(Answer {
            status: 200,
            body: "{}".into(),
        }))
    }

    async fn ready(&self) -> Result<(), String> {
        if self.unready.load(Ordering::Relaxed) {
            Err("gone".into())
        } else {
            Ok(())
        }
    }

    async fn close(&self) {}
}

struct Running {
    address: SocketAddr,
    backend: Arc<Remembering>,
    stop: Option<oneshot::Sender<()>>,
    ended: JoinHandle<()>,
}

async fn start(authentication: Authentication, backend: Remembering) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let backend = Arc::new(backend);
    let front = Arc::new(Front {
        backend: backend.clone(),
        authentication,
        region: "us-east-1".into(),
        account: "000000000000".into(),
        body_timeout: Duration::from_secs(5),
        stopping: AtomicBool::new(false),
    });
    let (stop, stopped) = oneshot::channel();
    let stopped = async {
        let _ = stopped.await;
    };
    let ended = tokio::spawn(server::run(
        vec![listener],
        front,
        stopped,
        Duration::from_secs(5),
    ));
    Running {
        address,
        backend,
        stop: Some(stop),
        ended,
    }
}

async fn open() -> Running {
    start(Authentication::None, Remembering::default()).await
}

fn strict() -> Authentication {
    let key = Key {
        access_key_id: "AKIDEXAMPLE".into(),
        secret: "secret".into(),
        session: None,
    };
    Authentication::Strict(Verifier::new(key, "us-east-1".into()))
}

struct Heard {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    /// Whether the server closed the connection.
    closed: bool,
}

impl Heard {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// What every answer has but one.
    #[track_caller]
    fn is_complete(&self) {
        let id = self.header("x-amzn-requestid").unwrap();
        assert_eq!(id.len(), 52);
        assert!(
            id.bytes()
                .all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        );
        assert_eq!(
            self.header("x-amz-crc32").unwrap(),
            crc32fast::hash(&self.body).to_string()
        );
        assert_eq!(
            self.header("content-length").unwrap(),
            self.body.len().to_string()
        );
        assert_eq!(self.header("server"), Some("Server"));
        assert!(self.header("date").is_some());
        assert_eq!(self.header("transfer-encoding"), None);
    }
}

impl Running {
    /// Sends bytes as they are and reads one answer.
    async fn raw(&self, request: Vec<u8>) -> Heard {
        let address = self.address;
        tokio::task::spawn_blocking(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            stream.write_all(&request).unwrap();
            hear(&mut stream, request.starts_with(b"HEAD"))
        })
        .await
        .unwrap()
    }

    async fn send(&self, start: &str, headers: &[&str], body: &[u8]) -> Heard {
        let mut request = format!("{start} HTTP/1.1\r\nHost: localhost:8000\r\n").into_bytes();
        for header in headers {
            request.extend_from_slice(format!("{header}\r\n").as_bytes());
        }
        request.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
        request.extend_from_slice(body);
        self.raw(request).await
    }

    async fn post(&self, target: &str, more: &[&str], body: &str) -> Heard {
        let target = format!("X-Amz-Target: {target}");
        let mut headers = vec!["Content-Type: application/x-amz-json-1.0", &target];
        headers.extend(more);
        self.send("POST /", &headers, body.as_bytes()).await
    }
}

fn hear(stream: &mut TcpStream, head_only: bool) -> Heard {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        assert_eq!(
            stream.read(&mut byte).unwrap(),
            1,
            "the answer ends in its headers"
        );
        bytes.push(byte[0]);
    }
    let text = String::from_utf8(bytes).unwrap();
    let mut lines = text.trim_end().split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers: Vec<(String, String)> = lines
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, value)| value.parse().unwrap())];
    if head_only {
        body.clear();
    }
    stream.read_exact(&mut body).unwrap();
    if headers
        .iter()
        .any(|(name, value)| name == "transfer-encoding" && value == "chunked")
    {
        let mut chunks = [0; 5];
        stream.read_exact(&mut chunks).unwrap();
        assert_eq!(&chunks, b"0\r\n\r\n", "only empty answers come in chunks");
    }
    stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let closed = matches!(stream.read(&mut byte), Ok(0));
    Heard {
        status,
        headers,
        body,
        closed,
    }
}

const LIST_TABLES: &str = "DynamoDB_20120810.ListTables";
const BARE_SERIALIZATION: &str = r#"{"__type":"com.amazon.coral.service#SerializationException"}"#;
const BARE_UNKNOWN: &str = r#"{"__type":"com.amazon.coral.service#UnknownOperationException"}"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_request_reaches_the_backend_untouched() {
    let server = open().await;
    let body = "{ \"Limit\":1e0 , \"x\": \"\u{e9}\\u0000\" }";
    let heard = server.post(LIST_TABLES, &[], body).await;
    heard.is_complete();
    assert_eq!((heard.status, heard.text()), (200, "{}"));
    assert_eq!(heard.header("x-amz-crc32"), Some("2745614147"));
    assert_eq!(heard.header("content-type"), Some("application/x-amz-json-1.0"));
    assert_eq!(heard.header("connection"), Some("keep-alive"));
    assert!(!heard.closed);
    let calls = server.backend.calls.lock().unwrap();
    let (operation, sent, context) = &calls[0];
    assert_eq!((*operation, sent.as_str()), (Operation::ListTables, body));
    let context: serde_json::Value = serde_json::from_str(context).unwrap();
    assert_eq!(
        context,
        serde_json::json!({
            "account": "000000000000", "requestId": heard.header("x-amzn-requestid").unwrap(),
            "host": "localhost:8000", "sourceIp": "127.0.0.1",
        })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn checksums_of_known_bodies() {
    let server = start(strict(), Remembering::default()).await;
    let heard = server.post(LIST_TABLES, &[], "{").await;
    assert_eq!((heard.status, heard.text()), (400, BARE_SERIALIZATION));
    assert_eq!(heard.header("x-amz-crc32"), Some("3948637019"));
    let heard = server.post("DynamoDB_20111205.ListTables", &[], "{}").await;
    assert_eq!((heard.status, heard.text()), (400, BARE_UNKNOWN));
    assert_eq!(heard.header("x-amz-crc32"), Some("1368724161"));
    let heard = server.post(LIST_TABLES, &[], "{}").await;
    assert_eq!(heard.status, 400);
    assert_eq!(heard.header("x-amz-crc32"), Some("2088342776"));
    let heard = server.send("PUT /", &[], b"").await;
    assert_eq!(
        (heard.status, heard.text()),
        (404, "<UnknownOperationException/>\n")
    );
    assert_eq!(heard.header("x-amz-crc32"), Some("3552371480"));
    heard.is_complete();
    assert!(server.backend.calls.lock().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_first_is_answered() {
    let server = start(strict(), Remembering::default()).await;
    // Broken JSON before the target, the target before the signature, the signature before an empty body.
    let heard = server.post("Nothing.Such", &[], "{]").await;
    assert_eq!((heard.status, heard.text()), (400, BARE_SERIALIZATION));
    let heard = server.post("Nothing.Such", &[], "{}").await;
    assert_eq!((heard.status, heard.text()), (400, BARE_UNKNOWN));
    for body in ["", "[]", "{}"] {
        let heard = server.post(LIST_TABLES, &[], body).await;
        assert!(
            heard.text().contains("MissingAuthenticationTokenException"),
            "{body}"
        );
    }
    // Content type before JSON.
    let heard = server
        .send("POST /", &["Content-Type: application/x-amz-json-1.1"], b"{]")
        .await;
    assert_eq!(
        (heard.status, heard.text()),
        (404, "<UnknownOperationException/>\n")
    );
    assert_eq!(heard.header("content-type"), None);

    let server = open().await;
    for body in ["", "[]", "\"x\"", "1", "null", " true"] {
        let heard = server.post(LIST_TABLES, &[], body).await;
        assert_eq!((heard.status, heard.text()), (400, BARE_SERIALIZATION), "{body}");
        heard.is_complete();
    }
    let heard = server
        .send(
            "POST /",
            &["Content-Type: application/json", "X-Amz-Target: a.b"],
            b"{\"a\":\"\xff\"}",
        )
        .await;
    assert_eq!((heard.status, heard.text()), (400, BARE_SERIALIZATION));
    assert!(server.backend.calls.lock().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn content_types() {
    let server = open().await;
    let target = "X-Amz-Target: DynamoDB_20120810.ListTables";
    for (sent, echoed) in [
        ("application/x-amz-json-1.0", "application/x-amz-json-1.0"),
        (
            "Application/X-Amz-Json-1.0 ; charset=utf-8",
            "application/x-amz-json-1.0",
        ),
        ("application/json", "application/json"),
        ("application/JSON;charset=utf-8", "application/json"),
    ] {
        let heard = server
            .send("POST /", &[target, &format!("Content-Type: {sent}")], b"{}")
            .await;
        assert_eq!(
            (heard.status, heard.header("content-type")),
            (200, Some(echoed)),
            "{sent}"
        );
    }
    for sent in ["application/x-amz-json-1.1", "text/plain", "application/cbor"] {
        let heard = server
            .send("POST /", &[target, &format!("Content-Type: {sent}")], b"{}")
            .await;
        assert_eq!(
            (heard.status, heard.header("content-type")),
            (404, None),
            "{sent}"
        );
    }
    assert_eq!(server.send("POST /", &[target], b"{}").await.status, 404);
    // Without a body the type does not matter.
    let heard = server.send("POST /", &[target], b"").await;
    assert_eq!((heard.status, heard.text()), (400, BARE_SERIALIZATION));
    assert_eq!(
        server
            .send("POST /other", &[target, "Content-Type: application/json"], b"{}")
            .await
            .status,
        404
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn targets() {
    let server = open().await;
    for target in [
        "DynamoDB_20120810",
        "DynamoDB_20120810.",
        "DynamoDB_20120810.listTables",
        "dynamodb_20120810.ListTables",
        "DynamoDB_20120810.ListTables.x",
        "DynamoDBStreams_20120810.ListTables",
        "DynamoDB_20120810.ListStreams",
        "DynamoDB_20120810.EnableKinesisStreamingDestination",
        "",
    ] {
        let heard = server.post(target, &[], "{}").await;
        assert_eq!((heard.status, heard.text()), (400, BARE_UNKNOWN), "{target}");
    }
    let heard = server
        .send("POST /", &["Content-Type: application/json"], b"{}")
        .await;
    assert_eq!((heard.status, heard.text()), (400, BARE_UNKNOWN));
    let heard = server.post("DynamoDB_20120810.SearchVectors", &[], "{}").await;
    assert_eq!(
        heard.text(),
        r#"{"__type":"com.amazon.coral.service#UnknownOperationException","message":"This operation is not supported by this endpoint"}"#
    );
    assert!(server.backend.calls.lock().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn describe_endpoints_names_where_the_client_came() {
    let server = open().await;
    let heard = server
        .post("DynamoDB_20120810.DescribeEndpoints", &[], "{}")
        .await;
    let answer: serde_json::Value = serde_json::from_slice(&heard.body).unwrap();
    let expected =
        serde_json::json!({"Endpoints": [{"Address": "localhost:8000", "CachePeriodInMinutes": 1440}]});
    assert_eq!((heard.status, answer), (200, expected));
}

#[tokio::test(flavor = "multi_thread")]
async fn health_and_other_methods() {
    let server = open().await;
    for path in ["/", "/ping", "/any/where?x=y"] {
        let heard = server.send(&format!("GET {path}"), &[], b"").await;
        assert_eq!(
            (heard.status, heard.text()),
            (200, "healthy: dynamodb.us-east-1.amazonaws.com ")
        );
        assert_eq!(heard.body.len(), 42);
        assert_eq!(heard.header("content-type"), None);
        heard.is_complete();
    }
    let heard = server.send("GET /health", &[], b"").await;
    assert_eq!((heard.status, heard.text()), (200, r#"{"status":"healthy"}"#));
    server.backend.unready.store(true, Ordering::Relaxed);
    assert_eq!(server.send("GET /health", &[], b"").await.status, 503);
    for method in ["OPTIONS", "PUT", "DELETE", "PATCH"] {
        let heard = server.send(&format!("{method} /"), &[], b"").await;
        assert_eq!(
            (heard.status, heard.text()),
            (404, "<UnknownOperationException/>\n"),
            "{method}"
        );
        heard.is_complete();
    }
    let heard = server.send("HEAD /", &[], b"").await;
    assert_eq!((heard.status, heard.body.len()), (404, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn browsers() {
    let server = open().await;
    let origin = "Origin: http://localhost:3000";
    let heard = server
        .send(
            "OPTIONS /",
            &[
                origin,
                "Access-Control-Request-Headers: x-amz-target,x-amz-date",
                "Access-Control-Request-Method: POST",
            ],
            b"",
        )
        .await;
    assert_eq!((heard.status, heard.body.len()), (200, 0));
    assert_eq!(heard.header("access-control-allow-origin"), Some("*"));
    assert_eq!(heard.header("access-control-max-age"), Some("172800"));
    assert_eq!(
        heard.header("access-control-allow-headers"),
        Some("x-amz-target,x-amz-date")
    );
    assert_eq!(heard.header("access-control-allow-methods"), Some("POST"));
    assert_eq!(heard.header("x-amz-crc32"), Some("0"));
    heard.is_complete();
    let heard = server.send("OPTIONS /", &[origin], b"").await;
    assert_eq!(heard.header("access-control-allow-headers"), None);

    assert_eq!(
        server
            .post(LIST_TABLES, &[], "{}")
            .await
            .header("access-control-allow-origin"),
        None
    );
    for (target, body) in [(LIST_TABLES, "{}"), (LIST_TABLES, "{"), ("x", "{}")] {
        let heard = server.post(target, &[origin], body).await;
        assert_eq!(heard.header("access-control-allow-origin"), Some("*"));
    }
    for start in ["GET /", "PUT /"] {
        let heard = server.send(start, &[origin], b"").await;
        assert_eq!(heard.header("access-control-allow-origin"), Some("*"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sixteen_mebibytes_and_not_one_byte_more() {
    let server = open().await;
    let body = |bytes: usize| {
        let mut body = br#"{"x":""#.to_vec();
        body.resize(bytes - 2, b'x');
        body.extend_from_slice(b"\"}");
        body
    };
    let headers = [
        "Content-Type: application/x-amz-json-1.0",
        "X-Amz-Target: DynamoDB_20120810.ListTables",
        "Origin: http://a",
    ];
    assert_eq!(
        server.send("POST /", &headers, &body(16_777_216)).await.status,
        200
    );
    let heard = server.send("POST /", &headers, &body(16_777_217)).await;
    assert_eq!((heard.status, heard.body.len()), (413, 0));
    assert_eq!(heard.header("transfer-encoding"), Some("chunked"));
    for absent in [
        "content-length",
        "x-amzn-requestid",
        "x-amz-crc32",
        "access-control-allow-origin",
    ] {
        assert_eq!(heard.header(absent), None, "{absent}");
    }
    // Without a promise of length the bytes are counted.
    let mut chunked = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for _ in 0..17 {
        chunked.extend_from_slice(b"100000\r\n");
        chunked.resize(chunked.len() + 0x10_0000, b' ');
        chunked.extend_from_slice(b"\r\n");
    }
    chunked.extend_from_slice(b"0\r\n\r\n");
    assert_eq!(server.raw(chunked).await.status, 413);
    // Who asks first is told before it sends anything.
    let asking =
        b"POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n".to_vec();
    assert_eq!(server.raw(asking).await.status, 413);
    assert_eq!(server.backend.calls.lock().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hosts_are_one_too_many() {
    let server = open().await;
    let heard = server.send("POST /", &["Host: other"], b"{").await;
    assert_eq!((heard.status, heard.header("connection")), (400, Some("close")));
    assert!(heard.closed);
}

fn zip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn compressed_requests() {
    let server = open().await;
    let headers = [
        "Content-Type: application/x-amz-json-1.0",
        "X-Amz-Target: DynamoDB_20120810.ListTables",
        "Content-Encoding: gzip",
    ];
    assert_eq!(
        server
            .send("POST /", &headers, &zip(b"{\"Limit\":1}"))
            .await
            .status,
        200
    );
    assert_eq!(server.backend.calls.lock().unwrap()[0].1, "{\"Limit\":1}");
    let mut corrupt = zip(b"{\"Limit\":1}");
    corrupt.truncate(15);
    for bad in [&b"{}"[..], &corrupt] {
        let heard = server.send("POST /", &headers, bad).await;
        assert_eq!((heard.status, heard.text()), (400, BARE_SERIALIZATION));
    }
    let bomb = zip(&vec![b' '; 16_777_217]);
    assert_eq!(server.send("POST /", &headers, &bomb).await.status, 413);
}

#[tokio::test(flavor = "multi_thread")]
async fn compressed_answers() {
    let server = open().await;
    let large = format!(r#"{{"x":"{}"}}"#, "x".repeat(4096 - 8));
    assert_eq!(large.len(), 4096);
    *server.backend.answer.lock().unwrap() = Some(Answer {
        status: 200,
        body: large.clone(),
    });
    for accepting in ["gzip", "deflate, GZIP;q=0.5"] {
        let heard = server
            .post(LIST_TABLES, &[&format!("Accept-Encoding: {accepting}")], "{}")
            .await;
        assert_eq!(heard.header("content-encoding"), Some("gzip"), "{accepting}");
        heard.is_complete();
        let mut text = String::new();
        GzDecoder::new(&heard.body[..]).read_to_string(&mut text).unwrap();
        assert_eq!(text, large);
    }
    for refusing in ["identity", "gzip;q=0", "br"] {
        let heard = server
            .post(LIST_TABLES, &[&format!("Accept-Encoding: {refusing}")], "{}")
            .await;
        assert_eq!(
            (heard.header("content-encoding"), heard.text()),
            (None, large.as_str()),
            "{refusing}"
        );
    }
    let small = large.replacen("xx", "x", 1);
    *server.backend.answer.lock().unwrap() = Some(Answer {
        status: 200,
        body: small,
    });
    assert_eq!(
        server
            .post(LIST_TABLES, &["Accept-Encoding: gzip"], "{}")
            .await
            .header("content-encoding"),
        None
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_tell_nothing_of_the_inside() {
    let server = open().await;
    let fail = |failure| *server.backend.failure.lock().unwrap() = Some(failure);
    fail(Failure::Internal("relation secret".into()));
    let heard = server.post(LIST_TABLES, &[], "{}").await;
    assert_eq!(heard.status, 500);
    assert_eq!(
        heard.text(),
        r#"{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"Internal server error"}"#
    );
    heard.is_complete();
    fail(Failure::Unavailable("host secret".into()));
    let heard = server.post(LIST_TABLES, &[], "{}").await;
    assert_eq!(heard.status, 503);
    assert!(!heard.text().contains("secret"));
    // The backend's own faults pass as they are.
    let fault = Answer {
        status: 400,
        body: r#"{"__type":"x#Y","message":"z"}"#.into(),
    };
    *server.backend.answer.lock().unwrap() = Some(fault.clone());
    let heard = server.post(LIST_TABLES, &[], "{}").await;
    assert_eq!((heard.status, heard.text()), (400, fault.body.as_str()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_lets_running_requests_end() {
    let slow = Remembering {
        delay: Duration::from_millis(300),
        ..Remembering::default()
    };
    let mut server = start(Authentication::None, slow).await;
    let stop = server.stop.take().unwrap();
    let request = server.post(LIST_TABLES, &[], "{}");
    let stopping = async {
        while server.backend.calls.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        stop.send(()).unwrap();
    };
    let (heard, ()) = tokio::join!(request, stopping);
    assert_eq!((heard.status, heard.header("connection")), (200, Some("close")));
    assert!(heard.closed);
    (&mut server.ended).await.unwrap();
    assert!(TcpStream::connect(server.address).is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn http_2_without_an_upgrade() {
    let server = open().await;
    let stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
    let io = hyper_util::rt::TokioIo::new(stream);
    let executor = hyper_util::rt::TokioExecutor::new();
    let (mut client, connection) = hyper::client::conn::http2::handshake(executor, io).await.unwrap();
    tokio::spawn(connection);
    let request = Request::post("http://example.test:8000/")
        .header("content-type", "application/x-amz-json-1.0")
        .header("x-amz-target", LIST_TABLES)
        .body(http_body_util::Full::new(Bytes::from_static(b"{}")))
        .unwrap();
    let response = client.send_request(request).await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers().get("x-amz-crc32").unwrap(), "2745614147");
    assert_eq!(response.headers().get("connection"), None);
    let calls = server.backend.calls.lock().unwrap();
    assert!(calls[0].2.contains(r#""host":"example.test:8000""#));
}
