//! A page of a table or index, in key order.

use extenddb_core::{
    item::{Item, ItemKey},
    store::{Ended, KeyColumn, Page, Part, Range, Row, Stretch},
    table::Table,
};
use rusqlite::{
    Connection, ToSql, params_from_iter,
    types::{ToSqlOutput, ValueRef},
};

use crate::{
    Fault,
    lookup::{self, in_one_snapshot, or_gone},
    storage,
};

/// What is read in place at most.
const SHORT: Limits = Limits {
    items: 32,
    bytes: 64 << 10,
};

#[derive(Clone, Copy)]
struct Limits {
    items: usize,
    bytes: usize,
}

/// One page, of one snapshot. For an index with the description of its table.
pub fn page(connection: &Connection, range: &Range, table: Option<&Table>) -> Result<Page, Fault> {
    let own = Limits {
        items: range.max_items.unwrap_or(usize::MAX),
        bytes: range.max_bytes,
    };
    read(connection, range, table, own)
}

/// Whether it is worth the try to read the page with [`short_page`]: most of a whole table are not.
pub fn may_be_short(range: &Range) -> bool {
    match range.part {
        Part::Partition { .. } => true,
        Part::Buckets { .. } => range.max_items.is_some_and(|items| items <= SHORT.items),
    }
}

/// The page, if it is a short one.
pub fn short_page(
    connection: &Connection,
    range: &Range,
    table: Option<&Table>,
) -> Result<Option<Page>, Fault> {
    let limits = Limits {
        items: range
            .max_items
            .map_or(SHORT.items, |items| items.min(SHORT.items)),
        bytes: range.max_bytes.min(SHORT.bytes),
    };
    let page = read(connection, range, table, limits)?;
    let is_whole = match page.ended {
        Ended::Data => true,
        Ended::Items => range.max_items == Some(limits.items),
        Ended::Bytes => range.max_bytes == limits.bytes,
    };
    Ok(is_whole.then_some(page))
}

fn read(
    connection: &Connection,
    range: &Range,
    table: Option<&Table>,
    limits: Limits,
) -> Result<Page, Fault> {
    let Some(walk) = Walk::of(range, table) else {
        return Ok(Page {
            rows: Vec::new(),
            ended: Ended::Data,
        });
    };
    let entries = || {
        let page = walk.read(connection, range, limits);
        or_gone(connection, range.table, range.index, page)
    };
    match table.filter(|_| range.with_base) {
        None => entries(),
        Some(table) => in_one_snapshot(connection, || {
            let mut page = entries()?;
            for row in &mut page.rows {
                row.base = Some(base_of(connection, &row.item, table)?);
            }
            Ok(page)
        }),
    }
}

enum Arg<'a> {
    Int(i32),
    Bytes(&'a [u8]),
}

impl<'a> From<KeyColumn<'a>> for Arg<'a> {
    fn from(value: KeyColumn<'a>) -> Arg<'a> {
        match value {
            KeyColumn::Bucket(bucket) => Arg::Int(bucket),
            KeyColumn::Bytes(bytes) => Arg::Bytes(bytes),
        }
    }
}

