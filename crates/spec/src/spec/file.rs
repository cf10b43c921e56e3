//! Files and folders. npm turns such a specifier into a `file:` URL and back; what is left of that are the rules here:
//! which leading slashes are forgiven, and that dots are resolved while everything else in the path is literal.

use super::SpecKind;

/// Whether the text can only be a path: it starts with `file:`, a dot, a slash, `~/` or a drive letter.
pub(super) fn is_file(text: &str) -> bool {
    text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("file:"))
        || text.starts_with(['.', '/'])
        || text.starts_with("~/")
        || has_drive(text)
}

/// Whether the text ends as the name of a tarball does: what else is a path is a folder.
pub fn is_tarball(text: &str) -> bool {
    let ends_with = |end: &str| {
        let start = text.len().checked_sub(end.len());
        start.and_then(|start| text.get(start..)).is_some_and(|last| last.eq_ignore_ascii_case(end))
    };
    [".tgz", ".tar.gz", ".tar"].into_iter().any(ends_with)
}

pub(super) fn kind(raw: &str) -> SpecKind {
    // npm saves backslashes as slashes; a doubled slash that this makes at the start is dropped again.
    let mut path = path(raw).replace('\\', "/");
    if path.starts_with("//") {
        path.remove(0);
    }
    if is_tarball(raw) { SpecKind::File { path } } else { SpecKind::Directory { path } }
}

fn has_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// The normalised path, still with backslashes; see [`SpecKind::Directory`].
fn path(raw: &str) -> String {
    let mut text = raw.strip_prefix("file:").unwrap_or(raw);
    // `file:/../a` and its like are meant to be relative.
    let slashes = text.bytes().take_while(|byte| *byte == b'/').count();
    if (1..=3).contains(&slashes) && matches!(text[slashes..].split('/').next(), Some("." | "..")) {
        text = &text[slashes..];
    }
    let is_absolute = text.starts_with('/');
    // Two slashes name no host and three start a plain path; only a fourth begins an empty segment.
    let body = if is_absolute { &text[slashes.min(3)..] } else { text };
    let from_root = resolve_dots(body, Above::Vanishes);
    if from_root.first() == Some(&"~") {
        return from_root.join("/");
    }
    let segments = if is_absolute { from_root } else { resolve_dots(body, Above::Stays) };
    let joined = segments.into_iter().filter(|segment| !segment.is_empty()).collect::<Vec<_>>().join("/");
    match (is_absolute, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

/// What becomes of `..` where nothing is left to leave.
#[derive(PartialEq)]
enum Above {
    Stays,
    Vanishes,
}

/// Takes out `.` and resolves `..` as a URL does: an empty segment counts as one, and a path that ends in dots ends in
/// a slash.
fn resolve_dots(path: &str, above: Above) -> Vec<&str> {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "." => {}
            ".." if segments.last().is_some_and(|last| *last != "..") => {
                segments.pop();
            }
            ".." if above == Above::Vanishes => {}
            _ => segments.push(segment),
        }
    }
    if matches!(path.rsplit('/').next(), Some("." | "..")) {
        segments.push("");
    }
    segments
}
