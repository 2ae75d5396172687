//! Keys as stores keep them: byte order = DynamoDB order.                               behaviour/items §keys

use crate::table::TableId;

use super::AttributeValue;

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

/// Appends the encoding of a key value (S, N or B; others are refused where keys are checked).
pub fn encode_scalar(_value: &AttributeValue, _out: &mut Vec<u8>) {
    todo!()
}

/// The encoding of the HASH part: one value as it is; several each with its end marked, so that no two lists meet.
pub fn encode_hash<'a>(_values: impl IntoIterator<Item = &'a AttributeValue>) -> Vec<u8> {
    todo!()
}

/// The bucket of an encoded HASH value: the first four bytes of its SHA-256, sign bit flipped. The same for ever, on every store.
pub fn hash_bucket(_encoded: &[u8]) -> i32 {
    todo!()
}

/// An encoded HASH value as it stands in a store: itself up to 64 bytes, else its first 32 bytes, its SHA-256
/// and one byte more, a length that no verbatim value has.
pub fn stored_hash(_encoded: Vec<u8>) -> Vec<u8> {
    todo!()
}
