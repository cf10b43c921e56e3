//! Changes that the user asks for by name: `npm install <spec>`, `npm uninstall`, `npm update`.
//!
//! 1. Before anything is resolved the project's manifest gets what is to be added, under the names that it has, and loses what
//!    is to be removed ([`Asked::of`]). A tag becomes the version that it points to now; what has no name is looked into.
//! 2. The resolution looks up again what was named, even where the lock has something that fits.
//! 3. Once the tree stands the ranges of what was installed are written into manifest and lock ([`Asked::save`]), as npm's
//!    `reify.js` computes them, and the text of `package.json` is made.

use crate::EngineError;
use crate::error::Fault;
use crate::host::Host;
use crate::progress::Progress;
use crate::request::{Changes, InstallRequest, Update};
use crate::sources::{Found, look_into};
use futures_util::future::try_join_all;
use gantry_manifest::{DependencyKind, LockEntry, Lockfile, Manifest, with_dependencies};
use gantry_resolver::{Project, ResolveError, Source, SourceRequest, Workspace, path_in_project, pick_version};
use gantry_spec::{Range, Spec, SpecKind};

/// What was asked for, once its names are known.
pub(crate) struct Asked {
    additions: Vec<Addition>,
    removes: bool,
    /// What was looked into for its name.
    sources: Vec<(Source, Box<Found>)>,
}

/// A dependency that is added.
#[derive(Debug)]
struct Addition {
    name: String,
    /// What `package.json` asks for before the version is known.
    spec: String,
}

impl Asked {
    /// Finds the names, and changes the manifest.
    pub(crate) async fn of<H: Host>(
        host: &H,
        request: &InstallRequest,
        manifest: &mut Manifest,
        progress: &Progress<'_, H::Clock>,
    ) -> Result<Self, EngineError> {
        let Changes { add, remove, kind, bundle, .. } = &request.changes;
        for name in remove {
            manifest.remove_dependency(name);
        }
        let found = try_join_all(add.iter().map(|argument| Addition::of(host, request, argument))).await?;
        let (mut additions, sources): (Vec<Addition>, Vec<_>) = found.into_iter().unzip();
        for Addition { name, spec } in &mut additions {
            for moved in manifest.add_dependency(name, spec, *kind, *bundle) {
                let message = format!("{} leaves {} and is in {} now", moved.name, moved.from, moved.to);
                progress.warn("DEPENDENCY_MOVED", message);
            }
            if let Some((_, listed)) = manifest.optional_dependencies.iter().find(|(optional, _)| optional == name) {
                listed.as_str().clone_into(spec);
            }
        }
        Ok(Self { additions, removes: !remove.is_empty(), sources: sources.into_iter().flatten().collect() })
    }

    /// Hands over what was looked into, so that the resolution need not do it again.
    pub(crate) fn take_sources(&mut self) -> Vec<(Source, Box<Found>)> {
        std::mem::take(&mut self.sources)
    }

    /// The request with what the resolution has to look up again.
    pub(crate) fn request(&self, request: &InstallRequest) -> InstallRequest {
        let mut changed = request.clone();
        let resolve = &mut changed.resolve;
        resolve.requested = true;
        resolve.explicit.extend(self.additions.iter().map(|addition| addition.name.clone()));
        match &request.changes.update {
            Update::Nothing => {}
            Update::All => resolve.update_all = true,
            Update::Names(names) => resolve.update.extend(names.iter().cloned()),
        }
        changed
    }

    /// Writes the ranges of what is in the tree now into the manifest and the lock's entry for the project. Gives the new text
    /// of `package.json`; `None` where that stays as it is.
    pub(crate) fn save(
        &self,
        request: &InstallRequest,
        project: &mut Project,
        lock: &mut Lockfile,
    ) -> Result<Option<Vec<u8>>, EngineError> {
        let Project { root: manifest, workspaces, .. } = project;
        let Changes { kind, save, update, .. } = &request.changes;
        if !save {
            return Ok(None);
        }
        for Addition { name, .. } in &self.additions {
            save_range(request, (manifest, workspaces), lock, name, *kind);
        }
        let updated = updated(update, manifest, lock);
        for name in &updated {
            save_range(request, (manifest, workspaces), lock, name, None);
        }
        // npm leaves the file alone, however it is written, where no dependency is concerned.
        if self.additions.is_empty() && !self.removes && updated.is_empty() {
            return Ok(None);
        }
        self.describe(manifest, lock, *kind);
        Ok(with_dependencies(&request.package_json, manifest, &request.package_json_path)?)
    }

