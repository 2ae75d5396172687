//! `extenddb`: the DynamoDB protocol over HTTP in front of a backend.
//!
//! A request goes through [`front`] from top to bottom: body, method, JSON, target, [`signature`], then one call of a
//! [`backend`]. [`server`] owns the sockets and the stop, [`serve`] the command line. [`transfer`] moves items between files and tables.

mod backend;
mod front;
mod repoll;
mod serve;
mod server;
mod signature;
mod transfer;
mod welcome;

use std::{error::Error, process::ExitCode};

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
    /// Write a table's items to a file, a line {"Item":{…}} each.
    ExportItems(transfer::Options),
    /// Put the items of such a file into a table.
    ImportItems(transfer::ImportOptions),
}

fn main() -> ExitCode {
    let done: Result<(), Box<dyn Error>> = match Arguments::parse().command {
        Command::Serve(options) => serve::run(options).map_err(Into::into),
        Command::ExportItems(options) => transfer::export(options).map_err(Into::into),
        Command::ImportItems(options) => transfer::import(options).map_err(Into::into),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => {
            eprintln!("error: {refusal}");
            ExitCode::FAILURE
        }
    }
}
