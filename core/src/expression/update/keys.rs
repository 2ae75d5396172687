//! What an update may do to keys and index keys: before the condition by the statement alone, after it by the values
//! that it computed.                                                                       behaviour/updates §keys

use crate::{
    expression::Path,
    item::{AttributeValue, ValueType},
    operation::{
        KeyFault,
        keys::{HASH_MAX_BYTES, RANGE_MAX_BYTES},
    },
    table::{Index, KeyAttribute, Table},
    write::INDEX_RANGES_MAX_BYTES,
};

use super::{
    Update,
    apply::{Changes, Old},
    ast::{Action, Verb},
};

/// The statement alone. Types of all index keys come before the paths, and those before what is empty.
pub(super) fn check_statement(update: &Update, table: &Table) -> Result<(), KeyFault> {
    for key in table.key_attributes() {
        if update
            .actions
            .iter()
            .any(|action| action.target.root() == key.name)
        {
            return Err(KeyFault::CannotUpdateKey(key.name.clone()));
        }
    }
    let indexes = by_name(table);
    for (index, key) in keys_of(&indexes) {
        if let Some(actual) = writer(update, key).and_then(Action::supplied_type)
            && actual != key.kind.value_type()
        {
            return Err(wrong_type(index, key, actual));
        }
    }
    check_paths(update, table)?;
    for (_, key) in keys_of(&indexes) {
        if let Some(literal) = writer(update, key).and_then(Action::literal) {
            check_not_empty(literal)?;
        }
    }
    for (index, key) in keys_of(&indexes) {
        if let Some(literal) = writer(update, key).and_then(Action::literal) {
            check_size(index, key, literal)?;
        }
    }
    Ok(())
}

/// Keys are scalars: no path, read or written, goes into one.
fn check_paths(update: &Update, table: &Table) -> Result<(), KeyFault> {
    for action in &update.actions {
        let mut paths = vec![&action.target];
        if let Verb::Set(operand) = &action.verb {
            operand.paths(&mut paths);
        }
        for path in paths.into_iter().filter(|path| path.0.len() > 1) {
            let attribute = path.root();
            if table.is_key(attribute) {
                return Err(KeyFault::KeyPath {
                    attribute: attribute.to_owned(),
                    index: false,
                });
            }
            if table
                .indexes
                .iter()
                .flat_map(Index::key_attributes)
                .any(|key| key.name == attribute)
            {
                return Err(KeyFault::KeyPath {
                    attribute: attribute.to_owned(),
                    index: true,
                });
            }
        }
    }
    Ok(())
}

/// The index keys that the update changed, as it left them. A bad value that was there before and stays is nobody's fault:
/// its item is merely not in the index.
pub(super) fn check_result(table: &Table, old: &Old<'_>, changes: &Changes) -> Result<(), KeyFault> {
    let changed = |key: &KeyAttribute| -> Option<&AttributeValue> {
        let new = changes.get(&key.name)?.as_ref()?;
        (old.attribute(&key.name).as_ref() != Some(new)).then_some(new)
    };
    let indexes = by_name(table);
    let written: Vec<_> = keys_of(&indexes)
        .filter_map(|(index, key)| Some((index, key, changed(key)?)))
        .collect();
    for (index, key, value) in &written {
        if value.kind() != key.kind.value_type() {
            return Err(wrong_type(index, key, value.kind()));
        }
    }
    for (_, _, value) in &written {
        check_not_empty(value)?;
    }
    for (index, key, value) in &written {
        check_size(index, key, value)?;
    }
    // The RANGE values of one index share their limit as well.
    for index in indexes {
        if index.range.iter().all(|key| changed(key).is_none()) {
            continue;
        }
        let bytes = |key: &KeyAttribute| match changes.get(&key.name) {
            Some(new) => new.as_ref().map_or(0, limited_bytes),
            None => old.attribute(&key.name).as_ref().map_or(0, limited_bytes),
        };
        if index.range.iter().map(bytes).sum::<usize>() > INDEX_RANGES_MAX_BYTES {
            return Err(KeyFault::RangeSize);
        }
    }
    Ok(())
}

/// Of several indexes at fault the alphabetically first is named.
fn by_name(table: &Table) -> Vec<&Index> {
    let mut indexes: Vec<&Index> = table.indexes.iter().collect();
    indexes.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    indexes
}

fn keys_of<'a>(indexes: &[&'a Index]) -> impl Iterator<Item = (&'a Index, &'a KeyAttribute)> {
    indexes
        .iter()
        .flat_map(|index| index.key_attributes().map(move |key| (*index, key)))
}

/// The action that writes the whole attribute.
fn writer<'a>(update: &'a Update, key: &KeyAttribute) -> Option<&'a Action> {
    let whole = |path: &Path| path.0.len() == 1 && path.root() == key.name;
    update.actions.iter().find(|action| whole(&action.target))
}

fn wrong_type(index: &Index, key: &KeyAttribute, actual: ValueType) -> KeyFault {
    let (attribute, index) = (key.name.clone(), index.name.clone());
    KeyFault::IndexType {
        attribute,
        expected: key.kind.value_type(),
        actual,
        index,
    }
}

fn check_not_empty(value: &AttributeValue) -> Result<(), KeyFault> {
    match value {
        AttributeValue::S(text) if text.is_empty() => Err(KeyFault::IndexEmptyUpdate { kind: ValueType::S }),
        AttributeValue::B(bytes) if bytes.is_empty() => {
            Err(KeyFault::IndexEmptyUpdate { kind: ValueType::B })
        }
        _ => Ok(()),
    }
}

fn check_size(index: &Index, key: &KeyAttribute, value: &AttributeValue) -> Result<(), KeyFault> {
    let max_bytes = if index.hash.contains(key) {
        HASH_MAX_BYTES
    } else {
        RANGE_MAX_BYTES
    };
    let bytes = limited_bytes(value);
    if bytes > max_bytes {
        let (attribute, index) = (key.name.clone(), index.name.clone());
        return Err(KeyFault::IndexSize {
            attribute,
            bytes,
            max_bytes,
            index,
        });
    }
    Ok(())
}

/// The bytes of a key value as the limits count them; a number never reaches them.
fn limited_bytes(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::B(bytes) => bytes.len(),
        _ => 0,
    }
}
