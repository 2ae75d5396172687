//! The binary form of an item, which stores keep and `ddb.item` holds.
//!
//! Canonical: two equal items are the same bytes. The size stands in the header and an attribute is found
//! through a sorted directory, so neither needs the rest decoded.

use super::{AttributeValue, Attributes};

/// An item in binary form. One that exists is valid: bytes are checked whole where they come in.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Item(Box<[u8]>);

/// Bytes that are no item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt;

impl Item {
    pub fn encode(_attributes: &Attributes) -> Item {
        todo!()
    }

    /// Takes bytes from a store or a caller; refuses whatever is not the canonical form of some item. One pass,
    /// no allocation.
    pub fn from_bytes(_bytes: Box<[u8]>) -> Result<Item, Corrupt> {
        todo!()
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn into_bytes(self) -> Box<[u8]> {
        self.0
    }

    /// DynamoDB's size, read from the header.
    pub fn size(&self) -> usize {
        todo!()
    }

    /// The same from the first bytes of a binary form (a detoasted prefix is enough).
    pub fn size_of_prefix(_prefix: &[u8]) -> Option<usize> {
        todo!()
    }

    pub fn is_empty(&self) -> bool {
        todo!()
    }

    /// Decodes one top-level attribute.
    pub fn get(&self, _name: &str) -> Option<AttributeValue> {
        todo!()
    }

    pub fn contains(&self, _name: &str) -> bool {
        todo!()
    }

    /// The names, in byte order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::empty()
    }

    pub fn to_attributes(&self) -> Attributes {
        todo!()
    }

    /// The item that keeps only the attributes whose names `keep` accepts; values are copied, not decoded.
    pub fn retain(&self, _keep: impl Fn(&str) -> bool) -> Item {
        todo!()
    }

    /// The item with these attributes replaced, added (`Some`) or removed (`None`); the others are copied, not decoded.
    pub fn with(&self, _changes: &std::collections::BTreeMap<String, Option<AttributeValue>>) -> Item {
        todo!()
    }

    /// Appends the item as DynamoDB JSON, straight from the bytes.
    pub fn write_json(&self, _out: &mut String) {
        todo!()
    }
}

impl std::fmt::Debug for Item {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        self.write_json(&mut text);
        f.write_str(&text)
    }
}
