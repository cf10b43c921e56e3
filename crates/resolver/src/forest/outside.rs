//! What does not come from a registry: where a specifier leads, and whether a node is what it leads to.

use super::Forest;
use crate::ResolveOptions;
use crate::ids::{EdgeId, NodeId};
use crate::package::Kind;
use gantry_spec::{GitSpec, Spec, SpecKind, is_tarball};

/// What absolute paths in specifiers are made relative to. Empty where a platform has no such thing: then they are left as
/// they are, and nothing is found there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Anchors {
    /// The project's folder, absolute.
    pub(crate) project: String,
    /// The user's home folder, absolute.
    pub(crate) home: String,
}

impl Anchors {
    /// An absolute path, or one below the home folder, as seen from the project; `None` of others.
    fn absolute(&self, path: &str) -> Option<String> {
        let Self { project, home } = self;
        let absolute = match path.strip_prefix("~/") {
            Some(rest) => format!("{home}/{rest}"),
            None if path.starts_with('/') => path.to_owned(),
            None => return None,
        };
        Some(if project.is_empty() { absolute } else { path_between(project, &absolute) })
    }

    /// A path from a folder, both relative to the project. It may lead out of that and back.
    pub(crate) fn relative(&self, base: &str, path: &str) -> String {
        let path = path_from(base, path);
        if self.project.is_empty() || !leads_out(&path) {
            return path;
        }
        path_between(&self.project, &format!("{}/{path}", self.project))
    }
}

/// A path in a specifier of the project itself, relative to the project, with `/`; what is outside of it starts with `..`.
pub fn path_in_project(options: &ResolveOptions, path: &str) -> String {
    let anchors = Anchors { project: options.project_path.clone(), home: options.home_path.clone() };
    anchors.absolute(path).unwrap_or_else(|| path_from("", path))
}

impl Forest {
    /// Where the paths in an edge's specifier start: in the folder of the dependant; for what came out of a tarball, where
    /// that is; for what an override says, at the project.
    fn base_of(&self, id: EdgeId) -> String {
        let edge = self.edge(id);
        let rule = edge.overrides.map(|rule| self.rules.get(rule));
        if rule.is_some_and(|rule| rule.name == Some(edge.name) && !rule.value.is_empty()) {
            return String::new();
        }
        let file = self.package_of(edge.from).resolved.as_deref().and_then(|resolved| resolved.strip_prefix("file:"));
        match file.filter(|path| is_tarball(path)) {
            Some(tarball) => tarball.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned(),
            None => self.location(edge.from),
        }
    }

    /// A path in a specifier of an edge, relative to the project.
    pub(crate) fn path_of(&self, id: EdgeId, path: &str) -> String {
        self.anchors.absolute(path).unwrap_or_else(|| self.anchors.relative(&self.base_of(id), path))
    }

    /// Whether `node` is what a specifier of the edge that leads to no registry asks for.
    pub(super) fn is_from(&self, id: EdgeId, spec: &Spec, node: NodeId) -> bool {
        let resolved = self.package_of(node).resolved.as_deref();
        match &spec.kind {
            // Under `install-links` anything will do that is no link, wherever it is from.
            SpecKind::Directory { .. } if self.installs_links && !self.is_workspace_of_its_tree(node) => {
                self.node(node).link.is_none()
            }
            SpecKind::Directory { path } => {
                self.node(node).link.is_some_and(|target| self.location(target) == self.path_of(id, path))
            }
            SpecKind::File { path } => {
                let file = || self.path_of(id, path);
                self.node(node).link.is_none()
                    && resolved.and_then(|resolved| resolved.strip_prefix("file:")).is_some_and(|known| known == file())
            }
            SpecKind::Remote { url } => resolved == Some(url),
            SpecKind::Git(git) => resolved.is_some_and(|resolved| self.is_commit_of(id, git, resolved, node)),
            _ => false,
        }
    }

