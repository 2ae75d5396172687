//! TransactWriteItems: the tables of cases of `core/cases/transactions-*.toml`, and what holds for any members and any
//! sequence of requests. The wire tests run the same tables over HTTP.          behaviour/transactions

mod claims;
mod commit;
mod gate;
mod notation;
mod oracle;
mod ranking;
#[path = "../served/mod.rs"]
mod served;
mod token_model;
mod tokens;
