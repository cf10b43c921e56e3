use super::Extractor;
use crate::{ArchiveError, Entry, LimitKind, Limits, gunzip};
use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use std::io::Write;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// An archive as the `tar` crate makes it: GNU headers, long names where needed.
fn tar(files: &[(&str, &[u8], u32)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, data, mode) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(data.len() as u64);
        header.set_mode(*mode);
        builder.append_data(&mut header, path, *data).unwrap();
    }
    builder.into_inner().unwrap()
}

fn paths(entries: &[Entry<'_>]) -> Vec<String> {
    entries.iter().map(|entry| entry.path.clone()).collect()
}

fn refusal(limits: Limits, tarball: &[u8]) -> (&'static str, Option<LimitKind>) {
    let error = Extractor::new(limits).extract("evil@1.0.0", tarball).unwrap_err();
    assert_eq!(error.package(), Some("evil@1.0.0"));
    let kind = match error {
        ArchiveError::Limit { limit, .. } => Some(limit),
        _ => None,
    };
    (error.code(), kind)
}

#[test]
fn archives_of_another_tool_unpack() {
    let long = format!("package/{}/x.js", "directory/".repeat(30).trim_end_matches('/'));
    let archive = tar(&[("package/index.js", b"x", 0o644), (&long, b"long", 0o755), ("package/empty", b"", 0o644)]);
    for tarball in [gzip(&archive), archive] {
        let mut extractor = Extractor::default();
        let entries = extractor.extract("a@1.0.0", &tarball).unwrap();
        assert_eq!(paths(&entries), [long["package/".len()..].to_owned(), "empty".into(), "index.js".into()]);
        assert_eq!((&*entries[0].data, entries[0].executable), (&b"long"[..], true));
    }
}

#[test]
fn the_archive_alone_can_be_had() {
    let archive = tar(&[("package/a", b"one", 0o644)]);
    let mut extractor = Extractor::default();
    assert_eq!(extractor.inflate("a@1.0.0", &gzip(&archive)).unwrap(), archive);
    assert_eq!(extractor.inflate("a@1.0.0", &archive).unwrap(), archive, "what is not compressed stays as it is");
    let error = extractor.inflate("a@1.0.0", &gzip(&archive)[..20]).unwrap_err();
    assert_eq!(error.code(), "ARCHIVE_TRUNCATED");
    let mut narrow = Extractor::new(Limits { unpacked_bytes: 100, ..Limits::default() });
    assert_eq!(narrow.inflate("a@1.0.0", &gzip(&archive)).unwrap_err().code(), "ARCHIVE_LIMIT");
}

#[test]
fn a_body_is_unpacked_with_its_checksum_compared() {
    let text = b"{\"name\":\"a\"}".repeat(500);
    let body = gzip(&text);
    for body in [body.clone(), [gzip(&text[..100]), gzip(&text[100..])].concat(), [&body[..], &[0; 20]].concat()] {
        assert_eq!(gunzip("a", &body, 1 << 20).unwrap(), text);
        assert_eq!(gunzip("a", &body, text.len() as u64 - 1).unwrap_err().code(), "ARCHIVE_LIMIT");
    }
    assert_eq!(gunzip("a", &text, 1 << 20).unwrap(), text, "what is not compressed stays as it is");
    assert_eq!(gunzip("a", &body[..body.len() - 1], 1 << 20).unwrap_err().code(), "ARCHIVE_TRUNCATED");
    let mut damaged = body.clone();
    damaged[body.len() - 6] ^= 1;
    assert_eq!(gunzip("a", &damaged, 1 << 20).unwrap_err().code(), "ARCHIVE_GZIP");
}

#[test]
fn contents_are_borrowed_from_the_buffer() {
    let tarball = gzip(&tar(&[("package/a", &[7; 5000], 0o644)]));
    let mut extractor = Extractor::default();
    let entries = extractor.extract("a@1.0.0", &tarball).unwrap();
    assert!(matches!(entries[0].data, std::borrow::Cow::Borrowed(_)));
}

#[test]
fn nothing_is_left_of_the_package_before() {
    let mut extractor = Extractor::default();
    let large = gzip(&tar(&[("package/a", &[1; 100_000], 0o644), ("package/b", &[2; 100_000], 0o644)]));
    extractor.extract("large@1.0.0", &large).unwrap();
    let no_end = tar(&[("package/c", b"c", 0o644)]);
    let entries = extractor.extract("small@1.0.0", &gzip(&no_end[..1024])).unwrap();
    assert_eq!(paths(&entries), ["c"]);
    assert!(extractor.extract("damaged@1.0.0", &large[..1000]).is_err());
    assert_eq!(extractor.extract("large@1.0.0", &large).unwrap().len(), 2);
}

#[test]
fn a_size_in_the_trailer_is_not_believed() {
    let tarball = gzip(&tar(&[("package/a", &[1; 300_000], 0o644)]));
    for promised in [0u32, 1, 1000, 299_999, 1 << 30, u32::MAX] {
        let mut lying = tarball.clone();
        let end = lying.len();
        lying[end - 4..].copy_from_slice(&promised.to_le_bytes());
        let mut extractor = Extractor::default();
        assert_eq!(extractor.extract("a@1.0.0", &lying).unwrap()[0].data.len(), 300_000);
        assert_eq!(extractor.extract_unverified("a@1.0.0", &lying).unwrap_err().code(), "ARCHIVE_GZIP");
    }
}

#[test]
fn unpacked_bytes_are_limited_to_the_byte() {
    let archive = tar(&[("package/a", &[0; 100_000], 0o644)]);
    let size = archive.len() as u64;
    let limits = |unpacked_bytes| Limits { unpacked_bytes, ..Limits::default() };
    for tarball in [gzip(&archive), archive] {
        assert!(Extractor::new(limits(size)).extract("a@1.0.0", &tarball).is_ok());
        for limit in [0, 1, size / 2, size - 1] {
            assert_eq!(refusal(limits(limit), &tarball), ("ARCHIVE_LIMIT", Some(LimitKind::UnpackedBytes)));
        }
    }
}

#[test]
fn a_bomb_takes_no_more_memory_than_is_allowed() {
    let bomb = gzip(&vec![0; 4 << 20]);
    let mut extractor = Extractor::new(Limits { unpacked_bytes: 1 << 20, ..Limits::default() });
    assert_eq!(extractor.extract("evil@1.0.0", &bomb).unwrap_err().code(), "ARCHIVE_LIMIT");
    assert!(extractor.inflater.capacity() <= (1 << 20) + 64);
    // Several members count together.
    let part = gzip(&tar(&[("package/a", &[0; 600_000], 0o644)])[..601_088]);
    let parts = [part.as_slice(), &part].concat();
    assert_eq!(extractor.extract("evil@1.0.0", &parts).unwrap_err().code(), "ARCHIVE_LIMIT");
}

#[test]
fn members_of_one_size_are_all_there() {
    // Each trailer promises what the first member alone gives.
    let archive = tar(&[("package/a", b"one", 0o644), ("package/b", b"two", 0o644)]);
    let (first, second) = archive.split_at(archive.len() / 2);
    let tarball = [gzip(first), gzip(second)].concat();
    assert_eq!(Extractor::default().inflate("a@1.0.0", &tarball).unwrap(), archive);
    // Nor is what only looks like another member one.
    let stored = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::none());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let nested = tar(&[("package/a.tgz", &gzip(&archive), 0o644)]);
    assert_eq!(Extractor::default().inflate("a@1.0.0", &stored(&nested)).unwrap(), nested);
}

