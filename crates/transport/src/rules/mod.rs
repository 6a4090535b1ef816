//! Rules for peers: who may connect, and where to connect.

mod mask;
mod text;

use crate::{Address, Endpoint, PeerIdentity, Principal};
use mask::Mask;
use std::{error::Error, fmt, net::IpAddr, ops::RangeInclusive, sync::Arc};
pub use text::RulesError;

/// Rules for connections, in the order in which they are asked: the first one whose conditions hold decides, and what no
/// rule speaks of is refused. The default has no rule, and refuses all.
///
/// The rules of a server are asked about each client that connects ([`accepts`](Self::accepts)), those of a client about
/// each endpoint of a reference ([`may_connect`](Self::may_connect)) and each address of its host
/// ([`connects`](Self::connects)). An endpoint that an earlier rule permits is tried before one that a later rule permits;
/// of one rule, the schemes are tried in their order.
///
/// As text they are omniORB's `serverTransportRule` and `clientTransportRule`, several of them in lines or separated by
/// semicolons: a mask, and the transports that it permits.
/// - Masks: `*`, `localhost`, `10.1.2.3`, `172.16.0.0/255.240.0.0`, `172.16.0.0/12`, `fd00::/8`; and beyond omniORB's, hosts
///   as references name them, `bank.example` or `*.bank.example`. `^` before a mask drops all rules before it.
/// - Transports, separated by commas: `tcp`, `ssl` and `unix`, or the scheme of any transport; `none` for none. `bidir` is
///   read, and permits nothing: whether clients are called back is said elsewhere.
///
/// ```
/// # mod zorb { pub extern crate zorb_transport as transport; }
/// use zorb::transport::{Address, Rule, Rules};
///
/// let text: Rules = "localhost unix,tcp; 10.0.0.0/8 ssl".parse()?;
/// let client = Address::Inet(([10, 1, 2, 3], 4711).into());
/// assert!(text.accepts("ssliop", &client, None));
/// assert!(!text.accepts("iiop", &client, None));
///
/// let typed = Rules::new([
///     Rule::deny().network("10.6.6.0/24")?,
///     Rule::allow().schemes(["ssliop"]).certificate("CN=alice"),
///     Rule::allow().schemes(["uiop"]).user(1000),
/// ]);
/// assert!(!typed.accepts("ssliop", &client, None));
/// # Ok::<(), zorb::transport::RulesError>(())
/// ```
///
/// # Cost
/// A step for each rule. A rule for `localhost` asks the operating system about addresses other than loopback ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules(Vec<Rule>);

/// One of [`Rules`]: the schemes that it permits, to whom all of its conditions hold for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The schemes that are permitted; `None` for all.
    schemes: Option<Vec<Box<str>>>,
    mask: Option<Mask>,
    ports: Option<RangeInclusive<u16>>,
    user: Option<u32>,
    certificate: Option<Certificate>,
    principal: Option<Principal>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Certificate {
    Verified,
    Named(Box<str>),
}

/// Who is judged: what is known of a peer or an endpoint.
struct Party<'a> {
    scheme: &'a str,
    /// The host, as a reference names it.
    host: Option<&'a str>,
    ip: Ip,
    port: Option<u16>,
    /// The identity; the outer `None` while it is not known.
    identity: Option<Option<&'a PeerIdentity>>,
}

#[derive(Clone, Copy)]
enum Ip {
    Known(IpAddr),
    /// The end of a UNIX socket.
    ThisHost,
    /// There is no address of an internet.
    None,
    /// It is not known yet.
    Unknown,
}

/// Whether a condition holds, as far as is known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    No,
    Maybe,
    Yes,
}

