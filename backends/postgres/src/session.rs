//! One connection with its settings pinned and its statement prepared.

use std::{error::Error as StdError, time::Duration};

use bytes::BytesMut;
use extenddb_core::wire::Answer;
use tokio::time::Instant;
use tokio_postgres::{
    Client, Error, NoTls, Row, Statement,
    error::SqlState,
    types::{FromSql, IsNull, ToSql, Type, to_sql_checked},
};

use crate::{
    alarm::{Alarm, Late},
    config::{Config, SynchronousCommit},
    verdict::describe,
    wire::Wire,
};

const REQUEST: &str = "SELECT status, body FROM ddb.request($1, $2, $3)";
const REQUESTS: &str = "SELECT status, body FROM ddb.requests($1, $2, $3)";

/// Why no session could be opened, with what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("cannot connect to PostgreSQL at {place}: {cause}\nhint: {hint}")]
    Unreachable {
        place: String,
        cause: String,
        hint: &'static str,
        /// 53300: the server has no connection to spare.
        too_many: bool,
        /// 57P01 to 57P03, or no connection at all: another try may find a server that has started.
        passing: bool,
    },
    #[error("cannot prepare the session: {0}")]
    Settings(String),
    #[error(
        "the extension extenddb is not installed in database \"{database}\"\nhint: connect as a superuser and run \
         CREATE EXTENSION extenddb; or name another database with --postgres or PGDATABASE"
    )]
    NoExtension { database: String },
    #[error(
        "role \"{role}\" may not use extenddb: {cause}\nhint: run GRANT ddb_proxy TO \"{role}\"; as a superuser, or \
         connect as another role"
    )]
    WrongRole { role: String, cause: String },
}

pub(crate) struct Session {
    client: Client,
    request: Statement,
    requests: Statement,
    // After the client: it is dropped in this order.
    wire: Wire,
    alarm: Alarm,
}

impl Session {
    pub(crate) async fn open(config: &Config) -> Result<Session, OpenError> {
        let (client, connection) = config
            .connection
            .connect(NoTls)
            .await
            .map_err(|error| unreachable(config, &error))?;
        let mut wire = Wire::new(connection);
        wire.answer(client.batch_execute(&pinned_settings(config)))
            .await
            .map_err(|error| OpenError::Settings(describe(&error)))?;
        let one = [Type::TEXT, Type::JSON, Type::JSON];
        let several = [Type::TEXT_ARRAY, Type::JSON_ARRAY, Type::JSON_ARRAY];
        let prepared = async {
            tokio::try_join!(
                client.prepare_typed(REQUEST, &one),
                client.prepare_typed(REQUESTS, &several),
            )
        };
        match wire.answer(prepared).await {
            Ok((request, requests)) => Ok(Session {
                client,
                request,
                requests,
                wire,
                alarm: Alarm::new(),
            }),
            Err(error) => Err(wire.answer(not_usable(&client, &error)).await),
        }
    }

    /// Whether the server has ended it.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.wire.has_ended()
    }

    /// Returns once the server is ready for the next query, that is, after the commit.
    pub(crate) async fn request(
        &mut self,
        operation: &str,
        body: &str,
        context: &str,
        deadline: Instant,
    ) -> Result<Result<Answer, Error>, Late> {
        let statement = async {
            let parameters: [&(dyn ToSql + Sync); 3] = [&operation, &RawJson(body), &RawJson(context)];
            answer(&self.client.query_one(&self.request, &parameters).await?)
        };
        self.alarm.unless(deadline, self.wire.answer(statement)).await
    }

    /// The same for several in one statement, in their order.
    pub(crate) async fn requests(
        &mut self,
        operations: &[&str],
        bodies: &[&str],
        contexts: &[String],
        deadline: Instant,
    ) -> Result<Result<Vec<Answer>, Error>, Late> {
        let bodies: Vec<RawJson> = bodies.iter().map(|body| RawJson(body)).collect();
        let contexts: Vec<RawJson> = contexts.iter().map(|context| RawJson(context)).collect();
        let statement = async {
            let parameters: [&(dyn ToSql + Sync); 3] = [&operations, &bodies, &contexts];
            let rows = self.client.query(&self.requests, &parameters).await?;
            rows.iter().map(answer).collect()
        };
        self.alarm.unless(deadline, self.wire.answer(statement)).await
    }

    /// The version of the extension that this role may use.
    pub(crate) async fn check_extension(&mut self) -> Result<String, OpenError> {
        let row = self
            .wire
            .answer(self.client.query_one(
                "SELECT (SELECT extversion FROM pg_extension WHERE extname = 'extenddb'), current_database()::text, \
                 current_user::text, has_function_privilege('ddb.request(text, json, json)', 'EXECUTE'), \
                 (SELECT pg_has_role(oid, 'USAGE') FROM pg_roles WHERE rolname = 'ddb_proxy')",
                &[],
            ))
            .await
            .map_err(|error| OpenError::Settings(describe(&error)))?;
        let settings = |error| OpenError::Settings(describe(&error));
        let version: Option<String> = row.try_get(0).map_err(settings)?;
        let role: String = row.try_get(2).map_err(settings)?;
        if !row.try_get::<_, bool>(3).map_err(settings)? {
            return Err(OpenError::WrongRole {
                role,
                cause: "no right to execute ddb.request".into(),
            });
        }
        if row.try_get::<_, Option<bool>>(4).map_err(settings)? == Some(false) {
            return Err(OpenError::WrongRole {
                role,
                cause: "it is no member of ddb_proxy".into(),
            });
        }
        match version {
            Some(version) => Ok(version),
            None => Err(OpenError::NoExtension {
                database: row.try_get(1).map_err(settings)?,
            }),
        }
    }

    /// Returns when everything sent before has been answered.
    pub(crate) async fn settle(&mut self) -> Result<(), Error> {
        self.wire.answer(self.client.batch_execute("")).await
    }

    /// Asks the server to give up the running statement. It may arrive late: do not use the session after it.
    pub(crate) async fn cancel(&mut self) {
        if let Err(error) = self.client.cancel_token().cancel_query(NoTls).await {
            tracing::warn!(
                cause = describe(&error),
                "an abandoned statement could not be cancelled"
            );
        }
    }

    /// Says goodbye to the server and waits for the connection to end.
    pub(crate) async fn end(self, within: Duration) {
        drop(self.client);
        self.wire.end(within).await;
    }
}

