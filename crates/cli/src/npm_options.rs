//! npm's settings as options, in all the forms that npm 11 reads (its `nopt`): `--key value`, `--key=value`, `--flag`,
//! `--no-flag`, `--flag=false`, `--flag false`, short forms alone and together (`-DE`), and beginnings of names that only one
//! setting has. They may stand before the command, too.
//!
//! They are taken out before clap reads the rest. What clap declares for the command comes back to it in the form that it
//! knows; what it does not goes into the layer of settings that is above all others, where it has the effect that it would have
//! in an `.npmrc`, and often none. So everything that is no setting of npm's remains clap's to refuse.
//!
//! Unlike npm, which warns and goes on without it, an option that lacks its value or has a wrong one is wrong usage.

mod meant;
mod table;
#[cfg(test)]
mod tests;

pub use meant::meant;
pub use table::is_switch;

use clap::error::ErrorKind;
use clap::{Arg, Command};
use gantry_manifest::{NpmrcValue, option_value};
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use table::{Kind, abbreviated, setting, short_form};

/// A command of Gantry's own, which takes no settings.
const NOT_OF_NPM: &str = "digest";
/// A setting of npm's that is an option of Gantry's with an effect of its own: a command that lacks it refuses it.
const GANTRYS_OWN: &str = "timing";

/// A command line taken apart.
#[derive(Debug)]
pub struct Line {
    /// What clap is to read.
    pub words: Vec<OsString>,
    /// The settings that clap does not know.
    pub settings: Vec<(String, NpmrcValue)>,
}

/// What is said of a setting.
enum Said {
    Switch(bool),
    Text(OsString),
    List(Vec<OsString>),
    None,
}

