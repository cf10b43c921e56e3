//! The errors of reading names and specifiers. Messages carry the package and the text that was asked for, with any
//! password in it masked. [`SpecError::code`] is the stable contract; messages may change.

use thiserror::Error;

/// Why a specifier or a package name was refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpecError {
    /// The package name breaks npm's naming rules.
    #[error("invalid package name \"{name}\": {problem}")]
    InvalidName {
        /// The refused name.
        name: String,
        /// The rule it breaks.
        problem: NameProblem,
    },
    /// The text is no version, range, URL or path, and cannot be a tag either.
    #[error("invalid tag name \"{spec}\" for {package}: a tag may hold only characters that need no escape in a URL")]
    InvalidTag {
        /// The package the text was given for; empty if it had none.
        package: String,
        /// The refused text.
        spec: String,
    },
    /// The text starts with a protocol npm does not know.
    #[error("unsupported URL type \"{protocol}\" for {package}: {spec}")]
    UnsupportedProtocol {
        /// The package the text was given for; empty if it had none.
        package: String,
        /// The refused text.
        spec: String,
        /// The protocol with its colon, such as `workspace:`.
        protocol: String,
    },
    /// The text looks like a URL and is not a valid one.
    #[error("invalid URL for {package}: {spec}")]
    InvalidUrl {
        /// The package the text was given for; empty if it had none.
        package: String,
        /// The refused text.
        spec: String,
        /// What is wrong with it.
        #[source]
        source: url::ParseError,
    },
    /// An `npm:` alias that npm refuses.
    #[error("invalid alias \"{spec}\" for {package}: {problem}")]
    Alias {
        /// The package the text was given for; empty if it had none.
        package: String,
        /// The refused text.
        spec: String,
        /// What is wrong with it.
        problem: AliasProblem,
    },
    /// The part of a git specifier behind `#` contradicts itself or is badly escaped.
    #[error("invalid git reference for {package}: {spec}")]
    GitReference {
        /// The package the text was given for; empty if it had none.
        package: String,
        /// The refused text.
        spec: String,
    },
}

/// Which rule for names was broken.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameProblem {
    /// The name is empty.
    #[error("it is empty")]
    Empty,
    /// The name, or the part behind the scope, starts with a period.
    #[error("it starts with a period")]
    LeadingPeriod,
    /// The name starts with a hyphen.
    #[error("it starts with a hyphen")]
    LeadingHyphen,
    /// The name starts with an underscore.
    #[error("it starts with an underscore")]
    LeadingUnderscore,
    /// The name has white space at an end.
    #[error("it starts or ends with white space")]
    Spaces,
    /// The name is `node_modules` or `favicon.ico`.
    #[error("it is reserved")]
    Reserved,
    /// The name holds a character that needs an escape in a URL.
    #[error("it holds characters that need an escape in a URL")]
    UnsafeCharacters,
}

/// What is wrong with an alias.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum AliasProblem {
    /// The target is an alias itself.
    #[error("an alias cannot point to an alias")]
    Nested,
    /// The target is git, a URL, a file or a folder.
    #[error("an alias can point only to a package of a registry")]
    NotRegistry,
    /// The target has no name.
    #[error("the target has no name")]
    Nameless,
}

impl SpecError {
    /// Every code [`SpecError::code`] can give.
    pub const CODES: &[&str] = &[
        "SPEC_INVALID_NAME",
        "SPEC_INVALID_TAG",
        "SPEC_UNSUPPORTED_PROTOCOL",
        "SPEC_INVALID_URL",
        "SPEC_ALIAS",
        "SPEC_GIT_REFERENCE",
    ];

    /// The stable code of this error.
    pub fn code(&self) -> &'static str {
        match self {
            SpecError::InvalidName { .. } => "SPEC_INVALID_NAME",
            SpecError::InvalidTag { .. } => "SPEC_INVALID_TAG",
            SpecError::UnsupportedProtocol { .. } => "SPEC_UNSUPPORTED_PROTOCOL",
            SpecError::InvalidUrl { .. } => "SPEC_INVALID_URL",
            SpecError::Alias { .. } => "SPEC_ALIAS",
            SpecError::GitReference { .. } => "SPEC_GIT_REFERENCE",
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            SpecError::InvalidName { .. } => None,
            SpecError::InvalidTag { .. } => {
                Some("write a version, a range such as ^1.2.0, a tag such as latest, a URL or a path".to_owned())
            }
            SpecError::UnsupportedProtocol { protocol, .. } => match protocol.as_str() {
                "workspace:" | "catalog:" | "link:" | "portal:" | "patch:" | "jsr:" => Some(format!(
                    "\"{protocol}\" belongs to other package managers; npm knows npm:, file:, git and http(s) specifiers"
                )),
                _ => None,
            },
            SpecError::InvalidUrl { .. } => None,
            SpecError::Alias { .. } => Some("write an alias as npm:name@range".to_owned()),
            SpecError::GitReference { .. } => {
                Some("give one commit, branch or tag, or one semver:range, and at most one path:folder".to_owned())
            }
        }
    }
}

/// Every code of this crate's errors.
pub const CODES: &[&str] = SpecError::CODES;
