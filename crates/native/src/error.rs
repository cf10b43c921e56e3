//! What can go wrong on this machine.

use gantry_engine::Fault;
use rustix::io::Errno;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) const CODES: &[&str] = &[
    "CANCELLED",
    "DISK_FULL",
    "DISK_DENIED",
    "DISK_IO",
    "HTTP_CLIENT",
    "STORE_CORRUPT",
    "PROJECT_BUSY",
    "COMMAND_TAKEN",
    "SCRIPT_FAILED",
    "TASK_LOST",
];

/// A failure of files, threads or the HTTP client's set-up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NativeError {
    /// A file operation failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was attempted, as a verb.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The HTTP client cannot be set up (certificates).
    #[error("the HTTP client cannot be set up: {message}")]
    Client {
        /// What it said.
        message: String,
    },
    /// A package directory that lacks what its file list names, or the list itself.
    #[error("the stored package {} is damaged", path.display())]
    Corrupt {
        /// Its directory.
        path: PathBuf,
    },
    /// Somebody asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// Another process is changing this project.
    #[error("another install is changing {}", path.display())]
    Busy {
        /// The project's directory.
        path: PathBuf,
    },
    /// The place of a command that is to be installed for the whole machine is taken.
    #[error("{} is there already, and is not a command of this package", path.display())]
    CommandTaken {
        /// The place.
        path: PathBuf,
    },
    /// A script ended badly.
    #[error("{}", describe_script(package, event, command, ending, output))]
    Script {
        /// `name@version` of whose it is; empty of a project without a name.
        package: String,
        /// What it is called.
        event: String,
        /// What the shell was told.
        command: String,
        /// How it ended.
        ending: String,
        /// What it printed last; empty where that was seen.
        output: String,
        /// Whether it is the project's own, which is installed then.
        is_of_project: bool,
    },
    /// The shell that scripts are handed to cannot be run.
    #[error("{event} of {package} cannot be run by {}: {source}", shell.display())]
    Shell {
        /// The shell.
        shell: PathBuf,
        /// `name@version` of whose script it is; empty of a project without a name.
        package: String,
        /// What the script is called.
        event: String,
        /// The system's answer.
        source: io::Error,
    },
    /// The system allows no more threads or processes, or has no memory for one.
    #[error("{what} cannot be started: {source}")]
    Exhausted {
        /// A thread or program.
        what: String,
        /// The system's answer.
        source: io::Error,
    },
    /// A background task ended without an answer.
    #[error("a background task ended without an answer: {message}")]
    Task {
        /// What the runtime said.
        message: String,
    },
}

/// What making a symbolic link is called in messages.
pub(crate) const MAKE_LINK: &str = "make the link";

