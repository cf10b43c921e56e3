//! Large tarballs, verified and unpacked while they come.
//!
//! The largest package of a project decides when all are there, and what is done with it after its last byte comes on top of
//! that; held in memory until then, it is also most of what a process takes. So each has a thread of its own from its first
//! bytes on, which waits for the network most of the time; where the system allows none it is taken as a whole like the others.
//! Nothing of it counts before its last byte has been verified.

use super::in_use::StoreLock;
use super::unpack::{Building, Built};
use super::{Taken, publish};
use crate::http::{Piece, Recipient};
use crate::{NativeClock, NativeHttp, threads};
use gantry_engine::{Fault, refusal};
use gantry_platform::{Clock, Http, HttpError, HttpRequest, HttpResponse, Span, Work};
use gantry_registry::{Refusal, TarballRequest};
use gantry_store::Incoming;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc::{self, Receiver};
use tokio::sync::oneshot;

/// Pieces that wait for a thread before the network waits too.
const WAITING_PIECES: usize = 4;

/// What became of a tarball, and of how many bytes it was; closed if it did not come to its end, or the thread was lost.
type Arrival = oneshot::Receiver<(Result<Taken, Refusal<Fault>>, u64)>;

/// What is needed to keep a tarball.
#[derive(Clone)]
pub(super) struct Destination {
    pub request: Arc<TarballRequest>,
    pub temporary: PathBuf,
    pub target: PathBuf,
    pub clock: NativeClock,
    /// Kept for as long as there is something in hand.
    pub _in_use: Option<Arc<StoreLock>>,
}

/// An HTTP client for one tarball.
pub(super) struct ArrivingHttp<'h> {
    http: &'h NativeHttp,
    recipient: Recipient,
    /// Of the last request, if its body was large.
    arrival: Arc<Mutex<Option<Arrival>>>,
}

impl<'h> ArrivingHttp<'h> {
    pub fn new(http: &'h NativeHttp, destination: Destination) -> Self {
        let arrival = Arc::default();
        let noted = Arc::clone(&arrival);
        let begin = move || {
            let (pieces, arriving) = mpsc::channel(WAITING_PIECES);
            let (answer, result) = oneshot::channel();
            let destination = destination.clone();
            threads::start(move || {
                if let Some(arrived) = destination.take(arriving) {
                    // Nobody may be there any more to hear of it.
                    let _ = answer.send(arrived);
                }
            })
            .ok()?;
            replace(&noted, Some(result));
            Some(pieces)
        };
        Self { http, recipient: Recipient(Arc::new(begin)), arrival }
    }

    /// What becomes of the last answer's body, if it was handed on.
    pub fn arrival(&self) -> Option<Arrival> {
        replace(&self.arrival, None)
    }
}

fn replace(arrival: &Mutex<Option<Arrival>>, by: Option<Arrival>) -> Option<Arrival> {
    std::mem::replace(&mut *arrival.lock().unwrap_or_else(PoisonError::into_inner), by)
}

impl Http for ArrivingHttp<'_> {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        replace(&self.arrival, None);
        self.http.send_to(request, Some(self.recipient.clone())).await
    }
}

impl Destination {
    /// Takes pieces until the last one; `None` if it does not come.
    fn take(&self, mut arriving: Receiver<Piece>) -> Option<(Result<Taken, Refusal<Fault>>, u64)> {
        let request = &*self.request;
        let building = match Building::create(&self.temporary) {
            Ok(building) => building,
            Err(error) => return Some((Err(Refusal::Other(error.into())), 0)),
        };
        let now = || self.clock.monotonic_milliseconds();
        let (mut verifying, mut unpacking, mut bytes) = (0.0, 0.0, 0);
        let began = now();
        let mut incoming = Incoming::new(&request.package, request.integrity.as_ref(), building);
        while let Some(piece) = arriving.blocking_recv()? {
            let taken = now();
            incoming.verify(&piece);
            let verified = now();
            let unpacked = incoming.unpack(&piece);
            (verifying, unpacking) = (verifying + verified - taken, unpacking + now() - verified);
            bytes += piece.len() as u64;
            if let Err(error) = unpacked {
                return Some((Err(Refusal::Other(error.into())), bytes));
            }
        }
        let ended = now();
        let verified = Span::of(Work::Verify, began, began + verifying, bytes);
        let result = incoming.finish().map_err(|error| refusal(error, &request.package)).and_then(
            |(building, index, alterations)| {
                let built = building.finish(index, &alterations, [ended - unpacking, ended], &self.clock);
                let Built { directory, index, spans: [unpacked, stored] } = built.map_err(Refusal::Other)?;
                publish(directory, &self.temporary, &self.target).map_err(|error| Refusal::Other(error.into()))?;
                Ok((index, [verified, unpacked, stored]))
            },
        );
        Some((result, bytes))
    }
}

#[cfg(test)]
mod tests;
