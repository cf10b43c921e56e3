//! Why a package could not be loaded.

use core::fmt;

/// The ways in which loading fails.
#[derive(Debug, Clone)]
pub(crate) enum Cause {
    NotFound,
    NoMatch { latest: Option<String> },
    Incomplete,
    Fetch { code: &'static str, message: String },
}

impl fmt::Display for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NotFound => "the registry does not know it",
            Self::NoMatch { .. } => "the registry does not have this version",
            Self::Incomplete => "the registry's manifest has no version",
            Self::Fetch { message, .. } => message,
        })
    }
}
