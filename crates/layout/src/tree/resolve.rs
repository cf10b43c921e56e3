//! Following links.

use super::{TreeError, TreeErrorKind, error, lookup::Lookup, lookup::Node};

/// As many links as Linux follows before it calls it a loop.
const MAXIMUM_LINKS: usize = 40;

/// What to do with a link at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastLink {
    Follow,
    Keep,
}

/// The path that `path` leads to: without links, `.` and empty components, and with `..` only at its start, where it leads
/// out of the project. Nothing need be there.
pub(super) fn resolve(lookup: &Lookup, path: &str, last: LastLink) -> Result<String, TreeError> {
    if path.contains('\0') {
        return Err(error(TreeErrorKind::Invalid, path));
    }
    // A slash at the end asks for what the link leads to.
    let last = if path.ends_with('/') { LastLink::Follow } else { last };
    let mut pending: Vec<String> = Vec::new();
    push(&mut pending, path);
    let mut real = String::new();
    let mut links = 0;
    while let Some(component) = pending.pop() {
        if component == ".." {
            climb(lookup, &mut real).ok_or_else(|| error(TreeErrorKind::NotDirectory, path))?;
            continue;
        }
        let parent = real.len();
        if !real.is_empty() {
            real.push('/');
        }
        real.push_str(&component);
        if pending.is_empty() && last == LastLink::Keep {
            break;
        }
        if let Some(target) = lookup.link(&real) {
            links += 1;
            if links > MAXIMUM_LINKS {
                return Err(error(TreeErrorKind::Loop, path));
            }
            if target.starts_with('/') {
                // An absolute folder of the machine is not of this tree.
                return Err(error(TreeErrorKind::NotFound, path));
            }
            real.truncate(parent);
            push(&mut pending, target);
        }
    }
    Ok(real)
}

/// Puts a path's components before those that are pending; the next one is the last of the list.
fn push(pending: &mut Vec<String>, path: &str) {
    let components = path.split('/').filter(|component| !matches!(*component, "" | "."));
    pending.extend(components.rev().map(str::to_owned));
}

/// Goes to the folder above; `None` if that is asked of a file.
fn climb(lookup: &Lookup, real: &mut String) -> Option<()> {
    if real.is_empty() || *real == ".." || real.ends_with("/..") {
        real.push_str(if real.is_empty() { ".." } else { "/.." });
        return Some(());
    }
    if matches!(lookup.node(real), Some(Node::File(_))) {
        return None;
    }
    real.truncate(real.rfind('/').unwrap_or(0));
    Some(())
}
