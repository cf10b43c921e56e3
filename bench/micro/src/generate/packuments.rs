//! Packuments shaped like those of packages that everybody installs.

use std::str::FromStr;

use serde_json::{Map, Value, json};

use super::words::{source, word};
use crate::Bundle;
use crate::random::Random;

/// Whose proportions a document has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Thousands of versions (3,478), most of them nightly, each with fifty development dependencies.
    Typescript,
    /// Thousands of small versions (2,346) that differ in little.
    TypesNode,
    /// Thousands of versions (2,963), most of them canaries, with a few dependencies and engines.
    React,
    /// Many documents with as many versions as the packages of a project have: so many documents, not versions.
    Project,
}

/// What a registry was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// What installing needs.
    Abbreviated,
    /// Everything, with descriptions, people, scripts, times and the readme.
    Full,
}

/// There is no shape or form of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName(String);

impl std::fmt::Display for UnknownName {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "{:?} is no shape (typescript, types-node, react, project) and no form (abbreviated, full)",
            self.0
        )
    }
}

impl std::error::Error for UnknownName {}

impl FromStr for Shape {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        match text {
            "typescript" => Ok(Self::Typescript),
            "types-node" => Ok(Self::TypesNode),
            "react" => Ok(Self::React),
            "project" => Ok(Self::Project),
            _ => Err(UnknownName(text.to_owned())),
        }
    }
}

impl FromStr for Form {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        match text {
            "abbreviated" => Ok(Self::Abbreviated),
            "full" => Ok(Self::Full),
            _ => Err(UnknownName(text.to_owned())),
        }
    }
}

/// Versions of the packages of real projects, evenly spaced quantiles.
pub(super) const VERSIONS: &[usize] = &[1, 2, 4, 7, 11, 16, 24, 38, 70, 160, 500];
/// Dependencies of one version.
const DEPENDENCIES: &[usize] = &[0, 0, 0, 0, 1, 1, 2, 3, 5, 9, 24];

/// A document with so many versions; of [`Shape::Project`] so many documents.
pub fn packuments(shape: Shape, form: Form, count: usize) -> Bundle {
    let mut random = Random::new(0x9ac4);
    if shape != Shape::Project {
        let (name, kind) = match shape {
            Shape::Typescript => ("typescript-like", Kind { dependencies: 0, development: 50, engines: true }),
            Shape::TypesNode => ("@types/node-like", Kind { dependencies: 1, development: 0, engines: false }),
            _ => ("react-like", Kind { dependencies: 3, development: 0, engines: true }),
        };
        return [(name, document(&mut random, name, &kind, count, form))].into_iter().collect();
    }
    let documents = (0..count).map(|number| {
        let name = format!("{}-{number}", word(&mut random));
        let (versions, dependencies) = (random.distributed(VERSIONS), random.distributed(DEPENDENCIES));
        let kind = Kind { dependencies, development: dependencies * 2, engines: random.percent(60) };
        let body = document(&mut random, &name, &kind, versions, form);
        (name, body)
    });
    documents.collect()
}

/// What the versions of a document have.
struct Kind {
    dependencies: usize,
    development: usize,
    engines: bool,
}

fn document(random: &mut Random, name: &str, kind: &Kind, count: usize, form: Form) -> Vec<u8> {
    let names: Vec<String> = (0..60).map(|_| word(random)).collect();
    let mut versions = Map::new();
    let mut times = Map::new();
    let mut latest = String::new();
    for number in 0..count {
        let stable = format!("{}.{}.{}", 1 + number / 600, number / 20 % 30, number % 20);
        let version = if count > 1_000 && number % 8 != 0 {
            format!("{stable}-{}.{}", if random.percent(70) { "dev" } else { "canary" }, 20_200_000 + number)
        } else {
            latest.clone_from(&stable);
            stable
        };
        versions.insert(version.clone(), version_of(random, (name, &version, number), kind, &names, form));
        times.insert(
            version,
            json!(format!(
                "20{:02}-0{}-1{}T10:{:02}:12.345Z",
                10 + number / 300,
                1 + number % 9,
                number % 10,
                number % 60
            )),
        );
    }
    let mut document = json!({ "name": name, "dist-tags": { "latest": latest }, "versions": versions });
    if form == Form::Full {
        document["_id"] = json!(name);
        document["time"] = Value::Object(times);
        document["readme"] = json!(source(random, &names, 12_000));
        document["maintainers"] = people(random, 4);
    }
    document["modified"] = json!("2026-11-01T00:00:00.000Z");
    serde_json::to_vec(&document).expect("values are JSON")
}

