//! Key conditions: the structure a KeyConditionExpression may have, and what it selects in a key schema.
//!                                                                     behaviour/expressions §key-conditions

use crate::{
    item::{AttributeValue, encode_scalar},
    operation::{
        KeyFault,
        keys::{HASH_MAX_BYTES, RANGE_MAX_BYTES, encoded_size, is_empty},
    },
    store::{Bound, SortBounds},
    table::KeyAttribute,
};

use super::{
    Body, Condition, ExpressionFault, Kind, Path,
    condition::{Comparator, Operand, Test},
};

/// Conditions joined by AND, one an attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyCondition {
    /// In text order: attribute, condition.
    pub conditions: Vec<(String, SortCondition)>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SortCondition {
    Equal(AttributeValue),
    Less(AttributeValue),
    LessOrEqual(AttributeValue),
    Greater(AttributeValue),
    GreaterOrEqual(AttributeValue),
    Between(AttributeValue, AttributeValue),
    BeginsWith(AttributeValue),
    /// An operator of KeyConditions that no key takes.
    NotIndexable,
}

/// What a key condition selects: HASH values and bounds on the RANGE columns, encoded.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    pub hash: Vec<AttributeValue>,
    pub sort: SortBounds,
}

impl KeyCondition {
    /// The structure rules, which run after every expression of the request was parsed. Leaves are looked at
    /// from left to right, an OR or NOT before the leaves under it.
    pub fn from_condition(condition: &Condition) -> Result<KeyCondition, ExpressionFault> {
        let mut conditions: Vec<(String, SortCondition)> = vec![];
        for (refused, test) in condition.leaves() {
            let key = match refused {
                Some(operator) => Err(Body::KeyOperator(operator)),
                None => key_test(test),
            };
            let (key, condition) = key.map_err(|body| body.of(Kind::KeyCondition))?;
            if conditions.iter().any(|(known, _)| known == key) {
                return Err(Body::RepeatedKey.of(Kind::KeyCondition));
            }
            conditions.push((key.to_owned(), condition));
        }
        Ok(KeyCondition { conditions })
    }

    /// Against the key schema of the table or index that is queried: the number of conditions, operators that no key takes, the
    /// HASH attributes, the RANGE attributes, the types, empty values.
    pub fn select(&self, hash: &[KeyAttribute], range: &[KeyAttribute]) -> Result<Selection, KeyFault> {
        let keys = hash.len() + range.len();
        if self.conditions.len() > keys {
            return Err(KeyFault::TooManyConditions {
                conditions: self.conditions.len(),
                keys,
            });
        }
        if self
            .conditions
            .iter()
            .any(|(_, condition)| *condition == SortCondition::NotIndexable)
        {
            return Err(KeyFault::ConditionNotIndexable);
        }
        if let ([hash], [] | [_]) = (hash, range) {
            match self.on(hash) {
                None => return Err(KeyFault::ConditionMissing(hash.name.clone())),
                Some(SortCondition::Equal(_)) => {}
                Some(_) => return Err(KeyFault::ConditionNotSupported),
            }
        } else {
            self.check_several(hash, range)?;
        }
        let used = hash
            .iter()
            .chain(range)
            .filter(|key| self.on(key).is_some())
            .count();
        if used < self.conditions.len()
            && let Some(missed) = range.iter().find(|key| self.on(key).is_none())
        {
            return Err(KeyFault::ConditionMissing(missed.name.clone()));
        }
        for key in hash.iter().chain(range) {
            let mut values = self.on(key).into_iter().flat_map(SortCondition::values);
            if values.any(|value| value.kind() != key.kind.value_type()) {
                return Err(KeyFault::ConditionType);
            }
        }
        for key in hash.iter().chain(range) {
            let mut values = self.on(key).into_iter().flat_map(SortCondition::values);
            if values.any(is_empty) {
                return Err(KeyFault::Empty {
                    attribute: key.name.clone(),
                    kind: key.kind.value_type(),
                });
            }
        }
        self.check_sizes(hash, HASH_MAX_BYTES, KeyFault::HashSize)?;
        self.check_sizes(range, RANGE_MAX_BYTES, KeyFault::RangeSize)?;
        let values = hash
            .iter()
            .filter_map(|key| self.on(key)?.values().next().cloned());
        Ok(Selection {
            hash: values.collect(),
            sort: self.bounds(range),
        })
    }

    fn on(&self, key: &KeyAttribute) -> Option<&SortCondition> {
        self.conditions
            .iter()
            .find(|(name, _)| *name == key.name)
            .map(|(_, condition)| condition)
    }

