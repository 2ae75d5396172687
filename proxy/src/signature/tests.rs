//! Each row of the order of checks, and two signatures made by another signer.

use hyper::header::{HeaderName, HeaderValue};
use time::macros::utc_datetime;

use super::*;

const SIGNED_AT: UtcDateTime = utc_datetime!(2026-01-01 00:00:00);
const CREDENTIAL: &str = "AKIDEXAMPLE/20260101/us-east-1/dynamodb/aws4_request";
const SIGNATURE: &str = "20a2f9db8d92aacb5dcc115d0443e50fe1c095e99c1708c77052958c2eae8e3e";
const QUERY_SIGNATURE: &str = "e00d60d09f5bf1555ff8668920db146579b64d5f42eefd85516a81dc28586f21";
/// Of the same request with an empty body, as botocore's query signer makes it.
const QUERY_SIGNATURE_NO_BODY: &str = "0fa99aa46d642e916af06784f9a624ac3aaa9e1357a979ef69e6194a71374e60";
const SIGNED_HEADERS: &str = "content-type;host;x-amz-date;x-amz-target";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

fn key(session: Option<SessionToken>) -> Key {
    Key {
        access_key_id: "AKIDEXAMPLE".into(),
        secret: SECRET.into(),
        session,
    }
}

fn strict() -> Authentication {
    Authentication::Strict(Verifier::new(key(None), "us-east-1".into()))
}

/// ListTables, signed; each test changes what it is about.
struct Signed {
    headers: Vec<(String, String)>,
    query: Option<String>,
    host: &'static str,
    body: &'static str,
    now: UtcDateTime,
}

fn by_header() -> Signed {
    let authorization = format!(
        "AWS4-HMAC-SHA256 Credential={CREDENTIAL}, SignedHeaders={SIGNED_HEADERS}, Signature={SIGNATURE}"
    );
    unsigned()
        .header("x-amz-date", "20260101T000000Z")
        .header("authorization", &authorization)
}

fn by_query() -> Signed {
    unsigned().query(&format!(
        "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={}&X-Amz-Date=20260101T000000Z&X-Amz-Expires=60&\
         X-Amz-SignedHeaders=content-type%3Bhost%3Bx-amz-target&X-Amz-Signature={QUERY_SIGNATURE}",
        CREDENTIAL.replace('/', "%2F")
    ))
}

fn unsigned() -> Signed {
    Signed {
        headers: vec![
            ("content-type".into(), "application/x-amz-json-1.0".into()),
            ("x-amz-target".into(), "DynamoDB_20120810.ListTables".into()),
        ],
        query: None,
        host: "localhost:8000",
        body: "{}",
        now: SIGNED_AT,
    }
}

impl Signed {
    fn header(mut self, name: &str, value: &str) -> Signed {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.into(), value.into()));
        self
    }

    fn without(mut self, name: &str) -> Signed {
        self.headers.retain(|(known, _)| known != name);
        self
    }

    /// Changes the Authorization header.
    fn authorization(self, from: &str, to: &str) -> Signed {
        let old = &self
            .headers
            .iter()
            .find(|(name, _)| name == "authorization")
            .unwrap()
            .1;
        assert!(old.contains(from));
        let new = old.replace(from, to);
        self.header("authorization", &new)
    }

    fn query(mut self, query: &str) -> Signed {
        self.query = Some(query.into());
        self
    }

    fn query_part(self, from: &str, to: &str) -> Signed {
        let old = self.query.clone().unwrap();
        assert!(old.contains(from));
        self.query(&old.replace(from, to))
    }

    fn at(mut self, now: UtcDateTime) -> Signed {
        self.now = now;
        self
    }

    fn check(&self, authentication: &Authentication) -> Result<Option<String>, (&'static str, String)> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            headers.append(
                HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_str(value).unwrap(),
            );
        }
        let request = SignedRequest {
            method: &Method::POST,
            path: "/",
            query: self.query.as_deref(),
            headers: &headers,
            host: Some(self.host),
            body: self.body.as_bytes(),
        };
        authentication
            .check(&request, self.now)
            .map_err(|fault| (fault.exception(), fault.text()))
    }

    /// Signs with the date and the headers that it has, the way the rules say.
    fn sign(self, signed_headers: &str, credential: &str) -> Signed {
        let placeholder =
            format!("AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={signed_headers}, Signature=00");
        let unsigned = self.header("authorization", &placeholder);
        let mut headers = HeaderMap::new();
        for (name, value) in &unsigned.headers {
            headers.append(
                HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_str(value).unwrap(),
            );
        }
        let query = Query::parse(unsigned.query.as_deref());
        let parts = Parts::read(&headers, &query).unwrap();
        let request = SignedRequest {
            method: &Method::POST,
            path: "/",
            query: unsigned.query.as_deref(),
            headers: &headers,
            host: Some(unsigned.host),
            body: unsigned.body.as_bytes(),
        };
        let date = date::basic(parts.date().unwrap());
        let day = &date[..8];
        let to_sign = format!(
            "AWS4-HMAC-SHA256\n{date}\n{day}/us-east-1/dynamodb/aws4_request\n{}",
            hash(canonical::request(&parts, &request, &query))
        );
        let mut mac = Verifier::new(key(None), "us-east-1".into()).signing_key(day);
        mac.update(to_sign.as_bytes());
        let signature = text(hex(mac.finalize().into_bytes().into()));
        drop(parts);
        unsigned.authorization("Signature=00", &format!("Signature={signature}"))
    }
}

