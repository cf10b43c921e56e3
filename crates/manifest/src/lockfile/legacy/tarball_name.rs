//! What the name of a tarball says about the package in it.

use gantry_spec::Version;

/// Name and version that the file name of `tarball`, a path or a URL, gives away: `left-1.0.0.tgz`. A URL of a registry
/// (`/@scope/name/-/name-1.0.0.tgz`) also tells the name; anything else must be named after `name`.
pub(crate) fn version_in(name: &str, tarball: &str) -> Option<(String, String)> {
    let base = tarball.rsplit('/').next()?;
    base.strip_suffix(".tgz")?;
    let package = registry_package(tarball, base).unwrap_or(name).replace("%2F", "/").replace("%2f", "/");
    let (scope, project) = match package.rsplit_once('/') {
        Some((above, project)) => (above.rsplit('/').next(), project),
        None => (None, package.as_str()),
    };
    let version = base.strip_prefix(project)?.strip_prefix('-')?.strip_suffix(".tgz")?;
    let version = Version::parse_strict(version)?.to_string();
    let name = match scope.filter(|scope| scope.starts_with('@')) {
        Some(scope) => format!("{scope}/{project}"),
        None => project.to_owned(),
    };
    Some((name, version))
}

/// The package that the address of a registry's tarball is for.
fn registry_package<'t>(tarball: &'t str, base: &str) -> Option<&'t str> {
    if !tarball.starts_with("http:/") && !tarball.starts_with("https:/") {
        return None;
    }
    let (_, path) = tarball.split_once("://")?.1.split_once('/')?;
    let (package, file) = path.rsplit_once("/-/")?;
    let package = package.rsplit("/-/").next().unwrap_or(package);
    (file == base).then_some(package)
}
