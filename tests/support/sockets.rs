//! The options of this process's TCP sockets, as the kernel has them.
//!
//! A socket is found by its addresses in the kernel's tables, so that one which a library keeps to itself is found too.
//! Only that one is duplicated: a duplicate of another test's socket would keep it open beyond its end.

use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
use socket2::Socket;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// The options that a connection was asked to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SocketOptions {
    pub(crate) nodelay: bool,
    /// The silence after which the peer is probed; `None` if it never is.
    pub(crate) keepalive: Option<Duration>,
    /// Octets that the kernel buffers, which is twice of what Linux was asked for.
    pub(crate) send_buffer: usize,
    pub(crate) receive_buffer: usize,
    pub(crate) dscp: u8,
}

impl SocketOptions {
    fn of(socket: &Socket, is_ipv6: bool) -> Self {
        let is_probed = socket.keepalive().expect("a socket");
        let class = match is_ipv6 {
            true => rustix::net::sockopt::ipv6_tclass(socket).expect("a socket of IPv6"),
            false => rustix::net::sockopt::ip_tos(socket)
                .expect("a socket of IPv4")
                .into(),
        };
        Self {
            nodelay: socket.tcp_nodelay().expect("a socket"),
            keepalive: is_probed.then(|| socket.tcp_keepalive_time().expect("a socket")),
            send_buffer: socket.send_buffer_size().expect("a socket"),
            receive_buffer: socket.recv_buffer_size().expect("a socket"),
            dscp: u8::try_from(class >> 2).expect("six bits"),
        }
    }
}

/// The options of the only connection to a server of this process: those of the client's socket, and of the server's.
pub(crate) fn options_of_both_ends(server: SocketAddr) -> (SocketOptions, SocketOptions) {
    let table = match server {
        SocketAddr::V4(_) => "/proc/self/net/tcp",
        SocketAddr::V6(_) => "/proc/self/net/tcp6",
    };
    let table = fs::read_to_string(table).expect("Linux has it");
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let server_has = in_the_table(server);
    // The columns: local address, remote address, state, and the inode as the tenth.
    let end = |column: usize| {
        let is_established = |row: &&Vec<&str>| row[column] == server_has && row[3] == "01";
        let mut ends = rows.iter().filter(is_established);
        let end = ends.next().expect("a connection");
        assert!(ends.next().is_none(), "one connection to {server}");
        SocketOptions::of(&duplicate(end[9]), server.is_ipv6())
    };
    (end(2), end(1))
}

/// An address as `/proc/net/tcp` prints it: words in the order of the machine, in hexadecimal digits.
fn in_the_table(address: SocketAddr) -> String {
    let octets = match address.ip() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let words: String = octets
        .chunks_exact(4)
        .map(|word| u32::from_ne_bytes(word.try_into().expect("four octets")))
        .map(|word| format!("{word:08X}"))
        .collect();
    format!("{words}:{:04X}", address.port())
}

fn duplicate(inode: &str) -> Socket {
    let wanted = format!("socket:[{inode}]");
    let has_it = |descriptor: &fs::DirEntry| {
        fs::read_link(descriptor.path()).is_ok_and(|target| target.as_os_str() == &*wanted)
    };
    let mut descriptors = fs::read_dir("/proc/self/fd").expect("Linux has it");
    let descriptor = descriptors.find_map(|descriptor| descriptor.ok().filter(has_it));
    let name = descriptor.expect("a socket of this process").file_name();
    let number = name.to_str().and_then(|name| name.parse().ok());
    let this = pidfd_open(getpid(), PidfdFlags::empty()).expect("Linux 5.3");
    let number = number.expect("a number");
    let socket = pidfd_getfd(this, number, PidfdGetfdFlags::empty());
    socket.expect("Linux 5.6").into()
}
