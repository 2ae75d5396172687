//! Where a page lies in the order of a key, as comparisons of key columns: what a database with an ordered index needs to
//! read it from its start to its end, and nothing beside it.

use std::cmp::Ordering;

use super::{Bound, Part, Position, Range, SortBounds};

/// The value of a key column. A store takes it as an argument of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyColumn<'a> {
    Bucket(i32),
    Bytes(&'a [u8]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Equal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Operator {
    pub const fn sql(self) -> &'static str {
        match self {
            Operator::Equal => "=",
            Operator::Less => "<",
            Operator::AtMost => "<=",
            Operator::Greater => ">",
            Operator::AtLeast => ">=",
        }
    }

    fn from_start(reverse: bool, inclusive: bool) -> Operator {
        match (reverse, inclusive) {
            (false, false) => Operator::Greater,
            (false, true) => Operator::AtLeast,
            (true, false) => Operator::Less,
            (true, true) => Operator::AtMost,
        }
    }

    fn to_end(reverse: bool, inclusive: bool) -> Operator {
        Operator::from_start(!reverse, inclusive)
    }
}

/// So many key columns, compared as one row with as many values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    pub operator: Operator,
    /// Its columns, counted in the key: 0 is the bucket, 1 the HASH column, the others as in [`Position::rest`].
    pub first: usize,
    pub count: usize,
    /// Where its values begin among those of the stretch.
    pub place: usize,
}

/// All comparisons hold for the rows of the stretch and for no others. One of them alone says where to start: of two, a
/// database might start at the weaker.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretch<V> {
    pub comparisons: Vec<Comparison>,
    pub values: Vec<V>,
}

impl Range {
    /// What of the range is still to be read. `None` where the last page ended behind it.
    pub fn stretch<'a, V: From<KeyColumn<'a>>>(&'a self) -> Option<Stretch<V>> {
        let mut stretch = Stretch {
            comparisons: Vec::new(),
            values: Vec::new(),
        };
        let after = self.after.as_ref();
        match &self.part {
            Part::Partition { bucket, hash, sort } => {
                stretch.compare(Operator::Equal, 0, [KeyColumn::Bucket(*bucket)]);
                stretch.compare(Operator::Equal, 1, [KeyColumn::Bytes(hash)]);
                stretch.partition(sort, after, self.reverse)?;
            }
            Part::Buckets { first, last } => stretch.buckets(*first, *last, after, self.reverse)?,
        }
        Some(stretch)
    }
}

const FIRST_RANGE_COLUMN: usize = 2;

impl<'a, V: From<KeyColumn<'a>>> Stretch<V> {
    fn partition(&mut self, sort: &'a SortBounds, after: Option<&'a Position>, reverse: bool) -> Option<()> {
        for (place, value) in sort.equal.iter().enumerate() {
            let column = FIRST_RANGE_COLUMN + place;
            self.compare(Operator::Equal, column, [KeyColumn::Bytes(value)]);
        }
        let column = FIRST_RANGE_COLUMN + sort.equal.len();
        let (near, far) = match reverse {
            false => (&sort.lower, &sort.upper),
            true => (&sort.upper, &sort.lower),
        };
        match (continuation(sort, near.as_ref(), after, reverse)?, near) {
            (Some(rest), _) => {
                let values = rest.iter().map(|value| KeyColumn::Bytes(value));
                self.compare(Operator::from_start(reverse, false), column, values);
            }
            (None, Some(bound)) => {
                let operator = Operator::from_start(reverse, bound.inclusive);
                self.compare(operator, column, [KeyColumn::Bytes(&bound.value)]);
            }
            (None, None) => {}
        }
        if let Some(bound) = far {
            let operator = Operator::to_end(reverse, bound.inclusive);
            self.compare(operator, column, [KeyColumn::Bytes(&bound.value)]);
        }
        Some(())
    }

