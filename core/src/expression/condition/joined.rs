//! A condition without a text: tests of whole attributes, joined by AND or by OR.

use std::sync::Arc;

use crate::expression::{Element, Path};

use super::{
    Attribute, Condition, Test,
    ast::{Step, Tree},
};

/// Collects the tests.
pub(in super::super) struct Joined {
    by_or: bool,
    steps: Vec<Step>,
    tests: Vec<Test>,
    roots: Vec<String>,
}

impl Joined {
    pub fn new(by_or: bool) -> Joined {
        Joined {
            by_or,
            steps: Vec::new(),
            tests: Vec::new(),
            roots: Vec::new(),
        }
    }

    /// A whole attribute by its literal name, for a test of this condition.
    pub fn attribute(&mut self, name: String) -> Attribute {
        self.roots.push(name.clone());
        Attribute {
            path: Path(vec![Element::Name(name)]),
            root: self.roots.len() - 1,
        }
    }

    pub fn push(&mut self, test: Test, negated: bool) {
        if !self.tests.is_empty() {
            // What decides ends it all; the end is known when all are there.
            self.steps.push(match self.by_or {
                true => Step::Or { end: usize::MAX },
                false => Step::And { end: usize::MAX },
            });
        }
        self.steps.push(Step::Leaf(self.tests.len()));
        self.tests.push(test);
        if negated {
            self.steps.push(Step::Not);
        }
    }

    pub fn finish(self) -> Condition {
        let tree = Tree {
            steps: self.steps,
            leaves: Vec::new(),
            calls: Vec::new(),
            references: Vec::new(),
            first_refused_in_keys: None,
        };
        Condition {
            tree: Arc::new(tree),
            tests: self.tests,
            roots: self.roots,
        }
    }
}
