//! Answers about a tree in the form that JavaScript takes them: the same from the coordinator and from a worker that reads
//! by itself. Paths are those of [`VirtualTree`]; what has no answer is a fault with Node's code and kind of message.

use crate::javascript::to_object;
use crate::project::tree_fault;
use gantry_engine::Fault;
use gantry_layout::{FileKind, FileLocation, FileSource, FileStatus, TreeEntry, VirtualTree};
use js_sys::{Array, Float64Array, Object, Reflect, Uint8Array, Uint32Array};
use rustc_hash::FxHashMap;
use serde::Serialize;
use wasm_bindgen::prelude::*;

/// What `stat` tells.
#[derive(Debug, Serialize)]
struct Status {
    kind: &'static str,
    size: u64,
    mode: u32,
}

#[derive(Debug, Serialize)]
struct DirectoryEntry {
    name: String,
    kind: &'static str,
}

/// `file`, `directory` or `symlink`.
fn kind_name(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "file",
        FileKind::Directory => "directory",
        FileKind::Symlink => "symlink",
    }
}

impl From<FileStatus> for Status {
    fn from(status: FileStatus) -> Self {
        let mode = match (status.kind, status.executable) {
            (FileKind::Directory, _) => 0o040_755,
            (FileKind::Symlink, _) => 0o120_777,
            (FileKind::File, executable) => file_mode(executable),
        };
        Self { kind: kind_name(status.kind), size: status.size, mode }
    }
}

fn file_mode(executable: bool) -> u32 {
    if executable { 0o100_755 } else { 0o100_644 }
}

/// What is at a path, links followed.
pub(crate) fn stat(tree: &VirtualTree, path: &str) -> Result<JsValue, Fault> {
    to_object(&Status::from(tree.stat(path).map_err(|error| tree_fault(&error, "stat"))?))
}

/// What is at a path, a link at its end not followed.
pub(crate) fn lstat(tree: &VirtualTree, path: &str) -> Result<JsValue, Fault> {
    to_object(&Status::from(tree.lstat(path).map_err(|error| tree_fault(&error, "lstat"))?))
}

/// Names in a folder, sorted, each with what it is; or paths of all that is below it.
pub(crate) fn read_directory(tree: &VirtualTree, path: &str, recursive: bool) -> Result<JsValue, Fault> {
    let found = if recursive { tree.read_directory_recursively(path) } else { tree.read_directory(path) };
    let found = found.map_err(|error| tree_fault(&error, "scandir"))?;
    let entries: Vec<DirectoryEntry> =
        found.into_iter().map(|(name, kind)| DirectoryEntry { name, kind: kind_name(kind) }).collect();
    to_object(&entries)
}

/// Target of a link.
pub(crate) fn read_link(tree: &VirtualTree, path: &str) -> Result<String, Fault> {
    tree.read_link(path).map_err(|error| tree_fault(&error, "readlink"))
}

/// The path without links.
pub(crate) fn real_path(tree: &VirtualTree, path: &str) -> Result<String, Fault> {
    tree.real_path(path).map_err(|error| tree_fault(&error, "realpath"))
}

/// Where a file's bytes are, links followed: `{ mode, size, key, offset }`, or `{ mode, size, bytes }` for a file that no
/// package has. The place stays right when the tree changes: what a key names is never anything else.
pub(crate) fn locate(tree: &VirtualTree, path: &str) -> Result<JsValue, Fault> {
    let source = tree.open(path).map_err(|error| tree_fault(&error, "open"))?;
    let object = Object::new();
    set(&object, "mode", &file_mode(source.is_executable()).into());
    set(&object, "size", &number(source.size()));
    match source {
        FileSource::Stored(FileLocation { key, offset, .. }) => {
            set(&object, "key", &key.as_str().into());
            set(&object, "offset", &number(offset));
        }
        FileSource::Bytes(bytes) => set(&object, "bytes", &Uint8Array::from(&*bytes)),
    }
    Ok(object.into())
}

/// Every file and link of a tree, in columns: an object for each would cost more than all else. Sorted by path.
///
/// `paths`, `targets` (of links) and `keys` (of packages) are texts joined by NUL. For each path, `kinds` has 0 for a file, 1
/// for one that may be run, 2 for a link, 3 for a file that no package has, whose bytes are in `made`; `packages` (a number
/// in `keys`), `offsets` and `sizes` say where a file's bytes are.
pub(crate) fn listing(tree: &VirtualTree) -> JsValue {
    let entries = tree.entries();
    let mut numbers: FxHashMap<String, u32> = FxHashMap::default();
    let (mut paths, mut targets, mut keys) = (Vec::new(), Vec::new(), Vec::new());
    let (mut kinds, mut packages) = (Vec::new(), Vec::new());
    let (mut offsets, mut sizes) = (Vec::new(), Vec::new());
    let made = Array::new();
    for (path, entry) in entries {
        paths.push(path);
        let (kind, package, offset, size) = match entry {
            TreeEntry::Symlink(target) => {
                targets.push(target);
                (2, 0, 0, 0)
            }
            TreeEntry::File(FileSource::Bytes(bytes)) => {
                made.push(&Uint8Array::from(&*bytes));
                (3, 0, 0, bytes.len() as u64)
            }
            TreeEntry::File(FileSource::Stored(FileLocation { key, offset, size, executable })) => {
                let next = u32::try_from(keys.len()).expect("as many packages do not fit in memory");
                let package = *numbers.entry(key.to_string()).or_insert_with(|| {
                    keys.push(key.to_string());
                    next
                });
                (u8::from(executable), package, offset, size)
            }
        };
        kinds.push(kind);
        packages.push(package);
        offsets.push(to_f64(offset));
        sizes.push(to_f64(size));
    }
    let object = Object::new();
    set(&object, "paths", &paths.join("\0").into());
    set(&object, "targets", &targets.join("\0").into());
    set(&object, "keys", &keys.join("\0").into());
    set(&object, "kinds", &Uint8Array::from(kinds.as_slice()));
    set(&object, "packages", &Uint32Array::from(packages.as_slice()));
    set(&object, "offsets", &Float64Array::from(offsets.as_slice()));
    set(&object, "sizes", &Float64Array::from(sizes.as_slice()));
    set(&object, "made", &made);
    object.into()
}

fn set(object: &Object, name: &str, value: &JsValue) {
    // Fails only for frozen objects, which a new one is not.
    let _ = Reflect::set(object, &JsValue::from_str(name), value);
}

fn number(value: u64) -> JsValue {
    JsValue::from_f64(to_f64(value))
}

/// Sizes and offsets are far below 2^53.
#[expect(clippy::cast_precision_loss, reason = "see above")]
fn to_f64(value: u64) -> f64 {
    value as f64
}
