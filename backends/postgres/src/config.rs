//! Where the database is: a connection string, and for what it does not say the environment and defaults of libpq.

use std::{path::Path, time::Duration};

use tokio_postgres::config::{Host, SslMode};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A dead peer is noticed after about this long without traffic.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);

/// Where Debian's and most builds' servers put their sockets, then PostgreSQL's own default.
const SOCKET_DIRECTORIES: [&str; 2] = ["/var/run/postgresql", "/tmp"];

pub struct Config {
    pub connection: tokio_postgres::Config,
    /// The most sessions at a time.
    pub pool_size: usize,
    /// The deadline of a request, waiting for a session included, and `statement_timeout`.
    pub request_timeout: Duration,
    pub synchronous_commit: SynchronousCommit,
    pub batching: Batching,
    pub limits: Limits,
}

/// How requests on single items travel together.
#[derive(Clone, Copy, Debug)]
pub struct Batching {
    /// The most requests of one statement. More of them gain little, and each waits for the slowest. With 1 every request
    /// travels by itself.
    pub max: usize,
    /// The most statements of reads, and of writes, at a time. More than keep the server's CPUs and its log busy make the
    /// batches smaller, and each statement costs what it costs beside its requests.
    pub reads: usize,
    pub writes: usize,
    /// They queue while sessions are free too, so that tests meet nothing else.
    pub always: bool,
}

/// How many requests on single items may wait for a session or a lock, those that travel together included, and how
/// many bytes of bodies; past it they are throttled.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub requests: usize,
    pub bytes: usize,
}

/// What a commit waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SynchronousCommit {
    /// At least `on`, whatever the database or role sets; `remote_apply` where the server says so.
    #[default]
    Durable,
    Off,
    Local,
    RemoteWrite,
    On,
    RemoteApply,
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("the connection string of PostgreSQL is not valid: {0}")]
    ConnectionString(#[source] tokio_postgres::Error),
    #[error("{variable} is not valid: {value}")]
    Variable { variable: &'static str, value: String },
    #[error(
        "sslmode={0} asks for TLS to PostgreSQL, which this build does not have; use a Unix socket, a private network or a \
         TLS tunnel, with sslmode=prefer or disable"
    )]
    Tls(&'static str),
}

/// `conninfo` is `key=value …` or a `postgresql://` URL.
pub fn connection_settings(
    conninfo: Option<&str>,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<tokio_postgres::Config, ConfigError> {
    let mut config: tokio_postgres::Config = conninfo
        .unwrap_or("")
        .parse()
        .map_err(ConfigError::ConnectionString)?;
    let variable = |name: &'static str| environment(name).filter(|value| !value.is_empty());

    if config.get_ports().is_empty()
        && let Some(value) = variable("PGPORT")
    {
        for port in value.split(',') {
            match port.parse() {
                Ok(port) => config.port(port),
                Err(_) => {
                    return Err(ConfigError::Variable {
                        variable: "PGPORT",
                        value,
                    });
                }
            };
        }
    }
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        match variable("PGHOST") {
            Some(hosts) => hosts.split(',').for_each(|host| {
                config.host(host);
            }),
            None => {
                config.host(default_host());
            }
        }
    }
    if config.get_user().is_none()
        && let Some(user) = variable("PGUSER")
    {
        config.user(user);
    }
    if config.get_dbname().is_none()
        && let Some(dbname) = variable("PGDATABASE")
    {
        config.dbname(dbname);
    }
    if config.get_password().is_none()
        && let Some(password) = variable("PGPASSWORD")
    {
        config.password(password);
    }
    if config.get_options().is_none()
        && let Some(options) = variable("PGOPTIONS")
    {
        config.options(options);
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(match variable("PGCONNECT_TIMEOUT") {
            None => CONNECT_TIMEOUT,
            Some(value) => match value.parse() {
                Ok(seconds) => Duration::from_secs(seconds),
                Err(_) => {
                    return Err(ConfigError::Variable {
                        variable: "PGCONNECT_TIMEOUT",
                        value,
                    });
                }
            },
        });
    }
    if config.get_application_name().is_none() {
        config.application_name(variable("PGAPPNAME").unwrap_or_else(|| "extenddb".into()));
    }
    if !conninfo.is_some_and(|conninfo| conninfo.contains("keepalives_idle")) {
        config.keepalives_idle(KEEPALIVE_IDLE);
    }
    match variable("PGSSLMODE").as_deref() {
        Some("require" | "verify-ca" | "verify-full")
            if !conninfo.is_some_and(|conninfo| conninfo.contains("sslmode")) =>
        {
            Err(ConfigError::Tls("require"))
        }
        _ if config.get_ssl_mode() == SslMode::Require => Err(ConfigError::Tls("require")),
        _ => Ok(config),
    }
}

