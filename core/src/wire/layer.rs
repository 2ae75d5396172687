//! The two layers of the service and the prefix `1 validation error detected: `: the only place that knows it.
//!                                                                                       behaviour/wire §layers

use crate::{error::Error, operation::Operation};

/// Which of the service's two request layers reads a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    New,
    Old,
}

/// The text of an error as the operation answers it.
pub fn message(_error: &Error, _operation: Operation, _layer: Layer) -> Option<String> {
    todo!()
}
