//! Tarballs as `npm publish` makes them: many small files below `package/`, compressed as usual.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::words::{source, word};
use crate::Bundle;
use crate::random::Random;

/// Files of a package, evenly spaced quantiles over the packages of real projects.
const FILES: &[usize] = &[2, 4, 4, 5, 6, 8, 12, 20, 40, 110, 420];
/// Bytes of a file.
const SIZES: &[usize] = &[20, 120, 260, 480, 800, 1_200, 1_900, 3_200, 6_000, 14_000, 60_000];

/// So many tarballs, named `name@version`.
pub fn tarballs(count: usize) -> Bundle {
    let mut random = Random::new(0x7a5);
    let tarball = |number| (format!("{}-{number}@1.0.{number}", word(&mut random)), tarball(&mut random));
    (0..count).map(tarball).collect()
}

fn tarball(random: &mut Random) -> Vec<u8> {
    let names: Vec<String> = (0..random.between(40, 400)).map(|_| word(random)).collect();
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    let files = random.distributed(FILES);
    for number in 0..files {
        let folder = if number < 4 { "" } else { *random.pick(&["lib/", "dist/", "dist/esm/", "src/utils/", ""]) };
        let ending = random.pick(&["js", "d.ts", "js.map", "mjs", "json", "md"]);
        let path = format!("package/{folder}{}-{number}.{ending}", random.pick(&names));
        let size = random.distributed(SIZES);
        add(&mut archive, &path, source(random, &names, size).as_bytes());
    }
    add(&mut archive, "package/package.json", source(random, &names, 900).as_bytes());
    archive.into_inner().and_then(GzEncoder::finish).expect("memory does not fail")
}

fn add(archive: &mut tar::Builder<impl Write>, path: &str, contents: &[u8]) {
    let mut header = tar::Header::new_ustar();
    header.set_size(contents.len() as u64);
    header.set_mode(0o644);
    header.set_mtime(499_162_500);
    archive.append_data(&mut header, path, contents).expect("memory does not fail");
}
