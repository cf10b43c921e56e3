//! One script as a process: what it prints, how it ends, and how it is ended.

use crate::programs::Group;
use crate::threads::start_with;
use rustix::io::ioctl_fionbio;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, PipeReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// How much of what a script prints is kept, in bytes: the end of it.
const KEPT: usize = 16 << 10;
/// How many lines of that are told.
const LINES: usize = 100;

/// How long a script that is told to end may take, before it is killed.
const GRACE: Duration = Duration::from_secs(3);

/// How long a script without a group of its own may take before it is told to: a terminal tells it itself, and it may be saying
/// good-bye.
const COURTESY: Duration = Duration::from_millis(500);

/// How long the rest of what was printed is waited for. What a script leaves running may hold on to its output for ever.
const REST: Duration = Duration::from_millis(200);

/// Between two looks at a script: at first, and at most.
const LOOKS: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));

/// What becomes of what a script prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    /// It goes where the command has it go.
    Seen,
    /// Its end is kept.
    Kept,
}

/// How a script ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub status: ExitStatus,
    /// The end of what it printed, where that was kept.
    pub output: String,
    /// Whether it was told to.
    pub was_ended: bool,
}

/// Runs a script until it ends, or until that `is_over`.
pub(super) fn run(command: Command, output: Output, is_over: &dyn Fn() -> bool) -> io::Result<Ended> {
    // With a group of its own all that it has started can be ended with it. Where there is a terminal, that tells all of this
    // process's group to end, and would have a script of another one that asks it for something wait for ever.
    let has_group = output == Output::Kept && File::open("/dev/tty").is_err();
    run_grouped(command, output, has_group, is_over)
}

fn run_grouped(mut command: Command, output: Output, has_group: bool, is_over: &dyn Fn() -> bool) -> io::Result<Ended> {
    let reader = match output {
        Output::Seen => None,
        Output::Kept => {
            let (reader, writer) = io::pipe()?;
            command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
            Some(reader)
        }
    };
    // Before the thread that reads: where only one more of both is allowed, that is the one to do without.
    let (mut child, _group) = if has_group { Group::start(&mut command)? } else { (command.spawn()?, None) };
    // The parent's ends of the pipe are in there.
    drop(command);
    let mut kept = reader.map(Tail::of);
    let (status, was_ended) = wait(&mut child, has_group, kept.as_mut(), is_over)?;
    let output = kept.map(|mut tail| tail.text()).unwrap_or_default();
    Ok(Ended { status, output, was_ended })
}

fn wait(
    child: &mut Child,
    has_group: bool,
    mut kept: Option<&mut Tail>,
    is_over: &dyn Fn() -> bool,
) -> io::Result<(ExitStatus, bool)> {
    let (mut pause, longest) = LOOKS;
    let patience = if has_group { Duration::ZERO } else { COURTESY };
    let mut over: Option<Instant> = None;
    let mut was_told = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, over.is_some()));
        }
        match over {
            None if is_over() => over = Some(Instant::now()),
            Some(since) if since.elapsed() > GRACE => send(child, has_group, Signal::KILL),
            Some(since) if !was_told && since.elapsed() >= patience => {
                was_told = true;
                send(child, has_group, Signal::TERM);
            }
            _ => {}
        }
        if let Some(tail) = &mut kept {
            tail.read_on();
        }
        thread::sleep(pause);
        pause = longest.min(pause * 2);
    }
}

/// Sends a signal to a script, and where it has a group of its own to all that it has started. That it is gone is fine.
fn send(child: &Child, has_group: bool, signal: Signal) {
    let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return };
    let _ = if has_group { kill_process_group(pid, signal) } else { kill_process(pid, signal) };
}

/// The end of what is printed.
struct Tail {
    bytes: Arc<Mutex<VecDeque<u8>>>,
    reading: Reading,
}

