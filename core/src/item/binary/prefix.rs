//! One attribute from the beginning of a binary form, for stores that would have to fetch and decompress the rest.

use super::{
    Corrupt, HEAD_BYTES, Item, Layout, check, offset_bytes, read_offset,
    value::{View, content_length, take_value},
};
use crate::item::{AttributeValue, ValueType};

/// A value in place, checked whole.
#[derive(Clone, Copy)]
pub struct StoredValue<'a>(pub(in crate::item) View<'a>);

impl StoredValue<'_> {
    pub fn decode(self) -> AttributeValue {
        self.0.decode()
    }

    pub fn kind(self) -> ValueType {
        self.0.kind()
    }
}

/// What the beginning of a binary form says of an attribute.
#[derive(Clone, Copy)]
pub enum InPrefix<'a> {
    Absent,
    Found(StoredValue<'a>),
    /// Ask again with this many bytes, or with all there are. They are more than were given; asked for although all
    /// were given, the bytes are no item.
    Needs(usize),
}

/// Looks an attribute up in the first bytes of an item. A few hundred bytes answer for most: the directory stands
/// first and large values last. Checks what it reads, not the rest.
pub fn find_in_prefix<'a>(prefix: &'a [u8], name: &str) -> Result<InPrefix<'a>, Corrupt> {
    let Some(rest) = prefix.get(HEAD_BYTES..) else {
        return Ok(InPrefix::Needs(HEAD_BYTES + offset_bytes(true)));
    };
    let size = Item::size_of_prefix(prefix).ok_or(Corrupt)?;
    let wide = Layout::is_wide(prefix);
    let width = offset_bytes(wide);
    let Some(count) = read_offset(rest, wide, 0) else {
        return Ok(InPrefix::Needs(HEAD_BYTES + width));
    };
    let directory_length = count.checked_mul(2 * width).ok_or(Corrupt)?;
    let Some((directory, rest)) = rest
        .get(width..)
        .and_then(|rest| rest.split_at_checked(directory_length))
    else {
        return Ok(InPrefix::Needs(HEAD_BYTES + width + directory_length));
    };
    let mut layout = Layout {
        wide,
        size,
        count,
        directory,
        names: rest,
        values: &[],
    };
    let names_length = layout.names_length().ok_or(Corrupt)?;
    let values_at = HEAD_BYTES + width + directory_length + names_length;
    let Some((names, values)) = rest.split_at_checked(names_length) else {
        return Ok(InPrefix::Needs(values_at));
    };
    (layout.names, layout.values) = (names, values);

    let Some(i) = layout.find(name) else {
        return Ok(InPrefix::Absent);
    };
    let (_, start) = layout.entry(i).ok_or(Corrupt)?;
    let bytes = values.get(start..).unwrap_or_default();
    match take_value(&mut &*bytes) {
        Some(value) => {
            check::check_value(value, 1)?;
            Ok(InPrefix::Found(StoredValue(value)))
        }
        None => {
            let needed = values_at + start + content_length(bytes);
            if needed > prefix.len() {
                Ok(InPrefix::Needs(needed))
            } else {
                Err(Corrupt)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::tests::any_attributes, *};

    /// Looks up as a store does, and answers the value and the bytes that it had to fetch.
    fn look_up(item: &Item, name: &str, first: usize) -> (Option<AttributeValue>, usize) {
        let bytes = item.as_bytes();
        let mut fetched = first.min(bytes.len());
        loop {
            match find_in_prefix(&bytes[..fetched], name).unwrap() {
                InPrefix::Absent => return (None, fetched),
                InPrefix::Found(value) => return (Some(value.decode()), fetched),
                InPrefix::Needs(needed) => {
                    assert!(
                        needed > fetched && fetched < bytes.len(),
                        "{needed} after {fetched} of {}",
                        bytes.len()
                    );
                    fetched = needed.min(bytes.len());
                }
            }
        }
    }

    #[test]
    fn a_small_attribute_needs_no_large_one() {
        let attributes = [
            ("body".to_string(), AttributeValue::S("x".repeat(300_000))),
            ("kind".to_string(), AttributeValue::S("letter".into())),
        ];
        let item = Item::encode(&attributes.into());
        let (value, fetched) = look_up(&item, "kind", 64);
        assert_eq!((value, fetched), (Some(AttributeValue::S("letter".into())), 64));
        assert_eq!(look_up(&item, "none", 64), (None, 64));
        assert_eq!(look_up(&item, "body", 64).1, item.as_bytes().len());
    }

    proptest! {
        #[test]
        fn a_prefix_answers_as_the_whole(attributes in any_attributes(), first in 0..200usize) {
            let item = Item::encode(&attributes);
            for (name, value) in &attributes {
                prop_assert_eq!(look_up(&item, name, first).0, Some(value.clone()));
            }
            prop_assert_eq!(look_up(&item, "zz", first).0, None);
        }

        #[test]
        fn arbitrary_bytes_do_no_harm(tail in prop::collection::vec(prop_oneof![3 => 0..12u8, 1 => any::<u8>()], 0..60)) {
            let bytes = [&[1, 0, 0, 0][..], &tail].concat();
            if let Ok(InPrefix::Found(value)) = find_in_prefix(&bytes, "\u{1}") {
                value.decode();
            }
        }
    }
}
