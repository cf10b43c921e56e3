//! What tells a store from another one of the same name.
//!
//! The browser, or its user, may remove all that a site has stored while a page has a store open, and another page may make a
//! new one before this one looks: locks of before and after do not know of each other, and by their names all files are there.
//! So each store has an empty file whose name no other store has. It stays as long as the store, also when that is emptied.

use crate::opfs::OpfsDirectory;
use gantry_platform::{Directory, FileError};
use js_sys::Math;

/// What its name starts with.
const PREFIX: &str = "store-";

/// The name of the mark of the store in `directory`, which is made where there is none.
pub(super) async fn mark_of(directory: &OpfsDirectory) -> Result<String, FileError> {
    let names = directory.list().await?;
    if let Some(mark) = names.into_iter().filter(|name| name.starts_with(PREFIX)).min() {
        return Ok(mark);
    }
    let mark = new_name();
    directory.make(&mark).await?;
    Ok(mark)
}

fn new_name() -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^32")]
    let random = || (Math::random() * f64::from(u32::MAX)) as u32;
    format!("{PREFIX}{:08x}{:08x}", random(), random())
}
