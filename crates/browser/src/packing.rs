//! The pack of an unpack worker, to which packages are written several at a time.
//!
//! Every write and every message costs a browser the same whatever it carries, and wakes threads that others have to make room
//! for. So packages that are unpacked shortly after one another share a write, and, since they are reported when it is done,
//! a message to the coordinator.

use crate::clock::BrowserClock;
use crate::opfs::OpfsFile;
use futures_channel::oneshot::{self, Receiver, Sender};
use futures_util::FutureExt;
use futures_util::future::{Either, select};
use gantry_engine::Fault;
use gantry_platform::{Clock, Span, Work};
use gantry_store::PackWriter;
use std::cell::{RefCell, RefMut};
use std::rc::Rc;

/// So many packages are written at once, unless they are larger than the writer's buffer.
const MOST: usize = 16;
/// How long a package waits for others, in milliseconds. The last ones of an install do not wait. In half of the time a cold
/// install of webpack-jest takes 1.05 of its time; with twice as much, and twice as many packages, one from a lock 1.08.
const PATIENCE: f64 = 32.0;

/// Writes to a pack, and tells those whose packages are in it.
#[derive(Debug)]
pub(crate) struct Packing {
    writer: RefCell<PackWriter<Rc<OpfsFile>>>,
    /// Whose packages have been appended since the last write.
    waiting: RefCell<Vec<Sender<Result<(), Fault>>>>,
}

/// What a package that has been appended waits with. Made where it was appended, so that no write comes in between of which
/// its owner would not hear.
#[derive(Debug)]
pub(crate) struct Settling {
    outcome: Receiver<Result<(), Fault>>,
    is_first: bool,
}

impl Packing {
    pub fn new(writer: PackWriter<Rc<OpfsFile>>) -> Self {
        Self { writer: RefCell::new(writer), waiting: RefCell::default() }
    }

    /// To append to, and to read from what is settled.
    pub fn writer(&self) -> RefMut<'_, PackWriter<Rc<OpfsFile>>> {
        self.writer.borrow_mut()
    }

    /// To be called as soon as a package has been appended.
    pub fn appended(&self) -> Settling {
        let (told, outcome) = oneshot::channel();
        let mut waiting = self.waiting.borrow_mut();
        // Those whose jobs were given up have no timer that others could wait for.
        waiting.retain(|told| !told.is_canceled());
        waiting.push(told);
        Settling { outcome, is_first: waiting.len() == 1 }
    }

    /// Resolves when the package is in the file. `under_way`: jobs that are not at their end, this one included; where all of
    /// them wait for the same there is nothing to wait for. Gives the write, if this call made it.
    pub async fn settled(
        &self,
        Settling { mut outcome, is_first }: Settling,
        under_way: usize,
    ) -> Result<Option<Span>, Fault> {
        let waiting = self.waiting.borrow().len();
        let write = if waiting >= under_way.min(MOST) {
            Some(self.settle())
        } else if is_first {
            match select(&mut outcome, BrowserClock.sleep(PATIENCE).boxed_local()).await {
                Either::Left((settled, _)) => return settled.unwrap_or_else(|_| Err(closed())).map(|()| None),
                Either::Right(_) => Some(self.settle()),
            }
        } else {
            None
        };
        outcome.await.unwrap_or_else(|_| Err(closed()))?;
        Ok(write)
    }

    /// Writes what has been appended, and tells those who wait for it.
    fn settle(&self) -> Span {
        let began = BrowserClock.monotonic_milliseconds();
        let settled = self.writer.borrow_mut().settle().map_err(|error| Fault::from(&error));
        let ended = BrowserClock.monotonic_milliseconds();
        for told in self.waiting.take() {
            // Nobody waits any more whose job was given up.
            let _ = told.send(settled.clone());
        }
        Span::of(Work::Store, began, ended, 0)
    }
}

fn closed() -> Fault {
    Fault::new("CANCELLED", "the pack was closed")
}
