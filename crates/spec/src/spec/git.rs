//! Git specifiers that name no known host, other URLs, and the part behind `#`.

use url::Url;

use super::{HostedGit, HostedKind, SpecKind};
use crate::secrets::without_secrets;
use crate::{error::SpecError, range::Range, text::decode_uri_component};

/// A git repository and what is wanted of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitSpec {
    /// The repository on one of the hosts npm knows.
    pub hosted: Option<HostedGit>,
    /// What git is asked for: a URL, or `user@host:path`. Without `git+` and without the part behind `#`. For a
    /// shortcut such as `user/repo` it is the `https:` URL.
    pub url: String,
    /// The commit, branch or tag that is asked for.
    pub committish: Option<String>,
    /// The text of `#semver:`: the newest tag in this range is asked for.
    pub range: Option<String>,
    /// The folder of `#path:` within the repository, without a leading slash.
    pub path: Option<String>,
    /// The text npm writes into `package.json`.
    pub saved: String,
}

/// What the part behind `#` says.
#[derive(Default)]
struct Reference {
    committish: Option<String>,
    range: Option<String>,
    path: Option<String>,
}

impl GitSpec {
    /// The kind of the known host.
    pub fn host(&self) -> Option<HostedKind> {
        self.hosted.as_ref().map(|hosted| hosted.kind)
    }

    /// [`GitSpec::range`] as a range; `None` if there is none or its text is not one.
    pub fn semver_range(&self) -> Option<Range> {
        self.range.as_deref().and_then(Range::parse)
    }

    /// What `npm install` of this specifier writes into `package.json`: of a known host its shortcut, unless that would lose
    /// user and password.
    pub fn saved_by_install(&self) -> String {
        match &self.hosted {
            Some(hosted) if hosted.auth.is_none() => {
                hosted.shortcut(self.saved.split_once('#').map(|(_, committish)| committish))
            }
            _ => self.saved.clone(),
        }
    }

    pub(super) fn from_hosted(
        package: &str,
        raw: &str,
        hosted: HostedGit,
        committish: Option<String>,
    ) -> Result<GitSpec, SpecError> {
        let reference = reference(package, raw, committish.as_deref().unwrap_or_default())?;
        let saved = hosted.saved(committish.as_deref());
        let url = hosted.clone_url();
        Ok(GitSpec::new(Some(hosted), url, reference, saved))
    }

    fn new(hosted: Option<HostedGit>, url: String, reference: Reference, saved: String) -> GitSpec {
        let Reference { committish, range, path } = reference;
        GitSpec { hosted, url, committish, range, path, saved }
    }
}

/// A URL that no known host claims: git, a tarball, or nothing npm knows.
pub(super) fn url_kind(package: &str, raw: &str) -> Result<SpecKind, SpecError> {
    if let Some((address, committish)) = scp_address(raw) {
        let reference = reference(package, raw, committish)?;
        return Ok(SpecKind::Git(GitSpec::new(None, address.to_owned(), reference, raw.to_owned())));
    }
    let slashed;
    let text = if raw.starts_with("git+file://") {
        slashed = raw.replace('\\', "/");
        &slashed
    } else {
        raw
    };
    let mut url = Url::parse(text).map_err(|source| SpecError::InvalidUrl {
        package: package.to_owned(),
        spec: without_secrets(raw).into_owned(),
        source,
    })?;
    match url.scheme() {
        "git" | "git+http" | "git+https" | "git+rsync" | "git+ftp" | "git+file" | "git+ssh" => {
            let reference = reference(package, raw, url.fragment().unwrap_or_default())?;
            url.set_fragment(None);
            let address = match drive_host(text, &url) {
                Some(address) => address,
                None => url.as_str().strip_prefix("git+").unwrap_or(url.as_str()).to_owned(),
            };
            Ok(SpecKind::Git(GitSpec::new(None, address, reference, raw.to_owned())))
        }
        "http" | "https" => Ok(SpecKind::Remote { url: raw.to_owned() }),
        scheme => Err(SpecError::UnsupportedProtocol {
            package: package.to_owned(),
            spec: without_secrets(raw).into_owned(),
            protocol: format!("{scheme}:"),
        }),
    }
}

/// `git+file://c:/a`: the URL takes the drive for a host.
fn drive_host(text: &str, url: &Url) -> Option<String> {
    let start = "git+file://";
    let drive =
        text.get(..start.len()).filter(|begin| begin.eq_ignore_ascii_case(start)).map(|_| &text[start.len()..])?;
    matches!(drive.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
        .then(|| format!("file://{}:{}", url.host_str().unwrap_or_default().to_ascii_lowercase(), url.path()))
}

/// `git+ssh://user@host:path#committish`, which is no URL, split in address and committish. A port makes it a URL.
fn scp_address(raw: &str) -> Option<(&str, &str)> {
    let rest = raw.strip_prefix("git+ssh:")?.strip_prefix("//")?;
    let (address, committish) = rest.split_once('#').unwrap_or((rest, ""));
    let (user, path) = address.split_once(':')?;
    let is_line_end = |character| matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}');
    if user.is_empty() || path.is_empty() || committish.contains(is_line_end) {
        return None;
    }
    let has_port = address.match_indices(':').any(|(colon, _)| {
        let rest = &address[colon + 1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        digits > 0 && matches!(rest.as_bytes().get(digits), None | Some(b'/'))
    });
    (!has_port).then_some((address, committish))
}

/// Reads `main`, `semver:^1`, `path:folder` and their combinations with `::`.
fn reference(package: &str, raw: &str, text: &str) -> Result<Reference, SpecError> {
    let refuse = || SpecError::GitReference { package: package.to_owned(), spec: without_secrets(raw).into_owned() };
    let mut found = Reference::default();
    let parts = if text.is_empty() { None } else { Some(text.split("::")) };
    for part in parts.into_iter().flatten() {
        let (target, value) = match part.split_once(':') {
            None if found.range.is_some() || found.committish.is_some() => return Err(refuse()),
            None => (&mut found.committish, part.to_owned()),
            // Behind a second colon nothing counts.
            Some((key, value)) => match (key, value.split(':').next().unwrap_or_default()) {
                ("semver", _) if found.range.is_some() || found.committish.is_some() => return Err(refuse()),
                ("semver", value) => (&mut found.range, decode_uri_component(value).ok_or_else(refuse)?),
                ("path", _) if found.path.is_some() => return Err(refuse()),
                ("path", value) => {
                    found.path = Some(value.to_owned());
                    continue;
                }
                _ => continue,
            },
        };
        *target = Some(value).filter(|value| !value.is_empty());
    }
    Ok(found)
}