impl NativeError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "DISK_FULL",
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => "DISK_DENIED",
                _ => "DISK_IO",
            },
            Self::Client { .. } => "HTTP_CLIENT",
            Self::Corrupt { .. } => "STORE_CORRUPT",
            Self::Interrupted => "CANCELLED",
            Self::Busy { .. } => "PROJECT_BUSY",
            Self::CommandTaken { .. } => "COMMAND_TAKEN",
            Self::Script { .. } | Self::Shell { .. } => "SCRIPT_FAILED",
            Self::Task { .. } | Self::Exhausted { .. } => "TASK_LOST",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let text = match self.code() {
            "DISK_FULL" => {
                "Free some space there (for the store --store-dir names another place), and run again: what the store has got is kept."
            }
            "DISK_IO" | "SCRIPT_FAILED" if self.is_out_of_descriptors() => {
                "Allow more open files (`ulimit -n 1024`), or fewer connections with --maxsockets."
            }
            "DISK_IO" | "DISK_DENIED" if self.is_without_links() => {
                "This file system has no symbolic links: --no-bin-links installs without those to commands. Workspaces and \
                 packages that are folders need them: keep such a project on another one."
            }
            "DISK_IO" if self.is_mounted() => {
                "Something is mounted there, which no install moves or empties: unmount it, or mount it elsewhere, and run again."
            }
            "DISK_IO" => {
                "Look at what is there: something else has changed it, or the disk is at fault. Move away what does not belong \
                 there, and run again."
            }
            "DISK_DENIED" => "Check the permissions of this path, or choose another place.",
            "CANCELLED" => "Run again to finish; what has been fetched is kept.",
            "HTTP_CLIENT" => "Check cafile and ca in .npmrc.",
            "STORE_CORRUPT" => "It was removed from the store: run again, and it is fetched anew.",
            "SCRIPT_FAILED" if matches!(self, Self::Script { is_of_project: true, .. }) => {
                "The packages are in place and the lock is written; --ignore-scripts leaves scripts out."
            }
            "SCRIPT_FAILED" | "TASK_LOST" if self.is_out_of_processes() => {
                "Allow more processes (`ulimit -u`), or more memory, and run again."
            }
            "SCRIPT_FAILED" if matches!(self, Self::Shell { .. }) => {
                "Scripts are run by sh, or by what script-shell names, on the line or in .npmrc: name a shell that is there."
            }
            "SCRIPT_FAILED" if self.lacks_node_gyp() => {
                "node-gyp comes with npm: have npm on the PATH, or node-gyp in devDependencies."
            }
            "SCRIPT_FAILED" => {
                "Nothing was changed. --foreground-scripts shows all that scripts print; without the package's scripts it is \
                 installed where \"allowScripts\" in package.json says false of it, or with --ignore-scripts."
            }
            "COMMAND_TAKEN" => "Nothing was changed. Remove what is there, or have it replaced with --force.",
            "PROJECT_BUSY" => "Wait until it is done, then run again.",
            _ => return None,
        };
        Some(text.to_owned())
    }

    /// Whether what builds packages is not there.
    pub(crate) fn lacks_node_gyp(&self) -> bool {
        matches!(self, Self::Script { output, .. } if output.contains("node-gyp: not found") || output.contains("node-gyp: command not found"))
    }

    /// Whether the process, or the system, has as many files open as it may.
    fn is_out_of_descriptors(&self) -> bool {
        let (Self::Io { source, .. } | Self::Shell { source, .. }) = self else { return false };
        matches!(Errno::from_io_error(source), Some(Errno::MFILE | Errno::NFILE))
    }

    /// Whether the system allows no more processes, or has no memory for one.
    fn is_out_of_processes(&self) -> bool {
        let (Self::Shell { source, .. } | Self::Exhausted { source, .. }) = self else { return false };
        is_exhausted(source)
    }

    /// Whether a script did not begin, for want of what the next one will want, too.
    pub(crate) fn is_of_scarcity(&self) -> bool {
        self.is_out_of_processes() || self.is_out_of_descriptors()
    }

    /// Whether a link could not be made because there are none where it was to be: what a file system says then is not that
    /// somebody may not.
    fn is_without_links(&self) -> bool {
        let Self::Io { action, source, .. } = self else { return false };
        let says_so = matches!(Errno::from_io_error(source), Some(Errno::PERM | Errno::NOSYS | Errno::OPNOTSUPP));
        *action == MAKE_LINK && says_so
    }

    /// Whether something could not be moved because it is mounted from elsewhere.
    fn is_mounted(&self) -> bool {
        let Self::Io { source, .. } = self else { return false };
        matches!(source.kind(), io::ErrorKind::ResourceBusy | io::ErrorKind::CrossesDevices)
    }

    /// Whether the system does not let that be written to.
    pub(crate) fn is_denied(&self) -> bool {
        self.code() == "DISK_DENIED"
    }

    /// Whether there is no room for more.
    pub(crate) fn is_of_full_disk(&self) -> bool {
        self.code() == "DISK_FULL"
    }

    /// Wraps an I/O error.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }
}

/// Whether a thread or program could not be started as the system allows no more, or has no memory for one.
pub(crate) fn is_exhausted(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
        || matches!(Errno::from_io_error(error), Some(Errno::AGAIN | Errno::NOMEM))
}

fn describe_script(package: &str, event: &str, command: &str, ending: &str, output: &str) -> String {
    let whose = if package.is_empty() { "the project" } else { package };
    let printed = if output.is_empty() { String::new() } else { format!("\n{output}") };
    format!("{event} of {whose} failed: `{command}` ended with {ending}{printed}")
}

impl From<NativeError> for Fault {
    fn from(error: NativeError) -> Self {
        let fault = Fault::new(error.code(), error.to_string());
        let fault = match &error {
            NativeError::Script { package, .. } | NativeError::Shell { package, .. } => fault.with_package(package),
            _ => fault,
        };
        match error.hint() {
            Some(hint) => fault.with_hint(hint),
            None => fault,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_no_script_can_be_run_decides_what_to_do() {
        for (errno, advice) in
            [(Errno::NOENT, "script-shell"), (Errno::MFILE, "ulimit -n"), (Errno::AGAIN, "ulimit -u")]
        {
            let error = NativeError::Shell {
                shell: "sh".into(),
                package: String::new(),
                event: "install".to_owned(),
                source: errno.into(),
            };
            assert!(error.hint().unwrap().contains(advice), "{errno}");
        }
    }
}
