//! The one derivation: what follows for indexes from a change of an item. Every write goes through here.

use crate::{
    item::{Item, ItemKey},
    table::Table,
};

use super::Change;

/// The change that puts `new` (or nothing) in the place of `old` under the unit's key number `of`. `old` is `None`
/// where nothing was stored, or where the table has no index and the image was not read.
pub fn derive(_table: &Table, _of: usize, _key: &ItemKey, _old: Option<&Item>, _new: Option<Item>) -> Change {
    todo!()
}
