//! A project's folder: its manifest, its lock, and `node_modules`.
//!
//! Whatever is to be new is complete in a [workspace](Workspace) before anything that is there is touched; from there on it
//! is [renames](Moves), taken back together if one fails. A first install, and every `ci`, builds the whole tree and
//! publishes it by one rename or exchange. Others change what differs from what the hidden lock says of the last one, or,
//! where there is none, from the packages that stay because nothing tells where they came from:
//!
//! 1. link what is new in the workspace, with the new hidden lock;
//! 2. set the hidden lock aside: a run that is killed from here on leaves none, and then nothing that a lock knows the origin
//!    of is taken to be in place;
//! 3. set aside links where folders are to be, what is not wanted any more, and what moves;
//! 4. rename what is new, and what moves, to its place, parents first;
//! 5. bring bin links in order;
//! 6. run scripts that are allowed to run, and link to commands that these have made: one that fails has all of it taken back,
//!    and a run that is killed here leaves no hidden lock, so that the next one begins anew;
//! 7. put the new hidden lock in its place;
//! 8. remove what was set aside, and make the hidden lock the newest thing in the tree: npm trusts none that is not.
//!
//! All of it happens under the [project's lock](ProjectLock).

use crate::actual;
use crate::descriptor::write_file;
use crate::folder::{self, Preparing};
use crate::hidden_lock::{self, HIDDEN_LOCK, touch_hidden_lock};
use crate::installed::{Difference, Installed};
use crate::link::{LinkMethod, Linker};
use crate::moves::{Moves, PUBLISH, SET_ASIDE};
use crate::own_files::{OwnFiles, separate};
use crate::place::{make_link, place_all};
use crate::scripts::{due, scripts_of_folder};
use crate::temporary::{Successor, check_replaceable, make_parent, replace_users_file};
use crate::tops::{folders_with_modules, replace_trees, settle_commands, top_of};
use crate::workspace::{MODULES, Workspace, carry_over, entries, is_directory};
use crate::{GlobalFolder, Interrupt, NativeError, PackageDirectories, ProjectLock, ScriptSettings};
use bytes::Bytes;
use gantry_archive::Entry;
use gantry_engine::{Fault, InstallMode, LinkReport, PackageStore, ProjectTree, UsersFiles};
use gantry_layout::{Plan, PlannedPackage, Scripts};
use gantry_manifest::Lockfile;
use gantry_store::PackageIndex;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

mod files;
mod global;
mod scripted;

pub use files::ProjectFiles;
use scripted::with_scripts;

const LOCK: &str = "package-lock.json";
const SHRINKWRAP: &str = "npm-shrinkwrap.json";
const YARN_LOCK: &str = "yarn.lock";

/// One project folder.
#[derive(Debug)]
pub struct ProjectDirectory {
    path: PathBuf,
    owner: String,
    store: Rc<PackageDirectories>,
    best_method: LinkMethod,
    lock: Option<ProjectLock>,
    interrupt: Interrupt,
    scripts: ScriptSettings,
    is_left_alone: bool,
    global: Option<GlobalFolder>,
    /// What was placed for the whole machine.
    placed: RefCell<Option<Plan>>,
    /// What was installed before; read where packages are made of folders.
    before: OnceCell<Option<Installed>>,
    /// What is to take the places of files of the user, by these: written before the tree is touched, so that a disk that has
    /// no room for them leaves all as it was.
    successors: RefCell<BTreeMap<PathBuf, Successor>>,
}

impl ProjectDirectory {
    /// The project in `path`, whose packages come from `store`.
    pub fn new(path: PathBuf, store: Rc<PackageDirectories>) -> Self {
        let owner = path.to_string_lossy().into_owned();
        Self {
            path,
            owner,
            store,
            best_method: LinkMethod::BEST,
            lock: None,
            interrupt: Interrupt::default(),
            scripts: ScriptSettings::default(),
            is_left_alone: false,
            global: None,
            placed: RefCell::default(),
            before: OnceCell::new(),
            successors: RefCell::default(),
        }
    }