    /// A value that no key can have is refused as in a key (not measured).
    fn check_sizes(&self, keys: &[KeyAttribute], max_bytes: usize, fault: KeyFault) -> Result<(), KeyFault> {
        let mut values = keys
            .iter()
            .filter_map(|key| self.on(key))
            .flat_map(SortCondition::values);
        if values.any(|value| encoded_size(value) > max_bytes) {
            return Err(fault);
        }
        Ok(())
    }

    /// Keys of several attributes: every HASH attribute needs `=`, and so does every RANGE attribute before
    /// the last that has a condition.
    fn check_several(&self, hash: &[KeyAttribute], range: &[KeyAttribute]) -> Result<(), KeyFault> {
        let unequal = |keys: &[KeyAttribute]| -> Vec<String> {
            let keys = keys
                .iter()
                .filter(|key| !matches!(self.on(key), Some(SortCondition::Equal(_))));
            keys.map(|key| key.name.clone()).collect()
        };
        let missing = unequal(hash);
        if !missing.is_empty() {
            return Err(KeyFault::HashNotEqual(missing));
        }
        if let Some(last) = range.iter().rposition(|key| self.on(key).is_some()) {
            let missing = unequal(&range[..last]);
            if !missing.is_empty() {
                return Err(KeyFault::RangeNotEqual {
                    missing,
                    because: range[last].name.clone(),
                });
            }
        }
        Ok(())
    }

    /// The bounds that the conditions on the RANGE attributes amount to; they have no gaps.
    fn bounds(&self, range: &[KeyAttribute]) -> SortBounds {
        let mut bounds = SortBounds::default();
        for condition in range.iter().map_while(|key| self.on(key)) {
            let bound = |value, inclusive| {
                Some(Bound {
                    value: encode(value),
                    inclusive,
                })
            };
            match condition {
                SortCondition::Equal(value) => bounds.equal.push(encode(value)),
                SortCondition::Less(value) => bounds.upper = bound(value, false),
                SortCondition::LessOrEqual(value) => bounds.upper = bound(value, true),
                SortCondition::Greater(value) => bounds.lower = bound(value, false),
                SortCondition::GreaterOrEqual(value) => bounds.lower = bound(value, true),
                SortCondition::Between(lower, upper) => {
                    bounds.lower = bound(lower, true);
                    bounds.upper = bound(upper, true);
                }
                SortCondition::BeginsWith(prefix) => {
                    bounds.lower = bound(prefix, true);
                    bounds.upper = successor(encode(prefix)).map(|value| Bound {
                        value,
                        inclusive: false,
                    });
                }
                SortCondition::NotIndexable => {} // refused by `select`
            }
        }
        bounds
    }
}

impl SortCondition {
    fn values(&self) -> impl Iterator<Item = &AttributeValue> {
        let (first, second) = match self {
            Self::Equal(value)
            | Self::Less(value)
            | Self::LessOrEqual(value)
            | Self::Greater(value)
            | Self::GreaterOrEqual(value)
            | Self::BeginsWith(value) => (Some(value), None),
            Self::Between(lower, upper) => (Some(lower), Some(upper)),
            Self::NotIndexable => (None, None),
        };
        first.into_iter().chain(second)
    }
}

/// One leaf: the attribute, and the condition on it.
fn key_test(test: &Test) -> Result<(&str, SortCondition), Body> {
    let (operator, path_first) = match test {
        Test::Compare(Comparator::NotEqual, ..) => return Err(Body::KeyOperator("<>")),
        Test::In(..) => return Err(Body::KeyOperator("IN")),
        Test::Exists(_) => return Err(Body::KeyOperator("attribute_exists")),
        Test::NotExists(_) => return Err(Body::KeyOperator("attribute_not_exists")),
        Test::Type(..) => return Err(Body::KeyOperator("attribute_type")),
        Test::Contains(..) => return Err(Body::KeyOperator("contains")),
        Test::Compare(..) => ("", false),
        Test::Between(..) => ("BETWEEN", true),
        Test::BeginsWith(..) => ("begins_with", true),
    };
    let operands = test.operands();
    if path_first && !matches!(operands.first(), Some(Operand::Path(_))) {
        return Err(Body::KeyNotFirst(operator));
    }
    let mut key: Option<&Path> = None;
    for operand in operands {
        match operand {
            Operand::Path(_) if key.is_some() => return Err(Body::SeveralKeys),
            Operand::Path(attribute) if !attribute.path.is_root() => return Err(Body::NestedKey),
            Operand::Path(attribute) => key = Some(&attribute.path),
            Operand::SizeOf(_) | Operand::Size(_) => return Err(Body::NestedOperation),
            Operand::Value(_) => {}
        }
    }
    let key = key.ok_or(Body::NoKey)?.root();
    let condition = match test.clone() {
        Test::Compare(comparator, Operand::Path(_), Operand::Value(value)) => compared(comparator, value),
        // `:lo <= sk` is `sk >= :lo`.
        Test::Compare(comparator, Operand::Value(value), Operand::Path(_)) => {
            compared(comparator.swapped(), value)
        }
        Test::Between(_, Operand::Value(lower), Operand::Value(upper)) => {
            Some(SortCondition::Between(lower, upper))
        }
        Test::BeginsWith(_, Operand::Value(prefix)) => Some(SortCondition::BeginsWith(prefix)),
        _ => None,
    };
    Ok((key, condition.ok_or(Body::NoKey)?))
}