    /// Whether a commit that was resolved once is what a git specifier asks for: the same repository, and the same commit
    /// or a version in the range where it names one. What a branch points to now cannot be told from here: it is what was
    /// resolved as long as the dependant asks for the branch that it asked for then.
    fn is_commit_of(&self, id: EdgeId, asked: &GitSpec, resolved: &str, node: NodeId) -> bool {
        let Ok(Spec { kind: SpecKind::Git(found), .. }) = Spec::parse("", resolved) else { return false };
        let same_repository = match (&asked.hosted, &found.hosted) {
            (Some(asked), Some(found)) => {
                asked.kind == found.kind && asked.user == found.user && asked.project == found.project
            }
            (None, None) => asked.url == found.url,
            _ => false,
        };
        let is_commit =
            |text: &str| (40..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let same_commit = match asked.committish.as_deref() {
            Some(commit) if is_commit(commit) => found.committish.as_deref() == Some(commit),
            wanted if asked.range.is_none() => {
                let edge = self.edge(id);
                let place = (self.location(edge.from), self.names.text(self.node(node).name).to_string());
                self.locked_git.get(&place).is_none_or(|locked| locked.committish.as_deref() == wanted)
            }
            _ => true,
        };
        let in_range = match asked.semver_range() {
            Some(range) => self.package_of(node).version.as_ref().is_some_and(|version| range.satisfied_by(version)),
            None => asked.range.is_none(),
        };
        same_repository && same_commit && in_range
    }

    /// Whether the node is a link that a root has to one of its workspaces.
    fn is_workspace_of_its_tree(&self, node: NodeId) -> bool {
        if self.workspaces.is_empty() {
            return false;
        }
        let edge = self.package_of(node).name.and_then(|name| self.out_edge(self.node(node).root, name));
        edge.map(|edge| self.edge(edge)).is_some_and(|edge| edge.kind == Kind::Workspace && edge.to == Some(node))
    }

    /// The folder or the tarball of the user that the package of a node was made of.
    pub(crate) fn origin_of(&self, id: NodeId) -> Option<&str> {
        let resolved = self.package_of(id).resolved.as_deref().filter(|_| self.node(id).link.is_none());
        resolved.and_then(|resolved| resolved.strip_prefix("file:"))
    }
}

/// Whether a path that is relative to the project leads out of it.
pub(crate) fn leads_out(path: &str) -> bool {
    path == ".." || path.starts_with("../")
}

/// The place of `path` in the folder `base`, which is relative to the project. What leads out of the project starts with `..`.
pub fn path_from(base: &str, path: &str) -> String {
    let mut components: Vec<&str> = Vec::new();
    for component in base.split('/').chain(path.split('/')) {
        match component {
            "" | "." => {}
            ".." if components.last().is_some_and(|last| *last != "..") => {
                components.pop();
            }
            _ => components.push(component),
        }
    }
    components.join("/")
}

/// The way from the folder `from` to the path `to`. Both are absolute, or both relative to the project; empty where they are the
/// same.
pub fn path_between(from: &str, to: &str) -> String {
    let (from, to) = (path_from("", from), path_from("", to));
    let split = |path| str::split(path, '/').filter(|component| !component.is_empty()).collect::<Vec<_>>();
    let (from, to) = (split(from.as_str()), split(to.as_str()));
    let shared = from.iter().zip(&to).take_while(|(from, to)| from == to).count();
    let up = std::iter::repeat_n("..", from.len() - shared);
    up.chain(to[shared..].iter().copied()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::{path_between, path_from};

    #[test]
    fn paths_are_followed_from_a_folder() {
        assert_eq!(path_from("packages/a", "../b"), "packages/b");
        assert_eq!(path_from("packages/a", "../../.."), "..");
        assert_eq!(path_from("../x", "./y/"), "../x/y");
        assert_eq!(path_from("", "."), "");
    }

    #[test]
    fn absolute_paths_become_relative_to_the_project() {
        assert_eq!(path_between("/home/me/app", "/home/me/app/lib"), "lib");
        assert_eq!(path_between("/home/me/app", "/home/me/lib"), "../lib");
        assert_eq!(path_between("/home/me/app", "/srv/./lib/"), "../../../srv/lib");
    }
}
