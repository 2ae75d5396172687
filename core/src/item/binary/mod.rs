//! The binary form of an item, which stores keep and `ddb.item` holds.
//!
//! Canonical: two equal items are the same bytes. The size stands in the header and an attribute is found
//! through a sorted directory, so neither needs the rest decoded.
//!
//! | part | bytes |
//! |---|---|
//! | version | 1; with the high bit, numbers below are `u32`, else `u16` |
//! | DynamoDB's size | `u32` |
//! | count of attributes | `u16` or `u32` |
//! | directory, sorted by the bytes of the names | for each: end of its name, start of its value, both `u16` or `u32` |
//! | names | one behind the other |
//! | values | those of up to [`LARGE_BYTES`], then the others, both in the order of the names |
//!
//! All numbers are big-endian, offsets count from the beginning of their part, and the wide form is used only
//! where it must be. Large values stand last because a store that compresses whole rows (TOAST) can give a short
//! beginning of one cheaply.

mod check;
mod prefix;
#[cfg(test)]
mod tests;
mod value;

use std::collections::BTreeMap;

use super::{AttributeValue, Attributes, ValueType, value_size};
pub use prefix::{InPrefix, StoredValue, find_in_prefix};
pub(super) use value::{View, each, take_marked, take_member, take_number, take_value, text};

/// An item in binary form. One that exists is valid: bytes are checked whole where they come in.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Item(Box<[u8]>);

/// Bytes that are no item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt;

const VERSION: u8 = 1;
const WIDE: u8 = 0x80;
/// Version and size.
const HEAD_BYTES: usize = 1 + 4;
/// A value longer than this in binary form stands behind all that are not.
const LARGE_BYTES: usize = 512;

impl Item {
    pub fn encode(attributes: &Attributes) -> Item {
        let parts = attributes
            .iter()
            .map(|(name, value)| Part::of_value(name, value))
            .collect();
        assemble(parts)
    }

    /// Takes bytes from a store or a caller; refuses whatever is not the canonical form of some item, and values of
    /// more than 32 levels. One pass, no allocation.
    pub fn from_bytes(bytes: Box<[u8]>) -> Result<Item, Corrupt> {
        check::check(&bytes)?;
        Ok(Item(bytes))
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn into_bytes(self) -> Box<[u8]> {
        self.0
    }

    /// DynamoDB's size, read from the header.
    pub fn size(&self) -> usize {
        Self::size_of_prefix(&self.0).unwrap_or(0)
    }

    /// The same from the first bytes of a binary form (a detoasted prefix of 5 bytes is enough).
    pub fn size_of_prefix(prefix: &[u8]) -> Option<usize> {
        let (head, _) = prefix.split_first_chunk::<HEAD_BYTES>()?;
        let [version, size @ ..] = *head;
        (version & !WIDE == VERSION).then_some(u32::from_be_bytes(size) as usize)
    }

    pub fn is_empty(&self) -> bool {
        self.layout().count == 0
    }

    /// Decodes one top-level attribute.
    pub fn get(&self, name: &str) -> Option<AttributeValue> {
        self.view(name).map(View::decode)
    }

    /// The type of one top-level attribute.
    pub fn get_kind(&self, name: &str) -> Option<ValueType> {
        self.view(name).map(|value| value.kind())
    }

    pub fn contains(&self, name: &str) -> bool {
        self.layout().find(name).is_some()
    }

    /// The names, in byte order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts().map(|(name, _)| name)
    }

    pub fn to_attributes(&self) -> Attributes {
        self.views()
            .map(|(name, value)| (name.to_owned(), value.decode()))
            .collect()
    }

    /// The item that keeps only the attributes whose names `keep` accepts; values are copied, not decoded.
    pub fn retain(&self, keep: impl Fn(&str) -> bool) -> Item {
        let parts: Vec<_> = self
            .parts()
            .filter(|(name, _)| keep(name))
            .map(|(name, rest)| Part::of_stored(name, rest))
            .collect();
        if parts.len() == self.layout().count {
            return self.clone();
        }
        assemble(parts)
    }

