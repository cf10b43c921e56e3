//! What npm calls the nodes of a tree (`name` and `pkgid` of its node.js).

use crate::build::Builder;
use crate::ids::NodeId;

impl Builder {
    /// The name of a node's folder, also of the project's where that is known.
    pub(crate) fn folder_name(&self, node: NodeId) -> &str {
        let known = self.options.folder_name.as_str();
        let is_known = node == self.forest.root && !known.is_empty();
        if is_known { known } else { self.forest.names.text(self.forest.node(node).name) }
    }

    /// The name of a node with its version: the project's own name, and of all others that of the folder, with the package's own
    /// behind it where that is another one.
    pub(crate) fn package_id(&self, node: NodeId) -> String {
        let package = self.forest.package_of(node);
        let version = &package.version_text;
        let folder = self.folder_name(node);
        match package.name.map(|name| &**self.forest.names.text(name)) {
            Some(name) if node == self.forest.root => format!("{name}@{version}"),
            Some(name) if name != folder => format!("{folder}@npm:{name}@{version}"),
            _ => format!("{folder}@{version}"),
        }
    }
}
