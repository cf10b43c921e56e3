//! Accepted connections, with the two things a body must do to its own connection: pace it and reset it.
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpListener;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;

use super::tls::Channel;

/// Accepts connections and gives each a handle.
pub(super) struct ServerListener {
    inner: TcpListener,
    tls: Option<TlsAcceptor>,
    bits_per_second: Option<u64>,
}

impl ServerListener {
    pub(super) fn new(inner: TcpListener, tls: Option<TlsAcceptor>, bits_per_second: Option<u64>) -> Self {
        Self { inner, tls, bits_per_second }
    }
}

impl Listener for ServerListener {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        loop {
            match self.inner.accept().await {
                Ok((stream, address)) => {
                    // Small answers must not wait for more bytes; without it they only come later.
                    let _ = stream.set_nodelay(true);
                    let handle = ConnectionHandle::new(self.bits_per_second);
                    let channel = match &self.tls {
                        None => Channel::Plain(stream),
                        Some(tls) => Channel::Handshake(Box::new(tls.accept(stream))),
                    };
                    return (Connection { channel, handle }, address);
                }
                // Out of file handles, most likely: wait for some to come back.
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }
}

/// What the answers on one connection share.
#[derive(Clone, Debug)]
pub(super) struct ConnectionHandle {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    reset: AtomicBool,
    bits_per_second: Option<u64>,
    /// When the bytes handed out so far will have left.
    free_at: Mutex<Instant>,
}

impl ConnectionHandle {
    fn new(bits_per_second: Option<u64>) -> Self {
        Self {
            shared: Arc::new(Shared {
                reset: AtomicBool::new(false),
                bits_per_second,
                free_at: Mutex::new(Instant::now()),
            }),
        }
    }

    /// Makes the end of this connection a TCP reset.
    pub(super) fn reset_at_end(&self) {
        self.shared.reset.store(true, Ordering::Relaxed);
    }

    /// Bytes of one piece of a body, about 20 ms worth; `None` if nothing limits the connection.
    pub(super) fn piece(&self) -> Option<usize> {
        let rate = self.shared.bits_per_second?;
        Some(usize::try_from(rate / 8 / 50).unwrap_or(usize::MAX).clamp(256, 64 * 1024))
    }

    /// Waits until this many more bytes fit the bandwidth. Answers sharing a connection share its bandwidth.
    pub(super) async fn pace(&self, bytes: usize) {
        let Some(rate) = self.shared.bits_per_second else { return };
        let cost = Duration::from_secs_f64(bytes as f64 * 8.0 / rate as f64);
        let until = {
            let mut free_at = self.shared.free_at.lock().unwrap_or_else(PoisonError::into_inner);
            *free_at = (*free_at).max(Instant::now()) + cost;
            *free_at
        };
        tokio::time::sleep_until(until).await;
    }
}

impl Connected<IncomingStream<'_, ServerListener>> for ConnectionHandle {
    fn connect_info(stream: IncomingStream<'_, ServerListener>) -> Self {
        stream.io().handle.clone()
    }
}

/// A stream that ends with a TCP reset if its handle says so.
pub(super) struct Connection {
    channel: Channel,
    handle: ConnectionHandle,
}

impl Connection {
    fn must_reset(&self) -> bool {
        self.handle.shared.reset.load(Ordering::Relaxed)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.must_reset()
            && let Some(socket) = self.channel.socket()
        {
            // Closing with a linger time of zero sends RST instead of FIN. If it fails the peer sees an early end.
            let _ = socket.set_zero_linger();
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.channel).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.channel).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.channel).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.must_reset() {
            // A FIN first would make the reset look like an orderly end.
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.channel).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.channel).poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.channel.is_write_vectored()
    }
}
