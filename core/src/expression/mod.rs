//! The expression language: what an expression parses to, its static faults, and what it means for an item.
//!                                                                                  behaviour/expressions

mod cache;
mod condition;
mod fault;
mod key_condition;
pub mod legacy;
mod lexer;
mod path;
mod placeholders;
mod projection;
mod reserved;
mod tree;
mod update;

pub use condition::Condition;
pub use fault::{Body, ExpressionFault, Kind, UpdateFault};
pub use key_condition::{KeyCondition, Selection, SortCondition};
pub use legacy::LegacyFault;
pub use path::{Element, Path};
pub use placeholders::{Placeholders, Used};
pub use projection::Projection;
pub use update::Update;
