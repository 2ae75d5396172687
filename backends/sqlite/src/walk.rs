//! A page of a table or index, in key order.

use std::cmp::Ordering;

use extenddb_core::{
    item::{Item, ItemKey, encode_hash, encode_scalar, hash_bucket, stored_hash},
    store::{Bound, Ended, Page, Part, Position, Range, Row, SortBounds},
    table::Table,
};
use rusqlite::{
    Connection, ToSql, params_from_iter,
    types::{ToSqlOutput, ValueRef},
};

use crate::{
    Fault,
    lookup::{self, in_one_snapshot},
    storage,
};

/// One page, of one snapshot. For an index with the description of its table.
pub fn page(connection: &Connection, range: &Range, table: Option<&Table>) -> Result<Page, Fault> {
    let Some(walk) = Walk::of(range, table) else {
        return Ok(Page {
            rows: Vec::new(),
            ended: Ended::Data,
        });
    };
    match table.filter(|_| range.with_base) {
        None => walk.read(connection, range),
        Some(table) => in_one_snapshot(connection, || {
            let mut page = walk.read(connection, range)?;
            for row in &mut page.rows {
                row.base = Some(base_of(connection, &row.item, table)?);
            }
            Ok(page)
        }),
    }
}

#[derive(Clone, Copy)]
enum Arg<'a> {
    Int(i32),
    Bytes(&'a [u8]),
}

impl ToSql for Arg<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Arg::Int(value) => ToSqlOutput::from(*value),
            Arg::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}

/// The conditions of a page. One comparison alone says where to start: of two, SQLite might take the weaker.
struct Walk<'a> {
    columns: Vec<String>,
    conditions: Vec<String>,
    args: Vec<Arg<'a>>,
}

impl<'a> Walk<'a> {
    /// `None` where the last page ended behind the range.
    fn of(range: &'a Range, table: Option<&Table>) -> Option<Walk<'a>> {
        let ranges = range.index.map_or(0, |number| {
            let mut indexes = table.iter().flat_map(|table| &table.indexes);
            let index = indexes.find(|index| index.number == number);
            index.map_or(0, |index| index.range.len())
        });
        let mut walk = Walk {
            columns: storage::key_columns(range.index, ranges),
            conditions: Vec::new(),
            args: Vec::new(),
        };
        match &range.part {
            Part::Partition { bucket, hash, sort } => {
                walk.compare("=", 0, [Arg::Int(*bucket)]);
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
        let column = FIRST_RANGE_COLUMN + sort.equal.len();
        let (near, far) = match reverse {
            false => (&sort.lower, &sort.upper),
            true => (&sort.upper, &sort.lower),
        };
        match (continuation(sort, near.as_ref(), after, reverse)?, near) {
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
                let values = [Arg::Int(after.bucket), Arg::Bytes(&after.hash)]
                    .into_iter()
                    .chain(rest);
                self.compare(if reverse { "<" } else { ">" }, 0, values);
            }
            _ => self.compare(if reverse { "<=" } else { ">=" }, 0, [Arg::Int(near)]),
        }
        self.compare(if reverse { ">=" } else { "<=" }, 0, [Arg::Int(far)]);
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

    /// Compares the columns from `first` on with as many values, as one row.
    fn compare(&mut self, operator: &str, first: usize, values: impl IntoIterator<Item = Arg<'a>>) {
        let before = self.args.len();
        self.args.extend(values);
        let places: Vec<String> = (before..self.args.len())
            .map(|place| format!("?{}", place + 1))
            .collect();
        let columns = &self.columns[first..][..places.len()];
        self.conditions.push(format!(
            "({}) {operator} ({})",
            columns.join(", "),
            places.join(", ")
        ));
    }

    fn sql(&self, range: &Range) -> String {
        let direction = if range.reverse { " DESC" } else { "" };
        let order: Vec<String> = self
            .columns
            .iter()
            .map(|column| format!("{column}{direction}"))
            .collect();
        format!(
            "SELECT item FROM {} WHERE {} ORDER BY {}",
            storage::name(range.table, range.index),
            self.conditions.join(" AND "),
            order.join(", ")
        )
    }

    fn read(&self, connection: &Connection, range: &Range) -> Result<Page, Fault> {
        let mut statement = connection.prepare_cached(&self.sql(range))?;
        let mut found = statement.query(params_from_iter(&self.args))?;
        let mut rows: Vec<Row> = Vec::new();
        let mut bytes = 0;
        while let Some(row) = found.next()? {
            let stored = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
            let item = lookup::checked(stored.into(), range.table)?;
            bytes += item.size();
            rows.push(Row { item, base: None });
            if range.max_items == Some(rows.len()) {
                let ended = Ended::Items;
                return Ok(Page { rows, ended });
            }
            if bytes >= range.max_bytes {
                let ended = Ended::Bytes;
                return Ok(Page { rows, ended });
            }
        }
        Ok(Page {
            rows,
            ended: Ended::Data,
        })
    }
}

/// The columns after the equal ones where the last page ended, where that is further on than `near`; `None` where it is
/// behind the range.
fn continuation<'a>(
    sort: &SortBounds,
    near: Option<&Bound>,
    after: Option<&'a Position>,
    reverse: bool,
) -> Option<Option<&'a [Vec<u8>]>> {
    let Some(after) = after else { return Some(None) };
    let direction = |order: Ordering| if reverse { order.reverse() } else { order };
    let (equal, rest) = after.rest.split_at_checked(sort.equal.len())?;
    Some(match direction(equal.cmp(&sort.equal)) {
        Ordering::Less => None,
        Ordering::Greater => return None,
        Ordering::Equal => {
            let is_before = near.zip(rest.first()).is_some_and(|(bound, value)| {
                match direction(value.cmp(&bound.value)) {
                    Ordering::Less => true,
                    Ordering::Equal => !bound.inclusive,
                    Ordering::Greater => false,
                }
            });
            (!is_before).then_some(rest)
        }
    })
}

/// The item that an index entry belongs to, read under the key that the entry contains.
fn base_of(connection: &Connection, entry: &Item, table: &Table) -> Result<Item, Fault> {
    let corrupt = |what| {
        Fault::Corrupt(format!(
            "{} has an index entry without its {what}",
            storage::name(table.id, None)
        ))
    };
    let value = |name: &str| entry.get(name).ok_or_else(|| corrupt("item's key"));
    let hash = encode_hash([&value(&table.hash.name)?]);
    let mut sk = Vec::new();
    if let Some(range) = &table.range {
        encode_scalar(&value(&range.name)?, &mut sk);
    }
    let key = ItemKey {
        table: table.id,
        bucket: hash_bucket(&hash),
        pk: stored_hash(hash),
        sk,
    };
    lookup::item(connection, &key)?.ok_or_else(|| corrupt("item"))
}

#[cfg(test)]
mod tests {
    use extenddb_core::table::{AccountId, TableId};

