//! The functions for people: each operation by name, and short forms that speak of items.

mod items;
mod operations;
mod pure;
mod walk;
