//! The git hosts npm knows by heart (`hosted-git-info` 9): shortcuts such as `user/repo` and `gitlab:group/repo`, URLs
//! of their sites, and the addresses under which each serves a repository.

mod address;

use url::Url;

use crate::text::{decode_uri_component, encode_uri_component};

/// A git host npm has rules for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HostedKind {
    /// github.com
    GitHub,
    /// bitbucket.org
    Bitbucket,
    /// gitlab.com
    GitLab,
    /// gist.github.com
    Gist,
    /// git.sr.ht
    SourceHut,
}

/// A repository on such a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostedGit {
    /// The host.
    pub kind: HostedKind,
    /// The owner; on GitLab with all groups. A gist may have none.
    pub user: Option<String>,
    /// The repository, without `.git`.
    pub project: String,
    /// User and password of the URL it was read from: a secret.
    pub auth: Option<String>,
    form: Form,
}

/// How the repository was written, which is how npm writes it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Shortcut,
    Ssh,
    Https,
    Git,
}

impl HostedKind {
    const ALL: [HostedKind; 5] =
        [HostedKind::GitHub, HostedKind::Bitbucket, HostedKind::GitLab, HostedKind::Gist, HostedKind::SourceHut];

    /// The name npm uses for the host, and the shortcut before the colon.
    pub fn name(self) -> &'static str {
        match self {
            HostedKind::GitHub => "github",
            HostedKind::Bitbucket => "bitbucket",
            HostedKind::GitLab => "gitlab",
            HostedKind::Gist => "gist",
            HostedKind::SourceHut => "sourcehut",
        }
    }

    fn domain(self) -> &'static str {
        match self {
            HostedKind::GitHub => "github.com",
            HostedKind::Bitbucket => "bitbucket.org",
            HostedKind::GitLab => "gitlab.com",
            HostedKind::Gist => "gist.github.com",
            HostedKind::SourceHut => "git.sr.ht",
        }
    }

    fn from_name(name: &str) -> Option<HostedKind> {
        HostedKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    fn from_domain(domain: &str) -> Option<HostedKind> {
        let domain = domain.strip_prefix("www.").unwrap_or(domain);
        HostedKind::ALL.into_iter().find(|kind| kind.domain() == domain)
    }

    fn serves(self, scheme: &str) -> bool {
        match scheme {
            "https" | "git+ssh" => true,
            "ssh" | "git+https" => self != HostedKind::SourceHut,
            "git" => matches!(self, HostedKind::GitHub | HostedKind::Gist),
            "http" => self == HostedKind::GitHub,
            _ => false,
        }
    }

    /// User, project and committish, still encoded, of a URL of this host; `None` if it shows no repository.
    fn extract(self, url: &Url) -> Option<(Option<&str>, &str, &str)> {
        let fragment = url.fragment().unwrap_or_default();
        let without_git = |project: &'_ str| -> usize { project.strip_suffix(".git").unwrap_or(project).len() };
        if self == HostedKind::GitLab {
            let path = url.path().get(1..).unwrap_or_default();
            if path.contains("/-/") || path.contains("/archive.tar.gz") {
                return None;
            }
            let (user, project) = path.rsplit_once('/')?;
            let project = &project[..without_git(project)];
            return (!user.is_empty() && !project.is_empty()).then_some((Some(user), project, fragment));
        }
        let mut segments = url.path().split('/').skip(1);
        let user = segments.next().unwrap_or_default();
        let project = segments.next().unwrap_or_default();
        let kind = segments.next().unwrap_or_default();
        let mut committish = fragment;
        match (self, kind) {
            (HostedKind::GitHub, "") => {}
            // npm names the branch "undefined" if the URL of a tree ends there.
            (HostedKind::GitHub, "tree") => committish = segments.next().unwrap_or("undefined"),
            (HostedKind::GitHub, _)
            | (HostedKind::Bitbucket, "get")
            | (HostedKind::Gist, "raw")
            | (HostedKind::SourceHut, "archive") => return None,
            _ => {}
        }
        if self == HostedKind::Gist {
            let (user, project) = if project.is_empty() { (None, user) } else { (Some(user), project) };
            return (!project.is_empty()).then(|| (user, &project[..without_git(project)], committish));
        }
        let project = &project[..without_git(project)];
        (!user.is_empty() && !project.is_empty()).then_some((Some(user), project, committish))
    }
}

impl HostedGit {
    /// Reads a shortcut or a URL of a known host, and the decoded part behind `#`. `None` if no known host claims it.
    pub fn parse(text: &str) -> Option<(HostedGit, Option<String>)> {
        if text.is_empty() {
            return None;
        }
        let url = if address::is_github_shorthand(text) {
            address::parse(&format!("github:{text}"))?
        } else {
            address::parse(text)?
        };
        match HostedKind::from_name(url.scheme()) {
            Some(kind) => HostedGit::from_shortcut(kind, &url),
            None => HostedGit::from_url(HostedKind::from_domain(url.host_str().unwrap_or_default())?, &url),
        }
    }

