//! Mix and match: CORBA for what is said, sockets beside it for what is heaped.
//!
//! Run it with `cargo run --release --example studio`. You should see a recording of 64 MiB come once by calls and once through a
//! socket that an operation has opened, with the rate of each; then a film by frames over UDP, where what is lost stays lost: its
//! viewer takes a rest, misses what came meanwhile, and goes on with the newest frame.
//!
//! Octets of a recording need no types, no byte order and no marshalling, and a late frame is of no use. So they go as they are,
//! and CORBA has the rest: where they are, who may have them, when they begin and end, and how many there were.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::task::JoinHandle;
use zorb::{Bytes, Interface, Orb, SystemException};

zorb::idl! {
    module Studio {
        typedef sequence<octet> Data;
        struct Address { string host; unsigned short port; };
        // A socket to read from: the reader sends the ticket, which is good for once, and gets so many octets.
        struct Source { Address at; Data ticket; unsigned long long octets; };

        interface Recording {
            unsigned long long size();
            Data read(in unsigned long long from, in unsigned long octets);
            Source open();
        };
        interface Film {
            // Sends frames, so many a second, as datagrams to this address: a number of 4 octets, big-endian, and a picture.
            void play(in Address to, in unsigned long rate);
            // Returns how many there were.
            unsigned long stop();
        };
    };
}

use studio::{
    Address, Film, FilmRef, FilmServant, Recording, RecordingRef, RecordingServant, Source,
};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Octets of a ticket.
const TICKET: usize = 16;
/// Octets of a picture.
const PICTURE: usize = 1_000;
/// How long a reader may take to show its ticket.
const PATIENCE: Duration = Duration::from_secs(5);

fn failed(error: impl std::fmt::Display) -> SystemException {
    SystemException::internal(error.to_string())
}

struct Tape {
    octets: Bytes,
    at: Address,
    tickets: Arc<Mutex<HashMap<[u8; TICKET], Bytes>>>,
}

impl Tape {
    /// Listens for those who come with a ticket.
    async fn new(octets: Bytes) -> Result<Self, Failure> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let tickets: Arc<Mutex<HashMap<[u8; TICKET], Bytes>>> = Arc::default();
        let at = Address {
            host: "127.0.0.1".to_owned(),
            port: listener.local_addr()?.port(),
        };
        let known = Arc::clone(&tickets);
        tokio::spawn(async move {
            while let Ok((mut reader, _)) = listener.accept().await {
                let known = Arc::clone(&known);
                tokio::spawn(async move {
                    let mut ticket = [0; TICKET];
                    let shown =
                        tokio::time::timeout(PATIENCE, reader.read_exact(&mut ticket)).await;
                    let octets = match shown {
                        Ok(Ok(_)) => known.lock().expect("no panic").remove(&ticket),
                        _ => None,
                    };
                    if let Some(octets) = octets {
                        // One that goes early has what it wanted.
                        let _ = reader.write_all(&octets).await;
                    }
                });
            }
        });
        Ok(Self {
            octets,
            at,
            tickets,
        })
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

    async fn open(&self) -> Result<Source, SystemException> {
        let mut ticket = [0; TICKET];
        getrandom::fill(&mut ticket).map_err(failed)?;
        self.tickets
            .lock()
            .expect("no panic")
            .insert(ticket, self.octets.clone());
        Ok(Source {
            at: self.at.clone(),
            ticket: Bytes::copy_from_slice(&ticket),
            octets: self.octets.len() as u64,
        })
    }
}

#[derive(Default)]
struct Projector(
    Mutex<Option<JoinHandle<()>>>,
    Arc<std::sync::atomic::AtomicU32>,
);

impl Film for Projector {
    async fn play(&self, to: &Address, rate: u32) -> Result<(), SystemException> {
        let screen = UdpSocket::bind("127.0.0.1:0").await.map_err(failed)?;
        screen
            .connect((to.host.as_str(), to.port))
            .await
            .map_err(failed)?;
        let shown = Arc::clone(&self.1);
        let playing = tokio::spawn(async move {
            let mut beat = tokio::time::interval(Duration::from_secs(1) / rate.max(1));
            let mut frame = vec![0; 4 + PICTURE];
            for number in 0_u32.. {
                beat.tick().await;
                frame[..4].copy_from_slice(&number.to_be_bytes());
                // A frame that cannot be sent now is of no use later.
                let _ = screen.try_send(&frame);
                shown.store(number + 1, std::sync::atomic::Ordering::Relaxed);
            }
        });
        let before = self.0.lock().expect("no panic").replace(playing);
        before.inspect(JoinHandle::abort);
        Ok(())
    }

    async fn stop(&self) -> Result<u32, SystemException> {
        let playing = self.0.lock().expect("no panic").take();
        playing.inspect(JoinHandle::abort);
        Ok(self.1.load(std::sync::atomic::Ordering::Relaxed))
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

    let source = tape.open().await?;
    let (begun, mut beside) = (Instant::now(), Vec::new());
    let mut socket = TcpStream::connect((source.at.host.as_str(), source.at.port)).await?;
    socket.write_all(&source.ticket).await?;
    socket.take(source.octets).read_to_end(&mut beside).await?;
    println!(
        "by a socket beside them: {} octets, {:.0} MB/s",
        beside.len(),
        rate(source.octets, begun)
    );
    assert!(by_calls == beside, "they are the same octets");
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
    film.play(&at, 2_000).await?;
    let (mut seen, mut newest) = (0_u32, None);
    let mut frame = [0; 4 + PICTURE];
    for watched in 0..600 {
        if watched == 300 {
            // The viewer takes a rest: its socket keeps some frames, and the others are lost.
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        screen.recv(&mut frame).await?;
        let number = u32::from_be_bytes([frame[0], frame[1], frame[2], frame[3]]);
        if newest.is_none_or(|newest| number > newest) {
            (seen, newest) = (seen + 1, Some(number));
        }
    }
    let sent = film.stop().await?;
    let newest = newest.unwrap_or_default();
    println!(
        "a film of {sent} frames: {seen} seen, the last one is {newest}, {} lost or late",
        newest + 1 - seen
    );
    for orb in [client, server] {
        orb.shutdown(true).await?;
    }
    Ok(())
}
