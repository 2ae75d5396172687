//! A page of a table or index, in key order.

use std::cmp::Ordering;

use extenddb_core::{
    item::{Item, ItemKey, encode_hash, encode_scalar, hash_bucket, stored_hash},
    store::{Bound, Ended, Page, Part, Position, Range, Row, SortBounds},
    table::Table,
};
use pgrx::PgSqlErrorCode;

use crate::spi::{self, Arg, Plan, Statement};

use super::{read, storage};

/// One page as the active snapshot sees it. For an index with the description of its table.
pub fn page(range: &Range, table: Option<&Table>) -> Page {
    let mut rows: Vec<Row> = Vec::new();
    let mut ended = Ended::Data;
    let mut bytes = 0;
    if let Some(walk) = Walk::of(range, table) {
        spi::walk(
            walk.plan(range),
            || walk.sql(range),
            &walk.args,
            range.max_items,
            |row| {
                let item = read::checked(row.bytes(1), range.table);
                bytes += item.size();
                rows.push(Row { item, base: None });
                if Some(rows.len()) == range.max_items {
                    ended = Ended::Items;
                } else if bytes >= range.max_bytes {
                    ended = Ended::Bytes;
                }
                ended == Ended::Data
            },
        );
    }
    if let Some(table) = table.filter(|_| range.with_base) {
        add_bases(&mut rows, table);
    }
    Page { rows, ended }
}

/// A condition as the statement has it: one comparison of the columns from `first` on with as many parameters.
#[derive(Clone, Copy)]
struct Comparison {
    operator: &'static str,
    first: usize,
    count: usize,
}

struct Walk<'a> {
    columns: Vec<String>,
    comparisons: Vec<Comparison>,
    args: Vec<Arg<'a>>,
}

