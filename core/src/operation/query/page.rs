//! One page: read, filtered, projected and answered.                                 behaviour/operations §pages

use crate::{
    engine::store_error,
    error::Error,
    expression::{Condition, Projection},
    item::{NumberSets, write_attributes_as},
    store::{Ended, Part, Position, Range, Row, Store},
    wire::Object,
    write::{Arms, ReturnConsumedCapacity, read_units},
};

use super::{
    PAGE_MAX_BYTES,
    select::{Select, needs_items},
    source::Source,
    start_key::last_evaluated_key,
};

/// What Query and Scan have in common once the request is checked.
#[derive(Debug)]
pub struct PageRequest<'r> {
    pub sent_name: &'r str,
    pub select: Option<Select>,
    pub filter: Option<&'r Condition>,
    pub projection: Option<&'r Projection>,
    pub limit: Option<i64>,
    pub consistent: bool,
    pub reverse: bool,
    pub number_sets: NumberSets,
    pub capacity: ReturnConsumedCapacity,
}

impl PageRequest<'_> {
    /// Reads a page of `part` and answers it.
    pub async fn answer<S: Store>(
        &self,
        store: &S,
        source: &Source<'_>,
        part: Part,
        after: Option<Position>,
    ) -> Result<String, Error> {
        let with_base = needs_items(self.select, self.filter, self.projection, source);
        let range = Range {
            table: source.table.id,
            index: source.index.map(|index| index.number),
            part,
            after,
            reverse: self.reverse,
            max_items: self
                .limit
                .map(|limit| usize::try_from(limit).unwrap_or(usize::MAX)),
            max_bytes: PAGE_MAX_BYTES,
            with_base,
        };
        let page = store.walk(range).await.map_err(store_error)?;
        let arms = self.arms(&page.rows, source);
        let passed = |row: &&Row| {
            self.filter
                .is_none_or(|filter| filter.holds(Some(row.base.as_ref().unwrap_or(&row.item))))
        };
        let answered: Vec<&Row> = page.rows.iter().filter(passed).collect();
        let last = match page.rows.last() {
            Some(row) if page.ended != Ended::Data => Some(last_evaluated_key(&row.item, source)?),
            _ => None,
        };
        Ok(Object::body(|body| {
            if self.select != Some(Select::Count) {
                body.array("Items", &answered, |row, out| self.write_row(row, out));
            }
            body.integer("Count", answered.len() as i64);
            body.integer("ScannedCount", page.rows.len() as i64);
            if let Some(key) = &last {
                body.attributes("LastEvaluatedKey", key);
            }
            if self.capacity.wanted() {
                body.member("ConsumedCapacity", |out| {
                    arms.write(self.capacity, self.sent_name, source.table, out);
                });
            }
        }))
    }

    fn write_row(&self, row: &Row, out: &mut String) {
        let item = match &row.base {
            // A base that was read only for the filter is not what the index answers.
            Some(base) if self.select == Some(Select::All) || self.projection.is_some() => base,
            _ => &row.item,
        };
        match self.projection {
            Some(projection) => write_attributes_as(&projection.apply(item), self.number_sets, out),
            None => item.write_json_as(self.number_sets, out),
        }
    }

    /// Everything evaluated counts, before the filter; items fetched for a local index besides, each alone.
    fn arms(&self, rows: &[Row], source: &Source<'_>) -> Arms {
        let evaluated = read_units(rows.iter().map(|row| row.item.size()).sum(), self.consistent);
        match source.index {
            None => Arms {
                table: evaluated,
                indexes: Vec::new(),
            },
            Some(index) => {
                let fetched = rows.iter().filter_map(|row| row.base.as_ref());
                // Not `sum`: of nothing it is -0.0.
                let table = fetched.fold(0.0, |units, base| {
                    units + read_units(base.size(), self.consistent)
                });
                Arms {
                    table,
                    indexes: vec![(index.number, evaluated)],
                }
            }
        }
    }
}
