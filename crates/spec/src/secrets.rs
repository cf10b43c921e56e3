//! Addresses with credentials in them, in texts that somebody reads.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

/// A text whose addresses (`https://user:password@host/`) have lost their users and passwords. One that has no password stays,
/// as in `ssh://git@host/`, but for those of HTTP, which are tokens.
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    let mut told = String::new();
    // How much of the text has been told or left out.
    let mut done = 0;
    for (slashes, _) in text.match_indices("//") {
        let start = slashes + 2;
        if start < done {
            continue;
        }
        let authority = authority_of(&text[start..]);
        let Some(at) = authority.rfind('@') else { continue };
        if authority[..at].contains(':') || is_http(&text[..slashes]) {
            told.push_str(&text[done..start]);
            done = start + at + 1;
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    told.push_str(&text[done..]);
    Cow::Owned(told)
}

/// What is before the path. In a text it may end with a word or a quotation, too.
fn authority_of(text: &str) -> &str {
    let is_end =
        |character: char| character.is_whitespace() || matches!(character, '/' | '#' | '?' | '"' | '\'' | '<' | '>');
    text.find(is_end).map_or(text, |end| &text[..end])
}

/// Whether what is before two slashes is the scheme of HTTP, also of git over it.
fn is_http(before: &str) -> bool {
    let Some(scheme) = before.strip_suffix(':') else { return false };
    let scheme = scheme.rsplit(|character: char| !character.is_ascii_alphanumeric()).next().unwrap_or_default();
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}
