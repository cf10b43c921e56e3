//! One worker of the pool: tarball in, segment out.

use crate::clock::BrowserClock;
use crate::error::to_javascript;
use crate::fetch::{Pieces, TarballHttp, set_room};
use crate::javascript::from_object;
use crate::opfs::OpfsDirectory;
use crate::packing::Packing;
use crate::pool::{JobFailure, PackToken, UnpackJob, UnpackReport, UnpackResult};
use crate::store::file_fault;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{AbortHandle, Abortable};
use gantry_archive::{Extractor, Limits};
use gantry_engine::{Fault, refusal};
use gantry_platform::{Clock, Span, Work};
use gantry_registry::{FetchedTarball, Refusal, TarballRequest, fetch_tarball};
use gantry_store::{Incoming, PackWriter, SegmentPlace, StoreError, prepare};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::cell::{Cell, RefCell};
use wasm_bindgen::prelude::*;
use web_sys::FileSystemDirectoryHandle;

/// Bytes of a large tarball that are in this module's memory at a time.
const PIECE: u32 = 256 << 10;

/// A package's place and index, and how long it took to verify, to unpack and to store it.
type Taken = (SegmentPlace, Vec<u8>, [Span; 3]);

/// Fetches, verifies and unpacks packages into a pack that is this worker's alone.
///
/// Several jobs may be under way: they wait for the network side by side, and unpack one after the other.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Unpacker {
    pack: Packing,
    extractor: RefCell<Extractor>,
    /// Jobs under way, by a number of their own.
    jobs: RefCell<FxHashMap<u64, AbortHandle>>,
    begun: Cell<u64>,
}

#[derive(Deserialize)]
struct UnpackerOptions {
    pack: String,
    /// Whether a worker that was lost had opened the pack before.
    successor: bool,
    /// Bytes of large tarballs that this worker may hold at a time.
    room: f64,
}

#[wasm_bindgen]
impl Unpacker {
    /// Opens the pack: cuts off what was never recorded in it, or, in place of a worker that was lost, goes on behind what
    /// that one wrote. `folder` is the store's.
    pub async fn open(options: JsValue, folder: FileSystemDirectoryHandle) -> Result<Unpacker, JsValue> {
        Self::open_pack(options, folder.into()).await.map_err(|fault| to_javascript(&fault))
    }

    /// Runs one job to its end, which may be that all are given up.
    pub async fn unpack(&self, job: &str, body: Option<Vec<u8>>) -> Result<JsValue, JsValue> {
        let job = UnpackJob::decode(job).map_err(|fault| to_javascript(&fault))?;
        let timed = job.timed;
        let (handle, registration) = AbortHandle::new_pair();
        let number = self.begun.replace(self.begun.get() + 1);
        self.jobs.borrow_mut().insert(number, handle);
        let run = async {
            let request = job.into_request(body)?;
            let mut spans = Vec::new();
            let result = self.run(&request, &mut spans).boxed_local().await;
            spans.extend(request.log.take());
            Ok(UnpackReport::new(result, if timed { &spans } else { &[] }).posted())
        };
        let outcome = Abortable::new(run.boxed_local(), registration).await;
        self.jobs.borrow_mut().remove(&number);
        let cancelled = |_| Fault::new("CANCELLED", "the install was cancelled");
        outcome.map_err(cancelled).flatten().map_err(|fault: Fault| to_javascript(&fault))
    }

    /// Gives up all jobs that are under way.
    #[wasm_bindgen(js_name = giveUp)]
    pub fn give_up(&self) {
        for job in self.jobs.borrow().values() {
            job.abort();
        }
    }

    /// Part of this worker's pack, as bytes.
    pub fn read(&self, offset: f64, length: f64) -> Result<Vec<u8>, JsValue> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "made from whole numbers")]
        let (offset, length) = (offset as u64, length as u64);
        self.pack.writer().read(offset, length).map_err(|error| to_javascript(&Fault::from(&error)))
    }

    /// When it returns, all packages of finished jobs are on durable storage.
    pub fn flush(&self) -> Result<(), JsValue> {
        self.pack.writer().flush().map_err(|error| to_javascript(&Fault::from(&error)))
    }

    /// Lets go of the pack.
    pub fn close(self) {
        drop(self);
    }
}

impl Unpacker {
    async fn open_pack(options: JsValue, directory: OpfsDirectory) -> Result<Self, Fault> {
        let UnpackerOptions { pack, successor, room } = from_object(options, "the options of an unpack worker")?;
        set_room(room);
        let token = PackToken::decode(&pack)?;
        let file = directory.open_for_appending(&token.name).await.map_err(|error| file_fault(&error))?;
        let open = if successor { PackWriter::resume } else { PackWriter::open };
        let writer = open(file, token.pack, token.start).map_err(|error| Fault::from(&error))?;
        Ok(Self {
            pack: Packing::new(writer),
            extractor: RefCell::new(Extractor::new(Limits::default())),
            jobs: RefCell::default(),
            begun: Cell::default(),
        })
    }

