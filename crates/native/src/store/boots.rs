//! Packages that a machine may have lost parts of when it stopped.
//!
//! Nothing here waits for the disk: what was published is in the system's memory for half a minute, and where the power goes
//! meanwhile, files that were written may be short or empty afterwards. So the store notes in which run of the machine it was
//! used (its boot id). In a later one each package that was published before is looked at once, when it is first wanted: its
//! files must have the sizes that its index says. That it was is noted by the time of its index.

use crate::temporary::replace_file;
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What the note is called in the store.
const NOTE: &str = "boot";
/// Where Linux tells runs apart. Where nothing does, nothing is doubted.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// Which packages are in doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Boots {
    /// Those whose index is older than this; `None` in a store that was made in this run.
    since: Option<SystemTime>,
}

impl Boots {
    /// Reads the note of the store in `root`, and brings it up to date.
    pub fn of(root: &Path) -> Self {
        let Ok(id) = fs::read_to_string(BOOT_ID) else { return Self { since: None } };
        Self::in_run(root, id.trim())
    }

    fn in_run(root: &Path, id: &str) -> Self {
        let path = root.join(NOTE);
        let note = fs::read_to_string(&path).unwrap_or_default();
        if let Some((_, seconds)) = note.trim().split_once(' ').filter(|(noted, _)| *noted == id) {
            let seconds = seconds.parse().ok().filter(|seconds| *seconds > 0);
            return Self { since: seconds.map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds)) };
        }
        let is_new = !root.join("packages").exists();
        // What is published within the first second is looked at for nothing.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs() + 1);
        let seconds = if is_new { 0 } else { now };
        if fs::create_dir_all(root).is_ok() {
            // A store that cannot be written to is doubted again the next time.
            let _ = replace_file(&path, format!("{id} {seconds}\n").as_bytes());
        }
        Self { since: (!is_new).then(|| UNIX_EPOCH + Duration::from_secs(seconds)) }
    }

    /// Whether the package with this index has to be looked at.
    pub fn doubts(self, index: &Path) -> bool {
        let Some(since) = self.since else { return false };
        fs::metadata(index).and_then(|data| data.modified()).is_ok_and(|published| published < since)
    }

    /// Notes that a package was looked at and is whole.
    pub fn settle(index: &Path) {
        let time = |nanoseconds| Timespec { tv_sec: 0, tv_nsec: nanoseconds };
        let times = Timestamps { last_access: time(UTIME_OMIT), last_modification: time(UTIME_NOW) };
        // Else it is looked at again the next time.
        let _ = rustix::fs::utimensat(CWD, index, &times, AtFlags::empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_published_in_an_earlier_run_is_in_doubt_until_it_was_looked_at() {
        let folder = std::env::temp_dir().join(crate::temporary::unique_name("gantry-boots-"));
        let new = Boots::in_run(&folder, "one");
        assert_eq!(new, Boots { since: None });
        let index = folder.join("packages/index");
        fs::create_dir_all(folder.join("packages")).unwrap();
        fs::write(&index, "").unwrap();
        assert_eq!(Boots::in_run(&folder, "one"), new);

        let later = Boots::in_run(&folder, "two");
        assert!(later.doubts(&index));
        assert_eq!(Boots::in_run(&folder, "two"), later, "in the next command, too");
        let past = SystemTime::now() - Duration::from_secs(3600);
        let looked_at = Boots { since: Some(past) };
        Boots::settle(&index);
        assert!(!looked_at.doubts(&index));
        assert!(!new.doubts(&index) && !later.doubts(&folder.join("nowhere")));

        fs::remove_file(folder.join(NOTE)).unwrap();
        assert!(Boots::in_run(&folder, "two").since.is_some(), "a store of before there were notes");
        fs::write(folder.join(NOTE), "\u{0}\u{0}").unwrap();
        assert!(Boots::in_run(&folder, "two").since.is_some(), "a note that was lost");
        fs::remove_dir_all(&folder).unwrap();
    }
}
