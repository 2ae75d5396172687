use proptest::{prelude::*, sample::Index};

use super::*;
use crate::item::{Number, attributes_size, write_attributes};
use AttributeValue::{B, Bool, Bs, L, M, N, Ns, Null, S, Ss};

fn item(bytes: &[u8]) -> Result<Item, Corrupt> {
    Item::from_bytes(bytes.into())
}

fn attributes<const N: usize>(members: [(&str, AttributeValue); N]) -> Attributes {
    members.map(|(name, value)| (name.to_string(), value)).into()
}

#[test]
fn the_form_is_fixed() {
    let one_of_each = attributes([("a", S("xy".into())), ("bc", Null)]);
    let bytes = [
        &[1, 0, 0, 0, 6, 0, 2][..], // version, size 1 + 2 + 2 + 1, two attributes
        &[0, 1, 0, 0, 0, 3, 0, 4],  // "a" ends at 1, its value begins at 0; "bc" at 3 and 4
        b"abc",
        b"\x04\x02xy\x00",
    ]
    .concat();
    let encoded = Item::encode(&one_of_each);
    assert_eq!(encoded.as_bytes(), bytes);
    assert_eq!(encoded.size(), 6);
    assert_eq!(item(&bytes), Ok(encoded));

    let empty = Item::encode(&Attributes::new());
    assert_eq!(empty.as_bytes(), [1, 0, 0, 0, 0, 0, 0]);
    assert!(empty.is_empty());
    assert_eq!(item(empty.as_bytes()), Ok(empty));
}

#[test]
fn values_of_every_type_have_their_bytes() {
    for (value, bytes) in [
        (Null, &[0][..]),
        (Bool(false), &[1]),
        (Bool(true), &[2]),
        (N(Number::ONE), &[3, 2, 130, 11, 0]),
        (S("é".into()), &[4, 2, 0xc3, 0xa9]),
        (B(vec![7; 128]), &[&[5, 0x80, 1][..], &[7; 128]].concat()),
        (Ss(vec!["".into(), "a".into()]), &[6, 0, 0, 0, 3, 0, 1, b'a']),
        (
            Ns(vec![Number::ZERO, Number::ONE]),
            &[7, 0, 0, 0, 5, 1, 2, 130, 11, 0],
        ),
        (Bs(vec![vec![1]]), &[8, 0, 0, 0, 2, 1, 1]),
        (L(vec![Null, L(vec![])]), &[9, 0, 0, 0, 6, 0, 9, 0, 0, 0, 0]),
        (M(attributes([("k", Bool(true))])), &[10, 0, 0, 0, 3, 1, b'k', 2]),
    ] {
        let mut written = Vec::new();
        value::write(&value, &mut written);
        assert_eq!(written, bytes, "{value:?}");
        assert_eq!(value::length(&value), bytes.len(), "{value:?}");
    }
}

#[test]
fn large_values_stand_last() {
    let large = S("L".repeat(LARGE_BYTES));
    let encoded = Item::encode(&attributes([
        ("a", large.clone()),
        ("b", S("small".into())),
        ("c", large),
    ]));
    let at = |what: &[u8]| {
        encoded
            .as_bytes()
            .windows(what.len())
            .position(|window| window == what)
            .unwrap()
    };
    assert!(at(b"small") < at(b"LLL"));
    assert_eq!(item(encoded.as_bytes()), Ok(encoded));
}

#[test]
fn long_items_take_the_wide_form() {
    for length in [65_000, 65_536, 400_000] {
        let long = attributes([("a", B(vec![1; length])), ("b", Bool(true))]);
        let encoded = Item::encode(&long);
        assert_eq!(encoded.as_bytes()[0] & WIDE != 0, length > 65_535);
        assert_eq!(encoded.get("b"), Some(Bool(true)));
        assert_eq!(encoded.size(), length + 3);
        assert_eq!(
            item(encoded.as_bytes()).map(|read| read.to_attributes()),
            Ok(long)
        );
        // Back to the narrow form when the long value goes.
        let short = encoded.retain(|name| name == "b");
        assert_eq!(short, Item::encode(&attributes([("b", Bool(true))])));
    }
}

