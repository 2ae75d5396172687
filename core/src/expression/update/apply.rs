//! What an update makes of an item.                                                  behaviour/updates §model

use std::collections::{BTreeMap, btree_map::Entry};

use crate::{
    expression::{Element, Path, UpdateFault, tree::Tree},
    item::{AttributeValue, Attributes, Item, Number, NumberError},
};

use super::{
    Update,
    ast::{Action, Operand, Operator, Verb},
};

/// The item before the update, of which only the top-level attributes that the statement reads are decoded.
pub(super) struct Old<'a> {
    item: Option<&'a Item>,
    /// Stands in for an absent item.
    key: &'a Attributes,
    read: BTreeMap<&'a str, Option<AttributeValue>>,
}

impl<'a> Old<'a> {
    pub fn new(item: Option<&'a Item>, key: &'a Attributes, actions: &'a [Action]) -> Old<'a> {
        let mut old = Old {
            item,
            key,
            read: BTreeMap::new(),
        };
        let mut paths = Vec::new();
        for action in actions {
            match &action.verb {
                Verb::Set(operand) => operand.paths(&mut paths),
                Verb::Add(_) | Verb::Delete(_) => paths.push(&action.target),
                Verb::Remove => {}
            }
            if !action.target.is_root() {
                paths.push(&action.target);
            }
        }
        for path in paths {
            if let Entry::Vacant(entry) = old.read.entry(path.root()) {
                let attribute = match item {
                    Some(item) => item.get(path.root()),
                    None => key.get(path.root()).cloned(),
                };
                entry.insert(attribute);
            }
        }
        old
    }

    fn find(&self, path: &Path) -> Option<&AttributeValue> {
        path.within(self.read.get(path.root())?.as_ref()?)
    }

    /// The list or map that holds the target of a nested path.
    fn parent(&self, target: &Path) -> Option<&AttributeValue> {
        let root = self.read.get(target.root())?.as_ref()?;
        target.0[1..target.0.len() - 1]
            .iter()
            .try_fold(root, |value, element| match (value, element) {
                (AttributeValue::M(map), Element::Name(name)) => map.get(name),
                (AttributeValue::L(list), Element::Index(index)) => list.get(*index),
                _ => None,
            })
    }

    /// A whole top-level attribute, read by the statement or not. What was decoded is given away: only once nothing is
    /// evaluated any more.
    fn take(&mut self, name: &str) -> Option<AttributeValue> {
        self.read.remove(name).unwrap_or_else(|| self.attribute(name))
    }

    /// A whole top-level attribute.
    pub fn attribute(&self, name: &str) -> Option<AttributeValue> {
        match self.item {
            Some(item) => item.get(name),
            None => self.key.get(name).cloned(),
        }
    }
}

/// What an action does to its target once its operands are known.
enum Write {
    Put(AttributeValue),
    Remove,
    Keep,
}

/// Top-level attributes as the update leaves them; `None` is gone.
pub(super) type Changes = BTreeMap<String, Option<AttributeValue>>;

/// Every operand is evaluated against the item as it was, then every target is looked at, then all is written at once:
/// the order of sections and actions shows in no result.
pub(super) fn changes(update: &Update, old: &mut Old<'_>) -> Result<Changes, UpdateFault> {
    let mut writes = update
        .actions
        .iter()
        .map(|action| evaluate(action, old))
        .collect::<Result<Vec<_>, _>>()?;
    for action in &update.actions {
        check_parent(&action.target, old)?;
    }
    let mut changes = Changes::new();
    for (root, tree) in &update.trees {
        let before = match tree {
            Tree::End(action) if !matches!(writes[*action], Write::Keep) => None, // replaced whole
            _ => old.take(root),
        };
        changes.insert(root.clone(), write(before, tree, &mut writes));
    }
    for value in changes.values().flatten() {
        if levels(value) > MAX_LEVELS {
            return Err(UpdateFault::Nesting);
        }
    }
    Ok(changes)
}

fn evaluate(action: &Action, old: &Old<'_>) -> Result<Write, UpdateFault> {
    Ok(match &action.verb {
        Verb::Set(operand) => Write::Put(value_of(operand, old)?),
        Verb::Remove => Write::Remove,
        Verb::Add(value) => Write::Put(match old.find(&action.target) {
            None => value.clone(),
            Some(stored) => add(stored, value)?,
        }),
        Verb::Delete(value) => match old.find(&action.target) {
            None => Write::Keep,
            Some(stored) => subtract(stored, value)?.map_or(Write::Remove, Write::Put),
        },
    })
}

fn value_of(operand: &Operand, old: &Old<'_>) -> Result<AttributeValue, UpdateFault> {
    match operand {
        Operand::Value(value) => Ok(value.clone()),
        Operand::Path(path) => old.find(path).cloned().ok_or(UpdateFault::MissingOperand),
        // What is not needed is not evaluated, so it cannot be missing either.
        Operand::IfNotExists { path, otherwise } => match old.find(path) {
            Some(stored) => Ok(stored.clone()),
            None => value_of(otherwise, old),
        },
        Operand::Arithmetic { operator, operands } => {
            let (left, right) = (value_of(&operands[0], old)?, value_of(&operands[1], old)?);
            let (AttributeValue::N(left), AttributeValue::N(right)) = (left, right) else {
                return Err(UpdateFault::OperandType);
            };
            let result = match operator {
                Operator::Plus => left.checked_add(right),
                Operator::Minus => left.checked_sub(right),
            };
            number(result)
        }
        Operand::ListAppend(operands) => {
            let (head, tail) = (value_of(&operands[0], old)?, value_of(&operands[1], old)?);
            let (AttributeValue::L(mut list), AttributeValue::L(mut tail)) = (head, tail) else {
                return Err(UpdateFault::OperandType);
            };
            list.append(&mut tail);
            Ok(AttributeValue::L(list))
        }
    }
}

fn number(result: Result<Number, NumberError>) -> Result<AttributeValue, UpdateFault> {
    match result {
        Ok(number) => Ok(AttributeValue::N(number)),
        Err(NumberError::Overflow) => Err(UpdateFault::NumberOverflow),
        Err(NumberError::Underflow) => Err(UpdateFault::NumberUnderflow),
        Err(NumberError::TooManyDigits | NumberError::Grammar) => Err(UpdateFault::TooManyDigits),
    }
}

/// The sum of two numbers, the union of two sets of one type, or one list after the other.
fn add(stored: &AttributeValue, value: &AttributeValue) -> Result<AttributeValue, UpdateFault> {
    use AttributeValue::{Bs, L, N, Ns, Ss};
    Ok(match (stored, value) {
        (N(stored), N(value)) => number(stored.checked_add(*value))?,
        (Ss(stored), Ss(value)) => Ss(union(stored, value)),
        (Ns(stored), Ns(value)) => Ns(union(stored, value)),
        (Bs(stored), Bs(value)) => Bs(union(stored, value)),
        (L(stored), L(value)) => L([stored.as_slice(), value].concat()),
        _ => return Err(UpdateFault::OperandType),
    })
}

/// The difference of two sets of one type; a set is never empty, so nothing where nothing is left.
fn subtract(stored: &AttributeValue, value: &AttributeValue) -> Result<Option<AttributeValue>, UpdateFault> {
    use AttributeValue::{Bs, Ns, Ss};
    Ok(match (stored, value) {
        (Ss(stored), Ss(value)) => difference(stored, value).map(Ss),
        (Ns(stored), Ns(value)) => difference(stored, value).map(Ns),
        (Bs(stored), Bs(value)) => difference(stored, value).map(Bs),
        _ => return Err(UpdateFault::OperandType),
    })
}

/// Of two sorted sets, sorted.
fn union<T: Ord + Clone>(stored: &[T], value: &[T]) -> Vec<T> {
    let mut members = [stored, value].concat();
    members.sort();
    members.dedup();
    members
}

fn difference<T: Ord + Clone>(stored: &[T], value: &[T]) -> Option<Vec<T>> {
    let left: Vec<T> = stored
        .iter()
        .filter(|member| value.binary_search(member).is_err())
        .cloned()
        .collect();
    (!left.is_empty()).then_some(left)
}

/// No container is ever made: what holds the target must be there, and be of the kind that the last element asks for.
fn check_parent(target: &Path, old: &Old<'_>) -> Result<(), UpdateFault> {
    if target.is_root() {
        return Ok(());
    }
    match (old.parent(target), target.0.last()) {
        (Some(AttributeValue::M(_)), Some(Element::Name(_))) => Ok(()),
        (Some(AttributeValue::L(_)), Some(Element::Index(_))) => Ok(()),
        _ => Err(UpdateFault::InvalidPath),
    }
}

/// Writes at the ends of the tree. List positions are those of the list as it was: what is removed makes room only after
/// all is written, and what lies past the end follows in the order of its indexes.
fn write(value: Option<AttributeValue>, tree: &Tree<usize>, writes: &mut [Write]) -> Option<AttributeValue> {
    match (tree, value) {
        (Tree::End(action), value) => match std::mem::replace(&mut writes[*action], Write::Keep) {
            Write::Put(new) => Some(new),
            Write::Remove => None,
            Write::Keep => value,
        },
        (Tree::Map(children), Some(AttributeValue::M(mut map))) => {
            for (name, child) in children {
                let before = map.remove(name);
                if let Some(new) = write(before, child, writes) {
                    map.insert(name.clone(), new);
                }
            }
            Some(AttributeValue::M(map))
        }
        (Tree::List(children), Some(AttributeValue::L(list))) => {
            let end = list.len();
            let mut packed = Vec::with_capacity(end + children.len());
            for (index, element) in list.into_iter().enumerate() {
                packed.extend(match children.get(&index) {
                    None => Some(element),
                    Some(child) => write(Some(element), child, writes),
                });
            }
            packed.extend(
                children
                    .range(end..)
                    .filter_map(|(_, child)| write(None, child, writes)),
            );
            Some(AttributeValue::L(packed))
        }
        // Another container than the tree's: refused before, by `check_parent`.
        (_, value) => value,
    }
}

/// Levels of lists and maps, their leaf included, that a value may have.
const MAX_LEVELS: usize = 32;

/// 1 for a scalar or a set, and one more for each list or map around it.
fn levels(value: &AttributeValue) -> usize {
    1 + match value {
        AttributeValue::L(list) => list.iter().map(levels).max().unwrap_or(0),
        AttributeValue::M(map) => map.values().map(levels).max().unwrap_or(0),
        _ => 0,
    }
}
