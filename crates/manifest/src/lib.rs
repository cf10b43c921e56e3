//! The documents of npm, read and written: `package.json`, packuments, `package-lock.json` and `.npmrc`.
//!
//! Everything works on bytes that somebody else read; nothing here touches files, the network, a clock or the
//! environment. No input can make this crate panic or recurse without bound: what cannot be understood is a
//! [`ManifestError`] with a stable code, or absent where npm itself treats it as absent.

#![deny(missing_docs)]

mod config;
mod error;
mod lockfile;
mod manifest;
mod npmrc;
mod package_json;
mod packument;
mod style;
mod workspaces;
mod yarn_lock;

pub use config::{Authorization, Config, without_userinfo};
pub use error::{CODES, ManifestError};
pub use lockfile::{LockEntry, LockText, Lockfile};
pub use manifest::{DependencyKind, DependencyMap, Dist, Manifest, Moved, Text};
pub use npmrc::{NpmrcValue, environment_layer, option_value, parse_npmrc};
pub use package_json::{with_dependencies, with_member};
pub use packument::{Packument, StoredBody};
pub use style::TextStyle;
pub use workspaces::{SearchArea, WorkspacePatterns};
pub use yarn_lock::{YarnEntry, YarnLock, YarnPin, YarnWriter};