#[test]
fn bytes_that_are_no_canonical_form_are_refused() {
    let head = |size: u8, count: u8| vec![1, 0, 0, 0, size, 0, count];
    let one = |size: u8, value: &[u8]| [&head(size, 1)[..], &[0, 1, 0, 0], b"a", value].concat();
    assert!(item(&one(2, &[0])).is_ok());
    for (why, bytes) in [
        ("empty", vec![]),
        ("version", [&[2], &head(0, 0)[1..]].concat()),
        ("size", one(3, &[0])),
        ("trailing byte", one(2, &[0, 0])),
        ("tag", one(2, &[11])),
        ("length not shortest", one(2, &[4, 0x81, 0x00, b'x'])),
        ("length past the end", one(2, &[4, 2, b'x'])),
        ("length without end", one(2, &[4, 0xff, 0xff, 0xff, 0xff, 0xff])),
        ("text not UTF-8", one(2, &[4, 1, 0xff])),
        ("number", one(3, &[3, 2, 130, 5, 0])),
        ("empty set", one(1, &[6, 0, 0, 0, 0])),
        ("set not sorted", one(3, &[6, 0, 0, 0, 4, 1, b'b', 1, b'a'])),
        ("duplicate member", one(3, &[6, 0, 0, 0, 4, 1, b'a', 1, b'a'])),
        ("set member not UTF-8", one(2, &[6, 0, 0, 0, 2, 1, 0xff])),
        ("numbers not sorted", one(4, &[7, 0, 0, 0, 5, 2, 130, 11, 0, 1])),
        (
            "map names not sorted",
            one(11, &[10, 0, 0, 0, 6, 1, b'b', 0, 1, b'a', 0]),
        ),
        ("map name not UTF-8", one(7, &[10, 0, 0, 0, 3, 1, 0xff, 0])),
        ("half a member", one(6, &[10, 0, 0, 0, 2, 1, b'a'])),
        ("wide where narrow is enough", vec![0x81, 0, 0, 0, 0, 0, 0, 0, 0]),
        (
            "names not sorted",
            [&head(4, 2)[..], &[0, 1, 0, 0, 0, 2, 0, 1], b"ba", &[0, 0]].concat(),
        ),
        (
            "the same name twice",
            [&head(4, 2)[..], &[0, 1, 0, 0, 0, 2, 0, 1], b"aa", &[0, 0]].concat(),
        ),
        (
            "name not UTF-8",
            [&head(2, 1)[..], &[0, 1, 0, 0], &[0xff], &[0]].concat(),
        ),
        (
            "values shared",
            [&head(4, 2)[..], &[0, 1, 0, 0, 0, 2, 0, 0], b"ab", &[0]].concat(),
        ),
        (
            "values out of order",
            [&head(4, 2)[..], &[0, 1, 0, 1, 0, 2, 0, 0], b"ab", &[0, 1]].concat(),
        ),
        (
            "gap",
            [&head(4, 2)[..], &[0, 1, 0, 0, 0, 2, 0, 2], b"ab", &[0, 0, 0]].concat(),
        ),
        (
            "more attributes than bytes",
            vec![0x81, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff],
        ),
    ] {
        assert_eq!(item(&bytes), Err(Corrupt), "{why}");
    }
}

#[test]
fn levels_are_bounded() {
    let nested = |levels| (1..levels).fold(Null, |inner, _| L(vec![inner]));
    for (levels, fine) in [(31, true), (32, true), (33, false), (300, false)] {
        let encoded = Item::encode(&attributes([("a", nested(levels))]));
        assert_eq!(item(encoded.as_bytes()).is_ok(), fine, "{levels}");
    }
}

#[test]
fn equality_knows_no_spelling() {
    let item = |text: &str| Item::encode(&attributes([("n", N(text.parse().unwrap()))]));
    assert_eq!(item("1.0"), item("+01e0"));
    assert_ne!(item("1"), item("-1"));
}

fn any_value() -> impl Strategy<Value = AttributeValue> {
    let number = (any::<i64>(), -140..100i32).prop_filter_map("range", |(digits, exponent)| {
        Number::parse(&format!("{digits}e{exponent}")).ok()
    });
    let bytes = prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 0..6),
        1 => (100..1_500usize).prop_map(|length| vec![7; length]),
        1 => (65_000..66_000usize).prop_map(|length| vec![7; length]),
    ];
    let text =
        prop_oneof![5 => any::<String>(), 1 => (100..1_500usize).prop_map(|length| "é".repeat(length))];
    let leaf = prop_oneof![
        text.prop_map(S),
        number.clone().prop_map(N),
        bytes.prop_map(B),
        any::<bool>().prop_map(Bool),
        Just(Null),
        prop::collection::btree_set("[a-c]{0,2}", 1..5).prop_map(|set| Ss(set.into_iter().collect())),
        prop::collection::btree_set(number, 1..5).prop_map(|set| Ns(set.into_iter().collect())),
        prop::collection::btree_set(any::<[u8; 2]>(), 1..5)
            .prop_map(|set| Bs(set.into_iter().map(Vec::from).collect())),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(L),
            prop::collection::btree_map("[a-z\0é]{1,3}", inner, 0..5).prop_map(M),
        ]
    })
}

