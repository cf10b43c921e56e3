//! Import from a cache laid out by hand.
use super::*;
use crate::fixtures::{basic, sha512_integrity};
use crate::packument;

fn keep(cache: &Path, bucket: &str, address: &str, body: Option<&[u8]>) {
    let integrity = body.map(sha512_integrity);
    if let (Some(body), Some(integrity)) = (body, &integrity) {
        let path = content_path(cache, integrity).unwrap();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, body).unwrap();
    }
    let path = cache.join("index-v5/aa/bb").join(bucket);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let line = serde_json::json!({"key": format!("{REQUEST}{address}"), "integrity": integrity, "time": 1, "size": 1});
    let before = fs::read_to_string(&path).unwrap_or_default();
    fs::write(path, format!("{before}\nchecksum\t{line}")).unwrap();
}

#[test]
fn full_documents_and_tarballs_of_the_registry_are_imported_and_nothing_else() {
    let scratch = tempfile::tempdir().unwrap();
    let (cache, recording) = (scratch.path().join("cache"), Recording::new(scratch.path().join("recording")));
    let registry = basic();
    let base = "https://registry.test/npm/";
    let tarball = registry.tarball("@scope/middle", "1.2.3").unwrap();
    let full = registry.full_packument("@scope/middle", base).unwrap();
    let short = registry.abbreviated_packument("left", base).unwrap();
    keep(&cache, "1", &format!("{base}@scope%2fmiddle"), Some(b"{}"));
    keep(&cache, "1", &format!("{base}@scope%2fmiddle"), Some(&full));
    keep(&cache, "2", &format!("{base}left"), Some(&short));
    keep(&cache, "3", &format!("{base}@scope/middle/-/middle-1.2.3.tgz"), Some(&tarball));
    keep(&cache, "4", "https://elsewhere.test/npm/right", Some(&registry.full_packument("right", base).unwrap()));
    keep(&cache, "5", &format!("{base}right"), Some(&registry.full_packument("right", base).unwrap()));
    keep(&cache, "5", &format!("{base}right"), None);
    import(base, &cache, &recording).unwrap();
    assert_eq!(recording.names().unwrap(), ["@scope/middle"]);
    assert_eq!(recording.tarball("@scope/middle", "middle-1.2.3.tgz").unwrap().unwrap(), tarball);
    assert_eq!(recording.tarball_count().unwrap(), 1);
    let text = recording.packument("@scope/middle").unwrap().unwrap();
    assert!(text.contains(packument::PLACEHOLDER) && !text.contains("registry.test"));
}
