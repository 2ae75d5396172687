//! Signature version 4: who sent a request, and that nobody changed it.                  behaviour/wire §signatures
//!
//! The checks stand in [`Verifier::check`] in the order in which DynamoDB answers them.

mod canonical;
mod date;
mod fault;
mod parts;
#[cfg(test)]
mod tests;

use std::sync::{Mutex, PoisonError};

use hmac::{Hmac, Mac};
use hyper::{HeaderMap, Method};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use time::{Duration, UtcDateTime};

pub use fault::SignatureFault;
use parts::{Parts, Query, is_host};

/// How far a client's clock may be off.
const WINDOW: Duration = Duration::minutes(15);
const ALGORITHM: &str = "AWS4-HMAC-SHA256";
const SERVICE: &str = "dynamodb";
const TERMINATOR: &str = "aws4_request";

/// How much of the signature is looked at.
pub enum Authentication {
    /// All of it.
    Strict(Verifier),
    /// Its parts must be there; anyone is believed. What local emulators do.
    Format,
    /// Nothing.
    None,
}

/// The one key that this server knows.
pub struct Key {
    pub access_key_id: String,
    pub secret: String,
    /// A temporary key has a token.
    pub session: Option<SessionToken>,
}

pub struct SessionToken {
    pub token: String,
    pub expires: Option<UtcDateTime>,
}

/// What a signature covers.
pub struct SignedRequest<'a> {
    pub method: &'a Method,
    pub path: &'a str,
    pub query: Option<&'a str>,
    pub headers: &'a HeaderMap,
    /// `Host`, or `:authority` of HTTP/2.
    pub host: Option<&'a str>,
    /// As received, before any decoding.
    pub body: &'a [u8],
}

impl Authentication {
    /// As the command line calls it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Strict(_) => "strict",
            Self::Format => "format",
            Self::None => "none",
        }
    }

    /// The access key that the request names; `None` where nobody asks.
    pub fn check(
        &self,
        request: &SignedRequest<'_>,
        now: UtcDateTime,
    ) -> Result<Option<String>, SignatureFault> {
        if let Self::None = self {
            return Ok(None);
        }
        let query = Query::parse(request.query);
        let parts = Parts::read(request.headers, &query)?;
        if let Self::Strict(verifier) = self {
            verifier.check(&parts, request, &query, now)?;
        }
        Ok(Some(parts.access_key_id().to_owned()))
    }
}

pub struct Verifier {
    key: Key,
    region: String,
    signing_key: Mutex<Option<Box<SigningKey>>>,
}

/// Derived from the secret once a day.
struct SigningKey {
    day: String,
    /// What it is used for, as far as that is the same each time.
    mac: Hmac<Sha256>,
}

impl Verifier {
    pub fn new(key: Key, region: String) -> Verifier {
        Verifier {
            key,
            region,
            signing_key: Mutex::new(None),
        }
    }

    fn check(
        &self,
        parts: &Parts<'_>,
        request: &SignedRequest<'_>,
        query: &Query,
        now: UtcDateTime,
    ) -> Result<(), SignatureFault> {
        let date = parts.date()?;
        if date < now - WINDOW {
            return Err(SignatureFault::Expired { date, now });
        }
        if date > now + WINDOW {
            return Err(SignatureFault::NotYetCurrent { date, now });
        }
        if !parts.signed_headers().any(is_host) {
            return Err(SignatureFault::HostNotSigned);
        }
        if parts.algorithm != ALGORITHM {
            return Err(SignatureFault::Algorithm(parts.algorithm.to_string()));
        }
        let scope: Vec<&str> = parts.credential.trim_end_matches('/').split('/').collect();
        let &[access_key_id, scope_date, region, service, terminator] = scope.as_slice() else {
            return Err(SignatureFault::CredentialParts(parts.credential.to_string()));
        };
        let date_text = parts.date_text(date);
        let day = &date_text[..8];
        let fault = fault::Scope {
            region: region != self.region,
            service: service != SERVICE,
            terminator: terminator != TERMINATOR,
            date: (scope_date != day).then(|| (scope_date.to_owned(), date_text.to_string())),
        };
        if fault.any() {
            return Err(SignatureFault::Scope(fault));
        }
        if access_key_id != self.key.access_key_id {
            return Err(SignatureFault::UnknownAccessKey);
        }
        let canonical = canonical::request(parts, request, query);
        let mut mac = self.signing_key(day);
        for part in [
            ALGORITHM, "\n", &date_text, "\n", day, "/", region, "/", SERVICE, "/", TERMINATOR, "\n",
        ] {
            mac.update(part.as_bytes());
        }
        mac.update(&hex(Sha256::digest(canonical).into()));
        let signature = hex(mac.finalize().into_bytes().into());
        if !bool::from(signature.as_slice().ct_eq(parts.signature.as_bytes())) {
            return Err(SignatureFault::Mismatch);
        }
        self.check_token(parts, now)
    }

    /// A long-term key has no token, a temporary one has its own, until it expires.
    fn check_token(&self, parts: &Parts<'_>, now: UtcDateTime) -> Result<(), SignatureFault> {
        match (&self.key.session, &parts.token) {
            (None, None) => Ok(()),
            (Some(session), Some(token)) if bool::from(session.token.as_bytes().ct_eq(token.as_bytes())) => {
                match session.expires {
                    Some(expires) if expires <= now => Err(SignatureFault::TokenExpired),
                    _ => Ok(()),
                }
            }
            _ => Err(SignatureFault::Token),
        }
    }

    fn signing_key(&self, day: &str) -> Hmac<Sha256> {
        let mut derived = self.signing_key.lock().unwrap_or_else(PoisonError::into_inner);
        match derived.as_deref() {
            Some(key) if key.day == day => key.mac.clone(),
            _ => {
                let mut mac = keyed(format!("AWS4{}", self.key.secret).as_bytes());
                for part in [day, &self.region, SERVICE, TERMINATOR] {
                    mac.update(part.as_bytes());
                    mac = keyed(&mac.finalize().into_bytes());
                }
                *derived = Some(Box::new(SigningKey {
                    day: day.to_owned(),
                    mac: mac.clone(),
                }));
                mac
            }
        }
    }
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes keys of any length")
}

fn hex(bytes: [u8; 32]) -> [u8; 64] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    std::array::from_fn(|i| {
        let byte = bytes[i / 2];
        DIGITS[usize::from(if i % 2 == 0 { byte >> 4 } else { byte & 15 })]
    })
}