    fn from_shortcut(kind: HostedKind, url: &Url) -> Option<(HostedGit, Option<String>)> {
        let path = url.path().strip_prefix('/').unwrap_or(url.path());
        let path = path.split_once('@').map_or(path, |(_, path)| path);
        let (user, project) = path.rsplit_once('/').map_or((None, path), |(user, project)| (Some(user), project));
        let user = user.map(decode_uri_component).map_or(Some(None), |user| user.map(Some))?;
        let mut project = decode_uri_component(project)?;
        project.truncate(project.strip_suffix(".git").unwrap_or(&project).len());
        let committish = url.fragment().filter(|fragment| !fragment.is_empty());
        let committish = committish.map(decode_uri_component).map_or(Some(None), |text| text.map(Some))?;
        let user = user.filter(|user| !user.is_empty());
        Some((HostedGit { kind, user, project, auth: None, form: Form::Shortcut }, committish))
    }

    fn from_url(kind: HostedKind, url: &Url) -> Option<(HostedGit, Option<String>)> {
        if !kind.serves(url.scheme()) {
            return None;
        }
        let (user, project, committish) = kind.extract(url)?;
        let user = user.map(decode_uri_component).map_or(Some(None), |user| user.map(Some))?;
        let project = decode_uri_component(project)?;
        let committish = decode_uri_component(committish)?;
        let form = match url.scheme() {
            "https" | "git+https" => Form::Https,
            "git" => Form::Git,
            _ => Form::Ssh,
        };
        let has_auth = matches!(url.scheme(), "https" | "git+https" | "git" | "http");
        let auth = match (url.username(), url.password()) {
            _ if !has_auth => None,
            ("", None | Some("")) => None,
            (user, None | Some("")) => Some(user.to_owned()),
            (user, Some(password)) => Some(format!("{user}:{password}")),
        };
        Some((HostedGit { kind, user, project, auth, form }, Some(committish)))
    }

    /// `ssh://git@host/user/project.git`, with `#committish` if one is given.
    pub fn ssh_url(&self, committish: Option<&str>) -> String {
        format!("ssh://git@{}/{}.git{}", self.kind.domain(), self.path(), hash(committish))
    }

    /// `https://host/user/project.git`, with user and password if there are any.
    pub fn https_url(&self, committish: Option<&str>) -> String {
        let auth = match &self.auth {
            Some(auth) if !matches!(self.kind, HostedKind::Gist | HostedKind::SourceHut) => format!("{auth}@"),
            _ => String::new(),
        };
        let end = if self.kind == HostedKind::SourceHut { "" } else { ".git" };
        format!("https://{auth}{}/{}{end}{}", self.kind.domain(), self.path(), hash(committish))
    }

    /// The tarball the host makes of a commit, branch or tag; `None` means `HEAD`.
    pub fn tarball_url(&self, committish: Option<&str>) -> String {
        let domain = self.kind.domain();
        let path = self.path();
        let at = encode_uri_component(committish.filter(|text| !text.is_empty()).unwrap_or("HEAD"));
        match self.kind {
            HostedKind::GitHub => format!("https://codeload.{domain}/{path}/tar.gz/{at}"),
            HostedKind::Gist => format!("https://codeload.github.com/gist/{path}/tar.gz/{at}"),
            HostedKind::Bitbucket => format!("https://{domain}/{path}/get/{at}.tar.gz"),
            HostedKind::SourceHut => format!("https://{domain}/{path}/archive/{at}.tar.gz"),
            HostedKind::GitLab => {
                let project = encode_uri_component(&path);
                format!("https://{domain}/api/v4/projects/{project}/repository/archive.tar.gz?sha={at}")
            }
        }
    }

    /// What the lock file says of a commit: `git+ssh:`, or `git+https:` if there are user and password.
    pub fn resolved(&self, commit: &str) -> String {
        let url = if self.auth.is_some() { self.https_url(Some(commit)) } else { self.ssh_url(Some(commit)) };
        format!("git+{url}")
    }

    /// `github:user/project`, with `#committish` if one is given.
    pub(super) fn shortcut(&self, committish: Option<&str>) -> String {
        format!("{}:{}{}", self.kind.name(), self.path(), hash(committish))
    }

    /// What npm writes into `package.json`.
    pub(super) fn saved(&self, committish: Option<&str>) -> String {
        match self.form {
            Form::Shortcut => self.shortcut(committish),
            Form::Ssh => format!("git+{}", self.ssh_url(committish)),
            // On this host alone npm leaves out `git+`.
            Form::Https if self.kind == HostedKind::SourceHut => self.https_url(committish),
            Form::Https => format!("git+{}", self.https_url(committish)),
            Form::Git => self.git_url(committish),
        }
    }

    /// Where git clones from.
    pub(super) fn clone_url(&self) -> String {
        match self.form {
            Form::Shortcut | Form::Https => self.https_url(None),
            Form::Ssh => self.ssh_url(None),
            Form::Git => self.git_url(None),
        }
    }

    fn git_url(&self, committish: Option<&str>) -> String {
        let auth = match &self.auth {
            Some(auth) if self.kind != HostedKind::Gist => format!("{auth}@"),
            _ => String::new(),
        };
        format!("git://{auth}{}/{}.git{}", self.kind.domain(), self.path(), hash(committish))
    }

    /// The path of the repository on its host. npm writes "null" for a missing user, except on gists.
    fn path(&self) -> String {
        match (self.kind, &self.user) {
            (HostedKind::Gist, _) => self.project.clone(),
            (_, user) => format!("{}/{}", user.as_deref().unwrap_or("null"), self.project),
        }
    }
}

fn hash(committish: Option<&str>) -> String {
    committish.filter(|text| !text.is_empty()).map_or_else(String::new, |text| format!("#{text}"))
}
