//! Document paths, with names resolved.

use crate::item::{AttributeValue, Attributes};

/// `a.b[1]`: never empty, and its first element is a name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Path(pub Vec<Element>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    Name(String),
    Index(usize),
}

impl Path {
    /// The top-level attribute that the path starts at.
    pub fn root(&self) -> &str {
        match &self.0[0] {
            Element::Name(name) => name,
            Element::Index(_) => unreachable!("a path starts with a name"),
        }
    }

    /// The value at the path within the value of its root attribute.
    pub fn within<'a>(&self, _root: &'a AttributeValue) -> Option<&'a AttributeValue> {
        todo!()
    }

    pub fn find<'a>(&self, attributes: &'a Attributes) -> Option<&'a AttributeValue> {
        self.within(attributes.get(self.root())?)
    }
}

/// As error texts print it: `[a, b, [1], c]`.
impl std::fmt::Display for Path {
    fn fmt(&self, _f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        todo!()
    }
}
