use super::{resolved, unpacked};
use gantry_archive::{Extractor, Limits};

#[test]
fn the_package_is_unpacked_to_its_end() {
    let index = unpacked(&mut Extractor::new(Limits::default())).expect("it is a package");
    let paths: Vec<&str> = index.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["LICENSE", "bin/rehearsal.js", "index.js", "package.json"]);
}

#[test]
fn the_project_is_resolved_to_its_end() {
    assert!(resolved().is_some());
}
