//! Making the tree of what was brought: the plan, what of it may run scripts, and what goes again where scripts fail.

use crate::bring::{Brought, bring};
use crate::fetch::leave_out;
use crate::host::{Host, LinkReport, PackageStore, ProjectTree};
use crate::part::{Part, is_in_part};
use crate::progress::Progress;
use crate::request::{InstallMode, InstallRequest};
use crate::traffic::Traffic;
use crate::unprepared::{NotPrepared, not_prepared};
use crate::{EngineError, Fault, Phase};
use futures_util::FutureExt;
use gantry_layout::{Plan, PlannedPackage, Scripted, ScriptedTree, plan};
use gantry_manifest::{LockText, Lockfile};
use gantry_resolver::Project;
use gantry_store::PackageKey;
use std::collections::BTreeSet;

/// What a tree is made of.
pub(crate) struct Making<'m> {
    /// What is installed.
    pub lockfile: &'m Lockfile,
    /// The text of the whole project's lock.
    pub text: &'m LockText<'m>,
    /// What the tree is made by, where that is not the whole lock.
    pub part: Option<&'m Part>,
    pub project: &'m Project,
    /// Paths of what of the whole lock is not installed.
    pub inert: &'m BTreeSet<String>,
    pub brought: Brought,
}

/// What came of it.
#[derive(Default)]
pub(crate) struct MadeTree {
    pub link: LinkReport,
    /// How many packages there are.
    pub packages: u32,
    /// Labels of packages with scripts of which nothing is said, sorted.
    pub scripts: Vec<String>,
    /// Folders of the user of which nothing is said, sorted.
    pub unreviewed_folders: Vec<String>,
    /// Paths of optional packages that are not there, though they belong on the target.
    pub left_out: Vec<String>,
}

/// Makes the tree, and runs scripts where the platform does.
pub(crate) async fn make_tree<H: Host>(
    host: &H,
    request: &InstallRequest,
    making: Making<'_>,
    progress: &Progress<'_, H::Clock>,
) -> Result<MadeTree, EngineError> {
    progress.phase(Phase::Link);
    let Making { lockfile, inert, .. } = making;
    let mut left_out = making.brought.left_out.clone();
    let mut plan = making.plan(host, request, inert, &left_out)?;
    let ScriptedTree { allowed, unreviewed, unreviewed_folders } = making.scripted(host, &plan);
    let scripts = sorted(unreviewed.into_iter().map(|package| package.label));
    let not_prepared = not_prepared(host, &plan).await?;
    if request.strict_scripts {
        let has_scripts = |folder: &&Scripted| host.project().has_scripts(&folder.folder);
        let folders = unreviewed_folders.iter().filter(has_scripts).map(|folder| folder.label.clone());
        let packages = not_prepared.iter().map(|package| package.label.clone()).chain(scripts.iter().cloned());
        let unreviewed: Vec<String> = sorted(packages).into_iter().chain(folders).collect();
        if !unreviewed.is_empty() {
            return Err(unreviewed_scripts(&unreviewed).into());
        }
    }
    for NotPrepared { code, message, .. } in not_prepared {
        progress.warn(code, message);
    }
    plan.scripted = allowed;
    let mut link = host.project().link(&plan, request.mode, host.store()).await?;
    let failed = std::mem::take(&mut link.scripts_failed);
    if !failed.is_empty() {
        let mut gone = inert.clone();
        for (path, fault) in &failed {
            leave_out(request, lockfile, &[path], fault, &mut gone, progress)?;
        }
        left_out.extend(gone.difference(inert).cloned());
        let without;
        (plan, without) = make_without(host, request, making, (&mut gone, &mut left_out), progress).await?;
        link.files = without.files;
        link.placed.retain(|path| !gone.contains(path));
    }
    if let Some((code, message)) = changed_for_others(&link.scripts_changed) {
        progress.warn(code, message);
    }
    if let Some(left) = &link.left_behind {
        let message =
            format!("some of what was installed before is still there: {left}. Remove it as whoever it belongs to");
        progress.warn("LEFT_BEHIND", message);
    }
    Ok(MadeTree {
        link,
        packages: u32::try_from(plan.packages.len()).unwrap_or(u32::MAX),
        scripts,
        unreviewed_folders: sorted(unreviewed_folders.into_iter().map(|folder| folder.folder)),
        left_out,
    })
}

