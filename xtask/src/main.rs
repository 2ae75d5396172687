//! Builds the extension and puts it where a PostgreSQL looks for it. Nobody needs the cargo-pgrx binary: the SQL
//! file is written from what pgrx leaves in the built library.

mod install;
mod library;
mod schema;

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Parser, Subcommand};

/// Builds and installs the extenddb extension.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Command {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Builds the extension and copies library, SQL and control file into a PostgreSQL installation.
    Install {
        #[command(flatten)]
        build: Build,
        /// Take the library that stands built beside this program; needs no cargo.
        #[arg(long)]
        no_build: bool,
        /// Put this directory before every path (for packagers).
        #[arg(long, value_name = "DIR")]
        destdir: Option<PathBuf>,
    },
    /// Builds the extension and writes its CREATE EXTENSION script.
    Schema {
        #[command(flatten)]
        build: Build,
        /// The file to write.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
}

/// What to build, and for which PostgreSQL.
#[derive(Args)]
struct Build {
    /// The PostgreSQL installation's pg_config.
    #[arg(
        long,
        value_name = "PATH",
        env = "PGRX_PG_CONFIG_PATH",
        default_value = "pg_config"
    )]
    pg_config: PathBuf,
    #[arg(long)]
    release: bool,
    /// Cargo features; without pg15 … pg18 among them, the one of pg_config's version.
    #[arg(long, value_delimiter = ',', value_name = "pgNN")]
    features: Vec<String>,
}

fn main() -> ExitCode {
    match run(Command::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> eyre::Result<()> {
    match task {
        Task::Install {
            build,
            no_build,
            destdir,
        } => {
            let library = if no_build {
                library::built(&build)?
            } else {
                library::build(&build)?
            };
            install::install(&library, &build.pg_config, destdir.as_deref())
        }
        Task::Schema { build, out } => {
            let library = library::build(&build)?;
            schema::write(&library, &out)?;
            println!("wrote {}", out.display());
            Ok(())
        }
    }
}
