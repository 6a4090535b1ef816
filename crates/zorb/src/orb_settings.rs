//! The settings of a running ORB, which its builder collects.

use crate::bidirectional::CallbackRule;
use crate::descriptors;
use crate::endpoints::{Listen, Publishing};
use crate::interceptors::{Initializers, Interceptors};
use crate::policy::PolicyOverrides;
use crate::real_time::RealTimeSettings;
use crate::rules::AccessRules;
use crate::value::ValueRegistry;
use core::time::Duration;
use std::collections::BTreeMap;
use zorb_cdr::CharSet;
use zorb_connection::{MemoryLimit, Overload, ServerLimits};
use zorb_executor::{MainLoop, WaitPolicy};
use zorb_giop::codeset::CodeSets;
use zorb_giop::url::UrlScheme;
use zorb_giop::{Limits, ServiceContextId, Version};
use zorb_poa::ObjectAdapter;
use zorb_transport::Registry;

/// The default time limit for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Connections served at a time by default, as far as descriptors allow; ten thousand of them from one host. Each costs
/// a descriptor, a task and, while a message is incomplete, a buffer.
const MAX_CONNECTIONS: usize = 12_000;
/// The default time in which a client has to make progress within a message, or while its replies wait. For comparison:
/// hyper allows 30 s for the head of a request, nginx 60 s for a read or write.
const STALL_TIMEOUT: Duration = Duration::from_secs(30);
/// Connections served where each has a thread: a system allows a process some thousands of threads.
const MAX_THREADS: usize = 1_000;

/// The settings of a running ORB.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) id: String,
    pub(crate) server_id: String,
    pub(crate) key_secret: Option<zorb_poa::KeySecret>,
    pub(crate) max_poa_depth: usize,
    pub(crate) listen: Vec<Listen>,
    pub(crate) publish: Publishing,
    pub(crate) max_giop_version: Version,
    pub(crate) transports: Registry,
    pub(crate) publish_platform: bool,
    pub(crate) initial_references: BTreeMap<String, String>,
    pub(crate) default_initial_reference: Option<String>,
    /// The URL schemes that `string_to_object` takes; `None` for all.
    pub(crate) url_schemes: Option<Vec<UrlScheme>>,
    /// The security contexts of requests, if the ORB has any.
    #[cfg(feature = "csi")]
    pub(crate) csi: Option<std::sync::Arc<crate::csi::ServerSide>>,
    /// The policies of the calls of all references.
    pub(crate) policies: PolicyOverrides,
    pub(crate) connect_timeout: Duration,
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) stall_timeout: Option<Duration>,
    pub(crate) max_memory: usize,
    /// Limits of decoding that are not the defaults.
    pub(crate) decoding: Option<zorb_cdr::Limits>,
    pub(crate) limits: Limits,
    pub(crate) max_fragment_octets: Option<usize>,
    /// The native set that was configured. `None`: references state UTF-8, and servers get their own native set.
    pub(crate) native_char_set: Option<CharSet>,
    pub(crate) unstated_char_set: CharSet,
    /// Connections served at a time; `None` for the default.
    pub(crate) connections: Option<usize>,
    /// Limits on upcalls and connections of peers, where they are not the defaults.
    pub(crate) serving: ServingSettings,
    /// The time limits of requests that this ORB serves.
    pub(crate) request_times: RequestTimes,
    /// The ids of zorb's own service contexts.
    pub(crate) own_contexts: OwnContexts,
    /// Whether requests carry the trace contexts of their spans.
    pub(crate) sends_trace_contexts: bool,
    /// Whether calls and upcalls are measured.
    pub(crate) metrics: bool,
    pub(crate) trace_payload: usize,
    /// The loop that runs the upcalls of adapters with MAIN_THREAD_MODEL.
    pub(crate) main_loop: Option<MainLoop>,
    /// Whether each served connection has a thread of its own.
    pub(crate) threads: bool,
    /// The wait policy; `None` for the lane's.
    pub(crate) wait: Option<WaitPolicy>,
    /// The rule for callbacks on clients' connections (bidirectional GIOP); `None` permits none.
    pub(crate) accept_bidirectional: Option<CallbackRule>,
    /// The limit on outgoing connections in all; `None` for the default.
    pub(crate) max_outgoing: Option<usize>,
    pub(crate) max_to_host: Option<usize>,
    pub(crate) to_endpoint: usize,
    /// Whether the ORB connects to UNIX sockets that a peer names.
    pub(crate) unix_sockets_of_peers: bool,
    pub(crate) rules: AccessRules,
    /// The registered value types.
    pub(crate) values: ValueRegistry,
    pub(crate) real_time: RealTimeSettings,
    /// The interceptors that the builder has registered, which the running ORB has taken.
    pub(crate) interceptors: Interceptors,
    pub(crate) initializers: Initializers,
}

/// The time by which the clocks of client and server may differ, unless set, where a client states times of its clock. Clocks
/// that are synchronised differ by milliseconds.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(1);

