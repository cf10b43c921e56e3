use super::hosts::host;
use super::lines::{Finding, spelled_folders, spelled_hosts, unfinished};
use std::collections::BTreeSet;

fn set(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn a_host_is_what_stands_between_credentials_and_port() {
    assert_eq!(host("https://user:secret@Packages.Corp.io:8443/npm/"), Some("packages.corp.io".to_owned()));
    assert_eq!(host("http://packages.corp.io"), Some("packages.corp.io".to_owned()));
}

#[test]
fn loopback_and_reserved_names_may_be_spelled() {
    for address in
        ["http://localhost:4873/", "http://127.0.0.1:80", "http://[::1]:80/", "https://registry.example/", "none"]
    {
        assert_eq!(host(address), None, "{address}");
    }
}

#[test]
fn a_registry_host_is_found_in_any_case() {
    let found = spelled_hosts("a.txt", "one\nhttps://Packages.Corp.io/x", &set(&["packages.corp.io"]));
    assert_eq!(found, [Finding::new("a.txt", 2, "spells the registry host packages.corp.io".to_owned())]);
}

#[test]
fn a_folder_counts_only_at_the_start_of_a_path() {
    let folders = set(&["/build/"]);
    assert_eq!(spelled_folders("a", "see '/build/x'", &folders).len(), 1);
    assert_eq!(spelled_folders("a", "/build/x", &folders).len(), 1);
    assert!(spelled_folders("a", "packages/build/x ./build/x ${a}/build/x", &folders).is_empty());
}

#[test]
fn unfinished_code_and_sleeping_tests_are_found() {
    let unfinished_call = ["    todo", "!()"].concat();
    let sleeping = ["te", "st.skip('x', () => {})"].concat();
    assert_eq!(unfinished("a.rs", &unfinished_call).len(), 1);
    assert_eq!(unfinished("a.ts", &sleeping).len(), 1);
    assert!(unfinished("a.ts", "submit.skip('x'); list.it.only(1)").is_empty());
}
