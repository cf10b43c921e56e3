//! Links to commands.
//!
//! Every `node_modules` has the commands of the packages directly in it in its `.bin`. Packages come first, then folders of
//! the user, each in npm's order of their paths. The first to claim a name has it, even if its file is missing: then there
//! is no link of that name.

use crate::{LayoutError, LinkKind, PlannedLink, contents::Contents, paths, select::Selection};
use gantry_manifest::LockEntry;
use gantry_spec::compare_locale;
use rustc_hash::FxHashSet;

/// Links to commands, and the files among them that the store does not keep executable.
#[derive(Debug, Default)]
pub(crate) struct Commands {
    pub links: Vec<PlannedLink>,
    pub executables: Vec<String>,
}

/// The commands of everything placed.
pub(crate) fn commands(selection: &Selection<'_>, contents: &Contents<'_>) -> Result<Commands, LayoutError> {
    let mut entries: Vec<&LockEntry> = selection.placed().to_vec();
    entries.sort_by(|left, right| left.link.cmp(&right.link).then_with(|| compare_locale(&left.path, &right.path)));
    let mut claimed = FxHashSet::default();
    let mut commands = Commands::default();
    for entry in entries {
        let manifest =
            if entry.link { selection.target(entry).map(|target| &target.manifest) } else { Some(&entry.manifest) };
        for (name, file) in manifest.into_iter().flat_map(|manifest| &manifest.bin) {
            let file = file.trim_end_matches('/');
            if !paths::is_confined(name) || name.contains('/') || !paths::is_confined(file) {
                return Err(LayoutError::Path { path: format!("{} (command of {})", file, entry.path) });
            }
            let folder = format!("{}/.bin", paths::modules_of(&entry.path));
            let path = format!("{folder}/{name}");
            if !claimed.insert(path.clone()) {
                continue;
            }
            let file = format!("{}/{file}", entry.path);
            let kind = if entry.link { LinkKind::LocalCommand } else { LinkKind::Command };
            if kind == LinkKind::Command && !commands.take(&file, contents) {
                continue;
            }
            commands.links.push(PlannedLink { path, target: paths::relative(&folder, &file), kind });
        }
    }
    commands.executables.sort();
    commands.executables.dedup();
    Ok(commands)
}

impl Commands {
    /// Whether a package has `file`, or a folder of that name; notes a file that is yet to be made executable.
    fn take(&mut self, file: &str, contents: &Contents<'_>) -> bool {
        let Some((index, rest)) = contents.package_of(file) else { return false };
        match index.file(rest) {
            Some(record) => {
                if !record.executable {
                    self.executables.push(file.to_owned());
                }
                true
            }
            None => index.is_directory(rest),
        }
    }
}
