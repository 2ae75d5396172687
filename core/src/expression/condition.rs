//! Condition and filter expressions: parsed, checked, and asked whether they hold for an item.

use crate::item::Item;

use super::{ExpressionFault, Kind, Path, Placeholders};

/// A condition that has passed every static check; owns its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {}

impl Condition {
    /// Parses and checks, in the service's order. `kind` is Condition, Filter or KeyCondition. `with_size`: the size
    /// fault names the size (a filter of Scan, a condition in a transaction).
    pub fn parse(
        _kind: Kind,
        _text: &str,
        _placeholders: &Placeholders,
        _with_size: bool,
    ) -> Result<Condition, ExpressionFault> {
        todo!()
    }

    /// Whether it holds for the stored item; every path is missing where there is none.
    pub fn holds(&self, _item: Option<&Item>) -> bool {
        todo!()
    }

    /// Every path mentioned, in text order.
    pub fn paths(&self) -> Vec<&Path> {
        todo!()
    }
}
