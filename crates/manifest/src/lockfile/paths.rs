//! Which paths a lock file may name.

/// A path below the project, in the form that npm writes: relative, `/` between parts, no `.` or `..`.
pub(super) fn is_inside(path: &str) -> bool {
    is_plain(path) && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// A folder outside of the project that a link may point to: some `..`, then names. It may be in somebody else's `node_modules`.
pub(super) fn is_outer_target(path: &str) -> bool {
    let mut parts = path.split('/').peekable();
    let mut climbs = 0;
    while parts.next_if_eq(&"..").is_some() {
        climbs += 1;
    }
    is_plain(path) && climbs > 0 && parts.all(|part| !matches!(part, "" | "." | ".."))
}

/// The folders outside of the project in whose `node_modules` a path is, however deep; none of any other path.
pub(super) fn outer_folders(path: &str) -> impl Iterator<Item = &str> {
    let is_outside = is_outer_target(path);
    path.match_indices("/node_modules/").filter(move |_| is_outside).map(|(end, _)| &path[..end])
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