    /// Links by `method` at best: the ladder is not tried above it.
    pub fn with_best_method(mut self, method: LinkMethod) -> Self {
        self.best_method = method;
        self
    }

    /// With the right to change the project, taken before it was read.
    #[must_use]
    pub fn with_lock(mut self, lock: ProjectLock) -> Self {
        self.lock = Some(lock);
        self
    }

    /// Gives up the right to change the project.
    pub(crate) fn release(&mut self) {
        self.lock = None;
    }

    /// Stops when `interrupt` is raised, unless it has begun to change what is there.
    #[must_use]
    pub fn with_interrupt(mut self, interrupt: Interrupt) -> Self {
        self.interrupt = interrupt;
        self
    }

    /// Runs scripts in this way, where the plan has any.
    #[must_use]
    pub fn with_scripts(mut self, scripts: ScriptSettings) -> Self {
        self.scripts = scripts;
        self
    }

    /// Writes nothing: neither manifests nor locks nor the tree.
    #[must_use]
    pub fn left_alone(mut self) -> Self {
        self.is_left_alone = true;
        self
    }

    /// Where the lock is written.
    fn lock_path(&self) -> PathBuf {
        let shrinkwrap = self.path.join(SHRINKWRAP);
        let is_there = fs::metadata(&shrinkwrap).is_ok_and(|shrinkwrap| shrinkwrap.len() > 0);
        if is_there { shrinkwrap } else { self.path.join(LOCK) }
    }

