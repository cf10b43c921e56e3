//! Where a resolution starts.

use crate::build::Builder;
use crate::error::ResolveError;
use crate::from_lock::{self, Loaded};
use crate::options::ResolveOptions;
use crate::pick::Picker;
use crate::project::Project;
use crate::shelf::Shelf;
use gantry_manifest::Lockfile;

/// A builder with the lock's tree, flags calculated.
pub(crate) fn builder(
    project: Project,
    lock: Option<&Lockfile>,
    options: ResolveOptions,
) -> Result<Builder, ResolveError> {
    let before = crate::pick::cutoff(&options)?;
    let (forest, Loaded { orphans, folders }) = from_lock::plant(project, lock, &options)?;
    let picker = Picker::new(&options, before);
    let shelf = Shelf::new(picker, from_lock::peers(&options));
    let mut builder = Builder::new(forest, shelf, options);
    builder.orphans = orphans;
    for (place, package) in &folders {
        builder.sources.know_folder(place, *package);
    }
    builder.known_folders = folders;
    Ok(builder)
}
