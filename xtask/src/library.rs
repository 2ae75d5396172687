//! Building the shared library, and asking pg_config.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use eyre::{WrapErr, bail, eyre};

use crate::Build;

/// Builds the extension; answers the path of the shared library as cargo names it.
pub fn build(build: &Build) -> eyre::Result<PathBuf> {
    let mut features = build.features.clone();
    if !features.iter().any(|feature| is_version(feature)) {
        features.push(format!("pg{}", major_version(&build.pg_config)?));
    }
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args(["build", "--package", "extenddb", "--no-default-features"])
        .args([
            "--features",
            &features.join(","),
            "--message-format",
            "json-render-diagnostics",
        ])
        .current_dir(workspace())
        .env("PGRX_PG_CONFIG_PATH", on_path(&build.pg_config)?)
        .stderr(Stdio::inherit());
    if build.release {
        cargo.arg("--release");
    }
    let output = cargo.output().wrap_err("cannot run cargo")?;
    if !output.status.success() {
        bail!("the extension did not build ({})", output.status);
    }
    library_of(&String::from_utf8(output.stdout)?)
        .ok_or_else(|| eyre!("cargo built the extension but named no shared library"))
}

/// The library that an earlier build left in the target directory that this program stands in.
pub fn built(build: &Build) -> eyre::Result<PathBuf> {
    let program = std::env::current_exe()?;
    let target = program
        .ancestors()
        .nth(2)
        .ok_or_else(|| eyre!("{} stands nowhere", program.display()))?;
    let library = target
        .join(if build.release { "release" } else { "debug" })
        .join("libextenddb.so");
    if !library.is_file() {
        bail!(
            "there is no {}; build the extension first, or leave out --no-build",
            library.display()
        );
    }
    Ok(library)
}

/// The library in cargo's messages, one JSON document a line.
fn library_of(messages: &str) -> Option<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["reason"] == "compiler-artifact" && message["target"]["name"] == "extenddb")
        .filter(|message| {
            message["target"]["crate_types"]
                .as_array()
                .is_some_and(|c| c.iter().any(|c| c == "cdylib"))
        })
        .find_map(|message| message["filenames"][0].as_str().map(PathBuf::from))
}

pub fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// What `pg_config --{what}` answers.
pub fn pg_config(pg_config: &Path, what: &str) -> eyre::Result<String> {
    let output = Command::new(pg_config)
        .arg(format!("--{what}"))
        .output()
        .wrap_err_with(|| {
            format!(
                "cannot run {}; name it with --pg-config PATH",
                pg_config.display()
            )
        })?;
    if !output.status.success() {
        bail!(
            "{} --{what} failed: {}",
            pg_config.display(),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

fn is_version(feature: &str) -> bool {
    feature
        .strip_prefix("pg")
        .is_some_and(|version| version.parse::<u32>().is_ok())
}

/// 15 of `PostgreSQL 15.20 (Debian 15.20-0+deb12u1)`.
fn major_version(path: &Path) -> eyre::Result<u32> {
    let version = pg_config(path, "version")?;
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    version
        .strip_prefix("PostgreSQL ")
        .and_then(|number| digits(number).parse().ok())
        .ok_or_else(|| eyre!("{} answers no version of PostgreSQL: {version}", path.display()))
}

/// pgrx's build script wants a path, not a name to be looked up.
fn on_path(program: &Path) -> eyre::Result<PathBuf> {
    if program.components().count() > 1 {
        return Ok(program.to_owned());
    }
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
        .ok_or_else(|| {
            eyre!(
                "there is no {} on the PATH; name it with --pg-config PATH",
                program.display()
            )
        })
}
