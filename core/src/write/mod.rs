//! How a write is decided and what it changes. Every write on every store ends in a [`Unit`].

mod capacity;
mod derive;
mod net;
mod return_values;
mod unit;

pub use crate::time::Timestamp;
pub use capacity::{
    Arms, READ_UNIT_BYTES, ReturnConsumedCapacity, Told, WRITE_UNIT_BYTES, read_units, units,
};
pub use derive::{Derived, INDEX_RANGES_MAX_BYTES, derive, derive_fill, entry, expires};
pub use net::Contradiction;
pub use return_values::ReturnValues;
pub use unit::{Base, Busy, Change, Decision, Image, Images, IndexRow, Keys, Need, RowWrite, Unit};
