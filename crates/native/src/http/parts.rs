//! The rest of a large body over several connections at once, where one is slow.
//!
//! Most networks give a connection only so much: a window that is still growing, a limit for each. Of a project's tarballs
//! the largest then decides how long all take. So a body of which much is left, and which comes slowly, is asked for in
//! parts (`Range`, RFC 9110 section 14), if the registry says that it gives parts and has a tag by which to know that they are
//! of the same body. A part is small, and asked for when the first of those under way has come: whoever unpacks the body
//! meanwhile has always something to do, and no more than those under way are held. The answer that was under way goes on to where
//! the first of them begins, and is kept until all of them are here: if one does not come as it should, it goes on to its end, as
//! if nothing had been asked. So it does if one is not answered as soon as the body was: a proxy that lets few in may be waiting
//! for the very connection that is kept.

use super::Flight;
use super::body::{Body, Handed};
use bytes::{Bytes, BytesMut};
use reqwest::header::{ACCEPT_ENCODING, ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_RANGE, ETAG, IF_RANGE, RANGE};
use reqwest::{Client, Response, StatusCode};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// For so long a pace is measured.
const TRIAL: Duration = Duration::from_millis(40);
/// What is left has to take longer than this at the pace of one connection.
const WORTHWHILE: Duration = Duration::from_millis(160);
/// Bytes a second of one connection, and of all together, beyond which the network is not what is slow.
const FAST: f64 = 48e6;
const FAST_TOGETHER: f64 = 120e6;
/// No part has fewer bytes: it costs a request, and maybe a connection.
const SMALLEST: usize = 512 << 10;
/// None has more, unless that would be more parts than it is worth.
const LARGE: usize = 2 << 20;
/// Connections for one body, the first one's included. A part waits for its beginning for a third of its time or so.
const MOST: usize = 12;
/// The least time that parts are waited for when all else is here.
const GRACE: Duration = Duration::from_millis(250);
/// A part may be answered so many times as late as the body was, but no later than this.
const SLOWER: u32 = 4;
const LATEST: Duration = Duration::from_secs(3);

/// What all bodies of a client have in common.
#[derive(Debug, Clone)]
pub(super) struct Together {
    slots: Arc<Semaphore>,
    received: Arc<AtomicU64>,
}

impl Together {
    /// Of all bodies so many parts may be under way at a time.
    pub fn new(parts: usize) -> Self {
        Self { slots: Arc::new(Semaphore::new(parts)), received: Arc::default() }
    }

    /// Counts bytes of any body.
    pub fn count(&self, bytes: usize) {
        self.received.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn slot(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.slots).try_acquire_owned().ok()
    }

    fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }
}

/// When measuring a pace began.
struct Measure {
    at: Instant,
    /// How long the body's recipient had been waited for, which says nothing of the network.
    waited: Duration,
    /// Bytes of this body, and of all.
    own: usize,
    all: u64,
}

/// A body that can be had in parts.
pub(super) struct Divisible {
    client: Client,
    url: String,
    headers: Vec<(String, String)>,
    tag: String,
    length: usize,
    patience: Duration,
    /// How long a part may take to be answered.
    answer: Duration,
    since: Measure,
}

impl Divisible {
    /// For a body that has just begun; `None` where parts of it cannot be had or would not pay. `asked` are the address and the
    /// headers it was asked for with, `times` how long it is waited for at most and how long it took to be answered.
    pub fn of(
        response: &Response,
        client: &Client,
        asked: (&str, &[(String, String)]),
        times: (Duration, Duration),
        together: &Together,
    ) -> Option<Self> {
        let (url, headers) = asked;
        let (patience, answered_after) = times;
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        let length = usize::try_from(response.content_length()?).ok()?;
        let tag = header(ETAG).filter(|tag| tag.starts_with('"'))?;
        let is_whole = response.status() == StatusCode::OK && header(CONTENT_ENCODING).is_none();
        // Another address might have to be asked without the credentials that these headers hold.
        let is_here = response.url().as_str() == url;
        // Asked for once more, past caches, it was not what it should be: then nothing is done that could be why.
        let is_first = headers.iter().all(|(name, _)| name != "cache-control");
        let gives_parts = header(ACCEPT_RANGES) == Some("bytes");
        let is_of_size = length >= 2 * SMALLEST;
        (is_whole && is_here && is_first && gives_parts && is_of_size).then(|| Self {
            client: client.clone(),
            url: url.to_owned(),
            headers: headers.to_vec(),
            tag: tag.to_owned(),
            length,
            patience,
            answer: answered_after.saturating_mul(SLOWER).clamp(GRACE, LATEST),
            since: Measure { at: Instant::now(), waited: Duration::ZERO, own: 0, all: together.received() },
        })
    }

    /// Asks for the rest in parts if at the pace of late that would come sooner; `body` is what is here.
    pub fn divide(mut self, body: &Body, together: &Together) -> Result<Parts, Self> {
        match self.slots(body, together) {
            Some(slots) => Ok(Parts::begin(self, body.length(), slots, together.clone())),
            None => Err(self),
        }
    }

    /// Slots for parts, if they pay.
    fn slots(&mut self, body: &Body, together: &Together) -> Option<Vec<OwnedSemaphorePermit>> {
        let elapsed = self.since.at.elapsed().saturating_sub(body.waited() - self.since.waited);
        if elapsed < TRIAL {
            return None;
        }
        let now = Measure { at: Instant::now(), waited: body.waited(), own: body.length(), all: together.received() };
        let before = std::mem::replace(&mut self.since, now);
        let pace = |bytes: f64| bytes / elapsed.as_secs_f64();
        let own = pace((self.since.own - before.own) as f64);
        let left = self.length.saturating_sub(body.length());
        let is_fast = own > FAST || pace((self.since.all - before.all) as f64) > FAST_TOGETHER;
        if is_fast || left < 2 * SMALLEST || own * WORTHWHILE.as_secs_f64() > left as f64 {
            return None;
        }
        // Others may begin soon that are as large; what is left of the slots can be had later.
        let most = (MOST.min(left / SMALLEST) - 1).min(together.slots.available_permits().div_ceil(2));
        let slots: Vec<_> = (0..most).map_while(|_| together.slot()).collect();
        (!slots.is_empty()).then_some(slots)
    }

