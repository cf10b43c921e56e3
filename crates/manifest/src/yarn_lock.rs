//! `yarn.lock` of version 1, read line by line as npm reads it.
//!
//! To npm it is a hint: which version, from where and with which integrity, is meant by a dependency that is looked up for
//! the first time. It says nothing of where a package goes, so nothing else of it is kept. The rules are those of `yarn-lock.js`
//! of arborist, slips included: a line that it cannot read ends the reading, and what came before counts; a comma inside
//! of quotes is lost; later versions of the format have other lines, of which hardly anything is understood.

mod parts;
mod write;

#[cfg(test)]
mod tests;

pub use write::{YarnEntry, YarnWriter};

use crate::lockfile::version_in;
use crate::{ManifestError, Text};
use parts::{Delimiter, split_quoted};
use rustc_hash::FxHashMap;

/// Bytes of a file. Real ones of the largest projects have a fiftieth of that.
const MOST_BYTES: usize = 100 << 20;
/// Requests, of which a package may have several.
const MOST_REQUESTS: usize = 250_000;

/// What a `yarn.lock` says of each request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct YarnLock {
    pins: Vec<YarnPin>,
    /// Indexes of `pins`, by `name@spec`.
    requests: FxHashMap<String, usize>,
    /// Line of the first thing that could not be read, counted from one: from there on nothing counts.
    pub unread_from: Option<usize>,
}

/// What was picked for one or more requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct YarnPin {
    /// The version.
    pub version: Option<Text>,
    /// Where it came from, without what stands behind `#`.
    pub resolved: Option<Text>,
    /// Subresource integrity of the tarball.
    pub integrity: Option<Text>,
}

impl YarnPin {
    /// What is to be asked for instead of what `name` was asked with, `is_registry` for a version, range, tag or alias: the
    /// version where it came from the public registry (one of `public_hosts`), else the address. `None` where it says
    /// neither.
    pub fn spec(&self, name: &str, is_registry: bool, public_hosts: &[String]) -> Option<String> {
        let (version, resolved) = (self.version.as_deref()?, self.resolved.as_deref()?);
        let is_public = is_registry && public_hosts.iter().any(|host| is_at(resolved, host));
        Some(match is_public.then(|| version_in(name, resolved)).flatten() {
            Some((found, said)) if found == name && said == version => said,
            Some((found, said)) => format!("npm:{found}@{said}"),
            None => resolved.to_owned(),
        })
    }
}

/// Whether an address is at a host, without a port.
fn is_at(address: &str, host: &str) -> bool {
    let rest = address.strip_prefix("http://").or_else(|| address.strip_prefix("https://"));
    let path = rest.and_then(|rest| rest.strip_prefix(host));
    !host.is_empty() && path.is_some_and(|path| path.starts_with('/'))
}

impl YarnLock {
    /// Reads a file; `file` is what errors call it.
    ///
    /// # Errors
    /// Only of one that is too large to be worked on: to npm no `yarn.lock` is wrong.
    pub fn parse(bytes: &[u8], file: &str) -> Result<Self, ManifestError> {
        let within = |what: &str, number: usize, limit: usize| match number > limit {
            false => Ok(()),
            true => Err(ManifestError::LockTooLarge { file: file.to_owned(), what: format!("{number} {what}"), limit }),
        };
        within("bytes", bytes.len(), MOST_BYTES)?;
        // A byte order mark stays, and makes the first line one that cannot be read.
        let text = String::from_utf8_lossy(bytes);
        let mut reading = Reading::default();
        for (index, line) in text.split('\n').enumerate() {
            // Lines end with a line feed, and a carriage return inside of one cuts off what is before it.
            let line = line.strip_suffix('\r').unwrap_or(line);
            let line = line.rsplit('\r').next().unwrap_or(line);
            if reading.take(line).is_none() {
                reading.lock.unread_from = Some(index + 1);
                break;
            }
            within("requests", reading.lock.requests.len(), MOST_REQUESTS)?;
        }
        Ok(reading.lock)
    }

    /// What was picked for `name@spec`, which must be written as it was asked for.
    pub fn get(&self, request: &str) -> Option<&YarnPin> {
        self.requests.get(request).map(|&pin| &self.pins[pin])
    }

    /// All requests with what was picked, in no particular order.
    pub fn requests(&self) -> impl Iterator<Item = (&str, &YarnPin)> {
        self.requests.iter().map(|(request, &pin)| (request.as_str(), &self.pins[pin]))
    }
}

/// Reading, line by line.
#[derive(Default)]
struct Reading {
    lock: YarnLock,
    /// The entry that lines belong to.
    current: Option<usize>,
    /// Whether members of an object (`dependencies:`) may come.
    in_object: bool,
}

impl Reading {
    /// Takes a line; `None` if it cannot be read.
    fn take(&mut self, line: &str) -> Option<()> {
        if line.starts_with('#') {
            return Some(());
        }
        if line.is_empty() {
            (self.current, self.in_object) = (None, false);
            return Some(());
        }
        if !line.starts_with(parts::is_space) && line.len() > 1 && line.ends_with(':') {
            self.begin(&line[..line.len() - 1]);
            return Some(());
        }
        let current = &mut self.lock.pins[self.current?];
        if parts::is_object_head(line) {
            self.in_object = true;
            return Some(());
        }
        if parts::is_member(line, 4) && self.in_object && split_quoted(line.trim_start(), Delimiter::Space).len() == 2 {
            return Some(());
        }
        if !parts::is_member(line, 2) {
            return None;
        }
        let [name, value] = <[String; 2]>::try_from(split_quoted(line.trim_start(), Delimiter::Space)).ok()?;
        let field = match name.as_str() {
            "version" => &mut current.version,
            "resolved" => &mut current.resolved,
            "integrity" => &mut current.integrity,
            _ => return Some(()),
        };
        let value = if name == "resolved" { value.split('#').next().unwrap_or_default() } else { &value };
        *field = Some(value.into()).filter(|value: &Text| !value.is_empty());
        Some(())
    }

    fn begin(&mut self, requests: &str) {
        let pin = self.lock.pins.len();
        self.lock.pins.push(YarnPin::default());
        for request in split_quoted(requests, Delimiter::Comma) {
            self.lock.requests.insert(request, pin);
        }
        (self.current, self.in_object) = (Some(pin), false);
    }
}
