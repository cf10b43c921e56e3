//! A large tarball on its way into a pack, piece by piece; how long that takes is noted.

use crate::clock::BrowserClock;
use crate::opfs::OpfsFile;
use gantry_engine::{Fault, refusal};
use gantry_platform::{Clock, Span, Work};
use gantry_registry::{Refusal, TarballRequest};
use gantry_store::{Incoming, PackWriter, Segment, SegmentPlace, StoreError};
use js_sys::Uint8Array;
use std::rc::Rc;

/// A package's place and index, and how long it took to verify, to unpack and to store it.
pub(crate) type Taken = (SegmentPlace, Vec<u8>, [Span; 3]);

/// Bytes that are in this module's memory at a time.
const PIECE: u32 = 256 << 10;

/// What of a package has been appended to a pack. Unless it is [finished](Self::finish) nothing of it stays.
pub(crate) struct Unpacking<'a> {
    package: &'a str,
    incoming: Incoming<'a, Segment<'a, Rc<OpfsFile>>>,
    buffer: Vec<u8>,
    began: f64,
    verifying: f64,
    unpacking: f64,
    bytes: u64,
}

impl<'a> Unpacking<'a> {
    pub fn new(request: &'a TarballRequest, writer: &'a mut PackWriter<Rc<OpfsFile>>) -> Self {
        let TarballRequest { package, integrity, .. } = request;
        Self {
            package,
            incoming: Incoming::new(package, integrity.as_ref(), writer.begin()),
            buffer: Vec::new(),
            began: BrowserClock.monotonic_milliseconds(),
            verifying: 0.0,
            unpacking: 0.0,
            bytes: 0,
        }
    }

    /// Takes the next bytes. It only fails where files cannot be kept.
    pub fn take(&mut self, piece: &Uint8Array) -> Result<(), StoreError> {
        for start in (0..piece.length()).step_by(PIECE as usize) {
            let part = piece.subarray(start, piece.length().min(start + PIECE));
            self.buffer.resize(part.length() as usize, 0);
            part.copy_to(&mut self.buffer);
            self.bytes += self.buffer.len() as u64;
            let copied = BrowserClock.monotonic_milliseconds();
            self.incoming.verify(&self.buffer);
            let verified = BrowserClock.monotonic_milliseconds();
            self.incoming.unpack(&self.buffer)?;
            self.verifying += verified - copied;
            // What is stored meanwhile counts as unpacking.
            self.unpacking += BrowserClock.monotonic_milliseconds() - verified;
        }
        Ok(())
    }

    /// Bytes of the tarball so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// After the last bytes: where the package is, once the writer has settled it.
    pub fn finish(self) -> Result<Taken, Refusal<Fault>> {
        let Self { package, incoming, began, verifying, unpacking, bytes, .. } = self;
        let ended = BrowserClock.monotonic_milliseconds();
        let (place, index) = incoming.append().map_err(|error| refusal(error, package))?;
        let steps = [
            Span::of(Work::Verify, began, began + verifying, bytes),
            Span::of(Work::Unpack, ended - unpacking, ended, place.length),
            Span::of(Work::Store, ended, BrowserClock.monotonic_milliseconds(), place.length),
        ];
        Ok((place, index.encode(), steps))
    }
}
