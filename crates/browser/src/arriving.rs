//! Large tarballs, verified and unpacked while they come.
//!
//! A package is one piece of its pack, and what is appended to a pack while another package comes would be in the midst of it. So
//! each unpack worker has a second pack, made when it is first needed, for one large package at a time. Another one that comes
//! meanwhile is held in memory until the pack is free; if it is all here by then it is appended where small ones are.

use crate::error::file_fault;
use crate::fetch::{LargeBody, send_for_tarball};
use crate::opfs::{OpfsDirectory, OpfsFile};
use crate::pool::PackToken;
use crate::unpacking::{Taken, Unpacking};
use futures_channel::oneshot;
use futures_util::lock::Mutex;
use gantry_engine::{Fault, refusal};
use gantry_platform::{Http, HttpError, HttpRequest, HttpResponse, RandomAccessFile};
use gantry_registry::{Refusal, TarballRequest};
use gantry_store::{PackWriter, StoreError};
use js_sys::Uint8Array;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;

/// The pack of a worker to which large packages are appended while they come.
#[derive(Debug)]
pub(crate) struct ArrivalPack {
    directory: OpfsDirectory,
    token: PackToken,
    /// Whether a worker that was lost may have appended to it.
    successor: bool,
    /// Held while it is opened.
    opening: Mutex<()>,
    /// Whether that failed. Whoever looks through the store tells of it.
    is_unusable: Cell<bool>,
    file: RefCell<Option<Rc<OpfsFile>>>,
    /// While nothing is appended.
    idle: RefCell<Option<PackWriter<Rc<OpfsFile>>>>,
}

/// The pack, as long as a package is appended to it. What is not settled when it ends is cut off.
struct Claim<'p> {
    pack: &'p ArrivalPack,
    /// There until it ends.
    writer: Option<PackWriter<Rc<OpfsFile>>>,
}

impl ArrivalPack {
    /// `successor`: whether a worker that was lost may have appended to the pack.
    pub fn new(directory: OpfsDirectory, token: PackToken, successor: bool) -> Self {
        Self {
            directory,
            token,
            successor,
            opening: Mutex::new(()),
            is_unusable: Cell::default(),
            file: RefCell::default(),
            idle: RefCell::default(),
        }
    }

    pub fn number(&self) -> u32 {
        self.token.pack
    }

    /// Opens it if somebody has made it: cuts off what was never recorded in it, or, in place of a worker that was lost, can
    /// flush what that one appended.
    pub async fn open_if_made(self: &Rc<Self>) -> Result<(), Fault> {
        if self.directory.has(&self.token.name).await.map_err(|error| file_fault(&error))? {
            self.open().await?;
        }
        Ok(())
    }

    /// Goes on to its end when nobody waits for it any more: a handle that comes after that would stay open.
    async fn open(self: &Rc<Self>) -> Result<Rc<OpfsFile>, Fault> {
        if let Some(file) = self.opened() {
            return Ok(file);
        }
        let (told, outcome) = oneshot::channel();
        let this = Rc::clone(self);
        spawn_local(async move {
            let _ = told.send(this.open_to_the_end().await);
        });
        outcome.await.unwrap_or_else(|_| Err(Fault::new("CANCELLED", "the pack was closed")))
    }

    /// Resolves when it is not being opened.
    pub async fn opening_ended(&self) {
        drop(self.opening.lock().await);
    }

    fn opened(&self) -> Option<Rc<OpfsFile>> {
        self.file.borrow().clone()
    }

    async fn open_to_the_end(&self) -> Result<Rc<OpfsFile>, Fault> {
        let _guard = self.opening.lock().await;
        if let Some(file) = self.opened() {
            return Ok(file);
        }
        let writer = self.token.open(&self.directory, self.successor).await?;
        let file = Rc::clone(writer.file());
        *self.file.borrow_mut() = Some(Rc::clone(&file));
        *self.idle.borrow_mut() = Some(writer);
        Ok(file)
    }

    /// Part of it, as far as it is settled.
    pub async fn read(self: &Rc<Self>, offset: u64, length: u64) -> Result<Vec<u8>, Fault> {
        let file = self.open().await?;
        let mut bytes = vec![0; usize::try_from(length).map_err(|_| Fault::from(&StoreError::TooLarge))?];
        file.read_exact_at(offset, &mut bytes).map_err(|error| file_fault(&error))?;
        Ok(bytes)
    }

