//! `extenddb`: the DynamoDB protocol over HTTP in front of a backend.
//!
//! A request goes through [`front`] from top to bottom: body, method, JSON, target, [`signature`], then one call of a
//! [`backend`]. [`server`] owns the sockets and the stop, [`serve`] the command line.

mod backend;
mod front;
mod serve;
mod server;
mod signature;
mod welcome;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// DynamoDB inside PostgreSQL, or in a SQLite file: the HTTP side.
#[derive(Parser)]
#[command(name = "extenddb", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Answer the DynamoDB protocol from a SQLite file, or from a PostgreSQL database that has the extension.
    Serve(serve::Options),
}

fn main() -> ExitCode {
    let Command::Serve(options) = Arguments::parse().command;
    match serve::run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => {
            eprintln!("error: {refusal}");
            ExitCode::FAILURE
        }
    }
}
