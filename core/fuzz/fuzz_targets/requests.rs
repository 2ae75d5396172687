//! Any request to any operation.                                                  core/tests/arbitrary/requests.rs
#![no_main]

#[path = "../../tests/arbitrary/mod.rs"]
mod arbitrary;

use arbitrary::{mutation, requests};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|text: &str| requests::check(text));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutation::in_place(data, size, max_size, seed, libfuzzer_sys::fuzzer_mutate)
});
