//! The CREATE EXTENSION script, out of the built library.

use std::path::{Path, PathBuf};

use eyre::{WrapErr, bail, eyre};
use object::{Object, ObjectSection};
use pgrx_sql_entity_graph::{ControlFile, PgrxSql, SqlGraphEntity, section::decode_entities};

use crate::library::workspace;

/// The extension has the version of the workspace.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub fn control_file() -> PathBuf {
    workspace().join("extension/extenddb.control")
}

/// Writes the script that the entities in the library's `.pgrxsc` section describe.
pub fn write(library: &Path, out: &Path) -> eyre::Result<()> {
    let bytes = std::fs::read(library).wrap_err_with(|| format!("cannot read {}", library.display()))?;
    let object = object::File::parse(&*bytes)?;
    let section = object.section_by_name(".pgrxsc").ok_or_else(|| {
        eyre!(
            "{} has no section .pgrxsc: it was not built with pgrx 0.18",
            library.display()
        )
    })?;
    let control = ControlFile::from_path_with_cargo_version(control_file(), VERSION)?;
    let mut entities = vec![SqlGraphEntity::ExtensionRoot(control)];
    entities.extend(decode_entities(section.data()?)?);
    PgrxSql::build(entities.into_iter(), "extenddb".into(), false)?.to_file(out)?;
    // Else a database of another encoding refuses the script before the script can say what it needs.
    if let Some(line) = std::fs::read_to_string(out)?
        .lines()
        .find(|line| !line.is_ascii())
    {
        bail!("the script must be ASCII, this line is not: {line}");
    }
    Ok(())
}
