//! Resolving a project with every packument at hand: `lock/bodies` from the registry's bytes, which are scanned on the way,
//! `lock/scanned` from scanned packuments of which nothing is decoded yet. Both end with the text of the lock.
//!
//! An input is a project's `package.json` followed by packuments. The number is a digest of the lock, so native and wasm
//! agree only if they write the same bytes. Packages that come inside of other packages' tarballs are left out: there are
//! no tarballs here.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use gantry_manifest::{Manifest, Packument};
use gantry_resolver::{BundleContents, PackumentProblem, Resolution, ResolveOptions, Resolver, Step};
use rustc_hash::FxHashMap;

use crate::{Bundle, Workload, WorkloadError};

pub(crate) fn workload(name: &str, input: &Bundle) -> Result<Option<Box<dyn Workload>>, WorkloadError> {
    let project = Project::new(input)?;
    Ok(match name {
        "lock/bodies" => Some(Box::new(FromBodies(project))),
        "lock/scanned" => Some(Box::new(FromScanned { project, scanned: FxHashMap::default() })),
        "packages" => Some(Box::new(move || project.packages())),
        _ => None,
    })
}

/// Of a project's packuments those that its resolution asks for, `package.json` first.
pub fn needed_documents(input: &Bundle) -> Result<Bundle, WorkloadError> {
    let project = Project::new(input)?;
    let mut needed = vec![input.items[0].clone()];
    project.resolve(|name| {
        let body = project.bodies.get(name).ok_or(PackumentProblem::NotFound)?;
        needed.push((name.to_owned(), body.clone()));
        scan(body)
    })?;
    Ok(Bundle { items: needed })
}

/// A project that resolves.
struct Project {
    root: Manifest,
    bodies: HashMap<String, Bytes>,
}

impl Project {
    fn new(input: &Bundle) -> Result<Self, WorkloadError> {
        let bad = |name: &str, problem: String| WorkloadError::Input(name.to_owned(), problem);
        let Some(((name, root), packuments)) = input.items.split_first() else {
            return Err(bad("package.json", "it is missing".to_owned()));
        };
        let root = Manifest::parse_package_json(root, name).map_err(|error| bad(name, error.to_string()))?;
        let project = Self { root, bodies: packuments.iter().cloned().collect() };
        project.resolve(|name| project.scan(name))?;
        Ok(project)
    }

    fn scan(&self, name: &str) -> Result<Arc<Packument>, PackumentProblem> {
        scan(self.bodies.get(name).ok_or(PackumentProblem::NotFound)?)
    }

    fn packages(&self) -> u64 {
        let resolution = self.resolve(|name| self.scan(name)).expect("resolved before");
        resolution.lockfile.packages.len() as u64 - 1
    }

    fn resolve(
        &self,
        mut answer: impl FnMut(&str) -> Result<Arc<Packument>, PackumentProblem>,
    ) -> Result<Resolution, WorkloadError> {
        let failed = |error: gantry_resolver::ResolveError| {
            WorkloadError::Input("package.json".to_owned(), format!("{}: {error}", error.code()))
        };
        let mut resolver = Resolver::new(self.root.clone(), None, ResolveOptions::default()).map_err(failed)?;
        while let Step::Need(requests) = resolver.next().map_err(failed)? {
            for request in resolver.take_bundle_requests() {
                resolver.answer_bundle(request.id, Ok(BundleContents::default()));
            }
            for request in requests {
                resolver.answer(&request.name, answer(request.name.as_str()));
            }
        }
        resolver.finish().map_err(failed)
    }
}

fn scan(body: &Bytes) -> Result<Arc<Packument>, PackumentProblem> {
    let problem = |error: gantry_manifest::ManifestError| PackumentProblem::Failed {
        code: error.code(),
        message: error.to_string(),
    };
    Packument::scan(body.clone()).map(Arc::new).map_err(problem)
}

/// A digest that JavaScript's numbers hold exactly; eight bytes at a time, for it is part of what is timed.
fn digest(resolution: &Resolution) -> u64 {
    let bytes = resolution.lockfile.to_bytes();
    let (words, rest) = bytes.as_chunks::<8>();
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let hash = words.iter().fold(bytes.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    rest.iter().fold(hash, |hash, byte| mix(hash, u64::from(*byte))) >> 11
}

struct FromBodies(Project);

impl Workload for FromBodies {
    fn run(&mut self) -> u64 {
        digest(&self.0.resolve(|name| self.0.scan(name)).expect("resolved before"))
    }
}

struct FromScanned {
    project: Project,
    scanned: FxHashMap<String, Result<Arc<Packument>, PackumentProblem>>,
}

impl Workload for FromScanned {
    /// Packuments keep what is decoded, so every run gets new ones.
    fn prepare(&mut self) {
        self.scanned = self.project.bodies.keys().map(|name| (name.clone(), self.project.scan(name))).collect();
    }

    fn run(&mut self) -> u64 {
        let answer = |name: &str| self.scanned.get(name).cloned().unwrap_or(Err(PackumentProblem::NotFound));
        digest(&self.project.resolve(answer).expect("resolved before"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;

    #[test]
    fn both_ways_write_the_same_lock() {
        let input = generate::project(100);
        let run = |name| {
            let mut workload = workload(name, &input).expect("valid").expect("there");
            workload.prepare();
            workload.run()
        };
        assert_eq!(run("lock/bodies"), run("lock/scanned"));
        assert!((95..=130).contains(&run("packages")), "{} packages", run("packages"));
        assert!(run("lock/bodies") < 1 << 53);
    }

    #[test]
    fn only_what_is_asked_for_is_needed() {
        let mut input = generate::project(100);
        let all = input.items.len();
        input.items.push(("stranger".to_owned(), Bytes::from_static(b"{}")));
        let needed = needed_documents(&input).expect("valid");
        assert!(needed.items.len() <= all && needed.items.iter().all(|(name, _)| name != "stranger"));
        let lock = |input| workload("lock/bodies", input).expect("valid").expect("there").run();
        assert_eq!(lock(&needed), lock(&input));
    }
}
