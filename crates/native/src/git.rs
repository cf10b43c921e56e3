//! The user's git (`@npmcli/git`): as a program, with the user's own configuration and credentials.

mod building;
mod running;

pub(crate) use building::{NativeBuilder, commits_being_built};

use crate::NativeError;
use crate::error::is_exhausted;
use crate::store::temporary_directory;
use building::files_of;
use futures_util::future::LocalBoxFuture;
use gantry_engine::{Checkout, Fault, Git};
use gantry_spec::without_secrets;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::rc::Rc;
use std::time::Duration;
use std::{env, fs, io};
use tokio::process::Command;
use tokio::runtime::Handle;
use tokio::sync::OnceCell;

/// Variables that are set where neither they nor their keys of git's configuration are: nobody is there to be asked, and a host
/// that is new is trusted, as by npm. What npm looks for in `~/.gitconfig` git is asked for here, which knows of all its files.
///
/// Unlike by npm, a host that is asked over HTTP and says nothing is not waited for without end, but as long as npm waits for a
/// registry (`fetch-timeout`); git says so every five seconds while it prepares an answer.
const DEFAULTS: [(&str, &str, &str); 4] = [
    ("GIT_ASKPASS", "core.askpass", "echo"),
    ("GIT_SSH_COMMAND", "core.sshcommand", "ssh -oStrictHostKeyChecking=accept-new"),
    ("GIT_HTTP_LOW_SPEED_LIMIT", "http.lowspeedlimit", "1"),
    ("GIT_HTTP_LOW_SPEED_TIME", "http.lowspeedtime", "300"),
];

/// Variables by which git is told of the repository that it works in, as those whose hooks run a command are told
/// (`git rev-parse --local-env-vars`, without those of configuration): what is done for a dependency is done in none of the
/// user's.
const OF_A_REPOSITORY: [&str; 14] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// What git says where asking again may help (`@npmcli/git`'s list, and its neighbours among the statuses of HTTP).
const TRANSIENT: [&str; 9] = [
    "Internal Server Error",
    "hung up unexpectedly",
    "timed out",
    "Timed out",
    "Connection reset by peer",
    "SSL_ERROR_SYSCALL",
    "returned error: 502",
    "returned error: 503",
    "returned error: 504",
];
/// What the system has git say of a disk that a repository cannot be put on.
struct OfTheDisk {
    what_git_says: &'static str,
    kind: io::ErrorKind,
}

const OF_THE_DISK: [OfTheDisk; 3] = [
    OfTheDisk { what_git_says: "No space left on device", kind: io::ErrorKind::StorageFull },
    OfTheDisk { what_git_says: "Disk quota exceeded", kind: io::ErrorKind::QuotaExceeded },
    OfTheDisk { what_git_says: "Read-only file system", kind: io::ErrorKind::ReadOnlyFilesystem },
];
/// How long is waited before it is asked again, and then once more.
const WAITS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(5)];

/// Git, found in `PATH`.
#[derive(Debug)]
pub(crate) struct NativeGit {
    runtime: Handle,
    program: PathBuf,
    /// Where repositories are put while their files are read.
    folder: PathBuf,
    builder: Rc<NativeBuilder>,
    /// Which of the [`DEFAULTS`] are to be set.
    environment: OnceCell<Vec<(&'static str, &'static str)>>,
}

