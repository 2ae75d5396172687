//! DynamoDB's sizes in bytes, and how deep values nest.                     behaviour/items §sizes, §nesting

use super::{AttributeValue, Attributes};

/// The bytes that a list or a map takes beyond its members, and that each member takes beyond itself.
pub(super) const CONTAINER_BYTES: usize = 3;
pub(super) const MEMBER_BYTES: usize = 1;

pub fn value_size(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::N(number) => number.size(),
        AttributeValue::B(bytes) => bytes.len(),
        AttributeValue::Bool(_) | AttributeValue::Null => 1,
        AttributeValue::Ss(members) => members.iter().map(String::len).sum(),
        AttributeValue::Ns(members) => members.iter().map(|n| n.size()).sum(),
        AttributeValue::Bs(members) => members.iter().map(Vec::len).sum(),
        AttributeValue::L(elements) => {
            CONTAINER_BYTES
                + elements
                    .iter()
                    .map(|v| MEMBER_BYTES + value_size(v))
                    .sum::<usize>()
        }
        AttributeValue::M(members) => {
            CONTAINER_BYTES + MEMBER_BYTES * members.len() + attributes_size(members)
        }
    }
}

/// The size of an item: names and values, no overhead.
pub fn attributes_size(attributes: &Attributes) -> usize {
    attributes
        .iter()
        .map(|(name, value)| name.len() + value_size(value))
        .sum()
}

/// The level of the deepest value inside, where the value itself is level 1 and each list or map adds one.
pub fn value_depth(value: &AttributeValue) -> usize {
    1 + match value {
        AttributeValue::L(elements) => elements.iter().map(value_depth).max().unwrap_or(0),
        AttributeValue::M(members) => members.values().map(value_depth).max().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Number, *};
    use AttributeValue::{B, Bool, Bs, L, M, N, Ns, Null, S, Ss};

    #[test]
    fn every_type_has_its_size() {
        let one = Number::ONE;
        for (value, size) in [
            (S("".into()), 0),
            (S("aä€😀".into()), 10),
            (N(one), 2),
            (B(vec![]), 0),
            (B(vec![0; 5]), 5),
            (Bool(false), 1),
            (Null, 1),
            (Ss(vec!["".into(), "ab".into(), "c".into()]), 3),
            (Ns(vec![Number::ZERO, one]), 3),
            (Bs(vec![vec![1], vec![1, 2]]), 3),
            (L(vec![]), 3),
            (L(vec![S("aa".into()), Null]), 3 + 3 + 2),
            (M(Attributes::new()), 3),
            (
                M(Attributes::from([("ab".into(), Null), ("c".into(), L(vec![]))])),
                3 + (2 + 1 + 1) + (1 + 1 + 3),
            ),
        ] {
            assert_eq!(value_size(&value), size, "{value:?}");
        }
    }

    #[test]
    fn items_have_no_overhead() {
        let item = Attributes::from([("pk".into(), S("k".into())), ("n".into(), N(Number::ONE))]);
        assert_eq!(attributes_size(&item), 2 + 1 + 1 + 2);
        // Measured: 1,500 of these and a key are 5 write units, 130,000 are 381.
        let list = |count| value_size(&L(vec![S("aa".into()); count])) + "pk".len() + "k".len();
        assert_eq!(list(1_500).div_ceil(1_024), 5);
        assert_eq!(list(130_000).div_ceil(1_024), 381);
        assert!(list(150_000) > 409_600);
    }

    #[test]
    fn a_leaf_inside_31_lists_is_level_32() {
        let nested = |lists| (0..lists).fold(S("leaf".into()), |inner, _| L(vec![Null, inner]));
        assert_eq!(value_depth(&nested(0)), 1);
        assert_eq!(value_depth(&nested(31)), 32);
        assert_eq!(value_depth(&L(vec![])), 1);
        assert_eq!(
            value_depth(&M(Attributes::from([("a".into(), Ss(vec!["b".into()]))]))),
            2
        );
    }
}
