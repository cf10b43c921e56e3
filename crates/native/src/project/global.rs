//! Installing for the whole machine: what was asked for takes its place among what others have put there.
//!
//! Everything new is complete in a [workspace](crate::workspace) before anything that is there is touched. Then each package takes
//! its place by one exchange, where the file system has such a step, so that a process that dies in between leaves the old one or
//! the new one. Links to commands follow, then the scripts; what fails takes all of it back.

use super::ProjectDirectory;
use super::scripted::with_scripts;
use crate::NativeError;
use crate::global::{GlobalFolder, leads_into};
use crate::link::Linker;
use crate::moves::{Moves, PUBLISH, SET_ASIDE};
use crate::own_files::OwnFiles;
use crate::place::{make_link, place_all};
use crate::scripts::due;
use crate::temporary::make_parent;
use crate::tops::settle_commands;
use crate::workspace::{MODULES, Workspace};
use gantry_engine::{LinkReport, PackageStore};
use gantry_layout::{LinkKind, Plan, PlannedLink};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Where commands of the packages that were asked for are in a plan.
const COMMANDS: &str = "node_modules/.bin/";

/// A link to a command of a package that was asked for.
struct Command {
    link: PathBuf,
    target: String,
    /// The folder of the package.
    package: PathBuf,
}

impl ProjectDirectory {
    /// Makes what it installs part of what is there for the whole machine.
    #[must_use]
    pub fn with_global(mut self, folder: GlobalFolder) -> Self {
        self.global = Some(folder);
        self
    }

    /// Puts what was asked for in place.
    pub(super) fn apply_globally(&self, asked: &Plan, global: &GlobalFolder) -> Result<LinkReport, NativeError> {
        let _lock = if self.lock.is_some() { None } else { global.create()? };
        if let Some(before) = self.placed.replace(Some(asked.clone())) {
            return self.take_out(&before, asked);
        }
        self.store.prepare()?;
        let (plan, commands) = self.without_own_commands(asked, global);
        for command in &commands {
            check_free(command, global)?;
        }
        let workspace = Workspace::create(&self.path, &self.path.join(MODULES))?;
        let own_files = OwnFiles::of(&self.path, &plan);
        let linker = self.linker(&plan, own_files, &workspace)?;
        let mut moves = Moves::default();
        let made = self.build(&plan, &linker, &workspace).and_then(|report| {
            self.interrupt.check()?;
            self.interrupt.pass_over();
            self.publish(&plan, &workspace, &mut moves)?;
            self.link_own_commands(&plan, &commands, global, &workspace, &mut moves)?;
            let new: Vec<&str> = plan.packages.iter().map(|package| package.path.as_str()).collect();
            let ran = self.run_scripts(&plan, due(&plan.scripted, &new), true, &mut moves)?;
            // Scripts of folders may have made the files of commands.
            let (_, commands) = self.without_own_commands(asked, global);
            self.link_own_commands(&plan, &commands, global, &workspace, &mut moves)?;
            Ok(with_scripts(report, ran))
        });
        match made {
            Ok(report) => {
                moves.keep();
                let left_behind = workspace.remove().err().map(|error| error.to_string());
                Ok(LinkReport { left_behind, ..report })
            }
            Err(error) => {
                workspace.give_up(moves);
                Err(error)
            }
        }
    }

    /// The plan without links to commands of what was asked for, and these.
    fn without_own_commands(&self, asked: &Plan, global: &GlobalFolder) -> (Plan, Vec<Command>) {
        let mut plan = settle_commands(&self.path, asked).into_owned();
        let (own, links): (Vec<PlannedLink>, _) =
            plan.links.into_iter().partition(|link| link.path.starts_with(COMMANDS));
        plan.links = links;
        let command = |PlannedLink { path, target, .. }: PlannedLink| {
            let inside = target.strip_prefix("../").unwrap_or(&target);
            let parts = if inside.starts_with('@') { 2 } else { 1 };
            let name = inside.split('/').take(parts).collect::<Vec<_>>().join("/");
            Command {
                link: global.commands().join(&path[COMMANDS.len()..]),
                target: GlobalFolder::command_target(&target),
                package: self.path.join(MODULES).join(name),
            }
        };
        (plan, own.into_iter().map(command).collect())
    }