fn hash(bytes: Vec<u8>) -> String {
    text(hex(Sha256::digest(bytes).into()))
}

fn text(digits: [u8; 64]) -> String {
    String::from_utf8(digits.into()).unwrap()
}

#[track_caller]
fn refused(request: Signed, exception: &str, text: &str) {
    assert_eq!(request.check(&strict()), Err((exception, text.to_owned())));
}

const MISMATCH: &str = "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.";
const TOKEN: &str = "The security token included in the request is invalid";

#[test]
fn signatures_of_another_signer_are_accepted() {
    assert_eq!(by_header().check(&strict()), Ok(Some("AKIDEXAMPLE".into())));
    assert_eq!(by_query().check(&strict()), Ok(Some("AKIDEXAMPLE".into())));
    let mut empty = by_query().query_part(QUERY_SIGNATURE, QUERY_SIGNATURE_NO_BODY);
    empty.body = "";
    assert_eq!(empty.check(&strict()), Ok(Some("AKIDEXAMPLE".into())));
}

#[test]
fn the_canonical_request_has_the_known_hash() {
    let signed = by_header();
    let mut headers = HeaderMap::new();
    for (name, value) in &signed.headers {
        headers.append(
            HeaderName::from_bytes(name.as_bytes()).unwrap(),
            HeaderValue::from_str(value).unwrap(),
        );
    }
    let query = Query::parse(None);
    let parts = Parts::read(&headers, &query).unwrap();
    let request = SignedRequest {
        method: &Method::POST,
        path: "/",
        query: None,
        headers: &headers,
        host: Some(signed.host),
        body: b"{}",
    };
    assert_eq!(
        hash(canonical::request(&parts, &request, &query)),
        "d5b5b133cf3d22e741a89b642771df3d9650fe30e4ead45dcffa1da35d6470fb"
    );
}

#[test]
fn row_1_signed_by_header_and_query() {
    refused(
        by_header().query("X-Amz-Algorithm=AWS4-HMAC-SHA256"),
        "InvalidSignatureException",
        "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.",
    );
}

#[test]
fn row_2_not_signed() {
    let text = "Request is missing Authentication Token";
    refused(unsigned(), "MissingAuthenticationTokenException", text);
    for other in [
        "Bearer abc",
        "aws4-HMAC-SHA256 Credential=a",
        "AWS AKIDEXAMPLE:sig",
        "",
    ] {
        refused(
            unsigned().header("authorization", other),
            "MissingAuthenticationTokenException",
            text,
        );
    }
}

#[test]
fn row_3_parts_missing_in_the_header() {
    refused(
        unsigned().header("authorization", "AWS4-HMAC-SHA256 a=b,credential=x"),
        "IncompleteSignatureException",
        "Authorization header requires 'Credential' parameter. Authorization header requires 'Signature' parameter. \
         Authorization header requires 'SignedHeaders' parameter. Authorization header requires existence of either a \
         'X-Amz-Date' or a 'Date' header. Authorization=AWS4-HMAC-SHA256 a=b,credential=x",
    );
    refused(
        by_header()
            .without("x-amz-date")
            .authorization(&format!(", Signature={SIGNATURE}"), ""),
        "IncompleteSignatureException",
        &format!(
            "Authorization header requires 'Signature' parameter. Authorization header requires existence of either a \
             'X-Amz-Date' or a 'Date' header. Authorization=AWS4-HMAC-SHA256 Credential={CREDENTIAL}, \
             SignedHeaders={SIGNED_HEADERS}"
        ),
    );
}

#[test]
fn row_3_parts_missing_in_the_query() {
    refused(
        unsigned().query("X-Amz-Algorithm="),
        "IncompleteSignatureException",
        "AWS query-string parameters must include 'X-Amz-Algorithm'. AWS query-string parameters must include \
         'X-Amz-Credential'. AWS query-string parameters must include 'X-Amz-Signature'. AWS query-string parameters must \
         include 'X-Amz-SignedHeaders'. AWS query-string parameters must include 'X-Amz-Date'. Re-examine the query-string \
         parameters.",
    );
    refused(
        by_query().query_part("&X-Amz-Date=20260101T000000Z", "&X-Amz-Date="),
        "IncompleteSignatureException",
        "AWS query-string parameters must include 'X-Amz-Date'. Re-examine the query-string parameters.",
    );
}

