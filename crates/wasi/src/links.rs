//! Symbolic links, and what stands for them where a host makes none.
//!
//! Node's WASI refuses every link whose target starts with `..`, and the browser shim all links.
//!
//! The link to a command then becomes a small script that runs the command in its place; its text is decided by the link's
//! target alone, so that it can be recognised as this link. A link to a folder has nothing that could stand for it: a copy
//! would go its own way. A host that can make links itself takes all of them over ([`LinkMaker::Host`]).

use crate::system::{Meaning, meaning};
use std::io;
use std::path::Path;

/// Who makes the links of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LinkMaker {
    /// This command, as far as the host lets it.
    #[default]
    Command,
    /// The host, from the list in the result.
    Host,
}

/// Makes a symbolic link at `path`.
#[expect(deprecated, reason = "the only stable way to a symbolic link that exists on WASI")]
pub(crate) fn make_link(target: &str, path: &Path) -> io::Result<()> {
    std::fs::soft_link(target, path)
}

/// Whether the host makes no such links, as opposed to having failed at this one.
pub(crate) fn is_refusal(error: &io::Error) -> bool {
    matches!(meaning(error), Meaning::Unsupported | Meaning::NotOpened)
}

/// The script that stands for the link to the command `target`, relative to the folder of the link.
pub(crate) fn script(target: &str) -> String {
    let quoted = target.replace('\'', "'\\''");
    format!("#!/bin/sh\n# Stands for a link to a command.\nexec \"$(dirname \"$0\")\"/'{quoted}' \"$@\"\n")
}

#[cfg(test)]
mod tests {
    use super::script;
    use std::fs;
    use std::process::Command;

    #[test]
    fn the_script_runs_the_command_with_its_words_from_anywhere() {
        let folder = tempfile::tempdir().unwrap();
        let (bin, package) = (folder.path().join(".bin"), folder.path().join("it's"));
        fs::create_dir(&bin).unwrap();
        fs::create_dir(&package).unwrap();
        fs::write(package.join("run.sh"), "#!/bin/sh\necho \"$1:$2\"\n").unwrap();
        Command::new("chmod").arg("+x").arg(package.join("run.sh")).status().unwrap();
        fs::write(bin.join("it"), script("../it's/run.sh")).unwrap();
        let output = Command::new("sh").arg(bin.join("it")).args(["a b", "c"]).current_dir("/").output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "a b:c\n");
    }
}