    /// Makes the lock's entry for the project say what the manifest says. Of an optional dependency that was just added npm
    /// notes among the ordinary ones, too, what was asked for, until the next install.
    fn describe(&self, manifest: &Manifest, lock: &mut Lockfile, kind: Option<DependencyKind>) {
        let Some(entry) = lock.packages.iter_mut().find(|entry| entry.path.is_empty()) else { return };
        let own = &mut entry.manifest;
        own.dependencies.clone_from(&manifest.dependencies);
        own.dev_dependencies.clone_from(&manifest.dev_dependencies);
        own.optional_dependencies.clone_from(&manifest.optional_dependencies);
        own.peer_dependencies.clone_from(&manifest.peer_dependencies);
        for Addition { name, spec } in &self.additions {
            let is_optional = manifest.optional_dependencies.iter().any(|(optional, _)| optional == name);
            if is_optional && kind.is_none_or(|kind| kind == DependencyKind::Optional) {
                own.dependencies.push((name.as_str().into(), spec.as_str().into()));
            }
        }
    }
}

impl Addition {
    /// Gives what was looked into, too, where that was needed for the name.
    async fn of<H: Host>(
        host: &H,
        request: &InstallRequest,
        argument: &str,
    ) -> Result<(Self, Option<(Source, Box<Found>)>), EngineError> {
        let (name, spec) = Spec::parse_argument(argument).map_err(|error| {
            let fault = Fault::new(error.code(), error.to_string());
            match error.hint() {
                Some(hint) => fault.with_hint(hint),
                None => fault,
            }
        })?;
        let options = &request.resolve;
        // The resolution would refuse it as well, but after it has been looked into.
        if let Some(message) = options.allowed.refusal(&spec.kind, true) {
            let (package, spec) = (argument.to_owned(), spec.raw);
            return Err(ResolveError::NotAllowed { package, spec, message }.into());
        }
        let (source, text) = match &spec.kind {
            SpecKind::Tag(_) => {
                let spec = version_of_tag(host, request, &name, &spec).await?;
                return Ok((Self { name, spec }, None));
            }
            SpecKind::Directory { path } => {
                let path = path_in_project(options, path);
                (Source::Folder { path: path.clone() }, format!("file:{path}"))
            }
            SpecKind::File { path } => {
                let path = path_in_project(options, path);
                (Source::File { path: path.clone() }, format!("file:{path}"))
            }
            SpecKind::Remote { url } => (Source::Remote { url: url.clone() }, spec.raw.clone()),
            SpecKind::Git(git) => (Source::Git { spec: git.saved.clone() }, spec.raw.clone()),
            SpecKind::Version(_) | SpecKind::Range(_) | SpecKind::Alias { .. } => {
                return Ok((Self { name, spec: spec.raw }, None));
            }
        };
        if !name.is_empty() {
            return Ok((Self { name, spec: text }, None));
        }
        let wanted = SourceRequest { id: 0, name: argument.to_owned(), source, integrity: None };
        let found = Box::new(look_into(host, &wanted).await?);
        let Some(name) = found.answer.manifest.name.clone().filter(|name| !name.is_empty()) else {
            let message = format!("what is at {argument} has no name: its package.json says none, or is not there");
            let hint = format!("Name it: name@{argument}");
            return Err(Fault::new("DEPENDENCY_NAMELESS", message).with_hint(hint).into());
        };
        Ok((Self { name: name.into(), spec: text }, Some((wanted.source, found))))
    }
}

/// The version that a tag points to. npm installs that very one, whatever else would fit.
async fn version_of_tag<H: Host>(
    host: &H,
    request: &InstallRequest,
    name: &str,
    spec: &Spec,
) -> Result<String, EngineError> {
    let registry = host.registry();
    let packument = match request.resolve.before {
        Some(_) => registry.full_packument(name).await?,
        None => registry.packument(name).await?,
    };
    let latest = packument.dist_tag("latest").map(str::to_owned);
    pick_version(packument, name, spec, &request.resolve)?.ok_or_else(|| {
        let (package, spec) = (name.to_owned(), spec.raw.clone());
        ResolveError::NoMatchingVersion { package, spec, latest, wanted_by: Vec::new() }.into()
    })
}

