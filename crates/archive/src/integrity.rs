//! Subresource integrity strings, by the rules of npm's `ssri`.
//!
//! A string holds one or more hashes. The strongest algorithm in it decides; of several hashes of that algorithm any one
//! may match; options after `?` are ignored. Algorithms that are not known here (npm reads `md5` too) do not count, and a
//! string without any that count is an error rather than "no integrity".

use crate::{ArchiveError, sha512};
use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use core::{fmt, str::FromStr};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};

/// Published digests come with and without padding, and with stray bits in the last character; `Buffer.from` of
/// JavaScript minds neither.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Hash algorithms, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// SHA-1: `shasum` of old packages.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512: what registries give.
    Sha512,
}

impl Algorithm {
    /// Name in integrity strings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
            Self::Sha384 => "sha384",
            Self::Sha512 => "sha512",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::Sha1, Self::Sha256, Self::Sha384, Self::Sha512].into_iter().find(|algorithm| algorithm.name() == name)
    }

    /// Bytes of a digest.
    fn digest_length(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    /// Hashes `bytes`.
    pub fn digest(self, bytes: &[u8]) -> Hash {
        let mut hasher = Hasher::new(self);
        hasher.update(bytes);
        hasher.finish()
    }
}

/// One algorithm at work.
#[derive(Debug, Clone)]
enum Hasher {
    Sha1(Sha1),
    Sha256(Sha256),
    Sha384(Sha384),
    Sha512(Sha512),
}

impl Hasher {
    fn new(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Sha1 => Self::Sha1(Sha1::new()),
            Algorithm::Sha256 => Self::Sha256(Sha256::new()),
            Algorithm::Sha384 => Self::Sha384(Sha384::new()),
            Algorithm::Sha512 => Self::Sha512(Sha512::new()),
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha1(hasher) => hasher.update(bytes),
            Self::Sha256(hasher) => hasher.update(bytes),
            Self::Sha384(hasher) => hasher.update(bytes),
            Self::Sha512(hasher) => hasher.update(bytes),
        }
    }

    fn finish(self) -> Hash {
        let (algorithm, digest) = match self {
            Self::Sha1(hasher) => (Algorithm::Sha1, hasher.finalize().to_vec()),
            Self::Sha256(hasher) => (Algorithm::Sha256, hasher.finalize().to_vec()),
            Self::Sha384(hasher) => (Algorithm::Sha384, hasher.finalize().to_vec()),
            Self::Sha512(hasher) => (Algorithm::Sha512, hasher.finalize().to_vec()),
        };
        Hash { algorithm, digest }
    }
}

/// Bytes that come in pieces, on the way to being verified.
#[derive(Debug, Clone)]
pub struct IntegrityCheck<'i> {
    integrity: &'i Integrity,
    hasher: Hasher,
}

impl IntegrityCheck<'_> {
    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
    }

    /// As [`Integrity::verify`], of all bytes together.
    pub fn finish(self, package: &str) -> Result<(), ArchiveError> {
        self.integrity.compare(package, &self.hasher.finish())
    }
}

/// One hash.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash {
    algorithm: Algorithm,
    digest: Vec<u8>,
}

impl Hash {
    /// Its algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Its bytes; as many as the algorithm has.
    pub fn digest(&self) -> &[u8] {
        &self.digest
    }

    /// Its bytes in lower-case hexadecimal.
    pub fn to_hex(&self) -> String {
        to_hex(&self.digest)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.algorithm.name(), BASE64.encode(&self.digest))
    }
}

/// What a tarball must hash to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Integrity {
    /// Never empty; the strongest algorithm first, in the order written within one algorithm, without duplicates.
    hashes: Vec<Hash>,
}

impl Integrity {
    /// Reads an integrity string: hashes separated by white space.
    pub fn parse(text: &str) -> Result<Self, ArchiveError> {
        let is_one_word = text.bytes().all(|byte| byte.is_ascii_graphic());
        let (word, words) = if is_one_word { (Some(text), "") } else { (None, text) };
        let mut hashes: Vec<Hash> = Vec::new();
        for word in word.into_iter().chain(words.split_whitespace()) {
            if let Some(hash) = parse_hash(word)
                && !hashes.contains(&hash)
            {
                hashes.push(hash);
            }
        }
        if hashes.is_empty() {
            return Err(ArchiveError::IntegritySyntax { text: text.to_owned() });
        }
        hashes.sort_by_key(|hash| core::cmp::Reverse(hash.algorithm));
        Ok(Self { hashes })
    }

