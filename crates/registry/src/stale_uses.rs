//! Telling once of all documents that were used though they may be out of date.

use crate::{RegistryError, RegistryWarning};

/// Stale documents that had to do.
#[derive(Debug, Default)]
pub(crate) struct StaleUses {
    count: u32,
    /// The first package concerned, and why.
    first: Option<(String, String)>,
}

impl StaleUses {
    /// Notes one, and why, where a registry failed.
    pub(crate) fn note(&mut self, name: &str, error: Option<&RegistryError>) {
        self.count += 1;
        if let Some(error) = error {
            self.first.get_or_insert_with(|| (name.to_owned(), error.to_string()));
        }
    }

    /// One warning for all of them.
    pub(crate) fn take_warning(&mut self) -> Option<RegistryWarning> {
        let Self { count, first, .. } = std::mem::take(self);
        let (name, problem) = first?;
        let others = match count {
            0 | 1 => String::new(),
            _ => format!(" and {} more", count - 1),
        };
        Some(RegistryWarning {
            code: "REGISTRY_STALE",
            message: format!("{problem}; the copies kept of {name}{others} are used, which may be out of date"),
        })
    }
}
