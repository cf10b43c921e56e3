//! The hosts of the registries that npm knows on this machine: the configured one, and npm's own default as
//! `@npmcli/config` defines it. Loopback and reserved names are no hosts of anybody's.

use crate::{Failure, root};
use std::collections::BTreeSet;
use std::process::Command;

/// Prints the default registry from the definitions: the project's own copy, else the one inside npm.
const DEFAULT_REGISTRY: &str = r"
const { createRequire } = require('module');
const { realpathSync } = require('fs');
const npm = process.env.npm_execpath || realpathSync(require('child_process').execSync('command -v npm').toString().trim());
for (const from of [process.cwd() + '/package.json', npm]) {
  try {
    const file = createRequire(from).resolve('@npmcli/config/package.json');
    const { definitions } = require(file.replace('package.json', 'lib/definitions/index.js'));
    console.log(definitions.registry.default);
    process.exit(0);
  } catch {}
}
process.exit(1);
";

pub(super) fn registry_hosts() -> Result<BTreeSet<String>, Failure> {
    let configured = output("npm", &["config", "get", "registry"])?;
    let default = output("node", &["-e", DEFAULT_REGISTRY])?;
    let hosts: BTreeSet<String> = [configured, default].iter().filter_map(|address| host(address)).collect();
    if hosts.is_empty() {
        return Err("npm names no registry".into());
    }
    Ok(hosts)
}

fn output(program: &str, arguments: &[&str]) -> Result<String, Failure> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{program} {}: {}", arguments[0], output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// The host of an address without port and credentials; nothing for hosts that everybody may spell.
pub(super) fn host(address: &str) -> Option<String> {
    let (_, rest) = address.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = if host.starts_with('[') { host } else { host.split(':').next()? };
    let is_common = host.is_empty()
        || host == "localhost"
        || host.starts_with("127.")
        || host.starts_with('[')
        || [".example", ".test", ".invalid", ".localhost"].iter().any(|suffix| host.ends_with(suffix));
    (!is_common).then(|| host.to_ascii_lowercase())
}
