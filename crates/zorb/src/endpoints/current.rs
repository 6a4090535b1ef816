//! The endpoints that references name at present. They depend on the addresses of the host, which may come after the
//! server has started, and change while it runs.

use super::interfaces::{self, HostAddresses};
use super::{Listen, Publishing, publish};
use crate::profile::Published;
use arc_swap::ArcSwap;
use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use zorb_transport::Endpoint;

/// The least time between two looks at the host's interfaces, each of which costs some system calls.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Most addresses that are remembered because a reference may name them.
const MAX_NAMED_ADDRESSES: usize = 64;

/// The published endpoints of an ORB, at present.
///
/// A server that listens on all interfaces publishes the host's addresses. They are read anew when a reference is made,
/// at most once in [`LOOK_INTERVAL`]; an ORB that listens to addresses of its own never reads them. Addresses of a lower
/// rank do not replace better ones: a host whose network is down for a moment does not publish its loopback address.
pub(crate) struct CurrentEndpoints {
    listening: Vec<(Listen, Endpoint)>,
    publishing: Publishing,
    look: Box<dyn Fn() -> HostAddresses + Send + Sync>,
    begun: Instant,
    /// The time of the next look, in milliseconds since `begun`.
    next_look: AtomicU64,
    /// Whether the endpoints depend on the addresses of the host.
    depend_on_host: bool,
    published: ArcSwap<Published>,
    host: ArcSwap<HostAddresses>,
    /// All addresses of the host that references may name, the oldest first.
    named: Mutex<VecDeque<IpAddr>>,
}

impl core::fmt::Debug for CurrentEndpoints {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let published = self.published.load();
        f.debug_struct("CurrentEndpoints")
            .field("published", &published.endpoints)
            .finish_non_exhaustive()
    }
}

impl CurrentEndpoints {
    /// The endpoints of an ORB that listens to `listening`. `published` has everything else that references state, and the
    /// endpoints of an ORB that listens nowhere.
    ///
    /// # Errors
    /// When the configured rules yield no endpoint.
    pub(crate) fn new(
        published: Published,
        publishing: &Publishing,
        listening: Vec<(Listen, Endpoint)>,
    ) -> Result<Self, String> {
        Self::with_look(published, publishing, listening, interfaces::look)
    }

    fn with_look(
        mut published: Published,
        publishing: &Publishing,
        listening: Vec<(Listen, Endpoint)>,
        look: impl Fn() -> HostAddresses + Send + Sync + 'static,
    ) -> Result<Self, String> {
        let depend_on_host = listening
            .iter()
            .any(|(_, endpoint)| is_everywhere(endpoint));
        let host = if depend_on_host {
            look()
        } else {
            HostAddresses::default()
        };
        let endpoints = publishing.endpoints(&listening, &host)?;
        if !endpoints.is_empty() {
            published.endpoints = endpoints;
        }
        Ok(Self {
            listening,
            publishing: publishing.clone(),
            look: Box::new(look),
            begun: Instant::now(),
            next_look: AtomicU64::new(if depend_on_host {
                millis(LOOK_INTERVAL)
            } else {
                0
            }),
            depend_on_host,
            published: ArcSwap::from_pointee(published),
            named: Mutex::new(host.all().collect()),
            host: ArcSwap::from_pointee(host),
        })
    }

    /// What references state.
    pub(crate) fn published(&self) -> Arc<Published> {
        self.published_at(Instant::now())
    }

    fn published_at(&self, now: Instant) -> Arc<Published> {
        if self.depend_on_host {
            self.look_if_due(now);
        }
        self.published.load_full()
    }

    /// Whether references name no endpoint.
    pub(crate) fn is_empty(&self) -> bool {
        self.published.load().endpoints.is_empty()
    }

    /// The published endpoints of a listener that the configured rules do not concern.
    pub(crate) fn of_listener(&self, listen: &Listen, endpoint: &Endpoint) -> Vec<Endpoint> {
        if is_everywhere(endpoint) {
            self.look_if_due(Instant::now());
        }
        publish::alone(listen, endpoint, &self.host.load())
    }

