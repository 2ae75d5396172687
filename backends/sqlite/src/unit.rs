//! Units: look, decide, write.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::{SystemTime, UNIX_EPOCH},
};

use extenddb_core::{
    item::{Item, ItemKey},
    store::StoreError,
    table::TableId,
    time::Timestamp,
    write::{Base, Change, Image, Images, IndexRow, Need, RowWrite, Unit},
};
use rusqlite::{Connection, ToSql, params, params_from_iter};
use tokio::sync::oneshot;

use crate::{Fault, lookup, storage, writer::Database};

/// Units that were sent together, whatever they answer.
pub trait Units: Send {
    fn count(&self) -> usize;
    /// Runs one in the open transaction. After a fault the transaction is good for nothing.
    fn run(&mut self, place: usize, database: &Database) -> Result<(), Fault>;
    /// What one answers instead.
    fn fail(&mut self, place: usize, error: StoreError);
    /// Answers all: what they did is committed.
    fn answer(self: Box<Self>);
}

type Answers<T> = Vec<Result<T, StoreError>>;

struct Pending<T> {
    units: Vec<Unit<T>>,
    answers: Vec<Option<Result<T, StoreError>>>,
    answer: oneshot::Sender<Answers<T>>,
}

pub fn pending<T: Send + 'static>(units: Vec<Unit<T>>) -> (Box<dyn Units>, oneshot::Receiver<Answers<T>>) {
    let (answer, answered) = oneshot::channel();
    let answers = units.iter().map(|_| None).collect();
    let pending = Pending {
        units,
        answers,
        answer,
    };
    (Box::new(pending), answered)
}

impl<T: Send> Units for Pending<T> {
    fn count(&self) -> usize {
        self.units.len()
    }

    fn run(&mut self, place: usize, database: &Database) -> Result<(), Fault> {
        self.answers[place] = Some(run(&self.units[place], database)?);
        Ok(())
    }

    fn fail(&mut self, place: usize, error: StoreError) {
        self.answers[place] = Some(Err(error));
    }

    fn answer(self: Box<Self>) {
        let not_run = || Err(StoreError::Unavailable("a unit was not run".into()));
        let answers = self
            .answers
            .into_iter()
            .map(|answer| answer.unwrap_or_else(not_run));
        // Whoever asked may be gone.
        let _ = self.answer.send(answers.collect());
    }
}

fn run<T>(unit: &Unit<T>, database: &Database) -> Result<Result<T, StoreError>, Fault> {
    let catalog = database.catalog();
    let stands = unit
        .tables
        .iter()
        .all(|(id, version)| catalog.is_current(*id, *version))
        && unit.keys.0.iter().all(|(key, _)| catalog.has(key.table));
    if !stands {
        return Ok(Err(StoreError::Stale));
    }
    let connection = database.connection();
    let image = |(key, need): &(ItemKey, Need)| match need {
        Need::RightToWrite => Ok(Image::Unread),
        Need::Image => Ok(lookup::item(connection, key)?.map_or(Image::Absent, Image::Present)),
    };
    let images: Vec<Image> = unit.keys.0.iter().map(image).collect::<Result<_, Fault>>()?;
    let now = now();
    let decide = || (unit.decide)(&Images { now, all: &images });
    let Ok(decision) = catch_unwind(AssertUnwindSafe(decide)) else {
        return Ok(Err(Fault::Corrupt("a decision panicked".into()).into()));
    };
    for change in decision.changes {
        let fits = unit.keys.0.get(change.of).zip(images.get(change.of));
        let ((key, _), image) =
            fits.ok_or_else(|| Fault::Corrupt("a change of a key that is not the unit's".into()))?;
        apply(connection, key, image, &change, now)?;
    }
    Ok(Ok(decision.answer))
}

/// Nobody else writes, so its time comes when all locks are held.
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