    /// Writes a file of the user.
    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), Fault> {
        if self.is_left_alone {
            return Ok(());
        }
        self.interrupt.pass_over();
        match self.successors.borrow_mut().remove(path).map(Successor::publish) {
            Some(Ok(())) => Ok(()),
            // It is on another disk, or a mount point, or something has come in its way meanwhile.
            Some(Err(_)) | None => Ok(replace_users_file(path, bytes)?),
        }
    }

    /// Writes the `package.json` of the project in `path`, which keeps its mode and its owner. To be called with the project's
    /// lock.
    pub fn write_manifest(path: &Path, bytes: &[u8]) -> Result<(), NativeError> {
        replace_users_file(&path.join("package.json"), bytes)
    }

    fn apply(&self, plan: &Plan, mode: InstallMode) -> Result<LinkReport, NativeError> {
        let _lock = if self.lock.is_some() { None } else { ProjectLock::take(&self.path)? };
        self.store.prepare()?;
        self.store.note_project(&self.path);
        let asked = plan;
        let plan = &*settle_commands(&self.path, asked);
        let modules = self.path.join(MODULES);
        if plan.packages.is_empty() && plan.links.is_empty() && fs::symlink_metadata(&modules).is_err() {
            return Ok(LinkReport { method: "nothing to link".to_owned(), ..LinkReport::default() });
        }
        let own_files = OwnFiles::of(&self.path, plan);
        let installed = if mode == InstallMode::Ci { None } else { Installed::of(&self.path, plan) };
        let difference = match &installed {
            Some(installed) => Some(installed.difference(plan, &self.path, &self.store)?),
            None => None,
        };
        let is_separated =
            difference.as_ref().map_or(Ok(false), |difference| self.separate(plan, difference, &own_files))?;
        if let (Some(installed), Some(difference)) = (&installed, &difference)
            && difference.is_none()
            && installed.hidden_lock == plan.hidden_lock
            && self.links_to_change(plan, difference).is_none()
        {
            let report = LinkReport { method: "nothing to link".to_owned(), ..LinkReport::default() };
            let mut moves = Moves::default();
            let ran = self.run_scripts(asked, due(&plan.scripted, &[]), false, &mut moves)?;
            moves.keep();
            if is_separated || !installed.is_newest || !ran.scripts_run.is_empty() {
                touch_hidden_lock(&self.path)?;
            }
            return Ok(with_scripts(self.with_kept(report, plan, difference), ran));
        }
        let wanted = folders_with_modules(plan);
        let gone = difference.iter().flat_map(|difference| &difference.gone).filter_map(|path| top_of(path));
        let tops = wanted.iter().copied().chain(plan.workspaces.iter().map(String::as_str)).chain(gone);
        let workspace = Workspace::create(&self.path, &modules)?.with_mounts(&self.path, tops, &wanted);
        let linker = self.linker(plan, own_files, &workspace)?;
        // Where there is no hidden lock nothing tells whether the scripts of what stays have run.
        let is_known = installed.as_ref().is_some_and(|installed| !installed.hidden_lock.is_empty());
        let new: Vec<&str> = match difference.as_ref().filter(|_| is_known) {
            None => plan.packages.iter().map(|package| package.path.as_str()).collect(),
            Some(difference) => difference.new.iter().map(|package| package.path.as_str()).collect(),
        };
        let due = due(&plan.scripted, &new);
        let hidden_lock = if due.scripted.is_empty() { HiddenLock::AtOnce } else { HiddenLock::Last };
        let mut moves = Moves::default();
        let made = match &difference {
            None => self.build_anew(plan, mode, &linker, &workspace, hidden_lock, &mut moves),
            Some(difference) => self.change(plan, difference, &linker, &workspace, &mut moves),
        };
        let completed = made.and_then(|report| {
            let ran = self.run_scripts(asked, due, !new.is_empty(), &mut moves)?;
            if difference.is_some() || hidden_lock == HiddenLock::Last {
                let hidden = self.path.join(HIDDEN_LOCK);
                make_parent(&hidden)?;
                if !moves.rename(PUBLISH, &workspace.path().join("hidden-lock"), &hidden)? {
                    // Scripts may take away what they find.
                    write_file(&hidden, &plan.hidden_lock).map_err(NativeError::io("write", &hidden))?;
                }
            }
            Ok(with_scripts(report, ran))
        });
        let mut report = match completed {
            Ok(report) => report,
            Err(error) => {
                workspace.give_up(moves);
                return Err(error);
            }
        };
        moves.keep();
        for path in difference.iter().flat_map(|difference| &difference.gone) {
            // A scope that nothing is left of; this fails where something is, which is what is wanted.
            let _ = self.path.join(path).parent().map(fs::remove_dir);
        }
        // A tree on its way out must not pass for whole where this process dies meanwhile.
        for tree in [workspace.old(), workspace.new_tree()] {
            let _ = fs::remove_file(tree.join(HIDDEN_LOCK));
        }
        report.left_behind = workspace.remove().err().map(|error| error.to_string());
        touch_hidden_lock(&self.path)?;
        Ok(report)
    }

    /// What links packages of a plan into a workspace.
    fn linker(&self, plan: &Plan, own_files: OwnFiles, workspace: &Workspace) -> Result<Linker, NativeError> {
        let sample = || self.store.sample(&plan.packages);
        let linker = Linker::probe(self.best_method, self.store.temporary(), sample, workspace.path())?;
        Ok(linker.sparing(own_files))
    }

    /// Gives packages that stay and whose files change in the project files of their own. Tells whether some had none.
    fn separate(&self, plan: &Plan, difference: &Difference<'_>, own_files: &OwnFiles) -> Result<bool, NativeError> {
        let mut any = false;
        let stay = plan.packages.iter().filter(|package| difference.stays(&package.path));
        for package in stay.filter(|package| own_files.why(&package.path).is_some()) {
            any |= separate(&self.path, &self.path.join(&package.path))?;
        }
        Ok(any)
    }

    /// The report with the packages that stay.
    fn with_kept(&self, mut report: LinkReport, plan: &Plan, difference: &Difference<'_>) -> LinkReport {
        for package in plan.packages.iter().filter(|package| difference.stays(&package.path)) {
            report.kept += 1;
            report.files += self.store.index(&package.key).map_or(0, |index| index.files.len() as u64);
        }
        report
    }

    /// First install, one over a tree that nobody accounts for, or `ci`, which takes nothing over from what is there.
    fn build_anew(
        &self,
        plan: &Plan,
        mode: InstallMode,
        linker: &Linker,
        workspace: &Workspace,
        hidden_lock: HiddenLock,
        moves: &mut Moves,
    ) -> Result<LinkReport, NativeError> {
        let building = workspace.new_tree();
        let target = |path: &str| workspace.building(path);
        let report = place_all(&self.store, plan, plan.packages.iter(), linker, target, &self.interrupt)?;
        for link in &plan.links {
            make_link(&workspace.building(&link.path), &link.target)?;
        }
        let hidden = match hidden_lock {
            HiddenLock::AtOnce => building.join(HIDDEN_LOCK),
            HiddenLock::Last => workspace.path().join("hidden-lock"),
        };
        make_parent(&hidden)?;
        write_file(&hidden, &plan.hidden_lock).map_err(NativeError::io("write", &hidden))?;

        self.interrupt.check()?;
        self.interrupt.pass_over();
        let (built, modules) = (building.join(MODULES), self.path.join(MODULES));
        if mode == InstallMode::Install && is_directory(&modules) && !workspace.has_to_stay(MODULES) {
            carry_over(&modules, &built, moves)?;
        }
        self.replace_tree(&built, mode, workspace, moves)?;
        replace_trees(&self.path, plan, mode, workspace, moves)?;
        Ok(report)
    }

    /// Puts a complete `node_modules` in the place of the one that is there: by one exchange, else by two renames, else,
    /// where it is a mount point or has one in it, entry by entry.
    fn replace_tree(
        &self,
        built: &Path,
        mode: InstallMode,
        workspace: &Workspace,
        moves: &mut Moves,
    ) -> Result<(), NativeError> {
        let modules = self.path.join(MODULES);
        if workspace.is_in(&modules) || workspace.has_to_stay(MODULES) {
            return workspace.replace_entries(&self.path, MODULES, mode, moves);
        }
        let is_there = fs::symlink_metadata(&modules).is_ok();
        if is_there && moves.exchange(built, &modules).is_ok() {
            return Ok(());
        }
        moves.rename(SET_ASIDE, &modules, &workspace.old().join(MODULES))?;
        moves.rename(PUBLISH, built, &modules).map(drop)
    }

    /// Steps 1 to 5 of the module's protocol.
    fn change(
        &self,
        plan: &Plan,
        difference: &Difference<'_>,
        linker: &Linker,
        workspace: &Workspace,
        moves: &mut Moves,
    ) -> Result<LinkReport, NativeError> {
        let Difference { new, gone, moved, in_the_way, .. } = difference;
        let (building, old) = (|path: &str| workspace.building(path), |path: &str| workspace.for_path(path).old());
        let report = place_all(&self.store, plan, new.iter().copied(), linker, building, &self.interrupt)?;
        let built_hidden = workspace.path().join("hidden-lock");
        write_file(&built_hidden, &plan.hidden_lock).map_err(NativeError::io("write", &built_hidden))?;

        self.interrupt.check()?;
        self.interrupt.pass_over();
        let hidden = self.path.join(HIDDEN_LOCK);
        moves.rename(SET_ASIDE, &hidden, &workspace.old().join("hidden-lock"))?;
        let gone = in_the_way.iter().chain(gone).map(String::as_str);
        let places = gone.chain(new.iter().map(|package| package.path.as_str()));
        let places = places.filter(|path| difference.is_in_project(path)).enumerate();
        let mut places: Vec<(&str, String)> = places.map(|(number, path)| (path, number.to_string())).collect();
        if !moved.is_empty() {
            places.extend(moved.iter().map(|package| (package.path.as_str(), moved_name(moved, &package.path))));
            // What is nested in what moves goes before it, and that before what it is nested in.
            places.sort_by(|(left, _), (right, _)| right.cmp(left));
        }
        for (path, name) in places {
            workspace.check_free(&self.path, path)?;
            moves.rename(SET_ASIDE, &self.path.join(path), &old(path).join(name))?;
        }
        let mut arriving: Vec<(&str, PathBuf)> =
            new.iter().map(|package| (package.path.as_str(), building(&package.path))).collect();
        arriving.extend(
            moved
                .iter()
                .map(|package| (package.path.as_str(), old(&package.path).join(moved_name(moved, &package.path)))),
        );
        arriving.sort_by_key(|(path, _)| *path);
        for (path, from) in arriving {
            let target = self.path.join(path);
            make_parent(&target)?;
            // What is nested in another new package came along with it.
            moves.rename(PUBLISH, &from, &target)?;
        }
        self.order_links(plan, difference, workspace, moves)?;
        Ok(self.with_kept(report, plan, difference))
    }

    /// Makes the planned links, and removes bin links that nothing planned.
    fn order_links(
        &self,
        plan: &Plan,
        difference: &Difference<'_>,
        workspace: &Workspace,
        moves: &mut Moves,
    ) -> Result<(), NativeError> {
        let LinkChanges { unplanned, missing } = self.links_to_change(plan, difference);
        let own = |path: &Path| workspace.for_path(&path.strip_prefix(&self.path).unwrap_or(path).to_string_lossy());
        let in_the_way = unplanned.iter().chain(missing.iter().map(|(path, _)| path));
        for (number, path) in in_the_way.enumerate() {
            moves.rename(SET_ASIDE, path, &own(path).old().join(format!("link-{number}")))?;
        }
        for (number, (path, target)) in missing.iter().enumerate() {
            let built = own(path).path().join(format!("link-{number}"));
            make_link(&built, target)?;
            make_parent(path)?;
            moves.rename(PUBLISH, &built, path)?;
        }
        Ok(())
    }

    fn links_to_change<'p>(&self, plan: &'p Plan, difference: &Difference<'_>) -> LinkChanges<'p> {
        let planned: BTreeMap<&str, &str> =
            plan.links.iter().map(|link| (link.path.as_str(), link.target.as_str())).collect();
        let mut unplanned = Vec::new();
        let packages = plan.packages.iter().map(|package| package.path.as_str());
        // Folders of the user's that nothing is in any more may have commands of what was.
        let mut tops = folders_with_modules(plan);
        tops.extend(plan.workspaces.iter().map(String::as_str));
        tops.extend(difference.gone.iter().filter_map(|path| top_of(path)));
        let nested = packages.chain(tops).map(|folder| format!("{folder}/node_modules/.bin"));
        for folder in nested.chain(["node_modules/.bin".to_owned()]) {
            let path = self.path.join(&folder);
            // What a link leads to is not the project's.
            if !is_directory(&path) || !path.parent().is_some_and(is_directory) {
                continue;
            }
            let Ok(entries) = fs::read_dir(path) else { continue };
            for entry in entries.flatten() {
                let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
                let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
                if is_link && !planned.contains_key(path.as_str()) {
                    unplanned.push(entry.path());
                }
            }
        }
        let all = planned.into_iter().map(|(path, target)| (self.path.join(path), target));
        let is_missing =
            |(path, target): &(PathBuf, &str)| fs::read_link(path).ok().is_none_or(|now| now != Path::new(target));
        LinkChanges { unplanned, missing: all.filter(is_missing).collect() }
    }
}

