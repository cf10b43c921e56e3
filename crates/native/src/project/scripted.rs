//! What scripts do to a tree: those that are due run, and what they have changed for other projects becomes the project's own.

use super::ProjectDirectory;
use crate::NativeError;
use crate::hidden_lock;
use crate::moves::Moves;
use crate::own_files::{InPlace, Watch};
use crate::scripts::{Due, ScriptsRun, has_project_scripts, run_project_scripts, run_scripts};
use crate::tops::link_commands;
use gantry_engine::{LinkReport, ProjectTree};
use gantry_layout::Plan;
use gantry_manifest::Lockfile;

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
        let packages = plan.packages.iter().map(|package| InPlace {
            path: &package.path,
            key: package.key.clone(),
            label: format!("{}@{}", package.name, package.version),
        });
        let packages: Vec<InPlace<'_>> = packages.collect();
        let watch = Watch::begin(&*self.store, &packages, has_new);
        self.store.let_go();
        let link_commands = &mut || link_commands(&self.path, plan, moves);
        let result = run_scripts(&self.path, due, &self.scripts, &self.interrupt, link_commands);
        if result.as_ref().is_ok_and(|ran| ran.run.is_empty() && ran.failed.is_empty()) {
            watch.call_off();
            return Ok(LinkReport::default());
        }
        let changed = watch.end(&self.path, packages);
        let ScriptsRun { run, failed } = result?;
        Ok(LinkReport { scripts_run: run, scripts_failed: failed, scripts_changed: changed?, ..LinkReport::default() })
    }

    /// Runs the project's own scripts. Packages that they have changed for everybody are this project's own afterwards: gives their
    /// labels. The right to change the project need not be held.
    pub(crate) fn run_own_scripts(&self, has_new: bool) -> Result<Vec<String>, NativeError> {
        if !has_project_scripts(&self.path) {
            return Ok(Vec::new());
        }
        let before = self.installed_now();
        let watch = Watch::begin(&*self.store, &InPlace::of_lock(&before, self.keys()), has_new);
        self.store.let_go();
        let result = run_project_scripts(&self.path, &self.scripts, &self.interrupt);
        // They may have installed something themselves.
        let now = self.installed_now();
        let changed = watch.end(&self.path, InPlace::of_lock(&now, self.keys()));
        result.and(changed)
    }

    fn installed_now(&self) -> Lockfile {
        hidden_lock::read(&self.path).map(|(_, lock)| lock).unwrap_or_default()
    }
}

/// A report with what another one says of scripts.
pub(super) fn with_scripts(report: LinkReport, ran: LinkReport) -> LinkReport {
    let LinkReport { scripts_run, scripts_failed, scripts_changed, .. } = ran;
    LinkReport { scripts_run, scripts_failed, scripts_changed, ..report }
}
