//! The command line, under the native command's names where it has them.

use crate::links::LinkMaker;
use lexopt::{Arg, Parser, ValueExt};
use std::ffi::OsString;
use std::path::PathBuf;

/// What `--help` prints.
pub(crate) const USAGE: &str = "\
Gantry under WASI. There is no network: the host puts tarballs into a folder.

gantry.wasm ci [--offline] [options]     install what the lock says
gantry.wasm ci --print-missing           JSON: which tarballs are neither in the store nor in their folder
gantry.wasm unpack TARBALL FOLDER        unpack one tarball into a new folder
gantry.wasm verify                       compare node_modules with what was installed
gantry.wasm ls                           what is installed, and where
gantry.wasm digest                       a digest of node_modules that is the same on every platform
gantry.wasm store status|ls|verify|clear

--prefix DIR        the project (.)
--store-dir DIR     where packages are kept (/store)
--tarballs DIR      where tarballs are taken from (/tarballs): SHA512-HEX.tgz, name-1.0.0.tgz, or npm's _cacache
--integrity SRI     unpack: what the tarball must hash to
--omit KIND         ci: leave out dev, optional or peer; may be repeated
--os, --cpu, --libc ci: the machine that the tree is for (linux, wasm32, none)
--node-version V    ci: the Node.js that will run the project
--workspace NAME    ci: only what this workspace needs (-w), named or by its folder; may be repeated
--workspaces        ci: only what the workspaces need; --no-workspaces: without them
--include-workspace-root   ci: with workspaces that are chosen also the project itself
--registry URL      ci: where tarballs are that the lock gives no address for
--legacy-peer-deps, --strict-peer-deps, --force
--host-links        ci: make no links; the host makes those that the result lists
--json              events and results as JSON, one a line";

/// A command line that says what is wrong with it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(String);

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What to do.
    pub command: Command,
    /// The project's folder.
    pub prefix: PathBuf,
    /// The store's folder.
    pub store: PathBuf,
    /// The folder of tarballs.
    pub tarballs: PathBuf,
    /// Whether that was named, and so must be there.
    pub tarballs_named: bool,
    /// Who makes links.
    pub link_maker: LinkMaker,
    /// Print JSON.
    pub json: bool,
    /// Settings of npm's, with their values: `omit` and `workspace` may be there several times.
    pub settings: Vec<(String, String)>,
}

/// What to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Command {
    /// Say how to use it.
    #[default]
    Help,
    /// Say which version it is.
    Version,
    /// Install what the lock says.
    Ci,
    /// Tell which tarballs that would need.
    PrintMissing,
    /// Unpack one tarball.
    Unpack {
        /// The tarball.
        tarball: PathBuf,
        /// The folder to make.
        folder: PathBuf,
        /// What it must hash to.
        integrity: Option<String>,
    },
    /// Compare the tree with what was installed.
    Verify,
    /// List what is installed.
    Ls,
    /// Print the tree's digest.
    Digest,
    /// Look after the store.
    Store(StoreAction),
}

/// What to do with the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreAction {
    /// How much there is.
    Status,
    /// Which packages there are.
    Ls,
    /// Whether they are whole.
    Verify,
    /// Remove them all.
    Clear,
}

impl Options {
    /// Reads a command line, the first word of which is the program's name.
    pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Self, UsageError> {
        parse(Parser::from_iter(words)).map_err(|error| UsageError(error.to_string()))
    }
}

