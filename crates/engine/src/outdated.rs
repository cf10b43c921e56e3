//! Which packages of a tree are older than what registries have: npm's `outdated` (its outdated.js).

use crate::choice::paths_of_choice;
use crate::host::Host;
use crate::progress::Progress;
use crate::project::read_installed;
use crate::request::InstallRequest;
use crate::{EngineError, Event};
use futures_util::stream::{StreamExt, TryStreamExt, iter};
use gantry_layout::Omit;
use gantry_manifest::Packument;
use gantry_registry::{CacheMode, RegistryError};
use gantry_resolver::{AskedDependency, Asking, asked_dependencies, pick_version};
use gantry_spec::{Spec, SpecKind, compare_locale};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Which packages are looked at.
#[derive(Debug, Clone, Copy, Default)]
pub struct OutdatedQuery<'q> {
    /// Names of packages, wherever they are in the tree; empty for what the project and its workspaces ask for.
    pub packages: &'q [String],
    /// Without names: what any package asks for.
    pub all: bool,
    /// Whether to tell where packages are described, for which their full documents are needed.
    pub with_homepage: bool,
}

/// A dependency for which there is something newer than what is installed, or nothing installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutdatedDependency {
    /// Its name; behind one that stands for another package what it stands for: `alias:name@range`.
    pub name: String,
    /// The version that is installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    /// The version that what is asked for means now.
    pub wanted: String,
    /// The version that the default tag means.
    pub latest: String,
    /// Where it is, relative to the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The name of who asks for it; of the project and other folders of the user that of the folder.
    pub dependent: String,
    /// Where that is; empty for the project.
    pub dependent_location: String,
    /// `name@version` of who asks for it, if that is a workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The field of `package.json` in which it is asked for.
    #[serde(rename = "type")]
    pub field: &'static str,
    /// Where the package is described, if that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
}

/// What a document says of the package as a whole.
#[derive(Deserialize)]
struct Described {
    homepage: Option<String>,
}

/// Asks registries which packages of the project's tree have newer versions; sorted by name and who asks.
///
/// What a registry does not have, or not in the version that is asked for, is left out, as with npm; what it fails to say is
/// an error. Documents are asked for anew unless settings say otherwise.
pub async fn outdated<H: Host>(
    host: &H,
    request: &InstallRequest,
    query: OutdatedQuery<'_>,
    listener: &mut dyn FnMut(Event),
) -> Result<Vec<OutdatedDependency>, EngineError> {
    let progress = Progress::new(host.registry().clock(), listener, false);
    let asked = asked(host, request, query, &progress).await?;
    let registry = host.registry();
    let mode = registry.cache_mode();
    if mode == CacheMode::Default {
        registry.set_cache_mode(CacheMode::PreferOnline);
    }
    let names: BTreeSet<&str> = asked.iter().map(|asked| asked.spec.fetch_name(&asked.name)).collect();
    let is_full = query.with_homepage || request.resolve.before.is_some();
    let fetches = names.into_iter().map(async |name| {
        let answer = if is_full { registry.full_packument(name).await } else { registry.packument(name).await };
        let answer = match answer {
            Ok(packument) => Some(packument),
            Err(RegistryError::NotFound { .. } | RegistryError::Unauthorized { status: 403, .. }) => None,
            Err(error) => return Err(error),
        };
        Ok((name, answer))
    });
    let fetched = iter(fetches).buffer_unordered(host.slots().together).try_collect::<Vec<_>>().await;
    registry.set_cache_mode(mode);
    for warning in registry.settle().await {
        progress.warn(warning.code, warning.message);
    }
    let packuments: BTreeMap<&str, Arc<Packument>> =
        fetched?.into_iter().filter_map(|(name, answer)| Some((name, answer?))).collect();
    let mut found = Vec::new();
    for asked in &asked {
        let Some(packument) = packuments.get(asked.spec.fetch_name(&asked.name)) else { continue };
        found.extend(compared(asked, packument, request, query.with_homepage)?);
    }
    found.sort_by(|one, other| {
        compare_locale(&one.name, &other.name).then_with(|| compare_locale(&one.dependent, &other.dependent))
    });
    Ok(found)
}

/// What is asked for by those that are looked at, without what is omitted.
async fn asked<H: Host>(
    host: &H,
    request: &InstallRequest,
    query: OutdatedQuery<'_>,
    progress: &Progress<'_, H::Clock>,
) -> Result<Vec<AskedDependency>, EngineError> {
    let (project, tree) = read_installed(host, request, progress).await?;
    let warn = |code: &'static str, message: String| progress.warn(code, message);
    let part = paths_of_choice(&request.workspaces, &project, &tree, &request.resolve, &warn)?;
    let within = part.as_ref().filter(|part| !part.is_empty());
    let asking = Asking { names: query.packages, all: query.all, within };
    let mut asked = asked_dependencies(project, &tree, &request.resolve, asking)?;
    asked.retain(|asked| !is_omitted(asked, &request.omit));
    Ok(asked)
}

fn is_omitted(asked: &AskedDependency, omit: &Omit) -> bool {
    omit.dev && asked.is_dev || omit.optional && asked.is_optional || omit.peer && asked.is_peer
}

/// What is to be told of a dependency, if its package has anything newer.
fn compared(
    asked: &AskedDependency,
    packument: &Arc<Packument>,
    request: &InstallRequest,
    with_homepage: bool,
) -> Result<Option<OutdatedDependency>, EngineError> {
    let package = asked.spec.fetch_name(&asked.name);
    let pick = |spec: &Spec| pick_version(Arc::clone(packument), package, spec, &request.resolve);
    let Some(wanted) = pick(asked.spec.registry_target())? else { return Ok(None) };
    let Ok(any) = Spec::parse(package, "*") else { return Ok(None) };
    let Some(latest) = pick(&any)? else { return Ok(None) };
    let (current, location) = asked.installed.clone().unzip();
    let current = current.filter(|version| !version.is_empty());
    if current.as_ref() == Some(&wanted) && wanted == latest {
        return Ok(None);
    }
    let name = match asked.spec.kind {
        SpecKind::Alias { .. } => asked.spec.raw.replacen("npm", &asked.name, 1),
        _ => asked.name.clone(),
    };
    let described = || serde_json::from_slice::<Described>(&packument.body()?).ok()?.homepage;
    Ok(Some(OutdatedDependency {
        name,
        current,
        wanted,
        latest,
        location,
        dependent: asked.dependent.clone(),
        dependent_location: asked.dependent_path.clone(),
        workspace: asked.workspace.clone(),
        field: asked.field,
        homepage: if with_homepage { described() } else { None },
    }))
}
