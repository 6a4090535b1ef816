//! The builder: settings of an ORB before it starts.

use crate::endpoints::{self, Listen, Publish};
use crate::error::Error;
use crate::initial;
use crate::options::{OptionError, OrbOptions, Source};
use crate::orb::Orb;
use crate::orb_settings::Settings;
use crate::policy::{PolicyOverrides, SyncScope};
use core::time::Duration;
use zorb_cdr::CharSet;
use zorb_executor::{Dispatch, Lane, MainLoop, WaitPolicy};
use zorb_giop::Version;
use zorb_giop::url::UrlScheme;
use zorb_transport::Registry;

/// Describes an ORB; [`build`](Self::build) starts it.
///
/// The settings of an ORB come from up to four sources. Later ones override earlier ones: the defaults, the builder's
/// methods, the environment if [`env`](Self::env) was called, and the arguments if [`args`](Self::args) was. So the
/// operator has the last word, and the order of method calls does not matter. A source that names endpoints to
/// [`listen`](Self::listen) to replaces all those of earlier sources, and so does one that names endpoints to
/// [`publish`](Self::publish). Initial references are replaced one by one.
#[derive(Debug)]
#[must_use = "nothing starts before build()"]
pub struct Builder {
    pub(crate) listen: Vec<TextOption>,
    pub(crate) publish: Vec<TextOption>,
    pub(crate) transport_properties: Vec<TextOption>,
    default_initial_reference: Option<TextOption>,
    lane: Option<Lane>,
    dispatch: Option<Dispatch>,
    pub(crate) settings: Settings,
    /// Parsed options, applied over the rest when the ORB is built.
    pub(crate) given: OrbOptions,
    /// The source and the option that is being applied.
    pub(crate) source: Source,
    pub(crate) option: &'static str,
}

/// Text that is parsed when the ORB is built, with its name for an error.
#[derive(Debug)]
pub(crate) struct TextOption {
    text: String,
    source: Source,
    option: &'static str,
}

impl TextOption {
    fn read<T>(
        &self,
        read: impl FnOnce(&str, &Registry) -> Result<T, String>,
        transports: &Registry,
    ) -> Result<T, OptionError> {
        read(&self.text, transports).map_err(|why| self.bad(why))
    }

    fn bad(&self, why: String) -> OptionError {
        OptionError::bad(self.source, self.option, why)
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            listen: Vec::new(),
            publish: Vec::new(),
            transport_properties: Vec::new(),
            default_initial_reference: None,
            lane: None,
            dispatch: None,
            given: OrbOptions::default(),
            source: Source::Builder,
            option: "",
            settings: Settings::default(),
        }
    }
}

impl Orb {
    /// Returns a builder with the default settings.
    #[doc(alias = "ORB_init")]
    pub fn builder() -> Builder {
        Builder::default()
    }
}

impl Builder {
    /// Takes options from an argument list: removes pairs such as `-ORBInitRef NameService=corbaloc::host/x` (names in
    /// any case) and leaves all other arguments, and all that follow `--`. [All
    /// options](https://github.com/zorb-rs/zorb/blob/main/docs/options.md).
    ///
    /// [`build`](Self::build) reports errors in them.
    ///
    /// ```
    /// # async fn example() -> Result<(), zorb::Error> {
    /// let mut args: Vec<String> = std::env::args().collect();
    /// let orb = zorb::Orb::builder().env().args(&mut args).build().await?;
    /// // `args` holds what is not the ORB's business.
    /// # Ok(()) }
    /// ```
    #[doc(alias = "ORB_init")]
    pub fn args(mut self, arguments: &mut Vec<String>) -> Self {
        self.given.take_arguments(arguments);
        self
    }

    /// Reads options from the environment: the variable `ORBInitRef` is the argument `-ORBInitRef`, and so on, in
    /// exactly this spelling. A variable of an option that may be repeated holds several values, separated by white
    /// space. Variables that are empty, or that are no option of zorb, are ignored.
    ///
    /// [`build`](Self::build) reports errors in them.
    pub fn env(mut self) -> Self {
        self.given.read_environment(|name| std::env::var_os(name));
        self
    }

    /// Sets the name of the ORB, for programs with several ORBs: see [`Orb::id`].
    #[doc(alias = "-ORBid")]
    pub fn id(mut self, name: impl Into<String>) -> Self {
        self.settings.id = name.into();
        self
    }

