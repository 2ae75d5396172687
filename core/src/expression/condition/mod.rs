//! Condition and filter expressions: parsed, checked, and asked whether they hold for an item.
//!                                                                          behaviour/expressions §conditions
//!
//! `parse` reads the text, `check` binds names and values and looks at each leaf, `evaluate` answers for an
//! item. `joined` makes one without a text.

mod ast;
mod check;
mod evaluate;
mod joined;
mod parse;

use std::sync::Arc;

use crate::item::{AttributeValue, Item, Number, ValueType};

use super::{Body, ExpressionFault, Kind, Path, Placeholders, cache::Cache, lexer::check_length};

pub(super) use ast::Comparator;
pub(super) use evaluate::order;
pub(super) use joined::Joined;

use ast::Tree;

/// A condition that has passed every static check; owns its values.
#[derive(Clone, Debug)]
pub struct Condition {
    tree: Arc<Tree>,
    /// One a leaf of the tree, in text order.
    tests: Vec<Test>,
    /// The top-level attributes mentioned, each once.
    roots: Vec<String>,
}

/// A leaf with its names and values.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    Compare(Comparator, Operand, Operand),
    /// Value, lower bound, upper bound.
    Between(Operand, Operand, Operand),
    In(Operand, Vec<Operand>),
    Exists(Attribute),
    NotExists(Attribute),
    Type(Attribute, ValueType),
    BeginsWith(Operand, Operand),
    Contains(Operand, Operand),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    Path(Attribute),
    Value(AttributeValue),
    /// `size` of a path.
    SizeOf(Attribute),
    /// `size` of a value.
    Size(Number),
}

/// A path, and its root's place in [`Condition::roots`].
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Attribute {
    pub path: Path,
    root: usize,
}

thread_local! {
    static TREES: Cache<Tree> = Cache::new();
}

impl Condition {
    /// Parses and checks, in the service's order. `kind` is Condition, Filter or KeyCondition. `with_size`:
    /// the size fault names the size (a filter of Scan, a condition in a transaction).
    pub fn parse(
        kind: Kind,
        text: &str,
        placeholders: &Placeholders,
        with_size: bool,
    ) -> Result<Condition, ExpressionFault> {
        let condition = || {
            check_length(text, with_size)?;
            // The three kinds have one grammar, so they share their trees.
            let tree = TREES.with(|trees| trees.get_or_parse(text, |text| parse::parse(kind, text)))?;
            let mut roots = vec![];
            let tests = check::bind(&tree, placeholders, &mut roots)?;
            Ok(Condition { tree, tests, roots })
        };
        condition().map_err(|body: Body| body.of(kind))
    }

    /// Whether it holds for the stored item; every path is missing where there is none.
    pub fn holds(&self, item: Option<&Item>) -> bool {
        evaluate::holds(self, item)
    }

    /// Every path mentioned, in text order.
    pub fn paths(&self) -> Vec<&Path> {
        self.tests.iter().flat_map(Test::paths).collect()
    }

    /// The leaves in text order, each after the OR or NOT that stands above it first (an OR or NOT is only told
    /// once: a key condition has none).
    pub(super) fn leaves(&self) -> impl Iterator<Item = (Option<&'static str>, &Test)> {
        let refused = self.tree.first_refused_in_keys;
        self.tests.iter().enumerate().map(move |(place, test)| {
            (
                refused
                    .filter(|(leaf, _)| *leaf == place)
                    .map(|(_, operator)| operator),
                test,
            )
        })
    }
}

/// By what is asked, not by how it was written.
impl PartialEq for Condition {
    fn eq(&self, other: &Self) -> bool {
        self.tree.steps == other.tree.steps && self.tests == other.tests
    }
}

impl Test {
    /// The operands in text order, but for the paths of functions that take nothing else.
    pub(super) fn operands(&self) -> Vec<&Operand> {
        match self {
            Self::Compare(_, left, right) => vec![left, right],
            Self::Between(value, lower, upper) => vec![value, lower, upper],
            Self::In(value, candidates) => std::iter::once(value).chain(candidates).collect(),
            Self::BeginsWith(whole, prefix) => vec![whole, prefix],
            Self::Contains(container, part) => vec![container, part],
            Self::Exists(_) | Self::NotExists(_) | Self::Type(..) => vec![],
        }
    }

    fn paths(&self) -> Vec<&Path> {
        match self {
            Self::Exists(attribute) | Self::NotExists(attribute) | Self::Type(attribute, _) => {
                vec![&attribute.path]
            }
            _ => self.operands().into_iter().filter_map(Operand::path).collect(),
        }
    }
}

impl Operand {
    fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(attribute) | Self::SizeOf(attribute) => Some(&attribute.path),
            Self::Value(_) | Self::Size(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