#[test]
fn row_4_the_date_has_another_form() {
    for date in [
        "2026-01-01T00:00:00Z",
        "20260101T000000",
        "20261301T000000Z",
        "20260101T0000000Z",
        "yesterday",
    ] {
        refused(
            by_header().header("x-amz-date", date),
            "IncompleteSignatureException",
            &format!(
                "Date must be in ISO-8601 'basic format'. Got '{date}'. See http://en.wikipedia.org/wiki/ISO_8601"
            ),
        );
    }
}

#[test]
fn rows_5_and_6_the_window_is_fifteen_minutes_to_each_side() {
    let late = by_header().at(utc_datetime!(2026-01-01 00:15:00));
    assert!(late.check(&strict()).is_ok());
    refused(
        late.at(utc_datetime!(2026-01-01 00:15:01)),
        "InvalidSignatureException",
        "Signature expired: 20260101T000000Z is now earlier than 20260101T000001Z (20260101T001501Z - 15 min.)",
    );
    let early = by_header().at(utc_datetime!(2025-12-31 23:45:00));
    assert!(early.check(&strict()).is_ok());
    refused(
        early.at(utc_datetime!(2025-12-31 23:44:59)),
        "InvalidSignatureException",
        "Signature not yet current: 20260101T000000Z is still later than 20251231T235959Z (20251231T234459Z + 15 min.)",
    );
    // X-Amz-Expires shortens nothing and extends nothing.
    assert!(
        by_query()
            .at(utc_datetime!(2026-01-01 00:14:00))
            .check(&strict())
            .is_ok()
    );
}

#[test]
fn row_7_the_host_is_not_signed() {
    refused(
        by_header().authorization(SIGNED_HEADERS, "content-type;x-amz-date"),
        "InvalidSignatureException",
        "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.",
    );
    // In whatever case it is named, it is named: the next check answers.
    refused(
        by_header()
            .authorization("host", "HOST")
            .authorization(SIGNATURE, "00"),
        "InvalidSignatureException",
        MISMATCH,
    );
}

#[test]
fn row_8_another_algorithm() {
    let text = "Unsupported AWS 'algorithm': 'AWS4-HMAC-SHA512' (only AWS4-HMAC-SHA256 for now). ";
    refused(
        by_header().authorization("AWS4-HMAC-SHA256", "AWS4-HMAC-SHA512"),
        "IncompleteSignatureException",
        text,
    );
    refused(
        by_query().query_part("AWS4-HMAC-SHA256", "AWS4-HMAC-SHA512"),
        "IncompleteSignatureException",
        text,
    );
}

#[test]
fn row_9_the_credential_has_not_five_elements() {
    for credential in [
        "AKIDEXAMPLE",
        "AKIDEXAMPLE/20260101/us-east-1/dynamodb",
        "a/b/c/d/e/f",
    ] {
        refused(
            by_header().authorization(CREDENTIAL, credential),
            "IncompleteSignatureException",
            &format!(
                "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got \
                 '{credential}'"
            ),
        );
    }
    // Slashes at the end do not count.
    assert!(
        by_header()
            .authorization(CREDENTIAL, &format!("{CREDENTIAL}//"))
            .check(&strict())
            .is_ok()
    );
}

#[test]
fn row_10_the_scope_is_wrong() {
    refused(
        by_header().authorization("us-east-1", "mars-1"),
        "InvalidSignatureException",
        "Credential should be scoped to a valid region. ",
    );
    refused(
        by_header().authorization("/dynamodb/", "/s3/"),
        "InvalidSignatureException",
        "Credential should be scoped to correct service: 'dynamodb'. ",
    );
    refused(
        by_header().authorization(CREDENTIAL, "unknown/20251231/mars-1/s3/aws5_request"),
        "InvalidSignatureException",
        "Credential should be scoped to a valid region. Credential should be scoped to correct service: 'dynamodb'. \
         Credential should be scoped with a valid terminator: 'aws4_request'. Date in Credential scope does not match \
         YYYYMMDD from ISO-8601 version of date from HTTP: '20251231' != '20260101', from '20260101T000000Z'.",
    );
}

#[test]
fn row_11_an_unknown_access_key() {
    refused(
        by_header().authorization("AKIDEXAMPLE", "AKIDOTHER"),
        "UnrecognizedClientException",
        "The security token included in the request is invalid.",
    );
}

