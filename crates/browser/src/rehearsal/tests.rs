use super::{packument, unpacked};
use bytes::Bytes;
use gantry_archive::{Extractor, Limits};
use gantry_manifest::Packument;

#[test]
fn the_package_is_unpacked_to_its_end() {
    let index = unpacked(&mut Extractor::new(Limits::default())).expect("it is a package");
    let paths: Vec<&str> = index.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["LICENSE", "bin/rehearsal.js", "index.js", "package.json"]);
}

#[test]
fn the_registry_has_tarballs_of_all_versions() {
    let body = Bytes::from(packument("a", "https://registry.example/"));
    let packument = Packument::scan(body).expect("it is a document");
    let tarball = |version: &str| {
        packument.manifest(version).and_then(|manifest| Some(manifest.dist.as_ref()?.tarball.to_string()))
    };
    assert_eq!(tarball("1.0.0").as_deref(), Some("https://registry.example/a/-/a-1.0.0.tgz"));
    assert_eq!(tarball("1.1.0").as_deref(), Some("https://registry.example/a/-/a-1.1.0.tgz"));
}