    /// Adds an endpoint to listen to: `iiop://host:port` (port 0: any free one), `uiop:///path`. May be repeated;
    /// references name the endpoints in this order. An ORB that listens nowhere is a client.
    ///
    /// `iiop://0.0.0.0:port` or `iiop://:port` is every IPv4 interface, `iiop://[::]:port` every interface, IPv4 too.
    /// TAO's endpoint options `hostname_in_ior` and `portspan` may follow, as in
    /// `iiop://:2810/hostname_in_ior=bank.example&portspan=10`. omniORB's forms `giop:tcp:host:port` and
    /// `giop:unix:/path` are accepted as well.
    #[doc(alias = "-ORBendPoint")]
    #[doc(alias = "-ORBListenEndpoints")]
    pub fn listen(mut self, endpoint: impl Into<String>) -> Self {
        let text = self.text("listen", endpoint);
        self.listen.push(text);
        self
    }

    /// Adds an endpoint that references name in place of the TCP endpoints that are listened to. May be repeated: clients
    /// try one after the other. A value is one of
    /// - `iiop://host:port`, an address that leads to the server by NAT or a forwarded port; port 0 means the listening
    ///   port;
    /// - `addr`, `ipv4`, `ipv6`: the first address of each endpoint, of that family;
    ///   `all(addr)` and so on: all of them;
    /// - `hostname`: this host's name.
    ///
    /// Of alternatives with `|` between them, the first that yields an endpoint counts. Unless set, an endpoint is
    /// published as it is listened to, and one on every interface as `all(addr)`. That leaves out the loopback
    /// interface, the networks of containers on this host and temporary addresses, as long as there are others.
    #[doc(alias = "-ORBendPointPublish")]
    pub fn publish(mut self, what: impl Into<String>) -> Self {
        let text = self.text("publish", what);
        self.publish.push(text);
        self
    }

    /// Sets the host that references name in place of the one listened to, for servers behind NAT or in containers: short
    /// for `publish("iiop://host:0")`.
    #[doc(alias = "hostname_in_ior")]
    pub fn publish_host(mut self, host: impl Into<String>) -> Self {
        self.settings.publish.host = Some(host.into());
        self
    }

    /// Sets the server's name in the keys of persistent objects; empty unless set. Servers that run on the same host and
    /// port at different times, with the same names of adapters, need different ids: a reference to one of them is then
    /// OBJECT_NOT_EXIST at the other.
    #[doc(alias = "-ORBServerId")]
    #[doc(alias = "implName")]
    pub fn server_id(mut self, id: impl Into<String>) -> Self {
        self.settings.server_id = id.into();
        self
    }

    pub(crate) fn text(&self, method: &'static str, text: impl Into<String>) -> TextOption {
        TextOption {
            text: text.into(),
            source: self.source,
            option: match self.source {
                Source::Builder => method,
                Source::Environment | Source::Arguments => self.option,
            },
        }
    }

    /// Sets the object URL of an initial reference, for [`resolve_initial_references`](Orb::resolve_initial_references). A later
    /// call with the same name replaces the URL. The URL is read when the name is resolved: a malformed one is an error there,
    /// and not of [`build`](Self::build).
    #[doc(alias = "-ORBInitRef")]
    pub fn initial_reference(mut self, name: impl Into<String>, url: impl Into<String>) -> Self {
        self.settings
            .initial_references
            .insert(name.into(), url.into());
        self
    }

    /// Sets the prefix of initial references that have no URL of their own: the beginning of a `corbaloc:` or `corbaname:`
    /// URL with an address, to which a slash and the name are appended. With `corbaloc::boot.example:2809`, the reference
    /// `TradingService` is `corbaloc::boot.example:2809/TradingService`. Unset, such names are unknown.
    ///
    /// [`build`](Self::build) fails with [`Error::Option`](crate::Error::Option) if the prefix is not the beginning of such a
    /// URL.
    #[doc(alias = "-ORBDefaultInitRef")]
    pub fn default_initial_reference(mut self, prefix: impl Into<String>) -> Self {
        let text = self.text("default_initial_reference", prefix);
        self.default_initial_reference = Some(text);
        self
    }

    /// Limits the schemes of object URLs that [`string_to_object`](Orb::string_to_object) accepts: all unless set. For a
    /// server that receives such text from outside, where a `file:` URL would make it read files of its host.
    ///
    /// It also applies to URLs that files hold. Initial references that the program or the operator named may have any
    /// scheme, also when a permitted `corbaloc:rir:` names them.
    ///
    /// ```
    /// # async fn example() -> Result<(), zorb::Error> {
    /// use zorb::UrlScheme;
    ///
    /// let orb = zorb::Orb::builder().permitted_url_schemes([UrlScheme::Ior]).build().await?;
    /// assert!(orb.string_to_object("file:///etc/passwd").await.is_err());
    /// # Ok(()) }
    /// ```
    pub fn permitted_url_schemes(mut self, schemes: impl IntoIterator<Item = UrlScheme>) -> Self {
        self.settings.url_schemes = Some(schemes.into_iter().collect());
        self
    }

