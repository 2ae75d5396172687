//! Reading attribute values (stage V of the check order).                      behaviour/items §values, §check-order

use crate::{error::Error, item::Attributes};

use super::{Layer, Position};

/// A map of attribute values whose JSON types are right and whose content is not read yet.
#[derive(Clone, Debug)]
pub struct RawAttributes<'a> {
    _json: std::marker::PhantomData<&'a ()>,
}

/// One attribute value likewise.
#[derive(Clone, Debug)]
pub struct RawValue<'a> {
    _json: std::marker::PhantomData<&'a ()>,
}

/// What was read, and the fault that waits for the stage of its position (sets and nesting of a Key, say).
#[derive(Clone, Debug)]
pub struct ReadAttributes {
    pub attributes: Attributes,
    later: Option<Error>,
}

impl RawAttributes<'_> {
    /// Reads the values in the order of the request; the first fault of stage V answers.
    pub fn read(&self, _position: Position, _layer: Layer) -> Result<ReadAttributes, Error> {
        todo!()
    }
}

impl ReadAttributes {
    /// The attributes, at the stage where what is left of their faults answers.
    pub fn settle(self) -> Result<Attributes, Error> {
        match self.later {
            Some(fault) => Err(fault),
            None => Ok(self.attributes),
        }
    }
}
