//! `extenddb export-items`: a table's items as lines.
//!
//! A file has its name only once it is whole. Pages are read one after the other, each consistent in itself, as a Scan is:
//! what is written meanwhile may be in or not.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use extenddb_core::operation::Operation;
use indicatif::ProgressBar;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Caller, Stopped, import_items::progress};
use crate::backend::Backend;

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Scan<'a> {
    table_name: &'a str,
    consistent_read: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    exclusive_start_key: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Scanned<'a> {
    #[serde(borrow)]
    items: Vec<&'a RawValue>,
    last_evaluated_key: Option<Box<RawValue>>,
}

pub async fn run<B: Backend>(backend: &B, caller: &Caller, path: Option<&PathBuf>) -> Result<(), Stopped> {
    let bar = progress(None);
    let exported = match path {
        None => items(backend, caller, &mut BufWriter::new(io::stdout()), &bar)
            .await
            .map_err(|fault| fault.of("standard output"))?,
        Some(path) => to_file(backend, caller, path, &bar).await?,
    };
    bar.finish_and_clear();
    eprintln!("exported {exported} items from {}", caller.table);
    Ok(())
}

async fn to_file<B: Backend>(
    backend: &B,
    caller: &Caller,
    path: &Path,
    bar: &ProgressBar,
) -> Result<u64, Stopped> {
    if path.exists() {
        return Err(Stopped::Exists(path.to_owned()));
    }
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let written = async {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&partial)?;
        let mut out = BufWriter::new(file);
        let exported = items(backend, caller, &mut out, bar).await?;
        let file: File = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        std::fs::rename(&partial, path)?;
        Ok(exported)
    };
    written.await.map_err(|fault: ExportFault| {
        // Half of a table is nothing to go on with.
        let _ = std::fs::remove_file(&partial);
        fault.of(&path.display().to_string())
    })
}

enum ExportFault {
    Write(io::Error),
    Stopped(Stopped),
}

impl From<io::Error> for ExportFault {
    fn from(cause: io::Error) -> Self {
        ExportFault::Write(cause)
    }
}

impl ExportFault {
    fn of(self, path: &str) -> Stopped {
        match self {
            ExportFault::Stopped(stopped) => stopped,
            ExportFault::Write(cause) => Stopped::File {
                path: path.to_owned(),
                cause,
            },
        }
    }
}

/// Writes all items; answers how many.
async fn items<B: Backend>(
    backend: &B,
    caller: &Caller,
    out: &mut impl Write,
    bar: &ProgressBar,
) -> Result<u64, ExportFault> {
    let mut exported = 0;
    let mut request = Scan {
        table_name: &caller.table,
        consistent_read: true,
        exclusive_start_key: None,
    };
    loop {
        let operation = Operation::Scan;
        let answer = caller.call(backend, operation, &request).await;
        let answer = answer.map_err(|refusal| {
            let operation = operation.name();
            ExportFault::Stopped(Stopped::Refused { operation, refusal })
        })?;
        let page: Scanned = serde_json::from_str(&answer)
            .map_err(|_| ExportFault::Stopped(Stopped::Answer(operation.name())))?;
        for item in page.items {
            writeln!(out, r#"{{"Item":{item}}}"#)?;
            exported += 1;
        }
        bar.set_message(format!("{exported} items"));
        bar.tick();
        match page.last_evaluated_key {
            Some(key) => request.exclusive_start_key = Some(key),
            None => {
                out.flush()?;
                return Ok(exported);
            }
        }
    }
}
