//! Taking things out of the store.
//!
//! What goes is out of the way by one rename, so that no half of it is ever to be found. Some directories cannot be renamed:
//! on overlays those of a lower layer, which a store in an image is. There a package's list goes first, without which nothing
//! is taken for a package, and then the rest, where it is.

use super::make_folder;
use crate::NativeError;
use crate::moves::whole_directory_refused;
use crate::temporary::{remove_any, unique_name};
use std::fs;
use std::io;
use std::path::Path;

/// Removes a package's directory.
pub(super) fn discard(directory: &Path, temporary: &Path) -> Result<(), NativeError> {
    if fs::symlink_metadata(directory).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Ok(());
    }
    let aside = temporary.join(unique_name("damaged-"));
    let made = match make_folder(temporary) {
        Err(NativeError::Io { source, .. }) => Err(source),
        other => Ok(other?),
    };
    match made.and_then(|()| set_aside(directory, &aside)) {
        Ok(()) => {
            // What remains is swept one day.
            let _ = remove_any(&aside);
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(NativeError::io("remove the damaged", directory)(error)),
    }
}

/// Moves a directory of the store to `aside`, from where it is to be removed; where that cannot be, it is removed at once.
pub(super) fn set_aside(directory: &Path, aside: &Path) -> io::Result<()> {
    match fs::rename(directory, aside) {
        Err(error) if whole_directory_refused(&error) => {
            match fs::remove_file(directory.join("index")) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            fs::remove_dir_all(directory)
        }
        moved => moved,
    }
}