    /// The item with these attributes replaced, added (`Some`) or removed (`None`); the others are copied, not decoded.
    pub fn with(&self, changes: &BTreeMap<String, Option<AttributeValue>>) -> Item {
        let layout = self.layout();
        let mut parts = Vec::with_capacity(layout.count + changes.len());
        let mut changes = changes.iter().peekable();
        for (name, rest) in self.parts() {
            while let Some((added, value)) = changes.next_if(|(changed, _)| changed.as_str() < name) {
                parts.extend(value.as_ref().map(|value| Part::of_value(added, value)));
            }
            match changes.next_if(|(changed, _)| changed.as_str() == name) {
                Some((_, value)) => parts.extend(value.as_ref().map(|value| Part::of_value(name, value))),
                None => parts.push(Part::of_stored(name, rest)),
            }
        }
        parts.extend(
            changes.filter_map(|(name, value)| value.as_ref().map(|value| Part::of_value(name, value))),
        );
        assemble(parts)
    }

    /// One top-level attribute in place.
    pub(super) fn view(&self, name: &str) -> Option<View<'_>> {
        let layout = self.layout();
        let (_, start) = layout.entry(layout.find(name)?)?;
        take_value(&mut layout.values.get(start..)?)
    }

    /// All of them, in the order of the names.
    pub(super) fn views(&self) -> impl Iterator<Item = (&str, View<'_>)> {
        self.parts()
            .filter_map(|(name, mut rest)| Some((name, take_value(&mut rest)?)))
    }

    /// Each name with the bytes that its value begins.
    fn parts(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let layout = self.layout();
        let mut name_start = 0;
        (0..layout.count).filter_map(move |i| {
            let (name_end, start) = layout.entry(i)?;
            let name = layout
                .names
                .get(std::mem::replace(&mut name_start, name_end)..name_end)?;
            Some((text(name), layout.values.get(start..)?))
        })
    }

    fn layout(&self) -> Layout<'_> {
        Layout::of(&self.0).unwrap_or_default()
    }
}

impl std::fmt::Debug for Item {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        self.write_json(&mut text);
        f.write_str(&text)
    }
}

/// Where the parts of a binary form are. Only what is needed to find them was checked.
#[derive(Clone, Copy, Default)]
struct Layout<'a> {
    wide: bool,
    size: usize,
    count: usize,
    directory: &'a [u8],
    names: &'a [u8],
    values: &'a [u8],
}

impl<'a> Layout<'a> {
    fn of(bytes: &'a [u8]) -> Option<Self> {
        let size = Item::size_of_prefix(bytes)?;
        let wide = Self::is_wide(bytes);
        let rest = bytes.get(HEAD_BYTES..)?;
        let count = read_offset(rest, wide, 0)?;
        let rest = rest.get(offset_bytes(wide)..)?;
        let (directory, rest) = rest.split_at_checked(count.checked_mul(2 * offset_bytes(wide))?)?;
        let mut layout = Layout {
            wide,
            size,
            count,
            directory,
            names: rest,
            values: &[],
        };
        (layout.names, layout.values) = rest.split_at_checked(layout.names_length()?)?;
        Some(layout)
    }

    fn is_wide(bytes: &[u8]) -> bool {
        bytes.first().is_some_and(|version| version & WIDE != 0)
    }

    fn names_length(&self) -> Option<usize> {
        match self.count.checked_sub(1) {
            Some(last) => Some(self.entry(last)?.0),
            None => Some(0),
        }
    }

    fn must_be_wide(count: usize, names_length: usize, values_length: usize) -> bool {
        count.max(names_length).max(values_length) > usize::from(u16::MAX)
    }