    /// Whether a reference that names `endpoint` may lead to the listener at `listening`, now or by an earlier address
    /// of the host.
    pub(crate) fn names(&self, listening: &Endpoint, endpoint: &Endpoint) -> bool {
        let address = endpoint.host().and_then(|host| host.parse::<IpAddr>().ok());
        listening == endpoint
            || (is_everywhere(listening)
                && listening.scheme() == endpoint.scheme()
                && listening.port() == endpoint.port()
                && address.is_some_and(|address| self.named().contains(&address)))
    }

    /// Whether `endpoint` is one of this ORB's in a reference that it has made.
    pub(crate) fn is_own(&self, endpoint: &Endpoint) -> bool {
        self.published.load().endpoints.contains(endpoint)
            || (self.listening.iter()).any(|(_, listening)| self.names(listening, endpoint))
    }

    fn named(&self) -> MutexGuard<'_, VecDeque<IpAddr>> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the addresses of the host unless they were read a moment ago.
    fn look_if_due(&self, now: Instant) {
        let now = millis(now.saturating_duration_since(self.begun));
        let due = self.next_look.load(Ordering::Relaxed);
        let next = now.saturating_add(millis(LOOK_INTERVAL));
        let is_mine = |due| {
            let (set, failed) = (Ordering::Relaxed, Ordering::Relaxed);
            (self.next_look.compare_exchange(due, next, set, failed)).is_ok()
        };
        // One thread looks; others go on with what is known.
        if now < due || !is_mine(due) {
            return;
        }
        let found = (self.look)();
        let mut named = self.named();
        let before = self.host.load_full();
        let host = before.replaced_by(found);
        if host == *before {
            return;
        }
        for address in host.all() {
            if !named.contains(&address) {
                named.push_back(address);
            }
        }
        let excess = named.len().saturating_sub(MAX_NAMED_ADDRESSES);
        named.drain(..excess);
        // An address is remembered before the first reference names it.
        if self.depend_on_host
            && let Ok(endpoints) = self.publishing.endpoints(&self.listening, &host)
        {
            let published = self.published.load_full();
            if published.endpoints != endpoints {
                tracing::info!(
                    ?endpoints,
                    "the host's addresses have changed: references name others from now on"
                );
                let mut published = Published::clone(&published);
                published.endpoints = endpoints;
                self.published.store(Arc::new(published));
            }
        }
        self.host.store(Arc::new(host));
    }
}

