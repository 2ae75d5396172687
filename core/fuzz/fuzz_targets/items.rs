//! Any bytes as an item.                                                             core/tests/arbitrary/items.rs
#![no_main]

#[path = "../../tests/arbitrary/mod.rs"]
mod arbitrary;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| arbitrary::items::check(bytes));
