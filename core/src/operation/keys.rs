//! Keys in requests, checked against a table's schema: a key that comes out of here is valid.
//!                                                                            behaviour/operations §keys

use crate::{
    expression::Path,
    item::{AttributeValue, Attributes, ItemKey, encode_hash, encode_scalar, hash_bucket, stored_hash},
    table::{Index, KeyAttribute, Table},
    write::INDEX_RANGES_MAX_BYTES,
};

use super::KeyFault;

pub const HASH_MAX_BYTES: usize = 2048;
pub const RANGE_MAX_BYTES: usize = 1024;

/// Which texts answer a key attribute that is missing or of the wrong type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyTexts {
    /// PutItem's Item: the attribute is named.
    Item,
    /// A Key, and the items of BatchWriteItem: the schema is.
    Schema,
}

/// The key of a whole item: HASH, then RANGE.
pub fn key_of_item(table: &Table, item: &Attributes, texts: KeyTexts) -> Result<ItemKey, KeyFault> {
    let hash = key_value(item, &table.hash, texts)?;
    if encoded_size(hash) > HASH_MAX_BYTES {
        return Err(KeyFault::HashSize);
    }
    let mut sk = Vec::new();
    if let Some(range) = &table.range {
        let value = key_value(item, range, texts)?;
        if encoded_size(value) > RANGE_MAX_BYTES {
            return Err(KeyFault::RangeSize);
        }
        encode_scalar(value, &mut sk);
    }
    let encoded = encode_hash([hash]);
    Ok(ItemKey {
        table: table.id,
        bucket: hash_bucket(&encoded),
        pk: stored_hash(encoded),
        sk,
    })
}

/// A `Key`: exactly the key attributes.
pub fn key_of_key(table: &Table, key: &Attributes) -> Result<ItemKey, KeyFault> {
    if key.len() != table.key_attributes().count() {
        return Err(KeyFault::Schema);
    }
    key_of_item(table, key, KeyTexts::Schema)
}

fn key_value<'a>(
    item: &'a Attributes,
    key: &KeyAttribute,
    texts: KeyTexts,
) -> Result<&'a AttributeValue, KeyFault> {
    let expected = key.kind.value_type();
    match item.get(&key.name) {
        None if texts == KeyTexts::Item => Err(KeyFault::Missing(key.name.clone())),
        None => Err(KeyFault::Schema),
        Some(value) if value.kind() != expected && texts == KeyTexts::Item => Err(KeyFault::Type {
            attribute: key.name.clone(),
            expected,
            actual: value.kind(),
        }),
        Some(value) if value.kind() != expected => Err(KeyFault::Schema),
        Some(value) if is_empty(value) => Err(KeyFault::Empty {
            attribute: key.name.clone(),
            kind: expected,
        }),
        Some(value) => Ok(value),
    }
}

/// The index keys of a whole item, those too whose index it lacks other keys of. All indexes are checked for types before
/// any is for emptiness; sizes come last. Of several at fault the alphabetically first index is named.
pub fn check_index_keys(table: &Table, item: &Attributes) -> Result<(), KeyFault> {
    if table.indexes.is_empty() {
        return Ok(());
    }
    let mut indexes: Vec<&Index> = table.indexes.iter().collect();
    indexes.sort_by(|a, b| a.name.cmp(&b.name));
    let checks = [index_type, index_empty, index_size];
    for check in checks {
        for index in &indexes {
            for (position, key) in index.key_attributes().enumerate() {
                if let Some(value) = item.get(&key.name) {
                    check(index, key, position < index.hash.len(), value)?;
                }
            }
        }
    }
    for index in indexes {
        let ranges = index.range.iter().filter_map(|key| item.get(&key.name));
        if ranges.map(encoded_size).sum::<usize>() > INDEX_RANGES_MAX_BYTES {
            return Err(KeyFault::RangeSize);
        }
    }
    Ok(())
}

fn index_type(
    index: &Index,
    key: &KeyAttribute,
    _hash: bool,
    value: &AttributeValue,
) -> Result<(), KeyFault> {
    let expected = key.kind.value_type();
    if value.kind() == expected {
        return Ok(());
    }
    let (attribute, index) = (key.name.clone(), index.name.clone());
    Err(KeyFault::IndexType {
        attribute,
        expected,
        actual: value.kind(),
        index,
    })
}

pub(crate) fn index_empty(
    index: &Index,
    key: &KeyAttribute,
    _hash: bool,
    value: &AttributeValue,
) -> Result<(), KeyFault> {
    if !is_empty(value) {
        return Ok(());
    }
    Err(KeyFault::IndexEmpty {
        attribute: key.name.clone(),
        kind: value.kind(),
        index: index.name.clone(),
    })
}

pub(crate) fn index_size(
    index: &Index,
    key: &KeyAttribute,
    hash: bool,
    value: &AttributeValue,
) -> Result<(), KeyFault> {
    let max_bytes = if hash { HASH_MAX_BYTES } else { RANGE_MAX_BYTES };
    let bytes = encoded_size(value);
    if bytes <= max_bytes {
        return Ok(());
    }
    Err(KeyFault::IndexSize {
        attribute: key.name.clone(),
        bytes,
        max_bytes,
        index: index.name.clone(),
    })
}

pub(crate) fn is_empty(value: &AttributeValue) -> bool {
    match value {
        AttributeValue::S(text) => text.is_empty(),
        AttributeValue::B(bytes) => bytes.is_empty(),
        _ => false,
    }
}

/// The bytes of a key value as the limits count them; a number never reaches them.
pub(crate) fn encoded_size(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::B(bytes) => bytes.len(),
        _ => 0,
    }
}

/// A document path that goes into a key attribute: keys are scalars.
pub fn check_key_path(table: &Table, path: &Path) -> Result<(), KeyFault> {
    if path.0.len() == 1 {
        return Ok(());
    }
    let attribute = path.root();
    let is_key = table.is_key(attribute);
    if is_key
        || table
            .indexes
            .iter()
            .flat_map(Index::key_attributes)
            .any(|key| key.name == attribute)
    {
        return Err(KeyFault::KeyPath {
            attribute: attribute.to_owned(),
            index: !is_key,
        });
    }
    Ok(())
}
