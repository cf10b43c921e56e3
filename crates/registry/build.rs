//! Reads npm's own default registry out of npm's published definitions (the package `@npmcli/config`), and what npm takes
//! for the same registry under Yarn's name out of its `@npmcli/arborist`, so that no address is spelled here. Without
//! Node.js at build time there is no default and one has to be configured.

use std::path::Path;
use std::process::Command;

/// Looks in the workspace's `node_modules` first, then in the npm that is installed.
const SCRIPT: &str = r"
const { createRequire } = require('node:module');
const { execSync } = require('node:child_process');
const from = (file) => createRequire(file)('@npmcli/config/lib/definitions').definitions.registry.default;
try { console.log(from(process.argv[1])) }
catch { console.log(from(require('node:path').join(execSync('npm root -g').toString().trim(), 'npm/package.json'))) }
";

/// The hosts in arborist's patterns, Yarn's and npm's, one a line.
const YARN_SCRIPT: &str = r"
const { createRequire } = require('node:module');
const { readFileSync } = require('node:fs');
const { execSync } = require('node:child_process');
const from = (file) => createRequire(file).resolve('@npmcli/arborist/package.json').replace('package.json', 'lib/shrinkwrap.js');
const inside = () => require('node:path').join(execSync('npm root -g').toString().trim(), 'npm/package.json');
const candidates = [() => process.argv[1], () => createRequire(process.argv[1]).resolve('npm/package.json'), inside];
for (const candidate of candidates) {
  try {
    const host = (name) => readFileSync(from(candidate()), 'utf8').match(new RegExp(name + ' = /(.*)/'))[1];
    const plain = (pattern) => pattern.split('\\/').at(-2).replaceAll('\\', '');
    console.log(plain(host('yarnRegRe')));
    console.log(plain(host('npmRegRe')));
    break;
  } catch {}
}
";

fn main() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../package.json");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", manifest.with_file_name("package-lock.json").display());
    let output = Command::new("node").arg("-e").arg(SCRIPT).arg(&manifest).output();
    let found =
        output.ok().filter(|output| output.status.success()).and_then(|output| String::from_utf8(output.stdout).ok());
    match found.as_deref().map(str::trim).filter(|address| address.starts_with("http")) {
        Some(address) => println!("cargo::rustc-env=GANTRY_DEFAULT_REGISTRY={address}"),
        None => println!("cargo::warning=npm's definitions were not found: this build has no default registry"),
    }
    let output = Command::new("node").arg("-e").arg(YARN_SCRIPT).arg(&manifest).output();
    let hosts = output.ok().and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    for (variable, host) in ["GANTRY_YARN_HOST", "GANTRY_NPM_HOST"].into_iter().zip(hosts.lines()) {
        println!("cargo::rustc-env={variable}={host}");
    }
}
