//! The binary form of an item, or its DynamoDB JSON.

use std::collections::BTreeMap;

use extenddb_core::item::{InPrefix, Item, find_in_prefix, write_attributes};

use super::item;

/// Bytes are refused, or are the one form of what they say; text that is an item reads back from what is written of it.
pub fn check(bytes: &[u8]) {
    // Whatever the bytes are.
    let _ = Item::size_of_prefix(bytes);
    for name in ["", "pk", "a", "\u{10ffff}"] {
        if let Ok(InPrefix::Found(value)) = find_in_prefix(bytes, name) {
            value.decode();
            value.json();
            value.plain_text();
        }
    }
    if let Ok(item) = Item::from_bytes(bytes.into()) {
        accepted(&item);
    }
    if let Some(item) = str::from_utf8(bytes).ok().and_then(item) {
        accepted(&item);
    }
}

fn accepted(read: &Item) {
    let attributes = read.to_attributes();
    assert_eq!(&Item::encode(&attributes), read, "not canonical");
    assert_eq!(read.is_empty(), attributes.is_empty());
    assert_eq!(
        read.size(),
        extenddb_core::item::attributes_size(&attributes),
        "{read:?}"
    );
    assert!(read.names().eq(attributes.keys()));

    let mut json = String::new();
    read.write_json(&mut json);
    let mut from_attributes = String::new();
    write_attributes(&attributes, &mut from_attributes);
    assert_eq!(json, from_attributes);
    let back = item(&json);
    assert_eq!(back.as_ref(), Some(read), "{json}");
    let mut plain = String::new();
    read.write_plain_json(&mut plain);
    let is_json = serde_json::from_str::<serde::de::IgnoredAny>(&plain).is_ok();
    assert!(is_json, "{plain}");

    for (name, value) in &attributes {
        assert_eq!(read.get(name).as_ref(), Some(value));
        assert_eq!(read.get_kind(name), Some(value.kind()));
        assert!(read.contains(name));
        read.attribute_json(name);
        read.attribute_text(name);
        in_prefixes(read, name);
        let without = read.with(&BTreeMap::from([(name.clone(), None)]));
        assert_eq!(read.retain(|kept| kept != name), without);
        let whole = without.with(&BTreeMap::from([(name.clone(), Some(value.clone()))]));
        assert_eq!(&whole, read);
    }
}

/// Asked with as many bytes as it needs, a prefix says what the whole does, and never asks in vain.
fn in_prefixes(read: &Item, name: &str) {
    let bytes = read.as_bytes();
    let mut length = 0;
    loop {
        match find_in_prefix(&bytes[..length], name) {
            Ok(InPrefix::Needs(more)) => {
                assert!(more > length && length < bytes.len(), "{name} in {read:?}");
                length = more.min(bytes.len());
            }
            Ok(InPrefix::Found(value)) => {
                assert_eq!(Some(value.decode()), read.get(name));
                return;
            }
            Ok(InPrefix::Absent) => panic!("{name} is in {read:?}"),
            Err(_) => panic!("{read:?} is an item"),
        }
    }
}
