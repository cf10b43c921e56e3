//! A project's folder: the user's files, and `node_modules` written as real files.

use crate::WasiError;
use crate::links::{LinkMaker, is_refusal, make_link, script};
use crate::staging::{Staging, sweep};
use crate::store::WasiStore;
use crate::system::{Meaning, meaning};
use bytes::Bytes;
use gantry_engine::{EngineError, Fault, InstallMode, LinkReport, PackageStore, ProjectTree};
use gantry_layout::{FileLocation, FileSource, LinkKind, Plan, TreeEntry, VirtualTree};
use gantry_manifest::Lockfile;
use gantry_store::PackageKey;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

const MODULES: &str = "node_modules";

/// One project folder.
#[derive(Debug)]
pub struct WasiProject {
    path: PathBuf,
    owner: String,
    store: Rc<WasiStore>,
    link_maker: LinkMaker,
    for_host: RefCell<ForHost>,
}

/// What preview 1 cannot do to a tree and a host may want to: paths relative to the project, sorted.
#[derive(Debug, Clone, Default)]
pub(crate) struct ForHost {
    /// Files that are meant to be executable.
    pub executables: Vec<String>,
    /// Links that are not there, each with its target; only where the host makes the links.
    pub links: Vec<(String, String)>,
}

impl WasiProject {
    /// Names of those in the folder at `path` that `counts` says; none where there is no folder.
    fn names(&self, path: &str, counts: impl Fn(&fs::DirEntry) -> bool) -> Result<Vec<String>, Fault> {
        let folder = self.path.join(path);
        let entries = match fs::read_dir(&folder) {
            Err(error) if meaning(&error) == Meaning::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(WasiError::io("read", &folder))?,
        };
        let names = entries.flatten().filter(counts);
        Ok(names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
    }

    /// The project in `path`, whose packages come from `store`.
    pub fn new(path: PathBuf, store: Rc<WasiStore>, link_maker: LinkMaker) -> Self {
        let owner = owner_of(&path);
        Self { path, owner, store, link_maker, for_host: RefCell::default() }
    }

    /// Puts right what a command that was ended while it published has left.
    pub(crate) fn recover(&self) -> Result<(), WasiError> {
        sweep(&self.path)
    }

    /// What is left to the host of the tree that was made last.
    pub(crate) fn for_host(&self) -> ForHost {
        self.for_host.borrow().clone()
    }

    fn make(&self, plan: &Plan) -> Result<LinkReport, Fault> {
        let (plan, local) = settled(&self.path, &self.store, plan)?;
        let modules = self.path.join(MODULES);
        let gone = superfluous(&plan);
        if plan.packages.is_empty() && plan.links.is_empty() && fs::symlink_metadata(&modules).is_err() {
            return Ok(LinkReport { method: "nothing to write".to_owned(), ..LinkReport::default() });
        }
        let tree = tree_of(&self.store, &plan)?;
        let staging = Staging::create(&self.path)?;
        let mut writer = TreeWriter::new(self, staging.new_tree(), &plan);
        let mut places = BTreeSet::new();
        for (path, entry) in tree.entries() {
            places.insert(outermost_modules(&path).to_owned());
            writer.put(&path, entry)?;
        }
        let TreeWriter { files, mut for_host, scripts, .. } = writer;
        staging.publish(&Vec::from_iter(places), &gone)?;
        for_host.executables.extend(local);
        for_host.executables.sort_unstable();
        for_host.executables.dedup();
        *self.for_host.borrow_mut() = for_host;
        Ok(LinkReport {
            linked: u32::try_from(plan.packages.len()).unwrap_or(u32::MAX),
            placed: plan.packages.iter().map(|package| package.path.clone()).collect(),
            files,
            method: "written".to_owned(),
            reason: (scripts > 0)
                .then(|| format!("the host refuses symbolic links: {scripts} commands are scripts instead")),
            ..LinkReport::default()
        })
    }
}

/// What tells a project from the others of its store, as far as it can be told here: hosts show many the same path.
pub(crate) fn owner_of(project: &Path) -> String {
    project.to_string_lossy().into_owned()
}

/// A plan as a tree of files in `store`.
pub(crate) fn tree_of(store: &WasiStore, plan: &Plan) -> Result<VirtualTree, Fault> {
    VirtualTree::new(plan, &|key| store.index(key)).map_err(|error| EngineError::from(error).to_fault())
}

/// The plan without links to commands of the user's folders whose files are not there (npm makes none either), and the files
/// of those that are, which are meant to be executable.
pub(crate) fn settled(project: &Path, store: &WasiStore, plan: &Plan) -> Result<(Plan, Vec<String>), Fault> {
    let tree = tree_of(store, plan)?;
    let mut plan = plan.clone();
    let mut files = Vec::new();
    plan.links.retain(|link| {
        if link.kind != LinkKind::LocalCommand {
            return true;
        }
        let folder = link.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let file = tree.resolve(&format!("{folder}/{}", link.target)).ok();
        let file = file.filter(|file| project.join(file).is_file());
        let is_there = file.is_some();
        files.extend(file);
        is_there
    });
    Ok((plan, files))
}

/// The `node_modules` of the project, or of one of the user's folders, that `path` is in.
fn outermost_modules(path: &str) -> &str {
    if path.starts_with("node_modules/") {
        return MODULES;
    }
    path.find("/node_modules/").map_or(path, |at| &path[..=at + MODULES.len()])
}

/// The `node_modules` of workspaces that the plan has nothing for: `ci` takes them away, also those of workspaces that it is not
/// for. Those of other folders that are linked to are their own affair, as for npm.
fn superfluous(plan: &Plan) -> Vec<String> {
    let packages = plan.packages.iter().map(|package| package.path.as_str());
    let paths: BTreeSet<&str> = packages.chain(plan.links.iter().map(|link| link.path.as_str())).collect();
    let has_modules = |folder: &str| paths.iter().any(|path| path.starts_with(&format!("{folder}/{MODULES}/")));
    let is_own = |folder: &str| !folder.is_empty() && !folder.split('/').any(|part| part == MODULES);
    let folders = plan.workspaces.iter().filter(|folder| is_own(folder) && !has_modules(folder));
    folders.map(|folder| format!("{folder}/{MODULES}")).collect()
}

/// Writes the entries of a tree, in the order of their paths.
struct TreeWriter<'a> {
    store: &'a WasiStore,
    root: PathBuf,
    /// Paths of links to folders: they have no substitute.
    folders: BTreeSet<&'a str>,
    /// The package that was read last, whole: one read instead of one for each file, and its checksum with it.
    package: Option<(PackageKey, Vec<u8>)>,
    made: PathBuf,
    link_maker: LinkMaker,
    files: u64,
    scripts: u32,
    for_host: ForHost,
}

