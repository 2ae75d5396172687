//! The functions for people: each operation by name, short forms that speak of items, and the store of idempotency keys.

mod idempotency;
mod items;
mod operations;
mod pure;
mod walk;
