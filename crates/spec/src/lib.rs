//! What a dependency asks for: package names, npm specifiers, versions, ranges, and the order npm sorts names in.
#![deny(missing_docs)]

mod error;
mod locale;
mod name;
mod range;
mod secrets;
mod spec;
mod text;
mod version;

pub use error::{AliasProblem, CODES, NameProblem, SpecError};
pub use locale::compare_locale;
pub use name::PackageName;
pub use range::Range;
pub use secrets::without_secrets;
pub use spec::{GitSpec, HostedGit, HostedKind, Spec, SpecKind, is_tarball};
pub use version::Version;
