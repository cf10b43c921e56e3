//! What scripts do to a tree: those that are due run, and what they have changed for other projects becomes the project's own.

use super::ProjectDirectory;
use crate::NativeError;
use crate::hidden_lock;
use crate::moves::Moves;
use crate::own_files::{InPlace, beginning, separate_changed};
use crate::scripts::{Due, ScriptsRun, run_project_scripts, run_scripts};
use crate::tops::link_commands;
use gantry_engine::{LinkReport, ProjectTree};
use gantry_layout::{Plan, is_carried};
use std::time::SystemTime;

impl ProjectDirectory {
    /// Runs what is due of the plan that was asked for, and links to commands that this has made. Packages that scripts have changed
    /// for everybody are this project's own afterwards. `has_new`: whether packages were put in place just now.
    pub(super) fn run_scripts(
        &self,
        plan: &Plan,
        due: Due<'_>,
        has_new: bool,
        moves: &mut Moves,
    ) -> Result<LinkReport, NativeError> {
        if due.scripted.is_empty() {
            return Ok(LinkReport::default());
        }
        let begun = beginning(has_new);
        let link_commands = &mut || link_commands(&self.path, plan, moves);
        let result = run_scripts(&self.path, due, &self.scripts, &self.interrupt, link_commands);
        if result.as_ref().is_ok_and(|ran| ran.run.is_empty() && ran.failed.is_empty()) {
            return Ok(LinkReport::default());
        }
        let packages = plan.packages.iter().map(|package| InPlace {
            path: &package.path,
            key: package.key.clone(),
            label: format!("{}@{}", package.name, package.version),
        });
        let changed = separate_changed(&self.path, &self.store, packages, begun);
        let ScriptsRun { run, failed } = result?;
        Ok(LinkReport { scripts_run: run, scripts_failed: failed, scripts_changed: changed?, ..LinkReport::default() })
    }

    /// Runs the project's own scripts. Packages that they have changed for everybody are this project's own afterwards: gives their
    /// labels. The right to change the project need not be held.
    pub(crate) fn run_own_scripts(&self, has_new: bool) -> Result<Vec<String>, NativeError> {
        let begun = beginning(has_new);
        let result = run_project_scripts(&self.path, &self.scripts, &self.interrupt);
        if matches!(result, Ok(false)) {
            return Ok(Vec::new());
        }
        let changed = self.separate_changed_since(begun);
        result.and(changed)
    }

    /// Has packages that were changed for everybody since then, of what is installed, be this project's own.
    fn separate_changed_since(&self, since: SystemTime) -> Result<Vec<String>, NativeError> {
        let Some((_, lock)) = hidden_lock::read(&self.path) else { return Ok(Vec::new()) };
        let entries = lock.packages.iter().filter(|entry| !entry.link && !entry.is_top() && !is_carried(entry));
        let packages = entries.filter_map(|entry| {
            let key = self.keys().of(entry).ok()?;
            Some(InPlace { path: &entry.path, key, label: entry.label() })
        });
        separate_changed(&self.path, &self.store, packages, since)
    }
}

/// A report with what another one says of scripts.
pub(super) fn with_scripts(report: LinkReport, ran: LinkReport) -> LinkReport {
    let LinkReport { scripts_run, scripts_failed, scripts_changed, .. } = ran;
    LinkReport { scripts_run, scripts_failed, scripts_changed, ..report }
}