/// A version, named by its package, its text and its number in the document.
fn version_of(
    random: &mut Random,
    (name, version, number): (&str, &str, usize),
    kind: &Kind,
    names: &[String],
    form: Form,
) -> Value {
    let file = name.rsplit('/').next().unwrap_or(name);
    let mut manifest = json!({ "name": name, "version": version });
    for (member, count) in [("dependencies", kind.dependencies), ("devDependencies", kind.development)] {
        if count > 0 {
            manifest[member] = dependencies(random, names, number / 100, count);
        }
    }
    if random.percent(20) {
        manifest["peerDependencies"] = dependencies(random, names, 0, 2);
    }
    if random.percent(5) {
        manifest["deprecated"] = json!(format!("use \"{}\" instead", random.pick(names)));
    }
    if kind.engines {
        manifest["engines"] = json!({ "node": ">=14.17" });
        manifest["bin"] = json!({ file: format!("bin/{file}") });
    }
    manifest["dist"] = dist(random, name, version);
    if form == Form::Full {
        more(random, &mut manifest, name, version, names);
    }
    manifest
}

pub(super) fn dist(random: &mut Random, name: &str, version: &str) -> Value {
    let file = name.rsplit('/').next().unwrap_or(name);
    let mut dist = json!({
        "integrity": format!("sha512-{}==", random.base64(86)),
        "shasum": random.hexadecimal(40),
        "tarball": format!("https://registry.example/{name}/-/{file}-{version}.tgz"),
    });
    // Registries have them of versions of the last years; mirrors leave them out.
    if random.percent(30) {
        dist["fileCount"] = json!(random.between(3, 300));
        dist["unpackedSize"] = json!(random.between(2_000, 9_000_000));
        dist["signatures"] = json!([{ "keyid": format!("SHA256:{}", random.base64(43)), "sig": random.base64(96) }]);
    }
    dist
}

/// Versions that follow one another want the same packages, but for one now and then.
fn dependencies(random: &mut Random, names: &[String], first: usize, count: usize) -> Value {
    let dependency = |place: usize| {
        let name = &names[(first + place) % names.len()];
        (format!("{name}-{}", place % 7), json!(format!("^{}.{}.0", random.below(20), random.below(40))))
    };
    Value::Object((0..count).map(dependency).collect())
}

fn people(random: &mut Random, count: usize) -> Value {
    let person = |_| json!({ "name": word(random), "email": format!("{}@mail.example", word(random)) });
    (0..count).map(person).collect()
}

/// What only full documents have.
fn more(random: &mut Random, manifest: &mut Value, name: &str, version: &str, names: &[String]) {
    let scripts: Map<String, Value> = (0..12)
        .map(|_| (word(random), json!(format!("node \"./{}\" --{}", random.pick(names), random.pick(names)))))
        .collect();
    let more = json!({
        "_id": format!("{name}@{version}"),
        "description": source(random, names, 90),
        "keywords": names[..6],
        "author": { "name": word(random) },
        "license": "MIT",
        "homepage": format!("https://{}.example/", names[0]),
        "bugs": { "url": format!("https://code.example/{}/issues", names[0]) },
        "repository": { "type": "git", "url": format!("git+https://code.example/{}.git", names[0]) },
        "maintainers": people(random, 4),
        "scripts": scripts,
        "gitHead": random.hexadecimal(40),
        "_npmUser": { "name": word(random), "email": "one@mail.example" },
        "_npmVersion": "10.2.4",
        "_nodeVersion": "20.11.0",
        "_hasShrinkwrap": false,
        "_npmOperationalInternal": { "host": "s3://packages", "tmp": format!("tmp/{file}_{version}_0.1", file = names[1]) },
    });
    if let (Value::Object(manifest), Value::Object(more)) = (manifest, more) {
        manifest.extend(more);
    }
}