impl<'a> Walk<'a> {
    /// `None` where the last page ended behind the range.
    fn of(range: &'a Range, table: Option<&Table>) -> Option<Walk<'a>> {
        let ranges = range.index.map_or(0, |number| {
            let mut indexes = table.iter().flat_map(|table| &table.indexes);
            indexes
                .find(|index| index.number == number)
                .map_or(0, |index| index.range.len())
        });
        let columns = storage::key_columns(range.index.is_some(), ranges);
        let mut walk = Walk {
            columns,
            comparisons: Vec::new(),
            args: Vec::new(),
        };
        match &range.part {
            Part::Partition { bucket, hash, sort } => {
                walk.compare("=", 0, [Arg::Int4(*bucket)]);
                walk.compare("=", 1, [Arg::Bytes(hash)]);
                walk.partition(sort, range.after.as_ref(), range.reverse)?;
            }
            Part::Buckets { first, last } => {
                walk.buckets(*first, *last, range.after.as_ref(), range.reverse)?
            }
        }
        Some(walk)
    }

    fn partition(&mut self, sort: &'a SortBounds, after: Option<&'a Position>, reverse: bool) -> Option<()> {
        const FIRST_RANGE_COLUMN: usize = 2;
        for (place, value) in sort.equal.iter().enumerate() {
            self.compare("=", FIRST_RANGE_COLUMN + place, [Arg::Bytes(value)]);
        }
        let ranged = sort.equal.len();
        let column = FIRST_RANGE_COLUMN + ranged;
        let (near, far) = if reverse {
            (&sort.upper, &sort.lower)
        } else {
            (&sort.lower, &sort.upper)
        };
        // One condition says where to start, or the index would be read from the weaker one on.
        let start = match after {
            None => None,
            Some(after) => {
                let direction = |order: Ordering| if reverse { order.reverse() } else { order };
                let (equal, rest) = after.rest.split_at_checked(ranged)?;
                match direction(equal.cmp(&sort.equal)) {
                    Ordering::Less => None,
                    Ordering::Greater => return None,
                    Ordering::Equal => match (near, rest.first()?) {
                        (Some(bound), ranged) => match direction(ranged.cmp(&bound.value)) {
                            Ordering::Less => None,
                            Ordering::Equal if !bound.inclusive => None,
                            _ => Some(rest),
                        },
                        (None, _) => Some(rest),
                    },
                }
            }
        };
        match (start, near) {
            (Some(after), _) => {
                let values = after.iter().map(|value| Arg::Bytes(value));
                self.compare(if reverse { "<" } else { ">" }, column, values);
            }
            (None, Some(bound)) => self.bound(bound, column, !reverse),
            (None, None) => {}
        }
        if let Some(bound) = far {
            self.bound(bound, column, reverse);
        }
        Some(())
    }

    fn buckets(&mut self, first: i32, last: i32, after: Option<&'a Position>, reverse: bool) -> Option<()> {
        let (near, far) = if reverse { (last, first) } else { (first, last) };
        let beyond = |bucket: i32, end: i32| if reverse { bucket < end } else { bucket > end };
        match after {
            Some(after) if beyond(after.bucket, far) => return None,
            Some(after) if !beyond(near, after.bucket) => {
                let rest = after.rest.iter().map(|value| Arg::Bytes(value));
                let values = [Arg::Int4(after.bucket), Arg::Bytes(&after.hash)]
                    .into_iter()
                    .chain(rest);
                self.compare(if reverse { "<" } else { ">" }, 0, values);
            }
            _ => self.compare(if reverse { "<=" } else { ">=" }, 0, [Arg::Int4(near)]),
        }
        self.compare(if reverse { ">=" } else { "<=" }, 0, [Arg::Int4(far)]);
        Some(())
    }

    fn bound(&mut self, bound: &'a Bound, column: usize, lower: bool) {
        let operator = match (lower, bound.inclusive) {
            (true, true) => ">=",
            (true, false) => ">",
            (false, true) => "<=",
            (false, false) => "<",
        };
        self.compare(operator, column, [Arg::Bytes(&bound.value)]);
    }

    fn compare(&mut self, operator: &'static str, first: usize, values: impl IntoIterator<Item = Arg<'a>>) {
        let before = self.args.len();
        self.args.extend(values);
        self.comparisons.push(Comparison {
            operator,
            first,
            count: self.args.len() - before,
        });
    }

    fn sql(&self, range: &Range) -> String {
        let mut place = 0;
        let conditions: Vec<String> = self
            .comparisons
            .iter()
            .map(|comparison| {
                let columns = self.columns[comparison.first..][..comparison.count].join(", ");
                let values: Vec<String> = (0..comparison.count)
                    .map(|i| format!("${}", place + i + 1))
                    .collect();
                place += comparison.count;
                let operator = comparison.operator;
                if comparison.count == 1 {
                    format!("{columns} OPERATOR(pg_catalog.{operator}) {}", values[0])
                } else {
                    format!(
                        "ROW({columns}) OPERATOR(pg_catalog.{operator}) ROW({})",
                        values.join(", ")
                    )
                }
            })
            .collect();
        let direction = if range.reverse { " DESC" } else { "" };
        let order: Vec<String> = self
            .columns
            .iter()
            .map(|column| format!("{column}{direction}"))
            .collect();
        format!(
            "SELECT CAST(item AS pg_catalog.bytea) FROM {} WHERE {} ORDER BY {}",
            storage::name(range.table, range.index),
            conditions.join(" AND "),
            order.join(", ")
        )
    }

    /// The statement's text follows from what is numbered here (a row comparison goes to the last column). At most
    /// seven comparisons of 80 kinds, the direction, and three to eight columns: 49 bits.
    fn plan(&self, range: &Range) -> Plan {
        let layout = 2 * self.columns.len() as u64 + u64::from(range.reverse);
        let shape = self.comparisons.iter().fold(layout, |shape, comparison| {
            let operator = match comparison.operator {
                "=" => 0,
                ">" => 1,
                ">=" => 2,
                "<" => 3,
                _ => 4,
            };
            ((shape * 5 + operator) * 8 + comparison.first as u64) * 2 + u64::from(comparison.count > 1)
        });
        Plan {
            table: range.table.0,
            index: range.index,
            statement: Statement::Walk,
            shape,
        }
    }
}

/// Adds the whole item to each entry, read under the key that the entry contains.
fn add_bases(rows: &mut [Row], table: &Table) {
    let keys: Vec<ItemKey> = rows.iter().map(|row| base_key(&row.item, table)).collect();
    let keys: Vec<&ItemKey> = keys.iter().collect();
    for (row, base) in rows.iter_mut().zip(read::items(&keys)) {
        if base.is_none() {
            corrupt(table, "an index entry without its item");
        }
        row.base = base;
    }
}

fn base_key(entry: &Item, table: &Table) -> ItemKey {
    let value = |name: &str| match entry.get(name) {
        Some(value) => value,
        None => corrupt(table, "an index entry without its item's key"),
    };
    let hash = encode_hash([&value(&table.hash.name)]);
    let mut sk = Vec::new();
    if let Some(range) = &table.range {
        encode_scalar(&value(&range.name), &mut sk);
    }
    ItemKey {
        table: table.id,
        bucket: hash_bucket(&hash),
        pk: stored_hash(hash),
        sk,
    }
}

fn corrupt(table: &Table, what: &str) -> ! {
    let name = storage::name(table.id, None);
    spi::raise(
        PgSqlErrorCode::ERRCODE_DATA_CORRUPTED,
        &format!("{name} has {what}"),
    )
}
