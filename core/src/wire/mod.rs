//! The protocol: reading requests by static shapes, the forms of faults, and writing answers.   behaviour/wire

mod decode;
mod envelope;
mod fault;
pub mod json;
mod layer;
mod members;
mod values;

pub use decode::{Fields, Member, Shape, Type, decode};
pub use envelope::{Answer, answer_error};
pub use fault::{MemberFault, Position, ShapeFault, ValueFault, ValueProblem};
pub use layer::{Layer, message};
pub use members::{Constraint, Members};
pub use values::{RawAttributes, RawValue, ReadAttributes};
