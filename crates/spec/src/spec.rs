//! What a dependency asks for, decided as `npm-package-arg` 13 decides it, on the file-path rules of POSIX whatever the
//! host, so that the same text means the same everywhere.
//!
//! The order of decision is part of the behaviour: file, `npm:` alias, hosted git, other URL, anything with a slash or
//! the end of a tarball's name, and only then the registry's versions, ranges and tags. Most texts are plain ranges;
//! they are read without trying a URL.

mod file;
mod git;
mod hosted;

pub use file::is_tarball;
pub use git::GitSpec;
pub use hosted::{HostedGit, HostedKind};

use crate::{
    error::{AliasProblem, SpecError},
    name::{self, PackageName},
    range::Range,
    secrets::without_secrets,
    text::{is_uri_component, trim},
    version::Version,
};

/// What was asked for a dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The text as it was written, without the package's name.
    pub raw: String,
    /// What the text means.
    pub kind: SpecKind,
}

/// The meaning of a specifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecKind {
    /// Exactly one version: `1.2.3`, `v1.2.3`, `=1.2.3`.
    Version(Version),
    /// A range of versions: `^1.2.3`, `*`, the empty text.
    Range(Range),
    /// A dist-tag: `latest`.
    Tag(String),
    /// Another package under this name: `npm:name@range`.
    Alias {
        /// The package that is fetched.
        name: PackageName,
        /// What is asked of it; always a version, a range or a tag.
        target: Box<Spec>,
    },
    /// A git repository.
    Git(GitSpec),
    /// A tarball at an `http:` or `https:` URL.
    Remote {
        /// The URL as written.
        url: String,
    },
    /// A tarball on disk.
    File {
        /// See [`SpecKind::Directory`].
        path: String,
    },
    /// A folder on disk.
    Directory {
        /// Without `file:` and normalised: absolute (`/a`), below the home folder (`~/a`), or relative to the folder of
        /// the package that asks (`../a`, `a`, `.`). npm saves it as `file:` and this text.
        path: String,
    },
}

impl Spec {
    /// Reads what is asked of the package `name`, as `npa.resolve(name, raw)` does. `name` may be empty if it is not
    /// known; otherwise it must be a valid name.
    ///
    /// # Errors
    /// An invalid name or tag, a protocol npm does not know (`workspace:`, `link:`), a URL that is none, an alias to
    /// anything but a registry package, a git reference that contradicts itself.
    pub fn parse(name: &str, raw: &str) -> Result<Spec, SpecError> {
        if !name.is_empty() {
            name::check(name).map_err(|problem| SpecError::InvalidName { name: name.to_owned(), problem })?;
        }
        let kind = if file::is_file(raw) {
            on_disk(raw)
        } else if let Some(target) = raw.get(..4).filter(|start| start.eq_ignore_ascii_case("npm:")).map(|_| &raw[4..])
        {
            alias(name, raw, target)?
        } else if !raw.contains(['/', ':']) {
            // Neither hosted git nor a URL can do without these.
            if file::is_tarball(raw) { on_disk(raw) } else { registry(name, raw)? }
        } else {
            address(name, raw)?
        };
        Ok(Spec { raw: raw.to_owned(), kind })
    }

    /// Reads what one writes on a command line: `name`, `name@spec`, or a specifier alone, as `npa(argument)` does. Gives the
    /// name too, empty where the text has none.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_argument(argument: &str) -> Result<(String, Spec), SpecError> {
        let (name, raw) = split_argument(argument);
        Ok((name.to_owned(), Spec::parse(name, &raw)?))
    }

    /// Whether a registry answers it: a version, a range, a tag or an alias.
    pub fn is_registry(&self) -> bool {
        matches!(self.kind, SpecKind::Version(_) | SpecKind::Range(_) | SpecKind::Tag(_) | SpecKind::Alias { .. })
    }

    /// The name to ask the registry for: the alias's target, or `own`, the name of the dependency.
    pub fn fetch_name<'a>(&'a self, own: &'a str) -> &'a str {
        match &self.kind {
            SpecKind::Alias { name, .. } => name,
            _ => own,
        }
    }

    /// The specifier behind an alias; any other specifier itself.
    pub fn registry_target(&self) -> &Spec {
        match &self.kind {
            SpecKind::Alias { target, .. } => target,
            _ => self,
        }
    }
}

