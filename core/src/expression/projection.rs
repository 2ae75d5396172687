//! Projections: what of an item is answered.                                     behaviour/updates §projections

use crate::item::{AttributeValue, Attributes, Item};

use super::{
    Body, Element, ExpressionFault, Kind, Path, Placeholders,
    cache::Cache,
    lexer::{TokenKind, Tokens, check_length},
    path::{WrittenPath, check_apart},
    tree::{self, Tree, Trees},
};

/// Paths of which none is another's prefix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Projection {
    /// In text order.
    pub paths: Vec<Path>,
    trees: Trees<()>,
}

thread_local! {
    static WRITTEN: Cache<Vec<WrittenPath>> = Cache::new();
}

impl Projection {
    /// Syntax, then reserved words, then names that are not defined, then overlaps, then conflicts.
    pub fn parse(text: &str, placeholders: &Placeholders) -> Result<Projection, ExpressionFault> {
        let parse = || -> Result<Projection, Body> {
            check_length(text, false)?;
            let written = WRITTEN.with(|cache| cache.get_or_parse(text, parse_paths))?;
            let paths = written
                .iter()
                .map(|path| path.bind(placeholders))
                .collect::<Result<Vec<_>, _>>()?;
            check_apart(&paths.iter().collect::<Vec<_>>())?;
            Ok(Projection::of_paths(paths))
        };
        parse().map_err(|body| body.of(Kind::Projection))
    }

    /// Whole top-level attributes, by their plain names.
    pub fn of_names<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Projection {
        Projection::of_paths(
            names
                .into_iter()
                .map(|name| Path(vec![Element::Name(name.into())]))
                .collect(),
        )
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

/// `path { "," path }`
fn parse_paths(text: &str) -> Result<Vec<WrittenPath>, Body> {
    let mut tokens = Tokens::new(Kind::Projection, text);
    let mut paths = vec![WrittenPath::parse(&mut tokens)?];
    while tokens.take(TokenKind::Comma) {
        paths.push(WrittenPath::parse(&mut tokens)?);
    }
    tokens.expect_end()?;
    match paths.iter().find_map(WrittenPath::reserved_word) {
        Some(word) => Err(Body::ReservedWord(word.into())),
        None => Ok(paths),
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
