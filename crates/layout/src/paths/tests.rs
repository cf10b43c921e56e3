use super::{check_package, modules_of, normalise, relative, top};

#[test]
fn relative_paths_climb_as_far_as_needed() {
    for (from, to, expected) in [
        ("node_modules", "packages/a", "../packages/a"),
        ("node_modules/@scope", "packages/a", "../../packages/a"),
        ("node_modules/.bin", "node_modules/vite/bin/vite.js", "../vite/bin/vite.js"),
        ("node_modules", "", ".."),
        ("node_modules", "../outside", "../../outside"),
        ("packages/a/node_modules", "packages/b", "../../b"),
    ] {
        assert_eq!(relative(from, to), expected);
    }
}

#[test]
fn packages_must_be_in_a_node_modules_of_the_project() {
    for path in [
        "node_modules/a",
        "node_modules/@s/a",
        "node_modules/a/node_modules/b",
        "packages/w/node_modules/@s/a",
        "node_modules/node_modules_x",
    ] {
        assert!(check_package(path).is_ok(), "{path}");
    }
    for path in [
        "a",
        "node_modules",
        "node_modules/",
        "node_modules/@s",
        "node_modules/@/a",
        "node_modules/a/b",
        "node_modules/@s/a/b",
        "node_modules/..",
        "node_modules/../a",
        "../node_modules/a",
        "/node_modules/a",
        "packages/../../node_modules/a",
        "node_modules/a/../../node_modules/b",
        "node_modules/.bin",
        "node_modules/.package-lock.json",
        "node_modules/a\\..\\b",
        "node_modules/a\0",
        "x_node_modules/a",
    ] {
        assert!(check_package(path).is_err(), "{path}");
    }
}

#[test]
fn the_folder_of_a_path_is_found() {
    assert_eq!(top("node_modules/a/node_modules/b"), "");
    assert_eq!(top("packages/w/node_modules/a/node_modules/b"), "packages/w");
    assert_eq!(top("packages/w"), "packages/w");
    assert_eq!(modules_of("packages/w/node_modules/@s/a"), "packages/w/node_modules");
    assert_eq!(modules_of("node_modules/a/node_modules/b"), "node_modules/a/node_modules");
    assert_eq!(normalise("./packages//w/../x/").as_deref(), Some("packages/x"));
    assert_eq!(normalise("../x"), None);
}
