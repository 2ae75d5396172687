//! What several decisions of one commit come to for one row: a store writes each row once.

use super::RowWrite;

/// Two writes of a row that cannot follow each other: one of them was decided on something that was not so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contradiction;

impl RowWrite {
    /// This write and then the next as one; `None` where the row is as absent as before.
    pub fn then(self, next: RowWrite) -> Result<Option<RowWrite>, Contradiction> {
        use RowWrite::{Clear, Delete, Insert, Set, Update};
        Ok(Some(match (self, next) {
            (Insert(_), Update(item) | Set(item)) => Insert(item),
            (Insert(_), Delete | Clear) => return Ok(None),
            (Update(_), Update(item) | Set(item)) => Update(item),
            (Update(_), Delete | Clear) => Delete,
            (Delete, Insert(item) | Set(item)) => Update(item),
            (Delete, Clear) => Delete,
            (Set(_), Update(item) | Set(item)) => Set(item),
            (Set(_), Delete | Clear) => Clear,
            (Clear, Insert(item) | Set(item)) => Set(item),
            (Clear, Clear) => Clear,
            (Insert(_) | Update(_) | Set(_), Insert(_)) | (Delete | Clear, Update(_) | Delete) => {
                return Err(Contradiction);
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::{AttributeValue, Attributes, Item};

    fn item(text: &str) -> Item {
        let attributes = Attributes::from([("a".to_owned(), AttributeValue::S(text.to_owned()))]);
        Item::encode(&attributes)
    }

    /// A row as a store has it: a write that promises one row and finds another number of them is an error.
    fn apply(row: Option<Item>, write: &RowWrite) -> Result<Option<Item>, Contradiction> {
        match (write, row) {
            (RowWrite::Insert(item), None) | (RowWrite::Update(item), Some(_)) | (RowWrite::Set(item), _) => {
                Ok(Some(item.clone()))
            }
            (RowWrite::Delete, Some(_)) | (RowWrite::Clear, _) => Ok(None),
            (RowWrite::Insert(_), Some(_)) | (RowWrite::Update(_) | RowWrite::Delete, None) => {
                Err(Contradiction)
            }
        }
    }

    /// All pairs of writes, over a row that is there and one that is not: what comes of both is what comes of the one.
    #[test]
    fn two_writes_as_one_leave_what_both_leave() {
        let writes = |text: &str| {
            let item = item(text);
            [
                RowWrite::Insert(item.clone()),
                RowWrite::Update(item.clone()),
                RowWrite::Delete,
                RowWrite::Set(item),
                RowWrite::Clear,
            ]
        };
        for before in [None, Some(item("before"))] {
            for first in writes("first") {
                for second in writes("second") {
                    let Ok(both) = apply(before.clone(), &first).and_then(|row| apply(row, &second)) else {
                        continue;
                    };
                    let one = first.clone().then(second.clone());
                    let left = match one.as_ref().expect("what can happen is no contradiction") {
                        Some(write) => apply(before.clone(), write),
                        None => Ok(before.clone()),
                    };
                    assert_eq!(left, Ok(both), "{before:?}: {first:?}, then {second:?}: {one:?}");
                }
            }
        }
    }

    #[test]
    fn what_no_row_allows_is_a_contradiction() {
        let (first, second) = (item("first"), item("second"));
        let impossible = [
            (RowWrite::Insert(first.clone()), RowWrite::Insert(second.clone())),
            (RowWrite::Set(first), RowWrite::Insert(second.clone())),
            (RowWrite::Delete, RowWrite::Update(second)),
            (RowWrite::Delete, RowWrite::Delete),
            (RowWrite::Clear, RowWrite::Delete),
        ];
        for (first, second) in impossible {
            assert_eq!(first.then(second), Err(Contradiction));
        }
    }
}