impl<'a> TreeWriter<'a> {
    fn new(project: &'a WasiProject, root: PathBuf, plan: &'a Plan) -> Self {
        let folders = plan.links.iter().filter(|link| link.kind == LinkKind::Folder);
        Self {
            store: &project.store,
            root,
            folders: folders.map(|link| link.path.as_str()).collect(),
            package: None,
            made: PathBuf::new(),
            link_maker: project.link_maker,
            files: 0,
            scripts: 0,
            for_host: ForHost::default(),
        }
    }

    fn put(&mut self, path: &str, entry: TreeEntry) -> Result<(), Fault> {
        let target = self.root.join(path);
        if let Some(parent) = target.parent()
            && self.made != parent
        {
            fs::create_dir_all(parent).map_err(WasiError::io("create", parent))?;
            self.made = parent.to_owned();
        }
        match entry {
            TreeEntry::Symlink(leads_to) => self.link(path, &target, &leads_to)?,
            TreeEntry::File(FileSource::Bytes(bytes)) => write(&target, &bytes)?,
            TreeEntry::File(FileSource::Stored(location)) => {
                if location.executable {
                    self.for_host.executables.push(path.to_owned());
                }
                self.files += 1;
                self.copy(&target, &location)?;
            }
        }
        Ok(())
    }

