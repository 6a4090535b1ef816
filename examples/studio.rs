//! Mix and match: CORBA for what is said, sockets beside it for what is heaped.
//!
//! Run it with `cargo run --release --example studio`. You should see a recording of 64 MiB come once by calls, and a GiB of it through a
//! socket that an operation has opened, with the rate of each, and calls that were answered meanwhile; then a film by frames over UDP,
//! where what is lost stays lost: its viewer takes a rest, misses what came meanwhile, and goes on with the newest frame.
//! `… --example studio -- 2` has the recording twice through the socket, not sixteen times.
//!
//! Octets of a recording need no types, no byte order and no marshalling, and a late frame is of no use. So they go as they are,
//! and CORBA has the rest: where they are, who may have them, when they begin and end, and how many there were.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use zorb::{Bytes, Interface, Orb, SystemException, SystemExceptionKind};
use zorb_frames::{Assembler, Limits, Splitter};

zorb::idl! {
    module Studio {
        typedef sequence<octet> Data;
        struct Address { string host; unsigned short port; };
        // A socket to read from: the reader sends the ticket, which is good for once, and gets so many octets.
        struct Source { Address at; Data ticket; unsigned long long octets; };

        interface Recording {
            unsigned long long size();
            Data read(in unsigned long long from, in unsigned long octets);
            // All of it, so many times one behind the other.
            Source open(in unsigned long times);
        };
        interface Film {
            exception NotPlaying {};
            // Sends frames of so many octets, so many a second, to this address, in datagrams of zorb-frames whose time stamps are
            // microseconds. Returns the number of the stream.
            unsigned long start(in Address to, in unsigned long rate, in unsigned long octets);
            void set_rate(in unsigned long rate) raises (NotPlaying);
            // Returns how many frames there were.
            unsigned long stop() raises (NotPlaying);
        };
    };
}

use studio::film::{NotPlaying, SetRateError, StopError};
use studio::{
    Address, Film, FilmRef, FilmServant, Recording, RecordingRef, RecordingServant, Source,
};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Octets of a ticket.
const TICKET: usize = 16;
/// Tickets that were not shown yet.
const MAX_TICKETS: usize = 64;
/// Octets of a picture: some fifteen datagrams.
const PICTURE: u32 = 20_000;
/// Octets of a datagram, which most networks carry in one packet.
const DATAGRAM: usize = 1_400;
/// What a film may be, so that nobody has it flood others.
const MAX_PICTURE: u32 = 1 << 20;
const MAX_RATE: u32 = 10_000;
/// How long a reader may take to show its ticket.
const PATIENCE: Duration = Duration::from_secs(5);

fn failed(error: impl std::fmt::Display) -> SystemException {
    SystemException::internal(error.to_string())
}

/// What the bearers of tickets get, and how often one behind the other.
type Tickets = Arc<Mutex<HashMap<[u8; TICKET], (Bytes, u32)>>>;

struct Tape {
    octets: Bytes,
    at: Address,
    tickets: Tickets,
}

impl Tape {
    /// Listens for those who come with a ticket.
    async fn new(octets: Bytes) -> Result<Self, Failure> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let tickets = Tickets::default();
        let at = Address {
            host: "127.0.0.1".to_owned(),
            port: listener.local_addr()?.port(),
        };
        let known = Arc::clone(&tickets);
        tokio::spawn(async move {
            while let Ok((reader, _)) = listener.accept().await {
                tokio::spawn(serve(reader, Arc::clone(&known)));
            }
        });
        Ok(Self {
            octets,
            at,
            tickets,
        })
    }
}

/// Sends what the ticket is for, if there is one.
async fn serve(mut reader: TcpStream, known: Tickets) {
    let mut ticket = [0; TICKET];
    let shown = tokio::time::timeout(PATIENCE, reader.read_exact(&mut ticket)).await;
    let ordered = match shown {
        Ok(Ok(_)) => known.lock().expect("no panic").remove(&ticket),
        _ => None,
    };
    let Some((octets, times)) = ordered else {
        return;
    };
    for _ in 0..times {
        // One that goes early has what it wanted.
        if reader.write_all(&octets).await.is_err() {
            return;
        }
    }
}

