//! Writes the rows of the case tables as first inputs: `corpus/<target>/`.

#[path = "../tests/arbitrary/mod.rs"]
mod arbitrary;

use std::{collections::BTreeSet, io, path::Path};

use arbitrary::rows::{self, Row};

fn main() -> io::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rows = rows::read(&here.join("../cases"));
    let write = |target: &str, inputs: BTreeSet<Vec<u8>>| {
        let folder = here.join("corpus").join(target);
        std::fs::create_dir_all(&folder)?;
        println!("{target}: {} inputs", inputs.len());
        for (number, input) in inputs.into_iter().enumerate() {
            std::fs::write(folder.join(format!("row-{number:05}")), input)?;
        }
        io::Result::Ok(())
    };
    write(
        "requests",
        rows.iter().map(|row| row.as_requests().into_bytes()).collect(),
    )?;
    let expressions = rows.iter().flat_map(Row::as_expressions);
    write("expressions", expressions.map(String::into_bytes).collect())?;
    let items: Vec<_> = rows.iter().flat_map(Row::as_items).collect();
    let texts = items.iter().map(|item| format!("{item:?}").into_bytes());
    let bytes = items.iter().map(|item| item.as_bytes().to_vec());
    write("items", texts.chain(bytes).collect())?;
    let numbers: Vec<_> = rows.iter().flat_map(Row::as_numbers).collect();
    let pairs = numbers.windows(2).map(|pair| pair.join("\n").into_bytes());
    write("keys", pairs.collect())
}