/// The time limits of requests that an ORB serves.
#[derive(Debug)]
pub(crate) struct RequestTimes {
    /// The time that a request may take from its arrival.
    pub(crate) limit: Option<Duration>,
    pub(crate) clock_tolerance: Duration,
    pub(crate) honours_reply_end: bool,
}

impl Default for RequestTimes {
    fn default() -> Self {
        Self {
            limit: None,
            clock_tolerance: CLOCK_TOLERANCE,
            honours_reply_end: false,
        }
    }
}

/// The ids of zorb's own service contexts, in a range of 16.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnContexts {
    first: u32,
}

impl Default for OwnContexts {
    fn default() -> Self {
        Self::beginning_at(ServiceContextId::ZORB_RANGE)
    }
}

impl OwnContexts {
    pub(crate) const fn beginning_at(first: ServiceContextId) -> Self {
        Self {
            first: first.0 & !0xf,
        }
    }

    pub(crate) const fn deadline(self) -> ServiceContextId {
        ServiceContextId(self.first | 1)
    }

    pub(crate) const fn trace(self) -> ServiceContextId {
        ServiceContextId(self.first | 2)
    }
}

/// Limits on upcalls and connections of peers; `None` for the defaults.
#[derive(Debug, Default)]
pub(crate) struct ServingSettings {
    pub(crate) connections_per_host: Option<usize>,
    pub(crate) upcalls: Option<usize>,
    pub(crate) upcalls_per_host: Option<usize>,
    pub(crate) upcalls_per_connection: Option<usize>,
    pub(crate) overload: Overload,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            id: String::new(),
            listen: Vec::new(),
            server_id: String::new(),
            key_secret: None,
            max_poa_depth: ObjectAdapter::DEFAULT_MAX_DEPTH,
            publish: Publishing::default(),
            max_giop_version: Version::HIGHEST,
            transports: transports(),
            publish_platform: false,
            initial_references: BTreeMap::new(),
            default_initial_reference: None,
            url_schemes: None,
            #[cfg(feature = "csi")]
            csi: None,
            policies: PolicyOverrides::new(),
            connect_timeout: CONNECT_TIMEOUT,
            idle_timeout: None,
            stall_timeout: Some(STALL_TIMEOUT),
            max_memory: MemoryLimit::DEFAULT_OCTETS,
            decoding: None,
            limits: Limits::default(),
            max_fragment_octets: None,
            native_char_set: None,
            unstated_char_set: CharSet::Latin1,
            connections: None,
            serving: ServingSettings::default(),
            request_times: RequestTimes::default(),
            own_contexts: OwnContexts::default(),
            sends_trace_contexts: true,
            metrics: false,
            trace_payload: 0,
            main_loop: None,
            threads: false,
            wait: None,
            accept_bidirectional: None,
            max_outgoing: None,
            max_to_host: None,
            to_endpoint: 1,
            unix_sockets_of_peers: false,
            rules: AccessRules::default(),
            values: ValueRegistry::default(),
            real_time: RealTimeSettings::default(),
            interceptors: Interceptors::default(),
            initializers: Initializers::default(),
        }
    }
}

/// The transports of an ORB, unless its program registers others.
fn transports() -> Registry {
    #[cfg_attr(
        not(any(feature = "tls", feature = "tls-aws-lc-rs")),
        expect(unused_mut, reason = "the features add one")
    )]
    let mut transports = Registry::default();
    #[cfg(any(feature = "tls", feature = "tls-aws-lc-rs"))]
    transports.insert(std::sync::Arc::new(zorb_tls::Tls::default()));
    transports
}

impl Settings {
    /// Limits on the connections and upcalls that peers may have at a time.
    pub(crate) fn server_limits(&self) -> ServerLimits {
        let usual = match self.threads {
            true => MAX_THREADS,
            false => MAX_CONNECTIONS,
        };
        let wanted = self.connections.unwrap_or(usual);
        let connections = descriptors::for_clients(wanted, descriptors::limit());
        if connections < wanted && !self.listen.is_empty() {
            descriptors::report_fewer(wanted, connections, self.connections.is_some());
        }
        let mut limits = ServerLimits::new(connections);
        let set = &self.serving;
        let change = |limit: &mut usize, set: Option<usize>| *limit = set.unwrap_or(*limit);
        change(
            &mut limits.max_connections_per_host,
            set.connections_per_host,
        );
        change(&mut limits.max_upcalls, set.upcalls);
        change(&mut limits.max_upcalls_per_host, set.upcalls_per_host);
        change(
            &mut limits.max_upcalls_per_connection,
            set.upcalls_per_connection,
        );
        limits.overload = set.overload;
        limits
    }

    /// The code sets of a peer that states none.
    pub(crate) fn unstated_code_sets(&self) -> CodeSets {
        CodeSets {
            char_set: self.unstated_char_set,
            ..CodeSets::UNSTATED
        }
    }
}