/// Makes the tree without what is `gone`; no script runs twice. As a rule all else is there. But scripts may have taken away more,
/// and have written into what others share, which the store does not have any more then: it is brought once more, and what
/// optional of that cannot be had is gone, too.
async fn make_without<H: Host>(
    host: &H,
    request: &InstallRequest,
    making: Making<'_>,
    (gone, left_out): (&mut BTreeSet<String>, &mut Vec<String>),
    progress: &Progress<'_, H::Clock>,
) -> Result<(Plan, LinkReport), EngineError> {
    let plan = making.plan(host, request, gone, left_out)?;
    let fault = match host.project().link(&plan, InstallMode::Install, host.store()).await {
        Err(fault) if fault.code == "STORE_CORRUPT" => fault,
        made => return Ok((plan, made?)),
    };
    progress.warn("STORE_CORRUPT", format!("{}; it is fetched again", fault.message));
    let mut traffic = Traffic::new(host, false);
    let nothing = BTreeSet::new();
    let into = (&mut *gone, &nothing, false);
    let brought = bring(host, (request, making.lockfile), into, &mut traffic, progress).boxed_local().await?;
    drop(traffic);
    left_out.extend(brought.left_out.iter().cloned());
    progress.phase(Phase::Link);
    let making = Making { brought, ..making };
    let plan = making.plan(host, request, gone, left_out)?;
    let made = host.project().link(&plan, InstallMode::Install, host.store()).await?;
    Ok((plan, made))
}

impl Making<'_> {
    /// What goes where, without what is `inert` and, where only a part is installed, `left_out`.
    fn plan<H: Host>(
        &self,
        host: &H,
        request: &InstallRequest,
        inert: &BTreeSet<String>,
        left_out: &[String],
    ) -> Result<Plan, EngineError> {
        let index = |key: &PackageKey| self.brought.in_place.index(key).or_else(|| host.store().index(key));
        let keys = host.project().keys();
        let mut plan = match self.part {
            Some(part) => {
                let left_out = left_out.iter().cloned().collect();
                plan(&part.lockfile.to_text(), &left_out, &part.request.omit, keys, &index)?
            }
            None => plan(self.text, inert, &request.omit, keys, &index)?,
        };
        if request.without_commands {
            plan.leave_out_commands();
        }
        // What is below a workspace that is not part of the tree is not this install's affair; `ci` clears all of them.
        let kept_to = self.part.filter(|_| request.mode == InstallMode::Install);
        let workspaces = self.project.workspaces.iter().filter(|workspace| is_in_part(kept_to, workspace));
        plan.workspaces = workspaces.map(|workspace| workspace.path.clone()).collect();
        Ok(plan)
    }

    /// What of the plan has scripts, and what becomes of them.
    fn scripted<H: Host>(&self, host: &H, plan: &Plan) -> ScriptedTree {
        let has_scripts = |package: &PlannedPackage| {
            let index = self.brought.in_place.index(&package.key).or_else(|| host.store().index(&package.key));
            index.is_some_and(|index| index.facts.has_install_script)
        };
        let workspaces = self.project.workspaces.iter().map(|workspace| workspace.path.clone()).collect();
        let mut tree = ScriptedTree::of(self.lockfile, plan, host.project().scripts(), &workspaces, &has_scripts);
        if let Some(touched) = self.part.map(Part::touched) {
            // The rest of the tree is not this install's affair.
            for list in [&mut tree.allowed, &mut tree.unreviewed, &mut tree.unreviewed_folders] {
                list.retain(|scripted| touched.contains(&scripted.path));
            }
        }
        tree
    }
}

/// Code and text of the warning that scripts have changed files of these packages that other projects share; `None` if there are
/// none.
pub fn changed_for_others(packages: &[String]) -> Option<(&'static str, String)> {
    let names = Some(packages.join(", ")).filter(|names| !names.is_empty())?;
    let message = format!(
        "scripts changed files of {names}, which are shared with other projects. Here they are this project's own now, and the \
         store fetches the packages anew; in another project that has them `gantry ci` puts it right. Have scripts replace files \
         instead, or keep a patch in patches/"
    );
    Some(("SHARED_FILES_CHANGED", message))
}

/// The same of packages that scripts have changed whose install died.
pub fn left_changed_for_others(packages: &[String]) -> Option<(&'static str, String)> {
    let names = Some(packages.join(", ")).filter(|names| !names.is_empty())?;
    let message = format!(
        "scripts of an install that was killed had changed files of {names}, which projects share. The store fetches the packages \
         anew; in projects that have them `gantry ci` puts it right"
    );
    Some(("SHARED_FILES_CHANGED", message))
}

fn sorted(names: impl Iterator<Item = String>) -> Vec<String> {
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

/// What stops a command that is to stop where nobody has said whether scripts may run: npm's `strict-allow-scripts`.
pub fn unreviewed_scripts(scripts: &[String]) -> Fault {
    let message =
        format!("these packages have install scripts, and nothing says whether they may run: {}", scripts.join(", "));
    Fault::new("SCRIPTS_UNREVIEWED", message)
        .with_hint(
            "Install with --ignore-scripts; then `gantry approve-scripts NAME` and `gantry deny-scripts NAME` say true or false of \
             each in \"allowScripts\" of package.json.",
        )
}
