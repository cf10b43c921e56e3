//! Indentation and line ends of a JSON file, so that rewriting it keeps its look.
//!
//! The rule is npm's: what follows the first bracket tells both. A text on one line has neither, and then a `package.json`
//! stays on one line while a lock file gets the default.

/// How a JSON text is laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextStyle {
    /// One level of indentation; empty means the text is on one line.
    pub indent: String,
    /// The line end.
    pub newline: String,
}

/// npm's indentation where nothing says otherwise.
pub(crate) const DEFAULT_INDENT: &str = "  ";
/// npm's line end where nothing says otherwise.
pub(crate) const DEFAULT_NEWLINE: &str = "\n";

impl Default for TextStyle {
    fn default() -> Self {
        Self { indent: DEFAULT_INDENT.into(), newline: DEFAULT_NEWLINE.into() }
    }
}

impl TextStyle {
    /// Finds the style of a JSON text. Both parts are empty for a text on one line; an empty object or list has the
    /// default indentation.
    pub fn detect(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if let Some(rest) = text.strip_prefix("{}").or_else(|| text.strip_prefix("[]")) {
            let newline = leading_line_ends(rest);
            if newline.len() == rest.len() {
                let newline = if newline.is_empty() { "\n" } else { newline };
                return Self { newline: newline.into(), ..Self::default() };
            }
        }
        let after = text.trim_start().strip_prefix(['{', '[']).unwrap_or_default();
        let newline = leading_line_ends(after);
        if newline.is_empty() {
            return Self { indent: String::new(), newline: String::new() };
        }
        let rest = &after[newline.len()..];
        let indent = &rest[..rest.len() - rest.trim_start().len()];
        Self { indent: indent.into(), newline: newline.into() }
    }
}

/// The run of `\n` and `\r\n` that a text begins with.
fn leading_line_ends(text: &str) -> &str {
    let mut rest = text;
    while let Some(shorter) = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')) {
        rest = shorter;
    }
    &text[..text.len() - rest.len()]
}

#[cfg(test)]
mod tests;
