//! What the lines of a `yarn.lock` are made of.

/// What separates parts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Delimiter {
    /// A comma with any number of spaces behind it.
    Comma,
    /// One space.
    Space,
}

/// White space to JavaScript.
pub(super) fn is_space(character: char) -> bool {
    character.is_whitespace() && character != '\u{85}' || character == '\u{feff}'
}

/// `  name:`, which begins an object.
pub(super) fn is_object_head(line: &str) -> bool {
    line.strip_prefix("  ")
        .and_then(|rest| rest.strip_suffix(':'))
        .is_some_and(|name| !name.is_empty() && !name.contains(is_space))
}

/// A name and something behind a space, indented by exactly so many spaces.
pub(super) fn is_member(line: &str, indent: usize) -> bool {
    let Some((blank, rest)) = line.split_at_checked(indent) else { return false };
    let Some(end) = rest.find(is_space) else { return false };
    let is_blank = blank.bytes().all(|byte| byte == b' ');
    is_blank && end > 0 && rest[end..].starts_with(' ') && rest.len() > end + 1
}

/// Splits at delimiters that are in no quotes, and takes the quotes off. Quoted parts are put together without the delimiters
/// in them, and what is escaped stays so.
pub(super) fn split_quoted(text: &str, delimiter: Delimiter) -> Vec<String> {
    let chunks = text.split(if delimiter == Delimiter::Comma { ',' } else { ' ' });
    let mut chunks = chunks.enumerate().map(|(index, chunk)| match delimiter {
        Delimiter::Comma if index > 0 => chunk.trim_start_matches(' '),
        _ => chunk,
    });
    let mut parts = Vec::new();
    while let Some(chunk) = chunks.next() {
        if !chunk.starts_with('"') {
            parts.push(chunk.trim_matches(is_space).to_owned());
        } else if chunk.len() > 1 && chunk.ends_with('"') {
            parts.push(chunk[1..chunk.len() - 1].to_owned());
        } else {
            let mut collected = chunk[1..].to_owned();
            for more in chunks.by_ref() {
                if ends_quotes(more) {
                    let more = more.trim_end_matches(is_space);
                    collected.push_str(&more[..more.len() - 1]);
                    break;
                }
                collected.push_str(more);
            }
            parts.push(collected);
        }
    }
    parts
}

/// Whether it ends with a quotation mark that is not escaped, and is more than that.
fn ends_quotes(chunk: &str) -> bool {
    let Some(before) = chunk.strip_suffix('"') else { return false };
    let unescaped = before.trim_end_matches('\\');
    !unescaped.is_empty() && (before.len() - unescaped.len()).is_multiple_of(2)
}
