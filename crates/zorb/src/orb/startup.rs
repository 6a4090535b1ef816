//! The start of an ORB: listens, makes its parts, and serves what it accepts.

use super::{Handles, Orb, OrbInner};
use crate::bidirectional::{BidirectionalCalls, unreachable_endpoint};
use crate::deferred::DeferredRequests;
use crate::dynamic::answer_interface_requests;
use crate::endpoints::{CurrentEndpoints, warn_unreachable};
use crate::error::Error;
use crate::instance::random_instance;
use crate::interceptors::OrbInitInfo;
use crate::keys::Keys;
use crate::options::{OptionError, Source};
use crate::orb_settings::Settings;
use crate::outgoing::{self, NamedSockets};
use crate::policy::BidirectionalPolicy;
use crate::profile::{Published, describe_endpoints, describe_key};
use crate::real_time::RealTime;
use crate::serve::{UpcallsEnd, off_reactor};
use arc_swap::ArcSwap;
use core::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use zorb_cdr::CharSet;
use zorb_connection::{
    Acceptor, ConnectTimes, ConnectionCache, Describe, MemoryLimit, Serving, UnresponsiveEndpoints,
};
use zorb_executor::Lane;
use zorb_poa::ObjectAdapter;
use zorb_transport::Endpoint;

impl Orb {
    /// Starts an ORB with these settings, in this lane.
    ///
    /// # Errors
    /// Returns the errors of [`Builder::build`](crate::Builder::build).
    pub(crate) async fn start(mut settings: Settings, lane: Lane) -> Result<Self, Error> {
        settings.real_time.check()?;
        let mut interceptors = core::mem::take(&mut settings.interceptors);
        let initializers = settings.initializers.all();
        for initializer in &initializers {
            let id = settings.id.clone();
            initializer.pre_init(&mut OrbInitInfo {
                interceptors: &mut interceptors,
                settings: Some(&mut settings),
                orb: None,
                id: &id,
            })?;
        }
        let mut acceptors = Vec::new();
        for listen in &settings.listen {
            if let Some(why) = settings.rules.nobody(listen.endpoint()) {
                return Err(OptionError::bad(Source::Builder, "listen", why).into());
            }
            let open = listen.open(&settings.transports, &settings.rules);
            acceptors.push(Acceptor::new(open.await?));
        }
        let listening: Vec<Endpoint> = acceptors.iter().map(|a| a.endpoint().clone()).collect();
        let asked = settings.listen.iter().cloned();
        let asked = asked.zip(listening.iter().cloned()).collect();
        let instance = random_instance();
        let offers = settings.policies.bidirectional == Some(BidirectionalPolicy::Both);
        let nowhere = offers.then(|| unreachable_endpoint(instance.0));
        let published = Published {
            version: settings.max_giop_version,
            endpoints: nowhere.into_iter().collect(),
            native_char_set: settings.native_char_set.unwrap_or(CharSet::Utf8),
            platform: settings.platform_component(),
            only_reachable: settings.publish.only_reachable,
        };
        let published = CurrentEndpoints::new(published, &settings.publish, asked)
            .map_err(|why| OptionError::bad(Source::Builder, "publish", why))?;
        let published = Arc::new(published);
        warn_unreachable(&listening, &published.published().endpoints).await;
        let connections = zorb_connection::Settings {
            limits: settings.limits,
            wait: settings.wait.unwrap_or_else(|| lane.wait()),
            idle_timeout: settings.idle_timeout,
            max_fragment: settings.max_fragment_octets,
            trace_payload: settings.trace_payload,
            describe: Describe {
                key: describe_key,
                reference: describe_endpoints,
            },
            threads: settings.threads,
            unstated_code_sets: settings.unstated_code_sets(),
            counters: Arc::default(),
            memory: Arc::new(MemoryLimit::new(settings.max_memory)),
            stall_timeout: settings.stall_timeout,
            bidirectional: settings.accept_bidirectional.is_some(),
            accept: settings.rules.accept.clone(),
        };
        let serving = Arc::new(Serving::new(settings.server_limits()));
        let inner = |handles: &Weak<Handles>, this: &Weak<OrbInner>| OrbInner {
            this: Weak::clone(this),
            handles: Weak::clone(handles),
            lane,
            adapters: ObjectAdapter::new(instance, &settings.server_id)
                .with_max_depth(settings.max_poa_depth),
            keys: Keys::default(),
            bidirectional: BidirectionalCalls::new(
                settings.accept_bidirectional.clone(),
                this,
                &serving,
                &published,
            ),
            published,
            listening,
            cache: ConnectionCache::new(
                outgoing::limits(settings.max_outgoing, settings.max_to_host),
                Arc::clone(&connections.counters),
            ),
            named_sockets: NamedSockets::default(),
            deferred: DeferredRequests::default(),
            unresponsive: UnresponsiveEndpoints::default(),
            connect_times: ConnectTimes::default(),
            busy: Arc::default(),
            connections,
            stopping: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
            down: watch::Sender::new(false),
            serving,
            upcalls_end: UpcallsEnd::default(),
            initial_references: Mutex::default(),
            reported_blocking: Mutex::default(),
            real_time: RealTime::default(),
            policies: ArcSwap::from_pointee(settings.policies.clone()),
            is_limited: AtomicBool::new(false),
            setting_policies: Mutex::default(),
            interceptors: OnceLock::new(),
            settings,
        };
        let orb = Self(Arc::new_cyclic(|handles| {
            Handles(Arc::new_cyclic(|this| inner(handles, this)))
        }));
        let adapters = orb.inner().adapters();
        adapters.set_owner(orb.inner().this.clone());
        if let Some(secret) = &orb.inner().settings.key_secret {
            adapters.set_key_secret(secret.clone());
        }
        off_reactor(orb.inner());
        answer_interface_requests(orb.inner());
        for initializer in &initializers {
            let mut info = OrbInitInfo {
                interceptors: &mut interceptors,
                settings: None,
                orb: Some(&orb),
                id: &orb.inner().settings().id,
            };
            initializer.post_init(&mut info).await?;
        }
        interceptors.check()?;
        if !interceptors.is_empty() {
            // It is set here alone.
            let _ = orb.inner().intercepting().set(interceptors);
            orb.inner().watch_managers();
            orb.establish_roots()?;
        }
        orb.inner().watch_workers();
        if offers || !acceptors.is_empty() {
            orb.inner().watch_served();
        }
        for acceptor in acceptors {
            let inner = orb.inner();
            let serving = Arc::clone(&inner.serving);
            inner.track(acceptor.run(Arc::downgrade(inner), serving, inner.stop.clone()));
        }
        Ok(orb)
    }
}