impl Holds {
    const fn of(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

impl Rules {
    /// Makes rules of these, in their order.
    #[must_use]
    pub fn new(rules: impl IntoIterator<Item = Rule>) -> Self {
        Self(rules.into_iter().collect())
    }

    /// Returns the rules with another one behind them.
    #[must_use]
    pub fn with(mut self, rule: Rule) -> Self {
        self.0.push(rule);
        self
    }

    /// Returns the rules with those of a text behind them, or in their place, if the text says so by `^`.
    ///
    /// # Errors
    /// The text is none of rules.
    pub fn with_text(mut self, text: &str) -> Result<Self, RulesError> {
        for (clears, rule) in text::read(text)? {
            if clears {
                self.0.clear();
            }
            self.0.push(rule);
        }
        Ok(self)
    }

    /// Whether a client at `peer` that has connected to an endpoint of this scheme is served. `identity`: who it has proved
    /// to be.
    #[must_use]
    pub fn accepts(&self, scheme: &str, peer: &Address, identity: Option<&PeerIdentity>) -> bool {
        let ip = match peer.host() {
            crate::HostId::Inet(ip) => Ip::Known(ip),
            crate::HostId::Local => Ip::ThisHost,
            _ => Ip::None,
        };
        let party = Party {
            scheme,
            host: None,
            ip,
            port: None,
            identity: Some(identity),
        };
        self.rank(&party).is_some()
    }

    /// Whether a client at this address, or at any address for `None`, may be served at an endpoint of this scheme, whoever it
    /// proves to be.
    #[must_use]
    pub fn may_accept(&self, scheme: &str, address: Option<IpAddr>) -> bool {
        let party = Party {
            scheme,
            host: None,
            ip: address.map_or(Ip::Unknown, Ip::Known),
            port: None,
            identity: None,
        };
        self.rank(&party).is_some()
    }

    /// The place of an endpoint in the order in which endpoints are tried, the smallest first; `None` if it is refused. Of a
    /// host that is named and not by an address, the addresses are judged by [`connects`](Self::connects).
    #[must_use]
    pub fn may_connect(&self, endpoint: &Endpoint) -> Option<(usize, usize)> {
        let ip = match endpoint.host() {
            Some(host) => host.parse().map_or(Ip::Unknown, Ip::Known),
            None if endpoint.is_local_name() => Ip::ThisHost,
            None => Ip::None,
        };
        self.rank(&Party::target(endpoint, ip))
    }

    /// Whether the endpoint may be connected to at this address of its host.
    #[must_use]
    pub fn connects(&self, endpoint: &Endpoint, address: IpAddr) -> bool {
        self.rank(&Party::target(endpoint, Ip::Known(address)))
            .is_some()
    }

    /// Whether it depends on the addresses of the endpoint's host whether it may be connected to.
    #[must_use]
    pub fn depends_on_address(&self, endpoint: &Endpoint) -> bool {
        let ip = match endpoint.host() {
            Some(host) if host.parse::<IpAddr>().is_err() => Ip::Unknown,
            _ => return false,
        };
        let party = Party::target(endpoint, ip);
        let mut decided = self.0.iter().map(|rule| rule.holds(&party));
        decided.find(|holds| *holds != Holds::No) == Some(Holds::Maybe)
    }

    /// The rule that permits what is known of a party, and the place of the scheme within it. A rule that may hold permits,
    /// and does not refuse.
    fn rank(&self, party: &Party<'_>) -> Option<(usize, usize)> {
        for (at, rule) in self.0.iter().enumerate() {
            match (rule.holds(party), rule.place(party.scheme)) {
                (Holds::No, _) | (Holds::Maybe, None) => {}
                (Holds::Yes | Holds::Maybe, Some(place)) => return Some((at, place)),
                (Holds::Yes, None) => return None,
            }
        }
        None
    }
}

impl<'a> Party<'a> {
    fn target(endpoint: &'a Endpoint, ip: Ip) -> Self {
        Self {
            scheme: endpoint.scheme(),
            host: endpoint.host(),
            ip,
            port: endpoint.port(),
            identity: Some(None),
        }
    }
}

impl Rule {
    const fn with_schemes(schemes: Option<Vec<Box<str>>>) -> Self {
        Self {
            schemes,
            mask: None,
            ports: None,
            user: None,
            certificate: None,
            principal: None,
        }
    }

    /// A rule that permits every transport, unless [`schemes`](Self::schemes) are named.
    #[must_use]
    pub const fn allow() -> Self {
        Self::with_schemes(None)
    }

    /// A rule that refuses.
    #[must_use]
    pub const fn deny() -> Self {
        Self::with_schemes(Some(Vec::new()))
    }

    /// Sets the schemes that the rule permits: `ssliop`. To whom its conditions hold for, others are refused.
    #[must_use]
    pub fn schemes<S: Into<Box<str>>>(mut self, schemes: impl IntoIterator<Item = S>) -> Self {
        self.schemes = Some(schemes.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the network, by a mask as text: see [`Rules`].
    ///
    /// # Errors
    /// The text is no mask.
    pub fn network(mut self, mask: &str) -> Result<Self, RulesError> {
        self.mask = Some(mask.parse()?);
        Ok(self)
    }

    /// Sets the port, or the ports, of endpoints to connect to. The port of a client says nothing, so that such a rule holds
    /// for no client.
    #[must_use]
    pub const fn ports(mut self, ports: RangeInclusive<u16>) -> Self {
        self.ports = Some(ports);
        self
    }

    /// Sets the user of the client's process, by the word of the operating system: clients at UNIX sockets have one.
    #[must_use]
    pub const fn user(mut self, id: u32) -> Self {
        self.user = Some(id);
        self
    }

    /// Has the rule hold for clients whose certificate a trusted authority has issued.
    #[must_use]
    pub fn verified(mut self) -> Self {
        self.certificate = Some(Certificate::Verified);
        self
    }

    /// Has the rule hold for clients whose certificate a trusted authority has issued for this subject
    /// (`CN=alice,O=Example`), or for this alternative name (`DNS:alice.example`).
    #[must_use]
    pub fn certificate(mut self, name: impl Into<Box<str>>) -> Self {
        self.certificate = Some(Certificate::Named(name.into()));
        self
    }

    /// Has the rule hold for requests of this principal, who has logged in with the request (CSIv2): for rules of operations. Nobody
    /// has logged in when a client connects, so that the rule holds for no connection.
    #[must_use]
    pub fn principal(mut self, name: impl Into<String>) -> Self {
        self.principal = Some(Principal::new(name));
        self
    }

    /// Has the rule hold for requests in the name of this principal that another client has made, who is trusted to act for it.
    /// The other conditions of the rule are of that client. As with [`principal`](Self::principal), for rules of operations.
    #[must_use]
    pub fn asserted_principal(mut self, name: impl Into<String>) -> Self {
        let mut principal = Principal::new(name);
        principal.is_asserted = true;
        self.principal = Some(principal);
        self
    }

    /// The place of a scheme among those that are permitted.
    fn place(&self, scheme: &str) -> Option<usize> {
        let Some(schemes) = &self.schemes else {
            return Some(0);
        };
        schemes.iter().position(|other| **other == *scheme)
    }

    fn holds(&self, party: &Party<'_>) -> Holds {
        let mask = match &self.mask {
            None => Holds::Yes,
            Some(mask) => mask.holds(party),
        };
        let port = match (&self.ports, party.port) {
            (None, _) => Holds::Yes,
            (Some(ports), Some(port)) => Holds::of(ports.contains(&port)),
            (Some(_), None) => Holds::No,
        };
        let asks = self.user.is_some() || self.certificate.is_some() || self.principal.is_some();
        let who = match party.identity {
            _ if !asks => Holds::Yes,
            None => Holds::Maybe,
            Some(None) => Holds::No,
            Some(Some(identity)) => {
                let process = identity.process().map(|process| process.user);
                let certificate = self.certificate.as_ref();
                Holds::of(
                    (self.user.is_none() || self.user == process)
                        && certificate.is_none_or(|wanted| wanted.is_of(identity))
                        && (self.principal.is_none()
                            || self.principal.as_ref() == identity.principal()),
                )
            }
        };
        let all = [mask, port, who];
        match (all.contains(&Holds::No), all.contains(&Holds::Maybe)) {
            (true, _) => Holds::No,
            (_, true) => Holds::Maybe,
            _ => Holds::Yes,
        }
    }
}

impl Certificate {
    fn is_of(&self, identity: &PeerIdentity) -> bool {
        let verified = (identity.certificate()).filter(|certificate| certificate.is_verified);
        let Some(certificate) = verified else {
            return false;
        };
        match self {
            Self::Verified => true,
            Self::Named(name) => {
                let mut others = certificate.names.iter();
                certificate.subject == **name || others.any(|other| other.to_string() == **name)
            }
        }
    }
}

/// Decides which addresses a transport connects to, and of which clients it accepts connections. It is a typed property of
/// transports over an internet ([`Transport::with_properties`](crate::Transport::with_properties)): they ask before they
/// connect to an address of a host, and before a client can send anything.
#[derive(Clone)]
pub struct AddressFilter(Arc<dyn Fn(IpAddr) -> bool + Send + Sync>);

impl AddressFilter {
    /// Makes a filter that permits the addresses for which `permits` is true.
    pub fn new(permits: impl Fn(IpAddr) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(permits))
    }

    /// Whether the address is permitted.
    #[must_use]
    pub fn permits(&self, address: IpAddr) -> bool {
        (self.0)(address)
    }
}

impl fmt::Debug for AddressFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AddressFilter")
    }
}

/// The cause of an error of connecting: the rules permit no address of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "it says no more on purpose")]
pub struct NotPermitted;

impl fmt::Display for NotPermitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not permitted")
    }
}

impl Error for NotPermitted {}

#[cfg(test)]
mod tests;