impl NativeGit {
    /// `None` where `PATH` leads to no git.
    pub(crate) fn find(runtime: &Handle, folder: &Path, builder: &Rc<NativeBuilder>) -> Option<Self> {
        let program =
            env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join("git")).find(|path| is_program(path))?;
        Some(Self {
            runtime: runtime.clone(),
            program,
            folder: folder.to_owned(),
            builder: Rc::clone(builder),
            environment: OnceCell::new(),
        })
    }

    /// Runs git in `folder` and gives what it prints.
    async fn run(&self, folder: &Path, arguments: &[&str]) -> Result<String, Fault> {
        let environment = self.environment.get_or_init(async || self.missing().await).await;
        self.run_with(environment, folder, arguments).await
    }

    /// Runs what asks another machine, again where that has failed in passing.
    async fn ask(&self, folder: &Path, arguments: &[&str]) -> Result<String, Fault> {
        for wait in WAITS {
            match self.run(folder, arguments).await {
                Err(fault) if TRANSIENT.iter().any(|text| fault.message.contains(text)) => {
                    let _ = self.runtime.spawn(tokio::time::sleep(wait)).await;
                }
                result => return result,
            }
        }
        self.run(folder, arguments).await
    }

    /// The [`DEFAULTS`] that nobody has set.
    async fn missing(&self) -> Vec<(&'static str, &'static str)> {
        let mut missing: Vec<_> = DEFAULTS.iter().filter(|(variable, ..)| env::var_os(variable).is_none()).collect();
        if !missing.is_empty() {
            let keys = r"^(core\.(askpass|sshcommand)|http\.(.*\.)?lowspeed(limit|time))$";
            let question = ["config", "--null", "--name-only", "--get-regexp", keys];
            // It fails where none is set. A configuration that is wrong is what the next command tells of.
            let set = self.run_with(&[], Path::new("/"), &question).await.unwrap_or_default();
            missing.retain(|(_, key, _)| !set.split('\0').any(|name| is_key(name, key)));
        }
        missing.into_iter().map(|&(variable, _, value)| (variable, value)).collect()
    }

    async fn run_with(&self, environment: &[(&str, &str)], folder: &Path, arguments: &[&str]) -> Result<String, Fault> {
        let mut command = Command::new(&self.program);
        command.arg("--no-replace-objects").args(arguments).current_dir(folder);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for variable in OF_A_REPOSITORY {
            command.env_remove(variable);
        }
        // Should the repository be gone, that is none which the store is in.
        command.env("GIT_CEILING_DIRECTORIES", &self.folder);
        command.envs(environment.iter().copied());
        let failed = |message: String| Fault::new("GIT_FAILED", message);
        let what = arguments.first().copied().unwrap_or_default().to_owned();
        let ran = self.runtime.spawn(running::output(command)).await;
        let output = ran.unwrap_or_else(|error| Err(io::Error::other(error))).map_err(|error| {
            if is_exhausted(&error) {
                return NativeError::Exhausted { what: "git".to_owned(), source: error }.into();
            }
            failed(format!("git cannot be run: {error}"))
        })?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            let text: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            let text = text.join("; ");
            if let Some(error) = OF_THE_DISK.iter().find(|error| text.contains(error.what_git_says)) {
                return Err(NativeError::io("put a repository in", folder)(error.kind.into()).into());
            }
            let exhausted = text.split("; ").find(|line| is_of_scarcity(line));
            if let Some(line) = exhausted {
                let source = io::Error::new(io::ErrorKind::WouldBlock, line.to_owned());
                return Err(NativeError::Exhausted { what: format!("what git {what} needs"), source }.into());
            }
            return Err(failed(format!("git {what} failed: {}", without_secrets(&text))));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    async fn check_out_in(
        &self,
        folder: &Path,
        url: &str,
        revision: &str,
        built_as: Option<&str>,
    ) -> Result<Checkout, Fault> {
        self.run(folder, &["init", "--quiet"]).await?;
        // A server may refuse to give one commit alone; then everything is had, as by npm.
        let one = ["fetch", "--quiet", "--depth=1", "--", url, revision];
        let fetched = match self.ask(folder, &one).await {
            Ok(_) => "FETCH_HEAD".to_owned(),
            Err(_) => {
                let all = ["fetch", "--quiet", "--tags", "--", url, "+refs/heads/*:refs/remotes/origin/*", "HEAD"];
                self.ask(folder, &all).await?;
                self.commit_named(folder, revision).await?
            }
        };
        self.run(folder, &["checkout", "--quiet", "--detach", &fetched, "--"]).await?;
        if folder.join(".gitmodules").exists() {
            self.ask(folder, &["submodule", "update", "--quiet", "--init", "--recursive"]).await?;
        }
        let commit = self.run(folder, &["rev-parse", "HEAD"]).await?.trim().to_owned();
        if let Some(name) = built_as {
            self.builder.build_in(name, &commit, folder).await?;
        }
        Ok(Checkout { commit, files: files_of(folder)? })
    }

    /// What `revision` is in a repository of which everything has been fetched.
    async fn commit_named(&self, folder: &Path, revision: &str) -> Result<String, Fault> {
        // `HEAD~3` is of the remote's head.
        let of_head = revision.strip_prefix("HEAD").map(|rest| format!("FETCH_HEAD{rest}"));
        let names = [of_head, Some(revision.to_owned()), Some(format!("origin/{revision}"))];
        for name in names.into_iter().flatten() {
            let wanted = format!("{name}^{{commit}}");
            let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted];
            if let Ok(text) = self.run(folder, &arguments).await {
                let commit = text.lines().last().unwrap_or_default().trim();
                if !commit.is_empty() {
                    return Ok(commit.to_owned());
                }
            }
        }
        Err(Fault::new("GIT_REVISION", format!("the repository has no commit, branch or tag {revision}")))
    }
}

impl Git for NativeGit {
    fn list<'a>(&'a self, url: &'a str) -> LocalBoxFuture<'a, Result<String, Fault>> {
        Box::pin(async move { self.ask(Path::new("/"), &["ls-remote", "--", url]).await })
    }

    fn check_out<'a>(
        &'a self,
        url: &'a str,
        revision: &'a str,
        built_as: Option<&'a str>,
    ) -> LocalBoxFuture<'a, Result<Checkout, Fault>> {
        Box::pin(async move {
            if revision.starts_with('-') {
                return Err(Fault::new("GIT_REVISION", format!("{revision} is no commit, branch or tag")));
            }
            let folder = temporary_directory(&self.folder, "git-")?;
            self.check_out_in(folder.path(), url, revision, built_as).await
        })
    }
}

/// Whether `name` is `key`, perhaps of some addresses alone (`http.https://host/.lowspeedtime`).
fn is_key(name: &str, key: &str) -> bool {
    let (section, variable) = key.split_once('.').unwrap_or_default();
    let of_section = name.strip_prefix(section).and_then(|rest| rest.strip_suffix(variable));
    of_section.is_some_and(|between| between.starts_with('.') && between.ends_with('.'))
}

/// Whether git, or the shell that it has run something, says that the system allows no more threads or processes; not the other
/// machine.
fn is_of_scarcity(line: &str) -> bool {
    let says = |texts: &[&str]| texts.iter().any(|text| line.contains(text));
    let is_denied = says(&["Resource temporarily unavailable"]) && says(&["fork", "thread"]);
    !line.starts_with("remote:") && (is_denied || says(&["Cannot fork", "cannot fork", "unable to fork"]))
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}