/// The direct dependencies whose ranges `npm update --save` writes anew: those that were named, or all, but for those of which
/// exactly one version is asked for.
fn updated(update: &Update, manifest: &Manifest, lock: &Lockfile) -> Vec<String> {
    let lists = [
        &manifest.dependencies,
        &manifest.dev_dependencies,
        &manifest.optional_dependencies,
        &manifest.peer_dependencies,
    ];
    let listed = lists.into_iter().flatten().map(|(name, _)| name.to_string());
    let mut names: Vec<String> = match update {
        Update::Nothing => return Vec::new(),
        Update::All => listed.collect(),
        Update::Names(names) => listed.filter(|name| names.contains(name)).collect(),
    };
    names.sort_unstable();
    names.dedup();
    names.retain(|name| {
        let spec = manifest.dependency(name).and_then(|spec| Range::parse(spec));
        let version = lock.entry(&place_of(name)).and_then(|entry| entry.manifest.version.as_deref());
        let version = version.and_then(Range::parse);
        // npm passes over a range that no other version is in.
        !matches!((spec, version), (Some(spec), Some(version)) if spec.is_subset_of(&version))
    });
    names
}

fn save_range(
    request: &InstallRequest,
    (manifest, workspaces): (&mut Manifest, &[Workspace]),
    lock: &Lockfile,
    name: &str,
    kind: Option<DependencyKind>,
) {
    let Some(asked) = manifest.dependency(name).cloned() else { return };
    // An optional one that could not be had is not in the tree, and stays as it was asked for.
    let Some(installed) = lock.entry(&place_of(name)) else { return };
    let Ok(spec) = Spec::parse(name, &asked) else { return };
    // A workspace is saved by its version, whatever it was asked for by.
    let is_workspace = installed.link && workspaces.iter().any(|workspace| workspace.name == name);
    let range = match is_workspace {
        true => Some(prefixed(request, installed, lock)),
        false => range_of(request, name, &spec, installed, lock),
    };
    let Some(range) = range else { return };
    let is_local = is_workspace || matches!(spec.kind, SpecKind::Directory { .. } | SpecKind::File { .. });
    let saved = Range::parse(&range);
    let fits = |known: &str| {
        let known = Range::parse(known);
        !is_local && matches!((&saved, &known), (Some(saved), Some(known)) if saved.intersects(known))
    };
    manifest.save_dependency(name, &range, kind, &fits);
}

fn place_of(name: &str) -> String {
    format!("node_modules/{name}")
}

/// The version of what is installed, or of what a link leads to, behind the prefix of saved ranges; `*` without a version.
fn prefixed(request: &InstallRequest, installed: &LockEntry, lock: &Lockfile) -> String {
    let target = match installed.link {
        true => lock.entry(installed.resolved.as_deref().unwrap_or_default()),
        false => Some(installed),
    };
    let version = target.and_then(|entry| entry.manifest.version.as_deref());
    version.map_or_else(|| "*".to_owned(), |version| format!("{}{version}", request.changes.prefix))
}

/// What goes into `package.json` for a dependency that is installed; `None` where it stays as it was asked for.
fn range_of(
    request: &InstallRequest,
    name: &str,
    spec: &Spec,
    installed: &LockEntry,
    lock: &Lockfile,
) -> Option<String> {
    match &spec.kind {
        SpecKind::Git(git) => Some(git.saved_by_install()),
        SpecKind::Remote { .. } => None,
        SpecKind::File { path } | SpecKind::Directory { path } => {
            Some(format!("file:{}", path_in_project(&request.resolve, path)))
        }
        SpecKind::Version(_) | SpecKind::Range(_) | SpecKind::Tag(_) | SpecKind::Alias { .. } => {
            let with_prefix = prefixed(request, installed, lock);
            let asked = spec.registry_target();
            let range = match &asked.kind {
                // A range that allows less than the prefix would is kept.
                SpecKind::Range(range) if !range.is_any() => {
                    let is_within = Range::parse(&with_prefix).is_some_and(|saved| saved.is_subset_of(range));
                    if is_within { with_prefix } else { asked.raw.clone() }
                }
                _ => with_prefix,
            };
            let fetched = spec.fetch_name(name);
            Some(if fetched == name { range } else { format!("npm:{fetched}@{range}") })
        }
    }
}
