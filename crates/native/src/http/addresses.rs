//! Where hosts are: looked up once for all connections, which are spread over all addresses.
//!
//! Many connections at once ask for one name: they wait for one lookup, and what it found is used for
//! [`LIFETIME`]. The client itself would ask the system for each, and send all of them to the first address. Here each
//! connection begins at the next address of its family. The family that the system puts first stays first: where an address
//! does not answer, a connection goes on to the next one, and to the other family's beside it after 300 ms (which hyper
//! does by itself). A lookup that fails is not remembered.

use crate::threads;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use rustc_hash::FxHashMap;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

#[cfg(test)]
mod tests;

/// How long an answer is used. The system does not say how long it may be; an install does not take this long.
const LIFETIME: Duration = Duration::from_secs(300);

/// Asks for the addresses of a host, the best first.
pub(super) type Lookup = Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync>;

/// A lookup that everybody who needs it waits for.
type Flight = Shared<BoxFuture<'static, Result<Arc<Found>, Arc<io::Error>>>>;

/// Addresses by host. Clones share them.
#[derive(Clone)]
pub(super) struct Addresses {
    lookup: Lookup,
    known: Arc<Mutex<FxHashMap<String, (Instant, Flight)>>>,
}

impl std::fmt::Debug for Addresses {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Addresses").finish_non_exhaustive()
    }
}

/// The addresses of one host.
struct Found {
    /// Those of the family that is to be tried first.
    preferred: Vec<IpAddr>,
    others: Vec<IpAddr>,
    /// How many connections were told so far.
    told: AtomicUsize,
}

impl Found {
    fn new(addresses: Vec<IpAddr>) -> Option<Self> {
        let is_v6 = addresses.first()?.is_ipv6();
        let (preferred, others) = addresses.into_iter().partition(|address| address.is_ipv6() == is_v6);
        Some(Self { preferred, others, told: AtomicUsize::new(0) })
    }

    /// All addresses for the next connection.
    fn next(&self) -> Vec<SocketAddr> {
        let number = self.told.fetch_add(1, Ordering::Relaxed);
        let turned = |family: &[IpAddr]| {
            let (before, first) = family.split_at(number % family.len().max(1));
            [first, before].concat()
        };
        let addresses = turned(&self.preferred).into_iter().chain(turned(&self.others));
        // The connector puts the port in.
        addresses.map(|address| SocketAddr::new(address, 0)).collect()
    }
}

/// Asks the system, and waits for it.
fn addresses_of(host: &str) -> io::Result<Vec<IpAddr>> {
    Ok((host, 0).to_socket_addrs()?.map(|address| address.ip()).collect())
}

impl Addresses {
    /// As the system knows them.
    pub fn of_system() -> Self {
        let lookup = |host: String| {
            async move {
                threads::aside(move || addresses_of(&host)).await.unwrap_or_else(|| Err(io::ErrorKind::Other.into()))
            }
            .boxed()
        };
        Self::new(Arc::new(lookup))
    }

    pub fn new(lookup: Lookup) -> Self {
        Self { lookup, known: Arc::default() }
    }

    fn known(&self) -> MutexGuard<'_, FxHashMap<String, (Instant, Flight)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn flight(&self, host: &str) -> Flight {
        let mut known = self.known();
        if let Some((begun, flight)) = known.get(host)
            && begun.elapsed() < LIFETIME
        {
            return flight.clone();
        }
        let found = (self.lookup)(host.to_owned());
        let flight = async move {
            let nothing = || io::Error::new(io::ErrorKind::NotFound, "the name has no address");
            Found::new(found.await?).map(Arc::new).ok_or_else(|| Arc::new(nothing()))
        };
        let flight = flight.boxed().shared();
        known.insert(host.to_owned(), (Instant::now(), flight.clone()));
        flight
    }

    /// The next one to ask looks it up again.
    fn forget(&self, host: &str, failed: &Flight) {
        let mut known = self.known();
        if known.get(host).is_some_and(|(_, flight)| flight.ptr_eq(failed)) {
            known.remove(host);
        }
    }
}

impl Resolve for Addresses {
    fn resolve(&self, name: Name) -> Resolving {
        let (addresses, host) = (self.clone(), name.as_str().to_owned());
        Box::pin(async move {
            let flight = addresses.flight(&host);
            match flight.clone().await {
                Ok(found) => Ok(Box::new(found.next().into_iter()) as Addrs),
                Err(error) => {
                    addresses.forget(&host, &flight);
                    Err(error.into())
                }
            }
        })
    }
}
