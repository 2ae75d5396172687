//! The extension: DynamoDB's operations as SQL functions, over a store that is this PostgreSQL.
//!
//! Signatures and everything else that SQL sees stand in `sql/`, in the order below. [`request`] serves an operation,
//! [`functions`] are its faces for people, [`item_type`] is the type `ddb.item`, [`store`] keeps tables and items
//! over SPI, with the plans of [`spi`], the descriptions of [`catalog`] and the locks of [`locks`]. [`call`] and [`raise`] are how values and errors pass, [`security`] who may do what.

mod call;
mod catalog;
mod clock;
mod functions;
mod guc;
mod item_type;
mod locks;
mod raise;
mod request;
mod security;
mod spi;
mod store;
#[cfg(feature = "store-suite")]
mod store_suite;
mod subtransaction;

use pgrx::extension_sql_file;

pgrx::pg_module_magic!();

extension_sql_file!("../../sql/schema.sql", name = "schema", bootstrap);
extension_sql_file!("../../sql/item.sql", name = "item", requires = ["schema"]);
extension_sql_file!("../../sql/catalog.sql", name = "catalog", requires = ["item"]);
extension_sql_file!("../../sql/functions.sql", name = "functions", requires = ["item"]);
#[cfg(feature = "store-suite")]
extension_sql_file!(
    "../../sql/store_suite.sql",
    name = "store_suite",
    requires = ["functions"]
);

/// Runs once in each session that uses the extension, or in the postmaster.
#[pgrx::pg_guard]
#[allow(non_snake_case)]
pub extern "C-unwind" fn _PG_init() {
    guc::register();
    catalog::init();
}
