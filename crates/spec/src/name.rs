//! Package names under npm's rules for packages that exist already: upper case and the names of Node's own modules
//! are fine, whatever needs an escape in a URL is not. A name is checked once and then shared; a clone is a count.

use std::{borrow::Borrow, fmt, ops::Deref, str::FromStr, sync::Arc};

use crate::{
    error::{NameProblem, SpecError},
    text::{is_space, is_uri_component},
};

/// A package name that npm accepts, such as `left-pad` or `@types/node`.
///
/// Ordered by bytes; for npm's own order use [`crate::compare_locale`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackageName(Arc<str>);

impl PackageName {
    /// The whole name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The scope with its `@` and without the slash; `None` for a name without scope.
    pub fn scope(&self) -> Option<&str> {
        self.0.starts_with('@').then(|| self.0.split_once('/')).flatten().map(|(scope, _)| scope)
    }

    /// The name without its scope.
    pub fn unscoped(&self) -> &str {
        match self.scope() {
            Some(scope) => &self.0[scope.len() + 1..],
            None => &self.0,
        }
    }
}

/// Applies `validForOldPackages`; the first broken rule is the answer.
pub(crate) fn check(name: &str) -> Result<(), NameProblem> {
    if name.is_empty() {
        return Err(NameProblem::Empty);
    }
    match name.as_bytes()[0] {
        b'.' => return Err(NameProblem::LeadingPeriod),
        b'-' => return Err(NameProblem::LeadingHyphen),
        b'_' => return Err(NameProblem::LeadingUnderscore),
        _ => {}
    }
    if name.starts_with(is_space) || name.ends_with(is_space) {
        return Err(NameProblem::Spaces);
    }
    if name.eq_ignore_ascii_case("node_modules") || name.eq_ignore_ascii_case("favicon.ico") {
        return Err(NameProblem::Reserved);
    }
    if is_uri_component(name) {
        return Ok(());
    }
    let (scope, rest) =
        name.strip_prefix('@').and_then(|name| name.split_once('/')).ok_or(NameProblem::UnsafeCharacters)?;
    if rest.starts_with('.') {
        return Err(NameProblem::LeadingPeriod);
    }
    if scope.is_empty() || rest.is_empty() || !is_uri_component(scope) || !is_uri_component(rest) {
        return Err(NameProblem::UnsafeCharacters);
    }
    Ok(())
}

impl FromStr for PackageName {
    type Err = SpecError;

    fn from_str(name: &str) -> Result<Self, SpecError> {
        match check(name) {
            Ok(()) => Ok(PackageName(Arc::from(name))),
            Err(problem) => Err(SpecError::InvalidName { name: name.to_owned(), problem }),
        }
    }
}

impl TryFrom<&str> for PackageName {
    type Error = SpecError;

    fn try_from(name: &str) -> Result<Self, SpecError> {
        name.parse()
    }
}

impl Deref for PackageName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for PackageName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for PackageName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for PackageName {
    fn eq(&self, other: &str) -> bool {
        &*self.0 == other
    }
}

impl PartialEq<&str> for PackageName {
    fn eq(&self, other: &&str) -> bool {
        &*self.0 == *other
    }
}

impl fmt::Display for PackageName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

impl fmt::Debug for PackageName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, formatter)
    }
}

#[cfg(test)]
mod tests;
