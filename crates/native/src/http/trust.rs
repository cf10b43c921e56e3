//! Which certificates of servers are believed, and which are shown to them.
//!
//! The system's are hundreds of files, which take longer to read than a small project to resolve. They are read when the first
//! server shows its certificate: one that is asked without TLS needs none.
//!
//! A small container has none. Node, and so npm, brings Mozilla's along and works there; so they come along here, too, for
//! systems that have no others, and for nobody who has said whom to trust: with `ca` and `cafile` npm trusts those alone, and
//! certificates that the environment names are to be these and no others.

use super::certificates;
use crate::NativeError;
use rustls::client::ResolvesClientCert;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{AlertDescription, ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::{fmt, fs, io};

/// A certificate to show to servers that ask for one, and its private key.
#[derive(Clone)]
pub struct ClientCertificate {
    pem: Arc<[u8]>,
    shown: Arc<CertifiedKey>,
}

impl ClientCertificate {
    /// Reads both from PEM; the error says what is wrong with which of them. The certificate may be followed by those that
    /// vouch for it.
    pub fn from_pem(certificate: &[u8], key: &[u8]) -> Result<Self, NativeError> {
        let failed = |message: String| NativeError::Client { message };
        let chain: Vec<CertificateDer<'static>> = certificates(certificate).collect::<Result<_, _>>()?;
        if chain.is_empty() {
            return Err(failed("there is no certificate in it".to_owned()));
        }
        // What a library says of a key might show some of it.
        let parsed = PrivateKeyDer::from_pem_slice(key)
            .map_err(|_| failed("its key is none that could be read: PEM, without a password".to_owned()))?;
        let shown = CertifiedKey::from_der(chain, parsed, &ring::default_provider())
            .map_err(|error| failed(format!("its key cannot be used with it: {error}")))?;
        Ok(Self { pem: [certificate, b"\n", key].concat().into(), shown: Arc::new(shown) })
    }

    /// The same for a client that is not [configured](configuration) here.
    pub(super) fn identity(&self) -> Result<reqwest::Identity, reqwest::Error> {
        reqwest::Identity::from_pem(&self.pem)
    }
}

impl fmt::Debug for ClientCertificate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ClientCertificate").finish_non_exhaustive()
    }
}

/// Certificates that are believed beside the system's.
#[derive(Debug)]
pub(super) struct Trusted {
    pub added: Vec<CertificateDer<'static>>,
    /// A file with more, of which what cannot be used is passed over.
    pub extra: Option<PathBuf>,
    /// Whether the environment says which the system's are.
    pub is_system_chosen: bool,
}

impl Trusted {
    fn all(&self) -> impl Iterator<Item = CertificateDer<'static>> {
        let extra = self.extra.as_ref().and_then(|path| fs::read(path).ok()).unwrap_or_default();
        let extra: Vec<_> = certificates(&extra).filter_map(Result::ok).collect();
        let mut store = rustls::RootCertStore::empty();
        let usable = extra.into_iter().filter(move |certificate| store.add(certificate.clone()).is_ok());
        self.added.iter().cloned().chain(usable)
    }
}

/// The system's own certificates, and its way to verify by them; fails where it has none.
type System = fn(Arc<CryptoProvider>) -> Result<Verifier, Error>;

/// The system's way to verify, with certificates added to its own, made when it is first needed.
#[derive(Debug)]
struct Trust {
    trusted: Trusted,
    system: System,
    provider: Arc<CryptoProvider>,
    verifier: OnceLock<Result<Verifier, Error>>,
}

impl Trust {
    fn new(trusted: Trusted, system: System, provider: Arc<CryptoProvider>) -> Self {
        Self { trusted, system, provider, verifier: OnceLock::new() }
    }

    fn verifier(&self) -> Result<&Verifier, Error> {
        self.verifier.get_or_init(|| self.make()).as_ref().map_err(Clone::clone)
    }

    fn make(&self) -> Result<Verifier, Error> {
        let with = |roots| Verifier::new_with_extra_roots(roots, Arc::clone(&self.provider));
        let trusted: Vec<_> = self.trusted.all().collect();
        if !self.trusted.added.is_empty() || (self.trusted.is_system_chosen && !trusted.is_empty()) {
            return with(trusted);
        }
        // Where there are more the system's are read twice: there is no other way to learn whether it has any.
        match (self.system)(Arc::clone(&self.provider)) {
            Ok(verifier) if trusted.is_empty() => Ok(verifier),
            Ok(_) => with(trusted),
            Err(Error::General(_)) if self.trusted.is_system_chosen => {
                Err(Error::General("SSL_CERT_FILE and SSL_CERT_DIR name no certificate that can be read".to_owned()))
            }
            Err(Error::General(_)) => with(mozillas().chain(trusted).collect()),
            Err(error) => Err(error),
        }
    }
}

/// Those that browsers and Node bring along, as of when this was built.
fn mozillas() -> impl Iterator<Item = CertificateDer<'static>> {
    webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().cloned()
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.verifier()?.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier()?.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier()?.verify_tls13_signature(message, cert, dss)
    }

    /// Asked before any server has answered; the system's way offers the same.
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Whether an error says that one of the two does not take the other's certificate, which will not change.
pub(super) fn is_refusal(error: &(dyn std::error::Error + 'static)) -> bool {
    // An error of input and output that is one of something else passes that over when it is asked for its source.
    let mut within = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    while let Some(inner) = within.and_then(|inner| inner.downcast_ref::<io::Error>()) {
        within = inner.get_ref();
    }
    match error.downcast_ref::<Error>().or_else(|| within?.downcast_ref()) {
        Some(Error::InvalidCertificate(_) | Error::NoCertificatesPresented) => true,
        Some(Error::AlertReceived(alert)) => matches!(
            alert,
            AlertDescription::NoCertificate
                | AlertDescription::BadCertificate
                | AlertDescription::UnsupportedCertificate
                | AlertDescription::CertificateRevoked
                | AlertDescription::CertificateExpired
                | AlertDescription::CertificateUnknown
                | AlertDescription::UnknownCA
                | AlertDescription::AccessDenied
                | AlertDescription::CertificateRequired
        ),
        _ => false,
    }
}

/// How TLS connections are made, HTTP/1.1 over them, with a certificate `shown` to servers that ask for one. With
/// `is_needed_soon` the system's certificates are read meanwhile.
pub(super) fn configuration(
    provider: Arc<CryptoProvider>,
    trusted: Trusted,
    shown: Option<&ClientCertificate>,
    is_needed_soon: bool,
) -> Result<ClientConfig, Error> {
    let trust = Arc::new(Trust::new(trusted, Verifier::new, provider));
    if is_needed_soon {
        let trust = Arc::clone(&trust);
        // What goes wrong is told to whoever verifies, who reads them where there is no thread to spare.
        let _ = thread::Builder::new().spawn(move || trust.verifier().is_ok());
    }
    configured(trust, shown)
}

fn configured(trust: Arc<Trust>, shown: Option<&ClientCertificate>) -> Result<ClientConfig, Error> {
    let configuration = ClientConfig::builder_with_provider(Arc::clone(&trust.provider))
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(trust);
    let mut configuration = match shown {
        Some(ClientCertificate { shown, .. }) => {
            let resolver: Arc<dyn ResolvesClientCert> = Arc::new(SingleCertAndKey::from(Arc::clone(shown)));
            configuration.with_client_cert_resolver(resolver)
        }
        None => configuration.with_no_client_auth(),
    };
    configuration.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(configuration)
}

#[cfg(test)]
mod tests;