pub fn any_attributes() -> impl Strategy<Value = Attributes> {
    prop::collection::btree_map("[a-f\0é]{1,2}", any_value(), 0..8)
}

proptest! {
    #[test]
    fn items_read_back(attributes in any_attributes()) {
        let encoded = Item::encode(&attributes);
        prop_assert_eq!(item(encoded.as_bytes()), Ok(encoded.clone()));
        prop_assert_eq!(encoded.to_attributes(), attributes.clone());
        prop_assert_eq!(encoded.size(), attributes_size(&attributes));
        prop_assert_eq!(Item::size_of_prefix(&encoded.as_bytes()[..5]), Some(encoded.size()));
        prop_assert_eq!(encoded.is_empty(), attributes.is_empty());
        prop_assert!(encoded.names().eq(attributes.keys()));
        for (name, value) in &attributes {
            prop_assert_eq!(encoded.get(name), Some(value.clone()));
            prop_assert_eq!(encoded.get_kind(name), Some(value.kind()));
            prop_assert!(encoded.contains(name));
            let before = format!("{name}\0");
            prop_assert_eq!(encoded.contains(&before), attributes.contains_key(&before));
        }
        prop_assert_eq!(encoded.get(""), None);
        let mut json = String::new();
        write_attributes(&attributes, &mut json);
        prop_assert_eq!(format!("{encoded:?}"), json);
    }

    #[test]
    fn equal_items_are_the_same_bytes(a in any_attributes(), b in any_attributes()) {
        prop_assert_eq!(Item::encode(&a) == Item::encode(&b), a == b);
    }

    #[test]
    fn with_and_retain_agree_with_a_map(
        attributes in any_attributes(),
        changes in prop::collection::btree_map("[a-f\0é]{1,2}", prop::option::of(any_value()), 0..6),
        kept in prop::collection::btree_set("[a-f]{1,2}", 0..20),
    ) {
        let encoded = Item::encode(&attributes);
        let mut changed = attributes.clone();
        for (name, value) in &changes {
            match value {
                Some(value) => changed.insert(name.clone(), value.clone()),
                None => changed.remove(name),
            };
        }
        prop_assert_eq!(encoded.with(&changes), Item::encode(&changed));
        let retained = encoded.retain(|name| kept.contains(name));
        changed = attributes;
        changed.retain(|name, _| kept.contains(name));
        prop_assert_eq!(retained, Item::encode(&changed));
    }

    /// Whatever is accepted is the one form of what it says.
    #[test]
    fn damaged_bytes_are_refused_or_canonical(
        attributes in any_attributes(),
        damage in prop::collection::vec((any::<Index>(), any::<u8>(), 0..4u8), 1..4),
    ) {
        let mut bytes = Item::encode(&attributes).into_bytes().into_vec();
        for (at, byte, kind) in damage {
            match kind {
                0 if !bytes.is_empty() => { let at = at.index(bytes.len()); bytes[at] = byte; }
                1 if !bytes.is_empty() => { let at = at.index(bytes.len().min(40)); bytes[at] ^= 1 << (byte % 8); }
                2 => bytes.truncate(at.index(bytes.len() + 1)),
                _ => bytes.insert(at.index(bytes.len() + 1), byte),
            }
        }
        if let Ok(read) = item(&bytes) {
            prop_assert_eq!(Item::encode(&read.to_attributes()), read);
        }
    }

    #[test]
    fn arbitrary_bytes_are_refused_or_canonical(
        tail in prop::collection::vec(prop_oneof![3 => 0..12u8, 1 => any::<u8>()], 0..60),
        wide in any::<bool>(),
    ) {
        for bytes in [tail.clone(), [&[if wide { 0x81 } else { 1 }, 0, 0, 0][..], &tail].concat()] {
            if let Ok(read) = item(&bytes) {
                prop_assert_eq!(Item::encode(&read.to_attributes()), read);
            }
        }
    }
}
