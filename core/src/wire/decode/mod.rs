//! The typed decoder: a request read by the static shape of its operation, with the service's coercions, and
//! containers before scalars.                                                             behaviour/wire §types
//!
//! All JSON types of a request are judged here, those inside attribute values too, so that no fault of content
//! can come before one of type. The content of attribute values is read later (`RawAttributes::read`).

mod reader;

use std::{borrow::Cow, sync::Arc};

use super::{
    Layer, RawAttributes, RawValue, ShapeFault,
    json::{self, Json},
};

use reader::Decoder;

/// The members of a structure that the service knows; others are ignored.
#[derive(Debug)]
pub struct Shape {
    /// The service's name of the structure, for the texts.
    pub name: &'static str,
    pub members: &'static [Member],
}

#[derive(Debug)]
pub struct Member {
    pub name: &'static str,
    pub kind: Type,
}

impl Member {
    pub const fn new(name: &'static str, kind: Type) -> Member {
        Member { name, kind }
    }
}

#[derive(Debug)]
pub enum Type {
    String,
    Boolean,
    /// 32 bits.
    Integer,
    /// 64 bits.
    Long,
    AttributeValue,
    Structure(&'static Shape),
    List(&'static Type),
    /// String keys.
    Map(&'static Type),
}

/// A structure whose JSON types are right. A member that is absent or null answers `None`.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    pub(super) shape: &'static Shape,
    /// In the order of the request.
    members: Arc<[(&'static str, Node<'a>)]>,
}

/// The members of a JSON object.
type Entries<'a> = Vec<(Cow<'a, str>, Json<'a>)>;

/// The entries of a map of attribute values.
type RawEntries<'a> = Vec<(Cow<'a, str>, RawValue<'a>)>;

#[derive(Clone, Debug)]
pub(super) enum Node<'a> {
    String(Cow<'a, str>),
    Boolean(bool),
    Integer(i64),
    Value(RawValue<'a>),
    Structure(Fields<'a>),
    List(Vec<Node<'a>>),
    Attributes(RawAttributes<'a>),
    Map(Vec<(Cow<'a, str>, Node<'a>)>),
}

/// A request body whose syntax is right.                                          behaviour/wire §front-end
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestBody<'a> {
    /// No byte at all; refused only after the operation's name and the signature were looked at.
    Empty,
    Object(&'a str),
    /// JSON, but no object; refused at the same place.
    NoObject,
}

impl<'a> RequestBody<'a> {
    /// Bytes that are not JSON are refused before anything else is looked at.
    pub fn check(body: &'a [u8]) -> Result<Self, ShapeFault> {
        if body.is_empty() {
            return Ok(Self::Empty);
        }
        let text = std::str::from_utf8(body).map_err(|_| ShapeFault::Bare)?;
        match json::parse(text).map_err(|_| ShapeFault::Bare)? {
            Json::Object(_) => Ok(Self::Object(text)),
            _ => Ok(Self::NoObject),
        }
    }

    /// The object, at the place where the other two are refused.
    pub fn object(self) -> Result<&'a str, ShapeFault> {
        match self {
            Self::Object(text) => Ok(text),
            Self::Empty | Self::NoObject => Err(ShapeFault::Bare),
        }
    }
}

/// Reads a body by the operation's shape. `layer` is the operation's own; the answer has the old one where the
/// request was coerced: a BOOL, NULL or Exists from a string, an attribute value of several types, an integer
/// that was saturated or truncated.                                                  behaviour/wire §layers
pub fn decode<'a>(
    body: &'a str,
    shape: &'static Shape,
    layer: Layer,
) -> Result<(Fields<'a>, Layer), ShapeFault> {
    let Ok(Json::Object(entries)) = json::parse(body) else {
        return Err(ShapeFault::Bare);
    };
    let mut decoder = Decoder::new();
    let fields = decoder.structure(shape, entries)?;
    Ok((fields, if decoder.coerced { Layer::Old } else { layer }))
}

impl<'a> Fields<'a> {
    pub(super) fn get(&self, member: &str) -> Option<&Node<'a>> {
        self.members
            .iter()
            .find(|(name, _)| *name == member)
            .map(|(_, node)| node)
    }

    /// Members that are present and not null, in the order of the request.
    pub fn present(&self) -> impl Iterator<Item = &'static str> {
        self.members.iter().map(|(name, _)| *name)
    }

    pub fn has(&self, member: &str) -> bool {
        self.get(member).is_some()
    }

    pub fn string(&self, member: &str) -> Option<&str> {
        match self.get(member)? {
            Node::String(text) => Some(text),
            _ => None,
        }
    }

    pub fn boolean(&self, member: &str) -> Option<bool> {
        match self.get(member)? {
            Node::Boolean(value) => Some(*value),
            _ => None,
        }
    }

    /// Saturated to the range of its type, truncated toward zero.
    pub fn integer(&self, member: &str) -> Option<i64> {
        match self.get(member)? {
            Node::Integer(value) => Some(*value),
            _ => None,
        }
    }

    pub fn structure(&self, member: &str) -> Option<Fields<'a>> {
        match self.get(member)? {
            Node::Structure(fields) => Some(fields.clone()),
            _ => None,
        }
    }

    pub fn strings(&self, member: &str) -> Option<Vec<&str>> {
        let strings = self.list(member)?.iter().filter_map(|node| match node {
            Node::String(text) => Some(text.as_ref()),
            _ => None,
        });
        Some(strings.collect())
    }

    pub fn structures(&self, member: &str) -> Option<Vec<Fields<'a>>> {
        Some(structures(self.list(member)?))
    }