    /// When it returns, all packages that are settled in it are on durable storage.
    pub fn flush(&self) -> Result<(), Fault> {
        self.opened().map_or(Ok(()), |file| file.flush()).map_err(|error| file_fault(&error))
    }

    /// The pack, unless a package is under way to it, or it cannot be opened.
    async fn claim(self: &Rc<Self>) -> Option<Claim<'_>> {
        if self.is_unusable.get() {
            return None;
        }
        if self.open().await.is_err() {
            self.is_unusable.set(true);
            return None;
        }
        let writer = self.idle.take()?;
        Some(Claim { pack: self, writer: Some(writer) })
    }
}

impl Claim<'_> {
    fn writer(&mut self) -> &mut PackWriter<Rc<OpfsFile>> {
        self.writer.as_mut().expect("it is there until the claim ends")
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if let Some(writer) = self.writer.take() {
            // What stays is written over; meanwhile others lack the room.
            let _ = writer.cut();
            *self.pack.idle.borrow_mut() = Some(writer);
        }
    }
}

/// An HTTP client for one tarball. The body of a response is empty if it was large.
pub(crate) struct ArrivingHttp<'a> {
    pack: &'a Rc<ArrivalPack>,
    request: &'a TarballRequest,
    arrived: RefCell<Option<Arrived>>,
}

/// What became of a large body.
pub(crate) enum Arrived {
    /// It was unpacked, or could not be; and how many bytes it was.
    Unpacked(Result<Taken, Refusal<Fault>>, u64),
    /// It is here.
    Held(HeldBody),
}

/// A large body that is here, but not in the module's memory; as long as it is, it takes room.
pub(crate) struct HeldBody {
    body: LargeBody,
    pieces: Vec<Uint8Array>,
}

impl<'a> ArrivingHttp<'a> {
    pub fn new(pack: &'a Rc<ArrivalPack>, request: &'a TarballRequest) -> Self {
        Self { pack, request, arrived: RefCell::default() }
    }

    /// What became of the last response's body, if it was large.
    pub fn arrived(&self) -> Option<Arrived> {
        self.arrived.take()
    }

    async fn receive(&self, body: LargeBody) -> Result<Arrived, HttpError> {
        let mut held = HeldBody { body, pieces: Vec::new() };
        loop {
            if let Some(claim) = self.pack.claim().await {
                let (result, bytes) = self.unpack(claim, held).await?;
                return Ok(Arrived::Unpacked(result, bytes));
            }
            let Some(piece) = held.body.next(true).await? else { return Ok(Arrived::Held(held)) };
            held.pieces.push(piece);
        }
    }

    /// Unpacks what is here, and what is still to come.
    async fn unpack(
        &self,
        mut claim: Claim<'_>,
        mut held: HeldBody,
    ) -> Result<(Result<Taken, Refusal<Fault>>, u64), HttpError> {
        let refused = |error: StoreError| refusal(error.into(), &self.request.package);
        let mut unpacking = Unpacking::new(self.request, claim.writer());
        let mut taken = held.each().try_for_each(|piece| unpacking.take(&piece));
        while taken.is_ok()
            && let Some(piece) = held.body.next(false).await?
        {
            taken = unpacking.take(&piece);
        }
        let bytes = unpacking.bytes();
        let taken = taken.map_err(refused).and_then(|()| unpacking.finish());
        let settled = taken.and_then(|taken| claim.writer().settle().map_err(refused).map(|()| taken));
        Ok((settled, bytes))
    }
}

impl HeldBody {
    /// In bytes.
    pub fn length(&self) -> u64 {
        self.pieces.iter().map(|piece| u64::from(piece.length())).sum()
    }

    /// The pieces one by one; each is let go of when the next is asked for.
    pub fn each(&mut self) -> impl Iterator<Item = Uint8Array> {
        std::mem::take(&mut self.pieces).into_iter()
    }
}

impl Http for ArrivingHttp<'_> {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.arrived.take();
        let (response, large) = send_for_tarball(&request).await?;
        // What a registry says instead of a tarball is not read.
        if let Some(body) = large
            && response.has_content()
        {
            *self.arrived.borrow_mut() = Some(self.receive(body).await?);
        }
        Ok(response)
    }
}
