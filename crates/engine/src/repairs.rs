//! What npm 12 changes in packages where the project says so, and what is not done here: a project that has any of it installs,
//! as with npm 11, packages as they are published, and is told so. Where npm 12 has written the lock, that is refused before.

use crate::EngineError;
use crate::host::{Host, ProjectTree};
use crate::progress::Progress;
use crate::request::InstallRequest;
use serde_json::Value;

/// Members of `package.json`.
const MEMBERS: [&str; 2] = ["packageExtensions", "patchedDependencies"];
/// Files beside it.
const FILES: [&str; 2] = [".npm-extension.cjs", ".npm-extension.mjs"];

/// Names what the project has of it.
pub(crate) async fn warn_of_repairs<H: Host>(
    host: &H,
    request: &InstallRequest,
    progress: &Progress<'_, H::Clock>,
) -> Result<(), EngineError> {
    let mut found = members(&request.package_json);
    for file in FILES {
        if host.project().read(file).await?.is_some() {
            found.push(file);
        }
    }
    if !found.is_empty() {
        let message = format!(
            "npm 12 would change packages by {}; here they are installed as they are published",
            found.join(", ")
        );
        progress.warn("REPAIRS_NOT_MADE", message);
    }
    Ok(())
}

/// Which members have anything in them.
fn members(package_json: &[u8]) -> Vec<&'static str> {
    let text = package_json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(package_json);
    let manifest: Value = serde_json::from_slice(text).unwrap_or_default();
    let has = |member: &&str| manifest[*member].as_object().is_some_and(|entries| !entries.is_empty());
    MEMBERS.into_iter().filter(has).collect()
}