#[test]
fn a_trailer_that_promises_too_little_is_harmless_under_any_limit() {
    let archive = tar(&[("package/a", &[0; 10_000], 0o644)]);
    let mut tarball = gzip(&archive);
    let end = tarball.len();
    tarball[end - 4..].fill(0);
    // Verified bytes: nothing but the size of the buffer is made of the trailer.
    for unpacked_bytes in [archive.len() as u64, 20_000, 1 << 16, 1 << 20] {
        let limits = Limits { unpacked_bytes, ..Limits::default() };
        assert_eq!(Extractor::new(limits).extract("a@1.0.0", &tarball).unwrap().len(), 1);
    }
    assert_eq!(refusal(Limits { unpacked_bytes: 5_000, ..Limits::default() }, &tarball).0, "ARCHIVE_LIMIT");
}

#[test]
fn a_large_package_does_not_keep_its_memory() {
    let mut extractor = Extractor::default();
    // Its trailer promises as much as 50 KB can hold; so nothing large is to be compressed here.
    let noise: Vec<u8> = (0..1600u32)
        .flat_map(|number| crate::Algorithm::Sha256.digest(&number.to_be_bytes()).digest().to_vec())
        .collect();
    let mut large = gzip(&tar(&[("package/a", &noise, 0o644)]));
    let end = large.len();
    large[end - 4..].copy_from_slice(&(40u32 << 20).to_le_bytes());
    extractor.extract("large@1.0.0", &large).unwrap();
    assert!(extractor.inflater.capacity() > 40 << 20);
    extractor.extract("small@1.0.0", &gzip(&tar(&[("package/a", b"x", 0o644)]))).unwrap();
    assert!(extractor.inflater.capacity() < 1 << 20);
}

#[test]
fn entries_and_paths_are_limited() {
    let tarball = gzip(&tar(&[("package/a", b"", 0o644), ("package/bb", b"", 0o644), ("single", b"", 0o644)]));
    let entries = |entries| Limits { entries, ..Limits::default() };
    assert!(Extractor::new(entries(3)).extract("a@1.0.0", &tarball).is_ok());
    assert_eq!(refusal(entries(2), &tarball), ("ARCHIVE_LIMIT", Some(LimitKind::Entries)));
    let path_bytes = |path_bytes| Limits { path_bytes, ..Limits::default() };
    assert!(Extractor::new(path_bytes(2)).extract("a@1.0.0", &tarball).is_ok());
    assert_eq!(refusal(path_bytes(1), &tarball), ("ARCHIVE_LIMIT", Some(LimitKind::PathBytes)));
}

