//! Opening a database: whose it is, which version, and that nobody else has it.
//!
//! A file that is not ours, or of a later version, is refused before anything in it is touched.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags};

use crate::storage;

#[derive(Clone, Debug)]
pub struct Config {
    pub place: Place,
    pub synchronous: Synchronous,
    /// Beyond so many pages of [`PAGE_BYTES`] the database is full: for tests of a full disk.
    pub max_pages: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    File(PathBuf),
    /// Gone with the process.
    Memory,
}

/// What an acknowledged write survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synchronous {
    /// A loss of power: each commit is flushed.
    Full,
    /// A crash of the process; a loss of power may take the last commits.
    Normal,
    /// The same, and a loss of power may damage the file.
    Off,
}

/// Why a database is not opened, with what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("cannot open {path}: {cause}\nhint: the directory must exist and be writable")]
    File { path: PathBuf, cause: io::Error },
    #[error(
        "{0} is in use by another server\nhint: stop that one, or choose another file with --data; one server at a time has a file"
    )]
    InUse(PathBuf),
    #[error(
        "{0} is not a database of extenddb\nhint: choose another file with --data; this one is left as it is"
    )]
    NotOurs(PathBuf),
    #[error(
        "{path} was written by a later version of extenddb (its layout is {found}, this version knows up to {known})\n\
         hint: update extenddb, or choose another file with --data; this one is left as it is"
    )]
    Newer { path: PathBuf, found: i32, known: i32 },
    #[error("cannot open the database: {0}")]
    Sql(#[from] rusqlite::Error),
    #[error("cannot read the database's catalog: {0}")]
    Catalog(String),
    #[error("cannot start a thread: {0}")]
    Thread(io::Error),
}

/// What stands at byte 68 of the file: "xddb".
const APPLICATION_ID: i32 = i32::from_be_bytes(*b"xddb");

/// Of 4, 8 and 16 KiB the best for items of 300 bytes to 390 KB together, with the items in the table's own tree and the
/// key in an index beside it (a table WITHOUT ROWID takes a third to half of the inserts a second).
const PAGE_BYTES: i32 = 8192;

/// A commit that brings the log to so many pages also writes them into the file.
const CHECKPOINT_PAGES: i32 = 2000;

const WRITER_CACHE_BYTES: i32 = 16 << 20;
/// Of each, those of threads as well as those for reads in place.
const READER_CACHE_BYTES: i32 = 2 << 20;

/// Nobody else writes; a reader may meet a recovery or the end of a checkpoint.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// A thread reads what could not be read in place.
const IN_PLACE_BUSY_TIMEOUT: Duration = Duration::ZERO;

/// The statements over one table are some ten.
const KEPT_STATEMENTS: usize = 512;

/// The migrations, each from the version that is its place to the next.
const MIGRATIONS: &[&str] = &[storage::CATALOG];

pub struct Opened {
    pub writer: Connection,
    pub readers: Vec<Connection>,
    /// For reads in place. None of either in memory, where all connections but one would see another database.
    pub in_place: Vec<Connection>,
    /// Holds the file for this process.
    pub lock: Option<File>,
}

pub fn open(config: &Config) -> Result<Opened, OpenError> {
    match &config.place {
        Place::Memory => {
            let writer = Connection::open_in_memory()?;
            prepare(&writer, config, Path::new(":memory:"))?;
            Ok(Opened {
                writer,
                readers: Vec::new(),
                in_place: Vec::new(),
                lock: None,
            })
        }
        Place::File(path) => open_file(path, config),
    }
}

fn open_file(path: &Path, config: &Config) -> Result<Opened, OpenError> {
    let failed = |cause| OpenError::File {
        path: path.to_owned(),
        cause,
    };
    // Readable by its owner alone; what SQLite puts beside it takes its rights.
    let mut create = OpenOptions::new();
    create
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600);
    drop(create.open(path).map_err(failed)?);
    // Through a symbolic link too, there is one file and one lock.
    let path = path.canonicalize().map_err(failed)?;
    let lock = create.open(beside(&path, "-lock")).map_err(failed)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(OpenError::InUse(path)),
        Err(TryLockError::Error(cause)) => return Err(failed(cause)),
    }
    let writer = Connection::open_with_flags(&path, flags(OpenFlags::SQLITE_OPEN_READ_WRITE))?;
    prepare(&writer, config, &path)?;
    let readers = |busy_timeout| {
        let reader = |_| -> rusqlite::Result<Connection> {
            let reader = Connection::open_with_flags(&path, flags(OpenFlags::SQLITE_OPEN_READ_ONLY))?;
            settle(&reader, READER_CACHE_BYTES)?;
            reader.busy_timeout(busy_timeout)?;
            Ok(reader)
        };
        (0..reader_count())
            .map(reader)
            .collect::<rusqlite::Result<Vec<_>>>()
    };
    Ok(Opened {
        writer,
        readers: readers(BUSY_TIMEOUT)?,
        in_place: readers(IN_PLACE_BUSY_TIMEOUT)?,
        lock: Some(lock),
    })
}

