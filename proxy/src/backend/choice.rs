//! Which backend: what the options name, and nothing that contradicts it.

use std::{
    num::NonZeroUsize,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, ValueEnum};
use extenddb_backend_postgres::{Batching, ConfigError, Limits, OpenError, Postgres, SynchronousCommit};
use extenddb_backend_sqlite::{Place, Sqlite, Synchronous};
use extenddb_core::table::AccountId;

use super::{Chosen, Embedded};

#[derive(Args)]
pub struct BackendOptions {
    /// Where items are kept; without it, what the other options belong to, and a SQLite file where there are none
    #[arg(long, env = "EXTENDDB_BACKEND", value_name = "BACKEND")]
    backend: Option<Kind>,

    /// SQLite: the file, or a directory for it; by default extenddb/extenddb.sqlite in the user's data directory
    #[arg(long, env = "EXTENDDB_DATA", value_name = "PATH", value_parser = clap::value_parser!(PathBuf))]
    data: Option<PathBuf>,

    /// SQLite: in memory, gone when the server stops
    #[arg(long, env = "EXTENDDB_MEMORY")]
    memory: bool,

    /// SQLite: what an acknowledged write survives; by default full
    #[arg(long, env = "EXTENDDB_SYNCHRONOUS", value_name = "SETTING")]
    synchronous: Option<Flush>,

    /// SQLite: the most pages, for tests of a full disk
    #[arg(long, env = "EXTENDDB_MAX_PAGES", value_name = "N", hide = true)]
    max_pages: Option<u32>,

    /// PostgreSQL: key=value pairs or a postgresql:// URL; what it leaves open comes from PGHOST, PGPORT, PGUSER,
    /// PGDATABASE, PGPASSWORD and libpq's defaults
    #[arg(
        long,
        env = "EXTENDDB_POSTGRES",
        value_name = "CONNINFO",
        hide_env_values = true
    )]
    postgres: Option<String>,

    /// PostgreSQL: the most sessions at a time; by default 16
    #[arg(long, env = "EXTENDDB_POOL", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pool: Option<u32>,

    /// PostgreSQL: the most requests on single items that travel together, in one statement and one commit, while the
    /// sessions for them are busy; 1: each by itself; by default 32
    #[arg(long, env = "EXTENDDB_BATCH", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    batch: Option<u32>,

    /// PostgreSQL: the most sessions that serve GetItems at a time; by default as many as the proxy sees CPUs, at least 2
    #[arg(long, env = "EXTENDDB_READ_SESSIONS", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    read_sessions: Option<u32>,

    /// PostgreSQL: the most sessions that serve PutItems, UpdateItems and DeleteItems at a time; by default as many as the proxy
    /// sees CPUs, at least 2
    #[arg(long, env = "EXTENDDB_WRITE_SESSIONS", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    write_sessions: Option<u32>,

    /// PostgreSQL: requests on single items travel together although a session is free, for tests
    #[arg(long, env = "EXTENDDB_BATCH_ALWAYS", hide = true)]
    batch_always: bool,

    /// PostgreSQL: how many requests on single items may wait for a session or a held item; more are throttled; by default
    /// 5000
    #[arg(long, env = "EXTENDDB_QUEUE", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    queue: Option<u32>,

    /// PostgreSQL: what a commit waits for; by default durable
    #[arg(long, env = "EXTENDDB_SYNCHRONOUS_COMMIT", value_name = "SETTING")]
    synchronous_commit: Option<Commit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Postgres,
    Sqlite,
}

#[derive(Clone, Copy, ValueEnum)]
enum Flush {
    /// A loss of power: each commit is flushed
    Full,
    /// A crash of the server; a loss of power may take the last commits
    Normal,
    /// The same, and a loss of power may damage the file
    Off,
}

#[derive(Clone, Copy, ValueEnum)]
enum Commit {
    /// The local flush at least, whatever the database or role sets; remote_apply where the server is set to it
    Durable,
    Off,
    Local,
    #[value(name = "remote_write")]
    RemoteWrite,
    On,
    #[value(name = "remote_apply")]
    RemoteApply,
}

const DEFAULT_POOL: u32 = 16;
const DEFAULT_QUEUE: u32 = 5000;

/// More gain little, and each waits for the slowest.
const DEFAULT_BATCH: u32 = 32;