    /// Sets the highest GIOP version of requests and of the profiles in references; 1.2 unless set. Requests of a higher
    /// version are served all the same. References of version 1.0 name one address only, and no code sets.
    #[doc(alias = "-ORBmaxGIOPVersion")]
    pub fn max_giop_version(mut self, version: Version) -> Self {
        self.settings.max_giop_version = version.clamp(Version::V1_0, Version::HIGHEST);
        self
    }

    /// Limits the time of a call: TIMEOUT when no reply has arrived by then. By default a call waits as long as its
    /// connection lives.
    #[doc(alias = "RelativeRoundtripTimeoutPolicy")]
    #[doc(alias = "clientCallTimeOutPeriod")]
    pub fn round_trip_timeout(mut self, limit: Duration) -> Self {
        self.settings.policies.round_trip_timeout = Some(limit);
        self
    }

    /// Sets policies of the ORB's calls, over those that were set before: the level below tasks and references
    /// ([`policy`](crate::policy)). [`round_trip_timeout`](Self::round_trip_timeout), [`sync_scope`](Self::sync_scope)
    /// and [`wait_policy`](Self::wait_policy) set one each.
    #[doc(alias = "ORBPolicyManager")]
    pub fn policies(mut self, policies: &PolicyOverrides) -> Self {
        self.settings.wait = policies.wait.or(self.settings.wait);
        self.settings.policies = policies.over(&self.settings.policies);
        self
    }

