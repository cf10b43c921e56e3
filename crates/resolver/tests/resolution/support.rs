//! Cases for the resolver: a registry in a table, a manifest, and a driver that answers in any order.

use base64::Engine as _;
use bytes::Bytes;
use gantry_manifest::{Lockfile, Manifest, Packument, StoredBody, TextStyle};
use gantry_resolver::{
    BundleContents, Folder, InstallStrategy, PackumentProblem, PackumentRequest, Project, Resolution, ResolveError,
    ResolveOptions, Resolver, Source, SourceAnswer, Step, Workspace,
};
use gantry_spec::PackageName;
use serde_json::{Map, Value, json};
use std::{path::Path, sync::Arc};

/// One case.
#[derive(Clone, Debug)]
pub struct Case {
    document: Value,
    packuments: Map<String, Value>,
    lock: Option<String>,
}

/// When answers are given.
#[derive(Debug)]
pub enum Order {
    /// As they are asked for.
    InTurn,
    /// Anyhow, some twice; the number steers a small generator.
    Shuffled(u64),
}

impl Order {
    pub fn shuffled(seed: u64) -> Self {
        Self::Shuffled(seed)
    }

    /// A number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        let Self::Shuffled(state) = self else { return 0 };
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as usize % bound
    }
}

impl Case {
    pub fn read(file: &Path) -> Self {
        #[expect(clippy::disallowed_methods, reason = "tests read their cases from disk")]
        let text = std::fs::read_to_string(file).expect("the file is there");
        Self::new(serde_json::from_str(&text).expect("it is JSON"))
    }

    pub fn new(document: Value) -> Self {
        let lock = document.get("lock").map(Value::to_string);
        Self { packuments: packuments(&document), document, lock }
    }

    pub fn about(&self) -> &str {
        self.document["about"].as_str().unwrap_or_default()
    }

    pub fn with_lock(&self, lock: &str) -> Self {
        Self { lock: Some(lock.to_owned()), ..self.clone() }
    }

    pub fn root(&self) -> Manifest {
        manifest(&self.document["root"])
    }

