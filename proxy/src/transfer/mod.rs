//! Items between a file and a table, on any backend: `extenddb export-items` and `extenddb import-items`. A line is
//! `{"Item":{…}}`, as DynamoDB's own exports have it.
//!
//! Both are clients of the [`Backend`] as the front end is: what they may do, and what is refused, is the operations' affair.

mod export_items;
mod import_items;
#[cfg(test)]
mod tests;

use std::{path::PathBuf, time::Duration};

use clap::Args;
use extenddb_core::operation::Operation;
use serde::{Deserialize, Serialize};
use tokio::{runtime, time::sleep};

use crate::{
    backend::{Backend, BackendOptions, ChoiceError, Context, Failure},
    serve,
};

pub use import_items::ImportOptions;

/// A call of either may take its time.
const CALL_TIMEOUT: Duration = Duration::from_secs(300);

/// Tries of a call that the backend did not serve, and the pause after the first; each next one is twice as long.
const TRIES: u32 = 8;
const FIRST_PAUSE: Duration = Duration::from_millis(50);

#[derive(Args)]
pub struct Options {
    /// The table
    #[arg(long, value_name = "NAME")]
    table: String,

    /// The file of lines {"Item":{…}}; without it, or with -, standard input or output
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,

    #[command(flatten)]
    backend: BackendOptions,

    /// The region that names the table
    #[arg(long, env = "EXTENDDB_REGION", default_value = "us-east-1", value_parser = serve::region)]
    region: String,

    /// The account whose table it is, 12 digits
    #[arg(long, env = "EXTENDDB_ACCOUNT", default_value = "000000000000", value_parser = serve::account)]
    account: String,
}

impl Options {
    /// `None`: standard input or output.
    fn path(&self) -> Option<&PathBuf> {
        self.file.as_ref().filter(|path| path.as_os_str() != "-")
    }
}

/// Why not all was done, and what was.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    #[error(transparent)]
    Backend(#[from] ChoiceError),
    #[error("cannot start: {0}")]
    System(std::io::Error),
    #[error("{path}: {cause}")]
    File { path: String, cause: std::io::Error },
    #[error("{0} is there already\nhint: name another file, or remove that one")]
    Exists(PathBuf),
    #[error("{operation}: {refusal}")]
    Refused {
        operation: &'static str,
        refusal: Refusal,
    },
    #[error("line {line}: {fault}\nhint: {} (mend that line, then go on with --from-line {line})", written(*.line))]
    Line { line: u64, fault: LineFault },
    #[error("an answer of {0} could not be read")]
    Answer(&'static str),
}

/// Lines count from 1.
fn written(line: u64) -> String {
    match line - 1 {
        0 => "nothing is written".into(),
        before => format!("the {before} lines before it are written"),
    }
}

#[derive(Debug, thiserror::Error)]
pub enum LineFault {
    #[error("it is not {{\"Item\":{{…}}}}: {0}")]
    Form(String),
    #[error("it cannot be read: {0}")]
    Read(std::io::Error),
    #[error("it has more than {} bytes", import_items::LINE_MAX_BYTES)]
    TooLong,
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// What a backend answered instead of doing it.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The operation's own answer.
    #[error("{exception}: {text}")]
    Answer { exception: String, text: String },
    #[error("the backend did not do it, {TRIES} times in a row: {0}")]
    Failure(String),
}

pub fn export(options: Options) -> Result<(), Stopped> {
    on(&options, async |backend, caller| {
        export_items::run(backend, &caller, options.path()).await
    })
}

pub fn import(options: ImportOptions) -> Result<(), Stopped> {
    on(&options.items, async |backend, caller| {
        import_items::run(backend, &caller, options.items.path(), options.from_line).await
    })
}

/// Opens the backend, does the work, and closes it, whatever the outcome.
fn on<T>(
    options: &Options,
    work: impl AsyncFnOnce(&crate::backend::Chosen, Caller) -> Result<T, Stopped>,
) -> Result<T, Stopped> {
    let runtime = runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(Stopped::System)?.block_on(async {
        let backend = options
            .backend
            .open(
                &options.region,
                &options.account,
                CALL_TIMEOUT,
                serve::environment,
            )
            .await?;
        let caller = Caller {
            account: options.account.clone(),
            table: options.table.clone(),
        };
        let done = work(&backend, caller).await;
        backend.close().await;
        done
    })
}

/// On whose behalf, and which table.
struct Caller {
    account: String,
    table: String,
}

impl Caller {
    /// The body of the answer, of a backend that may need some tries. Only calls that may be made twice.
    async fn call<B: Backend>(
        &self,
        backend: &B,
        operation: Operation,
        request: &impl Serialize,
    ) -> Result<String, Refusal> {
        let body = serde_json::to_string(request).map_err(|error| Refusal::Failure(error.to_string()))?;
        let context = Context {
            account: &self.account,
            request_id: "items",
            host: None,
            source_ip: "127.0.0.1",
            access_key_id: None,
        };
        let mut pause = FIRST_PAUSE;
        let mut failure = String::new();
        for _ in 0..TRIES {
            match backend.call(operation, &body, &context).await {
                Ok(answer) if answer.status == 200 => return Ok(answer.body),
                Ok(answer) if answer.status < 500 => return Err(refusal(&answer.body)),
                Ok(answer) => failure = refusal(&answer.body).to_string(),
                Err(Failure::Unavailable(cause) | Failure::Internal(cause)) => failure = cause,
            }
            sleep(pause).await;
            pause *= 2;
        }
        Err(Refusal::Failure(failure))
    }
}

fn refusal(body: &str) -> Refusal {
    #[derive(Deserialize)]
    struct Body {
        #[serde(rename = "__type")]
        kind: String,
        #[serde(alias = "Message", default)]
        message: String,
    }
    match serde_json::from_str::<Body>(body) {
        Ok(body) => Refusal::Answer {
            exception: body.kind.rsplit('#').next().unwrap_or_default().to_owned(),
            text: body.message,
        },
        Err(_) => Refusal::Failure(body.to_owned()),
    }
}