impl Recording for Tape {
    async fn size(&self) -> Result<u64, SystemException> {
        Ok(self.octets.len() as u64)
    }

    async fn read(&self, from: u64, octets: u32) -> Result<Bytes, SystemException> {
        let from = usize::try_from(from)
            .map_err(failed)?
            .min(self.octets.len());
        let to = from.saturating_add(octets as usize).min(self.octets.len());
        Ok(self.octets.slice(from..to))
    }

    async fn open(&self, times: u32) -> Result<Source, SystemException> {
        let mut ticket = [0; TICKET];
        getrandom::fill(&mut ticket).map_err(failed)?;
        let mut tickets = self.tickets.lock().expect("no panic");
        if tickets.len() >= MAX_TICKETS {
            return Err(SystemExceptionKind::NoResources.into());
        }
        tickets.insert(ticket, (self.octets.clone(), times));
        Ok(Source {
            at: self.at.clone(),
            ticket: Bytes::copy_from_slice(&ticket),
            octets: self.octets.len() as u64 * u64::from(times),
        })
    }
}

#[derive(Default)]
struct Projector(Mutex<Option<Playing>>);

/// A film that is sent. It ends when this is dropped.
struct Playing {
    task: JoinHandle<()>,
    /// Frames a second.
    rate: watch::Sender<u32>,
    sent: Arc<AtomicU32>,
}

impl Drop for Playing {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn permitted(rate: u32) -> Result<u32, SystemException> {
    match rate {
        1..=MAX_RATE => Ok(rate),
        _ => Err(SystemExceptionKind::BadParam.into()),
    }
}

/// Sends frames, at a rate that may change.
async fn play(
    screen: UdpSocket,
    stream: u32,
    octets: usize,
    mut rate: watch::Receiver<u32>,
    sent: Arc<AtomicU32>,
) {
    let mut splitter = Splitter::new(stream, DATAGRAM).expect("more than a header");
    let begun = Instant::now();
    let mut picture = vec![0; octets];
    loop {
        let mut beat = tokio::time::interval(Duration::from_secs(1) / *rate.borrow_and_update());
        while !rate.has_changed().unwrap_or_default() {
            beat.tick().await;
            picture.fill(splitter.next_sequence() as u8);
            let now = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
            // What cannot be sent now is of no use later.
            let _ = splitter.send(now, &picture, |datagram| {
                screen.try_send(datagram).map(drop)
            });
            sent.store(splitter.next_sequence(), Ordering::Relaxed);
        }
    }
}

impl Film for Projector {
    async fn start(&self, to: &Address, rate: u32, octets: u32) -> Result<u32, SystemException> {
        if octets > MAX_PICTURE {
            return Err(SystemExceptionKind::BadParam.into());
        }
        // A server for strangers would send to the address alone from which the call has come.
        let screen = UdpSocket::bind("127.0.0.1:0").await.map_err(failed)?;
        let to = (to.host.as_str(), to.port);
        screen.connect(to).await.map_err(failed)?;
        let stream = getrandom::u32().map_err(failed)?;
        let (rate, changes) = watch::channel(permitted(rate)?);
        let sent: Arc<AtomicU32> = Arc::default();
        let octets = usize::try_from(octets).map_err(failed)?;
        let playing = play(screen, stream, octets, changes, Arc::clone(&sent));
        let playing = Playing {
            task: tokio::spawn(playing),
            rate,
            sent,
        };
        *self.0.lock().expect("no panic") = Some(playing);
        Ok(stream)
    }

    async fn set_rate(&self, rate: u32) -> Result<(), SetRateError> {
        let playing = self.0.lock().expect("no panic");
        let playing = playing.as_ref().ok_or(NotPlaying {})?;
        playing.rate.send_replace(permitted(rate)?);
        Ok(())
    }

