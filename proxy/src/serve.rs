//! `extenddb serve`: what it may be told, and what it refuses to start with.

use std::{
    io::IsTerminal,
    net::{SocketAddr, ToSocketAddrs},
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use clap::{Args, ValueEnum};
use time::{UtcDateTime, format_description::well_known::Rfc3339};
use tokio::{
    net::TcpListener,
    runtime,
    signal::unix::{SignalKind, signal},
};
use tracing_subscriber::EnvFilter;

use crate::{
    backend::{Backend, BackendOptions, ChoiceError, Chosen},
    front::Front,
    server,
    signature::{Authentication, Key, SessionToken, Verifier},
    welcome,
};

#[derive(Args)]
pub struct Options {
    /// Where to listen, HOST:PORT; several are separated by commas
    #[arg(
        long,
        env = "EXTENDDB_LISTEN",
        value_name = "HOST:PORT",
        value_delimiter = ',',
        default_value = "127.0.0.1:8000"
    )]
    listen: Vec<String>,

    #[command(flatten)]
    backend: BackendOptions,

    /// How signatures are checked; strict by default where a key is set or others than this machine can connect, else
    /// format. The key is EXTENDDB_ACCESS_KEY_ID and EXTENDDB_SECRET_ACCESS_KEY, else AWS_ACCESS_KEY_ID,
    /// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN
    #[arg(long, env = "EXTENDDB_AUTH", value_name = "MODE")]
    auth: Option<Auth>,

    /// The region that this server is
    #[arg(long, env = "EXTENDDB_REGION", default_value = "us-east-1", value_parser = region)]
    region: String,

    /// The account whose tables are served, 12 digits
    #[arg(long, env = "EXTENDDB_ACCOUNT", default_value = "000000000000", value_parser = account)]
    account: String,

    /// The deadline of a request, like 30s or 500ms
    #[arg(long, env = "EXTENDDB_REQUEST_TIMEOUT", value_name = "TIME", default_value = "30s", value_parser = duration)]
    request_timeout: Duration,

    /// At a stop, how long running requests may take to end
    #[arg(long, env = "EXTENDDB_DRAIN_TIMEOUT", value_name = "TIME", default_value = "30s", value_parser = duration)]
    drain_timeout: Duration,

    #[arg(
        long,
        env = "EXTENDDB_LOG_FORMAT",
        value_name = "FORMAT",
        default_value = "text"
    )]
    log_format: LogFormat,

    /// What is logged: a level, or levels by part, like info,extenddb::front=debug for a line a request
    #[arg(long, env = "EXTENDDB_LOG", value_name = "FILTER", default_value = "info")]
    log: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Auth {
    /// Signatures are verified with the one key
    Strict,
    /// Signatures must be complete; anyone is believed
    Format,
    /// Signatures are not looked at; on loopback only
    None,
}

#[derive(Clone, Copy, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

/// Why the server does not start, with what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error("cannot listen on {address}: {cause}{hint}")]
    Listen {
        address: String,
        cause: std::io::Error,
        hint: &'static str,
    },
    #[error(
        "--auth none lets anyone in who can connect, and {0} is not a loopback address\nhint: listen on 127.0.0.1, or set \
         AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY and use --auth strict"
    )]
    OpenToAll(SocketAddr),
    #[error(
        "signatures cannot be verified without a key\nhint: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the same as \
         the clients', or listen on loopback only with --auth format"
    )]
    NoKey,
    #[error("{set} is set and {missing} is not\nhint: a key has two parts; set both or none")]
    HalfKey {
        set: &'static str,
        missing: &'static str,
    },
    #[error("AWS_CREDENTIAL_EXPIRATION is not a time like 2026-01-01T00:00:00Z: {0}")]
    Expiration(String),
    #[error("the log filter is not valid: {0}")]
    Log(tracing_subscriber::filter::ParseError),
    #[error(transparent)]
    Backend(#[from] ChoiceError),
    #[error("cannot start: {0}")]
    System(std::io::Error),
}