fn answer(row: &Row) -> Result<Answer, Error> {
    let status: i32 = row.try_get(0)?;
    // Null is an empty body, which is no JSON.
    let body: Option<RawJson> = row.try_get(1)?;
    Ok(Answer {
        status: u16::try_from(status).unwrap_or(500),
        body: body.map_or("", |RawJson(body)| body).to_owned(),
    })
}

/// What a database's or role's settings could change behind our back. SET and not startup options, which
/// connection poolers refuse.
fn pinned_settings(config: &Config) -> String {
    let timeout_ms = config.request_timeout.as_millis();
    let synchronous_commit = match config.synchronous_commit {
        // What promises less than a flushed commit is not taken over from the server.
        SynchronousCommit::Durable => {
            "CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END"
        }
        SynchronousCommit::Off => "'off'",
        SynchronousCommit::Local => "'local'",
        SynchronousCommit::RemoteWrite => "'remote_write'",
        SynchronousCommit::On => "'on'",
        SynchronousCommit::RemoteApply => "'remote_apply'",
    };
    format!(
        "SET search_path = pg_catalog; \
         SET default_transaction_isolation = 'read committed'; \
         SET default_transaction_read_only = off; \
         SET default_transaction_deferrable = off; \
         SET jit = off; \
         SET statement_timeout = {timeout_ms}; \
         SET idle_in_transaction_session_timeout = {timeout_ms}; \
         SELECT set_config('synchronous_commit', {synchronous_commit}, false)"
    )
}

fn unreachable(config: &Config, error: &Error) -> OpenError {
    let code = error.code();
    let passing = match code {
        Some(code) => [
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
            SqlState::CANNOT_CONNECT_NOW,
        ]
        .contains(code),
        None => true,
    };
    let hint = match code {
        Some(code) if *code == SqlState::TOO_MANY_CONNECTIONS => {
            "lower --pool, or raise max_connections of the server"
        }
        Some(code) if *code == SqlState::INVALID_CATALOG_NAME => {
            "create the database, or name another with --postgres or PGDATABASE"
        }
        Some(code)
            if [
                SqlState::INVALID_PASSWORD,
                SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
            ]
            .contains(code) =>
        {
            "check the role and its password (--postgres, PGUSER, PGPASSWORD) and the server's pg_hba.conf"
        }
        Some(_) => "see the server's log",
        None => {
            "is the server running there? Name another with --postgres or PGHOST and PGPORT (a host that starts \
             with / is a directory of Unix sockets)"
        }
    };
    OpenError::Unreachable {
        place: config.place(),
        cause: describe(error),
        hint,
        too_many: code == Some(&SqlState::TOO_MANY_CONNECTIONS),
        passing,
    }
}

async fn not_usable(client: &Client, error: &Error) -> OpenError {
    let cause = describe(error);
    let who = client
        .query_one("SELECT current_database()::text, current_user::text", &[])
        .await;
    let Ok((Ok(database), Ok(role))) = who.map(|row| (row.try_get(0), row.try_get(1))) else {
        return OpenError::Settings(cause);
    };
    match error.code() {
        Some(code) if [SqlState::INVALID_SCHEMA_NAME, SqlState::UNDEFINED_FUNCTION].contains(code) => {
            OpenError::NoExtension { database }
        }
        Some(code) if *code == SqlState::INSUFFICIENT_PRIVILEGE => OpenError::WrongRole { role, cause },
        _ => OpenError::Settings(cause),
    }
}

/// JSON text as it stands: `json`'s binary form is its text.
#[derive(Debug)]
struct RawJson<'a>(&'a str);

impl ToSql for RawJson<'_> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        out.extend_from_slice(self.0.as_bytes());
        Ok(IsNull::No)
    }

    fn accepts(of: &Type) -> bool {
        *of == Type::JSON
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for RawJson<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<RawJson<'a>, Box<dyn StdError + Sync + Send>> {
        Ok(RawJson(std::str::from_utf8(raw)?))
    }

    fn accepts(of: &Type) -> bool {
        *of == Type::JSON
    }
}
