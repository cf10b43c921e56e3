//! Changes that the user asks for by name: `npm install <spec>`, `npm uninstall`, `npm update`.
//!
//! 1. Before anything is resolved the project's manifest, or those of the workspaces that were chosen, get what is to be added,
//!    under the names that it has, and lose what is to be removed ([`Asked::of`]). A tag becomes the version that it points to
//!    now; what has no name is looked into.
//! 2. The resolution looks up again what was named, even where the lock has something that fits.
//! 3. Once the tree stands the ranges of what was installed are written into manifests and lock ([`Asked::save`]), as npm's
//!    `reify.js` computes them, and the texts of `package.json` are made.

use crate::EngineError;
use crate::error::Fault;
use crate::found::Found;
use crate::host::{Host, ProjectTree};
use crate::progress::Progress;
use crate::request::{Changes, InstallRequest, Update};
use crate::saved::Saving;
use crate::sources::look_into;
use futures_util::future::try_join_all;
use gantry_manifest::{DependencyKind, DependencyMap, Lockfile, Manifest, with_dependencies};
use gantry_resolver::{
    Project, ResolveError, Source, SourceRequest, Workspace, path_between, path_in_project, pick_version,
};
use gantry_spec::{Spec, SpecKind};

/// What was asked for, once its names are known.
pub(crate) struct Asked {
    /// The project, and the workspaces that the changes are for.
    changed: Vec<Changed>,
    removes: bool,
    /// What was looked into for its name.
    sources: Vec<(Source, Box<Found>)>,
}

/// A manifest that is changed.
struct Changed {
    /// Its folder, relative to the project; empty for the project itself.
    folder: String,
    additions: Vec<Addition>,
}

/// A dependency that is added.
#[derive(Debug)]
struct Addition {
    name: String,
    /// What `package.json` asks for before the version is known.
    spec: String,
    /// Where it is, relative to the project, if it is a folder or a tarball there.
    place: Option<String>,
}

/// The new texts of manifests.
#[derive(Default, PartialEq, Eq)]
pub(crate) struct Manifests {
    /// That of the project.
    pub root: Option<Vec<u8>>,
    /// Those of workspaces, by folder.
    pub workspaces: Vec<(String, Vec<u8>)>,
    /// Folders of manifests whose dependencies are written.
    folders: Vec<String>,
}

impl Manifests {
    /// Writes the dependencies of the manifests in `folders` into their texts. As npm: what somebody has written there since the
    /// command began stays.
    async fn of<H: Host>(
        host: &H,
        request: &InstallRequest,
        project: &Project,
        folders: Vec<String>,
    ) -> Result<Self, EngineError> {
        let mut texts = Self::default();
        for folder in &folders {
            if folder.is_empty() {
                let now = host.project().manifest_now().await?;
                let text = now.as_deref().unwrap_or(&request.package_json);
                texts.root = with_dependencies(text, &project.root, &request.package_json_path)?;
            }
            for Workspace { manifest, .. } in project.workspaces.iter().filter(|workspace| workspace.path == *folder) {
                let path = format!("{folder}/package.json");
                let text = host.project().read(&path).await?.unwrap_or_default();
                let text = with_dependencies(&text, manifest, &path)?;
                texts.workspaces.extend(text.map(|text| (folder.clone(), text)));
            }
        }
        Ok(Self { folders, ..texts })
    }

    /// The same once more; `None` where that comes to the same.
    pub async fn anew<H: Host>(
        &self,
        host: &H,
        request: &InstallRequest,
        project: &Project,
    ) -> Result<Option<Self>, EngineError> {
        let anew = Self::of(host, request, project, self.folders.clone()).await?;
        Ok(Some(anew).filter(|anew| anew != self))
    }
}

impl Asked {
    /// Finds the names, and changes the manifests in `folders`: those of workspaces, and of the project where one is empty.
    pub(crate) async fn of<H: Host>(
        host: &H,
        request: &InstallRequest,
        (root, workspaces): (&mut Manifest, &mut [Workspace]),
        folders: &[String],
        progress: &Progress<'_, H::Clock>,
    ) -> Result<Self, EngineError> {
        let Changes { add, remove, kind, bundle, .. } = &request.changes;
        let found = try_join_all(add.iter().map(|argument| Addition::of(host, request, argument))).await?;
        let (additions, sources): (Vec<Addition>, Vec<_>) = found.into_iter().unzip();
        let mut changed = Vec::new();
        for folder in folders {
            let Some(manifest) = manifest_in(folder, root, workspaces) else { continue };
            for name in remove {
                manifest.remove_dependency(name);
            }
            let mut additions: Vec<Addition> = additions.iter().map(|addition| addition.seen_from(folder)).collect();
            for Addition { name, spec, .. } in &mut additions {
                for moved in manifest.add_dependency(name, spec, *kind, *bundle) {
                    let message = format!("{} leaves {} and is in {} now", moved.name, moved.from, moved.to);
                    progress.warn("DEPENDENCY_MOVED", message);
                }
                if let Some((_, listed)) = manifest.optional_dependencies.iter().find(|(optional, _)| optional == name)
                {
                    listed.as_str().clone_into(spec);
                }
            }
            changed.push(Changed { folder: folder.clone(), additions });
        }
        Ok(Self { changed, removes: !remove.is_empty(), sources: sources.into_iter().flatten().collect() })
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
        let additions = self.changed.first().map_or(&[][..], |changed| &changed.additions);
        resolve.explicit.extend(additions.iter().map(|addition| addition.name.clone()));
        match &request.changes.update {
            // Which these are tells the tree.
            Update::Nothing | Update::Duplicates => {}
            Update::All => resolve.update_all = true,
            Update::Names(names) => resolve.update.extend(names.iter().cloned()),
        }
        changed
    }

