//! Paths of a lock: relative to the project, with `/`.

use crate::LayoutError;

const MODULES: &str = "node_modules";

/// The folders above `path`, outermost first, without the project itself.
pub(crate) fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(end, _)| &path[..end])
}

/// The folder that `path` is in; empty for the project.
pub(crate) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// The folder whose `node_modules` leads to `path`: the project (empty) or one of its folders.
pub(crate) fn top(path: &str) -> &str {
    match modules(path).next() {
        Some(0) => "",
        Some(start) => &path[..start - 1],
        None => path,
    }
}

/// The `node_modules` that holds the package at `path`; empty if there is none.
pub(crate) fn modules_of(path: &str) -> &str {
    modules(path).last().map_or("", |start| &path[..start + MODULES.len()])
}

/// Where components `node_modules` with something below them start.
fn modules(path: &str) -> impl Iterator<Item = usize> {
    let mut next = 0;
    path.split('/').filter_map(move |component| {
        let start = next;
        next += component.len() + 1;
        (component == MODULES && next <= path.len()).then_some(start)
    })
}

/// `path` without `.` and empty components and with `..` applied; `None` if it leads out of the project.
pub(crate) fn normalise(path: &str) -> Option<String> {
    let mut components: Vec<&str> = Vec::new();
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." => {
                components.pop()?;
            }
            _ => components.push(component),
        }
    }
    Some(components.join("/"))
}

/// The way from the folder `from` to `to`; both relative to the project. `to` may start with `..`.
pub(crate) fn relative(from: &str, to: &str) -> String {
    let split = |path| str::split(path, '/').filter(|component| !component.is_empty()).collect::<Vec<_>>();
    let (from, to) = (split(from), split(to));
    let shared = from.iter().zip(&to).take_while(|(from, to)| from == to).count();
    let up = core::iter::repeat_n("..", from.len() - shared);
    up.chain(to[shared..].iter().copied()).collect::<Vec<_>>().join("/")
}

/// Whether `path` stays below the folder it is relative to, wherever it is used.
pub(crate) fn is_confined(path: &str) -> bool {
    path.split('/').all(|component| !matches!(component, "" | "." | "..")) && !path.contains(['\0', '\\'])
}

/// Whether `path` is one that a package may have: in a `node_modules` of the project, named as packages are.
pub fn is_package_path(path: &str) -> bool {
    check_package(path).is_ok()
}

/// Refuses the path of a package that is not in a `node_modules` of the project.
pub(crate) fn check_package(path: &str) -> Result<(), LayoutError> {
    let name = path[modules_of(path).len()..].strip_prefix('/').unwrap_or_default();
    let unscoped = match name.split_once('/') {
        Some((scope, unscoped)) => (scope.len() > 1 && scope.starts_with('@')).then_some(unscoped),
        None => (!name.starts_with('@')).then_some(name),
    };
    // A leading dot would let a package take the place of the folder of commands or of the hidden lock.
    let named = unscoped.is_some_and(|name| !name.is_empty() && !name.starts_with('.') && !name.contains('/'));
    let in_modules = !modules_of(path).is_empty();
    if named && in_modules && is_confined(path) { Ok(()) } else { Err(LayoutError::Path { path: path.to_owned() }) }
}

#[cfg(test)]
mod tests;