pub fn run(options: Options) -> Result<(), Refusal> {
    start_log(&options)?;
    let listen = resolve(&options.listen)?;
    let key = key(environment)?;
    let authentication = authentication(options.auth, key, &listen, &options.region)?;
    runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(Refusal::System)?
        .block_on(serve(options, listen, authentication))
}

async fn serve(
    options: Options,
    listen: Vec<SocketAddr>,
    authentication: Authentication,
) -> Result<(), Refusal> {
    let stop = stop_signal().map_err(Refusal::System)?;
    let backend = options
        .backend
        .open(
            &options.region,
            &options.account,
            options.request_timeout,
            environment,
        )
        .await?;
    let mut listeners = Vec::new();
    for address in listen {
        listeners.push(
            TcpListener::bind(address)
                .await
                .map_err(|cause| not_listening(address, cause))?,
        );
    }
    for listener in &listeners {
        tracing::info!(
            address = listener
                .local_addr()
                .map_or_else(|_| String::new(), |address| address.to_string()),
            auth = authentication.name(),
            region = options.region,
            backend = named(&backend),
            "listening"
        );
    }
    if let (Chosen::Sqlite { place, .. }, LogFormat::Text) = (&backend, options.log_format) {
        welcome::print(&listeners, place, &authentication, &options.region);
    }
    let front = Arc::new(Front {
        backend,
        authentication,
        region: options.region,
        account: options.account,
        body_timeout: options.request_timeout,
        stopping: AtomicBool::new(false),
    });
    server::run(listeners, front.clone(), stop, options.drain_timeout).await;
    front.backend.close().await;
    tracing::info!("stopped");
    Ok(())
}

/// For the log.
fn named(backend: &Chosen) -> String {
    match backend {
        Chosen::Postgres(postgres) => format!("PostgreSQL, extension {}", postgres.extension_version()),
        Chosen::Sqlite { place, .. } => format!("SQLite, {place}"),
    }
}

/// Done at the first SIGTERM or SIGINT; the second ends the process at once.
fn stop_signal() -> Result<impl Future<Output = ()>, std::io::Error> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let (first, done) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        let mut next = async || tokio::select! { _ = terminate.recv() => 143, _ = interrupt.recv() => 130 };
        next().await;
        let _ = first.send(());
        std::process::exit(next().await);
    });
    Ok(async {
        let _ = done.await;
    })
}

pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn start_log(options: &Options) -> Result<(), Refusal> {
    let filter = EnvFilter::builder().parse(&options.log).map_err(Refusal::Log)?;
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    match options.log_format {
        LogFormat::Text => log.with_ansi(std::io::stderr().is_terminal()).init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
    Ok(())
}

fn resolve(listen: &[String]) -> Result<Vec<SocketAddr>, Refusal> {
    let mut addresses = Vec::new();
    for name in listen {
        match name.to_socket_addrs() {
            Ok(found) => addresses.extend(found),
            Err(cause) => {
                let hint = "\nhint: write HOST:PORT, like 127.0.0.1:8000 or [::1]:8000";
                return Err(Refusal::Listen {
                    address: name.clone(),
                    cause,
                    hint,
                });
            }
        }
    }
    addresses.dedup();
    Ok(addresses)
}

fn not_listening(address: SocketAddr, cause: std::io::Error) -> Refusal {
    let hint = match cause.kind() {
        std::io::ErrorKind::AddrInUse => {
            "\nhint: something listens there already; choose another with --listen"
        }
        std::io::ErrorKind::PermissionDenied => {
            "\nhint: ports below 1024 need a privilege; choose a higher one"
        }
        _ => "",
    };
    Refusal::Listen {
        address: address.to_string(),
        cause,
        hint,
    }
}

/// Our own variables come first and are taken whole: a key is never put together from both.
fn key(environment: impl Fn(&str) -> Option<String>) -> Result<Option<Key>, Refusal> {
    const OURS: [&str; 2] = ["EXTENDDB_ACCESS_KEY_ID", "EXTENDDB_SECRET_ACCESS_KEY"];
    const AWS: [&str; 2] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];
    for names @ [id_name, secret_name] in [OURS, AWS] {
        let (access_key_id, secret) = match names.map(&environment) {
            [Some(access_key_id), Some(secret)] => (access_key_id, secret),
            [Some(_), None] => {
                return Err(Refusal::HalfKey {
                    set: id_name,
                    missing: secret_name,
                });
            }
            [None, Some(_)] => {
                return Err(Refusal::HalfKey {
                    set: secret_name,
                    missing: id_name,
                });
            }
            [None, None] => continue,
        };
        let session = match environment("AWS_SESSION_TOKEN") {
            Some(token) if names == AWS => Some(SessionToken {
                token,
                expires: expiration(environment("AWS_CREDENTIAL_EXPIRATION"))?,
            }),
            _ => None,
        };
        return Ok(Some(Key {
            access_key_id,
            secret,
            session,
        }));
    }
    Ok(None)
}

