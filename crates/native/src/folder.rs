//! The files of folders that packages are made of: of a repository all of them; of a folder of the user (pacote's `dir.js`) those that
//! are packed.

use crate::scripts::{prepare_folder, read_manifest};
use crate::{Interrupt, NativeError, ScriptSettings, threads};
use gantry_archive::Entry;
use gantry_engine::{Fault, PACKING_RULES, packed_files};
use serde_json::Value;
use std::borrow::Cow;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// How a folder is got ready.
pub(crate) struct Preparing {
    pub scripts: ScriptSettings,
    pub interrupt: Interrupt,
}

/// The files of the package that is made of `folder`, sorted by path, for which it is got ready first if that is said. `name` is
/// for messages. What is in `installed` is left out: what an install makes has no say in what it makes.
pub(crate) async fn packed(
    name: &str,
    (folder, installed): (PathBuf, PathBuf),
    preparing: Option<Preparing>,
) -> Result<Vec<Entry<'static>>, Fault> {
    let name = name.to_owned();
    let packing = threads::aside(move || {
        let folder = fs::canonicalize(&folder).map_err(NativeError::io("read", &folder))?;
        if let Some(Preparing { scripts, interrupt }) = preparing {
            prepare_folder(&folder, &scripts, &interrupt)?;
        }
        pack(&name, &folder, &fs::canonicalize(&installed).unwrap_or(installed))
    });
    let lost = || NativeError::Task { message: "a thread that packs a folder was lost".to_owned() };
    packing.await.unwrap_or_else(|| Err(lost().into()))
}

fn pack(name: &str, folder: &Path, installed: &Path) -> Result<Vec<Entry<'static>>, Fault> {
    let installed = installed.strip_prefix(folder).ok();
    let is_rule = |name: &str| PACKING_RULES.contains(&name);
    let files = files_in(folder, &|path| installed == Some(Path::new(path)), &is_rule)
        .map_err(NativeError::io("read the folder", folder))?;
    let mut packed = packed_files(name, files)?;
    for entry in &mut packed {
        let path = folder.join(&entry.path);
        entry.data = Cow::Owned(fs::read(&path).map_err(NativeError::io("read", &path))?);
    }
    Ok(packed)
}

/// The files in a folder, sorted by path, without what git itself keeps there; what is installed in it is among them only where it is
/// part of the package. Links lead to nothing that is packed. `is_left_out` is asked for folders, by path, and `is_read` for files, by
/// name: the others come without contents.
pub(crate) fn files_in(
    folder: &Path,
    is_left_out: &dyn Fn(&str) -> bool,
    is_read: &dyn Fn(&str) -> bool,
) -> io::Result<Vec<Entry<'static>>> {
    let brings_along = bundles(&read_manifest(folder).unwrap_or_default());
    let is_left_out = |path: &str| path == "node_modules" && !brings_along || is_left_out(path);
    let mut files = Vec::new();
    list(folder, "", &is_left_out, is_read, &mut files)?;
    files.sort_unstable_by(|left: &Entry<'_>, right| left.path.cmp(&right.path));
    Ok(files)
}

fn list(
    folder: &Path,
    inside: &str,
    is_left_out: &dyn Fn(&str) -> bool,
    is_read: &dyn Fn(&str) -> bool,
    files: &mut Vec<Entry<'static>>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(text) = name.to_str().filter(|name| *name != ".git") else { continue };
        let path = if inside.is_empty() { text.to_owned() } else { format!("{inside}/{text}") };
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if !is_left_out(&path) {
                list(&entry.path(), &path, is_left_out, is_read, files)?;
            }
        } else if kind.is_file() {
            let executable = entry.metadata()?.permissions().mode() & 0o111 != 0;
            let data = if is_read(text) { fs::read(entry.path())? } else { Vec::new() };
            files.push(Entry { path, data: Cow::Owned(data), executable });
        }
    }
    Ok(())
}

/// Whether a package carries some of what it depends on.
pub(crate) fn bundles(manifest: &Value) -> bool {
    ["bundleDependencies", "bundledDependencies"].iter().any(|member| match &manifest[*member] {
        Value::Bool(all) => *all,
        Value::Array(names) => !names.is_empty(),
        _ => false,
    })
}
