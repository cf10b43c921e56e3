//! Paths that registries see, and names that must not reach the file system.
use super::*;

#[test]
fn scoped_names_are_read_with_and_without_an_escaped_slash() {
    for path in ["/@types%2freact", "/@types%2Freact", "/@types/react"] {
        assert_eq!(Target::parse(path), Target::Packument("@types/react".into()));
    }
    assert_eq!(Target::parse("/@types%2freact/latest"), Target::Version("@types/react".into(), "latest".into()));
    let tarball = Target::Tarball("@types/react".into(), "react-19.0.0.tgz".into());
    assert_eq!(Target::parse("/@types/react/-/react-19.0.0.tgz"), tarball);
    assert_eq!(Target::parse("/@types%2freact/-/@types/react-19.0.0.tgz"), tarball);
}

#[test]
fn service_paths_and_escapes_are_not_packages() {
    for path in ["/", "/-/ping", "/..%2f..%2fetc", "/a/-/..%2f..%2fb", "/a%00b", "/@scope", "/a/b/c"] {
        assert!(matches!(Target::parse(path), Target::Other(_)), "{path}");
    }
}

#[test]
fn storage_names_keep_case_apart_and_come_back() {
    assert_eq!(storage_name("JSONStream").as_deref(), Some("%4A%53%4F%4E%53tream"));
    assert_eq!(storage_name("@a/b").as_deref(), Some("@a/b"));
    assert_eq!(name_from_storage("%4A%53%4F%4E%53tream").as_deref(), Some("JSONStream"));
    for name in ["", "..", "a/b", "@a/../b", "@a/..", "a\0", "@a/b/c"] {
        assert_eq!(storage_name(name), None, "{name:?}");
    }
}