    async fn run(&self, request: &TarballRequest, spans: &mut Vec<Span>) -> Result<UnpackResult, JobFailure> {
        let http = TarballHttp::default();
        let kept = Cell::new(0);
        let take = async |body: Bytes| {
            let pieces = http.take_pieces();
            kept.set(pieces.length());
            let taken = if kept.get() == 0 { self.take(request, &body) } else { self.take_pieces(request, pieces) };
            taken.map(|taken| (taken, self.pack.appended())).map_err(|refusal| match refusal {
                Refusal::Mismatch(error) => Refusal::Mismatch(error),
                Refusal::Other(fault) => Refusal::Other(JobFailure::from(fault)),
            })
        };
        let fetched = fetch_tarball(&http, &BrowserClock, request, &(), take).await?;
        let FetchedTarball { contents, mut bytes, requests, spans: mut asked } = fetched;
        let ((place, index, steps), settling) = contents;
        if kept.get() > 0 {
            // A body in pieces was empty to whoever asked for it.
            bytes = kept.get();
            if let Some(last) = asked.iter_mut().rfind(|span| span.work == Work::Tarball) {
                last.bytes = bytes;
            }
        }
        spans.extend(asked.into_iter().chain(steps));
        let under_way = self.jobs.borrow().len();
        let settled = self.pack.settled(settling, under_way).await;
        spans.extend(settled.map_err(|fault| fault.with_package(&request.package))?);
        Ok(UnpackResult::new(&place, index, bytes, requests))
    }

    /// Verifies a tarball, unpacks it and appends its files to the pack; gives its place, its index, and how long it took. They
    /// are in the pack's file when that is [settled](Packing::settled).
    #[inline(never)] // A function that is polled for each package is compiled again after some hundred times, with all that is in it.
    fn take(&self, request: &TarballRequest, body: &[u8]) -> Result<Taken, Refusal<Fault>> {
        let began = BrowserClock.monotonic_milliseconds();
        request.verify(body).map_err(Refusal::Mismatch)?;
        let verified = BrowserClock.monotonic_milliseconds();
        let mut extractor = self.extractor.borrow_mut();
        let entries = if request.integrity.is_some() {
            extractor.extract(&request.package, body)
        } else {
            extractor.extract_unverified(&request.package, body)
        };
        let prepared = prepare(entries.map_err(|error| Refusal::Other(Fault::from(&error)))?);
        let unpacked = BrowserClock.monotonic_milliseconds();
        let appended = self.pack.writer().append(&prepared);
        let place = appended.map_err(|error| Refusal::Other(Fault::from(&error).with_package(&request.package)))?;
        let stored = BrowserClock.monotonic_milliseconds();
        let steps = [
            Span::of(Work::Verify, began, verified, body.len() as u64),
            Span::of(Work::Unpack, verified, unpacked, place.length),
            Span::of(Work::Store, unpacked, stored, place.length),
        ];
        Ok((place, prepared.index.encode(), steps))
    }

    /// The same, piece by piece: each is let go of when it has been unpacked. What is stored meanwhile counts as unpacking.
    #[inline(never)]
    fn take_pieces(&self, request: &TarballRequest, mut pieces: Pieces) -> Result<Taken, Refusal<Fault>> {
        let now = || BrowserClock.monotonic_milliseconds();
        let refused = |error: StoreError| refusal(error.into(), &request.package);
        let began = now();
        let (mut verifying, mut bytes) = (0.0, 0);
        let mut writer = self.pack.writer();
        let mut incoming = Incoming::new(&request.package, request.integrity.as_ref(), writer.begin());
        let mut buffer = Vec::new();
        for piece in pieces.each() {
            for start in (0..piece.length()).step_by(PIECE as usize) {
                let part = piece.subarray(start, piece.length().min(start + PIECE));
                buffer.resize(part.length() as usize, 0);
                part.copy_to(&mut buffer);
                bytes += buffer.len() as u64;
                let copied = now();
                incoming.verify(&buffer);
                verifying += now() - copied;
                incoming.unpack(&buffer).map_err(refused)?;
            }
        }
        let unpacked = now();
        let (place, index) = incoming.append().map_err(|error| refusal(error, &request.package))?;
        let steps = [
            Span::of(Work::Verify, began, began + verifying, bytes),
            Span::of(Work::Unpack, began + verifying, unpacked, place.length),
            Span::of(Work::Store, unpacked, now(), place.length),
        ];
        Ok((place, index.encode(), steps))
    }
}
