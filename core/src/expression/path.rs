//! Document paths: as written in an expression, and with their names resolved.

use crate::item::{AttributeValue, Attributes};

use super::{
    Placeholders,
    fault::Body,
    lexer::{TokenKind, Tokens},
    reserved::is_reserved,
};

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

    /// Whether the path names a top-level attribute and nothing inside it.
    pub fn is_root(&self) -> bool {
        self.0.len() == 1
    }

    /// The value at the path within the value of its root attribute.
    pub fn within<'a>(&self, root: &'a AttributeValue) -> Option<&'a AttributeValue> {
        self.0[1..]
            .iter()
            .try_fold(root, |value, element| match (value, element) {
                (AttributeValue::M(members), Element::Name(name)) => members.get(name),
                (AttributeValue::L(elements), Element::Index(index)) => elements.get(*index),
                _ => None,
            })
    }

    pub fn find<'a>(&self, attributes: &'a Attributes) -> Option<&'a AttributeValue> {
        self.within(attributes.get(self.root())?)
    }

    /// How two paths get into each other's way, if they do.
    fn clash(&self, other: &Path) -> Option<Clash> {
        for pair in self.0.iter().zip(&other.0) {
            match pair {
                (one, two) if one == two => {}
                (Element::Name(_), Element::Name(_)) | (Element::Index(_), Element::Index(_)) => return None,
                _ => return Some(Clash::Conflict),
            }
        }
        Some(Clash::Overlap)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Clash {
    /// One equals the other or is its prefix.
    Overlap,
    /// They agree up to a place where one has a name and the other an index.
    Conflict,
}

/// Paths of a projection, or targets of an update: none may overlap another; then none may conflict with another.
/// The pair is named in expression order.
pub(super) fn check_apart(paths: &[&Path]) -> Result<(), Body> {
    let mut conflict = None;
    for (place, two) in paths.iter().enumerate() {
        for one in &paths[..place] {
            match one.clash(two) {
                None => {}
                Some(Clash::Overlap) => {
                    return Err(Body::Overlap {
                        one: (*one).clone(),
                        two: (*two).clone(),
                    });
                }
                Some(Clash::Conflict) => {
                    conflict.get_or_insert((*one, *two));
                }
            }
        }
    }
    match conflict {
        Some((one, two)) => Err(Body::Conflict {
            one: one.clone(),
            two: two.clone(),
        }),
        None => Ok(()),
    }
}

/// As error texts print it: `[a, b, [1], c]`.
impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[")?;
        for (place, element) in self.0.iter().enumerate() {
            if place > 0 {
                f.write_str(", ")?;
            }
            match element {
                Element::Name(name) => f.write_str(name)?,
                Element::Index(index) => write!(f, "[{index}]")?,
            }
        }
        f.write_str("]")
    }
}

/// A path as written, its placeholders not resolved.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WrittenPath(Vec<WrittenElement>);

#[derive(Clone, Debug, PartialEq)]
enum WrittenElement {
    Name(String),
    /// `#n`, with the `#`.
    Reference(String),
    Index(usize),
}

impl WrittenPath {
    /// Reads a path: an element, then `.element` and `[index]`.
    pub fn parse(tokens: &mut Tokens) -> Result<WrittenPath, Body> {
        let mut path = WrittenPath(vec![element(tokens)?]);
        path.parse_rest(tokens)?;
        Ok(path)
    }

    /// Reads what follows the first element, or (in a condition) a path in parentheses.
    pub fn parse_rest(&mut self, tokens: &mut Tokens) -> Result<(), Body> {
        loop {
            if tokens.take(TokenKind::Dot) {
                self.0.push(element(tokens)?);
            } else if tokens.take(TokenKind::OpenIndex) {
                // No list has more elements than usize counts, so an index beyond it finds nothing, as it should.
                let index = tokens.expect(TokenKind::Integer)?.parse().unwrap_or(usize::MAX);
                self.0.push(WrittenElement::Index(index));
                tokens.expect(TokenKind::CloseIndex)?;
            } else {
                return Ok(());
            }
        }
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The placeholders among the elements from `first` on.
    pub fn references(&self, first: usize) -> impl Iterator<Item = &str> {
        self.0[first..].iter().filter_map(|element| match element {
            WrittenElement::Reference(reference) => Some(reference.as_str()),
            _ => None,
        })
    }

    /// The first bare element that is a reserved word, as typed.
    pub fn reserved_word(&self) -> Option<&str> {
        self.0.iter().find_map(|element| match element {
            WrittenElement::Name(name) if is_reserved(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Resolves the names; the first that is not defined is the fault.
    pub fn bind(&self, placeholders: &Placeholders) -> Result<Path, Body> {
        let resolve = |element: &WrittenElement| match element {
            WrittenElement::Name(name) => Ok(Element::Name(name.clone())),
            WrittenElement::Index(index) => Ok(Element::Index(*index)),
            WrittenElement::Reference(reference) => match placeholders.name(reference) {
                Some(name) => Ok(Element::Name(name.to_owned())),
                None => Err(Body::UndefinedName(reference.clone())),
            },
        };
        self.0.iter().map(resolve).collect::<Result<_, _>>().map(Path)
    }
}

fn element(tokens: &mut Tokens) -> Result<WrittenElement, Body> {
    match tokens.peek() {
        Some(TokenKind::Name) => Ok(WrittenElement::Name(tokens.next().into())),
        Some(TokenKind::NameReference) => Ok(WrittenElement::Reference(tokens.next().into())),
        _ => Err(tokens.syntax_error()),
    }
}
