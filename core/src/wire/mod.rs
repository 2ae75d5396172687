//! The protocol: reading requests by static shapes, the forms of faults, and writing answers.   behaviour/wire

mod decode;
mod echo;
mod envelope;
mod fault;
pub mod json;
mod layer;
mod members;
mod placeholders;
mod table_name;
mod values;

pub use crate::request::Layer;
pub use decode::{Fields, Member, RequestBody, Shape, Type, decode};
pub use envelope::{Answer, Object, answer_error, error_body, write_double};
pub use fault::{MemberFault, Position, SetType, ShapeFault, ValueFault, ValueProblem};
pub use layer::message;
pub use members::{Constraint, Members, enums};
pub use placeholders::{Map, PlaceholderFault, PlaceholderNames, check_unused, placeholders};
pub use table_name::{NameFault, table_name, table_name_of_member, table_of_key};
pub use values::{RawAttributes, RawValue, ReadAttributes, ReadValue, check_name};

#[cfg(test)]
mod tests;
