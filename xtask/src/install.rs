//! Copying the built extension into a PostgreSQL installation.

use std::{
    fs,
    path::{Path, PathBuf},
};

use eyre::{WrapErr, eyre};

use crate::{
    library,
    schema::{self, VERSION},
};

pub fn install(built: &Path, pg_config: &Path, destdir: Option<&Path>) -> eyre::Result<()> {
    let libraries = place(destdir, library::pg_config(pg_config, "pkglibdir")?);
    let extensions = place(destdir, library::pg_config(pg_config, "sharedir")?).join("extension");
    for folder in [&libraries, &extensions] {
        fs::create_dir_all(folder).wrap_err_with(|| format!("cannot create {}", folder.display()))?;
    }

    let script = built.with_file_name(format!("extenddb--{VERSION}.sql"));
    schema::write(built, &script)?;
    put(&fs::read(built)?, &libraries.join("extenddb.so"), 0o755)?;
    put(
        &fs::read(&script)?,
        &extensions.join(format!("extenddb--{VERSION}.sql")),
        0o644,
    )?;
    for upgrade in upgrade_scripts()? {
        let name = upgrade
            .file_name()
            .ok_or_else(|| eyre!("{} has no name", upgrade.display()))?;
        put(&fs::read(&upgrade)?, &extensions.join(name), 0o644)?;
    }
    let control = fs::read_to_string(schema::control_file())?.replace("@CARGO_VERSION@", VERSION);
    put(control.as_bytes(), &extensions.join("extenddb.control"), 0o644)?;
    println!(
        "extenddb {VERSION} is installed. A server that preloads it needs a restart, other sessions a new connection."
    );
    Ok(())
}

/// `sql/extenddb--0.1.0--0.2.0.sql` and the like.
fn upgrade_scripts() -> eyre::Result<Vec<PathBuf>> {
    let mut scripts = Vec::new();
    for entry in fs::read_dir(library::workspace().join("sql"))? {
        let path = entry?.path();
        let is_script = |name: &str| name.starts_with("extenddb--") && name.ends_with(".sql");
        if path
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(is_script)
        {
            scripts.push(path);
        }
    }
    scripts.sort();
    Ok(scripts)
}

fn place(destdir: Option<&Path>, path: String) -> PathBuf {
    match destdir {
        Some(root) => root.join(path.trim_start_matches('/')),
        None => PathBuf::from(path),
    }
}

/// Writes beside the target and renames over it, so that servers that have the old library mapped keep it whole:
/// written over in place, it ends them with SIGSEGV or SIGBUS.
fn put(bytes: &[u8], target: &Path, mode: u32) -> eyre::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mut beside = target.as_os_str().to_owned();
    beside.push(format!(".{}.new", std::process::id()));
    let beside = PathBuf::from(beside);
    let write = || {
        fs::write(&beside, bytes)?;
        fs::set_permissions(&beside, fs::Permissions::from_mode(mode))?;
        fs::rename(&beside, target)
    };
    write().map_err(|cause| {
        let hint = match cause.kind() {
            std::io::ErrorKind::PermissionDenied => as_root(),
            _ => String::new(),
        };
        eyre!("cannot write {}: {cause}{hint}", target.display())
    })?;
    println!("{}", target.display());
    Ok(())
}

/// The library is built by now, and root often has no cargo.
fn as_root() -> String {
    let mut command: Vec<String> = std::env::args().skip(1).collect();
    if !command.iter().any(|argument| argument == "--no-build") {
        command.push("--no-build".into());
    }
    let here = std::env::current_dir().unwrap_or_default();
    let program = std::env::current_exe().unwrap_or_else(|_| "xtask".into());
    let program = program.strip_prefix(here).unwrap_or(&program).display();
    format!(
        "\nhint: it is built; now as root: sudo {program} {}",
        command.join(" ")
    )
}