    /// Limits the time for connecting to one endpoint, name look-up included; 10 seconds unless set. Beyond it, the next endpoint
    /// of the reference is tried; the call is TRANSIENT if there is none.
    #[doc(alias = "clientConnectTimeOutPeriod")]
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.settings.connect_timeout = limit;
        self
    }

    /// Closes connections, of clients and to servers, that have been idle for this long, at the latest after twice
    /// that. By default, and with zero, no connection is closed for being idle.
    ///
    /// A connection is idle when no request is being served or waited for, no reply is being read, and less than 64 KiB
    /// of a message arrives in this time. The peer gets CloseConnection; the next call of either side connects anew.
    /// Useful for a server with many clients that call rarely, and against peers that vanish without closing.
    #[doc(alias = "inConScanPeriod")]
    #[doc(alias = "outConScanPeriod")]
    pub fn idle_timeout(mut self, limit: Duration) -> Self {
        self.settings.idle_timeout = (!limit.is_zero()).then_some(limit);
        self
    }

    /// Refuses to read messages longer than this many octets, header included; 64 MiB unless set. A longer reply is
    /// IMP_LIMIT to its caller, a longer request to its client, with the minor code `minor::MESSAGE_TOO_LARGE`.
    /// Messages that are sent have no limit but the peer's (omniORB's is 2 MiB unless set). The same limit applies to
    /// the octets of pending requests on a connection, and to the replies that wait for a client that does not read
    /// them.
    #[doc(alias = "giopMaxMsgSize")]
    pub fn max_message_octets(mut self, octets: usize) -> Self {
        self.settings.limits.max_message_octets = octets;
        self.settings.limits.max_partial_octets = octets;
        self
    }

    /// Sets the native code set for `char` and `string`, of the ORB as a server and as a client.
    ///
    /// **As a server:** references name this set as native, and the other one (of UTF-8 and ISO 8859-1) as converted;
    /// UTF-8 unless set. The client chooses the set that travels, and clients choose the server's native one if they
    /// have it.
    ///
    /// **As a client:** text travels in this set to every server that states it. Unless set, it travels in the server's
    /// native one, as specified, and in UTF-8 to servers that name neither; ORBs of GlassFish's family get UTF-8 too,
    /// since their strings hold more than the ISO 8859-1 that they state. JacORB's servers get their native set
    /// whatever is set, since they reply in that.
    ///
    /// Choose ISO 8859-1 for `char`s beyond ASCII: a `char` has one octet, and `é` has two in UTF-8, so it is
    /// DATA_CONVERSION there. Choose it also with TAO, whose translator for UTF-8 garbles such text without an error.
    /// Choose UTF-8 for strings beyond ISO 8859-1, such as `€`, which are DATA_CONVERSION otherwise. [Behaviour of
    /// other ORBs](https://github.com/zorb-rs/zorb/blob/main/docs/options.md#code-sets).
    #[doc(alias = "nativeCharCodeSet")]
    pub fn native_char_code_set(mut self, native: CharSet) -> Self {
        self.settings.native_char_set = Some(native);
        self
    }

    /// Sets the code set for `char` and `string` with peers that state none: servers whose references have no code sets
    /// component (those of GIOP 1.0, and every `corbaloc` of any version), and clients that send no CodeSets context.
    /// ISO 8859-1 unless set, as the specification implies.
    ///
    /// Some ORBs state none and send UTF-8: JacORB does so where its native set is UTF-8, the default on a UTF-8
    /// locale. Text beyond ASCII is then **misread**, in both directions and without an error, since every octet is
    /// some character of ISO 8859-1. Set [`CharSet::Utf8`] for such peers, or, for one reference,
    /// [`ObjectRef::with_char_code_set`](crate::ObjectRef::with_char_code_set).
    #[doc(alias = "defaultCharCodeSet")]
    pub fn char_code_set_of_unstated_peers(mut self, set: CharSet) -> Self {
        self.settings.unstated_char_set = set;
        self
    }

    /// Cuts requests and replies longer than this many octets into fragments of at most this size, headers included, in
    /// GIOP 1.1 and 1.2. Fewer than 64 octets count as 64, since more than a quarter of the traffic would be headers.
    ///
    /// Unless set, messages are sent whole, whatever their length. Exceptions are ORBs of GlassFish's family, which end
    /// the connection then (recognised by TAG_RMI_CUSTOM_MAX_STREAM_FORMAT in a reference without an ORB type): they
    /// get fragments of 64 KiB. Set it for a peer or a gateway that accepts long messages only in fragments.
    ///
    /// In GIOP 1.2, whole messages are sent between the fragments of a long one, so a large argument does not delay the
    /// small calls on its connection; later calls may overtake it. A message of GIOP 1.1 is cut only inside strings and
    /// long sequences of octets or of numbers of at most 4 octets, into fragments of at most 8 KiB (omniORB 4.2 accepts
    /// no longer ones in 1.1); a fragment without such a place is longer. ORBs of GlassFish's family get no fragments
    /// of 1.1 whatever is set, since they read the numbers in them as big-endian. GIOP 1.0 has no fragments. So in these
    /// two versions that family reads 256,000 octets of a message at most, and ends the connection over longer ones
    /// (COMM_FAILURE), unless its `ORBMaximumReadByteBufferSize` says more.
    #[doc(alias = "ORBFragmentSize")]
    pub fn max_fragment_octets(mut self, octets: usize) -> Self {
        self.settings.max_fragment_octets = Some(octets.max(zorb_giop::Fragments::MIN_OCTETS));
        self
    }

    /// Shows up to this many octets of each message, header included, in the trace of the target
    /// `zorb::giop`; none unless set.
    ///
    /// The trace shows the octets that are sent, passwords included. The program enables the trace where it sets up
    /// `tracing`, with that target at level TRACE.
    #[doc(alias = "-ORBtraceLevel")]
    #[doc(alias = "traceLevel")]
    pub fn trace_payload(mut self, max_octets: usize) -> Self {
        self.settings.trace_payload = max_octets;
        self
    }

    /// Sets the point at which one-way calls return; [`SyncScope::WithTransport`] unless set.
    /// [`ObjectRef::with_sync_scope`](crate::ObjectRef::with_sync_scope) overrides it for a reference.
    #[doc(alias = "SyncScopePolicy")]
    pub fn sync_scope(mut self, scope: SyncScope) -> Self {
        self.settings.policies.sync_scope = Some(scope);
        self
    }

    /// Sets whether and how long calls spin for their replies, and served connections for the next request, before they
    /// park. That of the [lane](Self::lane) unless set, which is [`WaitPolicy::Adaptive`] unless set there.
    /// [`ObjectRef::with_wait_policy`](crate::ObjectRef::with_wait_policy) overrides it for a reference.
    pub fn wait_policy(mut self, policy: WaitPolicy) -> Self {
        self.settings.wait = Some(policy);
        self
    }

    /// Sets the lane in which the ORB runs, instead of the runtime that calls [`build`](Self::build): a
    /// [dedicated](Lane::dedicated) lane, for instance, with a thread of its own. See [`Orb::lane`] for callers in that
    /// lane.
    pub fn lane(mut self, lane: Lane) -> Self {
        self.lane = Some(lane);
        self
    }

    pub(crate) fn has_lane(&self) -> bool {
        self.lane.is_some()
    }

    /// Sets the dispatch of upcalls; in place unless set.
    ///
    /// In place, a servant that blocks or computes for long holds one worker of the runtime. Other connections are
    /// served as long as another worker is free; a current-thread runtime has none. [`Dispatch::BlockInPlace`]
    /// (multi-thread runtimes) and [`Dispatch::Pool`] serve them however many servants block, at the cost of a
    /// hand-over per request. One-way calls of this ORB to its own objects are dispatched so, too; a call that waits for its
    /// result is begun by its caller.
    pub fn dispatch(mut self, dispatch: Dispatch) -> Self {
        self.dispatch = Some(dispatch);
        self
    }

    /// Has the upcalls of adapters with [`ThreadModel::MainThread`](crate::ThreadModel::MainThread) (MAIN_THREAD_MODEL) run in the
    /// application's own event loop, that of a graphical toolkit for instance: `main` wakes it, and it calls
    /// [`MainLoop::perform_work`]. Everything else goes on in the ORB's [lane](Self::lane). Unless set, they run where other upcalls
    /// do, one at a time.
    ///
    /// A call from the thread of the loop to an object of this ORB runs there at once. One of any other thread waits for the loop, as
    /// requests of other processes do: a loop that blocks its thread delays them. The loop goes on until a
    /// [shutdown](Orb::shutdown) is complete.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::sync::mpsc;
    /// use zorb::executor::MainLoop;
    /// # use zorb::Orb;
    ///
    /// // A toolkit has a way to wake its loop from any thread; here it is a channel.
    /// let (wake, events) = mpsc::channel();
    /// let main = MainLoop::new(move || wake.send(()).unwrap_or_default());
    /// let orb = Orb::builder().main_loop(main.clone()).build_blocking()?;
    /// # let closing = Orb::clone(&orb);
    /// # main.spawn(orb.lane().handle().clone(), async move { drop(closing.shutdown(false).await) });
    /// while let Ok(()) = events.recv() {
    ///     main.perform_work();
    /// #   break;
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// Source: CORBA 3.3 Part 1, ORB Interface (`work_pending`, `perform_work`), The Portable Object Adapter (Thread Policy).
    #[doc(alias = "perform_work")]
    #[doc(alias = "work_pending")]
    pub fn main_loop(mut self, main: MainLoop) -> Self {
        self.settings.main_loop = Some(main);
        self
    }

    /// Starts the ORB: it listens, and serves requests once a POA manager is active.
    ///
    /// # Errors
    /// [`Error::Option`] for an invalid setting, from any source; [`Error::Transport`] when listening fails;
    /// [`Error::Lane`] outside a tokio runtime.
    ///
    /// # Cancel safety
    /// Safe: listeners that were opened are closed again.
    pub async fn build(self) -> Result<Orb, Error> {
        let (settings, lane, dispatch) = self.settle()?;
        let mut lane = match lane {
            Some(lane) => lane,
            None => Lane::current()?,
        };
        if let Some(dispatch) = dispatch {
            lane = lane.with_dispatch(dispatch)?;
        }
        // Listeners belong to the reactor of the lane.
        let home = lane.handle().clone();
        let starting = Orb::start(settings, lane);
        if tokio::runtime::Handle::try_current().is_ok_and(|current| current.id() == home.id()) {
            return starting.await;
        }
        match home.spawn(starting).await {
            Ok(started) => started,
            Err(_) => Err(Error::Lane(zorb_executor::LaneError::NoRuntime)),
        }
    }

    /// Merges the sources and parses the options that are text.
    pub(crate) fn settle(self) -> Result<(Settings, Option<Lane>, Option<Dispatch>), OptionError> {
        let this = OrbOptions::apply(self)?;
        let mut settings = this.settings;
        for property in &this.transport_properties {
            settings.transports = property.read(endpoints::with_property, &settings.transports)?;
        }
        let transports = &settings.transports;
        let listen = (this.listen.iter()).map(|text| text.read(Listen::read, transports));
        settings.listen = listen.collect::<Result<_, _>>()?;
        let rules = (this.publish.iter()).map(|text| text.read(Publish::read, transports));
        settings.publish.rules = rules.collect::<Result<_, _>>()?;
        if let Some(prefix) = this.default_initial_reference {
            initial::check_default(&prefix.text).map_err(|why| prefix.bad(why))?;
            settings.default_initial_reference = Some(prefix.text);
        }
        Ok((settings, this.lane, this.dispatch))
    }
}
