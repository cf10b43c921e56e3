//! npm's settings that decide on the tree, as `.npmrc`, the environment and a command line give them, under npm's names.

use gantry_layout::Omit;
use gantry_manifest::Config;
use gantry_resolver::{Allowance, Allowances, InstallStrategy, ResolveOptions, Target};

/// The rules of a resolution for a machine. Gives back what is wrong with a setting.
///
/// Left to who knows them: `before`, which takes a clock, what is omitted, and where the project is.
pub fn resolve_settings(config: &Config, target: Target) -> Result<ResolveOptions, String> {
    let is = |key: &str| config.get_bool(key) == Some(true);
    let mut options = ResolveOptions::default();
    options.target = target;
    options.save = config.get_bool("save") != Some(false);
    options.strategy = match config.get("install-strategy") {
        None | Some("hoisted" | "") => InstallStrategy::Hoisted,
        Some("nested") => InstallStrategy::Nested,
        Some("shallow") => InstallStrategy::Shallow,
        Some("linked") => InstallStrategy::Linked,
        Some(other) => return Err(format!("install-strategy={other} is none of hoisted, nested, shallow, linked")),
    };
    // The names that these had before npm 9; the later one counts.
    if is("global-style") {
        options.strategy = InstallStrategy::Shallow;
    }
    if is("legacy-bundling") {
        options.strategy = InstallStrategy::Nested;
    }
    options.legacy_peer_deps = is("legacy-peer-deps");
    options.strict_peer_deps = is("strict-peer-deps");
    options.force = is("force");
    options.prefer_dedupe = is("prefer-dedupe");
    options.engine_strict = is("engine-strict");
    if let Some(tag) = config.get("tag").filter(|tag| !tag.is_empty() && *tag != "null") {
        tag.clone_into(&mut options.default_tag);
    }
    options.before_exclude = config.get_list("min-release-age-exclude");
    options.allowed = Allowances {
        git: allowance(config, "allow-git")?,
        remote: allowance(config, "allow-remote")?,
        file: allowance(config, "allow-file")?,
        directory: allowance(config, "allow-directory")?,
    };
    options.omit_resolved = is("omit-lockfile-registry-resolved");
    Ok(options)
}

fn allowance(config: &Config, key: &str) -> Result<Allowance, String> {
    match config.get(key) {
        None | Some("all" | "") => Ok(Allowance::All),
        Some("root") => Ok(Allowance::Root),
        Some("none") => Ok(Allowance::None),
        Some(other) => Err(format!("{key}={other} is none of all, root, none")),
    }
}

/// What is left out: kinds that `omit` names and `include` does not. Gives back what is wrong with a setting.
pub fn omitted(omit: &[String], include: &[String]) -> Result<Omit, String> {
    let kinds = |key: &str, names: &[String]| {
        let names = names.iter().map(String::as_str).filter(|name| !matches!(*name, "" | "prod"));
        Omit::from_names(names).map_err(|other| format!("{key}={other}: it is none of dev, optional, peer"))
    };
    let (omit, include) = (kinds("omit", omit)?, kinds("include", include)?);
    Ok(Omit {
        dev: omit.dev && !include.dev,
        optional: omit.optional && !include.optional,
        peer: omit.peer && !include.peer,
    })
}