/// When the hidden lock of a tree that is built anew gets there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HiddenLock {
    /// With the tree.
    AtOnce,
    /// When scripts have run.
    Last,
}

/// What a package that moves is called meanwhile.
fn moved_name(moved: &[&PlannedPackage], path: &str) -> String {
    format!("moved-{}", moved.iter().position(|package| package.path == path).unwrap_or_default())
}

/// How links differ from what is planned.
struct LinkChanges<'p> {
    unplanned: Vec<PathBuf>,
    /// Path and target.
    missing: Vec<(PathBuf, &'p str)>,
}

impl LinkChanges<'_> {
    fn is_none(&self) -> bool {
        self.unplanned.is_empty() && self.missing.is_empty()
    }
}

impl ProjectTree for ProjectDirectory {
    fn owner(&self) -> &str {
        &self.owner
    }

    fn scripts(&self) -> &Scripts {
        &self.scripts.allowed
    }

    fn building(&self) -> &[String] {
        &self.scripts.building
    }

    async fn folders(&self, path: &str) -> Result<Vec<String>, Fault> {
        let folder = self.path.join(path);
        let is_folder = |name: &std::ffi::OsString| fs::metadata(folder.join(name)).is_ok_and(|data| data.is_dir());
        let names = entries(&folder)?;
        Ok(names.iter().filter(|name| is_folder(name)).map(|name| name.to_string_lossy().into_owned()).collect())
    }