    use super::*;

    /// An index of two RANGE attributes.
    fn table() -> Table {
        serde_json::from_str(
            r#"{"id":5,"version":1,"account":"000000000000","name":"T","uuid":"","created_ms":0,"status":"Active",
                "hash":{"name":"pk","kind":"S"},"range":{"name":"sk","kind":"S"},
                "indexes":[{"number":1,"name":"i","scope":"Global","hash":[{"name":"g","kind":"S"}],
                    "range":[{"name":"r","kind":"S"},{"name":"q","kind":"S"}],"projection":"All","status":"Active",
                    "throughput":null}],
                "billing":{"PayPerRequest":{"since_ms":0}},"deletion_protection":false,"infrequent_access":false}"#,
        )
        .unwrap()
    }

    fn bound(value: &str, inclusive: bool) -> Option<Bound> {
        Some(Bound {
            value: value.into(),
            inclusive,
        })
    }

    /// Whatever the range, its page is read from where it starts to where it ends, in order, and nothing is sorted.
    #[test]
    fn every_page_is_one_stretch_of_the_key() {
        let connection = Connection::open_in_memory().unwrap();
        let table = table();
        assert_eq!((table.id, &table.account), (TableId(5), &AccountId::default()));
        connection.execute_batch(&storage::create_table(&table)).unwrap();
        let bounds = |equal: &[&str]| SortBounds {
            equal: equal.iter().map(|value| value.as_bytes().to_vec()).collect(),
            lower: bound("b", true),
            upper: bound("f", false),
        };
        let sorts = [
            SortBounds::default(),
            bounds(&[]),
            bounds(&["c"]),
            SortBounds {
                lower: None,
                ..bounds(&[])
            },
        ];
        let partitions = sorts.map(|sort| Part::Partition {
            bucket: 7,
            hash: b"h".to_vec(),
            sort,
        });
        let buckets = Part::Buckets { first: -5, last: 9 };
        for part in partitions.into_iter().chain([buckets]) {
            for (index, rest) in [(None, 1), (Some(1), 4)] {
                if index.is_none() && matches!(&part, Part::Partition { sort, .. } if !sort.equal.is_empty())
                {
                    continue;
                }
                let after = Position {
                    bucket: 7,
                    hash: b"h".to_vec(),
                    rest: vec![b"c".to_vec(); rest],
                };
                for (after, reverse) in [
                    (None, false),
                    (None, true),
                    (Some(after.clone()), false),
                    (Some(after), true),
                ] {
                    let range = Range {
                        table: table.id,
                        index,
                        part: part.clone(),
                        after,
                        reverse,
                        max_items: None,
                        max_bytes: 1 << 20,
                        with_base: false,
                    };
                    let walk = Walk::of(&range, Some(&table)).unwrap();
                    let sql = format!("EXPLAIN QUERY PLAN {}", walk.sql(&range));
                    let mut statement = connection.prepare(&sql).unwrap();
                    let lines =
                        statement.query_map(params_from_iter(&walk.args), |row| row.get::<_, String>(3));
                    let plan: Vec<String> = lines.unwrap().map(Result::unwrap).collect();
                    assert!(
                        plan.len() == 1 && plan[0].starts_with("SEARCH"),
                        "{sql}: {plan:?}"
                    );
                    // The start goes down to the last column that it names.
                    let columns = plan[0].matches(['=', '<', '>']).count();
                    assert!(columns >= walk.conditions.len(), "{sql}: {plan:?}");
                }
            }
        }
    }
}
