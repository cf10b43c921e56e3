//! The outcome of a suite.

use core::fmt::{self, Display};

/// One property, and what was wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The property, as a sentence.
    pub property: String,
    /// `None` if it holds.
    pub problem: Option<String>,
}

/// All properties of a suite, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    findings: Vec<Finding>,
}

impl Report {
    /// Notes whether `property` holds.
    pub(crate) fn note<E: Display>(&mut self, property: &str, outcome: Result<(), E>) {
        let problem = outcome.err().map(|error| error.to_string());
        self.findings.push(Finding { property: property.to_owned(), problem });
    }

    /// What was looked at.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Whether something was looked at and all of it holds.
    pub fn holds(&self) -> bool {
        !self.findings.is_empty() && self.findings.iter().all(|finding| finding.problem.is_none())
    }
}

impl Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Finding { property, problem } in &self.findings {
            match problem {
                None => writeln!(formatter, "ok      {property}")?,
                Some(problem) => writeln!(formatter, "FAILED  {property}: {problem}")?,
            }
        }
        Ok(())
    }
}

/// Fails with what was expected and what came.
pub(crate) fn expect_equal<T: PartialEq + fmt::Debug>(got: &T, expected: &T) -> Result<(), String> {
    if got == expected { Ok(()) } else { Err(format!("expected {expected:?}, got {got:?}")) }
}