    /// A map of strings (ExpressionAttributeNames), in the order of the request, duplicates resolved.
    pub fn string_map(&self, member: &str) -> Option<Vec<(&str, &str)>> {
        let strings = self.map(member)?.iter().filter_map(|(name, node)| match node {
            Node::String(text) => Some((name.as_ref(), text.as_ref())),
            _ => None,
        });
        Some(strings.collect())
    }

    pub fn structure_map(&self, member: &str) -> Option<Vec<(&str, Fields<'a>)>> {
        let fields = self.map(member)?.iter().filter_map(|(name, node)| match node {
            Node::Structure(fields) => Some((name.as_ref(), fields.clone())),
            _ => None,
        });
        Some(fields.collect())
    }

    /// A map of lists of structures (BatchWriteItem's RequestItems).
    pub fn structures_map(&self, member: &str) -> Option<Vec<(&str, Vec<Fields<'a>>)>> {
        let lists = self.map(member)?.iter().filter_map(|(name, node)| match node {
            Node::List(nodes) => Some((name.as_ref(), structures(nodes))),
            _ => None,
        });
        Some(lists.collect())
    }

    /// A map of attribute values (Item, Key, ExpressionAttributeValues, ExclusiveStartKey), not read yet.
    pub fn attributes(&self, member: &str) -> Option<RawAttributes<'a>> {
        match self.get(member)? {
            Node::Attributes(attributes) => Some(attributes.clone()),
            _ => None,
        }
    }

    /// A list of such maps (Keys of BatchGetItem).
    pub fn attributes_list(&self, member: &str) -> Option<Vec<RawAttributes<'a>>> {
        let maps = self.list(member)?.iter().filter_map(|node| match node {
            Node::Attributes(attributes) => Some(attributes.clone()),
            _ => None,
        });
        Some(maps.collect())
    }

    pub fn value(&self, member: &str) -> Option<RawValue<'a>> {
        match self.get(member)? {
            Node::Value(value) => Some(value.clone()),
            _ => None,
        }
    }

    /// A list of attribute values (AttributeValueList).
    pub fn values(&self, member: &str) -> Option<Vec<RawValue<'a>>> {
        let values = self.list(member)?.iter().filter_map(|node| match node {
            Node::Value(value) => Some(value.clone()),
            _ => None,
        });
        Some(values.collect())
    }

    fn list(&self, member: &str) -> Option<&[Node<'a>]> {
        match self.get(member)? {
            Node::List(nodes) => Some(nodes),
            _ => None,
        }
    }

    fn map(&self, member: &str) -> Option<&[(Cow<'a, str>, Node<'a>)]> {
        match self.get(member)? {
            Node::Map(entries) => Some(entries),
            _ => None,
        }
    }
}

fn structures<'a>(nodes: &[Node<'a>]) -> Vec<Fields<'a>> {
    let fields = nodes.iter().filter_map(|node| match node {
        Node::Structure(fields) => Some(fields.clone()),
        _ => None,
    });
    fields.collect()
}
