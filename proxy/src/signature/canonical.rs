//! The canonical request: what client and server hash alike.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use sha2::{Digest, Sha256};

use super::{
    SignedRequest, hex,
    parts::{Parts, Query, SIGNATURE_PARAMETER, is_host},
};

const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The hash is of the body received, whatever `x-amz-content-sha256` says: else a signed request could be sent again
/// with another body.
pub(super) fn request(parts: &Parts<'_>, request: &SignedRequest<'_>, query: &Query) -> Vec<u8> {
    let mut out = Vec::with_capacity(1024);
    let lower =
        |text: &str, out: &mut Vec<u8>| out.extend(text.bytes().map(|byte| byte.to_ascii_lowercase()));
    for line in [
        request.method.as_str(),
        request.path,
        &query_string(query, parts.by_query),
    ] {
        out.extend_from_slice(line.as_bytes());
        out.push(b'\n');
    }
    for name in parts.signed_headers() {
        lower(name, &mut out);
        out.push(b':');
        header_value(name, request, &mut out);
        out.push(b'\n');
    }
    out.push(b'\n');
    lower(&parts.signed_headers, &mut out);
    out.push(b'\n');
    out.extend_from_slice(&hex(Sha256::digest(request.body).into()));
    out
}

fn query_string(query: &Query, by_query: bool) -> String {
    let encode = |bytes| percent_encode(bytes, RESERVED).to_string();
    let mut encoded: Vec<(String, String)> = query
        .parameters
        .iter()
        .filter(|(name, _)| !(by_query && name == SIGNATURE_PARAMETER.as_bytes()))
        .map(|(name, value)| (encode(name), encode(value)))
        .collect();
    encoded.sort();
    encoded
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect::<Vec<_>>()
        .join("&")
}

/// Repeated headers joined by commas; each trimmed, runs of spaces as one.
fn header_value(name: &str, request: &SignedRequest<'_>, out: &mut Vec<u8>) {
    if is_host(name) {
        out.extend_from_slice(request.host.unwrap_or_default().as_bytes());
        return;
    }
    for (i, value) in request.headers.get_all(name).iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        let words = value
            .as_bytes()
            .trim_ascii()
            .split(|byte| *byte == b' ')
            .filter(|word| !word.is_empty());
        for (i, word) in words.enumerate() {
            if i > 0 {
                out.push(b' ');
            }
            out.extend_from_slice(word);
        }
    }
}