fn parse(mut parser: Parser) -> Result<Options, lexopt::Error> {
    let mut options =
        Options { prefix: ".".into(), store: "/store".into(), tarballs: "/tarballs".into(), ..Options::default() };
    let mut names: Vec<String> = Vec::new();
    let mut integrity = None;
    let mut missing = false;
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Value(value) => names.push(value.string()?),
            Arg::Short('h') | Arg::Long("help") => return Ok(Options { command: Command::Help, ..options }),
            Arg::Short('V') | Arg::Long("version") => return Ok(Options { command: Command::Version, ..options }),
            Arg::Long("prefix") => options.prefix = parser.value()?.into(),
            Arg::Long("store-dir") => options.store = parser.value()?.into(),
            Arg::Long("tarballs") => (options.tarballs, options.tarballs_named) = (parser.value()?.into(), true),
            Arg::Long("host-links") => options.link_maker = LinkMaker::Host,
            Arg::Long("json") => options.json = true,
            Arg::Long("integrity") => integrity = Some(parser.value()?.string()?),
            Arg::Long("print-missing") => missing = true,
            // There is nothing else here; said for those who say it to the native command.
            Arg::Long("offline") => {}
            Arg::Long(key @ ("omit" | "include" | "os" | "cpu" | "libc" | "node-version" | "registry")) => {
                let key = key.to_owned();
                options.settings.push((key, parser.value()?.string()?));
            }
            Arg::Short('w') | Arg::Long("workspace") => {
                options.settings.push(("workspace".to_owned(), parser.value()?.string()?));
            }
            Arg::Long(word) => {
                let (key, value) = switch(word).ok_or_else(|| Arg::Long(word).unexpected())?;
                options.settings.push((key.to_owned(), value.to_string()));
            }
            other => return Err(other.unexpected()),
        }
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    options.command = match names[..] {
        [] => Command::Help,
        ["ci"] if missing => Command::PrintMissing,
        ["ci"] => Command::Ci,
        ["unpack", tarball, folder] => Command::Unpack { tarball: tarball.into(), folder: folder.into(), integrity },
        ["unpack", ..] => return Err("unpack takes a tarball and a folder".into()),
        ["verify"] => Command::Verify,
        ["ls"] => Command::Ls,
        ["digest"] => Command::Digest,
        ["store", "status"] => Command::Store(StoreAction::Status),
        ["store", "ls"] => Command::Store(StoreAction::Ls),
        ["store", "verify"] => Command::Store(StoreAction::Verify),
        ["store", "clear"] => Command::Store(StoreAction::Clear),
        ["store", ..] => return Err("store takes one of status, ls, verify, clear".into()),
        [other, ..] => return Err(format!("there is no command {other} here, or it takes fewer words").into()),
    };
    Ok(options)
}

/// The setting that a word turns on or off.
fn switch(word: &str) -> Option<(&str, bool)> {
    match word {
        "legacy-peer-deps" | "strict-peer-deps" | "force" | "workspaces" | "include-workspace-root" => {
            Some((word, true))
        }
        "ws" => Some(("workspaces", true)),
        "iwr" => Some(("include-workspace-root", true)),
        "no-workspaces" => Some(("workspaces", false)),
        "no-include-workspace-root" => Some(("include-workspace-root", false)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Command, Options, StoreAction};

    fn parsed(words: &str) -> Result<Options, String> {
        let words = std::iter::once("gantry.wasm").chain(words.split_whitespace());
        Options::parse(words.map(Into::into)).map_err(|error| error.to_string())
    }

    #[test]
    fn options_may_stand_anywhere() {
        let options = parsed("--prefix /p ci --omit dev --omit=peer --offline --tarballs /t").unwrap();
        assert_eq!(options.command, Command::Ci);
        assert_eq!(options.prefix.to_str(), Some("/p"));
        assert!(options.tarballs_named);
        let omitted: Vec<_> = options.settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(omitted, ["omit=dev", "omit=peer"]);
        assert_eq!(parsed("ci --print-missing").unwrap().command, Command::PrintMissing);
        assert_eq!(parsed("store verify --json").unwrap().command, Command::Store(StoreAction::Verify));
    }

    #[test]
    fn workspaces_are_chosen_as_the_native_command_has_it() {
        let chosen = |words: &str| {
            let settings = parsed(words).unwrap().settings.into_iter();
            settings.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>()
        };
        assert_eq!(chosen("ci -w a -wb --workspace=c"), ["workspace=a", "workspace=b", "workspace=c"]);
        assert_eq!(chosen("ci --workspaces --include-workspace-root"), chosen("ci --ws --iwr"));
        assert_eq!(chosen("ci --no-workspaces"), ["workspaces=false"]);
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for words in
            ["install", "ci extra", "unpack one", "store", "store burn", "ci --frob", "ci --prefix", "ci --workspace"]
        {
            assert!(parsed(words).is_err(), "{words}");
        }
    }
}
