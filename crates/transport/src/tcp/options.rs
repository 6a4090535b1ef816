//! Options of TCP sockets.
use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    ops::RangeInclusive,
    time::Duration,
};

use rustix::net;
use socket2::{Socket, TcpKeepalive};

use crate::{Property, PropertyError, property::flag, sys};

/// Options of TCP sockets. By default small writes are not delayed, keepalive probes begin after two minutes, and all
/// else is as the operating system sets it.
#[derive(Clone, Debug)]
pub struct TcpOptions {
    nodelay: bool,
    keepalive: Option<Duration>,
    user_timeout: Option<Duration>,
    send_buffer: Option<usize>,
    receive_buffer: Option<usize>,
    congestion_control: Option<&'static str>,
    dscp: Option<u8>,
    bind: Option<IpAddr>,
    local_ports: Option<RangeInclusive<u16>>,
    reuse_address: bool,
    reuse_port: bool,
    dont_route: bool,
}

impl TcpOptions {
    /// Sets whether small writes are sent at once (`TCP_NODELAY`, the default), rather than after the acknowledgement of
    /// earlier ones. A delayed request would wait for a reply that waits for it.
    #[must_use]
    pub const fn nodelay(self, nodelay: bool) -> Self {
        Self { nodelay, ..self }
    }

    /// Sends keepalive probes to a peer that has been silent for this time (`SO_KEEPALIVE`; whole seconds). They are
    /// repeated every 15 seconds, or at this time's interval if that is shorter. A connection is lost when the peer
    /// answers none of the operating system's number of probes (nine on Linux). The default is 120 seconds: a vanished
    /// peer is noticed within five minutes, and gateways keep idle connections.
    #[must_use]
    pub const fn keepalive(self, idle: Duration) -> Self {
        Self {
            keepalive: Some(idle),
            ..self
        }
    }

    /// Sends no keepalive probes, for networks where each packet costs something.
    #[must_use]
    pub const fn without_keepalive(self) -> Self {
        Self {
            keepalive: None,
            ..self
        }
    }

    /// Sets the time after which the connection is lost if octets stay without an acknowledgement, or keepalive probes
    /// without an answer (`TCP_USER_TIMEOUT`, where the operating system has that; milliseconds). Unless set, the
    /// operating system resends octets for a quarter of an hour or more, for which a call to a vanished server may
    /// wait. The connection to a peer that is alive but reads nothing for this time is lost, too.
    ///
    /// Source: RFC 5482; tcp(7).
    #[must_use]
    pub const fn user_timeout(self, limit: Duration) -> Self {
        Self {
            user_timeout: Some(limit),
            ..self
        }
    }

    /// Sets the size of the kernel's buffer for octets that are not acknowledged yet (`SO_SNDBUF`, in octets; Linux
    /// doubles it). Setting it turns automatic tuning off.
    #[must_use]
    pub const fn send_buffer(self, octets: usize) -> Self {
        Self {
            send_buffer: Some(octets),
            ..self
        }
    }

    /// Sets the size of the kernel's buffer for octets that are not read yet (`SO_RCVBUF`, in octets; Linux doubles
    /// it). Setting it turns automatic tuning off.
    #[must_use]
    pub const fn receive_buffer(self, octets: usize) -> Self {
        Self {
            receive_buffer: Some(octets),
            ..self
        }
    }

    /// Sets the congestion control algorithm, by its name (`TCP_CONGESTION`, where the operating system has that).
    /// Unless set it is the system's (`net.ipv4.tcp_congestion_control`). An algorithm that the system does not have,
    /// or does not let this program use, is an error of connecting and listening.
    ///
    /// On Linux `reno` is always available. Where the system's is BBR, which paces packets, `reno` makes a difference
    /// between two programs on one CPU of a machine. With 64 KiB each there are twice as many one-way calls; with
    /// hardly any octets, which pacing joins, there are less than half as many.
    #[must_use]
    pub const fn congestion_control(self, name: &'static str) -> Self {
        Self {
            congestion_control: Some(name),
            ..self
        }
    }

    /// Sets the differentiated services code point of sent packets, from 0 to 63 (`IP_TOS`, `IPV6_TCLASS`), by which
    /// routers give precedence: 46 is expedited forwarding. Unless set, it is that of the operating system, which is 0.
    /// Bits above the six are dropped.
    ///
    /// Source: RFC 2474, section 3.
    #[must_use]
    pub const fn dscp(self, code_point: u8) -> Self {
        Self {
            dscp: Some(code_point & MAX_DSCP),
            ..self
        }
    }

    /// Sets the address of this host from which connections are made, for hosts with several. Unless set, the operating
    /// system chooses it by its routes. An address of another family than the peer's is ignored.
    #[must_use]
    pub const fn bind(self, address: IpAddr) -> Self {
        Self {
            bind: Some(address),
            ..self
        }
    }

