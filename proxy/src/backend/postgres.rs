//! PostgreSQL: a request is forwarded whole.

use extenddb_backend_postgres::Postgres;
use extenddb_core::{operation::Operation, wire::Answer};

use super::{Backend, Context, Failure};

impl Backend for Postgres {
    async fn call(&self, operation: Operation, body: &str, context: &Context<'_>) -> Result<Answer, Failure> {
        use extenddb_backend_postgres::Failure::{NotSent, RolledBack, Unknown};
        self.call(operation, body, &context.to_json())
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
