//! Projections: what of an item is answered.                                     behaviour/updates §projections

use crate::item::{AttributeValue, Attributes, Item};

use super::{
    Element, ExpressionFault, Kind, Path, Placeholders,
    tree::{self, Tree, Trees},
};

/// Paths of which none is another's prefix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Projection {
    /// In text order.
    pub paths: Vec<Path>,
    trees: Trees<()>,
}

impl Projection {
    pub fn parse(_text: &str, _placeholders: &Placeholders) -> Result<Projection, ExpressionFault> {
        todo!()
    }

    /// Whole top-level attributes, by their plain names.
    pub fn of_names<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Projection {
        Projection::of_paths(names.into_iter().map(|name| Path(vec![Element::Name(name.into())])).collect())
    }

    /// Paths that are disjoint.
    pub(super) fn of_paths(paths: Vec<Path>) -> Projection {
        let trees = tree::merge(paths.iter().map(|path| (path, ())));
        Projection { paths, trees }
    }

    /// The skeleton of the item with only these paths; lists packed, in the order of the item.
    pub fn apply(&self, item: &Item) -> Attributes {
        let picked = |(name, tree): (&String, &Tree<()>)| Some((name.clone(), pick(item.get(name)?, tree)?));
        self.trees.iter().filter_map(picked).collect()
    }
}

/// What the paths reach within a value; nothing where they reach nothing, not even an empty container.
fn pick(value: AttributeValue, tree: &Tree<()>) -> Option<AttributeValue> {
    match (tree, value) {
        (Tree::End(()), value) => Some(value),
        (Tree::Map(children), AttributeValue::M(mut map)) => {
            let picked: Attributes = children
                .iter()
                .filter_map(|(name, child)| Some((name.clone(), pick(map.remove(name)?, child)?)))
                .collect();
            (!picked.is_empty()).then_some(AttributeValue::M(picked))
        }
        (Tree::List(children), AttributeValue::L(list)) => {
            let picked: Vec<_> = list
                .into_iter()
                .enumerate()
                .filter_map(|(index, element)| pick(element, children.get(&index)?))
                .collect();
            (!picked.is_empty()).then_some(AttributeValue::L(picked))
        }
        _ => None,
    }
}