/// Takes npm's settings out of a command line, whose first word is the program. `lookup` gives environment variables, which
/// values may name.
pub fn take_apart(
    words: impl IntoIterator<Item = OsString>,
    gantry: &Command,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Result<Line, clap::Error> {
    let mut ahead: VecDeque<OsString> = words.into_iter().collect();
    let left = ahead.pop_front().into_iter().collect();
    let line = Line { words: left, settings: Vec::new() };
    let mut reader = Reader { gantry, command: None, lookup, ahead, line, early: Vec::new(), found: Vec::new() };
    while reader.ahead.front().is_some_and(|word| word != "--") {
        reader.read()?;
    }
    reader.finish()
}

struct Reader<'a> {
    gantry: &'a Command,
    /// The one that the line names, once that was read.
    command: Option<&'a Command>,
    lookup: &'a dyn Fn(&str) -> Option<String>,
    ahead: VecDeque<OsString>,
    line: Line,
    /// Options of Gantry's own that stand before the command, behind which clap knows them.
    early: Vec<OsString>,
    /// Each setting once: what is said last counts.
    found: Vec<(&'static str, Said)>,
}

impl Reader<'_> {
    /// Reads an option or a word that is none.
    fn read(&mut self) -> Result<(), clap::Error> {
        let Some(word) = self.ahead.pop_front() else { return Ok(()) };
        let text = word.to_str().filter(|text| text.starts_with('-') && *text != "-");
        let Some(text) = text.map(str::to_owned) else {
            let is_known = self.command.is_some();
            self.command = self.command.or_else(|| self.gantry.find_subcommand(&word));
            self.line.words.push(word);
            if !is_known && self.command.is_some() {
                self.line.words.append(&mut self.early);
            }
            return Ok(());
        };
        let (option, value) = match text.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (text.as_str(), None),
        };
        let name = option.trim_start_matches('-');
        let is_long = option.starts_with("--");
        let (positive, is_negated) = without_no(name);
        let is_of_npm = || setting(positive).is_some() || short_form(name).is_some();
        if matches!(text.as_str(), "-h" | "-V" | "--help" | "--version")
            || (self.takes_value_here(name).is_some() && !is_of_npm())
        {
            self.leave(&word, name, value);
            return Ok(());
        }
        if let Some(words) = setting(name).is_none().then(|| long_forms(name, is_long)).flatten() {
            return self.replace(option, &words, value);
        }
        match setting(positive).or_else(|| abbreviated(positive).filter(|_| is_long)) {
            Some((setting, kind)) => {
                let said = self.said(option, kind, is_negated, value)?;
                self.add(setting, said);
            }
            None => match value.filter(|_| is_of_an_address(name)) {
                Some(value) => {
                    self.line.settings.retain(|(other, _)| other != name);
                    self.line.settings.push((name.to_owned(), option_value(value, self.lookup)));
                }
                None => self.leave(&word, name, value),
            },
        }
        Ok(())
    }

    /// Leaves an option to clap, with the word behind it if that is its value. A switch may be given a value as npm's may.
    fn leave(&mut self, word: &OsStr, name: &str, value: Option<&str>) {
        let kind = self.takes_value_here(name);
        let mut words = match (kind, value) {
            (Some(false), Some("true")) => vec![format!("--{name}").into()],
            (Some(false), Some("false")) => Vec::new(),
            _ => vec![word.to_owned()],
        };
        if kind == Some(true) && value.is_none() {
            words.extend(self.ahead.pop_front());
        }
        let is_early = self.command.is_none() && kind.is_some();
        if is_early { self.early.extend(words) } else { self.line.words.extend(words) }
    }

    /// Puts what a short form stands for in its place.
    fn replace(&mut self, option: &str, words: &[&str], value: Option<&str>) -> Result<(), clap::Error> {
        let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        if let (Some(value), Some(last)) = (value, words.last_mut()) {
            if !last.starts_with('-') {
                return Err(self.wrong(format!("{option} takes no value")));
            }
            last.push_str(&format!("={value}"));
        }
        for word in words.into_iter().rev() {
            self.ahead.push_front(word.into());
        }
        Ok(())
    }

    /// Whether the command has an option of its own of this name, and if that takes a value.
    fn takes_value(&self, name: &str) -> Option<bool> {
        takes_value(self.command?, name)
    }

    /// The same, of any command as long as the line has not said which.
    fn takes_value_here(&self, name: &str) -> Option<bool> {
        match self.command {
            Some(command) => takes_value(command, name),
            None => self.gantry.get_subcommands().find_map(|command| takes_value(command, name)),
        }
    }

    fn said(&mut self, option: &str, kind: Kind, is_negated: bool, value: Option<&str>) -> Result<Said, clap::Error> {
        match (kind, value) {
            (Kind::Switch(others), value) => self.switched(option, others, is_negated, value),
            (Kind::SwitchOrText, value) => {
                let next = || Some(self.ahead.front()?.to_str()?.to_owned()).filter(|word| !word.starts_with('-'));
                let text = value.map_or_else(next, |value| Some(value.to_owned()));
                let others: Vec<&str> = text.as_deref().into_iter().collect();
                self.switched(option, &others, is_negated, value)
            }
            (Kind::ValueOrNone, None) if is_negated => Ok(Said::None),
            _ if is_negated => Err(self.wrong(format!("{option} is no option: without `no-` it takes a value"))),
            (_, value) => {
                let value = value.map(OsString::from).or_else(|| self.value_ahead());
                let value = value.ok_or_else(|| self.wrong(format!("a value is required for {option}")))?;
                let value = value.into_string().map(|text| option_value(&text, self.lookup));
                Ok(match (kind, value) {
                    (Kind::List, Ok(NpmrcValue::Text(text))) => Said::List(vec![text.into()]),
                    (Kind::List, Err(bytes)) => Said::List(vec![bytes]),
                    (_, Ok(NpmrcValue::Text(text))) => Said::Text(text.into()),
                    (_, Ok(_)) => Said::None,
                    (_, Err(bytes)) => Said::Text(bytes),
                })
            }
        }
    }

    fn switched(
        &mut self,
        option: &str,
        others: &[&str],
        is_negated: bool,
        value: Option<&str>,
    ) -> Result<Said, clap::Error> {
        let is_value = |word: &str| matches!(word, "true" | "false") || others.contains(&word);
        let next = || self.ahead.front().and_then(|word| word.to_str()).filter(|word| is_value(word));
        let (value, is_next) = match value {
            Some(value) => (Some(value.to_owned()), false),
            None => (next().map(str::to_owned), true),
        };
        let said = match value.as_deref() {
            None => return Ok(Said::Switch(!is_negated)),
            Some("true") => Said::Switch(!is_negated),
            Some("false") => Said::Switch(is_negated),
            Some("null") if is_value("null") => Said::None,
            Some(other) if is_value(other) => Said::Text(other.into()),
            Some(other) => return Err(self.wrong(format!("{option}={other} is neither true nor false"))),
        };
        if is_next {
            self.ahead.pop_front();
        }
        Ok(said)
    }

    /// The next word, unless it is an option. Numbers below zero are none.
    fn value_ahead(&mut self) -> Option<OsString> {
        let is_option = |word: &OsString| {
            let text = word.to_string_lossy();
            text.starts_with('-') && text != "-" && text.parse::<f64>().is_err()
        };
        if self.ahead.front().is_none_or(is_option) { None } else { self.ahead.pop_front() }
    }

    fn add(&mut self, setting: &'static str, said: Said) {
        match (self.found.iter_mut().find(|(other, _)| *other == setting), said) {
            (Some((_, Said::List(values))), Said::List(more)) => values.extend(more),
            (Some((_, earlier)), said) => *earlier = said,
            (None, said) => self.found.push((setting, said)),
        }
    }

    /// Gives what was found to clap or to the settings.
    fn finish(mut self) -> Result<Line, clap::Error> {
        let is_of_npm = self.command.is_none_or(|command| command.get_name() != NOT_OF_NPM);
        for (setting, said) in std::mem::take(&mut self.found) {
            let no = format!("no-{setting}");
            let is_claps = |name: &str| !is_of_npm || name == GANTRYS_OWN || self.takes_value(name).is_some();
            let words = match &said {
                Said::Switch(on) if matches!(setting, "usage" | "version") => {
                    let name = if setting == "usage" { "--help" } else { "--version" };
                    on.then(|| name.into()).into_iter().collect()
                }
                Said::Switch(true) if is_claps(setting) => vec![OsString::from(format!("--{setting}"))],
                Said::Switch(false) if is_claps(&no) => vec![OsString::from(format!("--{no}"))],
                Said::Text(value) if is_claps(setting) => vec![with_value(setting, value)],
                Said::List(values) if is_claps(setting) => {
                    // As for npm an empty one is none of those that there are.
                    values.iter().filter(|value| !value.is_empty()).map(|value| with_value(setting, value)).collect()
                }
                _ => {
                    let value = as_setting(said).map_err(|value| {
                        self.wrong(format!("--{setting} {}: it is no UTF-8", value.to_string_lossy()))
                    })?;
                    if setting == "location" && matches!(&value, NpmrcValue::Text(place) if place == "global") {
                        // npm's other word for it.
                        self.line.settings.push(("global".to_owned(), NpmrcValue::Text("true".to_owned())));
                    }
                    self.line.settings.push((setting.to_owned(), value));
                    Vec::new()
                }
            };
            self.line.words.extend(words);
        }
        self.line.words.extend(self.ahead);
        Ok(self.line)
    }

    fn wrong(&self, message: String) -> clap::Error {
        self.gantry.clone().error(ErrorKind::InvalidValue, message)
    }
}