/// What has a slash or a colon and begins like neither a path nor an alias. Few do, and it is much code: it stays out of what
/// reads plain ranges.
#[cold]
fn address(name: &str, raw: &str) -> Result<SpecKind, SpecError> {
    if let Some((hosted, committish)) = HostedGit::parse(raw) {
        Ok(SpecKind::Git(GitSpec::from_hosted(name, raw, hosted, committish)?))
    } else if is_url(raw) {
        git::url_kind(name, raw)
    } else if raw.contains('/') || file::is_tarball(raw) {
        Ok(file::kind(raw))
    } else {
        registry(name, raw)
    }
}

fn registry(package: &str, raw: &str) -> Result<SpecKind, SpecError> {
    let text = trim(raw);
    if let Some(version) = Version::parse(text) {
        return Ok(SpecKind::Version(version));
    }
    if let Some(range) = Range::parse(text) {
        return Ok(SpecKind::Range(range));
    }
    if is_uri_component(text) {
        return Ok(SpecKind::Tag(text.to_owned()));
    }
    Err(SpecError::InvalidTag { package: package.to_owned(), spec: without_secrets(raw).into_owned() })
}

#[cold]
fn on_disk(raw: &str) -> SpecKind {
    file::kind(raw)
}

#[cold]
fn alias(package: &str, raw: &str, target: &str) -> Result<SpecKind, SpecError> {
    let refuse =
        |problem| SpecError::Alias { package: package.to_owned(), spec: without_secrets(raw).into_owned(), problem };
    let (name, text) = split_argument(target);
    let target = Spec::parse(name, &text)?;
    if matches!(target.kind, SpecKind::Alias { .. }) {
        return Err(refuse(AliasProblem::Nested));
    }
    if !target.is_registry() {
        return Err(refuse(AliasProblem::NotRegistry));
    }
    if name.is_empty() {
        return Err(refuse(AliasProblem::Nameless));
    }
    Ok(SpecKind::Alias { name: name.parse()?, target: Box::new(target) })
}

/// Splits `name@spec`, as one writes it on the command line, into name (may be empty) and specifier.
fn split_argument(argument: &str) -> (&str, std::borrow::Cow<'_, str>) {
    let first = argument.chars().next().map_or(0, char::len_utf8);
    let at = argument[first..].find('@').map(|index| index + first);
    let before = at.map_or(argument, |at| &argument[..at]);
    if is_url(argument) {
        return ("", argument.into());
    }
    if is_scp_address(argument) {
        return ("", format!("git+ssh://{argument}").into());
    }
    if !before.starts_with('@') && (before.contains('/') || file::is_tarball(before)) {
        return ("", argument.into());
    }
    match at {
        Some(at) => (before, argument.get(at + 1..).filter(|spec| !spec.is_empty()).unwrap_or("*").into()),
        None if name::check(argument).is_ok() => (argument, "*".into()),
        None => ("", argument.into()),
    }
}

/// Whether the text starts with a protocol, `git+` before it allowed.
fn is_url(text: &str) -> bool {
    let has_protocol = |text: &str| {
        let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
        letters > 0 && text.as_bytes().get(letters) == Some(&b':')
    };
    let behind_git = text.get(..4).filter(|start| start.eq_ignore_ascii_case("git+")).map(|_| &text[4..]);
    has_protocol(text) || behind_git.is_some_and(has_protocol)
}

/// `user@host.domain:path`.
fn is_scp_address(text: &str) -> bool {
    let Some((user, rest)) = text.split_once('@') else { return false };
    let Some(dot) = rest.find([':', '.']).filter(|index| *index > 0 && rest.as_bytes()[*index] == b'.') else {
        return false;
    };
    let is_line_end = |character| matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}');
    rest[dot + 1..].split_once(':').is_some_and(|(domain, path)| {
        !user.is_empty() && !domain.is_empty() && !path.is_empty() && !path.contains(is_line_end)
    })
}

#[cfg(test)]
mod tests;
