//! What an update may do to keys and index keys: before the condition by the statement alone, after it by the values
//! that it computed.                                                                       behaviour/updates §keys

use crate::{
    expression::Path,
    item::{AttributeValue, ValueType},
    operation::{
        KeyFault,
        keys::{check_key_path, encoded_size, index_empty, index_size, is_empty},
    },
    table::{Index, KeyAttribute, Table},
    write::INDEX_RANGES_MAX_BYTES,
};

use super::{
    Origin, Update,
    apply::{Changes, Old},
    ast::{Action, Verb},
};

/// What the statement alone says of keys: targets that are keys of the table, supplied values of the wrong type for an
/// index, paths into keys.
pub(super) fn check_targets(update: &Update, table: &Table) -> Result<(), KeyFault> {
    for key in table.key_attributes() {
        if update
            .actions
            .iter()
            .any(|action| action.target.root() == key.name)
        {
            return Err(KeyFault::CannotUpdateKey(key.name.clone()));
        }
    }
    for (index, key) in keys_of(&by_name(table)) {
        if let Some(actual) = writer(update, key).and_then(Action::supplied_type) {
            check_type(index, key, actual)?;
        }
    }
    paths(update)
        .into_iter()
        .try_for_each(|path| check_key_path(table, path))
}

/// Whether a literal for an index key is empty.
pub(super) fn check_literals_not_empty(update: &Update, table: &Table) -> Result<(), KeyFault> {
    for (index, key) in keys_of(&by_name(table)) {
        if let Some(literal) = writer(update, key).and_then(Action::literal) {
            match update.origin {
                Origin::Expression => check_not_empty(literal)?,
                // The text of a whole item, which names the index.
                Origin::Attributes => index_empty(index, key, index.hash.contains(key), literal)?,
            }
        }
    }
    Ok(())
}

/// Whether one is too long.
pub(super) fn check_literal_sizes(update: &Update, table: &Table) -> Result<(), KeyFault> {
    for (index, key) in keys_of(&by_name(table)) {
        if let Some(literal) = writer(update, key).and_then(Action::literal) {
            check_size(index, key, literal)?;
        }
    }
    Ok(())
}

/// What is read and what is written, in text order.
fn paths(update: &Update) -> Vec<&Path> {
    let mut paths = Vec::new();
    for action in &update.actions {
        paths.push(&action.target);
        if let Verb::Set(operand) = &action.verb {
            operand.paths(&mut paths);
        }
    }
    paths
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
        check_type(index, key, value.kind())?;
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
            Some(new) => new.as_ref().map_or(0, encoded_size),
            None => old.attribute(&key.name).as_ref().map_or(0, encoded_size),
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
    let whole = |path: &Path| path.is_root() && path.root() == key.name;
    update.actions.iter().find(|action| whole(&action.target))
}

fn check_type(index: &Index, key: &KeyAttribute, actual: ValueType) -> Result<(), KeyFault> {
    let expected = key.kind.value_type();
    if actual == expected {
        return Ok(());
    }
    Err(KeyFault::IndexType {
        attribute: key.name.clone(),
        expected,
        actual,
        index: index.name.clone(),
    })
}

fn check_not_empty(value: &AttributeValue) -> Result<(), KeyFault> {
    if is_empty(value) {
        Err(KeyFault::IndexEmptyUpdate { kind: value.kind() })
    } else {
        Ok(())
    }
}

fn check_size(index: &Index, key: &KeyAttribute, value: &AttributeValue) -> Result<(), KeyFault> {
    index_size(index, key, index.hash.contains(key), value)
}
