//! Inputs and workloads by number, run on command: the same behind a pipe and in a page.
//!
//! Commands and answers are JSON. `{"prepare": "archive/hash/gantry", "input": 0}` gives `{"workload": 0}`;
//! `{"run": 0, "milliseconds": 50}` repeats that workload for so long and gives the mean time of a run;
//! `{"memory": 0}` runs it once and gives what it allocated; `{"drop": 0}` frees a workload, `{"close": 0}` an input.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Bundle, Workload, memory, workload};

/// See the module's documentation.
pub struct Session {
    clock: fn() -> f64,
    inputs: Vec<Option<Bundle>>,
    workloads: Vec<Option<Box<dyn Workload>>>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { inputs, workloads, .. } = self;
        write!(formatter, "Session with {} inputs and {} workloads", inputs.len(), workloads.len())
    }
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Command {
    Prepare { prepare: String, input: usize },
    Run { run: usize, milliseconds: f64 },
    Memory { memory: usize },
    Drop { drop: usize },
    Close { close: usize },
}

impl Session {
    /// An empty session. The clock gives milliseconds from any start.
    pub fn new(clock: fn() -> f64) -> Self {
        Self { clock, inputs: Vec::new(), workloads: Vec::new() }
    }

    /// Takes an input; gives its number, how many items it has and their bytes.
    pub fn open(&mut self, input: Bundle) -> String {
        let answer = json!({ "input": self.inputs.len(), "items": input.items.len(), "bytes": input.size() });
        self.inputs.push(Some(input));
        answer.to_string()
    }

    /// Obeys a command. What went wrong is the answer's `error`.
    pub fn command(&mut self, text: &str) -> String {
        let answer =
            serde_json::from_str(text).map_err(|error| error.to_string()).and_then(|command| self.obey(command));
        answer.unwrap_or_else(|error| json!({ "error": error })).to_string()
    }

    fn obey(&mut self, command: Command) -> Result<Value, String> {
        match command {
            Command::Prepare { prepare, input } => {
                let input = self.inputs.get(input).and_then(Option::as_ref).ok_or("there is no such input")?;
                self.workloads.push(Some(workload(&prepare, input).map_err(|error| error.to_string())?));
                Ok(json!({ "workload": self.workloads.len() - 1 }))
            }
            Command::Run { run, milliseconds } => {
                let clock = self.clock;
                let workload = self.workload(run)?;
                let (mut runs, mut spent, mut check) = (0u32, 0.0, None);
                while runs == 0 || spent < milliseconds {
                    workload.prepare();
                    let start = clock();
                    let number = workload.run();
                    spent += clock() - start;
                    runs += 1;
                    if check.replace(number).is_some_and(|before| before != number) {
                        return Err("two runs arrived at different numbers".to_owned());
                    }
                }
                Ok(json!({ "milliseconds": spent / f64::from(runs), "runs": runs, "check": check }))
            }
            Command::Memory { memory } => {
                let workload = self.workload(memory)?;
                workload.prepare();
                let (_, usage) = memory::measure(|| workload.run());
                let memory::Usage { allocations, allocated, peak, kept } = usage;
                Ok(json!({ "allocations": allocations, "allocated": allocated, "peak": peak, "kept": kept }))
            }
            Command::Drop { drop } => {
                self.workload(drop)?;
                self.workloads[drop] = None;
                Ok(json!({}))
            }
            Command::Close { close } => {
                *self.inputs.get_mut(close).ok_or("there is no such input")? = None;
                Ok(json!({}))
            }
        }
    }

    fn workload(&mut self, number: usize) -> Result<&mut Box<dyn Workload>, String> {
        self.workloads.get_mut(number).and_then(Option::as_mut).ok_or_else(|| "there is no such workload".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{self, Form, Shape};

    fn ask(session: &mut Session, command: Value) -> Value {
        serde_json::from_str(&session.command(&command.to_string())).expect("JSON")
    }

    #[test]
    fn a_session_runs_what_it_is_told_to() {
        // A clock that goes on by one at every look: each run takes a millisecond.
        static LOOKS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let mut session = Session::new(|| f64::from(LOOKS.fetch_add(1, std::sync::atomic::Ordering::Relaxed)));
        session.open(generate::packuments(Shape::Project, Form::Abbreviated, 5));
        assert_eq!(
            ask(&mut session, json!({ "prepare": "packument/spans/gantry", "input": 0 })),
            json!({ "workload": 0 })
        );
        let ran = ask(&mut session, json!({ "run": 0, "milliseconds": 3 }));
        assert_eq!((&ran["milliseconds"], &ran["runs"]), (&json!(1.0), &json!(3)));
        let memory = ask(&mut session, json!({ "memory": 0 }));
        assert!(memory["peak"].as_u64() > Some(0), "{memory}");
        assert_eq!(ask(&mut session, json!({ "drop": 0 })), json!({}));
        for (command, problem) in [
            (json!({ "run": 0, "milliseconds": 1 }), "there is no such workload"),
            (
                json!({ "prepare": "packument/spans/nobody", "input": 0 }),
                "there is no workload \"packument/spans/nobody\"",
            ),
            (json!({ "prepare": "packument/spans/gantry", "input": 7 }), "there is no such input"),
        ] {
            assert_eq!(ask(&mut session, command), json!({ "error": problem }));
        }
    }
}
