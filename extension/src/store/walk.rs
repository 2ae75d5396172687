//! A page of a table or index, in key order.

use extenddb_core::{
    item::ItemKey,
    store::{Ended, KeyColumn, Operator, Page, Range, Row, Stretch},
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
            &walk.stretch.values,
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

impl<'a> From<KeyColumn<'a>> for Arg<'a> {
    fn from(value: KeyColumn<'a>) -> Arg<'a> {
        match value {
            KeyColumn::Bucket(bucket) => Arg::Int4(bucket),
            KeyColumn::Bytes(bytes) => Arg::Bytes(bytes),
        }
    }
}

struct Walk<'a> {
    columns: Vec<String>,
    stretch: Stretch<Arg<'a>>,
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
        Some(Walk {
            columns: storage::key_columns(range.index.is_some(), ranges),
            stretch: range.stretch()?,
        })
    }

    fn sql(&self, range: &Range) -> String {
        let conditions: Vec<String> = self
            .stretch
            .comparisons
            .iter()
            .map(|comparison| {
                let columns = self.columns[comparison.first..][..comparison.count].join(", ");
                let values: Vec<String> = (comparison.place..comparison.place + comparison.count)
                    .map(|place| format!("${}", place + 1))
                    .collect();
                let operator = comparison.operator.sql();
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
        let shape = self.stretch.comparisons.iter().fold(layout, |shape, comparison| {
            let operator = match comparison.operator {
                Operator::Equal => 0,
                Operator::Greater => 1,
                Operator::AtLeast => 2,
                Operator::Less => 3,
                Operator::AtMost => 4,
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
    let key = |row: &Row| match ItemKey::of_stored(table, &row.item) {
        Some(key) => key,
        None => corrupt(table, "an index entry without its item's key"),
    };
    let keys: Vec<ItemKey> = rows.iter().map(key).collect();
    let keys: Vec<&ItemKey> = keys.iter().collect();
    for (row, base) in rows.iter_mut().zip(read::items(&keys)) {
        if base.is_none() {
            corrupt(table, "an index entry without its item");
        }
        row.base = base;
    }
}

fn corrupt(table: &Table, what: &str) -> ! {
    let name = storage::name(table.id, None);
    spi::raise(
        PgSqlErrorCode::ERRCODE_DATA_CORRUPTED,
        &format!("{name} has {what}"),
    )
}