fn expiration(text: Option<String>) -> Result<Option<UtcDateTime>, Refusal> {
    let Some(text) = text else { return Ok(None) };
    match UtcDateTime::parse(&text, &Rfc3339) {
        Ok(time) => Ok(Some(time)),
        Err(_) => Err(Refusal::Expiration(text)),
    }
}

fn authentication(
    asked: Option<Auth>,
    key: Option<Key>,
    listen: &[SocketAddr],
    region: &str,
) -> Result<Authentication, Refusal> {
    let open = listen
        .iter()
        .find(|address| !address.ip().to_canonical().is_loopback());
    let default = if key.is_some() || open.is_some() {
        Auth::Strict
    } else {
        Auth::Format
    };
    match (asked.unwrap_or(default), key, open) {
        (Auth::Strict, Some(key), _) => Ok(Authentication::Strict(Verifier::new(key, region.to_owned()))),
        (Auth::Strict, None, _) => Err(Refusal::NoKey),
        (Auth::Format, _, open) => {
            if let Some(address) = open {
                tracing::warn!(%address, "--auth format believes anyone who can connect, and others than this machine can");
            }
            Ok(Authentication::Format)
        }
        (Auth::None, _, Some(address)) => Err(Refusal::OpenToAll(*address)),
        (Auth::None, _, None) => Ok(Authentication::None),
    }
}

/// A number and its unit.
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let milliseconds_each = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        _ => return Err("write a number with ms, s or min, like 30s".into()),
    };
    match number.parse::<u32>() {
        Ok(number) if number > 0 => Ok(Duration::from_millis(u64::from(number) * milliseconds_each)),
        _ => Err("write a positive number with ms, s or min, like 30s".into()),
    }
}

pub fn account(text: &str) -> Result<String, String> {
    if text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        Ok(text.to_owned())
    } else {
        Err("an account has 12 digits".into())
    }
}

