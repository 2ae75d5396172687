//! Keys as stores keep them: byte order = DynamoDB order.                               behaviour/items §keys

use sha2::{Digest, Sha256};

use crate::table::{Table, TableId};

use super::{AttributeValue, Item};

/// The primary key of an item, encoded. Ordered as a scan runs: bucket, then pk, then sk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemKey {
    pub table: TableId,
    pub bucket: i32,
    /// The HASH value: verbatim up to 64 bytes, else 65 bytes ([`stored_hash`]). Serves equality only.
    pub pk: Vec<u8>,
    /// The RANGE value whole; empty where the table has none.
    pub sk: Vec<u8>,
}

/// The key of an index entry: the index's own values, then the key of the item it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexKey {
    pub bucket: i32,
    pub hash: Vec<u8>,
    /// One a RANGE attribute of the index, in its order.
    pub ranges: Vec<Vec<u8>>,
    pub pk: Vec<u8>,
    pub sk: Vec<u8>,
}

impl ItemKey {
    /// The key of a stored item, or of the item that an index entry belongs to: either holds it. `None` where it doesn't,
    /// so that it is not of this table.
    pub fn of_stored(table: &Table, stored: &Item) -> Option<ItemKey> {
        let hash = encode_hash([&stored.get(&table.hash.name)?]);
        let mut sk = Vec::new();
        if let Some(range) = &table.range {
            encode_scalar(&stored.get(&range.name)?, &mut sk);
        }
        Some(ItemKey {
            table: table.id,
            bucket: hash_bucket(&hash),
            pk: stored_hash(hash),
            sk,
        })
    }
}

/// The longest HASH value that stands verbatim, and how much of a longer one does.
const VERBATIM_BYTES: usize = 64;
const PREFIX_BYTES: usize = 32;

/// Appends the encoding of a key value (S, N or B; others are refused where keys are checked, and add nothing).
pub fn encode_scalar(value: &AttributeValue, out: &mut Vec<u8>) {
    match value {
        AttributeValue::S(text) => out.extend_from_slice(text.as_bytes()),
        AttributeValue::B(bytes) => out.extend_from_slice(bytes),
        AttributeValue::N(number) => number.encode(out),
        _ => debug_assert!(false, "a key value is S, N or B"),
    }
}

/// The encoding of the HASH part: one value as it is; several each with its end marked, so that no two lists meet.
pub fn encode_hash<'a>(values: impl IntoIterator<Item = &'a AttributeValue>) -> Vec<u8> {
    let mut values = values.into_iter().peekable();
    let mut encoded = Vec::new();
    let Some(first) = values.next() else {
        return encoded;
    };
    if values.peek().is_none() {
        encode_scalar(first, &mut encoded);
        return encoded;
    }
    for value in std::iter::once(first).chain(values) {
        match value {
            AttributeValue::S(text) => encode_marked(text.as_bytes(), &mut encoded),
            AttributeValue::B(bytes) => encode_marked(bytes, &mut encoded),
            // A number marks its own end.
            other => encode_scalar(other, &mut encoded),
        }
    }
    encoded
}

/// `00` becomes `00 FF`, and `00 01` is the end: the order of the values is kept.
fn encode_marked(bytes: &[u8], out: &mut Vec<u8>) {
    for &byte in bytes {
        out.push(byte);
        if byte == 0 {
            out.push(0xff);
        }
    }
    out.extend_from_slice(&[0, 1]);
}

/// The bucket of an encoded HASH value: the first four bytes of its SHA-256, sign bit flipped. The same for ever, on every store.
pub fn hash_bucket(encoded: &[u8]) -> i32 {
    let hash = Sha256::digest(encoded);
    // Flipped, so that the order of the signed buckets is the order of the hashes.
    (u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]) ^ 0x8000_0000) as i32
}

