//! A relay that is a network: TCP connections through it are delayed, each octet by the same time, and have so many bits a second.
//!
//! A thread for each direction reads what comes, in packets of at most an Ethernet frame's load, with the time at which the last bit of it
//! leaves the link and arrives; another one waits for that time, and writes. Timers of the reactor have a resolution of a
//! millisecond, so the thread sleeps until shortly before, and spins for the rest.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// The most octets that go as one.
const PACKET: usize = 1_460;
/// Packets on their way, in each direction of a connection; then the sender waits. At 1 Gbit/s they last 0.19 s.
const MAX_PACKETS: usize = 16_384;
/// How long before its time a packet is waited for by spinning: sleeping takes longer than asked by less.
const SPIN: Duration = Duration::from_micros(120);

/// A network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// From one end to the other.
    pub delay: Duration,
    /// Of each direction; `None` is as much as the machine can do.
    pub bits_per_second: Option<f64>,
}

impl Link {
    /// How long the link is busy with so many octets.
    #[must_use]
    pub fn time_of(&self, octets: usize) -> Duration {
        match self.bits_per_second {
            Some(rate) => Duration::from_secs_f64(octets as f64 * 8.0 / rate),
            None => Duration::ZERO,
        }
    }
}

struct Packet {
    octets: Vec<u8>,
    arrives: Instant,
}

/// Relays the connections of a listener to `to`, for ever.
///
/// # Errors
/// The listener fails.
pub fn relay(listener: &TcpListener, to: SocketAddr, link: Link) -> io::Result<()> {
    loop {
        let (near, _) = listener.accept()?;
        // A server that is away is, for the client, one that hangs up.
        thread::spawn(move || TcpStream::connect(to).and_then(|far| join(near, far, link)));
    }
}

/// Relays between two connections, until both are over.
fn join(near: TcpStream, far: TcpStream, link: Link) -> io::Result<()> {
    for stream in [&near, &far] {
        stream.set_nodelay(true)?;
    }
    for (from, to) in [(near.try_clone()?, far.try_clone()?), (far, near)] {
        let (packets, arriving) = sync_channel(MAX_PACKETS);
        let reading = from.try_clone()?;
        thread::spawn(move || take_in(reading, &packets, link));
        thread::spawn(move || {
            if give_out(&arriving, &to).is_err() {
                // Nobody reads there any more, so nothing is to be sent.
                let _ = from.shutdown(Shutdown::Read);
            }
        });
    }
    Ok(())
}

/// Reads packets, and puts them on the link.
fn take_in(mut from: TcpStream, packets: &SyncSender<Packet>, link: Link) {
    let mut free = Instant::now();
    let mut octets = [0; PACKET];
    loop {
        let read = from.read(&mut octets).unwrap_or(0);
        let now = Instant::now();
        free = free.max(now) + link.time_of(read);
        let packet = Packet {
            octets: octets.get(..read).unwrap_or_default().to_vec(),
            arrives: free + link.delay,
        };
        // An empty one is the end.
        if packets.send(packet).is_err() || read == 0 {
            return;
        }
    }
}

/// Writes packets when they arrive.
fn give_out(arriving: &Receiver<Packet>, mut to: &TcpStream) -> io::Result<()> {
    while let Ok(packet) = arriving.recv() {
        wait_until(packet.arrives);
        if packet.octets.is_empty() {
            break;
        }
        to.write_all(&packet.octets)?;
    }
    to.shutdown(Shutdown::Write)
}

fn wait_until(time: Instant) {
    loop {
        let left = time.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        match left.checked_sub(SPIN) {
            Some(sleep) if !sleep.is_zero() => thread::sleep(sleep),
            _ => std::hint::spin_loop(),
        }
    }
}

/// What a relay does, beside what it was told to.
#[derive(Debug, Clone, Copy)]
pub struct Accuracy {
    /// The median time of an octet from one end to the other, and what one in a hundred takes longer than.
    pub p50: Duration,
    /// One in a hundred takes longer.
    pub p99: Duration,
    /// Bits a second of a flood; `None` where they are not limited.
    pub bits_per_second: Option<f64>,
}

/// Sends probes through a relay of this link, one at a time, and a flood of two seconds. All ends are of this process, which has one clock.
///
/// # Errors
/// A socket fails.
pub fn measure(link: Link, probes: usize) -> io::Result<Accuracy> {
    let sink = TcpListener::bind("127.0.0.1:0")?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let (to, at) = (sink.local_addr()?, listener.local_addr()?);
    thread::spawn(move || relay(&listener, to, link));
    let mut sender = TcpStream::connect(at)?;
    sender.set_nodelay(true)?;
    let (mut receiver, _) = sink.accept()?;
    let mut delays = Vec::with_capacity(probes);
    for _ in 0..probes {
        let sent = Instant::now();
        sender.write_all(&[0])?;
        receiver.read_exact(&mut [0])?;
        delays.push(sent.elapsed());
    }
    delays.sort_unstable();
    let at = |share: usize| delays.get(delays.len() * share / 100).copied();
    let bits_per_second = link.bits_per_second.map(|rate| {
        let octets = rate / 8.0 * 2.0;
        let mut packets = (octets / PACKET as f64) as usize;
        let flood = thread::spawn(move || {
            while packets > 0 && sender.write_all(&[0; PACKET]).is_ok() {
                packets -= 1;
            }
        });
        let mut received = 0_usize;
        let mut octets = vec![0; 64 << 10];
        // From the first octets, so that the delay does not count.
        let first = receiver.read(&mut octets).unwrap_or(0);
        let begun = Instant::now();
        while let Ok(read) = receiver.read(&mut octets)
            && read > 0
        {
            received += read;
        }
        let took = begun.elapsed();
        drop((first, flood.join()));
        received as f64 * 8.0 / took.as_secs_f64()
    });
    Ok(Accuracy {
        p50: at(50).unwrap_or_default(),
        p99: at(99).unwrap_or_default(),
        bits_per_second,
    })
}
