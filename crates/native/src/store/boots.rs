//! Packages that a machine may have lost parts of when it stopped.
//!
//! Nothing here waits for the disk: what was published is in the system's memory for half a minute, and where the power goes
//! meanwhile, files that were written may be short or empty afterwards. So the store notes in which run of the machine it was
//! used (its boot id). In a later one each package that was published before is looked at once, when it is first wanted: its
//! files must have the sizes that its index says. That it was is noted by the time of its index.

use crate::temporary::replace_file;
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};
use std::fs::{self, Metadata};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Where the notes are in the store: one for each run, since machines may share a store.
const NOTES: &str = "boots";
/// Where Linux tells runs apart. Where nothing does, nothing is doubted.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// A note that is older is of a run that is over, or costs one more look.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(90 * 24 * 3600);

/// Which packages are in doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Boots {
    /// Those whose index is older than this; `None` in a store that was made in this run.
    since: Option<SystemTime>,
}

impl Boots {
    /// Reads the note of this run in the store in `root`, or makes it.
    pub fn of(root: &Path) -> Self {
        let Ok(id) = fs::read_to_string(BOOT_ID) else { return Self { since: None } };
        Self::in_run(root, id.trim())
    }

    fn in_run(root: &Path, id: &str) -> Self {
        let notes = root.join(NOTES);
        let note = notes.join(id);
        let noted = fs::read_to_string(&note).ok().and_then(|text| text.trim().parse().ok());
        let seconds: u64 = match noted {
            Some(seconds) => seconds,
            None => {
                let is_new = !root.join("packages").exists();
                // What is published within the first second is looked at for nothing.
                let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs() + 1);
                let seconds = if is_new { 0 } else { now };
                forget(&notes);
                let written =
                    fs::create_dir_all(&notes).is_ok() && replace_file(&note, seconds.to_string().as_bytes()).is_ok();
                // A store that cannot be written to was made elsewhere, and is what it was when it came.
                if written { seconds } else { 0 }
            }
        };
        Self { since: (seconds > 0).then(|| UNIX_EPOCH + Duration::from_secs(seconds)) }
    }

    /// Whether the package with this index has to be looked at.
    pub fn doubts(self, index: &Metadata) -> bool {
        let Some(since) = self.since else { return false };
        index.modified().is_ok_and(|published| published < since)
    }

    /// Notes that a package was looked at and is whole.
    pub fn settle(index: &Path) {
        let time = |nanoseconds| Timespec { tv_sec: 0, tv_nsec: nanoseconds };
        let times = Timestamps { last_access: time(UTIME_OMIT), last_modification: time(UTIME_NOW) };
        // Else it is looked at again the next time.
        let _ = rustix::fs::utimensat(CWD, index, &times, AtFlags::empty());
    }
}

/// Removes notes that are of no use any more.
fn forget(notes: &Path) {
    for entry in fs::read_dir(notes).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|data| data.modified()).ok().and_then(|time| time.elapsed().ok());
        if age.is_some_and(|age| age > FORGOTTEN_AFTER) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn what_was_published_in_an_earlier_run_is_in_doubt_until_it_was_looked_at() {
        let folder = std::env::temp_dir().join(crate::temporary::unique_name("gantry-boots-"));
        let new = Boots::in_run(&folder, "one");
        assert_eq!(new, Boots { since: None });
        let index = folder.join("packages/index");
        fs::create_dir_all(folder.join("packages")).unwrap();
        let published = SystemTime::now() - Duration::from_secs(3600);
        File::create(&index).unwrap().set_modified(published).unwrap();
        assert_eq!(Boots::in_run(&folder, "one"), new);

        let later = Boots::in_run(&folder, "two");
        let doubts = |boots: Boots| boots.doubts(&fs::metadata(&index).unwrap());
        assert!(doubts(later));
        assert_eq!(Boots::in_run(&folder, "two"), later, "in the next command, too");
        assert_eq!(Boots::in_run(&folder, "one"), new, "and another machine has a note of its own");
        // As if the run had begun a minute ago.
        let begun = Boots { since: Some(SystemTime::now() - Duration::from_secs(60)) };
        assert!(doubts(begun));
        Boots::settle(&index);
        assert!(!doubts(begun));
        assert!(doubts(Boots { since: Some(SystemTime::now() + Duration::from_secs(60)) }), "in another run again");

        let note = folder.join(NOTES).join("two");
        fs::remove_file(&note).unwrap();
        assert!(Boots::in_run(&folder, "two").since.is_some(), "a store of before there were notes");
        fs::write(&note, "\u{0}\u{0}").unwrap();
        assert!(Boots::in_run(&folder, "two").since.is_some(), "a note that was lost");
        File::options().write(true).open(&note).unwrap().set_modified(SystemTime::now() - 2 * FORGOTTEN_AFTER).unwrap();
        Boots::in_run(&folder, "three");
        assert!(!note.exists(), "an old note goes");
        fs::remove_dir_all(&folder).unwrap();
    }
}
