//! The replay registry: an HTTP server on the loopback interface.
//!
//! A server owns its threads: it serves tests of any runtime, or of none, and dropping it ends every connection, also
//! those that a fault holds open. HTTP/1.1 and HTTP/2 come over the same port: without TLS by prior knowledge, with it
//! ([`ServerOptions::with_tls`]) by ALPN.
//! By default nothing ever leaves the machine: what is not there answers 404 and is counted as a miss.
mod big;
mod connection;
mod control;
mod cors;
mod reply;
mod respond;
mod tls;

use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;

use crate::catalog::Catalog;
use crate::stats::Counters;
use crate::upstream::Upstream;
use crate::{FaultRule, LogEntry, Recording, Stats, TestkitError, fixtures};
use connection::{ConnectionHandle, ServerListener};
use tls::Identity;
pub use tls::{ClientCertificates, ClientIdentity};

/// What a server gives out: fixtures, a recording, or both (fixtures win).
#[derive(Clone, Debug, Default)]
pub struct Source {
    fixtures: fixtures::Registry,
    recording: Option<Recording>,
}

impl Source {
    /// Fixtures in front of a recording.
    pub fn new(fixtures: fixtures::Registry, recording: Recording) -> Self {
        Self { fixtures, recording: Some(recording) }
    }
}

impl From<fixtures::Registry> for Source {
    fn from(fixtures: fixtures::Registry) -> Self {
        Self { fixtures, recording: None }
    }
}

impl From<Recording> for Source {
    fn from(recording: Recording) -> Self {
        Self { fixtures: fixtures::Registry::new(), recording: Some(recording) }
    }
}

/// How a server behaves.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    source: Source,
    port: u16,
    public_url: Option<String>,
    record_from: Option<String>,
    latency: Option<Duration>,
    bits_per_second: Option<u64>,
    token: Option<String>,
    tls: bool,
    client_certificates: ClientCertificates,
    faults: Vec<FaultRule>,
}

impl ServerOptions {
    /// A server of this source on any free port.
    pub fn new(source: impl Into<Source>) -> Self {
        Self { source: source.into(), ..Self::default() }
    }

    /// Listens on this port; 0 is any free one.
    pub fn with_port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Writes this address into documents instead of the server's own.
    pub fn with_public_url(mut self, url: &str) -> Self {
        self.public_url = Some(format!("{}/", url.trim_end_matches('/')));
        self
    }

    /// Fetches what is missing from this registry and keeps it in the recording.
    pub fn with_record_from(mut self, url: &str) -> Self {
        self.record_from = Some(url.into());
        self
    }

    /// Waits this long before every answer.
    pub fn with_latency(mut self, latency: Duration) -> Self {
        self.latency = Some(latency);
        self
    }

    /// Sends the bodies of one connection at most this fast.
    pub fn with_bandwidth(mut self, bits_per_second: u64) -> Self {
        self.bits_per_second = Some(bits_per_second.max(1));
        self
    }

    /// Answers 401 to requests without this bearer token.
    pub fn with_token(mut self, token: &str) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Speaks TLS, with a certificate that it makes now; HTTP/2 is offered too. [`Server::certificate`] is what to trust.
    pub fn with_tls(mut self) -> Self {
        self.tls = true;
        self
    }

    /// With TLS, wants this of clients' certificates. [`Server::client`] is what one is to show.
    pub fn with_client_certificates(mut self, wanted: ClientCertificates) -> Self {
        self.client_certificates = wanted;
        self
    }

    /// Plays this fault from the start.
    pub fn with_fault(mut self, rule: FaultRule) -> Self {
        self.faults.push(rule);
        self
    }

    /// Starts the server.
    pub fn start(self) -> Result<Server, TestkitError> {
        Server::start_with(self)
    }
}

/// What all requests share.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) catalog: Catalog,
    pub(crate) counters: Counters,
    pub(crate) faults: Mutex<Vec<FaultRule>>,
    pub(crate) latency: Option<Duration>,
    pub(crate) token: Option<String>,
}