    /// The end of the name and the start of the value of the attribute at a place in the directory.
    fn entry(&self, i: usize) -> Option<(usize, usize)> {
        Some((
            read_offset(self.directory, self.wide, 2 * i)?,
            read_offset(self.directory, self.wide, 2 * i + 1)?,
        ))
    }

    fn name(&self, i: usize) -> Option<&'a [u8]> {
        let start = match i.checked_sub(1) {
            Some(before) => self.entry(before)?.0,
            None => 0,
        };
        self.names.get(start..self.entry(i)?.0)
    }

    fn find(&self, name: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.name(middle)?.cmp(name.as_bytes()) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

fn offset_bytes(wide: bool) -> usize {
    if wide { 4 } else { 2 }
}

fn read_offset(bytes: &[u8], wide: bool, i: usize) -> Option<usize> {
    let bytes = bytes.get(i.checked_mul(offset_bytes(wide))?..)?;
    if wide {
        Some(u32::from_be_bytes(*bytes.first_chunk()?) as usize)
    } else {
        Some(u16::from_be_bytes(*bytes.first_chunk()?).into())
    }
}

fn write_offset(offset: usize, wide: bool, out: &mut [u8]) {
    if wide {
        out.copy_from_slice(&(offset as u32).to_be_bytes());
    } else {
        out.copy_from_slice(&(offset as u16).to_be_bytes());
    }
}

/// An attribute of an item to be assembled.
struct Part<'a> {
    name: &'a str,
    content: Content<'a>,
    /// In binary form.
    length: usize,
    /// DynamoDB's, of the value.
    size: usize,
}

enum Content<'a> {
    Value(&'a AttributeValue),
    Stored(&'a [u8]),
}

impl<'a> Part<'a> {
    fn of_value(name: &'a str, value: &'a AttributeValue) -> Self {
        Part {
            name,
            content: Content::Value(value),
            length: value::length(value),
            size: value_size(value),
        }
    }

    /// From the bytes that the value begins.
    fn of_stored(name: &'a str, bytes: &'a [u8]) -> Self {
        let mut rest = bytes;
        let size = take_value(&mut rest).map_or(0, View::size);
        let length = bytes.len() - rest.len();
        Part {
            name,
            content: Content::Stored(&bytes[..length]),
            length,
            size,
        }
    }

    fn is_large(&self) -> bool {
        self.length > LARGE_BYTES
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self.content {
            Content::Value(value) => value::write(value, out),
            Content::Stored(bytes) => out.extend_from_slice(bytes),
        }
    }
}

/// Writes an item of these attributes, which stand in the order of their names.
fn assemble(parts: Vec<Part<'_>>) -> Item {
    let (mut names_length, mut values_length, mut size) = (0, 0, 0);
    for part in &parts {
        names_length += part.name.len();
        values_length += part.length;
        size += part.name.len() + part.size;
    }
    let wide = Layout::must_be_wide(parts.len(), names_length, values_length);
    let width = offset_bytes(wide);
    let directory = HEAD_BYTES + width;
    let names = directory + parts.len() * 2 * width;
    let values = names + names_length;

    let mut out = Vec::with_capacity(values + values_length);
    out.push(if wide { VERSION | WIDE } else { VERSION });
    out.extend_from_slice(&(size as u32).to_be_bytes());
    out.resize(names, 0);
    write_offset(parts.len(), wide, &mut out[HEAD_BYTES..directory]);
    for (i, part) in parts.iter().enumerate() {
        out.extend_from_slice(part.name.as_bytes());
        let at = directory + i * 2 * width;
        write_offset(out.len() - names, wide, &mut out[at..at + width]);
    }
    for large in [false, true] {
        for (i, part) in parts.iter().enumerate() {
            if part.is_large() == large {
                let at = directory + i * 2 * width + width;
                write_offset(out.len() - values, wide, &mut out[at..at + width]);
                part.write(&mut out);
            }
        }
    }
    debug_assert_eq!(out.len(), values + values_length);
    Item(out.into_boxed_slice())
}
