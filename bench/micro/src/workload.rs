//! Names of workloads: `area/task/way`.

use crate::{Bundle, archive, packument, resolver};

/// One way of doing one task over one input, again and again.
pub trait Workload {
    /// What must be done before every run and does not count.
    fn prepare(&mut self) {}

    /// The work; gives a number that every way of doing the task must arrive at.
    fn run(&mut self) -> u64;
}

impl<Work: FnMut() -> u64> Workload for Work {
    fn run(&mut self) -> u64 {
        self()
    }
}

/// There is no such workload, or the input is none for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkloadError {
    /// No workload has this name.
    Unknown(String),
    /// An item of the input cannot be worked on: its name and why.
    Input(String, String),
}

impl std::fmt::Display for WorkloadError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown(name) => write!(formatter, "there is no workload {name:?}"),
            Self::Input(item, problem) => write!(formatter, "{item}: {problem}"),
        }
    }
}

impl std::error::Error for WorkloadError {}

/// The workload of this name over an input. Everything that can fail is done here, none of it when it runs.
pub fn workload(name: &str, input: &Bundle) -> Result<Box<dyn Workload>, WorkloadError> {
    let found = match name.split_once('/') {
        Some(("packument", rest)) => packument::workload(rest, input),
        Some(("archive", rest)) => archive::workload(rest, input)?,
        Some(("resolver", rest)) => resolver::workload(rest, input)?,
        _ => None,
    };
    found.ok_or_else(|| WorkloadError::Unknown(name.to_owned()))
}
