//! What a condition means for an item.                          behaviour/expressions §conditions, §functions

use std::{borrow::Cow, cell::OnceCell, cmp::Ordering};

use memchr::memmem;

use crate::item::{AttributeValue, Item, Number};

use super::{
    Attribute, Condition, Operand, Test,
    ast::{Comparator, Step},
};

/// An item during one evaluation: each attribute is decoded when it is first asked for, and once.
struct View<'a> {
    item: Option<&'a Item>,
    roots: &'a [String],
    decoded: Vec<OnceCell<Option<AttributeValue>>>,
}

pub(super) fn holds(condition: &Condition, item: Option<&Item>) -> bool {
    let view = View {
        item,
        roots: &condition.roots,
        decoded: condition.roots.iter().map(|_| OnceCell::new()).collect(),
    };
    let (mut truth, mut next) = (true, 0);
    while let Some(step) = condition.tree.steps.get(next) {
        next += 1;
        match *step {
            Step::Leaf(leaf) => truth = view.test(&condition.tests[leaf]),
            Step::Not => truth = !truth,
            Step::And { end } if !truth => next = end,
            Step::Or { end } if truth => next = end,
            Step::And { .. } | Step::Or { .. } => {}
        }
    }
    truth
}

impl View<'_> {
    fn test(&self, test: &Test) -> bool {
        match test {
            Test::Compare(comparator, left, right) => {
                self.compare(*comparator, self.operand(left), self.operand(right))
            }
            Test::Between(value, lower, upper) => {
                let (Some(value), Some(lower), Some(upper)) =
                    (self.operand(value), self.operand(lower), self.operand(upper))
                else {
                    return false;
                };
                order(&value, &lower).is_some_and(Ordering::is_ge)
                    && order(&value, &upper).is_some_and(Ordering::is_le)
            }
            Test::In(value, candidates) => self.operand(value).is_some_and(|value| {
                candidates
                    .iter()
                    .any(|candidate| self.operand(candidate).as_ref() == Some(&value))
            }),
            Test::Exists(attribute) => self.exists(attribute),
            Test::NotExists(attribute) => !self.exists(attribute),
            Test::Type(attribute, kind) => self.find(attribute).is_some_and(|value| value.kind() == *kind),
            Test::BeginsWith(whole, prefix) => match (self.operand(whole), self.operand(prefix)) {
                (Some(whole), Some(prefix)) => begins_with(&whole, &prefix),
                _ => false,
            },
            Test::Contains(container, part) => match (self.operand(container), self.operand(part)) {
                (Some(container), Some(part)) => contains(&container, &part),
                _ => false,
            },
        }
    }

    fn compare(
        &self,
        comparator: Comparator,
        left: Option<Cow<AttributeValue>>,
        right: Option<Cow<AttributeValue>>,
    ) -> bool {
        let (Some(left), Some(right)) = (left, right) else {
            // Nothing equals what is missing, and everything differs from it.
            return comparator == Comparator::NotEqual;
        };
        let order = || order(&left, &right);
        match comparator {
            Comparator::Equal => left == right,
            Comparator::NotEqual => left != right,
            Comparator::Less => order().is_some_and(Ordering::is_lt),
            Comparator::LessOrEqual => order().is_some_and(Ordering::is_le),
            Comparator::Greater => order().is_some_and(Ordering::is_gt),
            Comparator::GreaterOrEqual => order().is_some_and(Ordering::is_ge),
        }
    }

    /// The value of an operand; `None` where it is missing.
    fn operand<'a>(&'a self, operand: &'a Operand) -> Option<Cow<'a, AttributeValue>> {
        match operand {
            Operand::Path(attribute) => self.find(attribute).map(Cow::Borrowed),
            Operand::Value(value) => Some(Cow::Borrowed(value)),
            Operand::SizeOf(attribute) => {
                let size = size(self.find(attribute)?)?;
                Some(Cow::Owned(AttributeValue::N(size)))
            }
            Operand::Size(size) => Some(Cow::Owned(AttributeValue::N(*size))),
        }
    }

    fn find(&self, attribute: &Attribute) -> Option<&AttributeValue> {
        let root = self.decoded[attribute.root]
            .get_or_init(|| self.item.and_then(|item| item.get(&self.roots[attribute.root])));
        attribute.path.within(root.as_ref()?)
    }

    /// A whole attribute exists or not without being decoded.
    fn exists(&self, attribute: &Attribute) -> bool {
        if attribute.path.is_root() {
            self.item.is_some_and(|item| item.contains(attribute.path.root()))
        } else {
            self.find(attribute).is_some()
        }
    }
}

/// The order of two values of one orderable type: numbers by value, strings and binaries by bytes.
pub(in super::super) fn order(one: &AttributeValue, two: &AttributeValue) -> Option<Ordering> {
    match (one, two) {
        (AttributeValue::S(one), AttributeValue::S(two)) => Some(one.cmp(two)),
        (AttributeValue::N(one), AttributeValue::N(two)) => Some(one.cmp(two)),
        (AttributeValue::B(one), AttributeValue::B(two)) => Some(one.cmp(two)),
        _ => None,
    }
}

/// What `size` answers; numbers, booleans and NULL have no size.
pub(super) fn size(value: &AttributeValue) -> Option<Number> {
    let size = match value {
        // The service counts UTF-16 code units.
        AttributeValue::S(text) => text.encode_utf16().count(),
        AttributeValue::B(bytes) => bytes.len(),
        AttributeValue::Ss(set) => set.len(),
        AttributeValue::Ns(set) => set.len(),
        AttributeValue::Bs(set) => set.len(),
        AttributeValue::L(elements) => elements.len(),
        AttributeValue::M(members) => members.len(),
        AttributeValue::N(_) | AttributeValue::Bool(_) | AttributeValue::Null => return None,
    };
    Some(Number::from(size as u64))
}

fn begins_with(whole: &AttributeValue, prefix: &AttributeValue) -> bool {
    match (whole, prefix) {
        (AttributeValue::S(whole), AttributeValue::S(prefix)) => whole.starts_with(prefix.as_str()),
        (AttributeValue::B(whole), AttributeValue::B(prefix)) => whole.starts_with(prefix),
        _ => false,
    }
}

fn contains(container: &AttributeValue, part: &AttributeValue) -> bool {
    match (container, part) {
        (AttributeValue::S(text), AttributeValue::S(part)) => text.contains(part.as_str()),
        (AttributeValue::B(bytes), AttributeValue::B(part)) => memmem::find(bytes, part).is_some(),
        (AttributeValue::Ss(set), AttributeValue::S(element)) => set.binary_search(element).is_ok(),
        (AttributeValue::Ns(set), AttributeValue::N(element)) => set.binary_search(element).is_ok(),
        (AttributeValue::Bs(set), AttributeValue::B(element)) => set.binary_search(element).is_ok(),
        (AttributeValue::L(elements), part) => elements.contains(part),
        _ => false,
    }
}
