//! Where an archive's path lands in the package's folder, as npm's `tar` decides with `strip: 1`.

/// What becomes of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Landing {
    /// A file is written here: no empty, `.` or `..` component, no leading `/`.
    At(String),
    /// npm leaves the entry out without failing.
    Dropped,
    /// No file system could take it, and no correct tool writes it.
    Unsafe,
}

/// Deeper paths are left out.
const MAXIMUM_DEPTH: usize = 1024;

/// Components longer than this do not fit into any usual file system; npm warns and goes on without the file.
const MAXIMUM_COMPONENT: usize = 255;

/// Drops the first component whatever it is called, then every leading root (`/`, `C:`, `\\server\share\`).
pub(crate) fn landing(path: &str) -> Landing {
    let Some((_, inner)) = path.split_once('/') else { return Landing::Dropped };
    if inner.split('/').count() > MAXIMUM_DEPTH {
        return Landing::Dropped;
    }
    let relative = without_roots(inner);
    // Backslashes separate only for this check: on the systems whose rules these are, they are part of a name.
    if relative.split(['/', '\\']).any(|component| component == "..") {
        return Landing::Dropped;
    }
    if relative.contains('\0') {
        return Landing::Unsafe;
    }
    let mut landed = String::with_capacity(relative.len());
    for component in relative.split('/') {
        if component.len() > MAXIMUM_COMPONENT {
            return Landing::Dropped;
        }
        if component.is_empty() || component == "." {
            continue;
        }
        if !landed.is_empty() {
            landed.push('/');
        }
        landed.push_str(component);
    }
    if landed.is_empty() { Landing::Dropped } else { Landing::At(landed) }
}

fn without_roots(path: &str) -> &str {
    let mut rest = path;
    loop {
        let root = if rest.starts_with('/') && !rest.starts_with("//?/") { 1 } else { root_length(rest) };
        if root == 0 {
            return rest;
        }
        rest = &rest[root..];
    }
}

/// Length of the root of a path by the rules of Windows, which npm applies on every system.
fn root_length(path: &str) -> usize {
    let bytes = path.as_bytes();
    let separates = |byte: u8| byte == b'/' || byte == b'\\';
    match bytes {
        [first, ..] if separates(*first) => share_length(bytes, separates).unwrap_or(1),
        [drive, b':', rest @ ..] if drive.is_ascii_alphabetic() => {
            2 + usize::from(rest.first().is_some_and(|&byte| separates(byte)))
        }
        _ => 0,
    }
}

/// Length of `\\server\share\` at the start of a path; `None` if it starts with a separator in another way.
fn share_length(bytes: &[u8], separates: impl Fn(u8) -> bool) -> Option<usize> {
    let skip = |from: usize, separators: bool| {
        let count = bytes[from..].iter().take_while(|&&byte| separates(byte) == separators).count();
        (count > 0).then_some(from + count)
    };
    if !separates(*bytes.get(1)?) {
        return None;
    }
    let server_end = skip(2, false)?;
    let share = skip(server_end, true)?;
    let share_end = skip(share, false)?;
    Some(if share_end == bytes.len() { share_end } else { share_end + 1 })
}

#[cfg(test)]
mod tests;
