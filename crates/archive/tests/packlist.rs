//! What is packed of a folder, against what npm packs of the same (written by `packlist/generate.mjs`).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use gantry_archive::{Entry, PackageFiles, packlist};
use serde_json::Value;
use std::borrow::Cow;

#[test]
fn the_files_npm_packs_are_packed() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("packlist/cases.json")).unwrap();
    assert!(cases.len() > 30);
    for case in &cases {
        let found: Vec<String> = pack(case).into_iter().map(|entry| entry.path).collect();
        assert_eq!(found, texts(&case["packed"]), "{}", case["name"]);
    }
}

fn pack(case: &Value) -> Vec<Entry<'static>> {
    let files = case["files"].as_object().unwrap();
    let mut entries: Vec<Entry<'static>> = files
        .iter()
        .map(|(path, text)| Entry {
            path: path.clone(),
            data: Cow::Owned(text.as_str().unwrap().as_bytes().to_vec()),
            executable: false,
        })
        .collect();
    entries.sort_by(|left, right| left.path.cmp(&right.path));
    let manifest = &case["manifest"];
    let text = |member: &str| manifest[member].as_str().map(str::to_owned);
    // npm reads `bin` as a map of paths within the package.
    let within = |file: &Value| file.as_str().unwrap().trim_start_matches("./").to_owned();
    let bin = match &manifest["bin"] {
        Value::Object(bin) => bin.values().map(within).collect(),
        Value::Null => Vec::new(),
        file => vec![within(file)],
    };
    let facts = PackageFiles {
        files: manifest["files"].as_array().map(|_| texts(&manifest["files"])),
        main: text("main"),
        browser: text("browser"),
        bin,
        is_carried: false,
    };
    packlist("packed", entries, &facts).unwrap()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[test]
fn patterns_that_cannot_be_followed_are_refused() {
    let entry = Entry { path: "package.json".to_owned(), data: Cow::Borrowed(b"{}"), executable: false };
    let facts = PackageFiles { files: Some(vec!["dist/!(test)".to_owned()]), ..PackageFiles::default() };
    let error = packlist("x", vec![entry], &facts).unwrap_err();
    assert_eq!(
        (error.code(), error.to_string()),
        ("ARCHIVE_PATTERN", "x: the pattern \"!dist/!(test)\" cannot be read".to_owned())
    );
}

#[test]
fn an_archive_of_a_repository_is_read_and_written() {
    let mut builder = tar::Builder::new(Vec::new());
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let record = format!("52 comment={commit}\n");
    let mut header = tar::Header::new_ustar();
    header.set_entry_type(tar::EntryType::XGlobalHeader);
    header.set_size(record.len() as u64);
    builder.append_data(&mut header, "pax_global_header", record.as_bytes()).unwrap();
    let mut header = tar::Header::new_ustar();
    header.set_size(1);
    header.set_mode(0o775);
    builder.append_data(&mut header, "tool-1/.gitignore", b"x".as_slice()).unwrap();
    let archive = builder.into_inner().unwrap();

    let mut extractor = gantry_archive::Extractor::default();
    let repository = extractor.extract_repository("tool", &archive).unwrap();
    assert_eq!(repository.commit.as_deref(), Some(commit));
    let kept = Entry { path: ".gitignore".to_owned(), data: Cow::Borrowed(b"x"), executable: true };
    assert_eq!(repository.entries, [kept]);

    let written = gantry_archive::write_archive(&repository.entries).unwrap();
    let mut extractor = gantry_archive::Extractor::default();
    let again = extractor.extract_unverified("tool", &written).unwrap();
    assert_eq!((again[0].path.as_str(), again[0].executable), (".npmignore", true));
}
