//! Request paths taken apart, and package names turned into file names.
//!
//! A path from outside never reaches the file system as it came: names are checked segment by segment and every byte
//! that a file system may treat specially (capitals included) is escaped.
use percent_encoding::percent_decode_str;

/// What a request path asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// All versions of a package.
    Packument(String),
    /// One version, named by number or tag.
    Version(String, String),
    /// A tarball: package name and file name.
    Tarball(String, String),
    /// Anything else, decoded.
    Other(String),
}

impl Target {
    /// Reads an encoded request path.
    pub(crate) fn parse(path: &str) -> Target {
        let decoded = percent_decode_str(path).decode_utf8_lossy().into_owned();
        let segments: Vec<&str> = decoded.trim_start_matches('/').split('/').collect();
        let own = if segments[0].starts_with('@') { 2 } else { 1 };
        if segments.len() < own || segments[0] == "-" || !segments.iter().all(|segment| is_plain(segment)) {
            return Target::Other(decoded);
        }
        let name = segments[..own].join("/");
        match &segments[own..] {
            [] => Target::Packument(name),
            [version] => Target::Version(name, (*version).to_owned()),
            ["-", .., file] => Target::Tarball(name, (*file).to_owned()),
            _ => Target::Other(decoded),
        }
    }
}

/// Whether one segment of a path can be part of a name.
fn is_plain(segment: &str) -> bool {
    !segment.is_empty()
        && segment.len() <= 255
        && !segment.starts_with("..")
        && segment != "."
        && !segment.contains(['/', '\\', '\0'])
}

/// A package name as a relative path inside the recording; `None` if it cannot be one.
pub(crate) fn storage_name(name: &str) -> Option<String> {
    let segments: Vec<&str> = name.split('/').collect();
    let fits = match segments.as_slice() {
        [own] => is_plain(own),
        [scope, own] => scope.starts_with('@') && is_plain(scope) && is_plain(own),
        _ => false,
    };
    fits.then(|| segments.iter().map(|segment| escape(segment)).collect::<Vec<_>>().join("/"))
}

/// The inverse of [`storage_name`]; `None` if the text is not an escaped name.
pub(crate) fn name_from_storage(path: &str) -> Option<String> {
    percent_decode_str(path).decode_utf8().ok().map(|text| text.into_owned())
}

fn escape(segment: &str) -> String {
    let mut escaped = String::with_capacity(segment.len());
    for byte in segment.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'@' | b'+' | b'~' => escaped.push(byte as char),
            // Capitals too: two old names may differ in case only, and some file systems fold it.
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

/// The path of a tarball on every server of this crate.
pub(crate) fn tarball_path(name: &str, file: &str) -> String {
    format!("{name}/-/{file}")
}

/// The file name npm gives the tarball of a version: the unscoped name and the version.
pub(crate) fn tarball_file(name: &str, version: &str) -> String {
    let unscoped = name.rsplit('/').next().unwrap_or(name);
    format!("{unscoped}-{version}.tgz")
}

#[cfg(test)]
mod tests;