impl ToSql for Arg<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Arg::Int(value) => ToSqlOutput::from(*value),
            Arg::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
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
            let index = indexes.find(|index| index.number == number);
            index.map_or(0, |index| index.range.len())
        });
        Some(Walk {
            columns: storage::key_columns(range.index, ranges),
            stretch: range.stretch()?,
        })
    }

    fn sql(&self, range: &Range) -> String {
        let conditions: Vec<String> = self
            .stretch
            .comparisons
            .iter()
            .map(|comparison| {
                let places: Vec<String> = (comparison.place..comparison.place + comparison.count)
                    .map(|place| format!("?{}", place + 1))
                    .collect();
                let columns = &self.columns[comparison.first..][..comparison.count];
                let operator = comparison.operator.sql();
                format!("({}) {operator} ({})", columns.join(", "), places.join(", "))
            })
            .collect();
        let direction = if range.reverse { " DESC" } else { "" };
        let order: Vec<String> = self
            .columns
            .iter()
            .map(|column| format!("{column}{direction}"))
            .collect();
        format!(
            "SELECT item FROM {} WHERE {} ORDER BY {}",
            storage::name(range.table, range.index),
            conditions.join(" AND "),
            order.join(", ")
        )
    }

    fn read(&self, connection: &Connection, range: &Range, limits: Limits) -> Result<Page, Fault> {
        let mut statement = connection.prepare_cached(&self.sql(range))?;
        let mut found = statement.query(params_from_iter(&self.stretch.values))?;
        let mut rows: Vec<Row> = Vec::new();
        let mut bytes = 0;
        while let Some(row) = found.next()? {
            let stored = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
            let item = lookup::checked(stored.into(), range.table)?;
            bytes += item.size();
            rows.push(Row { item, base: None });
            if rows.len() >= limits.items {
                let ended = Ended::Items;
                return Ok(Page { rows, ended });
            }
            if bytes >= limits.bytes {
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

/// The item that an index entry belongs to, read under the key that the entry contains.
fn base_of(connection: &Connection, entry: &Item, table: &Table) -> Result<Item, Fault> {
    let corrupt = |what| {
        Fault::Corrupt(format!(
            "{} has an index entry without its {what}",
            storage::name(table.id, None)
        ))
    };
    let key = ItemKey::of_stored(table, entry).ok_or_else(|| corrupt("item's key"))?;
    lookup::item(connection, &key)?.ok_or_else(|| corrupt("item"))
}

#[cfg(test)]
mod tests {
    use extenddb_core::{
        item::{AttributeValue, Attributes, encode_hash, hash_bucket},
        store::{Bound, Position, SortBounds},
        table::{AccountId, TableId},
    };

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

    /// A page that is read in place is the one that a thread would read.
    #[test]
    fn a_short_page_is_the_page_or_none() {
        let connection = Connection::open_in_memory().unwrap();
        let table = table();
        connection.execute_batch(&storage::create_table(&table)).unwrap();
        // 100 items of some 4 KB.
        for number in 0..100 {
            let item = Item::encode(&Attributes::from([
                ("pk".into(), AttributeValue::S("a".into())),
                ("sk".into(), AttributeValue::S(format!("{number:03}"))),
                ("text".into(), AttributeValue::S("x".repeat(4000))),
            ]));
            let key = ItemKey::of_stored(&table, &item).unwrap();
            let row = rusqlite::params![key.bucket, key.pk, key.sk, item.as_bytes()];
            let sql = "INSERT INTO t5 (bucket, pk, sk, item) VALUES (?1, ?2, ?3, ?4)";
            connection.execute(sql, row).unwrap();
        }
        let mut read_here = 0;
        for max_items in [None, Some(1), Some(2), Some(31), Some(32), Some(33), Some(200)] {
            for max_bytes in [1, 4_100, SHORT.bytes - 1, SHORT.bytes, SHORT.bytes + 1, 1 << 20] {
                for first in [0, 95, 99, 100] {
                    let hash = encode_hash([&AttributeValue::S("a".into())]);
                    let range = Range {
                        table: table.id,
                        index: None,
                        part: Part::Partition {
                            bucket: hash_bucket(&hash),
                            hash,
                            sort: SortBounds {
                                lower: bound(&format!("{first:03}"), true),
                                ..SortBounds::default()
                            },
                        },
                        after: None,
                        reverse: false,
                        max_items,
                        max_bytes,
                        with_base: false,
                    };
                    if let Some(short) = short_page(&connection, &range, Some(&table)).unwrap() {
                        assert_eq!(
                            short,
                            page(&connection, &range, Some(&table)).unwrap(),
                            "{range:?}"
                        );
                        read_here += 1;
                    }
                }
            }
        }
        // All that start near the end, and those from the beginning that have a low limit.
        assert_eq!(read_here, 3 * 7 * 6 + 2 * 6 + 5 * 4, "of {}", 4 * 7 * 6);
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
                    let lines = statement.query_map(params_from_iter(&walk.stretch.values), |row| {
                        row.get::<_, String>(3)
                    });
                    let plan: Vec<String> = lines.unwrap().map(Result::unwrap).collect();
                    assert!(
                        plan.len() == 1 && plan[0].starts_with("SEARCH"),
                        "{sql}: {plan:?}"
                    );
                    // The start goes down to the last column that it names.
                    let columns = plan[0].matches(['=', '<', '>']).count();
                    assert!(columns >= walk.stretch.comparisons.len(), "{sql}: {plan:?}");
                }
            }
        }
    }
}