    fn buckets(&mut self, first: i32, last: i32, after: Option<&'a Position>, reverse: bool) -> Option<()> {
        let (near, far) = if reverse { (last, first) } else { (first, last) };
        let beyond = |bucket: i32, end: i32| if reverse { bucket < end } else { bucket > end };
        match after {
            Some(after) if beyond(after.bucket, far) => return None,
            Some(after) if !beyond(near, after.bucket) => {
                let rest = after.rest.iter().map(|value| KeyColumn::Bytes(value));
                let hash = [KeyColumn::Bucket(after.bucket), KeyColumn::Bytes(&after.hash)];
                self.compare(
                    Operator::from_start(reverse, false),
                    0,
                    hash.into_iter().chain(rest),
                );
            }
            _ => self.compare(Operator::from_start(reverse, true), 0, [KeyColumn::Bucket(near)]),
        }
        self.compare(Operator::to_end(reverse, true), 0, [KeyColumn::Bucket(far)]);
        Some(())
    }

    fn compare(&mut self, operator: Operator, first: usize, values: impl IntoIterator<Item = KeyColumn<'a>>) {
        let place = self.values.len();
        self.values.extend(values.into_iter().map(V::from));
        self.comparisons.push(Comparison {
            operator,
            first,
            count: self.values.len() - place,
            place,
        });
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
            // Where all columns are equal, the last page ended with the only row.
            let value = rest.first()?;
            let is_before = near.is_some_and(|bound| match direction(value.cmp(&bound.value)) {
                Ordering::Less => true,
                Ordering::Equal => !bound.inclusive,
                Ordering::Greater => false,
            });
            (!is_before).then_some(rest)
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, option, prelude::*};

    use super::*;
    use crate::table::TableId;

    fn range(part: Part, after: Option<Position>, reverse: bool) -> Range {
        Range {
            table: TableId(5),
            index: Some(1),
            part,
            after,
            reverse,
            max_items: None,
            max_bytes: 1 << 20,
            with_base: false,
        }
    }