/// What reads it.
enum Reading {
    /// A thread, which tells when there is no more.
    Thread(mpsc::Receiver<()>),
    /// Where the system allows none, who waits for the script, time and again. The pipe has no end that waits.
    Here(PipeReader),
    Ended,
}

impl Tail {
    /// Reads all of it on a thread of its own: a script whose output nobody takes would wait.
    fn of(reader: PipeReader) -> Self {
        let bytes = Arc::new(Mutex::new(VecDeque::new()));
        let (sender, ended) = mpsc::channel();
        let kept = Arc::clone(&bytes);
        let started = start_with(reader, move |mut reader| {
            // It fails with the pipe.
            let _ = read_from(&mut reader, &kept);
            // Nobody may wait any more.
            let _ = sender.send(());
        });
        let reading = match started {
            Ok(_) => Reading::Thread(ended),
            Err(reader) => {
                // It always can be.
                let _ = ioctl_fionbio(&reader, true);
                Reading::Here(reader)
            }
        };
        Self { bytes, reading }
    }

    /// Reads what is there, unless a thread does.
    fn read_on(&mut self) {
        let Reading::Here(reader) = &mut self.reading else { return };
        match read_from(reader, &self.bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            _ => self.reading = Reading::Ended,
        }
    }

    fn text(&mut self) -> String {
        let began = Instant::now();
        self.read_on();
        while matches!(self.reading, Reading::Here(_)) && began.elapsed() < REST {
            thread::sleep(LOOKS.0);
            self.read_on();
        }
        if let Reading::Thread(ended) = &self.reading {
            let _ = ended.recv_timeout(REST);
        }
        let bytes = self.bytes.lock().expect("no thread panics while it holds this lock");
        let bytes: Vec<u8> = bytes.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.trim().lines().collect();
        lines[lines.len().saturating_sub(LINES)..].join("\n")
    }
}

/// Reads as long as something comes, and keeps the end of it.
fn read_from(reader: &mut PipeReader, kept: &Mutex<VecDeque<u8>>) -> io::Result<()> {
    let mut buffer = [0; 4096];
    loop {
        let length = match reader.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            length => length?,
        };
        let mut kept = kept.lock().expect("no thread panics while it holds this lock");
        kept.extend(&buffer[..length]);
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.arg("-c").arg(script);
        command
    }

    #[test]
    fn the_end_of_what_is_printed_is_kept() {
        let script = "yes 0123456789 | head -c 100000; echo; echo last >&2; exit 4";
        let Ended { status, output, was_ended } = run(shell(script), Output::Kept, &|| false).unwrap();
        assert_eq!((status.code(), was_ended), (Some(4), false));
        assert!(output.ends_with("\nlast"), "{output}");
        assert_eq!(output.lines().count(), LINES);
        let long = "head -c 100000 /dev/zero | tr '\\0' x; exit 4";
        let Ended { output, .. } = run(shell(long), Output::Kept, &|| false).unwrap();
        assert_eq!(output.len(), KEPT);
    }

    #[test]
    fn what_a_script_leaves_running_is_not_waited_for() {
        let Ended { status, output, .. } = run(shell("echo said; sleep 60 & exit 0"), Output::Kept, &|| false).unwrap();
        assert_eq!((status.success(), output.as_str()), (true, "said"));
    }

    #[test]
    fn who_ends_a_script_ends_what_it_has_started() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("number");
        let script = format!("sh -c 'sleep 60 & echo $! > {}; wait'", file.display());
        let is_started = || std::fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n'));
        let Ended { was_ended, status, .. } = run_grouped(shell(&script), Output::Kept, true, &is_started).unwrap();
        assert!(was_ended && !status.success());
        let number: i32 = std::fs::read_to_string(&file).unwrap().trim().parse().unwrap();
        let stat = std::fs::read_to_string(format!("/proc/{number}/stat"));
        // Who was nobody's child any more may not have been waited for yet.
        assert!(!cfg!(target_os = "linux") || stat.is_err() || stat.unwrap().contains(") Z"));
    }
}
