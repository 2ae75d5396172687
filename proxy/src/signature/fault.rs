//! What can be wrong with a signature, with the texts.

use std::fmt::Write;

use time::UtcDateTime;

use super::{ALGORITHM, WINDOW, date::basic};

#[derive(Clone, Debug, PartialEq)]
pub enum SignatureFault {
    /// Signed twice, by header and by query.
    Both,
    Missing,
    HeaderParts(HeaderParts),
    /// The names that are missing or empty.
    QueryParts(Vec<&'static str>),
    Date(String),
    Expired {
        date: UtcDateTime,
        now: UtcDateTime,
    },
    NotYetCurrent {
        date: UtcDateTime,
        now: UtcDateTime,
    },
    HostNotSigned,
    Algorithm(String),
    CredentialParts(String),
    Scope(Scope),
    UnknownAccessKey,
    Mismatch,
    /// A session token where none belongs, none where one does, or another one.
    Token,
    TokenExpired,
}

/// What the Authorization header lacks.
#[derive(Clone, Debug, PartialEq)]
pub struct HeaderParts {
    pub credential: bool,
    pub signature: bool,
    pub signed_headers: bool,
    pub date: bool,
    /// The header as it came.
    pub raw: String,
}

/// What is wrong in the scope of the credential.
#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    pub region: bool,
    pub service: bool,
    pub terminator: bool,
    /// The date of the scope and the date of the request.
    pub date: Option<(String, String)>,
}

impl Scope {
    pub fn any(&self) -> bool {
        self.region || self.service || self.terminator || self.date.is_some()
    }
}

impl SignatureFault {
    /// The wire name, in the namespace `com.amazon.coral.service`.
    pub fn exception(&self) -> &'static str {
        match self {
            Self::Missing => "MissingAuthenticationTokenException",
            Self::HeaderParts(_)
            | Self::QueryParts(_)
            | Self::Date(_)
            | Self::Algorithm(_)
            | Self::CredentialParts(_) => "IncompleteSignatureException",
            Self::Both
            | Self::Expired { .. }
            | Self::NotYetCurrent { .. }
            | Self::HostNotSigned
            | Self::Scope(_)
            | Self::Mismatch => "InvalidSignatureException",
            Self::UnknownAccessKey | Self::Token => "UnrecognizedClientException",
            Self::TokenExpired => "ExpiredTokenException",
        }
    }

    pub fn text(&self) -> String {
        match self {
            Self::Both => "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.".into(),
            Self::Missing => "Request is missing Authentication Token".into(),
            Self::HeaderParts(parts) => parts.text(),
            Self::QueryParts(missing) => {
                let mut text = String::new();
                for part in missing {
                    let _ = write!(text, "AWS query-string parameters must include '{part}'. ");
                }
                text + "Re-examine the query-string parameters."
            }
            Self::Date(value) => format!(
                "Date must be in ISO-8601 'basic format'. Got '{value}'. See http://en.wikipedia.org/wiki/ISO_8601"
            ),
            Self::Expired { date, now } => format!(
                "Signature expired: {} is now earlier than {} ({} - 15 min.)",
                basic(*date),
                basic(*now - WINDOW),
                basic(*now)
            ),
            Self::NotYetCurrent { date, now } => format!(
                "Signature not yet current: {} is still later than {} ({} + 15 min.)",
                basic(*date),
                basic(*now + WINDOW),
                basic(*now)
            ),
            Self::HostNotSigned => {
                "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.".into()
            }
            // The space at the end is the service's.
            Self::Algorithm(name) => {
                format!("Unsupported AWS 'algorithm': '{name}' (only {ALGORITHM} for now). ")
            }
            Self::CredentialParts(credential) => format!(
                "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got \
                 '{credential}'"
            ),
            Self::Scope(scope) => scope.text(),
            Self::UnknownAccessKey => "The security token included in the request is invalid.".into(),
            Self::Mismatch => {
                "The request signature we calculated does not match the signature you provided. Check your AWS Secret \
                 Access Key and signing method. Consult the service documentation for details."
                    .into()
            }
            // Without the dot, unlike that of an unknown key.
            Self::Token => "The security token included in the request is invalid".into(),
            Self::TokenExpired => "The security token included in the request is expired".into(),
        }
    }
}

impl HeaderParts {
    fn text(&self) -> String {
        let mut text = String::new();
        if self.credential {
            text += "Authorization header requires 'Credential' parameter. ";
        }
        if self.signature {
            text += "Authorization header requires 'Signature' parameter. ";
        }
        if self.signed_headers {
            text += "Authorization header requires 'SignedHeaders' parameter. ";
        }
        if self.date {
            text += "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ";
        }
        text + "Authorization=" + &self.raw
    }
}

impl Scope {
    fn text(&self) -> String {
        let mut text = String::new();
        if self.region {
            text += "Credential should be scoped to a valid region. ";
        }
        if self.service {
            text += "Credential should be scoped to correct service: 'dynamodb'. ";
        }
        if self.terminator {
            text += "Credential should be scoped with a valid terminator: 'aws4_request'. ";
        }
        if let Some((scope_date, date)) = &self.date {
            let _ = write!(
                text,
                "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: \
                 '{scope_date}' != '{}', from '{date}'.",
                &date[..8]
            );
        }
        text
    }
}