    fn columns(position: &Position) -> Vec<KeyColumn<'_>> {
        let hash = [
            KeyColumn::Bucket(position.bucket),
            KeyColumn::Bytes(&position.hash),
        ];
        let rest = position.rest.iter().map(|value| KeyColumn::Bytes(value));
        hash.into_iter().chain(rest).collect()
    }

    fn holds(comparison: &Comparison, values: &[KeyColumn], row: &[KeyColumn]) -> bool {
        let own = &row[comparison.first..][..comparison.count];
        let order = own.cmp(&values[comparison.place..][..comparison.count]);
        match comparison.operator {
            Operator::Equal => order.is_eq(),
            Operator::Less => order.is_lt(),
            Operator::AtMost => order.is_le(),
            Operator::Greater => order.is_gt(),
            Operator::AtLeast => order.is_ge(),
        }
    }

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        vec(0..3u8, 0..3)
    }

    fn position(bucket: impl Strategy<Value = i32>) -> impl Strategy<Value = Position> {
        (bucket, bytes(), vec(bytes(), 4)).prop_map(|(bucket, hash, rest)| Position { bucket, hash, rest })
    }

    fn bound() -> impl Strategy<Value = Option<Bound>> {
        option::of((bytes(), any::<bool>()).prop_map(|(value, inclusive)| Bound { value, inclusive }))
    }

    /// Bounds are on the column after the equal ones.
    fn sort() -> impl Strategy<Value = SortBounds> {
        (vec(bytes(), 0..=4), bound(), bound()).prop_map(|(equal, lower, upper)| {
            let is_bounded = equal.len() < 4;
            SortBounds {
                equal,
                lower: lower.filter(|_| is_bounded),
                upper: upper.filter(|_| is_bounded),
            }
        })
    }

    proptest! {
        #[test]
        fn of_a_partition_it_is_what_lies_within_the_bounds_and_after_the_last_page(
            sort in sort(), last in option::of(vec(bytes(), 4)),
            reverse: bool, rows in vec(vec(bytes(), 4), 1..40),
        ) {
            let at = |rest: &Vec<Vec<u8>>| Position { bucket: 7, hash: b"h".to_vec(), rest: rest.clone() };
            let part = Part::Partition { bucket: 7, hash: b"h".to_vec(), sort: sort.clone() };
            let range = range(part, last.as_ref().map(at), reverse);
            let stretch = range.stretch::<KeyColumn>();
            for row in &rows {
                let is_after = last.as_ref().is_none_or(|last| if reverse { row < last } else { row > last });
                let within = stretch.as_ref().is_some_and(|stretch| {
                    let row = at(row);
                    stretch.comparisons.iter().all(|each| holds(each, &stretch.values, &columns(&row)))
                });
                prop_assert_eq!(within, sort.contains(row) && is_after, "{:?} of {:?}", row, range);
            }
        }

        #[test]
        fn of_buckets_it_is_what_lies_in_them_and_after_the_last_page(
            first in -3..3, last in -3..3, ended in option::of(position(-5..5)), reverse: bool,
            rows in vec(position(-5..5), 1..40),
        ) {
            let range = range(Part::Buckets { first, last }, ended.clone(), reverse);
            let stretch = range.stretch::<KeyColumn>();
            for row in &rows {
                let row = columns(row);
                let is_after = ended.as_ref().is_none_or(|ended| {
                    let ended = columns(ended);
                    if reverse { row < ended } else { row > ended }
                });
                let in_buckets = row[0] >= KeyColumn::Bucket(first) && row[0] <= KeyColumn::Bucket(last);
                let within = stretch.as_ref().is_some_and(|stretch| {
                    stretch.comparisons.iter().all(|each| holds(each, &stretch.values, &row))
                });
                prop_assert_eq!(within, in_buckets && is_after, "{:?} of {:?}", row, range);
            }
        }

        /// A column that is compared for less or more than equality is so once from the side where reading starts.
        #[test]
        fn one_comparison_says_where_to_start(
            sort in sort(), last in option::of(vec(bytes(), 4)), reverse: bool,
        ) {
            let after = last.map(|rest| Position { bucket: 7, hash: b"h".to_vec(), rest });
            for part in [Part::Partition { bucket: 7, hash: b"h".to_vec(), sort }, Part::Buckets { first: 0, last: 9 }] {
                let range = range(part, after.clone(), reverse);
                let Some(stretch) = range.stretch::<KeyColumn>() else { continue };
                let starts = stretch.comparisons.iter().filter(|each| {
                    [false, true].map(|inclusive| Operator::from_start(reverse, inclusive)).contains(&each.operator)
                });
                prop_assert!(starts.count() <= 1, "{:?}: {:?}", range, stretch);
            }
        }
    }

    #[test]
    fn a_last_page_that_ended_behind_the_range_leaves_nothing() {
        let after = |bucket, rest: &[&str]| {
            let rest = rest.iter().map(|value| value.as_bytes().to_vec()).collect();
            Some(Position {
                bucket,
                hash: b"h".to_vec(),
                rest,
            })
        };
        let sort = SortBounds {
            equal: vec![b"m".to_vec()],
            ..SortBounds::default()
        };
        let partition = || Part::Partition {
            bucket: 7,
            hash: b"h".to_vec(),
            sort: sort.clone(),
        };
        let buckets = || Part::Buckets { first: 2, last: 4 };
        for (part, after, reverse) in [
            (partition(), after(7, &["n", "a"]), false),
            (partition(), after(7, &["l", "a"]), true),
            (buckets(), after(5, &["a"]), false),
            (buckets(), after(1, &["a"]), true),
        ] {
            let range = range(part, after, reverse);
            assert_eq!(range.stretch::<KeyColumn>(), None, "{range:?}");
        }
    }
}
