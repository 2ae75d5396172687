//! The parts of a signature, from the Authorization header or from the query.

use std::{borrow::Cow, ops::Range};

use hyper::{
    HeaderMap,
    header::{AUTHORIZATION, DATE},
};
use percent_encoding::percent_decode_str;
use time::UtcDateTime;

use super::{
    date,
    fault::{HeaderParts, SignatureFault},
};

pub(super) const SIGNATURE_PARAMETER: &str = "X-Amz-Signature";
const DATE_HEADER: &str = "x-amz-date";
const TOKEN_HEADER: &str = "x-amz-security-token";

/// Query parameters, decoded, in the order of the request.
pub(super) struct Query {
    pub parameters: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Query {
    pub(super) fn parse(query: Option<&str>) -> Query {
        let decode = |text| percent_decode_str(text).collect();
        let parameters = query
            .unwrap_or_default()
            .split('&')
            .filter(|parameter| !parameter.is_empty())
            .map(|parameter| parameter.split_once('=').unwrap_or((parameter, "")))
            .map(|(name, value)| (decode(name), decode(value)))
            .collect();
        Query { parameters }
    }

    fn get(&self, name: &str) -> Option<Cow<'_, str>> {
        self.parameters
            .iter()
            .find(|(known, _)| known == name.as_bytes())
            .map(|(_, value)| String::from_utf8_lossy(value))
    }
}

/// All there, none checked.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    pub algorithm: Cow<'a, str>,
    pub credential: Cow<'a, str>,
    pub signature: Cow<'a, str>,
    /// In any case, in the order of the request, with `;` between them.
    pub signed_headers: Cow<'a, str>,
    date: Cow<'a, str>,
    /// A `Date` header also knows HTTP's format.
    http_date: bool,
    pub token: Option<Cow<'a, str>>,
    pub by_query: bool,
}

impl<'a> Parts<'a> {
    pub(super) fn read(headers: &'a HeaderMap, query: &'a Query) -> Result<Parts<'a>, SignatureFault> {
        match (
            header(headers, AUTHORIZATION.as_str()),
            query.get("X-Amz-Algorithm"),
        ) {
            (Some(_), Some(_)) => Err(SignatureFault::Both),
            (None, Some(algorithm)) => Self::from_query(algorithm, query),
            (Some(raw), None) if raw.starts_with("AWS4-") => Self::from_header(raw, headers),
            _ => Err(SignatureFault::Missing),
        }
    }

    fn from_header(raw: Cow<'a, str>, headers: &'a HeaderMap) -> Result<Parts<'a>, SignatureFault> {
        // The first with a value counts.
        let mut found = [const { None }; 3];
        let mut algorithm = None;
        let mut end = 0;
        for part in raw.as_bytes().split(|byte| matches!(byte, b',' | b' ')) {
            let start = end;
            end = start + part.len() + 1;
            if algorithm.is_none() {
                algorithm = Some(0..part.len());
                continue;
            }
            let Some(equals) = part.iter().position(|byte| *byte == b'=') else {
                continue;
            };
            let place = match &part[..equals] {
                b"Credential" => 0,
                b"Signature" => 1,
                b"SignedHeaders" => 2,
                _ => continue,
            };
            if found[place].is_none() && equals + 1 < part.len() {
                found[place] = Some(start + equals + 1..start + part.len());
            }
        }
        let text = |range: Range<usize>| match &raw {
            Cow::Borrowed(raw) => Cow::Borrowed(&raw[range]),
            Cow::Owned(raw) => Cow::Owned(raw[range].to_owned()),
        };
        let [credential, signature, signed_headers] = found.map(|range| range.map(text));
        let http_date = !headers.contains_key(DATE_HEADER);
        let date = header(headers, DATE_HEADER).or_else(|| header(headers, DATE.as_str()));
        match (credential, signature, signed_headers, date) {
            (Some(credential), Some(signature), Some(signed_headers), Some(date)) => Ok(Parts {
                algorithm: algorithm.map(text).unwrap_or_default(),
                credential,
                signature,
                signed_headers,
                date,
                http_date,
                token: header(headers, TOKEN_HEADER),
                by_query: false,
            }),
            (credential, signature, signed_headers, date) => Err(SignatureFault::HeaderParts(HeaderParts {
                credential: credential.is_none(),
                signature: signature.is_none(),
                signed_headers: signed_headers.is_none(),
                date: date.is_none(),
                raw: raw.into_owned(),
            })),
        }
    }

    fn from_query(algorithm: Cow<'a, str>, query: &'a Query) -> Result<Parts<'a>, SignatureFault> {
        let mut missing = Vec::new();
        let mut part = |name: &'static str| {
            let value = query.get(name).unwrap_or_default();
            if value.is_empty() {
                missing.push(name);
            }
            value
        };
        part("X-Amz-Algorithm");
        let credential = part("X-Amz-Credential");
        let signature = part(SIGNATURE_PARAMETER);
        let signed_headers = part("X-Amz-SignedHeaders");
        let date = part("X-Amz-Date");
        if !missing.is_empty() {
            return Err(SignatureFault::QueryParts(missing));
        }
        Ok(Parts {
            algorithm,
            credential,
            signature,
            signed_headers,
            date,
            http_date: false,
            token: query.get("X-Amz-Security-Token"),
            by_query: true,
        })
    }

    pub(super) fn access_key_id(&self) -> &str {
        self.credential.split('/').next().unwrap_or_default()
    }

    pub(super) fn date(&self) -> Result<UtcDateTime, SignatureFault> {
        let parsed = if self.http_date {
            date::parse_header(&self.date)
        } else {
            date::parse_basic(&self.date)
        };
        parsed.ok_or_else(|| SignatureFault::Date(self.date.to_string()))
    }

    /// The date in the basic format.
    pub(super) fn date_text(&self, date: UtcDateTime) -> Cow<'_, str> {
        if self.http_date {
            Cow::from(date::basic(date))
        } else {
            Cow::from(&*self.date)
        }
    }

    pub(super) fn signed_headers(&self) -> impl Iterator<Item = &str> {
        self.signed_headers.split(';')
    }
}

/// Either names what the client took the server for.
pub(super) fn is_host(name: &str) -> bool {
    name.eq_ignore_ascii_case("host") || name.eq_ignore_ascii_case(":authority")
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<Cow<'a, str>> {
    headers
        .get(name)
        .map(|value| String::from_utf8_lossy(value.as_bytes()))
}
