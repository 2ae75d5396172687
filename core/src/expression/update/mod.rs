//! Update expressions: parsed, checked, applied.                                behaviour/expressions §updates

use crate::{
    item::{Attributes, Item},
    operation::KeyFault,
    table::Table,
};

use super::{ExpressionFault, Placeholders, Projection, UpdateFault};

/// An update that has passed every static check; owns its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {}

impl Update {
    pub fn parse(_text: &str, _placeholders: &Placeholders) -> Result<Update, ExpressionFault> {
        todo!()
    }

    /// What the request is charged with by its statement alone, in bytes.
    pub fn charge(&self) -> usize {
        todo!()
    }

    /// The statement against the table's keys and index keys: targets that are keys, paths into keys, supplied values
    /// of the wrong type, then supplied empty values.
    pub fn check_keys(&self, _table: &Table) -> Result<(), KeyFault> {
        todo!()
    }

    /// The item after the update. `old` is what is stored, `key` the request's key attributes, which stand in for an absent
    /// item. `None`: nothing was stored and nothing was added, so nothing is created. Index keys that the update computed
    /// are checked here, and nesting; the finished item's size is the caller's to check.
    pub fn apply(
        &self,
        _table: &Table,
        _old: Option<&Item>,
        _key: &Attributes,
    ) -> Result<Option<Item>, crate::error::Error> {
        let _ = UpdateFault::InvalidPath;
        todo!()
    }

    /// The target paths, for UPDATED_OLD and UPDATED_NEW.
    pub fn targets(&self) -> Projection {
        todo!()
    }
}