    /// Asks for the bytes of a range.
    fn part(&self, range: Range<usize>, received: Arc<AtomicU64>) -> Part {
        let mut request = self.client.get(&self.url).header(ACCEPT_ENCODING, "identity");
        for (name, value) in self.headers.iter().filter(|(name, _)| name != ACCEPT_ENCODING.as_str()) {
            request = request.header(name, value);
        }
        let (length, span) = (range.len(), format!("{}-{}", range.start, range.end - 1));
        let request = request.header(RANGE, format!("bytes={span}")).header(IF_RANGE, &self.tag);
        let (tag, patience) = (self.tag.clone(), self.patience);
        let span = format!("bytes {span}/{}", self.length);
        let (begins, begun) = oneshot::channel();
        let flight = Flight(tokio::spawn(async move {
            let mut response = tokio::time::timeout(patience, request.send()).await.ok()?.ok()?;
            // Nobody may wait for that any more.
            let _ = begins.send(());
            let is = |name, value: &str| response.headers().get(name).is_some_and(|found| found == value);
            if response.status() != StatusCode::PARTIAL_CONTENT || !is(CONTENT_RANGE, &span) || !is(ETAG, &tag) {
                return None;
            }
            let mut bytes = BytesMut::with_capacity(length);
            while let Some(piece) = tokio::time::timeout(patience, response.chunk()).await.ok()?.ok()? {
                if bytes.len() + piece.len() > length {
                    return None;
                }
                received.fetch_add(piece.len() as u64, Ordering::Relaxed);
                bytes.extend_from_slice(&piece);
            }
            (bytes.len() == length).then_some(bytes)
        }));
        Part { begun, until: tokio::time::Instant::now() + self.answer, flight }
    }
}

/// A part that was asked for.
struct Part {
    /// Answered when it begins; closed if it came to nothing before.
    begun: oneshot::Receiver<()>,
    /// By when it has to.
    until: tokio::time::Instant,
    flight: Flight<Option<BytesMut>>,
}

impl Part {
    /// Its bytes; `None` if it is not what it should be, or too late.
    async fn land(self, limit: Duration) -> Option<BytesMut> {
        let Self { begun, until, mut flight } = self;
        tokio::time::timeout_at(until, begun).await.ok()?.ok()?;
        tokio::time::timeout(limit, &mut flight.0).await.ok()?.ok()?
    }
}

/// Parts under way. Dropping them gives them up.
pub(super) struct Parts {
    whole: Divisible,
    /// Where the first one begins, and where the next one to be asked for.
    first: usize,
    next: usize,
    size: usize,
    began: Instant,
    together: Together,
    /// One for each of the flights.
    slots: Vec<OwnedSemaphorePermit>,
    /// In order; one is asked for when the first of them has come.
    flights: VecDeque<Part>,
    /// What the answer under way gave of them.
    beyond: Bytes,
}

/// What became of parts.
pub(super) enum Joined {
    /// The body is whole.
    Whole,
    /// Nobody wants it any more.
    ToNobody,
    /// One is missing. Of the answer under way comes next what is here, which begins so many bytes before the end of the body.
    Missing(Bytes, usize),
}

impl Parts {
    fn begin(whole: Divisible, received: usize, slots: Vec<OwnedSemaphorePermit>, together: Together) -> Self {
        let size = (whole.length - received).div_ceil(slots.len() + 1).clamp(SMALLEST, LARGE);
        let first = received + size;
        let (began, flights, beyond) = (Instant::now(), VecDeque::new(), Bytes::new());
        let mut parts = Self { whole, first, next: first, size, began, together, slots, flights, beyond };
        parts.ask_for_more();
        parts
    }

    /// Asks for a part for each slot that has none; slots that are not needed any more go back.
    fn ask_for_more(&mut self) {
        while self.flights.len() < self.slots.len() && self.next < self.whole.length {
            let end = (self.next + self.size).min(self.whole.length);
            self.flights.push_back(self.whole.part(self.next..end, Arc::clone(&self.together.received)));
            self.next = end;
        }
        self.slots.truncate(self.flights.len());
    }

    /// Takes a piece of the answer under way; whether `body` now has all that is needed besides the parts.
    pub fn take(&mut self, mut piece: Bytes, body: &mut Body) -> bool {
        self.beyond = piece.split_off(piece.len().min(self.first - body.length()));
        body.push(&piece);
        body.length() == self.first
    }

    /// Waits for one after the other, for none longer than the first connection would take for as many bytes as all of them
    /// bring in the meantime, and puts them behind `body`. Takes slots that have become free since.
    pub async fn join(mut self, body: &mut Body) -> Joined {
        let limit = self.began.elapsed().saturating_mul(MOST as u32).max(GRACE);
        while let Some(part) = self.flights.pop_front() {
            let Some(part) = part.land(limit).await else {
                return Joined::Missing(self.beyond, body.length() - self.first);
            };
            if self.next < self.whole.length && self.slots.len() + 1 < MOST {
                self.slots.extend(self.together.slot());
            }
            self.ask_for_more();
            if body.hand_in(part).await == Handed::ToNobody {
                return Joined::ToNobody;
            }
        }
        Joined::Whole
    }
}