    async fn files(&self, path: &str) -> Result<Vec<String>, Fault> {
        let folder = self.path.join(path);
        let names = entries(&folder)?;
        let files = names.iter().filter(|name| !is_directory(&folder.join(name)));
        Ok(files.map(|name| name.to_string_lossy().into_owned()).collect())
    }

    async fn read(&self, path: &str) -> Result<Option<Bytes>, Fault> {
        match fs::read(self.path.join(path)) {
            Ok(bytes) => Ok(Some(bytes.into())),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
            Err(error) => Err(NativeError::io("read", &self.path.join(path))(error).into()),
        }
    }

    async fn manifest_now(&self) -> Result<Option<Bytes>, Fault> {
        self.read("package.json").await
    }

    fn has_scripts(&self, path: &str) -> bool {
        !scripts_of_folder(&self.path.join(path)).is_empty()
    }

    async fn packed(&self, name: &str, path: &str, is_prepared: bool) -> Result<Vec<Entry<'static>>, Fault> {
        let preparing =
            is_prepared.then(|| Preparing { scripts: self.scripts.clone(), interrupt: self.interrupt.clone() });
        folder::packed(name, (self.path.join(path), self.path.join(MODULES)), preparing).await
    }

    async fn link(&self, plan: &Plan, mode: InstallMode, _store: &impl PackageStore) -> Result<LinkReport, Fault> {
        match &self.global {
            _ if self.is_left_alone => Ok(LinkReport::default()),
            Some(global) => Ok(self.apply_globally(plan, global)?),
            None => Ok(self.apply(plan, mode)?),
        }
    }

    async fn installed(&self, workspaces: &[String]) -> Result<Option<Lockfile>, Fault> {
        if let Some(global) = &self.global {
            return Ok(Some(global.tree()));
        }
        Ok(hidden_lock::trusted(&self.path).or_else(|| actual::scanned(&self.path, workspaces)))
    }

    fn in_place(&self, package: &PlannedPackage) -> Option<PackageIndex> {
        if package.resolved.is_some() {
            let before = self.before.get_or_init(|| Installed::read(&self.path)).as_ref()?;
            return before
                .has_copy(&self.path, package)
                .then(|| actual::package_at(&self.path, &package.path, &package.version));
        }
        actual::package_in_place(&self.path, &package.path, &package.version)
    }

    fn make_room(&self, files: &UsersFiles<'_>) -> Result<(), Fault> {
        if self.is_left_alone {
            return Ok(());
        }
        let manifest = |(folder, bytes): &(&str, _)| (self.path.join(folder).join("package.json"), *bytes);
        let manifests = files.manifests.iter().map(manifest);
        let locks = files.lock.map(|bytes| (self.lock_path(), bytes));
        let locks = locks.into_iter().chain(files.yarn_lock.map(|bytes| (self.path.join(YARN_LOCK), bytes)));
        let files: Vec<(PathBuf, &[u8])> = manifests.chain(locks).collect();
        for (path, _) in &files {
            check_replaceable(path)?;
        }
        let mut successors = BTreeMap::new();
        for (path, bytes) in files {
            // Here, and not beside them, they are found if this process dies.
            let successor = Successor::of_users_file(&path, bytes, &self.path)?;
            successors.extend(successor.map(|successor| (path, successor)));
        }
        self.successors.replace(successors);
        Ok(())
    }

    async fn write_manifest(&self, folder: &str, bytes: &[u8]) -> Result<(), Fault> {
        self.write(&self.path.join(folder).join("package.json"), bytes)
    }

    async fn write_lock(&self, bytes: &[u8]) -> Result<(), Fault> {
        self.write(&self.lock_path(), bytes)
    }

    async fn write_yarn_lock(&self, bytes: &[u8]) -> Result<(), Fault> {
        self.write(&self.path.join(YARN_LOCK), bytes)
    }
}

#[cfg(test)]
mod tests;
