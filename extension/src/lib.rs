pgrx::pg_module_magic!();

mod catalog;
mod store;