/// With 64 clients on 2 CPUs that server and proxy shared, 2 sessions served more GetItems and more PutItems than 4, 8 or
/// 16 (docs/performance.md). While one waits for its commit to be flushed another one works, so two at least.
const LEAST_SESSIONS: usize = 2;

/// Of the bodies of requests that wait: the process stays under 300 MB with all of it.
const QUEUED_MAX_BYTES: usize = 128 << 20;

const FILE_NAME: &str = "extenddb.sqlite";

/// Variables of libpq that name a server or database: who sets one means PostgreSQL.
const LIBPQ: [&str; 4] = ["PGHOST", "PGPORT", "PGDATABASE", "PGUSER"];

/// Why no backend is opened, with what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    #[error(
        "{first} and {second} contradict each other: {first} is for {of_first}, {second} is for {of_second}\nhint: leave one of them out (it may come from the environment)"
    )]
    Contradiction {
        first: &'static str,
        of_first: &'static str,
        second: &'static str,
        of_second: &'static str,
    },
    #[error(
        "--memory and {0} contradict each other: in memory there is no file\nhint: leave one of them out"
    )]
    MemoryAnd(&'static str),
    #[error(
        "--batch 1 and --batch-always contradict each other: with 1 each request travels by itself\nhint: leave one of them out (it may come from the environment)"
    )]
    AloneAndTogether,
    #[error(
        "there is no place for the data: neither XDG_DATA_HOME nor HOME is set\nhint: name a file with --data, or use --memory"
    )]
    NoHome,
    #[error("cannot make the directory {path}: {cause}\nhint: name a file elsewhere with --data")]
    Directory { path: PathBuf, cause: std::io::Error },
    #[error(transparent)]
    PostgresConfig(#[from] ConfigError),
    #[error(transparent)]
    Postgres(#[from] OpenError),
    #[error(transparent)]
    Sqlite(#[from] extenddb_backend_sqlite::OpenError),
}

/// As many as the CPUs that the proxy sees.
fn sessions(given: Option<u32>) -> usize {
    let cpus = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    given.map_or_else(
        || cpus().max(LEAST_SESSIONS),
        |given| usize::try_from(given).unwrap_or(usize::MAX),
    )
}

impl BackendOptions {
    /// Opens what the options name.
    pub async fn open(
        &self,
        region: &str,
        account: &str,
        request_timeout: Duration,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Chosen, ChoiceError> {
        match self.kind(&environment)? {
            Kind::Postgres => {
                let commit = self.synchronous_commit.unwrap_or(Commit::Durable);
                let batch = self.batch.unwrap_or(DEFAULT_BATCH);
                if batch == 1 && self.batch_always {
                    return Err(ChoiceError::AloneAndTogether);
                }
                let postgres = Postgres::connect(extenddb_backend_postgres::Config {
                    connection: extenddb_backend_postgres::connection_settings(
                        self.postgres.as_deref(),
                        environment,
                    )?,
                    pool_size: usize::try_from(self.pool.unwrap_or(DEFAULT_POOL)).unwrap_or(usize::MAX),
                    request_timeout,
                    synchronous_commit: commit.into(),
                    batching: Batching {
                        max: usize::try_from(batch).unwrap_or(usize::MAX),
                        reads: sessions(self.read_sessions),
                        writes: sessions(self.write_sessions),
                        always: self.batch_always,
                    },
                    limits: Limits {
                        requests: usize::try_from(self.queue.unwrap_or(DEFAULT_QUEUE)).unwrap_or(usize::MAX),
                        bytes: QUEUED_MAX_BYTES,
                    },
                });
                Ok(Chosen::Postgres(postgres.await?))
            }
            Kind::Sqlite => {
                let place = self.place(environment)?;
                let said = match &place {
                    Place::File(path) => path.display().to_string(),
                    Place::Memory => "memory".into(),
                };
                let store = Sqlite::open(&extenddb_backend_sqlite::Config {
                    place,
                    synchronous: self.synchronous.unwrap_or(Flush::Full).into(),
                    max_pages: self.max_pages,
                })?;
                let account = AccountId(account.to_owned());
                Ok(Chosen::Sqlite {
                    embedded: Embedded::start(store, region.to_owned(), account, request_timeout),
                    place: said,
                })
            }
        }
    }

    fn kind(&self, environment: impl Fn(&str) -> Option<String>) -> Result<Kind, ChoiceError> {
        let for_postgres = [
            ("--backend postgres", self.backend == Some(Kind::Postgres)),
            ("--postgres", self.postgres.is_some()),
            ("--pool", self.pool.is_some()),
            ("--batch", self.batch.is_some()),
            ("--read-sessions", self.read_sessions.is_some()),
            ("--write-sessions", self.write_sessions.is_some()),
            ("--batch-always", self.batch_always),
            ("--queue", self.queue.is_some()),
            ("--synchronous-commit", self.synchronous_commit.is_some()),
        ];
        let for_sqlite = [
            ("--backend sqlite", self.backend == Some(Kind::Sqlite)),
            ("--data", self.data.is_some()),
            ("--memory", self.memory),
            ("--synchronous", self.synchronous.is_some()),
            ("--max-pages", self.max_pages.is_some()),
        ];
        let first =
            |options: &[(&'static str, bool)]| options.iter().find(|(_, set)| *set).map(|(name, _)| *name);
        match (first(&for_postgres), first(&for_sqlite)) {
            (Some(first), Some(second)) => Err(ChoiceError::Contradiction {
                first,
                of_first: "PostgreSQL",
                second,
                of_second: "SQLite",
            }),
            (Some(_), None) => Ok(Kind::Postgres),
            (None, Some(_)) if self.memory && self.data.is_some() => Err(ChoiceError::MemoryAnd("--data")),
            (None, Some(_)) if self.memory && self.synchronous.is_some() => {
                Err(ChoiceError::MemoryAnd("--synchronous"))
            }
            (None, Some(_)) => Ok(Kind::Sqlite),
            (None, None) => match LIBPQ.into_iter().find(|name| environment(name).is_some()) {
                Some(variable) => {
                    tracing::info!(
                        variable,
                        "PostgreSQL, for its variable is set; --backend sqlite for a file"
                    );
                    Ok(Kind::Postgres)
                }
                None => Ok(Kind::Sqlite),
            },
        }
    }

    fn place(&self, environment: impl Fn(&str) -> Option<String>) -> Result<Place, ChoiceError> {
        if self.memory {
            return Ok(Place::Memory);
        }
        Ok(Place::File(match &self.data {
            Some(path) if path.is_dir() => path.join(FILE_NAME),
            Some(path) => path.clone(),
            None => default_file(environment)?,
        }))
    }
}

/// In the user's data directory, which is made where it is missing.
fn default_file(environment: impl Fn(&str) -> Option<String>) -> Result<PathBuf, ChoiceError> {
    let absolute = |name| {
        environment(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let data = absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")));
    let directory = data.ok_or(ChoiceError::NoHome)?.join("extenddb");
    make_directory(&directory)?;
    Ok(directory.join(FILE_NAME))
}

fn make_directory(path: &Path) -> Result<(), ChoiceError> {
    let mut builder = std::fs::DirBuilder::new();
    let made = builder.recursive(true).mode(0o700).create(path);
    made.map_err(|cause| ChoiceError::Directory {
        path: path.to_owned(),
        cause,
    })
}

impl From<Flush> for Synchronous {
    fn from(flush: Flush) -> Synchronous {
        match flush {
            Flush::Full => Self::Full,
            Flush::Normal => Self::Normal,
            Flush::Off => Self::Off,
        }
    }
}

impl From<Commit> for SynchronousCommit {
    fn from(commit: Commit) -> SynchronousCommit {
        match commit {
            Commit::Durable => Self::Durable,
            Commit::Off => Self::Off,
            Commit::Local => Self::Local,
            Commit::RemoteWrite => Self::RemoteWrite,
            Commit::On => Self::On,
            Commit::RemoteApply => Self::RemoteApply,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: BackendOptions,
    }

    fn read(arguments: &[&str]) -> BackendOptions {
        Line::try_parse_from([&["x"], arguments].concat())
            .unwrap()
            .options
    }

    fn kind(arguments: &[&str], variables: &[&str]) -> Result<Kind, ChoiceError> {
        read(arguments).kind(|name| variables.contains(&name).then(|| "x".to_owned()))
    }

    #[test]
    fn an_option_says_which_backend_it_means() {
        for (arguments, variables, wanted) in [
            (&[][..], &[][..], Kind::Sqlite),
            (&[], &["HOME", "PGPASSWORD"], Kind::Sqlite),
            (&[], &["PGHOST"], Kind::Postgres),
            (&[], &["PGDATABASE"], Kind::Postgres),
            (&["--backend", "sqlite"], &["PGHOST"], Kind::Sqlite),
            (&["--memory"], &["PGHOST"], Kind::Sqlite),
            (&["--data", "/tmp/x"], &[], Kind::Sqlite),
            (&["--synchronous", "off"], &[], Kind::Sqlite),
            (&["--backend", "postgres"], &[], Kind::Postgres),
            (&["--postgres", "host=x"], &[], Kind::Postgres),
            (&["--pool", "3"], &[], Kind::Postgres),
            (&["--batch", "1"], &[], Kind::Postgres),
            (&["--batch-always"], &[], Kind::Postgres),
            (&["--read-sessions", "2"], &[], Kind::Postgres),
            (&["--write-sessions", "2"], &[], Kind::Postgres),
            (&["--synchronous-commit", "off"], &[], Kind::Postgres),
        ] {
            assert_eq!(
                kind(arguments, variables).unwrap(),
                wanted,
                "{arguments:?} {variables:?}"
            );
        }
    }

    #[test]
    fn what_contradicts_is_refused() {
        let contradictions = [
            (
                vec!["--postgres", "host=x", "--memory"],
                ("--postgres", "--memory"),
            ),
            (
                vec!["--backend", "sqlite", "--pool", "3"],
                ("--pool", "--backend sqlite"),
            ),
            (vec!["--memory", "--batch", "8"], ("--batch", "--memory")),
            (
                vec!["--backend", "postgres", "--data", "x"],
                ("--backend postgres", "--data"),
            ),
        ];
        for (arguments, wanted) in contradictions {
            match kind(&arguments, &[]) {
                Err(ChoiceError::Contradiction { first, second, .. }) => assert_eq!((first, second), wanted),
                other => panic!("{arguments:?}: {other:?}"),
            }
        }
        for of_a_file in [["--data", "x"], ["--synchronous", "off"]] {
            let both = kind(&[&["--memory"][..], &of_a_file].concat(), &[]);
            assert!(matches!(both, Err(ChoiceError::MemoryAnd(option)) if option == of_a_file[0]));
        }
        assert!(Line::try_parse_from(["x", "--backend", "oracle"]).is_err());
        assert!(Line::try_parse_from(["x", "--pool", "0"]).is_err());
        assert!(Line::try_parse_from(["x", "--batch", "0"]).is_err());
        assert!(Line::try_parse_from(["x", "--batch", "1001"]).is_err());
        assert!(Line::try_parse_from(["x", "--synchronous-commit", "yes"]).is_err());
        assert!(Line::try_parse_from(["x", "--synchronous", "yes"]).is_err());
    }

    #[test]
    fn the_file_lies_in_the_users_data_directory() {
        let scratch = tempfile::tempdir().unwrap();
        let home = scratch.path().to_str().unwrap();
        let place = |variables: &[(&str, &str)], arguments: &[&str]| {
            read(arguments).place(|name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| value.to_string())
            })
        };
        let file = |path: &str| Place::File(scratch.path().join(path));
        let found = place(&[("HOME", home)], &[]).unwrap();
        assert_eq!(found, file(".local/share/extenddb/extenddb.sqlite"));
        let found = place(&[("HOME", "/nowhere"), ("XDG_DATA_HOME", home)], &[]).unwrap();
        assert_eq!(found, file("extenddb/extenddb.sqlite"));
        assert!(matches!(
            place(&[("HOME", "relative")], &[]),
            Err(ChoiceError::NoHome)
        ));
        assert!(matches!(
            place(&[("HOME", "/proc/nowhere")], &[]),
            Err(ChoiceError::Directory { .. })
        ));
        assert_eq!(place(&[], &["--data", home]).unwrap(), file("extenddb.sqlite"));
        let named = scratch.path().join("named");
        let found = place(&[], &["--data", named.to_str().unwrap()]).unwrap();
        assert_eq!(found, Place::File(named));
        assert_eq!(place(&[], &["--memory"]).unwrap(), Place::Memory);
    }
}
