//! The rest of a large body over several connections at once, where one is slow.
//!
//! Most networks give a connection only so much: a window that is still growing, a limit for each. Of a project's tarballs
//! the largest then decides how long all take. So a body of which much is left, and which comes slowly, is asked for in
//! parts (`Range`, RFC 9110 section 14), if the registry says that it gives parts and has a tag by which to know that they are
//! of the same body. The answer under way goes on to where the first of them begins, and is kept until all of them are here: if
//! one does not come as it should, it goes on to its end, as if nothing had been asked.

use super::Flight;
use bytes::{Bytes, BytesMut};
use futures_util::future::join_all;
use reqwest::header::{ACCEPT_ENCODING, ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_RANGE, ETAG, IF_RANGE, RANGE};
use reqwest::{Client, Response, StatusCode};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// For so long a pace is measured.
const TRIAL: Duration = Duration::from_millis(40);
/// What is left has to take longer than this at the pace of one connection.
const WORTHWHILE: Duration = Duration::from_millis(160);
/// Bytes a second of one connection, and of all together, beyond which the network is not what is slow.
const FAST: f64 = 48e6;
const FAST_TOGETHER: f64 = 120e6;
/// No part has fewer bytes: it costs a request, and maybe a connection.
const SMALLEST: usize = 512 << 10;
/// Connections for one body, the first one's included.
const MOST: usize = 6;
/// No larger body is asked for in parts: memory for all of it is set aside when they are asked for.
const LARGEST: usize = 256 << 20;
/// The least time that parts are waited for when all else is here.
const GRACE: Duration = Duration::from_millis(250);

/// What all bodies of a client have in common.
#[derive(Debug)]
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

    fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }
}

/// A body that can be had in parts.
pub(super) struct Divisible {
    client: Client,
    url: String,
    headers: Vec<(String, String)>,
    tag: String,
    length: usize,
    patience: Duration,
    /// When measuring began, with how many bytes of this body and of all.
    since: (Instant, usize, u64),
}

impl Divisible {
    /// For a body that has just begun; `None` where parts of it cannot be had or would not pay. `asked` are the address and the
    /// headers it was asked for with.
    pub fn of(
        response: &Response,
        client: &Client,
        asked: (&str, &[(String, String)]),
        patience: Duration,
        together: &Together,
    ) -> Option<Self> {
        let (url, headers) = asked;
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        let length = usize::try_from(response.content_length()?).ok()?;
        let tag = header(ETAG).filter(|tag| tag.starts_with('"'))?;
        let is_whole = response.status() == StatusCode::OK && header(CONTENT_ENCODING).is_none();
        // Another address might have to be asked without the credentials that these headers hold.
        let is_here = response.url().as_str() == url;
        // Asked for once more, past caches, it was not what it should be: then nothing is done that could be why.
        let is_first = headers.iter().all(|(name, _)| name != "cache-control");
        let gives_parts = header(ACCEPT_RANGES) == Some("bytes");
        let is_of_size = (2 * SMALLEST..=LARGEST).contains(&length);
        (is_whole && is_here && is_first && gives_parts && is_of_size).then(|| Self {
            client: client.clone(),
            url: url.to_owned(),
            headers: headers.to_vec(),
            tag: tag.to_owned(),
            length,
            patience,
            since: (Instant::now(), 0, together.received()),
        })
    }

