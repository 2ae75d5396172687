//! Answers: status and body.                                                               behaviour/wire §errors

use crate::{error::Error, operation::Operation};

use super::Layer;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub body: String,
}

pub fn answer_error(_error: &Error, _operation: Operation, _layer: Layer) -> Answer {
    todo!()
}