#[test]
fn row_12_the_signature_differs() {
    refused(
        by_header().authorization(SIGNATURE, "20a2"),
        "InvalidSignatureException",
        MISMATCH,
    );
    refused(
        by_header().header("x-amz-target", "a"),
        "InvalidSignatureException",
        MISMATCH,
    );
    refused(
        by_query().query_part("Expires=60", "Expires=61"),
        "InvalidSignatureException",
        MISMATCH,
    );
    let mut other = by_header();
    other.body = r#"{"Limit":1}"#;
    refused(other, "InvalidSignatureException", MISMATCH);
    let mut other = by_header();
    other.host = "localhost:8001";
    refused(other, "InvalidSignatureException", MISMATCH);
    // What the client says of its body is not believed.
    let mut other = by_header().header("x-amz-content-sha256", "UNSIGNED-PAYLOAD");
    other.body = "{ }";
    refused(other, "InvalidSignatureException", MISMATCH);
}

#[test]
fn row_13_session_tokens() {
    refused(
        by_header().header("x-amz-security-token", "t"),
        "UnrecognizedClientException",
        TOKEN,
    );

    let session = || {
        Some(SessionToken {
            token: "t".into(),
            expires: None,
        })
    };
    let temporary = Authentication::Strict(Verifier::new(key(session()), "us-east-1".into()));
    let token = Err(("UnrecognizedClientException", TOKEN.to_owned()));
    assert_eq!(by_header().check(&temporary), token);
    assert_eq!(
        by_header().header("x-amz-security-token", "u").check(&temporary),
        token
    );
    assert!(
        by_header()
            .header("x-amz-security-token", "t")
            .check(&temporary)
            .is_ok()
    );
}

#[test]
fn row_14_an_expired_session() {
    let session = SessionToken {
        token: "t".into(),
        expires: Some(SIGNED_AT),
    };
    let temporary = Authentication::Strict(Verifier::new(key(Some(session)), "us-east-1".into()));
    assert_eq!(
        by_header().header("x-amz-security-token", "t").check(&temporary),
        Err((
            "ExpiredTokenException",
            "The security token included in the request is expired".into()
        ))
    );
}

#[test]
fn the_date_header_serves_where_there_is_no_other() {
    for date in ["Thu, 01 Jan 2026 00:00:00 GMT", "20260101T000000Z"] {
        let signed = unsigned()
            .header("date", date)
            .sign("content-type;date;host;x-amz-target", CREDENTIAL);
        assert_eq!(signed.check(&strict()), Ok(Some("AKIDEXAMPLE".into())), "{date}");
    }
    refused(
        by_header().without("x-amz-date").header("date", "tomorrow"),
        "IncompleteSignatureException",
        "Date must be in ISO-8601 'basic format'. Got 'tomorrow'. See http://en.wikipedia.org/wiki/ISO_8601",
    );
}

#[test]
fn canonical_headers_are_trimmed_collapsed_and_joined() {
    let mut signed = unsigned().header("x-a", "  one   two ");
    signed.headers.push(("x-a".into(), "three".into()));
    let mut headers = HeaderMap::new();
    for (name, value) in &signed.headers {
        headers.append(
            HeaderName::from_bytes(name.as_bytes()).unwrap(),
            HeaderValue::from_str(value).unwrap(),
        );
    }
    let raw = format!("AWS4-HMAC-SHA256 Credential={CREDENTIAL},SignedHeaders=HOST;X-A,Signature=0");
    headers.insert("authorization", HeaderValue::from_str(&raw).unwrap());
    headers.insert("x-amz-date", HeaderValue::from_static("20260101T000000Z"));
    let query = Query::parse(Some("b=2&a=x%20y&a=%2a&c"));
    let parts = Parts::read(&headers, &query).unwrap();
    let request = SignedRequest {
        method: &Method::POST,
        path: "/",
        query: None,
        headers: &headers,
        host: Some("h"),
        body: b"",
    };
    let canonical = String::from_utf8(canonical::request(&parts, &request, &query)).unwrap();
    assert_eq!(
        canonical,
        "POST\n/\na=%2A&a=x%20y&b=2&c=\nhost:h\nx-a:one two,three\n\nhost;x-a\n\
         e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );
}

#[test]
fn format_believes_whatever_is_complete() {
    let anyone = by_header()
        .authorization(CREDENTIAL, "me")
        .authorization(SIGNATURE, "x");
    assert_eq!(anyone.check(&Authentication::Format), Ok(Some("me".into())));
    let missing = (
        "MissingAuthenticationTokenException",
        "Request is missing Authentication Token".into(),
    );
    assert_eq!(unsigned().check(&Authentication::Format), Err(missing));
    assert_eq!(unsigned().check(&Authentication::None), Ok(None));
}
