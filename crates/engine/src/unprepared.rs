//! Packages that are installed as their repository or folder has them, since nobody has said whether what makes them ready may run.

use crate::Fault;
use crate::host::{Host, PackageStore, ProjectTree};
use crate::pack::value_of;
use gantry_layout::{Plan, PlannedPackage, ScriptVerdict, Scripts, is_folder, is_git};
use gantry_spec::without_secrets;
use serde_json::{Value, json};

/// Scripts that are run in a repository alone, before a package is made of it; in a folder the first.
const PREPARING: [&str; 4] = ["prepare", "prepublish", "preprepare", "postprepare"];

/// A package that its scripts would have made something else of.
pub(crate) struct NotPrepared {
    /// The warning's code.
    pub code: &'static str,
    /// `name@version`
    pub label: String,
    /// What is said of it.
    pub message: String,
}

/// Those of a plan of which nobody has said whether their scripts may run.
pub(crate) async fn not_prepared<H: Host>(host: &H, plan: &Plan) -> Result<Vec<NotPrepared>, Fault> {
    let scripts = host.project().scripts();
    let mut found = Vec::new();
    for PlannedPackage { key, name, version, resolved, .. } in &plan.packages {
        let Some(resolved) = resolved.as_deref() else { continue };
        let (code, verdict, preparing) = if is_git(resolved) {
            ("GIT_NOT_PREPARED", scripts.verdict_of_commit(resolved), &PREPARING[..])
        } else if is_folder(resolved) {
            ("FOLDER_NOT_PREPARED", scripts.verdict_of_folder(resolved), &PREPARING[..1])
        } else {
            continue;
        };
        if verdict != ScriptVerdict::Unreviewed {
            continue;
        }
        let manifest = host.store().read_file(key, "package.json").await?;
        let Some(script) = manifest.as_deref().and_then(|manifest| script_of(manifest, preparing)) else { continue };
        let message = if is_git(resolved) {
            of_repository(name, script, resolved, scripts)
        } else {
            of_folder(name, script, resolved, scripts)
        };
        found.push(NotPrepared { code, label: format!("{name}@{version}"), message });
    }
    Ok(found)
}

/// The first of these that a manifest has.
fn script_of(package_json: &[u8], names: &[&'static str]) -> Option<&'static str> {
    let manifest = value_of(package_json)?;
    let scripts = manifest.get("scripts")?;
    names.iter().copied().find(|script| scripts.get(script).is_some_and(Value::is_string))
}

fn of_folder(name: &str, script: &str, resolved: &str, scripts: &Scripts) -> String {
    let said = format!("{name} is installed as its folder is: its {script:?} script is not run there");
    if *scripts == Scripts::None {
        return said;
    }
    let entry = json!({ resolved: true });
    format!(
        "{said}. If it needs that, \"allowScripts\" in package.json lets it: {entry}; then `gantry ci` makes the package anew"
    )
}

fn of_repository(name: &str, script: &str, resolved: &str, scripts: &Scripts) -> String {
    let said = format!("{name} is installed as it is in its repository: its {script:?} script is not run");
    if *scripts == Scripts::None {
        return said;
    }
    let entry = json!({ without_secrets(resolved): true });
    format!(
        "{said}. If it needs that, `gantry approve-scripts {name}` lets it, which writes \"allowScripts\" into package.json: \
         {entry}; then `gantry ci` builds it"
    )
}
