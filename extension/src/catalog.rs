//! The descriptions of tables that this backend has seen, dropped when another session changes them.

/// Registers the relcache callback; called once, from `_PG_init`.
pub fn init() {}