fn default_host() -> &'static str {
    SOCKET_DIRECTORIES
        .into_iter()
        .find(|directory| has_socket(Path::new(directory)))
        .unwrap_or("localhost")
}

fn has_socket(directory: &Path) -> bool {
    std::fs::read_dir(directory).is_ok_and(|mut entries| {
        entries.any(|entry| {
            entry.is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with(".s.PGSQL."))
        })
    })
}

impl Config {
    /// Hosts and ports for messages. Never the password.
    pub(crate) fn place(&self) -> String {
        let ports = self.connection.get_ports();
        let hosts = self.connection.get_hosts().iter().map(|host| match host {
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(directory) => directory.display().to_string(),
        });
        let addresses = self.connection.get_hostaddrs().iter().map(ToString::to_string);
        let places: Vec<String> = if self.connection.get_hosts().is_empty() {
            addresses.collect()
        } else {
            hosts.collect()
        };
        let with_port = |(i, place): (usize, String)| {
            let port = ports.get(i).or(ports.first()).copied().unwrap_or(5432);
            format!("{place} (port {port})")
        };
        places
            .into_iter()
            .enumerate()
            .map(with_port)
            .collect::<Vec<_>>()
            .join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(conninfo: Option<&str>, environment: &[(&str, &str)]) -> tokio_postgres::Config {
        connection_settings(conninfo, |name| {
            environment
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| value.to_string())
        })
        .unwrap()
    }

    #[test]
    fn the_environment_fills_what_the_connection_string_leaves_open() {
        let environment = [
            ("PGHOST", "/run/pg"),
            ("PGPORT", "6000"),
            ("PGUSER", "app"),
            ("PGDATABASE", "orders"),
            ("PGPASSWORD", "secret"),
        ];
        let config = settings(None, &environment);
        assert_eq!(config.get_hosts(), [Host::Unix("/run/pg".into())]);
        assert_eq!(config.get_ports(), [6000]);
        assert_eq!(
            (config.get_user(), config.get_dbname()),
            (Some("app"), Some("orders"))
        );
        assert_eq!(config.get_password(), Some("secret".as_bytes()));
        assert_eq!(config.get_application_name(), Some("extenddb"));

        let config = settings(Some("postgresql://me@db.example:7000/other"), &environment);
        assert_eq!(config.get_hosts(), [Host::Tcp("db.example".into())]);
        assert_eq!(config.get_ports(), [7000]);
        assert_eq!(
            (config.get_user(), config.get_dbname()),
            (Some("me"), Some("other"))
        );
    }

    #[test]
    fn tls_is_refused_rather_than_left_out() {
        assert!(matches!(
            connection_settings(Some("host=db sslmode=require"), |_| None),
            Err(ConfigError::Tls(_))
        ));
        let required = |name: &str| (name == "PGSSLMODE").then(|| "verify-full".to_owned());
        assert!(matches!(
            connection_settings(Some("host=db"), required),
            Err(ConfigError::Tls(_))
        ));
    }

    #[test]
    fn a_wrong_port_is_named() {
        let wrong = |name: &str| (name == "PGPORT").then(|| "54x".to_owned());
        let error = connection_settings(None, wrong).unwrap_err();
        assert_eq!(error.to_string(), "PGPORT is not valid: 54x");
    }
}