    fn build(&self, plan: &Plan, linker: &Linker, workspace: &Workspace) -> Result<LinkReport, NativeError> {
        let target = |path: &str| workspace.building(path);
        let report = place_all(&self.store, plan, plan.packages.iter(), linker, target, &self.interrupt)?;
        for link in &plan.links {
            make_link(&workspace.building(&link.path), &link.target)?;
        }
        Ok(report)
    }

    /// Has what was built take its place.
    fn publish(&self, plan: &Plan, workspace: &Workspace, moves: &mut Moves) -> Result<(), NativeError> {
        for (number, path) in tops(plan).into_iter().enumerate() {
            let (built, place) = (workspace.building(path), self.path.join(path));
            if fs::symlink_metadata(&place).is_ok() {
                if moves.exchange(&built, &place).is_ok() {
                    continue;
                }
                moves.rename(SET_ASIDE, &place, &workspace.old().join(number.to_string()))?;
            }
            make_parent(&place)?;
            moves.rename(PUBLISH, &built, &place)?;
        }
        Ok(())
    }

    /// Makes the links to commands, and takes away those to commands that the packages have no more.
    fn link_own_commands(
        &self,
        plan: &Plan,
        commands: &[Command],
        global: &GlobalFolder,
        workspace: &Workspace,
        moves: &mut Moves,
    ) -> Result<(), NativeError> {
        let wanted: BTreeSet<&Path> = commands.iter().map(|command| command.link.as_path()).collect();
        let places: Vec<PathBuf> = tops(plan).into_iter().map(|path| self.path.join(path)).collect();
        for link in global.commands_of(&places)?.iter().filter(|link| !wanted.contains(link.as_path())) {
            moves.unlink(link)?;
        }
        for (number, Command { link, target, .. }) in commands.iter().enumerate() {
            match fs::symlink_metadata(link) {
                Ok(_) if fs::read_link(link).is_ok_and(|now| now == Path::new(target)) => continue,
                Ok(metadata) if metadata.is_symlink() => moves.unlink(link)?,
                Ok(_) => {
                    let old = workspace.old().join(format!("command-{number}"));
                    moves.rename(SET_ASIDE, link, &old)?;
                }
                Err(_) => {}
            }
            moves.link(link, target)?;
        }
        Ok(())
    }

    /// Takes out of what was placed just now what is not planned any more: optional packages whose scripts failed.
    fn take_out(&self, before: &Plan, plan: &Plan) -> Result<LinkReport, NativeError> {
        let stays: BTreeSet<&str> = plan.packages.iter().map(|package| package.path.as_str()).collect();
        let links: BTreeSet<&str> = plan.links.iter().map(|link| link.path.as_str()).collect();
        let gone = before.links.iter().map(|link| link.path.as_str()).filter(|path| !links.contains(path));
        for path in gone.filter(|path| !path.starts_with(COMMANDS)) {
            let path = self.path.join(path);
            if fs::symlink_metadata(&path).is_ok() {
                fs::remove_file(&path).map_err(NativeError::io("remove", &path))?;
            }
        }
        let gone = before.packages.iter().map(|package| package.path.as_str()).filter(|path| !stays.contains(path));
        for path in gone.map(|path| self.path.join(path)).filter(|path| path.exists()) {
            fs::remove_dir_all(&path).map_err(NativeError::io("remove", &path))?;
        }
        let files = plan.packages.iter().filter_map(|package| self.store.index(&package.key));
        Ok(LinkReport { files: files.map(|index| index.files.len() as u64).sum(), ..LinkReport::default() })
    }
}

/// The places of what was asked for: packages, and links to folders of the user.
fn tops(plan: &Plan) -> BTreeSet<&str> {
    let is_top = |path: &&str| path.starts_with(MODULES) && !path.contains("/node_modules/");
    let packages = plan.packages.iter().map(|package| package.path.as_str());
    let folders = plan.links.iter().filter(|link| link.kind == LinkKind::Folder).map(|link| link.path.as_str());
    packages.chain(folders).filter(is_top).collect()
}

/// Fails where the place of a command is taken by what is not the package's: else a package could put itself in the place of any
/// program (`check-bin.js` of npm's `bin-links`).
fn check_free(command: &Command, global: &GlobalFolder) -> Result<(), NativeError> {
    let Command { link, package, .. } = command;
    if global.replaces_foreign()
        || fs::symlink_metadata(link).is_err()
        || leads_into(link, std::slice::from_ref(package))
    {
        return Ok(());
    }
    Err(NativeError::CommandTaken { path: link.clone() })
}
