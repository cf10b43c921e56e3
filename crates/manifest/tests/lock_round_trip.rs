//! Lock files that npm wrote come out byte for byte as they went in.
//!
//! The fixtures were written by npm 11.19 for real projects; only the registry's host was replaced.

use gantry_manifest::Lockfile;

const EXPRESS: &str = include_str!("fixtures/express.package-lock.json");
const VITE: &str = include_str!("fixtures/vite-react-workspaces.package-lock.json");
const WEBPACK: &str = include_str!("fixtures/webpack.package-lock.json");
const LOCAL: &str = include_str!("fixtures/local-tabs.package-lock.json");
const LOCAL_HIDDEN: &str = include_str!("fixtures/local-tabs.hidden-lock.json");

fn parse(text: &str) -> Lockfile {
    Lockfile::parse(text.as_bytes(), "package-lock.json").expect("npm wrote it")
}

#[track_caller]
fn assert_round_trip(text: &str) {
    let written = String::from_utf8(parse(text).to_bytes()).expect("text");
    for (line, (expected, found)) in text.split('\n').zip(written.split('\n')).enumerate() {
        assert_eq!(found, expected, "line {}", line + 1);
    }
    assert_eq!(written.len(), text.len());
}

#[test]
fn an_express_project_with_an_engines_list_and_a_license_list_comes_out_the_same() {
    assert_round_trip(EXPRESS);
}

#[test]
fn workspaces_links_peers_and_optional_platform_packages_come_out_the_same() {
    assert_round_trip(VITE);
}

#[test]
fn a_webpack_project_comes_out_the_same() {
    assert_round_trip(WEBPACK);
}

#[test]
fn tabs_and_local_tarballs_come_out_the_same() {
    assert_round_trip(LOCAL);
}

#[test]
fn windows_line_ends_and_wide_indents_are_kept() {
    assert_round_trip(&EXPRESS.replace('\n', "\r\n"));
    let wide: String = EXPRESS
        .split_inclusive('\n')
        .map(|line| {
            let spaces = line.len() - line.trim_start_matches(' ').len();
            format!("{}{}", " ".repeat(spaces * 2), &line[spaces..])
        })
        .collect();
    assert_round_trip(&wide);
}

#[test]
fn the_hidden_lock_has_all_but_the_root() {
    let hidden = parse(LOCAL).to_text().to_hidden_bytes(&|_| false);
    assert_eq!(String::from_utf8(hidden).expect("text"), LOCAL_HIDDEN);
}

#[test]
fn the_hidden_lock_leaves_out_what_was_not_installed() {
    let lock = parse(VITE);
    let hidden = lock.to_text().to_hidden_bytes(&|entry| !entry.manifest.os.is_empty());
    let hidden = Lockfile::parse(&hidden, ".package-lock.json").expect("just written");
    assert!(hidden.packages.iter().all(|entry| entry.manifest.os.is_empty() && !entry.path.is_empty()));
    assert!(hidden.packages.len() > 20);
}

#[test]
fn a_lock_cut_at_any_byte_is_an_error_and_never_a_panic() {
    let bytes = LOCAL.trim_end().as_bytes();
    for end in 0..bytes.len() {
        let error = Lockfile::parse(&bytes[..end], "package-lock.json").expect_err("cut short");
        assert_eq!(error.code(), "LOCK_JSON", "cut at {end}");
    }
}
