//! The tests that any store must pass, and the memory store.
//!
//! A case is named, makes a table of its own and leaves nothing behind but that table, so that cases run on a
//! database in use and in any order. [`run`] answers what went wrong.

mod cases;
mod memory;

pub use memory::MemoryStore;

pub use crate::engine::run_now;

use crate::{store::Store, table::TableName};

/// The names of all cases.
pub const CASES: &[&str] = &[
    "conditional put",
    "index key moves",
    "list of units",
    "unread put",
    "stale description",
    "index fill",
    "writers beside a fill",
    "refusal writes nothing",
    "read keeps order",
    "partition walk",
    "index walk reversed",
    "bucket walk",
    "page by bytes",
    "long keys",
    "drop and create",
    "table names",
    "read of several tables",
    "walk goes on from anywhere",
    "bucket walk reversed",
    "order of keys",
    "page at the edge",
    "index page goes on",
    "each unit its own",
    "several keys",
    "random writes and indexes",
    "expired",
    "kept for a time",
    "statistics",
    "index dropped",
];

/// Runs one case on a store; `name` is a table name that nothing else uses.
pub async fn run<S: Store>(store: &S, case: &str, name: TableName) -> Result<(), String> {
    match case {
        "conditional put" => cases::writes::conditional_put(store, name).await,
        "index key moves" => cases::writes::index_key_moves(store, name).await,
        "list of units" => cases::writes::list_of_units(store, name).await,
        "unread put" => cases::writes::unread_put(store, name).await,
        "stale description" => cases::tables::stale_description(store, name).await,
        "index fill" => cases::tables::index_fill(store, name).await,
        "writers beside a fill" => cases::tables::writers_beside_a_fill(store, name).await,
        "refusal writes nothing" => cases::writes::refusal_writes_nothing(store, name).await,
        "read keeps order" => cases::reads::read_keeps_order(store, name).await,
        "partition walk" => cases::reads::partition_walk(store, name).await,
        "index walk reversed" => cases::reads::index_walk_reversed(store, name).await,
        "bucket walk" => cases::reads::bucket_walk(store, name).await,
        "page by bytes" => cases::reads::page_by_bytes(store, name).await,
        "long keys" => cases::reads::long_keys(store, name).await,
        "drop and create" => cases::tables::drop_and_create(store, name).await,
        "table names" => cases::tables::table_names(store, name).await,
        "read of several tables" => cases::reads::read_of_several_tables(store, name).await,
        "walk goes on from anywhere" => cases::reads::walk_goes_on_from_anywhere(store, name).await,
        "bucket walk reversed" => cases::reads::bucket_walk_reversed(store, name).await,
        "order of keys" => cases::reads::order_of_keys(store, name).await,
        "page at the edge" => cases::reads::page_at_the_edge(store, name).await,
        "index page goes on" => cases::reads::index_page_goes_on(store, name).await,
        "each unit its own" => cases::writes::each_unit_its_own(store, name).await,
        "several keys" => cases::writes::several_keys(store, name).await,
        "random writes and indexes" => cases::writes::random_writes_and_indexes(store, name).await,
        "expired" => cases::expiry::expired(store, name).await,
        "kept for a time" => cases::expiry::kept_for_a_time(store, name).await,
        "statistics" => cases::tables::statistics(store, name).await,
        "index dropped" => cases::tables::index_dropped(store, name).await,
        other => Err(format!("no case is named {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::AccountId;

    #[test]
    fn the_memory_store_passes() {
        let store = MemoryStore::default();
        for (number, case) in CASES.iter().enumerate() {
            let name = TableName {
                account: AccountId::default(),
                name: format!("case-{number}"),
            };
            run_now(run(&store, case, name)).unwrap_or_else(|fault| panic!("{case}: {fault}"));
        }
    }
}
