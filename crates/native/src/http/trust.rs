//! Which certificates of servers are believed.
//!
//! The system's are hundreds of files, which take longer to read than a small project to resolve. They are read when the first
//! server shows its certificate: one that is asked without TLS needs none, and none need be there.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;
use std::sync::{Arc, OnceLock};
use std::thread;

/// The system's way to verify, with certificates added to its own, made when it is first needed.
#[derive(Debug)]
struct Trust {
    added: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
    verifier: OnceLock<Result<Verifier, Error>>,
}

impl Trust {
    fn verifier(&self) -> Result<&Verifier, Error> {
        let make = || Verifier::new_with_extra_roots(self.added.iter().cloned(), Arc::clone(&self.provider));
        self.verifier.get_or_init(make).as_ref().map_err(Clone::clone)
    }
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

/// How TLS connections are made, HTTP/1.1 over them. With `is_needed_soon` the system's certificates are read meanwhile.
pub(super) fn configuration(
    provider: Arc<CryptoProvider>,
    added: Vec<CertificateDer<'static>>,
    is_needed_soon: bool,
) -> Result<ClientConfig, Error> {
    let trust = Arc::new(Trust { added, provider: Arc::clone(&provider), verifier: OnceLock::new() });
    if is_needed_soon {
        let trust = Arc::clone(&trust);
        // What goes wrong is told to whoever verifies.
        thread::spawn(move || trust.verifier().is_ok());
    }
    let mut configuration = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(trust)
        .with_no_client_auth();
    configuration.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(configuration)
}
