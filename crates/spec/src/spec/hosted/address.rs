//! Which text is a GitHub shorthand, and how a git address that is not quite a URL is made one.

use url::Url;

use super::HostedKind;
use crate::text::is_space;

/// `user/repo`: a slash, at most one of them before any `#`, and before that no white space, `@` or colon. It is no
/// path either.
pub(super) fn is_github_shorthand(text: &str) -> bool {
    let before = text.find('#').map_or(text, |hash| &text[..hash]);
    text.contains('/')
        && before.bytes().filter(|byte| *byte == b'/').count() <= 1
        && !before.starts_with(['/', '.'])
        && !before.ends_with('/')
        && !before.contains(|character| matches!(character, '@' | ':') || is_space(character))
}

/// Reads an address as a URL, corrected if need be.
pub(super) fn parse(text: &str) -> Option<Url> {
    let text = with_slashes(text);
    Url::parse(&text).or_else(|_| Url::parse(&with_path(text))).ok()
}

/// `host:a/b` with an unknown protocol gets slashes, or is an address of ssh if an `@` follows.
fn with_slashes(text: &str) -> String {
    let colon = text.find(':');
    let (protocol, rest) = text.split_at(colon.map_or(0, |colon| colon + 1));
    let is_known = protocol.strip_suffix(':').is_some_and(|name| {
        matches!(name, "git+ssh" | "ssh" | "git+https" | "git" | "http" | "https" | "git+http")
            || HostedKind::from_name(name).is_some()
    });
    if is_known || (colon.is_some() && rest.starts_with("//")) {
        return text.to_owned();
    }
    match text.find('@') {
        Some(at) if Some(at) > colon => format!("git+ssh://{text}"),
        Some(_) => text.to_owned(),
        None => format!("{protocol}//{rest}"),
    }
}

/// `user@host:path` becomes `git+ssh://user@host/path`.
fn with_path(mut text: String) -> String {
    let end = text.find('#').unwrap_or(text.len());
    let colon = text[..end].rfind(':');
    if let Some(colon) = colon.filter(|_| colon > text[..end].rfind('@')) {
        text.replace_range(colon..=colon, "/");
    }
    let end = text.find('#').unwrap_or(text.len());
    if !text[..end].contains(':') && !text.contains("//") {
        text.insert_str(0, "git+ssh://");
    }
    text
}
