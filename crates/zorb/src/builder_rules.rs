//! Builder methods for whom the ORB serves and where it connects: rules, and the profiles that set them.

use crate::builder::Builder;
use core::time::Duration;
use std::sync::Arc;
use zorb_giop::url::UrlScheme;
use zorb_transport::{Rule, Rules};

/// Time without traffic after which a hardened ORB closes a connection.
const IDLE: Duration = Duration::from_secs(600);
/// Time in which clients of a hardened ORB have to make progress.
const STALL: Duration = Duration::from_secs(10);
/// Octets of a message of a hardened ORB: four times what omniORB takes by default.
const MESSAGE: usize = 8 << 20;

/// Addresses of this host and of its link, where a reference of a peer leads to nothing that the peer should reach.
const NEARBY: [&str; 4] = ["localhost", "169.254.0.0/16", "fe80::/10", "fec0::/10"];

impl Builder {
    /// Sets the [rules](Rules) for clients: by their addresses, transports, users and certificates. All are served unless set.
    ///
    /// A client that they do not permit gets NO_PERMISSION, COMPLETED_NO, for its first request, and is closed; its requests
    /// reach no adapter. At endpoints of TLS, one whose address decides is closed before its handshake. Refusals are
    /// [counted](crate::Counter::ConnectionsNotPermitted). An endpoint at which nobody would be served cannot be listened
    /// to: so plain endpoints cannot be left open beside rules that demand TLS (`* ssl`).
    ///
    /// ```
    /// # fn main() -> Result<(), zorb::transport::RulesError> {
    /// let builder = zorb::Orb::builder().accept_rules("localhost unix,tcp; 10.0.0.0/8 ssl".parse()?);
    /// # Ok(()) }
    /// ```
    #[doc(alias = "serverTransportRule")]
    pub fn accept_rules(mut self, rules: Rules) -> Self {
        self.settings.rules.accept = Some(Arc::new(rules));
        self
    }

    /// Sets the [rules](Rules) for endpoints of references: which are connected to, and in which order they are tried. All
    /// are unless set, in the order of the references.
    ///
    /// Of a host that has a name, each address is judged, too, before it is connected to. A call of a reference whose
    /// endpoints are all refused is NO_PERMISSION, COMPLETED_NO, and [counted](crate::Counter::EndpointsNotPermitted).
    /// Connections that clients have opened and offered for callbacks need no permission.
    #[doc(alias = "clientTransportRule")]
    pub fn connect_rules(mut self, rules: Rules) -> Self {
        self.settings.rules.connect = Some(Arc::new(rules));
        self
    }

    /// Sets further [rules](Rules) for the endpoints of references that came from peers: in arguments, results and forwards,
    /// and so from naming services. They have to be permitted by these rules and by the [others](Self::connect_rules).
    /// Without them a peer can make this process connect to whatever it can reach.
    pub fn connect_rules_of_peers(mut self, rules: Rules) -> Self {
        self.settings.rules.connect_of_peers = Some(Arc::new(rules));
        self
    }

    /// Sets what suits a network with enemies in it; each can be set otherwise by a later call.
    ///
    /// | | |
    /// |---|---|
    /// | clients are served by | TLS and UNIX sockets alone: another endpoint cannot be listened to ([`accept_rules`](Self::accept_rules)) |
    /// | servers are called by | TLS and UNIX sockets alone ([`connect_rules`](Self::connect_rules)) |
    /// | references of peers lead to | neither this host, nor its link ([`connect_rules_of_peers`](Self::connect_rules_of_peers)) |
    /// | text is read as a reference | but not from files ([`permitted_url_schemes`](Self::permitted_url_schemes)) |
    /// | a message has at most | 8 MiB ([`max_message_octets`](Self::max_message_octets)) |
    /// | a client that makes no progress is closed after | 10 s ([`stall_timeout`](Self::stall_timeout)) |
    /// | a connection without traffic is closed after | 10 min ([`idle_timeout`](Self::idle_timeout)) |
    ///
    /// It sets no certificates: [the page about a server on the
    /// Internet](https://github.com/zorb-rs/zorb/blob/main/docs/internet.md) does, and has a list to check.
    pub fn hardened(self) -> Self {
        let protected = || Rule::allow().schemes(["ssluiop", "uiop", "ssliop"]);
        let nearby = NEARBY
            .iter()
            .filter_map(|mask| Rule::deny().network(mask).ok());
        let of_peers = nearby.chain([protected()]);
        self.accept_rules(Rules::new([protected()]))
            .connect_rules(Rules::new([protected()]))
            .connect_rules_of_peers(Rules::new(of_peers))
            .unix_sockets_of_peers(false)
            .permitted_url_schemes([UrlScheme::Ior, UrlScheme::Corbaloc, UrlScheme::Corbaname])
            .max_message_octets(MESSAGE)
            .stall_timeout(STALL)
            .idle_timeout(IDLE)
    }

    /// Sets what suits a network whose hosts are all trusted; each can be set otherwise by a later call. There are no rules
    /// for clients and endpoints, peers may name UNIX sockets, and one host may have all connections and upcalls. Limits that
    /// keep a mistake of a peer from this process stay.
    pub fn trusted_network(mut self) -> Self {
        self.settings.rules = crate::rules::AccessRules::default();
        self.settings.url_schemes = None;
        self.unix_sockets_of_peers(true)
            .max_connections_per_host(usize::MAX)
            .max_upcalls_per_host(usize::MAX)
    }
}