fn flags(access: OpenFlags) -> OpenFlags {
    access | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// As many as threads of the runtime: on few cores no more reads can run.
fn reader_count() -> usize {
    std::thread::available_parallelism().map_or(2, |cores| cores.get().clamp(2, 8))
}

/// Checks whose the database is, brings it to this version, and settles the writer's connection.
fn prepare(writer: &Connection, config: &Config, path: &Path) -> Result<(), OpenError> {
    let known = MIGRATIONS.len() as i32;
    let version = match look_at(writer) {
        Ok(Owner::Nobody) => 0,
        Ok(Owner::Us { version }) if version <= known => version,
        Ok(Owner::Us { version }) => {
            return Err(OpenError::Newer {
                path: path.to_owned(),
                found: version,
                known,
            });
        }
        Ok(Owner::Another) => return Err(OpenError::NotOurs(path.to_owned())),
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) => {
            return Err(OpenError::NotOurs(path.to_owned()));
        }
        Err(error) => return Err(error.into()),
    };
    if version == 0 {
        writer.pragma_update(None, "page_size", PAGE_BYTES)?;
    }
    settle(writer, WRITER_CACHE_BYTES)?;
    match config.place {
        Place::File(_) => {
            writer.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
            let synchronous = match config.synchronous {
                Synchronous::Full => "full",
                Synchronous::Normal => "normal",
                Synchronous::Off => "off",
            };
            writer.pragma_update(None, "synchronous", synchronous)?;
            writer.pragma_update_and_check(None, "wal_autocheckpoint", CHECKPOINT_PAGES, |_| Ok(()))?;
        }
        Place::Memory => {}
    }
    if version < known {
        let steps: String = MIGRATIONS[version as usize..].concat();
        writer.execute_batch(&format!(
            "BEGIN IMMEDIATE; {steps} PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {known}; COMMIT"
        ))?;
    }
    if let Some(pages) = config.max_pages {
        writer.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    Ok(())
}

enum Owner {
    /// The file is empty.
    Nobody,
    Us {
        version: i32,
    },
    Another,
}

fn look_at(connection: &Connection) -> rusqlite::Result<Owner> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let objects: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match pragma("application_id")? {
        APPLICATION_ID => Owner::Us {
            version: pragma("user_version")?,
        },
        0 if objects == 0 && pragma("user_version")? == 0 => Owner::Nobody,
        _ => Owner::Another,
    })
}

fn settle(connection: &Connection, cache_bytes: i32) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(KEPT_STATEMENTS);
    connection.pragma_update(None, "cache_size", -(cache_bytes / 1024))?;
    connection.pragma_update(None, "temp_store", "memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let directory = std::env::temp_dir().join(format!("extenddb-sqlite-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        directory.join("data.sqlite")
    }

    fn at(path: &Path) -> Config {
        Config {
            place: Place::File(path.to_owned()),
            synchronous: Synchronous::Off,
            max_pages: None,
        }
    }

    fn clear(path: &Path) {
        std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }

    #[test]
    fn a_file_has_one_server_at_a_time() {
        let path = scratch("one");
        let first = open(&at(&path)).unwrap();
        assert!(matches!(open(&at(&path)), Err(OpenError::InUse(_))));
        let link = path.with_file_name("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(matches!(open(&at(&link)), Err(OpenError::InUse(_))));
        drop(first);
        open(&at(&link)).unwrap();
        clear(&path);
    }

    #[test]
    fn a_file_of_a_later_version_is_left_as_it_is() {
        let path = scratch("later");
        drop(open(&at(&path)).unwrap());
        let later = MIGRATIONS.len() as i32 + 1;
        Connection::open(&path)
            .unwrap()
            .pragma_update(None, "user_version", later)
            .unwrap();
        let before = std::fs::read(&path).unwrap();
        let refused = open(&at(&path)).err().unwrap();
        assert!(
            matches!(refused, OpenError::Newer { found, known, .. } if found == later && known == later - 1),
            "{refused}"
        );
        assert_eq!(std::fs::read(&path).unwrap(), before);
        clear(&path);
    }

    #[test]
    fn a_file_that_is_not_ours_is_left_as_it_is() {
        let path = scratch("foreign");
        Connection::open(&path)
            .unwrap()
            .execute_batch("CREATE TABLE shopping (thing TEXT)")
            .unwrap();
        let before = std::fs::read(&path).unwrap();
        assert!(matches!(open(&at(&path)), Err(OpenError::NotOurs(_))));
        assert_eq!(std::fs::read(&path).unwrap(), before);
        std::fs::write(&path, "Dear diary, ".repeat(1000)).unwrap();
        assert!(matches!(open(&at(&path)), Err(OpenError::NotOurs(_))));
        clear(&path);
    }

    #[test]
    fn only_the_owner_can_read_the_file() {
        use std::os::unix::fs::PermissionsExt;
        let path = scratch("mode");
        let _open = open(&at(&path)).unwrap();
        for suffix in ["", "-wal", "-lock"] {
            let mode = std::fs::metadata(beside(&path, suffix))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600, "{suffix}");
        }
        clear(&path);
    }

    #[test]
    fn a_missing_directory_is_not_made() {
        let refused = open(&at(Path::new("/nowhere/data.sqlite"))).err().unwrap();
        assert!(matches!(refused, OpenError::File { .. }), "{refused}");
    }
}
