//! Threads that block, or spin before they do.

use crate::message::{HEAD, Kind, READ_OCTETS, folded, head, parse};
use rustix::net::{RecvFlags, recv};
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// How long a spinning reader asks before it sleeps.
pub const SPIN: Duration = Duration::from_micros(50);

/// A connection of either kind.
#[derive(Debug)]
pub enum Stream {
    /// Over the loopback.
    Tcp(TcpStream),
    /// Over a UNIX-domain socket.
    Unix(UnixStream),
}

impl Stream {
    /// Connects to what a server wrote: `tcp ADDRESS` or `unix PATH`.
    ///
    /// # Errors
    /// It is neither, or the connection is refused.
    pub fn connect(reference: &str) -> io::Result<Self> {
        match reference.trim().split_once(' ') {
            Some(("tcp", address)) => {
                let stream = TcpStream::connect(address)?;
                stream.set_nodelay(true)?;
                Ok(Self::Tcp(stream))
            }
            Some(("unix", path)) => Ok(Self::Unix(UnixStream::connect(path)?)),
            _ => Err(ErrorKind::InvalidInput.into()),
        }
    }

    fn write_all(&mut self, octets: &[u8]) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.write_all(octets),
            Self::Unix(stream) => stream.write_all(octets),
        }
    }

    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(to),
            Self::Unix(stream) => stream.read(to),
        }
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
        }
    }
}

/// One end of a connection: reads through a buffer, long bodies to their place.
#[derive(Debug)]
pub struct End {
    stream: Stream,
    spin: bool,
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
}

impl End {
    /// An end that asks for [`SPIN`] before it sleeps, or not.
    #[must_use]
    pub fn new(stream: Stream, spin: bool) -> Self {
        let buffer = vec![0; READ_OCTETS];
        Self {
            stream,
            spin,
            buffer,
            begin: 0,
            end: 0,
        }
    }

    /// Sends a whole message.
    ///
    /// # Errors
    /// The connection's.
    pub fn send(&mut self, message: &[u8]) -> io::Result<()> {
        self.stream.write_all(message)
    }

    /// Reads the next message's body to the front of `body`, which grows if it has to; gives kind and length. `None`
    /// when the other end is gone.
    ///
    /// # Errors
    /// The connection's, or what comes is no message.
    pub fn receive(&mut self, body: &mut Vec<u8>) -> io::Result<Option<(Kind, usize)>> {
        let mut head = [0; HEAD];
        if !self.read_exact(&mut head)? {
            return Ok(None);
        }
        let (kind, len) = parse(&head)?;
        if body.len() < len {
            body.resize(len, 0);
        }
        if len > 0 && !self.read_exact(&mut body[..len])? {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Ok(Some((kind, len)))
    }

    fn read_exact(&mut self, to: &mut [u8]) -> io::Result<bool> {
        let mut done = 0;
        while done < to.len() {
            let there = &self.buffer[self.begin..self.end];
            if !there.is_empty() {
                let len = there.len().min(to.len() - done);
                to[done..done + len].copy_from_slice(&there[..len]);
                self.begin += len;
                done += len;
                continue;
            }
            let rest = &mut to[done..];
            let read = if rest.len() < READ_OCTETS {
                let read = some(&mut self.stream, self.spin, &mut self.buffer)?;
                (self.begin, self.end) = (0, read);
                read
            } else {
                let read = some(&mut self.stream, self.spin, rest)?;
                done += read;
                read
            };
            if read == 0 && done == 0 {
                return Ok(false);
            }
            if read == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(true)
    }
}

fn some(stream: &mut Stream, spin: bool, to: &mut [u8]) -> io::Result<usize> {
    if spin {
        let end = Instant::now() + SPIN;
        loop {
            match recv(stream.as_fd(), &mut *to, RecvFlags::DONTWAIT) {
                Ok((_, read)) => return Ok(read),
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            // sched_yield: on a shared CPU the other end has to run for anything to come.
            std::thread::yield_now();
            if Instant::now() >= end {
                break;
            }
        }
    }
    stream.read(to)
}

/// Serves one connection; `fold` is called for every message. True if it is the last connection.
///
/// # Errors
/// The connection's.
pub fn serve(mut end: End, mut fold: impl FnMut(u64)) -> io::Result<bool> {
    let mut body = Vec::new();
    while let Some((kind, len)) = end.receive(&mut body)? {
        match kind {
            Kind::Void => {
                fold(folded(&body[..len]));
                end.send(&head(Kind::Reply, 0))?;
            }
            Kind::Echo => {
                fold(folded(&body[..len]));
                // One write; an ORB's reply has its head in front too.
                let mut reply = head(Kind::Reply, len).to_vec();
                reply.extend_from_slice(&body[..len]);
                end.send(&reply)?;
            }
            Kind::Sync => end.send(&head(Kind::Reply, 0))?,
            Kind::OneWay => fold(folded(&body[..len])),
            Kind::Shutdown => return Ok(true),
            Kind::Reply => return Err(ErrorKind::InvalidData.into()),
        }
    }
    Ok(false)
}
