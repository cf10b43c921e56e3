//! What is mounted in a project: volumes of containers, caches of a build.
//!
//! Nothing is renamed across the edge of a mount, though it may be the same disk on both sides, and what is mounted in a folder
//! goes along with that and would be emptied with it. So it is known before anything is changed. Linux tells; elsewhere the
//! refusals of renames have to do.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Where Linux lists what is mounted.
const TABLE: &str = "/proc/self/mountinfo";
/// Which field of a line is the mount point.
const POINT: usize = 4;

/// Mount points below `folder`, relative to it.
pub(crate) fn mounts_below(folder: &Path) -> Vec<PathBuf> {
    let (Ok(table), Ok(folder)) = (fs::read(TABLE), fs::canonicalize(folder)) else { return Vec::new() };
    points(&table)
        .filter_map(|point| Some(point.strip_prefix(&folder).ok()?.to_owned()))
        .filter(|point| !point.as_os_str().is_empty())
        .collect()
}

fn points(table: &[u8]) -> impl Iterator<Item = PathBuf> {
    let lines = table.split(|byte| *byte == b'\n');
    lines.filter_map(|line| line.split(|byte| *byte == b' ').nth(POINT)).map(unescaped)
}

/// Blanks, line ends and backslashes are written as three octal digits.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, others)) = rest.split_first() {
        let octal = others.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &others[3..];
            }
            None => {
                bytes.push(*first);
                rest = others;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::points;
    use std::path::{Path, PathBuf};

    #[test]
    fn mount_points_are_read_whatever_is_in_their_names() {
        let table = b"23 28 0:21 / /proc rw,nosuid shared:12 - proc proc rw\n\
            80 28 254:0 /a /app/node_modules rw,relatime - ext4 /dev/vda rw\n\
            81 28 254:0 /a /with\\040blank\\134and\\\\12 rw - ext4 /dev/vda rw\n\n";
        let found: Vec<PathBuf> = points(table).collect();
        assert_eq!(found, ["/proc", "/app/node_modules", "/with blank\\and\\\\12"].map(Path::new));
    }
}