fn apply(
    connection: &Connection,
    key: &ItemKey,
    image: &Image,
    change: &Change,
    now: Timestamp,
) -> Result<(), Fault> {
    match &change.base {
        Base::Put(item) => {
            let kept = change.keep_for.map(|keep| (now.0 / 1000 + keep.as_secs()) as i64);
            put(connection, key, image, item, kept.or(change.expires))?;
        }
        Base::Delete => {
            let name = storage::name(key.table, None);
            let sql = format!("DELETE FROM {name} WHERE bucket = ?1 AND pk = ?2 AND sk = ?3");
            let args = params![key.bucket, key.pk, key.sk];
            one_row(connection.prepare_cached(&sql)?.execute(args)?, &name)?;
        }
        Base::Untouched => {}
    }
    change
        .rows
        .iter()
        .try_for_each(|row| index_row(connection, key.table, row))
}

/// As its image says: an update, an insert, or where it was not read, whichever it is.
fn put(
    connection: &Connection,
    key: &ItemKey,
    image: &Image,
    item: &Item,
    expires: Option<i64>,
) -> Result<(), Fault> {
    let name = storage::name(key.table, None);
    let sql = match image {
        Image::Present(_) => {
            format!("UPDATE {name} SET expires = ?4, item = ?5 WHERE bucket = ?1 AND pk = ?2 AND sk = ?3")
        }
        Image::Absent => {
            format!("INSERT INTO {name} (bucket, pk, sk, expires, item) VALUES (?1, ?2, ?3, ?4, ?5)")
        }
        Image::Unread => format!(
            "INSERT INTO {name} (bucket, pk, sk, expires, item) VALUES (?1, ?2, ?3, ?4, ?5) \
             ON CONFLICT (bucket, pk, sk) DO UPDATE SET expires = excluded.expires, item = excluded.item"
        ),
        Image::Busy => return Err(Fault::Corrupt("a change names a key that is not locked".into())),
    };
    let args = params![key.bucket, key.pk, key.sk, expires, item.as_bytes()];
    one_row(connection.prepare_cached(&sql)?.execute(args)?, &name)
}

fn index_row(connection: &Connection, table: TableId, row: &IndexRow) -> Result<(), Fault> {
    let name = storage::name(table, Some(row.index));
    let columns = storage::key_columns(Some(row.index), row.key.ranges.len());
    let count = columns.len();
    let (listed, item) = (columns.join(", "), count + 1);
    let values = || {
        (1..=item)
            .map(|number| format!("?{number}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let matches = || {
        let each = columns.iter().enumerate();
        each.map(|(place, column)| format!("{column} = ?{}", place + 1))
            .collect::<Vec<_>>()
            .join(" AND ")
    };
    let (sql, entry) = match &row.write {
        RowWrite::Insert(entry) => (
            format!("INSERT INTO {name} ({listed}, item) VALUES ({})", values()),
            Some(entry),
        ),
        RowWrite::Update(entry) => (
            format!("UPDATE {name} SET item = ?{item} WHERE {}", matches()),
            Some(entry),
        ),
        RowWrite::Set(entry) => (
            format!(
                "INSERT INTO {name} ({listed}, item) VALUES ({}) ON CONFLICT ({listed}) DO UPDATE SET item = excluded.item",
                values()
            ),
            Some(entry),
        ),
        RowWrite::Delete | RowWrite::Clear => (format!("DELETE FROM {name} WHERE {}", matches()), None),
    };
    let key = &row.key;
    let mut args: Vec<&dyn ToSql> = vec![&key.bucket, &key.hash];
    args.extend(key.ranges.iter().map(|value| value as &dyn ToSql));
    args.extend([&key.pk as &dyn ToSql, &key.sk]);
    let entry = entry.map(Item::as_bytes);
    if let Some(entry) = &entry {
        args.push(entry);
    }
    let touched = connection.prepare_cached(&sql)?.execute(params_from_iter(args))?;
    match row.write {
        RowWrite::Clear => Ok(()),
        _ => one_row(touched, &name),
    }
}

/// Another number means that rows and images do not fit each other: better no write than a wrong one.
fn one_row(touched: usize, name: &str) -> Result<(), Fault> {
    match touched {
        1 => Ok(()),
        _ => Err(Fault::Corrupt(format!(
            "a write touched {touched} rows of {name}"
        ))),
    }
}