/// Whether the endpoint is every interface of the host.
fn is_everywhere(endpoint: &Endpoint) -> bool {
    let address = endpoint.host().and_then(|host| host.parse::<IpAddr>().ok());
    address.is_some_and(|address| address.is_unspecified())
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::interfaces::Address;
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use zorb_cdr::CharSet;
    use zorb_giop::Version;
    use zorb_transport::Registry;

    /// A host whose interfaces change, and the looks at them.
    #[derive(Clone, Default)]
    struct Host(Arc<(Mutex<Vec<Address>>, AtomicUsize)>);

    impl Host {
        fn has(&self, addresses: &[(&str, &str)]) {
            let addresses = addresses.iter().map(|(interface, ip)| Address {
                interface: (*interface).to_owned(),
                ip: ip.parse().unwrap(),
                running: true,
            });
            *self.0.0.lock().unwrap() = addresses.collect();
        }

        fn looks(&self) -> usize {
            self.0.1.load(Ordering::Relaxed)
        }

        /// An ORB on this host.
        fn orb(&self, listening: &[&str], rules: &[&str]) -> CurrentEndpoints {
            let transports = Registry::default();
            let listening = listening.iter().map(|text| {
                let listen = Listen::read(text, &transports).unwrap();
                let endpoint = listen.address.endpoint.clone();
                (listen, endpoint)
            });
            let rules = rules
                .iter()
                .map(|rule| super::super::Publish::read(rule, &transports).unwrap());
            let publishing = Publishing {
                rules: rules.collect(),
                ..Publishing::default()
            };
            let published = Published {
                version: Version::HIGHEST,
                endpoints: Vec::new(),
                native_char_set: CharSet::default(),
                platform: None,
                only_reachable: false,
            };
            let host = self.clone();
            let look = move || {
                host.0.1.fetch_add(1, Ordering::Relaxed);
                HostAddresses::of(&host.0.0.lock().unwrap(), &[])
            };
            CurrentEndpoints::with_look(published, &publishing, listening.collect(), look).unwrap()
        }
    }

    fn named(orb: &CurrentEndpoints, seconds: u64) -> Vec<String> {
        let published = orb.published_at(orb.begun + Duration::from_secs(seconds));
        published
            .endpoints
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    const LO: (&str, &str) = ("lo", "127.0.0.1");

    #[test]
    fn a_server_that_started_before_its_network_publishes_the_address_once_it_has_one() {
        let host = Host::default();
        host.has(&[LO]);
        let orb = host.orb(&["iiop://0.0.0.0:1", "uiop:///x"], &[]);
        assert_eq!(named(&orb, 0), ["iiop://127.0.0.1:1", "uiop:///x"]);
        host.has(&[LO, ("eth0", "192.0.2.1")]);
        assert_eq!(named(&orb, 2), ["iiop://192.0.2.1:1", "uiop:///x"]);
        host.has(&[LO, ("eth0", "192.0.2.7"), ("eth1", "203.0.113.1")]);
        let both = ["iiop://192.0.2.7:1", "iiop://203.0.113.1:1", "uiop:///x"];
        assert_eq!(named(&orb, 4), both);
        // References that were made before still lead to this ORB.
        for address in ["127.0.0.1", "192.0.2.1", "203.0.113.1"] {
            assert!(orb.is_own(&Endpoint::iiop(address, 1)), "{address}");
            assert!(!orb.is_own(&Endpoint::iiop(address, 2)), "{address}");
        }
        assert!(!orb.is_own(&Endpoint::iiop("192.0.2.2", 1)));
    }

    #[test]
    fn a_network_that_is_down_for_a_while_does_not_bring_the_loopback_address_back() {
        let host = Host::default();
        host.has(&[LO, ("docker0", "172.17.0.1")]);
        let orb = host.orb(&["iiop://0.0.0.0:1"], &[]);
        assert_eq!(named(&orb, 0), ["iiop://172.17.0.1:1"]);
        host.has(&[LO, ("docker0", "172.17.0.1"), ("eth0", "192.0.2.1")]);
        assert_eq!(named(&orb, 2), ["iiop://192.0.2.1:1"]);
        for worse in [&[LO][..], &[LO, ("docker0", "172.17.0.1")], &[]] {
            host.has(worse);
            assert_eq!(named(&orb, 4), ["iiop://192.0.2.1:1"]);
        }
    }

    #[test]
    fn rules_are_applied_to_the_new_addresses_and_where_they_fail_the_old_ones_stay() {
        let host = Host::default();
        host.has(&[LO, ("eth0", "192.0.2.1"), ("eth0", "fd00::1")]);
        let orb = host.orb(&["iiop://[::]:1"], &["ipv6"]);
        assert_eq!(named(&orb, 0), ["iiop://[fd00::1]:1"]);
        host.has(&[LO, ("eth0", "192.0.2.1"), ("eth0", "fd00::2")]);
        assert_eq!(named(&orb, 2), ["iiop://[fd00::2]:1"]);
        host.has(&[LO, ("eth0", "192.0.2.1")]);
        assert_eq!(named(&orb, 4), ["iiop://[fd00::2]:1"]);
    }

    #[test]
    fn interfaces_are_read_once_in_a_second_and_never_for_addresses_of_ones_own() {
        let host = Host::default();
        host.has(&[LO]);
        let orb = host.orb(&["iiop://0.0.0.0:1"], &[]);
        for _ in 0..1_000 {
            named(&orb, 0);
        }
        assert_eq!(host.looks(), 1);
        for _ in 0..1_000 {
            named(&orb, 3);
        }
        assert_eq!(host.looks(), 2);
        let fixed = host.orb(&["iiop://127.0.0.1:1", "iiop://bank:2"], &[]);
        named(&fixed, 9);
        assert_eq!(host.looks(), 2);
    }
}
