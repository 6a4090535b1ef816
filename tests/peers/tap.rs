//! A proxy between client and server that writes down what they say: to count the messages of, and for another program
//! to look at.

use crate::support::HANG;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use zorb::Ior;
use zorb_giop::ior::IiopProfile;

/// The sender of octets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Side {
    Client,
    Server,
}

/// The octets of one read from one side.
struct Chunk {
    connection: u16,
    side: Side,
    octets: Vec<u8>,
}

/// A proxy at work.
pub(crate) struct Tap {
    address: SocketAddr,
    over: Arc<AtomicBool>,
    chunks: Receiver<Chunk>,
}

impl Tap {
    /// Listens before the server of `reference`, and gives the reference that leads here.
    pub(crate) fn before(reference: &str) -> (Self, String) {
        let (tap, address, mut ior) = Self::start(reference);
        let mut profile = IiopProfile::from_tagged(&ior.profiles[0]).expect("read before");
        profile.address.port = address.port();
        ior.profiles[0] = profile.to_tagged().expect("as it was");
        (tap, ior.to_ior_string().expect("as it was"))
    }

    fn start(reference: &str) -> (Self, SocketAddr, Ior) {
        let digits = reference.strip_prefix("IOR:").expect("a reference");
        let ior = Ior::from_hex(digits).expect("a reference");
        let profile = IiopProfile::from_tagged(&ior.profiles[0]).expect("an IIOP profile");
        let (tap, address) = Self::before_address((profile.address.host, profile.address.port));
        (tap, address, ior)
    }

    /// Listens before a server at this host and port, and gives the address that leads here.
    pub(crate) fn before_address(server: (String, u16)) -> (Self, SocketAddr) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let over = Arc::new(AtomicBool::new(false));
        let (sender, chunks) = channel();
        let is_over = Arc::clone(&over);
        thread::spawn(move || {
            for (connection, client) in (0..).zip(listener.incoming()) {
                if is_over.load(Ordering::Acquire) {
                    return;
                }
                let client = client.expect("accepting goes on");
                // A server that has gone: the client sees its connection end.
                if let Ok(server) = TcpStream::connect((server.0.as_str(), server.1)) {
                    join(connection, client, server, &sender);
                }
            }
        });
        let tap = Self {
            address,
            over,
            chunks,
        };
        (tap, address)
    }

    /// Waits until all connections have ended; gives what was said.
    pub(crate) fn finish(self) -> Recording {
        self.over.store(true, Ordering::Release);
        // Wakes the accepting thread.
        drop(TcpStream::connect(self.address));
        let mut chunks = Vec::new();
        loop {
            match self.chunks.recv_timeout(HANG) {
                Ok(chunk) => chunks.push(chunk),
                Err(RecvTimeoutError::Disconnected) => return Recording { chunks },
                Err(RecvTimeoutError::Timeout) => panic!("a tapped connection does not end"),
            }
        }
    }
}

/// Hands on in both directions until both have ended.
fn join(connection: u16, client: TcpStream, server: TcpStream, to: &Sender<Chunk>) {
    for (side, from, onward) in [
        (Side::Client, &client, &server),
        (Side::Server, &server, &client),
    ] {
        let mut from = from.try_clone().expect("a descriptor");
        let mut onward = onward.try_clone().expect("a descriptor");
        let to = to.clone();
        thread::spawn(move || {
            let mut buffer = vec![0; 32 << 10];
            while let Ok(n @ 1..) = from.read(&mut buffer) {
                let octets = buffer[..n].to_vec();
                // Before it is handed on, so that an answer never stands before its question. The
                // receiver may have given up.
                let _ = to.send(Chunk {
                    connection,
                    side,
                    octets,
                });
                if onward.write_all(&buffer[..n]).is_err() {
                    let _ = from.shutdown(Shutdown::Read);
                    break;
                }
            }
            // The other side may be gone already.
            let _ = onward.shutdown(Shutdown::Write);
        });
    }
}

/// The head of a GIOP message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Heard {
    pub(crate) minor: u8,
    /// The message type: 0 Request, 1 Reply, 2 CancelRequest, 3 LocateRequest, 4 LocateReply, and
    /// those that have a name here.
    pub(crate) kind: u8,
    pub(crate) little: bool,
    /// Whether fragments follow.
    pub(crate) more: bool,
    /// Octets behind the head.
    pub(crate) size: u32,
}

pub(crate) const CLOSE_CONNECTION: u8 = 5;
pub(crate) const MESSAGE_ERROR: u8 = 6;
pub(crate) const FRAGMENT: u8 = 7;

/// Which connection, and who.
pub(crate) type Stream = (u16, Side);

/// The recorded octets.
pub(crate) struct Recording {
    chunks: Vec<Chunk>,
}

/// Where the file says that the server listens: the port that is registered for GIOP.
pub(crate) const SERVER_PORT: u16 = 2809;
/// The port of connection 0's client in the file.
pub(crate) const FIRST_CLIENT_PORT: u16 = 40_000;

impl Recording {
    /// The messages of each stream. Counted by hand, and not by the reader that we test.
    pub(crate) fn messages(&self) -> BTreeMap<Stream, Vec<Heard>> {
        let mut streams: BTreeMap<Stream, Vec<u8>> = BTreeMap::new();
        for chunk in &self.chunks {
            let stream = streams.entry((chunk.connection, chunk.side)).or_default();
            stream.extend_from_slice(&chunk.octets);
        }
        streams
            .into_iter()
            .map(|(stream, octets)| (stream, cut(&octets)))
            .collect()
    }