pub fn region(text: &str) -> Result<String, String> {
    if !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    {
        Ok(text.to_owned())
    } else {
        Err("a region has letters, digits and dashes".into())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    fn addresses(listen: &str) -> Vec<SocketAddr> {
        resolve(&listen.split(',').map(str::to_owned).collect::<Vec<_>>()).unwrap()
    }

    fn a_key() -> Option<Key> {
        Some(Key {
            access_key_id: "a".into(),
            secret: "s".into(),
            session: None,
        })
    }

    fn chosen(asked: Option<Auth>, key: Option<Key>, listen: &str) -> Result<&'static str, Refusal> {
        authentication(asked, key, &addresses(listen), "us-east-1").map(|chosen| chosen.name())
    }

    #[test]
    fn signatures_are_verified_unless_only_this_machine_can_ask() {
        let (inside, outside) = ("127.0.0.1:1,[::1]:1", "127.0.0.1:1,0.0.0.0:1");
        assert_eq!(chosen(None, None, inside).unwrap(), "format");
        assert_eq!(chosen(None, a_key(), inside).unwrap(), "strict");
        assert_eq!(chosen(None, a_key(), outside).unwrap(), "strict");
        assert!(matches!(chosen(None, None, outside), Err(Refusal::NoKey)));
        assert!(matches!(
            chosen(Some(Auth::Strict), None, inside),
            Err(Refusal::NoKey)
        ));
        assert_eq!(chosen(Some(Auth::Format), None, outside).unwrap(), "format");
        assert_eq!(chosen(Some(Auth::None), a_key(), inside).unwrap(), "none");
        for open in [outside, "[::]:1", "192.0.2.1:1"] {
            assert!(
                matches!(
                    chosen(Some(Auth::None), a_key(), open),
                    Err(Refusal::OpenToAll(_))
                ),
                "{open}"
            );
        }
        assert_eq!(
            chosen(Some(Auth::None), None, "[::ffff:127.0.0.1]:1").unwrap(),
            "none"
        );
    }

    fn key_of(environment: &[(&str, &str)]) -> Result<Option<Key>, Refusal> {
        key(|name| {
            environment
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| value.to_string())
        })
    }

    #[test]
    fn a_key_is_never_put_together_from_two() {
        let aws = [
            ("AWS_ACCESS_KEY_ID", "aws"),
            ("AWS_SECRET_ACCESS_KEY", "s"),
            ("AWS_SESSION_TOKEN", "t"),
        ];
        let found = key_of(&aws).unwrap().unwrap();
        assert_eq!(
            (
                found.access_key_id.as_str(),
                found.session.unwrap().token.as_str()
            ),
            ("aws", "t")
        );

        let ours = [
            ("EXTENDDB_ACCESS_KEY_ID", "ours"),
            ("EXTENDDB_SECRET_ACCESS_KEY", "s"),
        ];
        let found = key_of(&[&aws[..], &ours].concat()).unwrap().unwrap();
        assert_eq!(
            (found.access_key_id.as_str(), found.session.is_none()),
            ("ours", true)
        );

        assert!(key_of(&[]).unwrap().is_none());
        assert!(matches!(
            key_of(&aws[..1]),
            Err(Refusal::HalfKey {
                missing: "AWS_SECRET_ACCESS_KEY",
                ..
            })
        ));
        let half = [&aws[..], &ours[1..]].concat();
        assert!(matches!(
            key_of(&half),
            Err(Refusal::HalfKey {
                missing: "EXTENDDB_ACCESS_KEY_ID",
                ..
            })
        ));
        let expiring = |time| key_of(&[&aws[..], &[("AWS_CREDENTIAL_EXPIRATION", time)]].concat());
        let session = expiring("2026-01-01T00:00:00Z")
            .unwrap()
            .unwrap()
            .session
            .unwrap();
        assert_eq!(
            session.expires,
            Some(time::macros::utc_datetime!(2026-01-01 00:00:00))
        );
        assert!(matches!(expiring("soon"), Err(Refusal::Expiration(_))));
    }

    #[test]
    fn settings_are_checked_when_they_are_read() {
        let read = |arguments: &[&str]| Line::try_parse_from([&["x"], arguments].concat());
        let options = read(&["--request-timeout", "500ms", "--drain-timeout", "2min"])
            .unwrap()
            .options;
        assert_eq!(options.request_timeout, Duration::from_millis(500));
        assert_eq!(options.drain_timeout, Duration::from_secs(120));
        for wrong in [
            ["--request-timeout", "30"],
            ["--request-timeout", "0s"],
            ["--request-timeout", "s"],
            ["--account", "12345678901"],
            ["--account", "12345678901x"],
            ["--region", "us east"],
            ["--auth", "some"],
        ] {
            assert!(read(&wrong).is_err(), "{wrong:?}");
        }
    }
}
