//! Items: values of the ten types, exact numbers, sizes, DynamoDB JSON, the binary form and the key encoding.
//!                                                                                       behaviour/items

mod binary;
mod json;
mod key;
mod number;
mod size;
mod value;

pub use binary::{Corrupt, InPrefix, Item, StoredValue, find_in_prefix};
pub use json::{NumberSets, write_attributes, write_attributes_as, write_value};
pub use key::{IndexKey, ItemKey, encode_hash, encode_scalar, hash_bucket, stored_hash};
pub use number::{Number, NumberError};
pub use size::{attributes_size, value_depth, value_size};
pub use value::{AttributeValue, Attributes, ScalarType, ValueType};
