//! The canonical request: what client and server hash alike.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use sha2::{Digest, Sha256};

use super::{
    SignedRequest, hex,
    parts::{Parts, Query, SIGNATURE_PARAMETER},
};

const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The hash is of the body received, whatever `x-amz-content-sha256` says: else a signed request could be sent again
/// with another body.
pub(super) fn request(parts: &Parts<'_>, request: &SignedRequest<'_>, query: &Query) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    let mut line = |bytes: &[u8]| {
        out.extend_from_slice(bytes);
        out.push(b'\n');
    };
    line(request.method.as_str().as_bytes());
    line(request.path.as_bytes());
    line(query_string(query, parts.by_query).as_bytes());
    let names: Vec<String> = parts.signed_headers().collect();
    for name in &names {
        let mut header = name.clone().into_bytes();
        header.push(b':');
        header_value(name, request, &mut header);
        line(&header);
    }
    line(b"");
    line(names.join(";").as_bytes());
    out.extend_from_slice(hex(&Sha256::digest(request.body)).as_bytes());
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
    if matches!(name, "host" | ":authority") {
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
