use super::{Found, settle};
use crate::Entry;
use std::borrow::Cow;

fn found(path: &str, data: &'static str, executable: bool) -> Found<'static> {
    let entry = Entry { path: path.into(), data: Cow::Borrowed(data.as_bytes()), executable };
    Found { entry, replaces: false }
}

fn listing(entries: Vec<Found<'_>>) -> Vec<(String, String, bool)> {
    settle(entries)
        .into_iter()
        .map(|entry| (entry.path, String::from_utf8(entry.data.into_owned()).unwrap(), entry.executable))
        .collect()
}

#[test]
fn files_come_out_sorted_by_bytes() {
    let paths = ["lib/b", "lib-x", "lib/a", "Z", "a", "é"];
    let sorted: Vec<_> =
        listing(paths.iter().map(|path| found(path, "", false)).collect()).into_iter().map(|(path, ..)| path).collect();
    assert_eq!(sorted, ["Z", "a", "lib-x", "lib/a", "lib/b", "é"]);
}

#[test]
fn the_last_of_equal_paths_gives_the_contents_and_the_first_the_mode() {
    let entries = vec![found("a", "one", true), found("b", "", false), found("a", "two", false)];
    assert_eq!(listing(entries), [("a".into(), "two".into(), true), ("b".into(), String::new(), false)]);
    let mut entries = vec![found("a", "one", true), found("a", "two", false)];
    entries[1].replaces = true;
    assert_eq!(listing(entries), [("a".into(), "two".into(), false)]);
}

#[test]
fn of_a_file_and_a_folder_the_first_stays() {
    let entries = vec![found("a", "file", false), found("a/b/c", "", false), found("a!", "", false)];
    assert_eq!(listing(entries).iter().map(|(path, ..)| path.as_str()).collect::<Vec<_>>(), ["a", "a!"]);
    let entries = vec![found("a/b/c", "deep", false), found("a", "", false), found("a/b", "", false)];
    assert_eq!(listing(entries), [("a/b/c".into(), "deep".into(), false)]);
}

#[test]
fn a_conflict_far_from_its_folder_is_seen() {
    // Between "a" and "a/x" sort "a!" and "a-b".
    let entries =
        vec![found("a!", "", false), found("a", "file", false), found("a-b/c", "", false), found("a/x", "", false)];
    assert_eq!(listing(entries).iter().map(|(path, ..)| path.as_str()).collect::<Vec<_>>(), ["a", "a!", "a-b/c"]);
}
