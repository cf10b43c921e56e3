//! TLS with a certificate of the server's own making.
//!
//! Each start makes an authority and a certificate that it signs for the loopback interface, both valid for some days
//! around now. Whoever is to trust the server is given the authority as PEM, the form that npm's `cafile` takes. HTTP/2
//! and HTTP/1.1 are offered by ALPN. The handshake happens on the connection's first read, so a client that connects and
//! says nothing keeps nobody from being accepted.
//!
//! Of clients it can want certificates, too. They are signed by another authority of its own, which also signs one to
//! hand out.
use std::future::Future as _;
use std::io;
use std::net::Ipv6Addr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType,
};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;
use tokio_rustls::{Accept, TlsAcceptor};

use crate::TestkitError;

/// Before now, for clocks that differ, and after, for servers that run for long.
const VALID_FOR: Duration = Duration::from_secs(30 * 24 * 3600);

/// What a server wants of clients' certificates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientCertificates {
    /// Nothing: it asks for none.
    #[default]
    Ignored,
    /// It asks for one that it has handed out, and goes on with who shows none. Who shows another is turned away.
    Asked,
    /// It goes on only with who shows one that it has handed out.
    Required,
}

/// A certificate for a client and its key, as PEM.
#[derive(Clone, Debug)]
pub struct ClientIdentity {
    /// The certificate.
    pub certificate: String,
    /// Its private key.
    pub key: String,
}

/// Who the server is, and whom it knows.
pub(super) struct Identity {
    config: Arc<ServerConfig>,
    authority: String,
    client: Option<ClientIdentity>,
}

impl Identity {
    /// Makes keys and certificates.
    pub(super) fn generate(wanted: ClientCertificates) -> Result<Self, TestkitError> {
        let failed = |source| TestkitError::Certificate { source };
        let (authority, issuer) = new_authority("gantry-registry").map_err(failed)?;

        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let mut params = CertificateParams::new(names).map_err(failed)?;
        params.subject_alt_names.push(SanType::IpAddress(Ipv6Addr::LOCALHOST.into()));
        params.distinguished_name.push(DnType::CommonName, "localhost");
        limit(&mut params);
        let key = KeyPair::generate().map_err(failed)?;
        let certificate = params.signed_by(&key, &issuer).map_err(failed)?;

        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let clients =
            (wanted != ClientCertificates::Ignored).then(|| Clients::generate(wanted, &provider)).transpose()?;
        let failed = |source| TestkitError::Tls { source };
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.map_err(failed)?;
        let config = match &clients {
            Some(clients) => config.with_client_cert_verifier(Arc::clone(&clients.verifier)),
            None => config.with_no_client_auth(),
        };
        let mut config = config
            .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
            .map_err(failed)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self {
            config: Arc::new(config),
            authority: authority.pem(),
            client: clients.map(|clients| clients.identity),
        })
    }

    /// The certificate to trust, as PEM.
    pub(super) fn authority(&self) -> &str {
        &self.authority
    }

    /// What a client is to show, if any is wanted.
    pub(super) fn client(&self) -> Option<&ClientIdentity> {
        self.client.as_ref()
    }

    /// What turns accepted streams into encrypted ones.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.config))
    }
}

/// An authority, and what signs in its name.
fn new_authority(name: &str) -> Result<(Certificate, Issuer<'static, KeyPair>), rcgen::Error> {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    limit(&mut params);
    let key = KeyPair::generate()?;
    let authority = params.self_signed(&key)?;
    Ok((authority, Issuer::new(params, key)))
}

/// What looks at clients' certificates, and one that it takes.
struct Clients {
    verifier: Arc<dyn ClientCertVerifier>,
    identity: ClientIdentity,
}

impl Clients {
    fn generate(wanted: ClientCertificates, provider: &Arc<CryptoProvider>) -> Result<Self, TestkitError> {
        let failed = |source| TestkitError::Certificate { source };
        let (authority, issuer) = new_authority("gantry-registry clients").map_err(failed)?;
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "client");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        limit(&mut params);
        let key = KeyPair::generate().map_err(failed)?;
        let certificate = params.signed_by(&key, &issuer).map_err(failed)?;

        let failed = |source| TestkitError::Tls { source };
        let mut roots = RootCertStore::empty();
        roots.add(authority.der().clone()).map_err(failed)?;
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
        let verifier = if wanted == ClientCertificates::Asked { verifier.allow_unauthenticated() } else { verifier };
        let verifier = verifier.build().map_err(|error| failed(rustls::Error::General(error.to_string())))?;
        Ok(Self { verifier, identity: ClientIdentity { certificate: certificate.pem(), key: key.serialize_pem() } })
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