    /// The project, with its workspaces.
    pub fn project(&self) -> Project {
        let paths = self.document["workspaces"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let workspace = |path: &str| {
            let manifest = manifest(&self.document["folders"][path]);
            let folder = path.rsplit('/').next().unwrap_or(path);
            Workspace { name: manifest.name.as_deref().unwrap_or(folder).to_owned(), path: path.to_owned(), manifest }
        };
        Project { root: self.root(), workspaces: paths.map(workspace).collect(), folders: self.linked_folders() }
    }

    /// What the lock links to, as it is on disk.
    fn linked_folders(&self) -> Vec<Folder> {
        let lock = self.lock.as_ref().and_then(|lock| serde_json::from_str::<Value>(lock).ok()).unwrap_or_default();
        let entries = lock["packages"].as_object().cloned().unwrap_or_default();
        let targets =
            entries.values().filter(|entry| entry["link"] == true).filter_map(|entry| entry["resolved"].as_str());
        let known = targets.filter_map(|path| Some((path, self.document["folders"].get(path)?)));
        known.map(|(path, text)| Folder { path: path.to_owned(), manifest: manifest(text) }).collect()
    }

    fn source(&self, source: &Source) -> Result<SourceAnswer, PackumentProblem> {
        match source {
            Source::Folder { path } => {
                let found = self.document["folders"].get(path).map(manifest).unwrap_or_default();
                Ok(SourceAnswer { manifest: found, ..SourceAnswer::default() })
            }
            Source::File { path } => {
                let found = self.document["files"].get(path).ok_or(PackumentProblem::NotFound)?;
                let integrity = Some("sha512-LOCAL".into());
                Ok(SourceAnswer { manifest: manifest(found), resolved: Some(format!("file:{path}").into()), integrity })
            }
            _ => Err(PackumentProblem::Failed { code: "RESOLVE_UNSUPPORTED", message: "not here".to_owned() }),
        }
    }

    fn options(&self) -> ResolveOptions {
        let mut options = ResolveOptions::default();
        options.folder_name = "project".to_owned();
        options.style = Some(TextStyle::default());
        for option in self.document["options"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            match option.split_once('=').unwrap_or((option, "")) {
                ("--force", _) => options.force = true,
                ("--legacy-peer-deps", _) => options.legacy_peer_deps = true,
                ("--strict-peer-deps", _) => options.strict_peer_deps = true,
                ("--prefer-dedupe", _) => options.prefer_dedupe = true,
                ("--engine-strict", _) => options.engine_strict = true,
                ("--install-strategy", "nested") => options.strategy = InstallStrategy::Nested,
                ("--install-strategy", "shallow") => options.strategy = InstallStrategy::Shallow,
                ("--before", date) => options.before = Some(date.to_owned()),
                other => panic!("unknown option {other:?}"),
            }
        }
        options
    }

    fn lockfile(&self) -> Option<Lockfile> {
        self.lock.as_ref().map(|lock| Lockfile::parse(lock.as_bytes(), "package-lock.json").expect("a lock"))
    }

    /// Runs the resolver to the text of a lock.
    pub fn resolve(&self, order: &mut Order) -> Result<String, ResolveError> {
        let resolution = self.run(order, |_| {})?;
        Ok(String::from_utf8(resolution.lockfile.to_bytes()).expect("a lock is text"))
    }

    /// Runs the resolver with other options than the case's.
    pub fn run(&self, order: &mut Order, change: impl Fn(&mut ResolveOptions)) -> Result<Resolution, ResolveError> {
        let mut options = self.options();
        change(&mut options);
        let mut resolver = Resolver::new(self.project(), self.lockfile().as_ref(), options)?;
        let mut waiting: Vec<PackumentRequest> = Vec::new();
        let mut answered: Vec<PackageName> = Vec::new();
        loop {
            match resolver.next()? {
                Step::Done => break,
                Step::Need(requests) => waiting.extend(requests),
            }
            let mut idle = waiting.is_empty();
            for request in resolver.take_bundle_requests() {
                idle = false;
                resolver.answer_bundle(request.id, Ok(self.bundle(&request.name, &request.version)));
            }
            for request in resolver.take_source_requests() {
                idle = false;
                resolver.answer_source(request.id, self.source(&request.source));
                if order.below(2) == 1 {
                    resolver.answer_source(request.id, Err(PackumentProblem::NotFound));
                }
            }
            assert!(!idle, "nothing is asked for and nothing is under way");
            if waiting.is_empty() {
                continue;
            }
            // At least one answer, at most all; the rest is late.
            let now =
                if matches!(order, Order::InTurn) { waiting.len() } else { waiting.len().min(1 + order.below(4)) };
            for _ in 0..now {
                let PackumentRequest { name, version, .. } = waiting.swap_remove(order.below(waiting.len()));
                let version = version.filter(|_| order.below(2) == 0);
                if let Some((version, alone)) = version.and_then(|version| self.alone(name.as_str(), version)) {
                    resolver.answer_version(&name, &version, alone);
                    continue;
                }
                resolver.answer(&name, self.packument(name.as_str(), order.below(2) == 1));
                if order.below(3) == 1 && !answered.is_empty() {
                    let again = &answered[order.below(answered.len())];
                    resolver.answer(again, Err(PackumentProblem::NotFound));
                }
                answered.push(name);
            }
        }
        resolver.finish()
    }

    /// What is asked for, round by round when all answers come together, and which packages are to be fetched; sorted.
    pub fn observe(&self) -> (Vec<Vec<String>>, Vec<String>) {
        let lock = self.lockfile();
        let mut resolver = Resolver::new(self.project(), lock.as_ref(), self.options()).expect("it can begin");
        let (mut rounds, mut picks) = (Vec::new(), Vec::new());
        loop {
            let step = resolver.next().expect("it resolves");
            picks.extend(resolver.take_picks().into_iter().map(|pick| format!("{}@{}", pick.name, pick.version)));
            let Step::Need(requests) = step else { break };
            for request in resolver.take_bundle_requests() {
                resolver.answer_bundle(request.id, Ok(self.bundle(&request.name, &request.version)));
            }
            for request in resolver.take_source_requests() {
                resolver.answer_source(request.id, self.source(&request.source));
            }
            let mut round = Vec::new();
            for PackumentRequest { name, version, .. } in requests {
                let text = name.as_str();
                match version.and_then(|version| self.alone(text, version)) {
                    Some((version, alone)) => {
                        round.push(format!("{text}@{version}"));
                        resolver.answer_version(&name, &version, alone);
                    }
                    None => {
                        round.push(text.to_owned());
                        resolver.answer(&name, self.packument(text, false));
                    }
                }
            }
            round.sort();
            rounds.push(round);
        }
        picks.sort();
        (rounds, picks)
    }

    /// A version alone, if there is one.
    fn alone(&self, name: &str, version: String) -> Option<(String, Arc<Packument>)> {
        let manifest = self.packuments.get(name)?["versions"].get(&version)?;
        let body = json!({ "name": name, "versions": { &version: manifest }, "time": {} }).to_string();
        Some((version, Arc::new(Packument::scan(body.into()).expect("a packument"))))
    }

    /// A packument as a registry gives it, or as a cache that kept it does.
    fn packument(&self, name: &str, kept: bool) -> Result<Arc<Packument>, PackumentProblem> {
        let packument = self.packuments.get(name).ok_or(PackumentProblem::NotFound)?;
        let body = Bytes::from(packument.to_string());
        let scanned = Packument::scan(body.clone()).expect("a packument");
        let outline = kept.then(|| scanned.outline().expect("small"));
        let again = outline.map(|outline| Packument::from_outline(outline, Arc::new(Kept(body))).expect("an outline"));
        Ok(Arc::new(again.unwrap_or(scanned)))
    }

    fn bundle(&self, name: &str, version: &str) -> BundleContents {
        let id = format!("{name}@{version}");
        let entries = self.document["bundles"][&id].as_array().cloned().unwrap_or_default();
        let lock = self.document["shrinkwraps"].get(&id);
        assert!(lock.is_some() || self.document["bundles"].get(&id).is_some(), "the case has its contents");
        let parse = |lock: &Value| Lockfile::parse(lock.to_string().as_bytes(), "npm-shrinkwrap.json").expect("a lock");
        let entry = |entry: &Value| (entry[0].as_str().expect("a path").to_owned(), manifest(&entry[1]));
        BundleContents { packages: entries.iter().map(entry).collect(), shrinkwrap: lock.map(parse) }
    }
}

fn manifest(text: &Value) -> Manifest {
    Manifest::parse_package_json(text.to_string().as_bytes(), "package.json").expect("a manifest")
}

/// The body of a packument that was kept.
#[derive(Debug)]
struct Kept(Bytes);

impl StoredBody for Kept {
    fn read(&self, range: std::ops::Range<u32>) -> Option<Bytes> {
        Some(self.0.slice(range.start as usize..range.end as usize))
    }

