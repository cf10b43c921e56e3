//! Finding the package that a path is in.

use crate::{LayoutError, PlannedPackage};
use gantry_store::{PackageIndex, PackageKey};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::sync::Arc;

/// The indexes of all packages of a plan, by path.
#[derive(Default)]
pub(crate) struct Contents<'a>(FxHashMap<&'a str, Arc<PackageIndex>>);

impl<'a> Contents<'a> {
    /// Looks every package up; one that is not there is an error.
    pub fn new(
        packages: &'a [PlannedPackage],
        index: &dyn Fn(&PackageKey) -> Option<Arc<PackageIndex>>,
    ) -> Result<Self, LayoutError> {
        let mut indexes = FxHashMap::with_capacity_and_hasher(packages.len(), FxBuildHasher);
        for package in packages {
            let index = index(&package.key).ok_or_else(|| LayoutError::Missing {
                package: format!("{}@{}", package.name, package.version),
                path: package.path.clone(),
            })?;
            indexes.insert(package.path.as_str(), index);
        }
        Ok(Self(indexes))
    }

    /// The innermost package that `path` is in, and the rest of the path.
    pub fn package_of<'p>(&self, path: &'p str) -> Option<(&Arc<PackageIndex>, &'p str)> {
        path.rmatch_indices('/').find_map(|(end, _)| Some((self.0.get(&path[..end])?, &path[end + 1..])))
    }
}
