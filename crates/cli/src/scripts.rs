//! Which scripts run, and what is said of those that do not.
//!
//! As for npm 12 a package runs its scripts where the user has allowed it to: in `allowScripts` of `package.json`, else by
//! npm's setting `allow-scripts` in a file. The project's own and those of its workspaces run in any case, unless none is to.

mod environment;

pub use environment::{Surroundings, script_environment};

use gantry_engine::Fault;
use gantry_layout::{ScriptOwner, ScriptPolicy, ScriptReview, Scripts};
use gantry_manifest::{Config, environment_layer};
use gantry_native::{ConfigSources, InstalledTree, scripts_of_folder};
use gantry_spec::without_secrets;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::Path;

/// npm's setting, and what `package.json` calls the same.
const SETTING: &str = "allow-scripts";
pub const MEMBER: &str = "allowScripts";

/// How many packages are named at a time.
pub const MOST_NAMED: usize = 8;

/// What may run scripts, by the settings that come from `sources`: all of them, and those of files alone.
pub fn allowed_scripts(
    sources: &ConfigSources,
    config: &Config,
    files: &Config,
    package_json: &[u8],
    warnings: &mut Vec<(&'static str, String)>,
) -> Result<Scripts, Fault> {
    if config.get_bool("ignore-scripts") == Some(true) {
        return refuse_on_the_line(sources).map(|()| Scripts::None);
    }
    reviewed_scripts(sources, config, files, package_json, warnings)
}

/// The same whether any are to run or not: what the user has said of packages.
pub fn reviewed_scripts(
    sources: &ConfigSources,
    config: &Config,
    files: &Config,
    package_json: &[u8],
    warnings: &mut Vec<(&'static str, String)>,
) -> Result<Scripts, Fault> {
    refuse_on_the_line(sources)?;
    let said_on_the_line = listed_on_the_line(sources);
    if config.get_bool("dangerously-allow-all-scripts") == Some(true) {
        return Ok(Scripts::All);
    }
    let listed = listed_in(files);
    let manifest = value_of(package_json);
    if !matches!(manifest[MEMBER], Value::Null | Value::Object(_)) {
        let message = format!("{MEMBER} in package.json, left out: it is no object of packages and true or false");
        warnings.push(("CONFIG_INVALID", message));
    }
    let mut read = |entries, place: &str| {
        let (policy, problems) = ScriptPolicy::read(entries);
        warnings
            .extend(problems.into_iter().map(|problem| ("CONFIG_INVALID", format!("{place}, left out: {problem}"))));
        policy.for_project(&manifest)
    };
    if !said_on_the_line.is_empty() {
        let entries = said_on_the_line.into_iter().map(|name| (name, Some(true))).collect();
        return Ok(Scripts::Allowed(read(entries, &format!("--{SETTING}"))));
    }
    let own = read(of_manifest(&manifest), &format!("{MEMBER} in package.json"));
    if own.is_empty() {
        let entries = listed.into_iter().map(|name| (name, Some(true))).collect();
        return Ok(Scripts::Allowed(read(entries, &format!("{SETTING} in .npmrc"))));
    }
    if !listed.is_empty() {
        warnings.push(("CONFIG_IGNORED", format!("{SETTING} in .npmrc: package.json has its own {MEMBER}")));
    }
    Ok(Scripts::Allowed(own))
}

/// What the line and the environment list.
fn listed_on_the_line(sources: &ConfigSources) -> Vec<String> {
    let mut line = Config::new();
    line.push_layer(sources.options.clone());
    line.push_layer(environment_layer(sources.environment.clone()));
    listed_in(&line)
}

/// npm's rule, too: what runs in a project is the project's affair, not that of who happens to install it. What is installed for
/// the whole machine has no other place to say it.
fn refuse_on_the_line(sources: &ConfigSources) -> Result<(), Fault> {
    if sources.is_global || listed_on_the_line(sources).is_empty() {
        return Ok(());
    }
    Err(Fault::of_setting(format!("--{SETTING} says nothing of a project"))
        .with_hint(format!("List packages in \"{MEMBER}\" of package.json, or in {SETTING} of .npmrc.")))
}

/// A manifest as a value; nothing where it is none.
pub fn value_of(package_json: &[u8]) -> Value {
    let text = package_json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(package_json);
    serde_json::from_slice(text).unwrap_or_default()
}

/// What npm's setting lists.
pub fn listed_in(config: &Config) -> Vec<String> {
    let values = config.get_list(SETTING);
    let names = values.iter().flat_map(|value| value.split(',')).map(str::trim).filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

/// What `package.json` says of packages.
fn of_manifest(package_json: &Value) -> Vec<(String, Option<bool>)> {
    let entries = package_json[MEMBER].as_object().into_iter().flatten();
    entries.map(|(key, value)| (key.clone(), value.as_bool())).collect()
}

/// Scripts that did not run since nothing is said of them.
#[derive(Debug, Clone, Copy)]
pub struct NotRun<'a> {
    pub project: &'a Path,
    /// `name@version`
    pub packages: &'a [String],
    /// Folders that links lead to, with scripts or without.
    pub folders: &'a [String],
    /// What is installed.
    pub tree: &'a InstalledTree,
    /// Whether approval is for what is installed alone: npm's `allow-scripts-pin`.
    pub pins: bool,
}

impl NotRun<'_> {
    /// What is to be said of them, with the most useful thing to do about it.
    pub fn said(&self) -> Vec<String> {
        let (folders, named) = self.folders_with_scripts();
        let of_packages = self.packages.first().map(|first| {
            format!(
                "install scripts of these packages did not run: {}. `gantry install-scripts ls` shows them. For those that need \
                 them, `gantry approve-scripts NAME` writes into \"{MEMBER}\" of package.json{}; then `gantry rebuild` runs \
                 them. For the others, `gantry deny-scripts NAME` has it say false: then they are not named any more",
                some_of(self.packages),
                self.entry(&|owner| !owner.is_link() && owner.label() == *first)
            )
        });
        let of_folders = folders.first().map(|first| {
            format!(
                "scripts of folders that are linked to did not run: {}. \"{MEMBER}\" in package.json can allow it, and \
                 `gantry approve-scripts NAME` writes that{}",
                some_of(&named),
                self.entry(&|owner| owner.is_link() && owner.folder() == *first)
            )
        });
        of_packages.into_iter().chain(of_folders).collect()
    }

    /// The same of what is installed for the whole machine.
    pub fn said_globally(&self) -> Vec<String> {
        let (_, named) = self.folders_with_scripts();
        let names = |labels: &[String]| {
            labels
                .iter()
                .filter_map(|label| label.rsplit_once('@'))
                .map(|(name, _)| name.to_owned())
                .collect::<BTreeSet<_>>()
        };
        let all = names(self.packages).into_iter().collect::<Vec<_>>().join(",");
        let of_packages = format!(
            "install scripts of these packages did not run: {}. For those that need them, install again with --{SETTING}={all}, or \
             list them in {SETTING} of the user's .npmrc",
            some_of(self.packages)
        );
        let of_folders = format!("scripts of folders that are linked to did not run: {}", some_of(&named));
        let said = [(self.packages.is_empty(), of_packages), (named.is_empty(), of_folders)];
        said.into_iter().filter(|(is_none, _)| !is_none).map(|(_, said)| said).collect()
    }

    /// Of the folders those that have scripts, and what is said of each.
    fn folders_with_scripts(&self) -> (Vec<&str>, Vec<String>) {
        let with_scripts = self.folders.iter().filter_map(|folder| {
            let scripts = scripts_of_folder(&self.project.join(folder)).into_iter().map(|(event, _)| event);
            let scripts: Vec<&str> = scripts.collect();
            (!scripts.is_empty()).then(|| (folder.as_str(), format!("{folder} ({})", scripts.join(", "))))
        });
        with_scripts.unzip()
    }

    /// What approving the first of those that are meant would write, after a colon; nothing where nothing tells what it is.
    fn entry(&self, is_meant: &dyn Fn(&ScriptOwner<'_>) -> bool) -> String {
        let written = || {
            let InstalledTree { lock, workspaces } = self.tree;
            let package_json = value_of(&std::fs::read(self.project.join("package.json")).ok()?);
            let review = ScriptReview::new(lock, &package_json, workspaces);
            let owner = review.owners().into_iter().find(is_meant)?;
            let mut entries = Map::new();
            review.approve(&mut entries, &[review.subject(owner)?], self.pins);
            (!entries.is_empty()).then_some(entries)
        };
        let entry = written().map(|entries| format!(": {}", Value::Object(entries))).unwrap_or_default();
        without_secrets(&entry).into_owned()
    }
}

/// As many as are worth reading.
fn some_of(names: &[String]) -> String {
    let more = names.len().saturating_sub(MOST_NAMED);
    let shown = names[..names.len() - more].join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}
