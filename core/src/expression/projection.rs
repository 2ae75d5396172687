//! Projections: what of an item is answered.                                 behaviour/expressions §projections

use crate::item::{Attributes, Item};

use super::{ExpressionFault, Path, Placeholders};

/// Paths of which none is another's prefix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Projection {
    pub paths: Vec<Path>,
}

impl Projection {
    pub fn parse(_text: &str, _placeholders: &Placeholders) -> Result<Projection, ExpressionFault> {
        todo!()
    }

    /// The skeleton of the item with only these paths; lists packed, in the order of the item.
    pub fn apply(&self, _item: &Item) -> Attributes {
        todo!()
    }
}
