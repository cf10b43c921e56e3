//! Whether the hidden lock in `node_modules` can stand for what is installed there.
//!
//! npm's rule (`assertNoNewer` of arborist): no folder of a package, and no folder of packages, was changed after it; it
//! names every package that is there; and everything that it names is there. Names with a dot in front are passed over.
//! Costs one `lstat` and one listing a package, and is only asked where a project has no lock of its own.

use crate::NativeError;
use crate::descriptor::close;
use gantry_layout::is_package_path;
use gantry_manifest::Lockfile;
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};
use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// Where the hidden lock is, in its project.
pub(crate) const HIDDEN_LOCK: &str = "node_modules/.package-lock.json";
/// Its name in its folder.
pub(crate) const HIDDEN_LOCK_NAME: &str = ".package-lock.json";

/// Folders may be so much younger than the lock, in milliseconds: it is written a moment before the last of them is done.
const TOLERANCE: i64 = 10;

/// The hidden lock of a project with its text. One that names anything but packages by their places was written by no
/// installer, and is as good as none: what it names would be taken to be in the way.
pub(crate) fn read(project: &Path) -> Option<(Vec<u8>, Lockfile)> {
    let text = fs::read(project.join(HIDDEN_LOCK)).ok()?;
    let lock = Lockfile::parse(&text, HIDDEN_LOCK).ok()?;
    let mut placed = lock.packages.iter().filter(|entry| entry.link || !entry.is_top());
    placed.all(|entry| is_package_path(&entry.path)).then_some((text, lock))
}

/// The hidden lock of a project, if it describes what is installed.
pub(crate) fn trusted(project: &Path) -> Option<Lockfile> {
    let (_, lock) = read(project)?;
    let newest = milliseconds(&fs::metadata(project.join(HIDDEN_LOCK)).ok()?) + TOLERANCE;
    let known: BTreeSet<&str> = lock.packages.iter().map(|entry| entry.path.as_str()).collect();
    let mut walk = Walk { project, newest, known: &known, seen: BTreeSet::from([String::new()]) };
    let targets: BTreeSet<&str> =
        lock.packages.iter().filter(|entry| entry.link).filter_map(|entry| entry.resolved.as_deref()).collect();
    let packages = known.iter().filter(|path| !path.starts_with("../"));
    let folders = packages.filter_map(|path| path.split("/node_modules/").next());
    let apart = folders.filter(|path| !path.starts_with("node_modules/") && !targets.contains(path));
    let fits = walk.visit("node_modules")
        && apart.collect::<BTreeSet<_>>().into_iter().all(|folder| walk.visit(folder))
        && known.iter().all(|path| walk.seen.contains(*path));
    fits.then_some(lock)
}

struct Walk<'a> {
    project: &'a Path,
    newest: i64,
    known: &'a BTreeSet<&'a str>,
    /// Paths relative to the project.
    seen: BTreeSet<String>,
}

impl Walk<'_> {
    /// Looks at a folder of packages or of one package, and at all below. Gives false where the lock cannot be right.
    fn visit(&mut self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let holds_packages = name == "node_modules" || name.starts_with('@');
        self.seen.insert(path.to_owned());
        let Ok(metadata) = fs::metadata(self.project.join(path)) else { return false };
        if milliseconds(&metadata) > self.newest || !holds_packages && !self.known.contains(path) {
            return false;
        }
        let parent = if holds_packages { path.to_owned() } else { format!("{path}/node_modules") };
        let Ok(entries) = fs::read_dir(self.project.join(&parent)) else { return true };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let child = format!("{parent}/{name}");
            let Ok(kind) = entry.file_type() else { continue };
            let fits = if kind.is_dir() && !name.starts_with('.') {
                self.visit(&child)
            } else if kind.is_symlink() {
                self.visit_target(&parent, child)
            } else {
                true
            };
            if !fits {
                return false;
            }
        }
        true
    }

    /// Looks at what a link leads to, unless that was seen.
    fn visit_target(&mut self, parent: &str, link: String) -> bool {
        let link_path = self.project.join(&link);
        self.seen.insert(link);
        let Ok(target) = fs::read_link(&link_path) else { return true };
        let target = normalised(&self.project.join(parent).join(target));
        let Some(relative) = relative_to(self.project, &target) else { return true };
        !target.is_dir() || self.seen.contains(&relative) || self.visit(&relative)
    }
}

/// When a file was changed last, rounded as Node.js rounds it.
fn milliseconds(metadata: &Metadata) -> i64 {
    metadata.mtime() * 1000 + (metadata.mtime_nsec() + 500_000) / 1_000_000
}

/// A path without `.` and `..`, whatever is on the disk.
fn normalised(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

/// `path` as seen from `base`, with `/` between its parts; both must be absolute.
pub(crate) fn relative_to(base: &Path, path: &Path) -> Option<String> {
    let base = normalised(base);
    let shared = base.components().zip(path.components()).take_while(|(one, other)| one == other).count();
    let up = base.components().skip(shared).map(|_| "..".to_owned());
    let down = path.components().skip(shared).map(|part| part.as_os_str().to_str().map(str::to_owned));
    let parts: Option<Vec<String>> = up.map(Some).chain(down).collect();
    parts.map(|parts| parts.join("/"))
}

/// Makes the hidden lock the newest thing in the tree. Where times cannot be set, as on some file systems of networks, its
/// bytes are written over it once more.
pub(crate) fn touch_hidden_lock(project: &Path) -> Result<(), NativeError> {
    let time = |nanoseconds| Timespec { tv_sec: 0, tv_nsec: nanoseconds };
    let times = Timestamps { last_access: time(UTIME_OMIT), last_modification: time(UTIME_NOW) };
    let hidden = project.join(HIDDEN_LOCK);
    let failed = NativeError::io("set the time of", &hidden);
    let Err(errno) = rustix::fs::utimensat(CWD, &hidden, &times, AtFlags::empty()) else { return Ok(()) };
    rewrite(&hidden).map_err(|_| failed(errno.into()))
}

/// Writes the bytes of a file over themselves.
fn rewrite(path: &Path) -> io::Result<()> {
    let bytes = fs::read(path)?;
    let mut file = fs::OpenOptions::new().write(true).open(path)?;
    file.write_all(&bytes)?;
    close(file)
}

#[cfg(test)]
mod tests;
