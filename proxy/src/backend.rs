//! The seam: what the front end needs from whatever keeps the items.
//!
//! PostgreSQL runs the semantics inside the server, so its backend forwards. A backend over a store of the core runs
//! `extenddb_core::operation::serve` in this process. Neither adds a rule of its own.

use std::future::Future;

use extenddb_backend_postgres::Postgres;
use extenddb_core::{operation::Operation, wire::Answer};
use serde::Serialize;

/// What is known of a request beside its body. Backends outside this process get it as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Context<'a> {
    pub account: &'a str,
    pub request_id: &'a str,
    /// As the client wrote it, with the port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<&'a str>,
    pub source_ip: String,
    /// Absent without authentication.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_key_id: Option<&'a str>,
}

/// A request that the backend gave no answer to. The texts are for the log.
#[derive(Debug)]
pub enum Failure {
    /// Nothing was done, and another time it might be: 503.
    Unavailable(String),
    /// Something went wrong, or whether it was done is not known: 500.
    Internal(String),
}

pub trait Backend: Send + Sync + 'static {
    /// `body` is a JSON object. An answer means that what it reports is durable.
    fn call(
        &self,
        operation: Operation,
        body: &str,
        context: &Context<'_>,
    ) -> impl Future<Output = Result<Answer, Failure>> + Send;

    /// Whether a call would be served now, or why not.
    fn ready(&self) -> impl Future<Output = Result<(), String>> + Send;

    /// Lets go of what it holds. No call is running.
    fn close(&self) -> impl Future<Output = ()> + Send;
}

impl Backend for Postgres {
    async fn call(&self, operation: Operation, body: &str, context: &Context<'_>) -> Result<Answer, Failure> {
        use extenddb_backend_postgres::Failure::{NotSent, RolledBack, Unknown};
        let context = serde_json::to_string(context).map_err(|error| Failure::Internal(error.to_string()))?;
        self.call(operation, body, &context)
            .await
            .map_err(|failure| match failure {
                NotSent(_) => Failure::Unavailable(failure.to_string()),
                RolledBack(_) | Unknown(_) => Failure::Internal(failure.to_string()),
            })
    }

    async fn ready(&self) -> Result<(), String> {
        self.ready().await
    }

    async fn close(&self) {
        self.close().await;
    }
}