    /// From the hexadecimal SHA-1 that old registry documents carry as `shasum`.
    pub fn from_shasum(shasum: &str) -> Result<Self, ArchiveError> {
        let error = || ArchiveError::IntegritySyntax { text: shasum.to_owned() };
        let digits = shasum.trim().as_bytes();
        if digits.len() != 2 * Algorithm::Sha1.digest_length() {
            return Err(error());
        }
        let digest = digits
            .chunks_exact(2)
            .map(|pair| {
                let high = char::from(pair[0]).to_digit(16)?;
                let low = char::from(pair[1]).to_digit(16)?;
                u8::try_from(high * 16 + low).ok()
            })
            .collect::<Option<Vec<u8>>>()
            .ok_or_else(error)?;
        Ok(Self { hashes: vec![Hash { algorithm: Algorithm::Sha1, digest }] })
    }

    /// The SHA-512 of `bytes`.
    pub fn sha512_of(bytes: &[u8]) -> Self {
        Self { hashes: vec![Algorithm::Sha512.digest(bytes)] }
    }

    /// The hashes that decide: all of the strongest algorithm, at least one.
    pub fn strongest(&self) -> &[Hash] {
        let algorithm = self.algorithm();
        let count = self.hashes.iter().take_while(|hash| hash.algorithm == algorithm).count();
        &self.hashes[..count]
    }

    /// The strongest algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.hashes.first().map_or(Algorithm::Sha1, |hash| hash.algorithm)
    }

    /// Checks `bytes`; the error names `package`, what was expected and what was found.
    pub fn verify(&self, package: &str, bytes: &[u8]) -> Result<(), ArchiveError> {
        self.compare(package, &self.algorithm().digest(bytes))
    }

    /// [`verify`](Self::verify) for many, each an integrity, the package and its bytes: gives `done` the position and the
    /// result of each as soon as it is known. Where the processor has wide registers this takes a fraction of the time.
    pub fn verify_many(checks: &[(&Integrity, &str, &[u8])], mut done: impl FnMut(usize, Result<(), ArchiveError>)) {
        let (mut usual, mut messages) = (Vec::new(), Vec::new());
        for (position, (integrity, package, bytes)) in checks.iter().enumerate() {
            if integrity.algorithm() == Algorithm::Sha512 {
                usual.push(position);
                messages.push(*bytes);
            } else {
                done(position, integrity.verify(package, bytes));
            }
        }
        sha512::digests(&messages, |message, digest| {
            let (integrity, package, _) = checks[usual[message]];
            let found = Hash { algorithm: Algorithm::Sha512, digest: digest.to_vec() };
            done(usual[message], integrity.compare(package, &found));
        });
    }

    /// To check bytes that come in pieces.
    pub fn check(&self) -> IntegrityCheck<'_> {
        IntegrityCheck { integrity: self, hasher: Hasher::new(self.algorithm()) }
    }

    fn compare(&self, package: &str, found: &Hash) -> Result<(), ArchiveError> {
        let expected = self.strongest();
        if expected.contains(found) {
            return Ok(());
        }
        Err(ArchiveError::Integrity { package: package.to_owned(), expected: join(expected), found: found.to_string() })
    }

    /// A name for verified content, safe as a file name: algorithm, dash, lower-case hexadecimal.
    ///
    /// Several hashes that may each match get one name for the set. Were it the name of one of them, content that matches
    /// another would be found by who trusts that one alone.
    pub fn storage_key(&self) -> String {
        match self.strongest() {
            [hash] => format!("{}-{}", hash.algorithm.name(), hash.to_hex()),
            hashes => {
                let mut sorted = hashes.to_vec();
                sorted.sort();
                format!("any-{}", Algorithm::Sha256.digest(join(&sorted).as_bytes()).to_hex())
            }
        }
    }
}

impl FromStr for Integrity {
    type Err = ArchiveError;

    fn from_str(text: &str) -> Result<Self, ArchiveError> {
        Self::parse(text)
    }
}

impl fmt::Display for Integrity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&join(&self.hashes))
    }
}

fn join(hashes: &[Hash]) -> String {
    hashes.iter().map(Hash::to_string).collect::<Vec<_>>().join(" ")
}

fn parse_hash(word: &str) -> Option<Hash> {
    let (name, rest) = word.split_once('-')?;
    let algorithm = Algorithm::from_name(name)?;
    let encoded = rest.split_once('?').map_or(rest, |(digest, _options)| digest);
    let digest = BASE64.decode(encoded).ok()?;
    (digest.len() == algorithm.digest_length()).then_some(Hash { algorithm, digest })
}

fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

#[cfg(test)]
mod tests;
