//! The one derivation: what follows for indexes, and in capacity, from a change of an item. Every write goes
//! through here, whatever operation or worker it comes from.

use std::cmp::Ordering;

use crate::{
    item::{
        AttributeValue, IndexKey, Item, ItemKey, ScalarType, encode_hash, encode_scalar, hash_bucket,
        stored_hash,
    },
    operation::keys::{HASH_MAX_BYTES, encoded_size},
    table::{Index, KeyAttribute, Projected, Table, TableStatus},
};

use super::{
    Arms, Base, Change, IndexRow, RowWrite,
    capacity::{WRITE_UNIT_BYTES, units},
};

/// The RANGE values of an index entry stand whole in its key, and a B-tree entry has no room for more of them. Numbers
/// (22 bytes at most) do not count, as they do not for the other limits on keys.
pub const INDEX_RANGES_MAX_BYTES: usize = 1024;

/// A change, and what it is charged with.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    pub change: Change,
    /// Right only where the old image was read: whoever asks for capacity asks for the image.
    pub arms: Arms,
}

/// The change that puts `new` (or nothing) in the place of `old` under the unit's key number `of`. `old` is `None`
/// where nothing was stored, or where the table has no index and the image was not read.
pub fn derive(table: &Table, of: usize, key: &ItemKey, old: Option<&Item>, new: Option<Item>) -> Derived {
    let mut rows = Vec::new();
    let mut arms = Arms {
        table: units(
            old.map_or(0, Item::size).max(new.as_ref().map_or(0, Item::size)),
            WRITE_UNIT_BYTES,
        ),
        indexes: Vec::new(),
    };
    for index in &table.indexes {
        let before = old.and_then(|item| entry(table, index, key, item));
        let after = new.as_ref().and_then(|item| entry(table, index, key, item));
        let charged = index_rows(index, before, after, &mut rows);
        if charged > 0.0 {
            arms.indexes.push((index.number, charged));
        }
    }
    let expires = new.as_ref().and_then(|item| expires(table, item));
    let base = match new {
        Some(item) => Base::Put(item),
        None => Base::Delete,
    };
    Derived {
        change: Change {
            of,
            base,
            rows,
            keep_for: None,
            expires,
        },
        arms,
    }
}

/// The index rows that an item of the table has and the index lacks: for a fill, which leaves the item alone. A writer
/// may have made them since the index is there.
pub fn derive_fill(table: &Table, index: &Index, of: usize, key: &ItemKey, item: &Item) -> Change {
    let mut rows = Vec::new();
    index_rows(index, None, entry(table, index, key, item), &mut rows);
    Change {
        of,
        base: Base::Untouched,
        rows,
        keep_for: None,
        expires: None,
    }
}

/// When an item expires, in whole seconds since the epoch. What says no such time is ignored: another type than a number,
/// a fraction, nothing above zero. (Whether the time is too long ago is for the sweep to see.)
///                                                                             behaviour/tables §time-to-live
pub fn expires(table: &Table, item: &Item) -> Option<i64> {
    match item.get(table.settings.ttl_attribute.as_ref()?)? {
        AttributeValue::N(number) => number.to_i64().filter(|seconds| *seconds > 0),
        _ => None,
    }
}

/// Appends the rows that lead from one entry to the other; answers the index's write units.
fn index_rows(
    index: &Index,
    before: Option<(IndexKey, Item)>,
    after: Option<(IndexKey, Item)>,
    rows: &mut Vec<IndexRow>,
) -> f64 {
    let mut push = |key, write| {
        let write = match (index.status, write) {
            (TableStatus::Creating, RowWrite::Insert(item) | RowWrite::Update(item)) => RowWrite::Set(item),
            (TableStatus::Creating, RowWrite::Delete) => RowWrite::Clear,
            (_, write) => write,
        };
        rows.push(IndexRow {
            index: index.number,
            key,
            write,
        })
    };
    let charge = |item: &Item| units(item.size(), WRITE_UNIT_BYTES);
    match (before, after) {
        (None, None) => 0.0,
        (None, Some((key, item))) => {
            let charged = charge(&item);
            push(key, RowWrite::Insert(item));
            charged
        }
        (Some((key, item)), None) => {
            push(key, RowWrite::Delete);
            charge(&item)
        }
        (Some((old_key, old)), Some((new_key, new))) => match old_key.cmp(&new_key) {
            // An entry that is not filled yet is left to the fill, as it is.
            Ordering::Equal if old == new => 0.0,
            Ordering::Equal => {
                let charged = charge(&old).max(charge(&new));
                push(new_key, RowWrite::Update(new));
                charged
            }
            _ => {
                let charged = charge(&old) + charge(&new);
                push(old_key, RowWrite::Delete);
                push(new_key, RowWrite::Insert(new));
                charged
            }
        },
    }
}

/// The entry that an item has in an index: none unless it holds every key attribute of the index with its type. (An item may
/// hold a value that the index refuses: the index came later.)
pub fn entry(table: &Table, index: &Index, key: &ItemKey, item: &Item) -> Option<(IndexKey, Item)> {
    let values = |keys: &[KeyAttribute]| -> Option<Vec<AttributeValue>> {
        keys.iter()
            .map(|attribute| key_value(item, &attribute.name, attribute.kind))
            .collect()
    };
    let (hash, ranges) = (values(&index.hash)?, values(&index.range)?);
    // What a write would be refused for: the item came before the index.
    if hash.iter().any(|value| encoded_size(value) > HASH_MAX_BYTES)
        || ranges.iter().map(encoded_size).sum::<usize>() > INDEX_RANGES_MAX_BYTES
    {
        return None;
    }
    let ranges = ranges
        .iter()
        .map(|value| {
            let mut encoded = Vec::new();
            encode_scalar(value, &mut encoded);
            encoded
        })
        .collect();
    let hash = encode_hash(&hash);
    let key = IndexKey {
        bucket: hash_bucket(&hash),
        hash: stored_hash(hash),
        ranges,
        pk: key.pk.clone(),
        sk: key.sk.clone(),
    };
    let is_key = |name: &str| table.is_key(name) || index.key_attributes().any(|key| key.name == name);
    let projected = match &index.projection {
        Projected::All => item.clone(),
        Projected::KeysOnly => item.retain(is_key),
        Projected::Include(names) => {
            item.retain(|name| is_key(name) || names.iter().any(|other| other == name))
        }
    };
    Some((key, projected))
}

fn key_value(item: &Item, name: &str, kind: ScalarType) -> Option<AttributeValue> {
    let value = item.get(name)?;
    let empty = match &value {
        AttributeValue::S(text) => text.is_empty(),
        AttributeValue::B(bytes) => bytes.is_empty(),
        _ => false,
    };
    (value.kind() == kind.value_type() && !empty).then_some(value)
}
