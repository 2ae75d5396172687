//! Paths merged by their common beginnings: one walk over an item serves them all.

use std::collections::BTreeMap;

use super::{Element, Path};

/// A value has at most 32 levels, so the longest path that has something to hold its target has 33 elements. Longer ones meet
/// nothing and stay out of a tree, which bounds every recursion over one.
const MAX_ELEMENTS: usize = 33;

/// What hangs at the ends of a set of paths of which none is another's prefix.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree<T> {
    End(T),
    Map(BTreeMap<String, Tree<T>>),
    List(BTreeMap<usize, Tree<T>>),
}

/// By top-level attribute.
pub(super) type Trees<T> = BTreeMap<String, Tree<T>>;

/// Merges paths that are apart from each other.
pub(super) fn merge<'a, T>(paths: impl IntoIterator<Item = (&'a Path, T)>) -> Trees<T> {
    let mut trees = Trees::new();
    for (path, end) in paths {
        if path.0.len() > MAX_ELEMENTS {
            continue;
        }
        match trees.get_mut(path.root()) {
            None => {
                trees.insert(path.root().to_owned(), Tree::chain(&path.0[1..], end));
            }
            Some(tree) => tree.insert(&path.0[1..], end),
        }
    }
    trees
}

impl<T> Tree<T> {
    fn chain(elements: &[Element], end: T) -> Tree<T> {
        elements
            .iter()
            .rev()
            .fold(Tree::End(end), |tree, element| match element {
                Element::Name(name) => Tree::Map(BTreeMap::from([(name.clone(), tree)])),
                Element::Index(index) => Tree::List(BTreeMap::from([(*index, tree)])),
            })
    }

    fn insert(&mut self, elements: &[Element], end: T) {
        let Some((first, rest)) = elements.split_first() else {
            return; // a prefix of another path: refused before
        };
        match (self, first) {
            (Tree::Map(children), Element::Name(name)) => match children.get_mut(name) {
                Some(child) => child.insert(rest, end),
                None => {
                    children.insert(name.clone(), Tree::chain(rest, end));
                }
            },
            (Tree::List(children), Element::Index(index)) => match children.get_mut(index) {
                Some(child) => child.insert(rest, end),
                None => {
                    children.insert(*index, Tree::chain(rest, end));
                }
            },
            _ => {} // an overlap or a conflict: refused before
        }
    }
}
