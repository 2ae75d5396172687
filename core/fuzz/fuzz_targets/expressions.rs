//! Any expression with any placeholders.                                         core/tests/arbitrary/expressions.rs
#![no_main]

#[path = "../../tests/arbitrary/mod.rs"]
mod arbitrary;

use arbitrary::{expressions, mutation};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|text: &str| expressions::check(text));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutation::in_place(data, size, max_size, seed, libfuzzer_sys::fuzzer_mutate)
});