/// An encoded HASH value as it stands in a store: itself up to 64 bytes, else its first 32 bytes, its SHA-256
/// and one byte more, a length that no verbatim value has.
pub fn stored_hash(mut encoded: Vec<u8>) -> Vec<u8> {
    if encoded.len() > VERBATIM_BYTES {
        let hash = Sha256::digest(&encoded);
        encoded.truncate(PREFIX_BYTES);
        encoded.extend_from_slice(&hash);
        encoded.push(0);
    }
    encoded
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use AttributeValue::{B, N, S};

    fn s(text: &str) -> AttributeValue {
        S(text.into())
    }

    fn n(text: &str) -> AttributeValue {
        N(text.parse().unwrap())
    }

    #[test]
    fn one_value_stands_as_it_is() {
        assert_eq!(encode_hash([&s("a\0b")]), b"a\0b");
        assert_eq!(encode_hash([&B(vec![0, 255])]), [0, 255]);
        assert_eq!(encode_hash([&n("1")]), [2, 130, 11, 0]);
    }

    #[test]
    fn several_values_have_their_ends_marked() {
        assert_eq!(
            encode_hash([&s("a\0b"), &n("0"), &B(vec![])]),
            b"a\0\xffb\0\x01\x01\0\x01"
        );
        assert_ne!(encode_hash([&s("ab"), &s("c")]), encode_hash([&s("a"), &s("bc")]));
    }

    #[test]
    fn buckets_are_fixed_for_ever() {
        // SHA-256 of "" begins e3b0c442, of "abc" ba7816bf, of "a" ca978112, of "hello" 2cf24dba.
        assert_eq!(hash_bucket(b""), 0x63b0_c442);
        assert_eq!(hash_bucket(b"abc"), 0x3a78_16bf);
        assert_eq!(hash_bucket(b"a"), 0x4a97_8112);
        assert_eq!(hash_bucket(b"hello"), (0x2cf2_4dbau32 ^ 0x8000_0000) as i32);
        assert!(hash_bucket(b"hello") < 0);
    }

    #[test]
    fn long_hash_values_are_stored_in_65_bytes() {
        assert_eq!(stored_hash(vec![b'x'; 64]), vec![b'x'; 64]);
        let stored = stored_hash(vec![b'x'; 65]);
        assert_eq!(stored.len(), 65);
        assert_eq!(&stored[..32], [b'x'; 32]);
        assert_eq!(&stored[32..64], Sha256::digest([b'x'; 65]).as_slice());
        assert_eq!(stored[64], 0);
        assert_ne!(stored_hash(vec![b'x'; 66]), stored);
    }

    fn any_scalar() -> impl Strategy<Value = AttributeValue> {
        prop_oneof![
            "[\0\u{1}a\u{ff}😀]{0,4}".prop_map(S),
            prop::collection::vec(prop_oneof![Just(0), Just(1), Just(255), any::<u8>()], 0..5).prop_map(B),
            any::<i64>().prop_map(|v| N(v.into())),
        ]
    }

    proptest! {
        #[test]
        fn byte_order_is_the_order_of_strings_and_binaries(a in any::<Vec<u8>>(), b in any::<Vec<u8>>(), x: String, y: String) {
            let encoded = |value: &AttributeValue| { let mut out = vec![]; encode_scalar(value, &mut out); out };
            prop_assert_eq!(encoded(&B(a.clone())).cmp(&encoded(&B(b.clone()))), a.cmp(&b));
            prop_assert_eq!(encoded(&S(x.clone())).cmp(&encoded(&S(y.clone()))), x.as_bytes().cmp(y.as_bytes()));
        }

        #[test]
        fn marked_values_keep_their_order(a in any::<Vec<u8>>(), b in any::<Vec<u8>>()) {
            let marked = |bytes: &[u8]| { let mut out = vec![]; encode_marked(bytes, &mut out); out };
            prop_assert_eq!(marked(&a).cmp(&marked(&b)), a.cmp(&b));
        }

        /// Lists of the same types, as the schema of an index has them.
        #[test]
        fn no_two_lists_meet(pairs in prop::collection::vec((any_scalar(), any_scalar()), 2..5)) {
            let (a, b): (Vec<_>, Vec<_>) = pairs.into_iter()
                .filter(|(a, b)| a.kind() == b.kind())
                .unzip();
            if a.len() > 1 {
                prop_assert_eq!(encode_hash(&a) == encode_hash(&b), a == b);
            }
        }

        #[test]
        fn buckets_run_in_the_order_of_the_hashes(a in any::<Vec<u8>>(), b in any::<Vec<u8>>()) {
            let head = |bytes: &[u8]| Sha256::digest(bytes)[..4].to_vec();
            prop_assert_eq!(hash_bucket(&a).cmp(&hash_bucket(&b)), head(&a).cmp(&head(&b)));
        }
    }
}