    /// How many messages of one kind one side sent, in all connections.
    pub(crate) fn count(&self, of: Side, kind: u8) -> usize {
        let messages = self.messages();
        let of_side = messages.iter().filter(|((_, side), _)| *side == of);
        let kinds = of_side.flat_map(|(_, messages)| messages).map(|m| m.kind);
        kinds.filter(|it| *it == kind).count()
    }

    /// Writes it as a capture file of IP packets: each connection with its opening, its octets with
    /// the right sequence numbers, and its end.
    pub(crate) fn write_pcap(&self, file: &Path) -> std::io::Result<()> {
        let mut pcap = Pcap::default();
        let mut next: BTreeMap<Stream, u32> = BTreeMap::new();
        for chunk in &self.chunks {
            let (client, server) = (
                (chunk.connection, Side::Client),
                (chunk.connection, Side::Server),
            );
            if !next.contains_key(&client) {
                pcap.packet(client, 0, 0, &[Flag::Syn], &[]);
                pcap.packet(server, 0, 1, &[Flag::Syn, Flag::Ack], &[]);
                next.extend([(client, 1), (server, 1)]);
            }
            let (from, to) = match chunk.side {
                Side::Client => (client, server),
                Side::Server => (server, client),
            };
            // The most octets of an IP packet.
            for octets in chunk.octets.chunks(16 << 10) {
                pcap.packet(
                    from,
                    next[&from],
                    next[&to],
                    &[Flag::Ack, Flag::Push],
                    octets,
                );
                let length = u32::try_from(octets.len()).expect("a small piece");
                *next.get_mut(&from).expect("opened") += length;
            }
        }
        for (connection, side) in next.keys().copied() {
            let other = match side {
                Side::Client => (connection, Side::Server),
                Side::Server => (connection, Side::Client),
            };
            let from = (connection, side);
            pcap.packet(
                from,
                next[&from],
                next[&other],
                &[Flag::Ack, Flag::Fin],
                &[],
            );
        }
        std::fs::write(file, pcap.file())
    }
}

/// Cuts a stream into messages. Whatever is no message fails.
fn cut(mut octets: &[u8]) -> Vec<Heard> {
    let mut messages = Vec::new();
    while let Some((head, rest)) = octets.split_first_chunk::<12>() {
        let [b'G', b'I', b'O', b'P', 1, minor, flags, kind, size @ ..] = *head else {
            panic!("expected the head of a message, found {head:?}");
        };
        let little = flags & 1 == 1;
        let size = if little {
            u32::from_le_bytes(size)
        } else {
            u32::from_be_bytes(size)
        };
        messages.push(Heard {
            minor,
            kind,
            little,
            // In 1.0 that octet is the byte order and nothing else.
            more: minor > 0 && flags & 2 == 2,
            size,
        });
        octets = rest
            .get(size as usize..)
            .expect("a stream ends with a whole message");
    }
    assert!(octets.is_empty(), "a stream ends within a head: {octets:?}");
    messages
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    Syn,
    Ack,
    Push,
    Fin,
}

/// A capture file in the making.
#[derive(Default)]
struct Pcap {
    packets: Vec<u8>,
    count: u32,
}

impl Pcap {
    fn packet(
        &mut self,
        from: Stream,
        sequence: u32,
        acknowledged: u32,
        flags: &[Flag],
        octets: &[u8],
    ) {
        let (client, server) = (FIRST_CLIENT_PORT + from.0, SERVER_PORT);
        let (source, destination) = match from.1 {
            Side::Client => (client, server),
            Side::Server => (server, client),
        };
        let here = Ipv4Addr::LOCALHOST.octets();
        let mut packet = etherparse::PacketBuilder::ipv4(here, here, 64).tcp(
            source,
            destination,
            sequence,
            u16::MAX,
        );
        for flag in flags {
            packet = match flag {
                Flag::Syn => packet.syn(),
                Flag::Ack => packet.ack(acknowledged),
                Flag::Push => packet.psh(),
                Flag::Fin => packet.fin(),
            };
        }
        let size = u32::try_from(packet.size(octets.len())).expect("it fits into IP");
        // The time is made up, and goes on: a microsecond a packet.
        let (seconds, micros) = (self.count / 1_000_000, self.count % 1_000_000);
        self.count += 1;
        for field in [seconds, micros, size, size] {
            self.packets.extend_from_slice(&field.to_le_bytes());
        }
        packet
            .write(&mut self.packets, octets)
            .expect("a vector takes it, and it fits into IP");
    }

    /// The file: a head, and the packets.
    fn file(self) -> Vec<u8> {
        const MAGIC: u32 = 0xa1b2_c3d4;
        const VERSION: u32 = 2 | 4 << 16;
        const LONGEST: u32 = 0x4_0000;
        /// Packets begin with the head of IP.
        const LINK_RAW: u32 = 101;
        let head = [MAGIC, VERSION, 0, 0, LONGEST, LINK_RAW];
        let mut file: Vec<u8> = head.into_iter().flat_map(u32::to_le_bytes).collect();
        file.extend(self.packets);
        file
    }
}