/// Whether a command has an option of this name, and if that takes a value.
fn takes_value(command: &Command, name: &str) -> Option<bool> {
    let is_it = |argument: &&Arg| {
        argument.get_long() == Some(name) || argument.get_all_aliases().unwrap_or_default().contains(&name)
    };
    command.get_arguments().find(is_it).map(|argument| argument.get_action().takes_values())
}

/// What a short form, or several single letters behind one dash, stand for.
fn long_forms(name: &str, is_long: bool) -> Option<Vec<&'static str>> {
    let is_letter = name.chars().count() == 1;
    if let Some(words) = short_form(name).filter(|_| !is_letter || !is_long) {
        return Some(words.to_vec());
    }
    let letters = || name.char_indices().map(|(at, letter)| short_form(&name[at..at + letter.len_utf8()]));
    if is_long || name.is_empty() { None } else { letters().collect::<Option<Vec<_>>>().map(|forms| forms.concat()) }
}

/// A name without the `no-` before it, and whether there was one that counts: two are none.
fn without_no(name: &str) -> (&str, bool) {
    let mut negated = (name, false);
    while let Some(prefix) = negated.0.get(..3).filter(|prefix| prefix.eq_ignore_ascii_case("no-")) {
        negated = (&negated.0[prefix.len()..], !negated.1);
    }
    negated
}

/// Whether a setting belongs to an address, as credentials do, or to a scope.
fn is_of_an_address(name: &str) -> bool {
    name.starts_with("//") || (name.starts_with('@') && name.ends_with(":registry"))
}

fn with_value(setting: &str, value: &OsStr) -> OsString {
    let mut word = OsString::from(format!("--{setting}="));
    word.push(value);
    word
}

fn as_setting(said: Said) -> Result<NpmrcValue, OsString> {
    Ok(match said {
        Said::Switch(on) => NpmrcValue::Text(on.to_string()),
        Said::Text(text) => NpmrcValue::Text(text.into_string()?),
        Said::List(values) => {
            NpmrcValue::List(values.into_iter().map(OsString::into_string).collect::<Result<_, _>>()?)
        }
        Said::None => NpmrcValue::Null,
    })
}
