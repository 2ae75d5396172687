//! `extenddb import-items`: lines as a table's items, each put in the place of what has its key.
//!
//! Lines are written in their order, 25 to a BatchWriteItem. What stops it names its line, and all before that line are
//! written: mended, it goes on from there.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::PathBuf,
    time::Duration,
};

use clap::Args;
use extenddb_core::operation::Operation;
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Caller, LineFault, Options, Refusal, Stopped};
use crate::backend::Backend;

#[derive(Args)]
pub struct ImportOptions {
    #[command(flatten)]
    pub(super) items: Options,

    /// Begin with this line; those before it are passed over
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) from_line: u64,
}

/// An item of 400 KB may take several times as much in JSON.
pub const LINE_MAX_BYTES: u64 = 8 << 20;

/// The most that BatchWriteItem takes.
const BATCH_ITEMS: usize = 25;
const BATCH_BYTES: usize = 8 << 20;

/// A line of the file, read and not yet written.
struct Line {
    number: u64,
    item: Box<RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    #[serde(rename = "Item")]
    item: Box<RawValue>,
}

pub async fn run<B: Backend>(
    backend: &B,
    caller: &Caller,
    path: Option<&PathBuf>,
    from_line: u64,
) -> Result<(), Stopped> {
    // That there is no such table is not the first line's fault.
    let described = Table {
        table_name: &caller.table,
    };
    let operation = Operation::DescribeTable;
    let described = caller.call(backend, operation, &described).await;
    described.map_err(|refusal| Stopped::Refused {
        operation: operation.name(),
        refusal,
    })?;
    let imported = match path {
        None => lines(backend, caller, io::stdin().lock(), from_line, &progress(None)).await?,
        Some(path) => {
            let failed = |cause| Stopped::File {
                path: path.display().to_string(),
                cause,
            };
            let file = File::open(path).map_err(failed)?;
            let bar = progress(Some(file.metadata().map_err(failed)?.len()));
            lines(backend, caller, BufReader::new(file), from_line, &bar).await?
        }
    };
    eprintln!("imported {imported} items into {}", caller.table);
    Ok(())
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Table<'a> {
    table_name: &'a str,
}

/// Answers how many were written.
pub(super) async fn lines<B: Backend>(
    backend: &B,
    caller: &Caller,
    mut input: impl BufRead,
    from_line: u64,
    bar: &ProgressBar,
) -> Result<u64, Stopped> {
    let mut imported = 0;
    let mut batch: Vec<Line> = Vec::new();
    let mut batch_bytes = 0;
    let mut text = Vec::new();
    let mut stopped = None;
    for number in 1.. {
        match read_line(&mut input, &mut text, number >= from_line) {
            Ok(None) => break,
            Ok(Some(Some(item))) => {
                batch_bytes += text.len();
                batch.push(Line { number, item });
            }
            Ok(Some(None)) => {}
            Err(fault) => {
                stopped = Some(Stopped::Line { line: number, fault });
                break;
            }
        }
        bar.inc(text.len() as u64);
        if batch.len() == BATCH_ITEMS || batch_bytes >= BATCH_BYTES {
            imported += write(backend, caller, std::mem::take(&mut batch)).await?;
            batch_bytes = 0;
            bar.set_message(format!("{imported} items"));
        }
    }
    // Of a line that cannot be read all before it are written, as the fault says.
    imported += write(backend, caller, batch).await?;
    bar.finish_and_clear();
    match stopped {
        None => Ok(imported),
        Some(stopped) => Err(stopped),
    }
}

/// The next line: none at the end, and none of its item where it is blank or passed over.
fn read_line(
    input: &mut impl BufRead,
    text: &mut Vec<u8>,
    is_wanted: bool,
) -> Result<Option<Option<Box<RawValue>>>, LineFault> {
    text.clear();
    let mut limited = input.take(LINE_MAX_BYTES);
    limited.read_until(b'\n', text).map_err(LineFault::Read)?;
    if text.is_empty() {
        return Ok(None);
    }
    if text.len() as u64 == LINE_MAX_BYTES && text.last() != Some(&b'\n') {
        return Err(LineFault::TooLong);
    }
    if !is_wanted || text.trim_ascii().is_empty() {
        return Ok(Some(None));
    }
    let form: Form = serde_json::from_slice(text).map_err(|error| LineFault::Form(error.to_string()))?;
    Ok(Some(Some(form.item)))
}

/// Writes lines in their order. A batch that is refused is written line by line, which finds the one at fault; the same way
/// goes a batch that has a key twice, which BatchWriteItem refuses.
async fn write<B: Backend>(backend: &B, caller: &Caller, batch: Vec<Line>) -> Result<u64, Stopped> {
    if batch.is_empty() {
        return Ok(0);
    }
    let count = batch.len() as u64;
    let items: Vec<&RawValue> = batch.iter().map(|line| &*line.item).collect();
    let refused = match put(backend, caller, &items).await {
        Ok(()) => return Ok(count),
        Err(refused) => refused,
    };
    if batch.len() == 1 || matches!(refused, Refusal::Failure(_)) {
        let line = batch[0].number;
        return Err(Stopped::Line {
            line,
            fault: refused.into(),
        });
    }
    for line in &batch {
        put(backend, caller, &[&line.item])
            .await
            .map_err(|refusal| Stopped::Line {
                line: line.number,
                fault: refusal.into(),
            })?;
    }
    Ok(count)
}

/// Until nothing is left unprocessed.
async fn put<B: Backend>(backend: &B, caller: &Caller, items: &[&RawValue]) -> Result<(), Refusal> {
    #[derive(Serialize)]
    #[serde(rename_all = "PascalCase")]
    struct Batch<T> {
        request_items: T,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Left {
        unprocessed_items: Option<Box<RawValue>>,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "PascalCase")]
    struct Put<'a> {
        item: &'a RawValue,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "PascalCase")]
    struct Write<'a> {
        put_request: Put<'a>,
    }
    let writes: Vec<Write> = items
        .iter()
        .map(|item| Write {
            put_request: Put { item },
        })
        .collect();
    let request_items = std::collections::BTreeMap::from([(&caller.table, writes)]);
    let operation = Operation::BatchWriteItem;
    let mut answer = caller.call(backend, operation, &Batch { request_items }).await?;
    let mut pause = super::FIRST_PAUSE;
    for _ in 0..super::TRIES {
        let left: Left = serde_json::from_str(&answer)
            .map_err(|error| Refusal::Failure(format!("an answer that cannot be read: {error}")))?;
        match left.unprocessed_items {
            Some(left) if left.get() != "{}" => {
                tokio::time::sleep(pause).await;
                pause *= 2;
                let request_items = left;
                answer = caller.call(backend, operation, &Batch { request_items }).await?;
            }
            _ => return Ok(()),
        }
    }
    Err(Refusal::Failure("items stayed unprocessed".into()))
}

/// On a terminal, what is done so far; elsewhere nothing.
pub(super) fn progress(bytes: Option<u64>) -> ProgressBar {
    const TICK: Duration = Duration::from_millis(200);
    let (bar, template) = match bytes {
        Some(bytes) => (
            ProgressBar::new(bytes),
            "{bar:40} {bytes}/{total_bytes} {msg} {eta}",
        ),
        None => (ProgressBar::new_spinner(), "{spinner} {msg} {elapsed}"),
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(TICK);
    bar
}
