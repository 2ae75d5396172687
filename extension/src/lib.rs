pgrx::pg_module_magic!();

mod catalog;
mod locks;
mod spi;
mod store;
mod subtransaction;
