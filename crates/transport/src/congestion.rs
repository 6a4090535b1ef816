//! Who decides how fast octets leave.

use std::{io, net::IpAddr};

use socket2::Socket;

/// What decides how fast the octets of a connection leave (`TCP_CONGESTION`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CongestionControl {
    /// [`System`](Self::System), but where that is BBR, `reno` within this machine, which is no network to be fair to. BBR
    /// measures the way again and again and paces what is sent, by a timer for each segment; on one CPU a flood of octets
    /// takes twice its time then.
    ///
    /// That is for connections to the loopback addresses, and for those that a listener on them, or on all addresses of the
    /// machine, accepts from the machine itself. Which others are within it is known too late: a connection that has been
    /// paced once remains so.
    #[default]
    Automatic,
    /// The system's (`net.ipv4.tcp_congestion_control`), everywhere.
    System,
    /// That of this name, everywhere. One that the system does not have, or does not let this program use, is an error of
    /// connecting and listening. `net.ipv4.tcp_available_congestion_control` and `tcp_allowed_congestion_control` tell.
    Named(&'static str),
}

/// That of the system, if it has to be given back to connections from elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Elsewhere(Option<String>);

/// What paces; `bbr2` and the like do so, too.
const PACES: &str = "bbr";
/// Every Linux has it, and lets everybody use it unless root forbids it. It neither paces nor measures.
const WITHIN_A_MACHINE: &str = "reno";

impl CongestionControl {
    /// For a socket that will be connected to this address, and is not yet.
    pub(crate) fn before_connecting(self, socket: &Socket, to: IpAddr) -> io::Result<()> {
        match self {
            Self::Automatic if to.to_canonical().is_loopback() => {
                do_not_pace(socket);
                Ok(())
            }
            Self::Automatic | Self::System => Ok(()),
            Self::Named(name) => set(socket, name),
        }
    }

    /// For a socket that will listen at this address, and does not yet: what it accepts has the same.
    pub(crate) fn before_listening(self, socket: &Socket, at: IpAddr) -> io::Result<Elsewhere> {
        if self == Self::Automatic && at.is_unspecified() {
            return Ok(Elsewhere(do_not_pace(socket)));
        }
        self.before_connecting(socket, at)?;
        Ok(Elsewhere::default())
    }
}

impl Elsewhere {
    /// For a connection that has been accepted.
    pub(crate) fn has_accepted(&self, socket: &Socket) {
        if let Some(name) = &self.0
            && !is_within(socket)
        {
            // It is the system's own, which everybody may have.
            let _ = set(socket, name);
        }
    }
}

/// Whether both ends are of this machine.
fn is_within(socket: &Socket) -> bool {
    let (Ok(local), Ok(peer)) = (socket.local_addr(), socket.peer_addr()) else {
        return false;
    };
    match (local.as_socket(), peer.as_socket()) {
        // An IPv4 peer of a socket for both has an address of IPv6.
        (Some(local), Some(peer)) => {
            let peer = peer.ip().to_canonical();
            peer.is_loopback() || peer == local.ip().to_canonical()
        }
        _ => false,
    }
}

/// Has a socket not paced that would be; what it had before, if that could be done. A connection works with any.
fn do_not_pace(socket: &Socket) -> Option<String> {
    let before = get(socket).ok().filter(|name| name.starts_with(PACES))?;
    set(socket, WITHIN_A_MACHINE).ok().map(|()| before)
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
fn get(socket: &Socket) -> io::Result<String> {
    Ok(rustix::net::sockopt::tcp_congestion(socket)?)
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
fn set(socket: &Socket, name: &str) -> io::Result<()> {
    Ok(rustix::net::sockopt::set_tcp_congestion(socket, name)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
fn get(_: &Socket) -> io::Result<String> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
fn set(_: &Socket, _: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use socket2::{Domain, Type};
    use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};

    const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    /// Of the documentation's network, which nobody has.
    const ELSEWHERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

    /// A socket of a system that paces, and of this one if it cannot.
    fn paced(domain: Domain) -> (Socket, bool) {
        let socket = Socket::new(domain, Type::STREAM, None).unwrap();
        let paces = set(&socket, PACES).is_ok() && get(&socket).unwrap() == PACES;
        (socket, paces)
    }

    #[test]
    fn only_what_would_be_paced_and_stays_in_the_machine_is_changed() {
        for (control, to, changes) in [
            (CongestionControl::Automatic, LOOPBACK, true),
            (CongestionControl::Automatic, ELSEWHERE, false),
            (CongestionControl::System, LOOPBACK, false),
        ] {
            let (socket, paces) = paced(Domain::IPV4);
            let before = get(&socket).unwrap();
            control.before_connecting(&socket, to).unwrap();
            let expected = match changes && paces {
                true => WITHIN_A_MACHINE,
                false => &before,
            };
            assert_eq!(get(&socket).unwrap(), expected, "{control:?}");
        }
        // What does not pace is the system's business.
        let (socket, _) = paced(Domain::IPV4);
        set(&socket, WITHIN_A_MACHINE).unwrap();
        assert_eq!(do_not_pace(&socket), None);
    }

    #[test]
    fn what_a_listener_for_all_accepts_from_elsewhere_gets_the_systems_back() {
        for (at, domain) in [
            (IpAddr::from(Ipv4Addr::UNSPECIFIED), Domain::IPV4),
            // What comes over IPv4 here has an address of IPv6.
            (Ipv6Addr::UNSPECIFIED.into(), Domain::IPV6),
        ] {
            let (listener, paces) = paced(domain);
            let elsewhere = CongestionControl::Automatic
                .before_listening(&listener, at)
                .unwrap();
            assert_eq!(elsewhere.0.is_some(), paces);
            listener.bind(&SocketAddr::from((at, 0)).into()).unwrap();
            listener.listen(1).unwrap();
            let port = listener.local_addr().unwrap().as_socket().unwrap().port();
            let _client = TcpStream::connect((LOOPBACK, port)).unwrap();
            let (accepted, _) = listener.accept().unwrap();
            assert!(is_within(&accepted));
            let inherited = get(&accepted).unwrap();
            elsewhere.has_accepted(&accepted);
            assert_eq!(get(&accepted).unwrap(), inherited);
            // A socket that is connected to nobody is not within.
            elsewhere.has_accepted(&listener);
            if paces {
                assert_eq!(inherited, WITHIN_A_MACHINE);
                assert_eq!(get(&listener).unwrap(), PACES);
            }
        }
    }

    #[test]
    fn one_that_is_named_is_had_everywhere_or_is_an_error() {
        let (socket, _) = paced(Domain::IPV4);
        let named = CongestionControl::Named(WITHIN_A_MACHINE);
        named.before_connecting(&socket, ELSEWHERE).unwrap();
        assert_eq!(get(&socket).unwrap(), WITHIN_A_MACHINE);
        let unknown = CongestionControl::Named("no such");
        let error = unknown.before_connecting(&socket, LOOPBACK).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        let error = unknown.before_listening(&socket, LOOPBACK).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
