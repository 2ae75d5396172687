//! DynamoDB's semantics in pure Rust: no I/O, no clock, no randomness of its own.
//!
//! A request goes through here from top to bottom: [`wire`] reads it, a file of [`operation`] says what it
//! means, [`write`] turns its decision into changes, [`engine`] drives a [`store`], and [`wire`] writes the
//! answer. [`item`], [`expression`] and [`table`] are what all of them talk about.

pub mod claim;
pub mod engine;
pub mod error;
pub mod expression;
pub mod item;
pub mod operation;
pub mod request;
pub mod store;
#[cfg(any(test, feature = "store-suite"))]
pub mod store_suite;
pub mod table;
pub mod time;
pub mod wire;
pub mod write;
