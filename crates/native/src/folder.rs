//! Packages that are made of the user's folders (pacote's `dir.js`): what is in them is listed, and of that only what is packed is
//! read.

use crate::git::bundles;
use crate::scripts::{prepare_folder, read_manifest};
use crate::{Interrupt, NativeError, ScriptSettings, threads};
use gantry_archive::Entry;
use gantry_engine::{Fault, PACKING_RULES, packed_files};
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
    let is_without_bundles = !bundles(&read_manifest(folder).unwrap_or_default());
    let modules = folder.join("node_modules");
    let is_left_out = |path: &Path| path == installed || is_without_bundles && path == modules;
    let mut files = Vec::new();
    list(folder, "", &is_left_out, &mut files).map_err(NativeError::io("read the folder", folder))?;
    files.sort_unstable_by(|left: &Entry<'_>, right| left.path.cmp(&right.path));
    let mut packed = packed_files(name, files)?;
    for entry in &mut packed {
        let path = folder.join(&entry.path);
        let failed = NativeError::io("read", &path);
        let data = fs::read(&path).and_then(|data| Ok((data, fs::metadata(&path)?))).map_err(failed)?;
        entry.executable = data.1.permissions().mode() & 0o111 != 0;
        entry.data = Cow::Owned(data.0);
    }
    Ok(packed)
}

/// Adds the files below `folder`, with the contents of those that decide what is packed. Links lead to nothing that is packed.
fn list(
    folder: &Path,
    inside: &str,
    is_left_out: &dyn Fn(&Path) -> bool,
    files: &mut Vec<Entry<'static>>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(text) = name.to_str().filter(|name| *name != ".git") else { continue };
        let path = if inside.is_empty() { text.to_owned() } else { format!("{inside}/{text}") };
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if !is_left_out(&entry.path()) {
                list(&entry.path(), &path, is_left_out, files)?;
            }
        } else if kind.is_file() {
            let data = if PACKING_RULES.contains(&text) { fs::read(entry.path())? } else { Vec::new() };
            files.push(Entry { path, data: Cow::Owned(data), executable: false });
        }
    }
    Ok(())
}
