//! What Gantry could have read packuments with instead.

/// serde_json: the document split into its versions' raw text, or decoded into types.
pub(super) mod by_serde {
    use std::borrow::Cow;
    use std::collections::HashMap;
    use std::fmt;

    use bytes::Bytes;
    use gantry_manifest::Manifest;
    use serde::Deserialize;
    use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
    use serde_json::value::RawValue;

    #[derive(Deserialize)]
    struct Outline<'a> {
        #[serde(rename = "dist-tags")]
        tags: HashMap<String, String>,
        #[serde(borrow)]
        versions: Versions<'a>,
    }

    struct Versions<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

    #[derive(Deserialize)]
    struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

    impl<'de: 'a, 'a> Deserialize<'de> for Versions<'a> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Pairs;
            impl<'de> Visitor<'de> for Pairs {
                type Value = Versions<'de>;

                fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                    formatter.write_str("an object of versions")
                }

                fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Versions<'de>, A::Error> {
                    let mut pairs = Vec::new();
                    while let Some((Key(version), raw)) = map.next_entry()? {
                        pairs.push((version, raw));
                    }
                    Ok(Versions(pairs))
                }
            }
            deserializer.deserialize_map(Pairs)
        }
    }

    fn outline(body: &Bytes) -> Outline<'_> {
        serde_json::from_slice(body).expect("inputs are packuments")
    }

    pub(in super::super) fn spans(body: &Bytes) -> u64 {
        outline(body).versions.0.len() as u64
    }

    /// The split is serde_json's, the decoding of the one version Gantry's own.
    pub(in super::super) fn pick(body: &Bytes) -> u64 {
        let Outline { tags, versions: Versions(versions) } = outline(body);
        let latest = tags.get("latest").and_then(|latest| versions.iter().find(|(version, _)| version == latest));
        let manifest = latest.and_then(|(_, raw)| Manifest::parse_registry_version(raw.get().as_bytes()));
        (manifest.map_or(0, |manifest| manifest.peer_dependencies.len()) + versions.len()) as u64
    }

    /// What an installer reads of a version, in types.
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[expect(dead_code, reason = "decoding is the work; only peers are counted")]
    pub(super) struct Version {
        name: String,
        version: String,
        #[serde(default)]
        dependencies: HashMap<String, String>,
        #[serde(default)]
        optional_dependencies: HashMap<String, String>,
        #[serde(default)]
        pub(super) peer_dependencies: HashMap<String, String>,
        #[serde(default)]
        peer_dependencies_meta: HashMap<String, IgnoredAny>,
        bin: Option<IgnoredAny>,
        engines: Option<IgnoredAny>,
        os: Option<IgnoredAny>,
        cpu: Option<IgnoredAny>,
        deprecated: Option<IgnoredAny>,
        dist: Dist,
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "decoding is the work")]
    pub(super) struct Dist {
        tarball: String,
        integrity: Option<String>,
        shasum: Option<String>,
    }

    /// A document with a version of another shape counts as none: the numbers then differ, and the report says so.
    #[derive(Deserialize)]
    pub(super) struct Document {
        pub(super) versions: HashMap<String, Version>,
    }

    impl Document {
        pub(super) fn number(&self) -> u64 {
            self.versions.values().map(|version| version.peer_dependencies.len() as u64 + 1).sum()
        }
    }

    pub(in super::super) fn all(body: &Bytes) -> u64 {
        serde_json::from_slice::<Document>(body).map_or(0, |document| document.number())
    }
}

/// simd-json: its tape, or types filled from its tape. It writes into its input, so the body is copied first.
pub(super) mod by_simd_json {
    use bytes::Bytes;
    use simd_json::prelude::*;

    use super::by_serde::Document;

    pub(in super::super) fn spans(body: &Bytes) -> u64 {
        let mut copy = body.to_vec();
        let tape = simd_json::to_tape(&mut copy).expect("inputs are packuments");
        tape.as_value().get("versions").and_then(|versions| versions.as_object().map(|all| all.len())).unwrap_or(0)
            as u64
    }

    pub(in super::super) fn pick(body: &Bytes) -> u64 {
        let mut copy = body.to_vec();
        let tape = simd_json::to_tape(&mut copy).expect("inputs are packuments");
        let document = tape.as_value();
        let versions = document.get("versions").expect("inputs have versions");
        let latest = document.get("dist-tags").and_then(|tags| tags.get("latest").and_then(|tag| tag.into_string()));
        let manifest = latest.and_then(|latest| versions.get(latest));
        let peers = manifest.and_then(|manifest| manifest.get("peerDependencies"));
        let peers = peers.and_then(|peers| peers.as_object().map(|all| all.len())).unwrap_or(0);
        (peers + versions.as_object().map_or(0, |all| all.len())) as u64
    }

    pub(in super::super) fn all(body: &Bytes) -> u64 {
        let mut copy = body.to_vec();
        simd_json::serde::from_slice::<Document>(&mut copy).map_or(0, |document| document.number())
    }
}

/// A scan by hand that looks at every byte: what Gantry's masks are to be faster than.
pub(super) mod by_table {
    use std::ops::Range;

    use bytes::Bytes;

    const PLAIN: u8 = 0;
    const QUOTE: u8 = 1;
    const OPEN: u8 = 2;
    const CLOSE: u8 = 3;

    static CLASS: [u8; 256] = {
        let mut class = [PLAIN; 256];
        class[b'"' as usize] = QUOTE;
        class[b'{' as usize] = OPEN;
        class[b'[' as usize] = OPEN;
        class[b'}' as usize] = CLOSE;
        class[b']' as usize] = CLOSE;
        class
    };

    /// Key and value of every version of a well-formed document.
    pub(in super::super) fn spans(body: &Bytes) -> Vec<(Range<usize>, Range<usize>)> {
        let mut spans = Vec::new();
        members(body, 0, |key, value| {
            if &body[key] == b"\"versions\"" {
                members(body, value.start, |key, value| spans.push((key, value)));
            }
        });
        spans
    }

    fn members(body: &[u8], open: usize, mut each: impl FnMut(Range<usize>, Range<usize>)) {
        let mut at = space(body, open + 1);
        while body[at] == b'"' {
            let key = at..string(body, at);
            let start = space(body, space(body, key.end) + 1);
            let end = value(body, start);
            each(key, start..end);
            at = space(body, end);
            if body[at] != b',' {
                return;
            }
            at = space(body, at + 1);
        }
    }

    fn space(body: &[u8], mut at: usize) -> usize {
        while body[at].is_ascii_whitespace() {
            at += 1;
        }
        at
    }

    fn string(body: &[u8], open: usize) -> usize {
        let mut at = open + 1;
        while body[at] != b'"' {
            at += if body[at] == b'\\' { 2 } else { 1 };
        }
        at + 1
    }

    fn value(body: &[u8], mut at: usize) -> usize {
        let mut depth = 0;
        loop {
            match CLASS[usize::from(body[at])] {
                QUOTE => at = string(body, at),
                OPEN => {
                    depth += 1;
                    at += 1;
                }
                // The bracket or comma behind a number or word.
                _ if depth == 0 && matches!(body[at], b',' | b'}' | b']') => return at,
                CLOSE => {
                    depth -= 1;
                    at += 1;
                }
                _ => {
                    at += 1;
                    continue;
                }
            }
            if depth == 0 {
                return at;
            }
        }
    }
}
