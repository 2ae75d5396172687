//! The seam: what the front end needs from whatever keeps the items.
//!
//! PostgreSQL runs the semantics inside the server, so its backend forwards ([`postgres`]). A store of the core runs them in
//! this process ([`embedded`]). Neither adds a rule of its own. [`choice`] says which one it is.

mod choice;
mod embedded;
mod postgres;

use std::future::Future;

use extenddb_backend_postgres::Postgres;
use extenddb_backend_sqlite::Sqlite;
use extenddb_core::{
    operation::Operation,
    wire::{Answer, json},
};

pub use choice::{BackendOptions, ChoiceError};
pub use embedded::Embedded;

/// What is known of a request beside its body.
pub struct Context<'a> {
    pub account: &'a str,
    pub request_id: &'a str,
    /// As the client wrote it, with the port.
    pub host: Option<&'a str>,
    pub source_ip: &'a str,
    /// Absent without authentication.
    pub access_key_id: Option<&'a str>,
}

impl Context<'_> {
    /// As `ddb.request` reads it.
    pub fn to_json(&self) -> String {
        let members = [
            ("account", Some(self.account)),
            ("requestId", Some(self.request_id)),
            ("host", self.host),
            ("sourceIp", Some(self.source_ip)),
            ("accessKeyId", self.access_key_id),
        ];
        // Room for all of it.
        let mut out = String::with_capacity(256);
        let mut before = '{';
        for (name, value) in members {
            if let Some(value) = value {
                out.push(before);
                out.push('"');
                out.push_str(name);
                out.push_str("\":");
                json::write_string(value, &mut out);
                before = ',';
            }
        }
        out.push('}');
        out
    }
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

/// The backend that the options name.
pub enum Chosen {
    Postgres(Postgres),
    Sqlite {
        embedded: Embedded<Sqlite>,
        /// For people: the file, or that it is in memory.
        place: String,
    },
}

impl Backend for Chosen {
    async fn call(&self, operation: Operation, body: &str, context: &Context<'_>) -> Result<Answer, Failure> {
        match self {
            Chosen::Postgres(backend) => Backend::call(backend, operation, body, context).await,
            Chosen::Sqlite { embedded, .. } => embedded.call(operation, body, context).await,
        }
    }

    async fn ready(&self) -> Result<(), String> {
        match self {
            Chosen::Postgres(backend) => Backend::ready(backend).await,
            Chosen::Sqlite { embedded, .. } => embedded.ready().await,
        }
    }

    async fn close(&self) {
        match self {
            Chosen::Postgres(backend) => Backend::close(backend).await,
            Chosen::Sqlite { embedded, .. } => embedded.close().await,
        }
    }
}
