//! Tarballs: `inflate`, `hash`, `untar`, and `extract`, which is all three and what an install does.
//!
//! A run goes through all tarballs of the input, one after the other, as an install does: repeating one small file would
//! teach the branch predictor its contents. All ways of a task give the same number: of `inflate` the bytes, of `hash` the
//! tarballs, of `untar` and `extract` the files and their bytes.

mod alternatives;

use bytes::Bytes;
use gantry_archive::{Entry, Extractor, Integrity, Limits};

use crate::{Bundle, Workload, WorkloadError};

pub(crate) fn workload(name: &str, input: &Bundle) -> Result<Option<Box<dyn Workload>>, WorkloadError> {
    Ok(Some(match name {
        "inflate/gantry" => each(tarballs(input)?, Extractor::default(), |extractor, tarball| {
            extractor.inflate(&tarball.name, &tarball.bytes).expect("checked before").len() as u64
        }),
        "inflate/flate2 GzDecoder, with CRC" => each(tarballs(input)?, Vec::new(), alternatives::gz_decoder),
        "inflate/miniz_oxide" => each(tarballs(input)?, Vec::new(), alternatives::miniz),
        "inflate/zune-inflate" => each(tarballs(input)?, (), |(), tarball| alternatives::zune(tarball)),
        #[cfg(not(target_family = "wasm"))]
        "inflate/libdeflate" => {
            each(tarballs(input)?, alternatives::native::Inflater::new(), |inflater, tarball| inflater.inflate(tarball))
        }
        #[cfg(not(target_family = "wasm"))]
        "hash/ring" => each(tarballs(input)?, (), |(), tarball| alternatives::native::ring(tarball)),
        "hash/gantry" => each(tarballs(input)?, (), |(), tarball| {
            tarball.integrity.verify(&tarball.name, &tarball.bytes).expect("checked before");
            1
        }),
        "hash/gantry, 64 at a time" => {
            let tarballs = tarballs(input)?;
            Box::new(move || tarballs.chunks(SIDE_BY_SIDE).map(verify_side_by_side).sum::<u64>())
        }
        "untar/gantry" => each(plain(input)?, Extractor::default(), |extractor, archive| {
            number(&extractor.extract(&archive.name, &archive.bytes).expect("checked before"))
        }),
        "untar/tar entries_with_seek" => each(plain(input)?, (), |(), archive| alternatives::tar_seek(&archive.bytes)),
        "untar/tar entries" => each(plain(input)?, (), |(), archive| alternatives::tar_read(archive.bytes.as_ref())),
        "extract/gantry" => each(tarballs(input)?, Extractor::default(), |extractor, tarball| {
            tarball.integrity.verify(&tarball.name, &tarball.bytes).expect("checked before");
            number(&extractor.extract(&tarball.name, &tarball.bytes).expect("checked before"))
        }),
        "extract/sha2, flate2 GzDecoder, tar" => each(tarballs(input)?, (), |(), tarball| {
            tarball.integrity.verify(&tarball.name, &tarball.bytes).expect("checked before");
            alternatives::tar_read(flate2::bufread::GzDecoder::new(tarball.bytes.as_ref()))
        }),
        _ => return Ok(None),
    }))
}

/// As many as wait in a first install of a large project while those before are unpacked.
const SIDE_BY_SIDE: usize = 64;

fn verify_side_by_side(tarballs: &[Tarball]) -> u64 {
    let checks: Vec<(&Integrity, &str, &[u8])> =
        tarballs.iter().map(|tarball| (&tarball.integrity, tarball.name.as_str(), tarball.bytes.as_ref())).collect();
    let mut verified = 0;
    Integrity::verify_many(&checks, |_, result| {
        result.expect("checked before");
        verified += 1;
    });
    verified
}

/// A tarball, and what it hashes to; or an archive that has been inflated.
struct Tarball {
    name: String,
    bytes: Bytes,
    integrity: Integrity,
}

/// The input's tarballs, each of them known to be whole.
fn tarballs(input: &Bundle) -> Result<Vec<Tarball>, WorkloadError> {
    let mut extractor = Extractor::new(Limits::default());
    let tarball = |(name, bytes): &(String, Bytes)| {
        let bad = |error: gantry_archive::ArchiveError| WorkloadError::Input(name.clone(), error.to_string());
        extractor.extract_unverified(name, bytes).map_err(bad)?;
        Ok(Tarball { name: name.clone(), bytes: bytes.clone(), integrity: Integrity::sha512_of(bytes) })
    };
    input.items.iter().map(tarball).collect()
}

/// The archives within them.
fn plain(input: &Bundle) -> Result<Vec<Tarball>, WorkloadError> {
    let mut extractor = Extractor::new(Limits::default());
    let mut tarballs = tarballs(input)?;
    for tarball in &mut tarballs {
        let archive = extractor.inflate(&tarball.name, &tarball.bytes).expect("checked before");
        tarball.bytes = Bytes::copy_from_slice(archive);
    }
    Ok(tarballs)
}

fn each<State: 'static>(
    tarballs: Vec<Tarball>,
    mut state: State,
    work: impl Fn(&mut State, &Tarball) -> u64 + 'static,
) -> Box<dyn Workload> {
    Box::new(move || tarballs.iter().map(|tarball| work(&mut state, tarball)).sum::<u64>())
}

fn number(entries: &[Entry<'_>]) -> u64 {
    entries.iter().map(|entry| 1 + entry.data.len() as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;

    #[test]
    fn all_ways_of_a_task_arrive_at_the_same_number() {
        let input = generate::tarballs(12);
        for (task, ways) in [
            ("inflate", &["gantry", "flate2 GzDecoder, with CRC", "miniz_oxide", "zune-inflate", "libdeflate"][..]),
            ("hash", &["gantry", "gantry, 64 at a time", "ring"]),
            ("untar", &["gantry", "tar entries_with_seek", "tar entries"]),
            ("extract", &["gantry", "sha2, flate2 GzDecoder, tar"]),
        ] {
            let run = |way: &str| workload(&format!("{task}/{way}"), &input).expect("valid").expect("there").run();
            let found: Vec<u64> = ways.iter().map(|way| run(way)).collect();
            assert!(found.iter().all(|number| *number == found[0] && *number >= 12), "{task}: {found:?}");
        }
    }

    #[test]
    fn a_damaged_tarball_is_named() {
        let mut input = generate::tarballs(2);
        let bytes = input.items[1].1.slice(..40);
        input.items[1].1 = bytes;
        let error = workload("inflate/gantry", &input).err().expect("damaged");
        assert!(matches!(&error, WorkloadError::Input(name, _) if *name == input.items[1].0), "{error}");
    }
}