impl State {
    pub(crate) fn faults(&self) -> MutexGuard<'_, Vec<FaultRule>> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn stats(&self) -> Stats {
        let upstream_fetches = self.catalog.upstream_fetches.load(Ordering::Relaxed);
        Stats { upstream_fetches, ..self.counters.snapshot() }
    }

    pub(crate) fn reset(&self) {
        self.counters.reset();
        self.catalog.upstream_fetches.store(0, Ordering::Relaxed);
    }
}

/// A running server; dropping it ends it.
#[derive(Debug)]
pub struct Server {
    url: String,
    certificate: Option<String>,
    client: Option<ClientIdentity>,
    state: Arc<State>,
    runtime: Option<tokio::runtime::Runtime>,
}

/// The faults of a running server.
#[derive(Clone, Debug)]
pub struct Faults {
    state: Arc<State>,
}

impl Faults {
    /// Adds a rule after those that are there.
    pub fn add(&self, rule: FaultRule) {
        self.state.faults().push(rule);
    }

    /// Replaces all rules.
    pub fn set(&self, rules: Vec<FaultRule>) {
        *self.state.faults() = rules;
    }

    /// Takes all rules away.
    pub fn clear(&self) {
        self.set(Vec::new());
    }

    /// The rules, with the turns they have left.
    pub fn list(&self) -> Vec<FaultRule> {
        self.state.faults().clone()
    }
}

impl Server {
    /// Serves a source on any free port.
    pub async fn start(source: impl Into<Source>) -> Result<Server, TestkitError> {
        ServerOptions::new(source).start()
    }

    /// Address of the server; ends with `/`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The certificate to trust, as PEM; `None` without TLS.
    pub fn certificate(&self) -> Option<&str> {
        self.certificate.as_deref()
    }

    /// The certificate that clients are to show; `None` where none is wanted.
    pub fn client(&self) -> Option<&ClientIdentity> {
        self.client.as_ref()
    }

    /// Counts since the start or the last reset.
    pub fn stats(&self) -> Stats {
        self.state.stats()
    }

    /// Every request since the start or the last reset, in the order of their answers.
    pub fn log(&self) -> Vec<LogEntry> {
        self.state.counters.log()
    }

    /// Sets all counts to zero and empties the log.
    pub fn reset(&self) {
        self.state.reset();
    }

    /// The faults.
    pub fn faults(&self) -> Faults {
        Faults { state: self.state.clone() }
    }

    /// Keeps misses from going upstream (`true`), or lets them (only in a server that records).
    pub fn freeze(&self, frozen: bool) {
        self.state.catalog.thaw(!frozen);
    }

    fn start_with(options: ServerOptions) -> Result<Server, TestkitError> {
        let address = SocketAddr::from(([127, 0, 0, 1], options.port));
        let failed = |source| TestkitError::Listen { address: address.to_string(), source };
        let listener = std::net::TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let identity = options.tls.then(|| Identity::generate(options.client_certificates)).transpose()?;
        let scheme = if identity.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{}/", listener.local_addr().map_err(failed)?);
        let upstream = options.record_from.as_deref().map(Upstream::new).transpose()?;
        let base = options.public_url.unwrap_or_else(|| url.clone());
        let mut faults = options.source.fixtures.fault_rules().to_vec();
        faults.extend(options.faults);
        let state = Arc::new(State {
            catalog: Catalog::new(base, options.source.fixtures, options.source.recording, upstream),
            counters: Counters::default(),
            faults: Mutex::new(faults),
            latency: options.latency,
            token: options.token,
        });
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("gantry-registry")
            .enable_all()
            .build()
            .map_err(failed)?;
        let entered = runtime.enter();
        let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
        drop(entered);
        let tls = identity.as_ref().map(Identity::acceptor);
        let listener = ServerListener::new(listener, tls, options.bits_per_second);
        let router = Router::new().fallback(respond::respond).with_state(state.clone());
        let service = router.into_make_service_with_connect_info::<ConnectionHandle>();
        // Ends with the runtime only: accepting never fails for good.
        runtime.spawn(async move { axum::serve(listener, service).await });
        let client = identity.as_ref().and_then(Identity::client).cloned();
        let certificate = identity.map(|identity| identity.authority().to_owned());
        Ok(Server { url, certificate, client, state, runtime: Some(runtime) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // In the background, because a test may drop the server inside a runtime of its own.
            runtime.shutdown_background();
        }
    }
}
