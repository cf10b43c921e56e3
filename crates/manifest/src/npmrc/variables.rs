//! `${NAME}` in settings.

/// Replaces every `${NAME}` and `${NAME?}`. Backslashes before it are halved; an odd one out keeps it as text.
pub(super) fn expand(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> String {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let Some(reference) = Reference::read(&rest[at..]) else {
            expanded.push_str(&rest[..at + 1]);
            rest = &rest[at + 1..];
            continue;
        };
        let before = rest[..at].trim_end_matches('\\');
        let backslashes = at - before.len();
        expanded.push_str(before);
        expanded.push_str(&rest[at - backslashes / 2..at]);
        let whole = &rest[at..at + reference.length];
        if backslashes % 2 == 1 {
            expanded.push_str(whole);
        } else {
            match lookup(reference.name) {
                Some(value) => expanded.push_str(&value),
                None if reference.may_be_missing => {}
                None => expanded.push_str(whole),
            }
        }
        rest = &rest[at + reference.length..];
    }
    expanded.push_str(rest);
    expanded
}

struct Reference<'a> {
    name: &'a str,
    may_be_missing: bool,
    /// With the `$` and both braces.
    length: usize,
}

impl<'a> Reference<'a> {
    /// Reads the reference that a text starting with `${` begins with.
    fn read(text: &'a str) -> Option<Self> {
        let inner = &text[2..];
        let end = inner.find(['$', '{', '}', '?'])?;
        let (name, tail) = inner.split_at(end);
        let (may_be_missing, tail) = match tail.strip_prefix('?') {
            Some(tail) => (true, tail),
            None => (false, tail),
        };
        if name.is_empty() || !tail.starts_with('}') {
            return None;
        }
        let length = text.len() - tail.len() + 1;
        Some(Self { name, may_be_missing, length })
    }
}
