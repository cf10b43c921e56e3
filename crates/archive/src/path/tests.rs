use super::{Landing, landing, root_length};

fn lands(path: &str) -> Option<String> {
    match landing(path) {
        Landing::At(path) => Some(path),
        Landing::Dropped => None,
        Landing::Unsafe => Some("(unsafe)".into()),
    }
}

#[test]
fn exactly_one_component_is_stripped_whatever_it_is_called() {
    for (path, expected) in [
        ("package/index.js", Some("index.js")),
        ("other/lib/a.js", Some("lib/a.js")),
        ("./package/x", Some("package/x")),
        ("/package/x", Some("package/x")),
        ("../evil", Some("evil")),
        ("single", None),
        ("package/", None),
        ("package/.", None),
        ("package//x", Some("x")),
        ("package/a//./b", Some("a/b")),
        ("package/x/", Some("x")),
    ] {
        assert_eq!(lands(path).as_deref(), expected, "{path}");
    }
}

#[test]
fn what_would_climb_is_dropped_and_roots_are_cut() {
    for (path, expected) in [
        ("package/../x", None),
        ("package/a/../x", None),
        ("package/a/..", None),
        ("package/..\\x", None),
        ("package/a\\..\\x", None),
        ("package/..x", Some("..x")),
        ("package/a\\b", Some("a\\b")),
        ("package/c:/x", Some("x")),
        ("package/c:x", Some("x")),
        ("package/c:../x", None),
        ("package/c:d:x", Some("x")),
        ("package/cc:x", Some("cc:x")),
        ("package/\\\\server\\share\\x", Some("x")),
        ("package/\\x", Some("x")),
        ("package///?/C:/x", Some("x")),
        ("p//?/C:/x", Some("?/C:/x")),
        ("package/a\0b", Some("(unsafe)")),
    ] {
        assert_eq!(lands(path).as_deref(), expected, "{path}");
    }
}

#[test]
fn depth_and_length_of_components_are_bounded() {
    let deep = |components: usize| format!("package/{}f", "d/".repeat(components - 1));
    assert!(lands(&deep(1024)).is_some());
    assert!(lands(&deep(1025)).is_none());
    assert!(lands(&format!("package/{}", "n".repeat(255))).is_some());
    assert!(lands(&format!("package/{}", "n".repeat(256))).is_none());
    assert!(lands(&format!("package/{}/f", "n".repeat(256))).is_none());
}

#[test]
fn roots_are_those_of_windows() {
    for (path, expected) in [
        ("", 0),
        ("a", 0),
        ("/", 1),
        ("\\a", 1),
        ("//", 1),
        ("//server", 1),
        ("//server/", 1),
        ("//server/share", 14),
        ("//server/share/x", 15),
        ("\\\\s\\t\\x", 6),
        ("c:", 2),
        ("c:/", 3),
        ("c:x", 2),
        ("1:x", 0),
    ] {
        assert_eq!(root_length(path), expected, "{path}");
    }
}
