//! A project and the packuments of its tree: a `package.json` and about as many packages as asked for.
//!
//! Package n is wanted by one of the packages before it, so all are reached; further dependencies go mostly to its
//! neighbours and to a few small packages that everybody uses. One range in twenty asks for an older major version, which
//! makes conflicts and nested packages; some packages have peers, some of them optional dependencies for other platforms.

use serde_json::{Map, Value, json};

use super::packuments::{VERSIONS, dist};
use super::words::word;
use crate::Bundle;
use crate::random::Random;

/// One package in so many is wanted by the project itself.
const DIRECT: usize = 12;
/// The last so many per cent of the packages are what everybody uses.
const COMMON_PERCENT: usize = 6;

struct Package {
    name: String,
    /// Number of major versions, at least one.
    majors: usize,
    /// Versions of each major.
    minors: usize,
    /// Package and how many majors below its newest.
    dependencies: Vec<(usize, usize)>,
    optional: Vec<usize>,
    peer: Option<usize>,
    /// Operating system and processor, if it is for one.
    platform: Option<(&'static str, &'static str)>,
}

/// A project with about so many packages: `package.json` and their packuments.
pub fn project(packages: usize) -> Bundle {
    let mut random = Random::new(packages as u64);
    let all = graph(&mut random, packages);
    let range =
        |number: usize, older: usize| json!(format!("^{}.0.0", all[number].majors.saturating_sub(older).max(1)));
    let direct = packages.div_ceil(DIRECT);
    let wanted = |numbers: &mut dyn Iterator<Item = usize>| -> Map<String, Value> {
        numbers.map(|number| (all[number].name.clone(), range(number, 0))).collect()
    };
    let manifest = json!({
        "name": "generated",
        "version": "1.0.0",
        "dependencies": wanted(&mut (0..direct).step_by(2)),
        "devDependencies": wanted(&mut (1..direct).step_by(2)),
    });
    let root = ("package.json".to_owned(), serde_json::to_vec_pretty(&manifest).expect("values are JSON"));
    let documents = all.iter().map(|package| (package.name.clone(), packument(&mut random, package, &all)));
    std::iter::once(root).chain(documents).collect()
}

fn graph(random: &mut Random, count: usize) -> Vec<Package> {
    let direct = count.div_ceil(DIRECT);
    let common = count - (count * COMMON_PERCENT).div_ceil(100);
    let mut all: Vec<Package> = (0..count)
        .map(|number| {
            let versions = random.distributed(VERSIONS);
            let majors = random.between(1, 8).min(versions);
            Package {
                name: if random.percent(15) {
                    format!("@{}/{}-{number}", word(random), word(random))
                } else {
                    format!("{}-{number}", word(random))
                },
                majors,
                minors: (versions / majors).max(1),
                dependencies: Vec::new(),
                optional: Vec::new(),
                peer: None,
                platform: None,
            }
        })
        .collect();
    for number in direct..count {
        // The first packages are the big ones: they have most of the dependencies.
        let bound = 1 + random.below(number);
        let parent = random.below(bound);
        let parent = if all[parent].platform.is_some() { 0 } else { parent };
        if random.percent(4) {
            all[number].platform = Some(*random.pick(&[("darwin", "arm64"), ("linux", "x64"), ("win32", "x64")]));
            all[parent].optional.push(number);
        } else {
            all[parent].dependencies.push((number, 0));
        }
    }
    for number in 0..count {
        for _ in 0..random.distributed(&[0, 0, 1, 2, 3, 6]) {
            let near = random.percent(50);
            let other = if near && number + 1 < count {
                random.between(number + 1, (number + 60).min(count - 1))
            } else {
                random.between(common, count - 1)
            };
            let older = usize::from(random.percent(5));
            let known = all[number].dependencies.iter().any(|(known, _)| *known == other);
            if other != number && !known && all[other].platform.is_none() {
                all[number].dependencies.push((other, older));
            }
        }
        if random.percent(5) && number > direct {
            all[number].peer = Some(random.below(direct));
        }
    }
    all
}

fn packument(random: &mut Random, package: &Package, all: &[Package]) -> Vec<u8> {
    let mut versions = Map::new();
    let mut latest = String::new();
    for major in 1..=package.majors {
        for minor in 0..package.minors {
            latest = format!("{major}.{minor}.{}", random.below(4));
            versions.insert(latest.clone(), version_of(random, package, &latest, all));
        }
    }
    let document = json!({ "name": package.name, "dist-tags": { "latest": latest }, "versions": versions, "modified": "2026-11-01T00:00:00.000Z" });
    serde_json::to_vec(&document).expect("values are JSON")
}

fn version_of(random: &mut Random, package: &Package, version: &str, all: &[Package]) -> Value {
    let mut manifest = json!({ "name": package.name, "version": version });
    let range = |other: usize, older: usize| json!(format!("^{}.0.0", all[other].majors.saturating_sub(older).max(1)));
    let list = |wanted: &mut dyn Iterator<Item = (usize, usize)>| -> Map<String, Value> {
        wanted.map(|(other, older)| (all[other].name.clone(), range(other, older))).collect()
    };
    if !package.dependencies.is_empty() {
        manifest["dependencies"] = Value::Object(list(&mut package.dependencies.iter().copied()));
    }
    if !package.optional.is_empty() {
        manifest["optionalDependencies"] = Value::Object(list(&mut package.optional.iter().map(|other| (*other, 0))));
    }
    if let Some(peer) = package.peer {
        // Any major will do: a peer that fits nobody would make the project unresolvable.
        manifest["peerDependencies"] = json!({ all[peer].name.clone(): ">=1.0.0" });
    }
    if let Some((os, cpu)) = package.platform {
        manifest["os"] = json!([os]);
        manifest["cpu"] = json!([cpu]);
    }
    if random.percent(60) {
        manifest["engines"] = json!({ "node": ">=12" });
    }
    let tools = (0..random.distributed(&[0, 4, 8, 30])).map(|number| (format!("tool-{number}"), json!("^1.2.3")));
    manifest["devDependencies"] = Value::Object(tools.collect());
    manifest["dist"] = dist(random, &package.name, version);
    manifest
}