    fn copy(&mut self, target: &Path, location: &FileLocation) -> Result<(), Fault> {
        let FileLocation { key, offset, size, .. } = location;
        if self.package.as_ref().is_none_or(|(read, _)| read != key) {
            self.package = None;
            self.package = Some((key.clone(), self.store.read_whole(key)?));
        }
        let whole = self.package.as_ref().map_or(&[][..], |(_, bytes)| bytes);
        let bytes = usize::try_from(*offset).ok().zip(usize::try_from(offset + size).ok());
        let bytes = bytes.and_then(|(start, end)| whole.get(start..end));
        let outside = || Fault::new("STORE_CORRUPT", format!("a file of the stored package {key} lies outside of it"));
        Ok(write(target, bytes.ok_or_else(outside)?)?)
    }

    fn link(&mut self, path: &str, place: &Path, target: &str) -> Result<(), WasiError> {
        if self.link_maker == LinkMaker::Host {
            self.for_host.links.push((path.to_owned(), target.to_owned()));
            return Ok(());
        }
        match make_link(target, place) {
            Err(error) if is_refusal(&error) => {}
            made => return made.map_err(WasiError::io("link", place)),
        }
        if self.folders.contains(path) {
            return Err(WasiError::LinkRefused { path: PathBuf::from(path), target: target.to_owned() });
        }
        self.scripts += 1;
        self.for_host.executables.push(path.to_owned());
        write(place, script(target).as_bytes())
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), WasiError> {
    fs::write(path, bytes).map_err(WasiError::io("write", path))
}

impl ProjectTree for WasiProject {
    fn owner(&self) -> &str {
        &self.owner
    }

    async fn folders(&self, path: &str) -> Result<Vec<String>, Fault> {
        self.names(path, |entry| entry.path().is_dir())
    }

    async fn files(&self, path: &str) -> Result<Vec<String>, Fault> {
        self.names(path, |entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()))
    }

    async fn read(&self, path: &str) -> Result<Option<Bytes>, Fault> {
        read_optional(&self.path.join(path)).map(|bytes| bytes.map(Bytes::from)).map_err(Fault::from)
    }

    async fn link(&self, plan: &Plan, _mode: InstallMode, _store: &impl PackageStore) -> Result<LinkReport, Fault> {
        self.make(plan)
    }

    async fn installed(&self, _workspaces: &[String]) -> Result<Option<Lockfile>, Fault> {
        // Only `ci` is offered here, which takes away whatever is there.
        Ok(None)
    }

    async fn write_manifest(&self, _folder: &str, _bytes: &[u8]) -> Result<(), Fault> {
        Ok(())
    }

    async fn write_lock(&self, _bytes: &[u8]) -> Result<(), Fault> {
        // Only `ci` is offered here, which leaves the lock as it is.
        Ok(())
    }
}

/// Contents of a file; `None` where there is none.
pub(crate) fn read_optional(path: &Path) -> Result<Option<Vec<u8>>, WasiError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if meaning(&error) == Meaning::NotFound => Ok(None),
        Err(error) => Err(WasiError::io("read", path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::outermost_modules;

    #[test]
    fn every_path_is_in_one_outermost_folder_of_packages() {
        assert_eq!(outermost_modules("node_modules/a/node_modules/b/c.js"), "node_modules");
        assert_eq!(outermost_modules("packages/a/node_modules/b/c.js"), "packages/a/node_modules");
        assert_eq!(outermost_modules("my_node_modules/a/node_modules/b"), "my_node_modules/a/node_modules");
    }
}
