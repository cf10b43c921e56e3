//! The folder of tarballs that the host fills.
//!
//! A package's tarball is the first of these that is there, relative to the folder:
//! 1. `<key>.tgz`, where the key is the algorithm, a dash and the digest in lower-case hexadecimal (`sha512-3a…f0.tgz`):
//!    the name that `--print-missing` gives;
//! 2. `content-v2/sha512/3a/…`: where npm's own cache keeps it, so that the folder may be an npm cache (`_cacache`);
//! 3. `name-1.0.0.tgz`, for a package with a scope `scope-name-1.0.0.tgz`: what `npm pack` calls it;
//! 4. `@scope/name-1.0.0.tgz`: the same with a folder for each scope.
//!
//! The name decides nothing but where to look: what is found must hash to the lock's integrity.

use crate::WasiError;
use crate::system::{Meaning, meaning};
use bytes::Bytes;
use gantry_store::PackageKey;
use std::fs;
use std::path::PathBuf;

/// A folder of tarballs, or none.
#[derive(Debug, Clone, Default)]
pub struct Tarballs {
    folder: Option<PathBuf>,
}

impl Tarballs {
    /// The tarballs in `folder`; without one there are none.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    /// Where the tarball of a package is, if it is there.
    pub fn find(&self, key: &PackageKey, name: &str, version: &str) -> Option<PathBuf> {
        let folder = self.folder.as_ref()?;
        let paths = candidates(key, name, version).into_iter().map(|candidate| folder.join(candidate));
        paths.into_iter().find(|path| fs::metadata(path).is_ok_and(|data| data.is_file()))
    }

    /// The tarball of a package; `None` where it is not there.
    pub fn read(&self, key: &PackageKey, name: &str, version: &str) -> Result<Option<Bytes>, WasiError> {
        let Some(path) = self.find(key, name, version) else { return Ok(None) };
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes.into())),
            Err(error) if meaning(&error) == Meaning::NotFound => Ok(None),
            Err(error) => Err(WasiError::io("read", &path)(error)),
        }
    }
}

/// What a host should call the tarball of `key`.
pub(crate) fn file_name(key: &PackageKey) -> String {
    format!("{key}.tgz")
}

fn candidates(key: &PackageKey, name: &str, version: &str) -> Vec<String> {
    let mut candidates = vec![file_name(key)];
    if let Some((algorithm, digest)) = key.as_str().split_once('-')
        && matches!(algorithm, "sha1" | "sha256" | "sha384" | "sha512")
        && digest.len() > 4
    {
        candidates.push(format!("content-v2/{algorithm}/{}/{}/{}", &digest[..2], &digest[2..4], &digest[4..]));
    }
    // A lock may say anything: what is no name of one file, with a scope at most, is not looked for.
    let is_plain = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains(['/', '\\', '\0']);
    let (scope, plain) = match name.strip_prefix('@').and_then(|rest| rest.split_once('/')) {
        Some((scope, plain)) => (Some(scope), plain),
        None => (None, name),
    };
    if is_plain(plain) && is_plain(version) && scope.is_none_or(is_plain) {
        match scope {
            Some(scope) => {
                candidates.push(format!("{scope}-{plain}-{version}.tgz"));
                candidates.push(format!("@{scope}/{plain}-{version}.tgz"));
            }
            None => candidates.push(format!("{plain}-{version}.tgz")),
        }
    }
    candidates
}

#[cfg(test)]
mod tests {
    use super::candidates;
    use gantry_store::PackageKey;

    fn of(name: &str, version: &str) -> Vec<String> {
        candidates(&PackageKey::parse("sha512-00112233").unwrap(), name, version)
    }

    #[test]
    fn tarballs_go_by_digest_by_the_cache_of_npm_and_by_name() {
        let expected = ["sha512-00112233.tgz", "content-v2/sha512/00/11/2233", "a-1.0.0.tgz"];
        assert_eq!(of("a", "1.0.0"), expected);
        assert_eq!(of("@s/a", "1.0.0")[2..], ["s-a-1.0.0.tgz", "@s/a-1.0.0.tgz"]);
    }

    #[test]
    fn names_that_lead_elsewhere_are_not_looked_for() {
        for (name, version) in [("../a", "1.0.0"), ("a", "../../1"), ("@../a", "1"), ("@s/../a", "1"), ("a", "")] {
            assert_eq!(of(name, version).len(), 2, "{name} {version}");
        }
    }
}
