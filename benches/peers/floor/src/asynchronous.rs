//! The baseline on tokio, with its own streams.

use crate::message::{HEAD, Kind, READ_OCTETS, folded, head, parse};
use std::io::{self, ErrorKind};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::runtime::{Builder, Runtime};

/// A runtime of either flavour, with so many workers or as many as there are CPUs; with timers, as `#[tokio::main]` has
/// them and as a call with a time limit needs: a runtime that may have any looks at the clock each time that it
/// sleeps, whether they are used or not.
///
/// # Errors
/// The operating system's.
pub fn runtime(multi: bool, workers: Option<usize>) -> io::Result<Runtime> {
    let mut builder = if multi {
        Builder::new_multi_thread()
    } else {
        Builder::new_current_thread()
    };
    if let Some(workers) = workers {
        builder.worker_threads(workers);
    }
    builder.enable_all().build()
}

/// One end of a connection: reads through a buffer, long bodies to their place.
#[derive(Debug)]
pub struct End<S> {
    stream: S,
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
}

/// An end of either kind.
#[derive(Debug)]
pub enum Either {
    /// Over the loopback.
    Tcp(End<TcpStream>),
    /// Over a UNIX-domain socket.
    Unix(End<UnixStream>),
}

impl Either {
    /// Connects to what a server wrote: `tcp ADDRESS` or `unix PATH`.
    ///
    /// # Errors
    /// It is neither, or the connection is refused.
    pub async fn connect(reference: &str) -> io::Result<Self> {
        match reference.trim().split_once(' ') {
            Some(("tcp", address)) => {
                let stream = TcpStream::connect(address).await?;
                stream.set_nodelay(true)?;
                Ok(Self::Tcp(End::new(stream)))
            }
            Some(("unix", path)) => Ok(Self::Unix(End::new(UnixStream::connect(path).await?))),
            _ => Err(ErrorKind::InvalidInput.into()),
        }
    }

    /// Sends a whole message.
    ///
    /// # Errors
    /// The connection's.
    pub async fn send(&mut self, message: &[u8]) -> io::Result<()> {
        match self {
            Self::Tcp(end) => end.stream.write_all(message).await,
            Self::Unix(end) => end.stream.write_all(message).await,
        }
    }

    /// Reads the next message's body, as [`End::receive`].
    ///
    /// # Errors
    /// The connection's, or what comes is no message.
    pub async fn receive(&mut self, body: &mut Vec<u8>) -> io::Result<Option<(Kind, usize)>> {
        match self {
            Self::Tcp(end) => end.receive(body).await,
            Self::Unix(end) => end.receive(body).await,
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> End<S> {
    /// An end that waits for the reactor.
    #[must_use]
    pub fn new(stream: S) -> Self {
        let buffer = vec![0; READ_OCTETS];
        Self {
            stream,
            buffer,
            begin: 0,
            end: 0,
        }
    }

    /// Reads the next message's body to the front of `body`, which grows if it has to; gives kind and length. `None`
    /// when the other end is gone.
    ///
    /// # Errors
    /// The connection's, or what comes is no message.
    pub async fn receive(&mut self, body: &mut Vec<u8>) -> io::Result<Option<(Kind, usize)>> {
        let mut head = [0; HEAD];
        if !self.read_exact(&mut head).await? {
            return Ok(None);
        }
        let (kind, len) = parse(&head)?;
        if body.len() < len {
            body.resize(len, 0);
        }
        if len > 0 && !self.read_exact(&mut body[..len]).await? {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Ok(Some((kind, len)))
    }

    async fn read_exact(&mut self, to: &mut [u8]) -> io::Result<bool> {
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
                let read = self.stream.read(&mut self.buffer).await?;
                (self.begin, self.end) = (0, read);
                read
            } else {
                let read = self.stream.read(rest).await?;
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

/// Serves one connection; `fold` is called for every message. True if it is the last connection.
///
/// # Errors
/// The connection's.
pub async fn serve<S>(mut end: End<S>, mut fold: impl FnMut(u64)) -> io::Result<bool>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut body = Vec::new();
    while let Some((kind, len)) = end.receive(&mut body).await? {
        match kind {
            Kind::Void => {
                fold(folded(&body[..len]));
                end.stream.write_all(&head(Kind::Reply, 0)).await?;
            }
            Kind::Echo => {
                fold(folded(&body[..len]));
                let mut reply = head(Kind::Reply, len).to_vec();
                reply.extend_from_slice(&body[..len]);
                end.stream.write_all(&reply).await?;
            }
            Kind::Sync => end.stream.write_all(&head(Kind::Reply, 0)).await?,
            Kind::OneWay => fold(folded(&body[..len])),
            Kind::Shutdown => return Ok(true),
            Kind::Reply => return Err(ErrorKind::InvalidData.into()),
        }
    }
    Ok(false)
}
