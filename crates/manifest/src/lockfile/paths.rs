//! Which paths a lock file may name.

/// A path below the project, in the form that npm writes: relative, `/` between parts, no `.` or `..`.
pub(super) fn is_inside(path: &str) -> bool {
    is_plain(path) && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// A folder outside of the project that a link may point to: some `..`, then names, none of them `node_modules`.
pub(super) fn is_outer_target(path: &str) -> bool {
    let mut parts = path.split('/').peekable();
    let mut climbs = 0;
    while parts.next_if_eq(&"..").is_some() {
        climbs += 1;
    }
    is_plain(path) && climbs > 0 && parts.all(|part| !matches!(part, "" | "." | ".." | "node_modules"))
}

/// The folder outside of the project in whose `node_modules` a path is; `None` of any other.
pub(super) fn outer_folder(path: &str) -> Option<&str> {
    let (folder, below) = path.split_once("/node_modules/")?;
    (is_outer_target(folder) && is_inside(below)).then_some(folder)
}

/// Folders above a path, without the project itself.
pub(super) fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(end, _)| &path[..end])
}

/// Nothing that some system reads as more than a name: backslash, NUL, a drive letter.
fn is_plain(path: &str) -> bool {
    let drive = matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    !drive && !path.contains(['\\', '\0'])
}
