use super::{Algorithm, Integrity};
use crate::ArchiveError;

const HELLO: &[u8] = b"hello";
const HELLO_SHA512: &str =
    "sha512-m3HSJL1i83hdltRq0+o9czGb+8KJDKra4t/3JRlnPKcjI8PZm6XBHXx6zG4UuMXaDEZjR1wuXDre9G9zvN7AQw==";
const HELLO_SHA1: &str = "sha1-qvTGHdzF6KLavt4PO0gs2a6pQ00=";

fn parse(text: &str) -> Integrity {
    Integrity::parse(text).unwrap()
}

#[test]
fn each_algorithm_is_computed() {
    for (algorithm, expected) in [
        (Algorithm::Sha1, HELLO_SHA1),
        (Algorithm::Sha256, "sha256-LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="),
        (Algorithm::Sha384, "sha384-WeF0h3dEjGnea4ANejO7+5/xtGPkQ1TDVTvNucZm+pASWjx5+QOXvfX2oT3oKGhP"),
        (Algorithm::Sha512, HELLO_SHA512),
    ] {
        assert_eq!(algorithm.digest(HELLO).to_string(), expected);
        parse(expected).verify("a@1.0.0", HELLO).unwrap();
    }
}

#[test]
fn the_strongest_algorithm_decides() {
    let both = format!("{HELLO_SHA1} {}", Integrity::sha512_of(b"other"));
    assert!(parse(&both).verify("a@1.0.0", HELLO).is_err());
    let both = format!("{} {HELLO_SHA512}", HELLO_SHA1.replace("qv", "AA"));
    assert!(parse(&both).verify("a@1.0.0", HELLO).is_ok());
}

#[test]
fn any_hash_of_the_strongest_algorithm_may_match() {
    let two = parse(&format!("{}\n\t{HELLO_SHA512}", Integrity::sha512_of(b"other")));
    two.verify("a@1.0.0", HELLO).unwrap();
    two.verify("a@1.0.0", b"other").unwrap();
    assert!(two.verify("a@1.0.0", b"third").is_err());
    assert_eq!(two.strongest().len(), 2);
}

#[test]
fn options_padding_and_unknown_algorithms_do_not_matter() {
    parse(&format!("{HELLO_SHA512}?charset=utf-8?x")).verify("a", HELLO).unwrap();
    parse(HELLO_SHA512.trim_end_matches('=')).verify("a", HELLO).unwrap();
    parse(&format!("md5-XUFAKrxLKna5cZ2REBfFkg== sha3-512-xxxx {HELLO_SHA1}")).verify("a", HELLO).unwrap();
}

#[test]
fn what_holds_no_hash_is_an_error() {
    for text in ["", "  ", "sha512", "sha512-", "sha512-short", "md5-XUFAKrxLKna5cZ2REBfFkg==", "SHA512-x"] {
        let error = Integrity::parse(text).unwrap_err();
        assert_eq!(error, ArchiveError::IntegritySyntax { text: text.into() });
        assert_eq!(error.code(), "ARCHIVE_INTEGRITY_SYNTAX");
    }
}

#[test]
fn a_mismatch_names_the_package_and_both_hashes() {
    let error = parse(HELLO_SHA512).verify("left-pad@1.3.0", b"hellO").unwrap_err();
    assert_eq!(error.code(), "ARCHIVE_INTEGRITY");
    let text = error.to_string();
    assert!(text.contains("left-pad@1.3.0") && text.contains(HELLO_SHA512), "{text}");
    assert!(text.contains(&Integrity::sha512_of(b"hellO").to_string()), "{text}");
}

#[test]
fn shasums_are_hexadecimal_sha1() {
    let integrity = Integrity::from_shasum("AAF4c61ddcc5e8a2dabede0f3b482cd9aea9434d").unwrap();
    assert_eq!(integrity.to_string(), HELLO_SHA1);
    for text in ["", "aaf4", "zzf4c61ddcc5e8a2dabede0f3b482cd9aea9434d", "+af4c61ddcc5e8a2dabede0f3b482cd9aea9434d"] {
        assert!(Integrity::from_shasum(text).is_err(), "{text}");
    }
}

#[test]
fn storage_keys_are_safe_names_and_tell_sets_of_hashes_apart() {
    let one = parse(HELLO_SHA512);
    let key = one.storage_key();
    assert!(key.starts_with("sha512-9b71d224bd62f3785d96d46ad3ea3d73"), "{key}");
    assert_eq!(key.len(), "sha512-".len() + 128);
    let other = Integrity::sha512_of(b"other");
    let two = parse(&format!("{one} {other}"));
    assert_ne!(two.storage_key(), one.storage_key());
    assert_eq!(two.storage_key(), parse(&format!("{other} {one}")).storage_key());
    assert_eq!(parse(&format!("{one} {one} {HELLO_SHA1}")).storage_key(), one.storage_key());
    for key in [key, two.storage_key()] {
        assert!(key.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'));
    }
}
