//! TLS with a certificate of the server's own making.
//!
//! Each start makes an authority and a certificate that it signs for the loopback interface, both valid for some days
//! around now. Whoever is to trust the server is given the authority as PEM, the form that npm's `cafile` takes. HTTP/2
//! and HTTP/1.1 are offered by ALPN. The handshake happens on the connection's first read, so a client that connects and
//! says nothing keeps nobody from being accepted.
use std::future::Future as _;
use std::io;
use std::net::Ipv6Addr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, SystemTime};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose, SanType};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;
use tokio_rustls::{Accept, TlsAcceptor};

use crate::TestkitError;

/// Before now, for clocks that differ, and after, for servers that run for long.
const VALID_FOR: Duration = Duration::from_secs(30 * 24 * 3600);

/// Who the server is.
pub(super) struct Identity {
    config: Arc<ServerConfig>,
    authority: String,
}

impl Identity {
    /// Makes keys and certificates.
    pub(super) fn generate() -> Result<Self, TestkitError> {
        let failed = |source| TestkitError::Certificate { source };
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "gantry-registry");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        limit(&mut params);
        let key = KeyPair::generate().map_err(failed)?;
        let authority = params.self_signed(&key).map_err(failed)?;
        let issuer = Issuer::new(params, key);

        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let mut params = CertificateParams::new(names).map_err(failed)?;
        params.subject_alt_names.push(SanType::IpAddress(Ipv6Addr::LOCALHOST.into()));
        params.distinguished_name.push(DnType::CommonName, "localhost");
        limit(&mut params);
        let key = KeyPair::generate().map_err(failed)?;
        let certificate = params.signed_by(&key, &issuer).map_err(failed)?;

        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let failed = |source| TestkitError::Tls { source };
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(failed)?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
            .map_err(failed)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self { config: Arc::new(config), authority: authority.pem() })
    }

    /// The certificate to trust, as PEM.
    pub(super) fn authority(&self) -> &str {
        &self.authority
    }

    /// What turns accepted streams into encrypted ones.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.config))
    }
}

fn limit(params: &mut CertificateParams) {
    let now = SystemTime::now();
    params.not_before = (now - VALID_FOR).into();
    params.not_after = (now + VALID_FOR).into();
}

/// The bytes of a connection, encrypted or not.
pub(super) enum Channel {
    Plain(TcpStream),
    Handshake(Box<Accept<TcpStream>>),
    Encrypted(Box<TlsStream<TcpStream>>),
    /// The handshake failed and took the stream with it.
    Failed,
}

impl Channel {
    /// The socket, while there is one.
    pub(super) fn socket(&self) -> Option<&TcpStream> {
        match self {
            Self::Plain(stream) => Some(stream),
            Self::Handshake(accept) => accept.get_ref(),
            Self::Encrypted(stream) => Some(stream.get_ref().0),
            Self::Failed => None,
        }
    }

    /// Ready once bytes can be exchanged.
    fn poll_handshake(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Plain(_) | Self::Encrypted(_) => Poll::Ready(Ok(())),
            Self::Failed => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
            Self::Handshake(accept) => {
                let result = ready!(Pin::new(accept).poll(context));
                let (channel, result) = match result {
                    Ok(stream) => (Self::Encrypted(Box::new(stream)), Ok(())),
                    Err(error) => (Self::Failed, Err(error)),
                };
                *self = channel;
                Poll::Ready(result)
            }
        }
    }
}

impl AsyncRead for Channel {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_handshake(context))?;
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Encrypted(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Handshake(_) | Self::Failed => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        }
    }
}

impl AsyncWrite for Channel {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_handshake(context))?;
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Encrypted(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Handshake(_) | Self::Failed => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Encrypted(stream) => Pin::new(stream).poll_flush(context),
            Self::Handshake(_) | Self::Failed => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Encrypted(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Handshake(_) | Self::Failed => Poll::Ready(Ok(())),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_handshake(context))?;
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(context, buffers),
            Self::Encrypted(stream) => Pin::new(stream).poll_write_vectored(context, buffers),
            Self::Handshake(_) | Self::Failed => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}
