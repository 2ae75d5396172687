//! The tests that any store must pass, and the memory store.

mod memory;

pub use memory::MemoryStore;
