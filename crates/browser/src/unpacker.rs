//! One worker of the pool: tarball in, segment out.

use crate::arriving::{ArrivalPack, Arrived, ArrivingHttp, HeldBody};
use crate::clock::BrowserClock;
use crate::error::to_javascript;
use crate::fetch::set_room;
use crate::javascript::from_object;
use crate::opfs::OpfsDirectory;
use crate::packing::Packing;
use crate::pool::{JobFailure, UnpackJob, UnpackReport, UnpackResult, WorkerPacks};
use crate::unpacking::{Taken, Unpacking};
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{AbortHandle, Abortable};
use gantry_archive::{Extractor, Limits};
use gantry_engine::{Fault, refusal};
use gantry_platform::{Clock, Span, Work};
use gantry_registry::{FetchedTarball, Refusal, TarballRequest, fetch_tarball};
use gantry_store::{StoreError, prepare};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use web_sys::FileSystemDirectoryHandle;

/// Fetches, verifies and unpacks packages into packs that are this worker's alone.
///
/// Several jobs may be under way: they wait for the network side by side, and unpack one after the other, but for a large one
/// that is unpacked while it comes.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Unpacker {
    pack: Packing,
    arrivals: Rc<ArrivalPack>,
    extractor: RefCell<Extractor>,
    /// Jobs under way, by a number of their own.
    jobs: RefCell<FxHashMap<u64, AbortHandle>>,
    begun: Cell<u64>,
}

#[derive(Deserialize)]
struct UnpackerOptions {
    packs: String,
    /// Whether a worker that was lost had opened the packs before.
    successor: bool,
    /// Bytes of large tarballs that this worker may hold at a time.
    room: f64,
}

#[wasm_bindgen]
impl Unpacker {
    /// Opens the packs: cuts off what was never recorded in them, or, in place of a worker that was lost, goes on behind what
    /// that one wrote. `folder` is the store's.
    pub async fn open(options: JsValue, folder: FileSystemDirectoryHandle) -> Result<Unpacker, JsValue> {
        Self::open_packs(options, folder.into()).await.map_err(|fault| to_javascript(&fault))
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

    /// Part of one of this worker's packs, as bytes.
    pub async fn read(&self, pack: u32, offset: f64, length: f64) -> Result<Vec<u8>, JsValue> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "made from whole numbers")]
        let (offset, length) = (offset as u64, length as u64);
        let read = if pack == self.arrivals.number() {
            self.arrivals.read(offset, length).await
        } else {
            self.pack.writer().read(offset, length).map_err(|error| Fault::from(&error))
        };
        read.map_err(|fault| to_javascript(&fault))
    }

    /// When it returns, all packages of finished jobs are on durable storage.
    pub fn flush(&self) -> Result<(), JsValue> {
        let flushed = self.pack.writer().flush().map_err(|error| Fault::from(&error));
        flushed.and_then(|()| self.arrivals.flush()).map_err(|fault| to_javascript(&fault))
    }

    /// Resolves when no pack is being opened, after which they can be let go of.
    #[wasm_bindgen(js_name = openingEnded)]
    pub async fn opening_ended(&self) {
        self.arrivals.opening_ended().await;
    }

    /// Lets go of the packs.
    pub fn close(self) {
        drop(self);
    }
}

impl Unpacker {
    async fn open_packs(options: JsValue, directory: OpfsDirectory) -> Result<Self, Fault> {
        let UnpackerOptions { packs, successor, room } = from_object(options, "the options of an unpack worker")?;
        set_room(room);
        let WorkerPacks { pack, arrivals, cut } = WorkerPacks::decode(&packs)?;
        let writer = pack.open(&directory, successor).await?;
        let arrivals = Rc::new(ArrivalPack::new(directory, arrivals, successor));
        if successor || cut {
            arrivals.open_if_made().await?;
        }
        Ok(Self {
            pack: Packing::new(writer),
            arrivals,
            extractor: RefCell::new(Extractor::new(Limits::default())),
            jobs: RefCell::default(),
            begun: Cell::default(),
        })
    }

    async fn run(&self, request: &TarballRequest, spans: &mut Vec<Span>) -> Result<UnpackResult, JobFailure> {
        let http = ArrivingHttp::new(&self.arrivals, request);
        // A body that came in pieces was empty to whoever asked for it.
        let arrived = Cell::new(None);
        let take = async |body: Bytes| {
            let taken = match http.arrived() {
                Some(Arrived::Unpacked(taken, bytes)) => {
                    arrived.set(Some(bytes));
                    taken.map(|taken| (taken, None))
                }
                Some(Arrived::Held(held)) => {
                    arrived.set(Some(held.length()));
                    self.take_held(request, held).map(|taken| (taken, Some(self.pack.appended())))
                }
                None => self.take(request, &body).map(|taken| (taken, Some(self.pack.appended()))),
            };
            taken.map_err(|refusal| match refusal {
                Refusal::Mismatch(error) => Refusal::Mismatch(error),
                Refusal::Other(fault) => Refusal::Other(JobFailure::from(fault)),
            })
        };
        let fetched = fetch_tarball(&http, &BrowserClock, request, &(), take).await?;
        let FetchedTarball { contents, mut bytes, requests, spans: mut asked } = fetched;
        let ((place, index, steps), settling) = contents;
        if let Some(arrived) = arrived.get() {
            bytes = arrived;
            if let Some(last) = asked.iter_mut().rfind(|span| span.work == Work::Tarball) {
                last.bytes = bytes;
            }
        }
        spans.extend(asked.into_iter().chain(steps));
        if let Some(settling) = settling {
            let under_way = self.jobs.borrow().len();
            let settled = self.pack.settled(settling, under_way).await;
            spans.extend(settled.map_err(|fault| fault.with_package(&request.package))?);
        }
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

    /// The same, piece by piece: each is let go of when it has been unpacked.
    #[inline(never)]
    fn take_held(&self, request: &TarballRequest, mut held: HeldBody) -> Result<Taken, Refusal<Fault>> {
        let refused = |error: StoreError| refusal(error.into(), &request.package);
        let mut writer = self.pack.writer();
        let mut unpacking = Unpacking::new(request, &mut writer);
        held.each().try_for_each(|piece| unpacking.take(&piece)).map_err(refused)?;
        unpacking.finish()
    }
}
