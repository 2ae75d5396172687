//! TransactWriteItems and TransactGetItems.                                             behaviour/transactions
//!
//! A write goes through [`transact_write_items`] from top to bottom: [`entries`] finds the members of the request, [`member`]
//! reads and judges each to an [`outcome`], [`token`] asks whether the request was sent before, [`ranking`] makes one answer of all outcomes.
//! [`explain`] tells of each of these steps and writes nothing.

mod entries;
pub mod explain;
mod fingerprint;
mod member;
mod outcome;
mod ranking;
mod token;
pub mod transact_get_items;
pub mod transact_write_items;

/// Of all items of a transaction together.
const TOTAL_MAX_BYTES: usize = 4_194_304;