fn compared(comparator: Comparator, value: AttributeValue) -> Option<SortCondition> {
    Some(match comparator {
        Comparator::Equal => SortCondition::Equal(value),
        Comparator::NotEqual => return None,
        Comparator::Less => SortCondition::Less(value),
        Comparator::LessOrEqual => SortCondition::LessOrEqual(value),
        Comparator::Greater => SortCondition::Greater(value),
        Comparator::GreaterOrEqual => SortCondition::GreaterOrEqual(value),
    })
}

fn encode(value: &AttributeValue) -> Vec<u8> {
    let mut bytes = vec![];
    encode_scalar(value, &mut bytes);
    bytes
}

/// The first byte string after all that begin with this prefix; none after `FF FF …`.
fn successor(mut prefix: Vec<u8>) -> Option<Vec<u8>> {
    while let Some(last) = prefix.pop() {
        if let Some(next) = last.checked_add(1) {
            prefix.push(next);
            return Some(prefix);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{expression::Placeholders, item::ScalarType};

    fn select(
        text: &str,
        values: &[(&str, AttributeValue)],
        sort: ScalarType,
    ) -> Result<Selection, KeyFault> {
        let values = values
            .iter()
            .map(|(name, value)| (name.to_string(), value.clone()));
        let placeholders = Placeholders::new(Default::default(), values.collect());
        let condition = Condition::parse(Kind::KeyCondition, text, &placeholders, false).unwrap();
        let key = |name: &str, kind| KeyAttribute {
            name: name.into(),
            kind,
        };
        let condition = KeyCondition::from_condition(&condition).unwrap();
        condition.select(&[key("pk", ScalarType::S)], &[key("sk", sort)])
    }

    fn bytes(bytes: &[u8]) -> AttributeValue {
        AttributeValue::B(bytes.into())
    }

    #[test]
    fn a_prefix_is_a_range_up_to_its_successor() {
        let hash = (":p", AttributeValue::S("a".into()));
        let select = |prefix: &[u8]| {
            let values = [hash.clone(), (":s", bytes(prefix))];
            select("begins_with(sk, :s) AND pk = :p", &values, ScalarType::B)
                .unwrap()
                .sort
        };
        let range = |lower: &[u8], upper: Option<&[u8]>| SortBounds {
            equal: vec![],
            lower: Some(Bound {
                value: lower.into(),
                inclusive: true,
            }),
            upper: upper.map(|upper| Bound {
                value: upper.into(),
                inclusive: false,
            }),
        };
        assert_eq!(select(&[1, 2]), range(&[1, 2], Some(&[1, 3])));
        assert_eq!(select(&[1, 0xff, 0xff]), range(&[1, 0xff, 0xff], Some(&[2])));
        assert_eq!(select(&[0xff, 0xff]), range(&[0xff, 0xff], None));
    }

    #[test]
    fn comparisons_are_one_sided() {
        let values = [(":p", AttributeValue::S("a".into())), (":s", bytes(b"s"))];
        let sort = |text: &str| select(text, &values, ScalarType::B).map(|selection| selection.sort);
        let bound = |inclusive| {
            Some(Bound {
                value: b"s".into(),
                inclusive,
            })
        };
        let lower = |inclusive| {
            Ok(SortBounds {
                lower: bound(inclusive),
                ..SortBounds::default()
            })
        };
        let upper = |inclusive| {
            Ok(SortBounds {
                upper: bound(inclusive),
                ..SortBounds::default()
            })
        };
        assert_eq!(sort("pk = :p AND sk > :s"), lower(false));
        assert_eq!(sort("pk = :p AND :s <= sk"), lower(true));
        assert_eq!(sort("pk = :p AND sk < :s"), upper(false));
        assert_eq!(sort(":s >= sk AND :p = pk"), upper(true));
        assert_eq!(
            sort("pk = :p AND sk = :s"),
            Ok(SortBounds {
                equal: vec![b"s".into()],
                ..SortBounds::default()
            })
        );
        assert_eq!(sort("pk = :s"), Err(KeyFault::ConditionType));
        assert_eq!(
            select(
                "pk = :p AND sk = :s",
                &[values[0].clone(), (":s", bytes(b""))],
                ScalarType::B
            ),
            Err(KeyFault::Empty {
                attribute: "sk".into(),
                kind: crate::item::ValueType::B
            })
        );
    }
}