    /// Sets the ports of this host from which connections are made, for firewalls that permit only these. Any port
    /// unless set. Each new connection begins its search one port behind that of the one before. A port is skipped if a
    /// listener or a connection to the same address has it; connections to other addresses share it. Where none is
    /// left, connecting fails with [`AddrInUse`](io::ErrorKind::AddrInUse). An empty range sets no ports.
    ///
    /// A port whose last connection was closed from this side is not free for the same address for about a minute
    /// (TIME-WAIT, RFC 9293 section 3.6). So a range needs as many ports as connections are made to one address in that
    /// time.
    #[must_use]
    pub fn local_ports(self, ports: RangeInclusive<u16>) -> Self {
        Self {
            local_ports: (!ports.is_empty()).then_some(ports),
            ..self
        }
    }

    /// Sets whether a listener takes a port on which connections of an earlier process still expire (`SO_REUSEADDR`, the
    /// default). Otherwise a restarted server has to wait for a minute.
    #[must_use]
    pub const fn reuse_address(self, reuse: bool) -> Self {
        Self {
            reuse_address: reuse,
            ..self
        }
    }

    /// Sets whether several listeners share one port (`SO_REUSEPORT`), in one process or in several of one user. The
    /// operating system distributes new connections among them. Off unless set; then a port in use is refused.
    #[must_use]
    pub const fn reuse_port(self, reuse: bool) -> Self {
        Self {
            reuse_port: reuse,
            ..self
        }
    }

    /// Sets whether packets are sent to hosts of directly connected networks only, and by no gateway (`SO_DONTROUTE`). Off
    /// unless set.
    #[must_use]
    pub const fn dont_route(self, dont_route: bool) -> Self {
        Self { dont_route, ..self }
    }

    /// Returns the options with one property, set by its text.
    pub(super) fn set(self, name: &str, value: &str) -> Result<Self, PropertyError> {
        let Some(property) = PROPERTIES.iter().find(|property| property.name == name) else {
            return Err(PropertyError::unknown(name, value, &PROPERTIES));
        };
        self.having(name, value)
            .ok_or_else(|| PropertyError::value(*property, value))
    }

    fn having(self, name: &str, value: &str) -> Option<Self> {
        Some(match name {
            "nodelay" => self.nodelay(flag(value)?),
            "keepalive" => match value.parse().ok()? {
                0 => self.without_keepalive(),
                seconds => self.keepalive(Duration::from_secs(seconds)),
            },
            "user_timeout" => match value.parse().ok()? {
                0 => Self {
                    user_timeout: None,
                    ..self
                },
                seconds => self.user_timeout(Duration::from_secs(seconds)),
            },
            "send_buffer" => self.send_buffer(value.parse().ok()?),
            "receive_buffer" => self.receive_buffer(value.parse().ok()?),
            "dscp" => self.dscp(value.parse().ok().filter(|dscp| *dscp <= MAX_DSCP)?),
            "bind" => self.bind(value.parse().ok()?),
            "local_ports" => self.local_ports(ports(value)?),
            "reuse_address" => self.reuse_address(flag(value)?),
            "reuse_port" => self.reuse_port(flag(value)?),
            "dont_route" => self.dont_route(flag(value)?),
            _ => return None,
        })
    }

    /// Options that have to be set before a listener is bound.
    pub(super) fn before_binding(&self, socket: &Socket) -> io::Result<()> {
        socket.set_reuse_address(self.reuse_address)?;
        if self.reuse_port {
            net::sockopt::set_socket_reuseport(socket, true)?;
        }
        Ok(())
    }

    /// Returns the ports from which connections are made; `None` for any.
    pub(super) fn ports(&self) -> Option<RangeInclusive<u16>> {
        self.local_ports.clone()
    }

    /// Binds a socket that is to connect to `peer`, to a port if it is not 0.
    pub(super) fn bind_towards(
        &self,
        socket: &Socket,
        peer: SocketAddr,
        port: u16,
    ) -> io::Result<()> {
        let own = self.bind.filter(|own| own.is_ipv4() == peer.is_ipv4());
        let own = match (own, peer) {
            (Some(own), _) => own,
            (None, _) if port == 0 => return Ok(()),
            (None, SocketAddr::V4(_)) => Ipv4Addr::UNSPECIFIED.into(),
            (None, SocketAddr::V6(_)) => Ipv6Addr::UNSPECIFIED.into(),
        };
        if port != 0 {
            // Connections to other addresses may have the port, too.
            socket.set_reuse_address(true)?;
        }
        socket.bind(&SocketAddr::new(own, port).into())
    }