    async fn stop(&self) -> Result<u32, StopError> {
        let playing = self.0.lock().expect("no panic").take();
        let playing = playing.ok_or(NotPlaying {})?;
        Ok(playing.sent.load(Ordering::Relaxed))
    }
}

/// Megaoctets a second.
fn rate(octets: u64, since: Instant) -> f64 {
    octets as f64 / 1e6 / since.elapsed().as_secs_f64()
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let server = Orb::builder().listen("iiop://127.0.0.1:0").build().await?;
    let poa = server.root_poa();
    let octets: Vec<u8> = (0..64_u32 << 20).map(|at| (at >> 7) as u8).collect();
    let tape = poa.activate(RecordingServant::new(Tape::new(octets.into()).await?))?;
    let projector = poa.activate(FilmServant::new(Projector::default()))?;
    poa.the_poa_manager().activate()?;

    let client = Orb::builder().build().await?;
    let tape = client
        .string_to_object(&tape.as_object().to_string())
        .await?;
    let tape: RecordingRef = tape.unchecked_narrow();
    let size = tape.size().await?;
    let (begun, mut by_calls) = (Instant::now(), Vec::new());
    while (by_calls.len() as u64) < size {
        by_calls.extend_from_slice(&tape.read(by_calls.len() as u64, 256 << 10).await?);
    }
    println!(
        "by calls of 256 KiB: {size} octets, {:.0} MB/s",
        rate(size, begun)
    );

    let times = std::env::args()
        .nth(1)
        .map_or(Ok(16), |times| times.parse())?;
    let source = tape.open(times).await?;
    let is_over = Arc::new(AtomicBool::new(false));
    let (beside, until) = (tape.clone(), Arc::clone(&is_over));
    let meanwhile = tokio::spawn(async move {
        let mut calls = 0_u32;
        while !until.load(Ordering::Relaxed) {
            beside.size().await?;
            calls += 1;
        }
        Ok::<u32, SystemException>(calls)
    });
    let (begun, mut heard) = (Instant::now(), 0_usize);
    let mut socket = TcpStream::connect((source.at.host.as_str(), source.at.port)).await?;
    socket.write_all(&source.ticket).await?;
    let mut octets = vec![0; 256 << 10];
    while (heard as u64) < source.octets {
        let here = heard % by_calls.len();
        let most = octets.len().min(by_calls.len() - here);
        let read = socket.read(&mut octets[..most]).await?;
        assert!(read > 0, "the recording is over too early");
        let same = octets[..read] == by_calls[here..here + read];
        assert!(same, "they are the same octets");
        heard += read;
    }
    let of_socket = rate(source.octets, begun);
    is_over.store(true, Ordering::Relaxed);
    println!(
        "by a socket beside them: {heard} octets, {of_socket:.0} MB/s, and {} calls meanwhile",
        meanwhile.await??
    );
    let mut again = TcpStream::connect((source.at.host.as_str(), source.at.port)).await?;
    again.write_all(&source.ticket).await?;
    println!(
        "with the same ticket again: {} octets",
        again.read_to_end(&mut Vec::new()).await?
    );

    let film = client
        .string_to_object(&projector.as_object().to_string())
        .await?;
    let film: FilmRef = film.unchecked_narrow();
    let screen = UdpSocket::bind("127.0.0.1:0").await?;
    let at = Address {
        host: "127.0.0.1".to_owned(),
        port: screen.local_addr()?.port(),
    };
    let stream = film.start(&at, 200, PICTURE).await?;
    let mut assembler = Assembler::new(stream, Limits::default());
    let mut datagram = [0; DATAGRAM];
    let mut newest = 0;
    while assembler.counts().frames < 300 {
        let octets = screen.recv(&mut datagram).await?;
        let Some(frame) = assembler.take(&datagram[..octets]) else {
            continue;
        };
        newest = frame.sequence;
        let is_whole = frame.octets == vec![newest as u8; PICTURE as usize];
        assert!(is_whole, "a frame is whole, or there is none");
        match assembler.counts().frames {
            100 => film.set_rate(1_000).await?,
            // The viewer takes a rest: its socket keeps some frames, and the others are lost.
            200 => tokio::time::sleep(Duration::from_millis(500)).await,
            _ => {}
        }
    }
    let sent = film.stop().await?;
    let counts = assembler.counts();
    println!(
        "a film of {sent} frames: {} seen, the last one is {newest}, {} lost, {} late",
        counts.frames, counts.lost, counts.late
    );
    for orb in [client, server] {
        orb.shutdown(true).await?;
    }
    Ok(())
}
