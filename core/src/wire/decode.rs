//! The typed decoder: a request read by the static shape of its operation, with the service's coercions, and
//! containers before scalars.                                                             behaviour/wire §types

use super::{Layer, RawAttributes, RawValue, ShapeFault};

/// The members of a structure that the service knows; others are ignored.
pub struct Shape {
    /// The service's name of the structure, for the texts.
    pub name: &'static str,
    pub members: &'static [Member],
}

pub struct Member {
    pub name: &'static str,
    pub kind: Type,
}

pub enum Type {
    String,
    Boolean,
    Integer,
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
    _members: std::marker::PhantomData<&'a ()>,
}

/// Reads a body. The layer is the operation's own, or the old one where the request was coerced (`Layer`).
pub fn decode<'a>(
    _body: &'a str,
    _shape: &'static Shape,
    _layer: Layer,
) -> Result<(Fields<'a>, Layer), ShapeFault> {
    todo!()
}

impl<'a> Fields<'a> {
    /// Members that are present and not null, in the order of the request.
    pub fn present(&self) -> impl Iterator<Item = &'static str> {
        std::iter::empty()
    }

    pub fn has(&self, _member: &str) -> bool {
        todo!()
    }

    pub fn string(&self, _member: &str) -> Option<&str> {
        todo!()
    }

    pub fn boolean(&self, _member: &str) -> Option<bool> {
        todo!()
    }

    /// Saturated to the range of its type, truncated toward zero.
    pub fn integer(&self, _member: &str) -> Option<i64> {
        todo!()
    }

    pub fn structure(&self, _member: &str) -> Option<Fields<'a>> {
        todo!()
    }

    pub fn strings(&self, _member: &str) -> Option<Vec<&str>> {
        todo!()
    }

    pub fn structures(&self, _member: &str) -> Option<Vec<Fields<'a>>> {
        todo!()
    }

    /// A map of strings (ExpressionAttributeNames), in the order of the request, duplicates resolved.
    pub fn string_map(&self, _member: &str) -> Option<Vec<(&str, &str)>> {
        todo!()
    }

    pub fn structure_map(&self, _member: &str) -> Option<Vec<(&str, Fields<'a>)>> {
        todo!()
    }

    /// A map of lists of structures (BatchWriteItem's RequestItems).
    pub fn structures_map(&self, _member: &str) -> Option<Vec<(&str, Vec<Fields<'a>>)>> {
        todo!()
    }

    /// A map of attribute values (Item, Key, ExpressionAttributeValues, ExclusiveStartKey), not read yet.
    pub fn attributes(&self, _member: &str) -> Option<RawAttributes<'a>> {
        todo!()
    }

    /// A list of such maps (Keys of BatchGetItem).
    pub fn attributes_list(&self, _member: &str) -> Option<Vec<RawAttributes<'a>>> {
        todo!()
    }

    pub fn value(&self, _member: &str) -> Option<RawValue<'a>> {
        todo!()
    }
}
