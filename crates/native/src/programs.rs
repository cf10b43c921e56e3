//! Programs that this process has started, and those that they have: what does not end by itself where this process does.

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Groups of processes whose first one runs.
static GROUPS: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

fn groups() -> MutexGuard<'static, Vec<Pid>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A process with a group of its own, until it is waited for.
pub(crate) struct Group(Pid);

impl Group {
    /// Starts one.
    pub fn start(command: &mut Command) -> io::Result<(Child, Option<Self>)> {
        // Held meanwhile: none may be started that whoever kills all does not know of.
        let mut groups = groups();
        let child = command.process_group(0).spawn()?;
        let group = pid_of(child.id()).map(|pid| {
            groups.push(pid);
            Self(pid)
        });
        Ok((child, group))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        groups().retain(|pid| *pid != self.0);
    }
}

/// Kills what runs for this process, which is to end now: no script is started any more.
pub fn kill_programs() {
    let groups = groups();
    let programs = descendants(std::process::id());
    for group in &*groups {
        // One that has ended meanwhile is what is wanted, here and below.
        let _ = kill_process_group(*group, Signal::KILL);
    }
    kill_all(&programs);
    std::mem::forget(groups);
}

/// Kills processes by their numbers.
pub(crate) fn kill_all(processes: &[u32]) {
    for process in processes.iter().filter_map(|process| pid_of(*process)) {
        let _ = kill_process(process, Signal::KILL);
    }
}

/// The processes that a process has started, and those that they have. None where the system does not tell.
pub(crate) fn descendants(process: u32) -> Vec<u32> {
    // Linux lists them by the thread that has started them.
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists = threads.map(|thread| fs::read_to_string(thread.path().join("children")).unwrap_or_default());
    let lists: Vec<String> = lists.collect();
    let numbers = lists.iter().flat_map(|list| list.split_whitespace());
    let children: Vec<u32> = numbers.filter_map(|number| number.parse().ok()).collect();
    let below: Vec<u32> = children.iter().flat_map(|child| descendants(*child)).collect();
    [children, below].concat()
}

fn pid_of(process: u32) -> Option<Pid> {
    i32::try_from(process).ok().and_then(Pid::from_raw)
}
