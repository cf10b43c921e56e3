//! The threads of a command that talks to the network, and how it ends.

use crate::failure::{exit_status, print_failure};
use gantry_engine::{EngineError, Fault};
use gantry_native::{Interrupt, NativeError, allows_threads, kill_programs, settle_threads};
use std::future::pending;
use std::io;
use std::panic;
use std::process::exit;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::channel;
use std::thread::{self, available_parallelism};
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::yield_now;

/// Threads that are left for what else wants some, where there are several that drive the network: those that unpack, the one that
/// keeps documents, a program that is run.
const SPARE: usize = 4;

/// How long a command that failed waits for work that cannot be dropped: unpacking, which then removes what it has
/// begun, and look-ups of addresses, which may hang.
const PATIENCE: Duration = Duration::from_secs(1);

/// The signal that has interrupted the command.
static INTERRUPTION: AtomicI32 = AtomicI32::new(2);

/// The exit status of a command that was interrupted, as shells have it: 128 and the number of the signal.
pub fn interruption_status() -> u8 {
    u8::try_from(128 + INTERRUPTION.load(Ordering::Relaxed)).unwrap_or(130)
}

/// Whether whoever has started the command wants it to pass over a signal, as `nohup` does. Where the system does not tell,
/// that is taken to be so of those that terminals send when they are closed.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").ok();
    let mask = status.as_deref().and_then(|status| status.lines().find_map(|line| line.strip_prefix("SigIgn:")));
    match mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()) {
        Some(mask) => mask >> (signal - 1) & 1 == 1,
        None => signal == SignalKind::hangup().as_raw_value(),
    }
}

/// A runtime that can be interrupted.
pub struct Session {
    runtime: Runtime,
    interrupt: Interrupt,
}

/// What a command asks registries for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Traffic {
    /// Documents, which are decoded and scanned by who receives them, and tarballs.
    Documents,
    /// Hardly anything but tarballs, which other threads unpack.
    Tarballs,
}

impl Traffic {
    /// How many threads receive it. The allocator keeps for each what it has received and others let go of, so that fewer hold
    /// less: one instead of two takes two thirds of the memory for next15 from its lock. With documents to scan it takes a
    /// tenth to a fifth longer.
    fn threads(self) -> usize {
        let processors = available_parallelism().map_or(1, usize::from);
        match self {
            Self::Documents => processors,
            Self::Tarballs => processors.div_ceil(2),
        }
    }

    /// What receives it. A single thread is the one that drives the install: with one of its own each answer would have to wake
    /// the other, which takes a twentieth of the time that 1,300 packages take from a lock on two processors. So it is where the
    /// system allows few threads.
    fn runtime(self, as_json: bool) -> io::Result<Runtime> {
        let threads = self.threads();
        if threads == 1 || !allows_threads(threads + SPARE) {
            return Builder::new_current_thread().enable_all().build();
        }
        // Where others have taken them meanwhile tokio panics, which ends the process.
        panic::set_hook(Box::new(move |_| {
            let fault = without_threads(io::ErrorKind::WouldBlock.into());
            print_failure(&fault, as_json);
            exit(exit_status(&fault).into());
        }));
        let runtime = Builder::new_multi_thread().worker_threads(threads).enable_all().build();
        drop(panic::take_hook());
        runtime
    }
}

impl Session {
    /// Starts the threads. `as_json`: how an error is printed that leaves no way but to end.
    pub fn start(traffic: Traffic, as_json: bool) -> Result<Self, Fault> {
        let interrupt = Interrupt::default();
        heed_signals(&interrupt)?;
        let runtime = traffic.runtime(as_json).map_err(without_threads)?;
        Ok(Self { runtime, interrupt })
    }

    /// For what runs beside.
    pub fn handle(&self) -> Handle {
        self.runtime.handle().clone()
    }

    /// Raised when the user interrupts.
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Runs something to its end, or until the user interrupts it.
    pub fn run<T>(&self, work: impl Future<Output = Result<T, EngineError>>) -> Result<T, Fault> {
        self.runtime.block_on(async {
            tokio::select! {
                result = work => result.map_err(|error| error.to_fault()),
                () = self.interrupt.raised() => Err(interrupted()),
            }
        })
    }

    /// Ends the threads.
    pub fn end(self, all_done: bool) {
        if all_done {
            // The process ends: what threads and connections hold goes back with it at once.
            std::mem::forget(self.runtime);
        } else {
            // What was given up is let go of when its turn comes: a thread that waits for the rest of a body ends by that.
            let turns = self.runtime.metrics().num_alive_tasks();
            self.runtime.block_on(async {
                for _ in 0..turns {
                    yield_now().await;
                }
            });
            self.runtime.shutdown_timeout(PATIENCE);
            settle_threads(PATIENCE);
        }
    }
}

/// Has `interrupt` raised when the process is told to end. A thread of its own waits for that: the one that drives an install may
/// be busy with the tree. Where the system allows none, a signal ends the process as it does any other: what is there then the next
/// install finishes, as after a power cut.
pub fn heed_signals(interrupt: &Interrupt) -> Result<(), Fault> {
    let (hand_over, waiting) = channel::<Runtime>();
    let wait = move || waiting.recv().map(|runtime| runtime.block_on(pending::<()>()));
    if thread::Builder::new().name("signals".to_owned()).spawn(wait).is_err() {
        return Ok(());
    }
    let runtime = listening(interrupt)
        .map_err(|error| Fault::new("TASK_LOST", format!("signals cannot be waited for: {error}")))?;
    // The thread is there for it.
    let _ = hand_over.send(runtime);
    Ok(())
}

/// What hears signals while it is run.
fn listening(interrupt: &Interrupt) -> io::Result<Runtime> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let entered = runtime.enter();
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    for kind in kinds.into_iter().filter(|kind| !is_ignored(kind.as_raw_value())) {
        let mut sent = signal(kind)?;
        let interrupt = interrupt.clone();
        runtime.spawn(async move {
            sent.recv().await;
            INTERRUPTION.store(kind.as_raw_value(), Ordering::Relaxed);
            interrupt.raise();
            // Who sends it again does not want to wait, for no script either.
            sent.recv().await;
            kill_programs();
            exit(interruption_status().into());
        });
    }
    drop(entered);
    Ok(runtime)
}

/// Tries once more when a package in the store was damaged: it has left the store, so this time it is fetched.
pub fn twice_if_corrupt<T>(
    mut attempt: impl FnMut() -> Result<T, Fault>,
    warn: impl FnOnce(String),
) -> Result<T, Fault> {
    match attempt() {
        Err(fault) if fault.code == "STORE_CORRUPT" => {
            warn(format!("{}; it is fetched again", fault.message));
            attempt()
        }
        outcome => outcome,
    }
}

fn without_threads(source: io::Error) -> Fault {
    NativeError::Exhausted { what: "a thread for the network".to_owned(), source }.into()
}

fn interrupted() -> Fault {
    Fault::new("CANCELLED", "interrupted").with_hint("Run again to finish; what has been fetched is kept.")
}
