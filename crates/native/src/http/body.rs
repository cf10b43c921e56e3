//! A body under way: collected, or handed on while it comes.

#[cfg(test)]
mod tests;

use bytes::{Bytes, BytesMut};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::Sender;

/// A body that is announced to have this many bytes is handed on while it comes, if anybody wants that; one that is not
/// announced once it has as many.
const LARGE: u64 = 2 << 20;

/// Bytes handed on together: a thread that is woken for fewer does little else.
const PIECE: usize = 256 << 10;

/// Memory that is set aside beforehand: a liar's announcement must not reserve what never arrives.
const SET_ASIDE: u64 = 64 << 20;

/// The next bytes of a body; `None` after the last ones. A channel that is closed without it tells that the body is given up.
pub(crate) type Piece = Option<Bytes>;

/// Who wants large bodies while they come: called when one begins, gives where its pieces go; nothing where it is to come as a
/// whole after all.
#[derive(Clone)]
pub(crate) struct Recipient(pub Arc<dyn Fn() -> Option<Sender<Piece>> + Send + Sync>);

impl fmt::Debug for Recipient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Recipient")
    }
}

/// What became of bytes that were handed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Handed {
    On,
    /// Nobody wants them any more: whoever did knows why.
    ToNobody,
}

/// What is here of a body.
pub(super) struct Body {
    bytes: BytesMut,
    /// How many were handed on before these.
    before: usize,
    /// Who may still be told that it is large.
    recipient: Option<Recipient>,
    pieces: Option<Sender<Piece>>,
    waited: Duration,
}

impl Body {
    /// For a body of `announced` bytes, handed on to `recipient` if it is large.
    pub fn new(announced: u64, recipient: Option<&Recipient>) -> Self {
        let mut recipient = recipient.cloned();
        let pieces = if announced >= LARGE { recipient.take().and_then(|recipient| recipient.0()) } else { None };
        let set_aside = if pieces.is_some() { 0 } else { announced.min(SET_ASIDE) };
        Self {
            bytes: BytesMut::with_capacity(usize::try_from(set_aside).unwrap_or(0)),
            before: 0,
            recipient,
            pieces,
            waited: Duration::ZERO,
        }
    }

    /// How many bytes have come.
    pub fn length(&self) -> usize {
        self.before + self.bytes.len()
    }

    /// How long the recipient was waited for, and with it the network.
    pub fn waited(&self) -> Duration {
        self.waited
    }

    /// The next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.pieces.is_some() && self.bytes.capacity() == self.bytes.len() {
            self.bytes.reserve(PIECE.max(bytes.len()));
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next bytes, which belong together; handed on at once where that is done.
    pub async fn hand_in(&mut self, bytes: BytesMut) -> Handed {
        if self.pieces.is_some() && self.hand_on_all().await == Handed::ToNobody {
            return Handed::ToNobody;
        }
        if self.bytes.is_empty() {
            self.bytes = bytes;
        } else {
            self.bytes.extend_from_slice(&bytes);
        }
        self.hand_on_all().await
    }

    /// Hands on what is enough for a piece; waits while the recipient has enough to do.
    pub async fn hand_on(&mut self) -> Handed {
        if self.bytes.len() as u64 >= LARGE
            && let Some(recipient) = self.recipient.take()
        {
            self.pieces = recipient.0();
        }
        if self.bytes.len() < PIECE { Handed::On } else { self.hand_on_all().await }
    }

    async fn hand_on_all(&mut self) -> Handed {
        let Some(pieces) = self.pieces.as_ref().filter(|_| !self.bytes.is_empty()) else { return Handed::On };
        self.before += self.bytes.len();
        let began = Instant::now();
        let sent = pieces.send(Some(self.bytes.split().freeze())).await;
        self.waited += began.elapsed();
        if sent.is_ok() { Handed::On } else { Handed::ToNobody }
    }

    /// After the last bytes: all of them, or nothing if they were handed on.
    pub async fn finish(mut self) -> Bytes {
        if self.pieces.is_none() {
            return self.bytes.freeze();
        }
        if self.hand_on_all().await == Handed::On
            && let Some(pieces) = self.pieces
        {
            // Who does not want to know of the end knows of a failure.
            let _ = pieces.send(None).await;
        }
        Bytes::new()
    }
}