    fn damaged(&self) {
        panic!("what was just kept is whole");
    }
}

/// Makes packuments of the registry's table, as `generate.mjs` does.
fn packuments(document: &Value) -> Map<String, Value> {
    let mut packuments = Map::new();
    for (id, manifest) in document["registry"].as_object().expect("a registry") {
        let at = id[1..].find('@').expect("name@version") + 1;
        let (name, version) = (&id[..at], &id[at + 1..]);
        let file = format!("{name}/-/{}-{version}.tgz", name.rsplit('/').next().unwrap_or(name));
        let mut dist = json!({ "tarball": format!("https://registry.test/{file}") });
        if document["bundles"].get(id).is_none() && document["shrinkwraps"].get(id).is_none() {
            let text: String = id.repeat(64)[..64].to_owned();
            let digest = base64::engine::general_purpose::STANDARD.encode(text);
            dist["integrity"] = format!("sha512-{digest}").into();
        }
        merge(&mut dist, &manifest["dist"]);
        let mut full = json!({ "name": name, "version": version });
        merge(&mut full, manifest);
        full["dist"] = dist;
        let packument =
            packuments.entry(name).or_insert_with(|| json!({ "name": name, "dist-tags": {}, "versions": {} }));
        packument["versions"][version] = full;
        packument["dist-tags"]["latest"] = version.into();
    }
    for (name, times) in document["times"].as_object().into_iter().flatten() {
        packuments[name]["time"] = times.clone();
    }
    for (name, tags) in document["tags"].as_object().into_iter().flatten() {
        merge(&mut packuments[name]["dist-tags"], tags);
    }
    packuments
}

fn merge(target: &mut Value, source: &Value) {
    for (key, value) in source.as_object().into_iter().flatten() {
        target[key] = value.clone();
    }
}
