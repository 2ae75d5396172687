//! Any numbers, any keys.                                                             core/tests/arbitrary/keys.rs
#![no_main]

#[path = "../../tests/arbitrary/mod.rs"]
mod arbitrary;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| arbitrary::keys::check(bytes));