#[test]
fn a_path_that_no_file_system_takes_is_refused_by_name() {
    // A NUL and a line after it in the name: what follows the line's end stays, and so does the next NUL.
    let mut archive = tar(&[("package/placeholder", b"x", 0o644)]);
    let name = b"package/a\0b\nc\0d";
    archive[..100].fill(0);
    archive[..name.len()].copy_from_slice(name);
    let sum: u32 = archive[..512]
        .iter()
        .enumerate()
        .map(|(position, &byte)| if (148..156).contains(&position) { 32 } else { u32::from(byte) })
        .sum();
    archive[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let error = Extractor::default().extract("evil@1.0.0", &gzip(&archive)).unwrap_err();
    assert_eq!(error.code(), "ARCHIVE_PATH");
    assert!(error.to_string().contains("evil@1.0.0") && error.to_string().contains("package/a"), "{error}");
}

#[test]
fn every_error_has_a_code_of_the_list_and_advice() {
    let package = || "a@1.0.0".to_owned();
    let errors = [
        ArchiveError::Integrity { package: package(), expected: "x".into(), found: "y".into() },
        ArchiveError::IntegritySyntax { text: "x".into() },
        ArchiveError::Gzip { package: package(), reason: "x" },
        ArchiveError::Truncated { package: package() },
        ArchiveError::Empty { package: package() },
        ArchiveError::Format { package: package() },
        ArchiveError::Path { package: package(), entry: "x".into() },
        ArchiveError::Limit { package: package(), limit: LimitKind::Entries, maximum: 1 },
        ArchiveError::Pattern { package: package(), pattern: "!(x)".into() },
    ];
    let codes: Vec<&str> = errors.iter().map(ArchiveError::code).collect();
    assert_eq!(codes, crate::CODES);
    assert!(errors.iter().all(|error| error.hint().is_some()));
}

/// What must hold of whatever comes out, however wrong what went in.
fn assert_safe(entries: &[Entry<'_>], limits: &Limits) {
    assert!(entries.windows(2).all(|pair| pair[0].path < pair[1].path));
    assert!(entries.len() <= limits.entries);
    for Entry { path, data, .. } in entries {
        assert!(!path.is_empty() && path.len() <= limits.path_bytes && !path.contains('\0'), "{path:?}");
        assert!(path.split('/').all(|component| !matches!(component, "" | "." | "..")), "{path:?}");
        assert!(data.len() as u64 <= limits.unpacked_bytes);
        let folder = format!("{path}/");
        assert!(!entries.iter().any(|other| other.path.starts_with(&folder)), "{path:?} is a file and a folder");
    }
}

const TIGHT: Limits = Limits { entries: 5, unpacked_bytes: 20_000, path_bytes: 30 };

fn run_on(tarball: &[u8]) {
    let mut extractor = Extractor::new(TIGHT);
    if let Ok(entries) = extractor.extract("any@1.0.0", tarball) {
        assert_safe(&entries, &TIGHT);
    }
    let verified = extractor.extract_unverified("any@1.0.0", tarball).map(|entries| entries.len());
    if let Ok(count) = verified {
        assert_eq!(extractor.extract("any@1.0.0", tarball).unwrap().len(), count);
    }
}

proptest! {
    #[test]
    fn random_bytes_are_refused_or_safe(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        run_on(&bytes);
        run_on(&gzip(&bytes));
        run_on(&[&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3], bytes.as_slice()].concat());
    }

    #[test]
    fn cut_and_damaged_archives_are_refused_or_safe(
        cut in 0usize..6000,
        damage in proptest::collection::vec((0usize..6000, any::<u8>()), 0..4),
    ) {
        let archive = tar(&[("package/a/b", &[b'x'; 600], 0o755), ("package/a", b"y", 0o644), (&"package/long/".repeat(12), b"z", 0o644)]);
        for mut bytes in [archive.clone(), gzip(&archive)] {
            for &(position, byte) in &damage {
                if let Some(place) = bytes.get_mut(position) {
                    *place = byte;
                }
            }
            run_on(&bytes);
            run_on(&bytes[..cut.min(bytes.len())]);
            run_on(&gzip(&bytes));
        }
    }

    #[test]
    fn strange_paths_never_lead_out(names in proptest::collection::vec("[./\\\\a:c?é]{1,12}", 1..8)) {
        let mut archive = Vec::new();
        for name in &names {
            let mut header = tar::Header::new_ustar();
            header.set_size(0);
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            archive.extend_from_slice(header.as_bytes());
        }
        let mut extractor = Extractor::default();
        if let Ok(entries) = extractor.extract("any@1.0.0", &gzip(&archive)) {
            assert_safe(&entries, &Limits::default());
        }
    }
}
