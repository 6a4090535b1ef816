//! Who decides how fast octets leave.

use std::io;

use socket2::Socket;

/// What decides how fast the octets of a connection leave (`TCP_CONGESTION`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CongestionControl {
    /// [`System`](Self::System), but for connections within this machine, which have no network to be fair to: those get
    /// `reno`, if the system lets them. Where the system's is BBR it would measure the way again and again and pace what
    /// is sent, by a timer for each segment; on one CPU a flood of octets takes twice its time then.
    #[default]
    Automatic,
    /// The system's (`net.ipv4.tcp_congestion_control`), everywhere.
    System,
    /// That of this name, everywhere. One that the system does not have, or does not let this program use, is an error of
    /// connecting and listening. `net.ipv4.tcp_available_congestion_control` and `tcp_allowed_congestion_control` tell.
    Named(&'static str),
}

/// Every Linux has it and lets everybody use it. It neither paces nor measures.
const WITHIN_A_MACHINE: &str = "reno";

impl CongestionControl {
    /// For a socket that is not connected yet and will be, as far as one can know, within this machine or elsewhere. Before
    /// it is connected: one that has been paced once remains so.
    pub(crate) fn before_connecting(self, socket: &Socket, is_within: bool) -> io::Result<()> {
        match self {
            Self::Automatic if is_within => {
                prefer(socket);
                Ok(())
            }
            Self::Automatic | Self::System => Ok(()),
            Self::Named(name) => set(socket, name),
        }
    }

    /// For a socket that is connected, if it was not known before whether within this machine.
    pub(crate) fn when_connected(self, socket: &Socket) {
        if self == Self::Automatic && is_within(socket) {
            prefer(socket);
        }
    }
}

/// Whether both ends are of this machine.
fn is_within(socket: &Socket) -> bool {
    let (Ok(local), Ok(peer)) = (socket.local_addr(), socket.peer_addr()) else {
        return false;
    };
    match (local.as_socket(), peer.as_socket()) {
        (Some(local), Some(peer)) => {
            // An IPv4 peer of a socket for both has an address of IPv6.
            let peer = peer.ip().to_canonical();
            peer.is_loopback() || peer == local.ip().to_canonical()
        }
        _ => false,
    }
}

/// A connection works with any: nothing is said if this one cannot be had.
fn prefer(socket: &Socket) {
    let _ = set(socket, WITHIN_A_MACHINE);
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
fn set(socket: &Socket, name: &str) -> io::Result<()> {
    Ok(rustix::net::sockopt::set_tcp_congestion(socket, name)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
fn set(_: &Socket, _: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use rustix::net::sockopt::tcp_congestion;
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};

    fn has(socket: &Socket) -> String {
        tcp_congestion(socket).unwrap()
    }

    fn fresh() -> Socket {
        Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap()
    }

    #[test]
    fn a_connection_within_the_machine_is_not_paced() {
        for (listens_on, at) in [
            (
                IpAddr::from(Ipv4Addr::LOCALHOST),
                IpAddr::from([127, 0, 0, 1]),
            ),
            (Ipv4Addr::UNSPECIFIED.into(), [127, 0, 0, 2].into()),
            // What comes over IPv4 here has an address of IPv6.
            (Ipv6Addr::UNSPECIFIED.into(), [127, 0, 0, 1].into()),
        ] {
            let listener = TcpListener::bind((listens_on, 0)).unwrap();
            let port = listener.local_addr().unwrap().port();
            let client = TcpStream::connect((at, port)).unwrap().into();
            let server = listener.accept().unwrap().0.into();
            for end in [client, server] {
                CongestionControl::Automatic.when_connected(&end);
                assert_eq!(has(&end), WITHIN_A_MACHINE, "{listens_on}");
            }
        }
    }

    #[test]
    fn only_what_is_asked_for_is_changed() {
        let as_it_comes = has(&fresh());
        for (control, is_within, expected) in [
            (CongestionControl::Automatic, true, WITHIN_A_MACHINE),
            (CongestionControl::Automatic, false, &as_it_comes),
            (CongestionControl::System, true, &as_it_comes),
            (CongestionControl::Named("reno"), false, "reno"),
        ] {
            let socket = fresh();
            control.before_connecting(&socket, is_within).unwrap();
            assert_eq!(has(&socket), expected, "{control:?}");
        }
    }

    #[test]
    fn a_socket_that_is_not_connected_is_nowhere() {
        let socket = fresh();
        assert!(!is_within(&socket));
        socket
            .bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())
            .unwrap();
        assert!(!is_within(&socket));
    }

    #[test]
    fn one_that_the_system_does_not_have_is_an_error() {
        let unknown = CongestionControl::Named("no such");
        let error = unknown.before_connecting(&fresh(), true).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
