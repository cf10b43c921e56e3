//! Rules of ignore files, as npm's `minimatch` reads them: without regard to case, dots like any other character, and a
//! pattern without a slash stands for a name at any depth.

use fast_glob::glob_match;

/// More ways to read one pattern's braces than this are refused: each pair multiplies them.
const MAXIMUM_READINGS: usize = 1000;

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    /// Whether it starts with `!`: what it matches is in.
    pub negated: bool,
    /// Its readings, one for each choice of its braces.
    readings: Vec<Vec<Part>>,
}

/// What stands between two slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// `**`: any number of folders.
    Any,
    /// A text without wildcards.
    Text(String),
    /// A glob.
    Glob(String),
}

/// The rules of an ignore file. Gives the pattern back that cannot be read.
pub(super) fn read_rules(text: &str) -> Result<Vec<Rule>, String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| Rule::read(line).ok_or_else(|| line.to_owned())).collect()
}

impl Rule {
    fn read(line: &str) -> Option<Self> {
        let bare = line.trim_start_matches('!');
        let negated = (line.len() - bare.len()) % 2 == 1;
        if ["?(", "*(", "+(", "@(", "!("].iter().any(|start| bare.contains(start)) {
            return None;
        }
        let mut texts = Vec::new();
        expand(&bare.to_lowercase(), &mut texts)?;
        let readings = texts.iter().map(|text| split(text).map(Part::of).collect()).collect();
        Some(Self { negated, readings })
    }

    /// Whether the rule says something of `entry`; see [`Level::takes`](super::Level) for the arguments.
    pub(super) fn decides(&self, entry: &str, partial: bool, base: Option<&str>) -> bool {
        let entry = entry.to_lowercase();
        if self.matches(&format!("/{entry}"), false) || self.matches(&entry, false) {
            return true;
        }
        if !partial {
            return false;
        }
        let as_folder = |name: &str| {
            self.matches(&format!("/{name}/"), false)
                || self.matches(&format!("{name}/"), false)
                || self.negated && (self.matches(&format!("/{name}"), true) || self.matches(name, true))
        };
        as_folder(&entry) || base.is_some_and(|base| self.is_a_name() && as_folder(&base.to_lowercase()))
    }

    /// Whether a reading is one name without folders.
    fn is_a_name(&self) -> bool {
        self.readings.iter().any(|parts| {
            let ends_in_slash = parts.last().is_some_and(Part::is_empty);
            parts.len() <= if ends_in_slash { 2 } else { 1 }
        })
    }

    /// `leads_to`: whether something below `path` could match is enough.
    fn matches(&self, path: &str, leads_to: bool) -> bool {
        let names: Vec<&str> = split(path).collect();
        self.readings.iter().any(|parts| match parts.as_slice() {
            [part] => {
                let last = names.iter().rev().find(|name| !name.is_empty()).copied().unwrap_or_default();
                follow(&[last], std::slice::from_ref(part), leads_to)
            }
            parts => follow(&names, parts, leads_to),
        })
    }
}

/// Whether the parts lead along the names to their end.
fn follow(names: &[&str], parts: &[Part], leads_to: bool) -> bool {
    match (parts.split_first(), names.split_first()) {
        (None, None) => true,
        // A slash at the end.
        (None, Some((name, more))) => name.is_empty() && more.is_empty(),
        (Some((Part::Any, [])), _) => leads_to || !names.is_empty() && !names.iter().any(|name| is_dots(name)),
        (Some((Part::Any, rest)), _) => {
            for skipped in 0..=names.len() {
                if follow(&names[skipped..], rest, leads_to) {
                    return true;
                }
                if names.get(skipped).is_some_and(|name| is_dots(name)) {
                    return false;
                }
            }
            leads_to
        }
        (Some(_), None) => leads_to,
        (Some((part, rest)), Some((name, more))) => part.matches(name) && follow(more, rest, leads_to),
    }
}

fn is_dots(name: &str) -> bool {
    matches!(name, "." | "..")
}

impl Part {
    fn of(text: &str) -> Self {
        match text {
            "**" => Self::Any,
            _ if !text.contains(['*', '?', '[', '\\']) => Self::Text(text.to_owned()),
            _ => Self::Glob(text.replace('{', "\\{").replace('}', "\\}").replacen(
                '!',
                "\\!",
                usize::from(text.starts_with('!')),
            )),
        }
    }

    fn is_empty(&self) -> bool {
        matches!(self, Self::Text(text) if text.is_empty())
    }

    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Text(text) => text == name,
            Self::Glob(glob) => !name.is_empty() && !is_dots(name) && glob_match(glob, name),
        }
    }
}

/// The names of a path; several slashes count as one.
fn split(path: &str) -> impl Iterator<Item = &str> {
    let mut previous_is_empty = false;
    let last = path.split('/').count() - 1;
    path.split('/').enumerate().filter_map(move |(position, name)| {
        let repeats = name.is_empty() && previous_is_empty && position != 0;
        previous_is_empty = name.is_empty();
        (!(repeats || name.is_empty() && position != 0 && position != last)).then_some(name)
    })
}

/// Writes out the braces of a pattern: `a{b,c}` is `ab` and `ac`. `None` for a range of numbers, and for too many readings.
fn expand(pattern: &str, found: &mut Vec<String>) -> Option<()> {
    let Some((start, end, commas)) = braces(pattern) else {
        found.push(pattern.to_owned());
        return (found.len() <= MAXIMUM_READINGS).then_some(());
    };
    let inside = &pattern[start + 1..end];
    if commas.is_empty() && inside.contains("..") {
        return None;
    }
    let mut from = start + 1;
    for to in commas.into_iter().chain([end]) {
        expand(&format!("{}{}{}", &pattern[..start], &pattern[from..to], &pattern[end + 1..]), found)?;
        from = to + 1;
    }
    Some(())
}

/// The first pair of braces with a choice in it, and where its commas are.
fn braces(pattern: &str) -> Option<(usize, usize, Vec<usize>)> {
    let bytes = pattern.as_bytes();
    for start in (0..bytes.len()).filter(|&at| bytes[at] == b'{' && (at == 0 || !matches!(bytes[at - 1], b'\\' | b'$')))
    {
        let (mut depth, mut commas) = (0_usize, Vec::new());
        for (at, byte) in bytes.iter().enumerate().skip(start) {
            match byte {
                b'{' => depth += 1,
                b',' if depth == 1 => commas.push(at),
                b'}' if depth == 1 => {
                    if !commas.is_empty() || pattern[start..at].contains("..") {
                        return Some((start, at, commas));
                    }
                    break;
                }
                b'}' => depth -= 1,
                _ => {}
            }
        }
    }
    None
}