    /// Sets options before the connection is made: buffer sizes decide on the window's scale then, and a connection
    /// that has been paced once remains so.
    pub(super) fn before_connecting(&self, socket: &Socket, address: SocketAddr) -> io::Result<()> {
        if let Some(octets) = self.send_buffer {
            socket.set_send_buffer_size(octets)?;
        }
        if let Some(octets) = self.receive_buffer {
            socket.set_recv_buffer_size(octets)?;
        }
        if let Some(name) = self.congestion_control {
            sys::set_congestion_control(socket, name)?;
        }
        if self.dont_route {
            sys::set_dont_route(socket)?;
        }
        if let Some(code_point) = self.dscp {
            // The two bits below belong to congestion notification.
            let class = code_point << 2;
            if address.is_ipv6() {
                net::sockopt::set_ipv6_tclass(socket, class.into())?;
            }
            // An IPv6 socket may carry IPv4 too.
            match net::sockopt::set_ip_tos(socket, class) {
                Err(error) if address.is_ipv4() => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn when_connected(&self, socket: &Socket) -> io::Result<()> {
        socket.set_tcp_nodelay(self.nodelay)?;
        if let Some(limit) = self.user_timeout {
            sys::set_user_timeout(socket, limit)?;
        }
        let Some(idle) = self.keepalive else {
            return Ok(());
        };
        let keepalive = TcpKeepalive::new().with_time(idle);
        socket.set_tcp_keepalive(&keepalive.with_interval(PROBE_INTERVAL.min(idle)))
    }
}

impl Default for TcpOptions {
    fn default() -> Self {
        Self {
            nodelay: true,
            keepalive: Some(KEEPALIVE),
            user_timeout: None,
            send_buffer: None,
            receive_buffer: None,
            congestion_control: None,
            dscp: None,
            bind: None,
            local_ports: None,
            reuse_address: true,
            reuse_port: false,
            dont_route: false,
        }
    }
}

/// Reads `first-last`, or one port.
fn ports(text: &str) -> Option<RangeInclusive<u16>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first > 0 && first <= last).then_some(first..=last)
}

/// The largest code point: six bits.
const MAX_DSCP: u8 = 63;

/// Default time of silence before a peer is probed. Linux's two hours are longer than many gateways remember an idle
/// connection, and vanished peers would hold descriptors for as long.
const KEEPALIVE: Duration = Duration::from_secs(120);
/// Interval of further probes.
const PROBE_INTERVAL: Duration = Duration::from_secs(15);

/// The names of the properties in text, with their values.
pub(super) const PROPERTIES: [Property; 11] = [
    Property {
        name: "nodelay",
        values: "0 or 1",
        default: "1",
    },
    Property {
        name: "keepalive",
        values: "seconds, or 0 for never",
        default: "120",
    },
    Property {
        name: "user_timeout",
        values: "seconds, or 0 for the operating system's",
        default: "0",
    },
    Property {
        name: "send_buffer",
        values: "octets",
        default: "the operating system's",
    },
    Property {
        name: "receive_buffer",
        values: "octets",
        default: "the operating system's",
    },
    Property {
        name: "dscp",
        values: "a code point from 0 to 63",
        default: "the operating system's",
    },
    Property {
        name: "bind",
        values: "an IP address of this host",
        default: "as the operating system routes",
    },
    Property {
        name: "local_ports",
        values: "first-last, of 1 to 65535",
        default: "any",
    },
    Property {
        name: "reuse_address",
        values: "0 or 1",
        default: "1",
    },
    Property {
        name: "reuse_port",
        values: "0 or 1",
        default: "0",
    },
    Property {
        name: "dont_route",
        values: "0 or 1",
        default: "0",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use socket2::{Domain, Type};

    #[test]
    fn a_silent_peer_is_probed_by_default() {
        let socket = || Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let asked = |options: TcpOptions| {
            let socket = socket();
            options.when_connected(&socket).unwrap();
            let is_asked = socket.keepalive().unwrap();
            is_asked.then(|| socket.tcp_keepalive_time().unwrap())
        };
        assert_eq!(asked(TcpOptions::default()), Some(KEEPALIVE));
        let minute = Duration::from_secs(60);
        assert_eq!(asked(TcpOptions::default().keepalive(minute)), Some(minute));
        assert_eq!(asked(TcpOptions::default().without_keepalive()), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn octets_wait_for_an_acknowledgement_as_long_as_was_asked_for() {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let limited = TcpOptions::default().set("user_timeout", "7").unwrap();
        limited.when_connected(&socket).unwrap();
        let limit = |socket| net::sockopt::tcp_user_timeout(socket).unwrap();
        assert_eq!(limit(&socket), 7_000);
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let unlimited = limited.set("user_timeout", "0").unwrap();
        unlimited.when_connected(&socket).unwrap();
        assert_eq!(limit(&socket), 0);
    }

    #[test]
    fn packets_carry_the_code_point_that_was_asked_for() {
        for (address, domain) in [("127.0.0.1:1", Domain::IPV4), ("[::1]:1", Domain::IPV6)] {
            // A machine may lack IPv6, as containers often do.
            let Ok(socket) = Socket::new(domain, Type::STREAM, None) else {
                continue;
            };
            let address: SocketAddr = address.parse().unwrap();
            let options = TcpOptions::default().dscp(46);
            options.before_connecting(&socket, address).unwrap();
            let class = match address {
                SocketAddr::V4(_) => net::sockopt::ip_tos(&socket).unwrap().into(),
                SocketAddr::V6(_) => net::sockopt::ipv6_tclass(&socket).unwrap(),
            };
            assert_eq!(class, 46 << 2);
        }
    }
}
