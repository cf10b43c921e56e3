//! Whether a package may be installed on a machine.

#[cfg(test)]
mod tests;

use crate::build::Builder;
use crate::error::{ResolveError, ResolveWarning};
use crate::ids::NodeId;
use crate::options::Target;
use gantry_manifest::{Manifest, Text};

/// Whether the manifest's lists of operating systems, processors and C libraries admit the target.
pub fn installs_on(manifest: &Manifest, target: &Target) -> bool {
    let libc_fits = match &target.libc {
        Some(libc) => admits(&manifest.libc, libc),
        None => manifest.libc.is_empty(),
    };
    libc_fits && admits(&manifest.os, &target.os) && admits(&manifest.cpu, &target.cpu)
}

/// `any` alone admits everything; a list of exclusions admits the rest; else one entry must match and no exclusion may.
fn admits(list: &[Text], value: &str) -> bool {
    if list.is_empty() || matches!(list, [only] if only == "any") {
        return true;
    }
    let mut exclusions = 0;
    let mut matched = false;
    for entry in list {
        match entry.strip_prefix('!') {
            Some(excluded) if excluded == value => return false,
            Some(_) => exclusions += 1,
            None => matched |= entry == value,
        }
    }
    matched || exclusions == list.len()
}

fn platform_error(package: String, manifest: &Manifest, target: &Target) -> ResolveError {
    let mut required = Vec::new();
    for (what, list) in [("os", &manifest.os), ("cpu", &manifest.cpu), ("libc", &manifest.libc)] {
        if !list.is_empty() {
            required.push(format!("{what} {}", list.join(", ")));
        }
    }
    let libc = target.libc.as_deref().map_or_else(String::new, |libc| format!(" {libc}"));
    ResolveError::Platform {
        package,
        required: required.join("; "),
        current: format!("{} {}{libc}", target.os, target.cpu),
    }
}

fn engines_text(manifest: &Manifest) -> String {
    let texts: Vec<String> = manifest.engines.iter().map(|(name, range)| format!("{name} {range}")).collect();
    texts.join(", ")
}

impl Builder {
    /// Marks optional packages that this machine cannot take, with what depends on them, as inert; required ones are a
    /// warning (engines) or an error (platform).
    pub(crate) fn check_machine(&mut self) -> Result<(), ResolveError> {
        for id in self.forest.inventory() {
            let node = self.forest.node(id);
            let flags = node.flags;
            let manifest = &self.forest.package_of(id).manifest;
            let runs = self.shelf.picker.accepts_all(&manifest.engines);
            let fits = installs_on(manifest, &self.options.target);
            if runs && fits {
                continue;
            }
            if flags.optional {
                if !node.inert {
                    self.make_inert(id);
                }
                continue;
            }
            // What a link leads to is judged for itself.
            if node.link.is_some() {
                continue;
            }
            let omitted = (flags.peer && self.options.omit_peer)
                || (flags.dev && self.options.omit_dev)
                || (flags.dev_optional && self.options.omit_optional && self.options.omit_dev);
            // What is below a folder that is linked to is installed whatever is omitted.
            if omitted && self.forest.is_mine(self.forest.top_of(id)) {
                continue;
            }
            if !runs {
                let (package, required) = (self.label(id), engines_text(manifest));
                let current = self.current_engines();
                let error = ResolveError::Engine { package, required, current };
                if self.options.engine_strict && !self.options.force {
                    return Err(error);
                }
                self.warnings.push(ResolveWarning { code: "EBADENGINE", message: error.to_string(), conflict: None });
            }
            let manifest = &self.forest.package_of(id).manifest;
            if !fits && !self.options.force {
                return Err(platform_error(self.label(id), manifest, &self.options.target));
            }
        }
        Ok(())
    }

    /// Takes the whole set that hangs on an optional node out of the installation.
    pub(crate) fn make_inert(&mut self, node: NodeId) {
        for node in self.forest.optional_set(node) {
            self.forest.nodes[node.index()].inert = true;
        }
    }

    fn current_engines(&self) -> String {
        let Target { node_version, npm_version, .. } = &self.options.target;
        format!("node {node_version}, npm {npm_version}")
    }
}