    /// Asks for the rest in parts if at the pace of late that would come sooner; `body` is what is here behind the first `before`
    /// bytes, and then has room for what comes before the parts.
    pub fn divide(&mut self, body: &mut BytesMut, before: usize, together: &Together) -> Option<Parts> {
        let received = before + body.len();
        let (since, own_before, all_before) = self.since;
        let elapsed = since.elapsed();
        if elapsed < TRIAL {
            return None;
        }
        let all = together.received();
        self.since = (Instant::now(), received, all);
        let pace = |bytes: f64| bytes / elapsed.as_secs_f64();
        let own = pace((received - own_before) as f64);
        let left = self.length.saturating_sub(received);
        let is_fast = own > FAST || pace((all - all_before) as f64) > FAST_TOGETHER;
        if is_fast || left < 2 * SMALLEST || own * WORTHWHILE.as_secs_f64() > left as f64 {
            return None;
        }
        let mut slots = Vec::new();
        while slots.len() + 1 < MOST.min(left / SMALLEST) {
            let Ok(slot) = together.slots.clone().try_acquire_owned() else { break };
            slots.push(slot);
        }
        if slots.is_empty() {
            return None;
        }
        let size = left.div_ceil(slots.len() + 1);
        let first = received + size;
        body.reserve(left);
        let mut rest = body.split_off(first - before);
        let mut flights = Vec::new();
        for (start, slot) in (first..self.length).step_by(size).zip(slots) {
            let end = (start + size).min(self.length);
            let behind = rest.split_off(end - start);
            flights.push(self.part(start..end, std::mem::replace(&mut rest, behind), slot, together.received.clone()));
        }
        Some(Parts { first: first - before, began: Instant::now(), flights, beyond: Bytes::new() })
    }

    /// Asks for the bytes of a range, which `bytes` has room for.
    fn part(
        &self,
        range: Range<usize>,
        mut bytes: BytesMut,
        slot: OwnedSemaphorePermit,
        received: Arc<AtomicU64>,
    ) -> Flight<Option<BytesMut>> {
        let mut request = self.client.get(&self.url).header(ACCEPT_ENCODING, "identity");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let (length, span) = (range.len(), format!("{}-{}", range.start, range.end - 1));
        let request = request.header(RANGE, format!("bytes={span}")).header(IF_RANGE, &self.tag);
        let (tag, patience) = (self.tag.clone(), self.patience);
        let span = format!("bytes {span}/{}", self.length);
        Flight(tokio::spawn(async move {
            let _slot = slot;
            let mut response = tokio::time::timeout(patience, request.send()).await.ok()?.ok()?;
            let is = |name, value: &str| response.headers().get(name).is_some_and(|found| found == value);
            if response.status() != StatusCode::PARTIAL_CONTENT || !is(CONTENT_RANGE, &span) || !is(ETAG, &tag) {
                return None;
            }
            while let Some(piece) = tokio::time::timeout(patience, response.chunk()).await.ok()?.ok()? {
                if bytes.len() + piece.len() > length {
                    return None;
                }
                received.fetch_add(piece.len() as u64, Ordering::Relaxed);
                bytes.extend_from_slice(&piece);
            }
            (bytes.len() == length).then_some(bytes)
        }))
    }
}

/// Parts under way. Dropping them gives them up.
pub(super) struct Parts {
    /// Where the first one begins, in what is collected.
    first: usize,
    began: Instant,
    flights: Vec<Flight<Option<BytesMut>>>,
    /// What the answer under way gave of them.
    beyond: Bytes,
}

impl Parts {
    /// Takes a piece of the answer under way; whether `body` now has all that is needed besides the parts.
    pub fn take(&mut self, mut piece: Bytes, body: &mut BytesMut) -> bool {
        self.beyond = piece.split_off(piece.len().min(self.first - body.len()));
        body.extend_from_slice(&piece);
        body.len() == self.first
    }

    /// Waits for all of them, no longer than the first connection would need for them, and puts them in their place behind
    /// `body`; whether it is whole now. If not, it is what the answer under way gave.
    pub async fn join(mut self, body: &mut BytesMut) -> bool {
        let count = u32::try_from(self.flights.len()).unwrap_or(u32::MAX);
        let limit = self.began.elapsed().saturating_mul(count).max(GRACE);
        let all = join_all(self.flights.iter_mut().map(|flight| &mut flight.0));
        let landed = tokio::time::timeout(limit, all).await.unwrap_or_default();
        let parts = landed.into_iter().map(|part| part.ok().flatten()).collect::<Option<Vec<_>>>();
        match parts.filter(|parts| !parts.is_empty()) {
            Some(parts) => parts.into_iter().for_each(|part| body.unsplit(part)),
            None => {
                body.extend_from_slice(&self.beyond);
                return false;
            }
        }
        true
    }
}
