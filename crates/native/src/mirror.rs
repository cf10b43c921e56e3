//! The metadata mirror in `<store>/v1/metadata/`.
//!
//! Reading is positional reads of what is used, not a mapping of the pack: the kernel maps sixteen pages around each one
//! touched, so that a mapping of a 90 MB pack becomes nearly all of the process's memory, and a mapped file that another
//! process cuts kills its readers.
//!
//! Writing happens on a thread of its own, which begins with the first document to keep and ends with
//! [`settle`](MetadataMirror::settle), or when the mirror is dropped. It holds a lock file; while another process has that,
//! this one keeps nothing. What is written is read from the pack from then on: the bodies of documents were most of the memory
//! of a process that resolves, and memory that is used again costs no page faults.

use crate::NativeClock;
use crate::directory::{NativeDirectory, NativeFile};
use crate::threads::start_with;
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use gantry_platform::{Clock, FileError, FileErrorKind, Span, Work};
use gantry_registry::MetadataMirror;
use gantry_store::mirror::{Kept, MirrorKey, MirrorReader, MirrorWrite, MirrorWriter};
use std::cell::{OnceCell, RefCell};
use std::mem;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;

/// Who may write holds a lock on this file.
const LOCK: &str = "lock";

/// Writes that are taken together at most, so that what they hold is let go of early.
const BATCH: usize = 64;

/// Documents kept on this machine.
#[derive(Debug)]
pub struct NativeMirror {
    directory: NativeDirectory,
    /// Opened when first asked: an install from a lock needs no documents.
    reader: OnceCell<MirrorReader<NativeFile>>,
    background: RefCell<Option<Background>>,
    lending: Arc<Lending>,
    times: Arc<Times>,
}

/// When something was written: a span for up to [`BATCH`] documents, of which nobody hears unless they ask.
#[derive(Debug)]
struct Times {
    clock: NativeClock,
    spans: Mutex<Vec<Span>>,
}

impl Times {
    /// Does something, and notes when, and how many bytes it says to have written.
    fn note<T>(&self, write: impl FnOnce() -> Result<(T, u64), FileError>) -> Result<T, FileError> {
        let began = self.clock.monotonic_milliseconds();
        let (result, bytes) = write()?;
        let span = Span::of(Work::Mirror, began, self.clock.monotonic_milliseconds(), bytes);
        self.spans.lock().unwrap_or_else(PoisonError::into_inner).push(span);
        Ok(result)
    }

    fn take(&self) -> Vec<Span> {
        mem::take(&mut *self.spans.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What the bodies of documents just written are read by.
#[derive(Debug, Default)]
struct Lending {
    /// Opened once there is a pack.
    reader: OnceLock<MirrorReader<NativeFile>>,
    /// Whether something that was kept could not be read again: then nothing more is given up, so that no document is asked
    /// for again and again.
    is_doubtful: AtomicBool,
}

#[derive(Debug)]
struct Background {
    sender: Sender<MirrorWrite>,
    /// The thread that writes what is sent to it; where the system allows none, that waits for whoever waits for it in the end.
    writing: Result<JoinHandle<Result<(), FileError>>, Receiver<MirrorWrite>>,
}

impl NativeMirror {
    /// The mirror of the store at `store`; nothing is made before something is kept. What it does is timed by `clock`.
    pub fn new(store: &Path, clock: NativeClock) -> Self {
        let directory = NativeDirectory::new(store.join("v1/metadata"));
        let times = Arc::new(Times { clock, spans: Mutex::default() });
        Self { directory, reader: OnceCell::new(), background: RefCell::default(), lending: Arc::default(), times }
    }

    fn reader(&self) -> &MirrorReader<NativeFile> {
        self.reader.get_or_init(|| open(&self.directory))
    }

    fn finish(&self) -> Result<(), FileError> {
        let Some(Background { sender, writing }) = self.background.take() else { return Ok(()) };
        drop(sender);
        let thread = match writing {
            Ok(thread) => thread,
            Err(receiver) => {
                return write_all(self.directory.clone(), &receiver, &self.lending, &self.times);
            }
        };
        thread.join().unwrap_or_else(|_| {
            let message = "the thread that writes it ended".to_owned();
            Err(FileError { kind: FileErrorKind::Failed, path: "metadata mirror".to_owned(), message })
        })
    }
}

impl MetadataMirror for NativeMirror {
    fn has(&self, key: &MirrorKey) -> bool {
        self.reader().has(key)
    }

    fn find(&self, key: &MirrorKey) -> Option<Kept> {
        self.reader().find(key)
    }

    fn facts(&self, key: &MirrorKey, integrity: &str) -> Option<Option<String>> {
        self.reader().facts(key, integrity).map(|members| members.map(str::to_owned))
    }

    fn lends(&self) -> bool {
        true
    }

    fn write(&self, write: MirrorWrite) {
        let mut background = self.background.borrow_mut();
        let background = background.get_or_insert_with(|| {
            let (sender, receiver) = channel();
            let (directory, lending, times) =
                (self.directory.clone(), Arc::clone(&self.lending), Arc::clone(&self.times));
            let writing = start_with(receiver, move |receiver| write_all(directory, &receiver, &lending, &times));
            Background { sender, writing }
        });
        // A thread that has failed takes nothing more; its error comes out when it is joined.
        let _ = background.sender.send(write);
    }

    fn take_spans(&self) -> Vec<Span> {
        self.times.take()
    }

    fn take_damage(&self) -> bool {
        let readers = [self.reader.get(), self.lending.reader.get()];
        let is_damaged = readers.into_iter().flatten().fold(false, |damaged, reader| reader.take_damage() | damaged);
        if is_damaged {
            self.lending.is_doubtful.store(true, Ordering::Relaxed);
        }
        is_damaged
    }

    fn settle(&self) -> LocalBoxFuture<'_, Result<(), FileError>> {
        async { self.finish() }.boxed_local()
    }
}

impl Drop for NativeMirror {
    /// What an install that failed has fetched is kept too.
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

/// One that cannot be read keeps nothing: whoever then writes says why.
fn open(directory: &NativeDirectory) -> MirrorReader<NativeFile> {
    ready(MirrorReader::open(directory)).unwrap_or_else(|_| MirrorReader::empty())
}

fn write_all(
    directory: NativeDirectory,
    receiver: &Receiver<MirrorWrite>,
    lending: &Lending,
    times: &Times,
) -> Result<(), FileError> {
    let lock = directory.open_now(LOCK)?;
    if !lock.try_lock()? {
        return Ok(());
    }
    let mut writer = ready(MirrorWriter::open(directory.clone()))?;
    let reader = lending.reader.get_or_init(|| open(&directory));
    while let Ok(first) = receiver.recv() {
        let batch: Vec<MirrorWrite> = std::iter::once(first).chain(receiver.try_iter().take(BATCH - 1)).collect();
        let written = times.note(|| {
            let written = writer.write(&batch)?;
            let bytes = written.bytes();
            Ok((written, bytes))
        })?;
        if !lending.is_doubtful.load(Ordering::Relaxed) {
            reader.lend(&batch, &written);
        }
    }
    ready(writer.compact())
}

/// The result of a future over native files, none of which ever waits.
fn ready<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("native files do not wait")
}

#[cfg(test)]
mod tests;