    /// Writes the ranges of what is in the tree now into the manifests and the lock's entries for them. Gives the new texts of
    /// those that change.
    pub(crate) async fn save<H: Host>(
        &self,
        host: &H,
        request: &InstallRequest,
        project: &mut Project,
        lock: &mut Lockfile,
    ) -> Result<Manifests, EngineError> {
        let Changes { kind, save, update, .. } = &request.changes;
        if !save {
            return Ok(Manifests::default());
        }
        let names = workspace_names(project);
        let Project { root, workspaces, .. } = project;
        let own = workspaces.iter().map(|workspace| workspace.path.clone());
        let folders: Vec<String> = std::iter::once(String::new()).chain(own).collect();
        let (mut updated, mut written) = (Vec::new(), Vec::new());
        // Before any range is written: npm decides by what was asked for.
        for folder in &folders {
            let manifest = manifest_in(folder, root, workspaces);
            updated.push(manifest.map_or_else(Vec::new, |manifest| {
                Saving::new(request, lock, (&names, folder)).updated(update, manifest)
            }));
        }
        for (folder, updated) in folders.iter().zip(updated) {
            let Some(manifest) = manifest_in(folder, root, workspaces) else { continue };
            let changed = self.changed.iter().find(|changed| changed.folder == *folder);
            let additions = changed.map_or(&[][..], |changed| &changed.additions);
            for Addition { name, .. } in additions {
                Saving::new(request, lock, (&names, folder)).save(manifest, name, *kind);
            }
            for name in &updated {
                Saving::new(request, lock, (&names, folder)).save(manifest, name, None);
            }
            // npm leaves the file alone, however it is written, where no dependency is concerned.
            let removes = changed.is_some() && self.removes;
            if additions.is_empty() && !removes && updated.is_empty() {
                continue;
            }
            describe(folder, additions, manifest, lock, *kind);
            written.push(folder.clone());
        }
        Manifests::of(host, request, project, written).await
    }
}

fn manifest_in<'m>(folder: &str, root: &'m mut Manifest, workspaces: &'m mut [Workspace]) -> Option<&'m mut Manifest> {
    if folder.is_empty() {
        return Some(root);
    }
    workspaces.iter_mut().find(|workspace| workspace.path == folder).map(|workspace| &mut workspace.manifest)
}

fn workspace_names(project: &Project) -> Vec<String> {
    project.workspaces.iter().map(|workspace| workspace.name.clone()).collect()
}

/// Makes the lock's entry for the project or a workspace say what its manifest says. An optional dependency that was just added
/// npm notes among the ordinary ones, too, until the next install: as what was asked for where the user says that it is optional,
/// and else as it is saved.
fn describe(
    folder: &str,
    additions: &[Addition],
    manifest: &Manifest,
    lock: &mut Lockfile,
    kind: Option<DependencyKind>,
) {
    let Some(entry) = lock.packages.iter_mut().find(|entry| entry.path == folder) else { return };
    let own = &mut entry.manifest;
    own.dependencies.clone_from(&manifest.dependencies);
    own.dev_dependencies.clone_from(&manifest.dev_dependencies);
    own.optional_dependencies.clone_from(&manifest.optional_dependencies);
    own.peer_dependencies.clone_from(&manifest.peer_dependencies);
    for Addition { name, spec, .. } in additions {
        let listed =
            |list: &DependencyMap| list.iter().find(|(listed, _)| listed == name).map(|(_, spec)| spec.clone());
        let Some(saved) = listed(&manifest.optional_dependencies) else { continue };
        let noted = match kind {
            Some(DependencyKind::Optional) => spec.as_str().into(),
            // What is also there for development was added for that.
            None if listed(&manifest.dev_dependencies).is_none() => saved,
            _ => continue,
        };
        own.dependencies.push((name.as_str().into(), noted));
    }
}

impl Addition {
    /// The same for the manifest in `folder`.
    fn seen_from(&self, folder: &str) -> Self {
        let Self { name, spec, place } = self;
        let spec = place.as_ref().map_or_else(|| spec.clone(), |place| format!("file:{}", path_between(folder, place)));
        Self { name: name.clone(), spec, place: place.clone() }
    }

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
        let (source, place) = match &spec.kind {
            SpecKind::Tag(_) => {
                let spec = version_of_tag(host, request, &name, &spec).await?;
                return Ok((Self { name, spec, place: None }, None));
            }
            SpecKind::Directory { path } => {
                let path = path_in_project(options, path);
                (Source::Folder { path: path.clone() }, Some(path))
            }
            SpecKind::File { path } => {
                let path = path_in_project(options, path);
                (Source::File { path: path.clone() }, Some(path))
            }
            SpecKind::Remote { url } => (Source::Remote { url: url.clone() }, None),
            SpecKind::Git(git) => (Source::Git { spec: git.saved.clone() }, None),
            SpecKind::Version(_) | SpecKind::Range(_) | SpecKind::Alias { .. } => {
                return Ok((Self { name, spec: spec.raw, place: None }, None));
            }
        };
        if !name.is_empty() {
            return Ok((Self { name, spec: spec.raw, place }, None));
        }
        let wanted = SourceRequest { id: 0, name: argument.to_owned(), source, integrity: None };
        let found = Box::new(look_into(host, &wanted).await?);
        let Some(name) = found.answer.manifest.name.clone().filter(|name| !name.is_empty()) else {
            let message = format!("what is at {argument} has no name: its package.json says none, or is not there");
            let hint = format!("Name it: name@{argument}");
            return Err(Fault::new("DEPENDENCY_NAMELESS", message).with_hint(hint).into());
        };
        Ok((Self { name: name.into(), spec: spec.raw, place }, Some((wanted.source, found))))
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
