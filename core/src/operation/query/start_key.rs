//! ExclusiveStartKey and LastEvaluatedKey: places in the order of a table or index.
//!                                                                            behaviour/operations §start-keys

use crate::{
    error::{Error, Fault},
    expression::Selection,
    item::{AttributeValue, Attributes, Item, encode_hash, encode_scalar, hash_bucket, stored_hash},
    operation::{KeyFault, keys},
    store::Position,
};

use super::source::Source;

/// A start key that has the shape of its source's keys.
#[derive(Debug)]
pub struct StartKey {
    pub position: Position,
    hash: Vec<AttributeValue>,
}

/// What a start key that does not have the shape of its source's keys is told.
#[derive(Clone, Copy, Debug)]
pub enum ShapeTexts {
    Query,
    /// A wrong type names an index, on tables that have any.
    Scan,
    /// On the old layer what is wrong with the table's key is a matter of the schema.
    OldScan,
}

impl StartKey {
    pub fn new(key: &Attributes, source: &Source<'_>, texts: ShapeTexts) -> Result<StartKey, KeyFault> {
        let attributes = source.start_key_attributes();
        let shape_fault = || {
            let has_table_key = source.table.key_attributes().all(|attribute| {
                let value = key.get(&attribute.name).map(AttributeValue::kind);
                value == Some(attribute.kind.value_type())
            });
            match texts {
                ShapeTexts::OldScan if source.index.is_none() || !has_table_key => KeyFault::StartKeySchema,
                _ => KeyFault::StartKey,
            }
        };
        if key.len() != attributes.len()
            || !attributes
                .iter()
                .all(|attribute| key.contains_key(&attribute.name))
        {
            return Err(shape_fault());
        }
        for attribute in attributes {
            let Some(actual) = key.get(&attribute.name).map(AttributeValue::kind) else {
                continue;
            };
            let expected = attribute.kind.value_type();
            if actual == expected {
                continue;
            }
            let first = || {
                let global = source.table.global_indexes().next();
                global.or_else(|| source.table.local_indexes().next())
            };
            return Err(match (texts, source.index.or_else(first)) {
                (ShapeTexts::Scan | ShapeTexts::OldScan, Some(index)) => KeyFault::IndexType {
                    attribute: attribute.name.clone(),
                    expected,
                    actual,
                    index: index.name.clone(),
                },
                _ => shape_fault(),
            });
        }
        let base = keys::key_of_item(source.table, key, keys::KeyTexts::Schema)?;
        let hash: Vec<AttributeValue> = source
            .hash()
            .iter()
            .filter_map(|k| key.get(&k.name))
            .cloned()
            .collect();
        let position = match source.index {
            None => Position {
                bucket: base.bucket,
                hash: base.pk,
                rest: vec![base.sk],
            },
            Some(_) => {
                let encoded = encode_hash(&hash);
                let ranges = source
                    .range()
                    .iter()
                    .filter_map(|k| key.get(&k.name))
                    .map(encoded_scalar);
                let rest = ranges.chain([base.pk, base.sk]).collect();
                Position {
                    bucket: hash_bucket(&encoded),
                    hash: stored_hash(encoded),
                    rest,
                }
            }
        };
        Ok(StartKey { position, hash })
    }

    /// Whether a query with this selection could have ended there.
    pub fn check_selection(&self, selection: &Selection, source: &Source<'_>) -> Result<(), KeyFault> {
        let last = selection.hash.len().saturating_sub(1);
        let differs = |place: usize| selection.hash.get(place) != self.hash.get(place);
        if (0..last).any(differs) {
            return Err(KeyFault::StartKeyRestart);
        }
        let has_range_condition = !selection.sort.is_open();
        if has_range_condition && !selection.sort.contains(&self.position.rest) {
            return Err(KeyFault::StartKeyRange);
        }
        if !differs(last) {
            return Ok(());
        }
        Err(if has_range_condition {
            KeyFault::StartKeyRestart
        } else if source.index.is_none() && source.table.range.is_none() {
            KeyFault::StartKeyExclusive
        } else {
            KeyFault::StartKeyOutside
        })
    }
}

fn encoded_scalar(value: &AttributeValue) -> Vec<u8> {
    let mut encoded = Vec::new();
    encode_scalar(value, &mut encoded);
    encoded
}

/// The key of the last row of a page: the row holds all keys. Where it does not, somebody wrote it past the engine, and a
/// page that named no place to go on from would look like the last one.
pub fn last_evaluated_key(row: &Item, source: &Source<'_>) -> Result<Attributes, Error> {
    let attributes = source.start_key_attributes();
    attributes
        .iter()
        .map(|key| match row.get(&key.name) {
            Some(value) => Ok((key.name.clone(), value)),
            None => Err(Fault::Internal(format!("a stored item without its key {}", key.name)).into()),
        })
        .collect()
}
