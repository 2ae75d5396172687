//! Some thousand inputs near the rows of the case tables, the same each time; `core/fuzz` looks further.

mod arbitrary;

use std::{collections::BTreeSet, path::Path};

use arbitrary::{
    expressions, items, keys,
    mutation::{self, Random},
    requests,
    rows::{self, Row},
};

/// How far from a row its changes go, one at a time.
const STEPS: usize = 4;

/// A third of the rows, which is a few seconds' work.
fn some_rows() -> Vec<Row> {
    let rows = rows::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("cases"));
    rows.into_iter().step_by(3).collect()
}

/// Each once: many rows speak of the same.
fn distinct<T: Ord>(inputs: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    inputs.into_iter().collect()
}

/// Asks `check` of each input and of what it is changed to, step by step; names the input at a panic.
fn near<T: std::fmt::Debug + std::panic::RefUnwindSafe>(
    inputs: impl IntoIterator<Item = T>,
    change: impl Fn(T, &mut Random) -> T,
    check: impl Fn(&T) + std::panic::RefUnwindSafe,
) {
    for (number, input) in inputs.into_iter().enumerate() {
        let mut random = Random(number as u64);
        let mut input = input;
        for _ in 0..STEPS {
            if let Err(fault) = std::panic::catch_unwind(|| check(&input)) {
                eprintln!("the input was\n{input:?}");
                std::panic::resume_unwind(fault);
            }
            input = change(input, &mut random);
        }
    }
}

#[test]
fn any_request_is_answered() {
    near(
        some_rows().iter().map(Row::as_requests),
        |text, random| mutation::lines(&text, random),
        |text| requests::check(text),
    );
}

#[test]
fn any_expression_is_read_or_refused() {
    near(
        distinct(some_rows().iter().flat_map(Row::as_expressions)),
        |text, random| mutation::lines(&text, random),
        |text| expressions::check(text),
    );
}

#[test]
fn any_bytes_are_an_item_or_refused() {
    near(
        distinct(
            some_rows()
                .iter()
                .flat_map(Row::as_items)
                .map(|item| item.into_bytes().into_vec()),
        ),
        mutation::bytes,
        |bytes| items::check(bytes),
    );
}

#[test]
fn any_keys_keep_their_order() {
    let numbers: Vec<String> = some_rows().iter().flat_map(Row::as_numbers).collect();
    let pairs = numbers.windows(2).map(|pair| pair.join("\n").into_bytes());
    near(distinct(pairs), mutation::bytes, |bytes| keys::check(bytes));
}
