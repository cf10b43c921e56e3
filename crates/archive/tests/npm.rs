//! Odd tarballs, against what npm leaves on disk of each (`cases/npm.json`, written by `cases/generate.mjs`).

use base64::{Engine, engine::general_purpose::STANDARD};
use gantry_archive::{ArchiveError, Entry, Extractor};
use serde_json::{Value, json};

fn listing(entries: &[Entry<'_>]) -> Value {
    entries
        .iter()
        .map(|entry| {
            let contents = String::from_utf8_lossy(&entry.data);
            json!({ "path": entry.path, "executable": entry.executable, "contents": contents })
        })
        .collect()
}

/// npm's code for the same refusal.
fn npm_code(error: &ArchiveError) -> Vec<&'static str> {
    match error.code() {
        "ARCHIVE_GZIP" => vec!["Z_DATA_ERROR"],
        "ARCHIVE_TRUNCATED" => vec!["Z_BUF_ERROR", "TAR_BAD_ARCHIVE"],
        "ARCHIVE_EMPTY" => vec!["ENODATA", "TAR_BAD_ARCHIVE"],
        "ARCHIVE_FORMAT" => vec!["TAR_BAD_ARCHIVE"],
        other => panic!("{other} has no counterpart"),
    }
}

#[test]
fn odd_tarballs_unpack_as_npm_unpacks_them() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("cases/npm.json")).unwrap();
    assert!(cases.len() > 80);
    let mut failures = Vec::new();
    // One extractor for all: nothing may be left of the package before.
    let mut extractor = Extractor::default();
    for case in &cases {
        let tarball = STANDARD.decode(case["tarball"].as_str().unwrap()).unwrap();
        let result = extractor.extract_unverified("case@1.0.0", &tarball);
        let agrees = match (&result, &case["error"]) {
            (Ok(entries), Value::Null) => listing(entries) == case["files"],
            (Err(error), Value::String(code)) => npm_code(error).contains(&code.as_str()),
            _ => false,
        };
        if !agrees {
            failures.push(format!("{}:\n  npm    {case}\n  gantry {result:?}", case["name"]));
        }
        if let Value::Null = case["error"] {
            let entries = extractor.extract("case@1.0.0", &tarball).expect("what is right with a checksum is without");
            assert_eq!(listing(&entries), case["files"], "{}", case["name"]);
        }
    }
    assert!(failures.is_empty(), "{} of {} differ\n{}", failures.len(), cases.len(), failures.join("\n"));
}
