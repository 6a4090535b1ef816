//! The raw socket: what goes over it, and the client's end.
//!
//! ```text
//! client   run, platform: a line of text          server   yes, or no: four octets
//!          │ length │ operation │ arguments …              │ length │ status │ results …
//! ```
//! `length` and `operation` or `status` are 32 bits each, and lie as in memory, as do arguments and results: both ends are alike by
//! then. A connection has one call at a time.

use crate::{Bypass, Failure};
use rustix::net::{RecvFlags, recv};
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The version of the protocol, a part of the platform.
pub const VERSION: u32 = 1;
/// The most octets of the arguments or results of a call.
pub const MAX_OCTETS: u32 = 64 << 20;
/// The most octets of the first line of a client.
pub(crate) const MAX_LINE: u64 = 256;
/// How long a server may take to accept a connection and to say whether it is the one that is meant.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

pub(crate) const YES: [u8; 4] = *b"yes\n";
pub(crate) const NO: [u8; 4] = *b"no \n";

/// The statuses of a reply.
pub(crate) const DONE: u32 = 0;
/// The operation has failed; the octets are a text.
pub(crate) const FAILED: u32 = 1;
/// The server ends: the operation was not begun.
pub(crate) const CLOSING: u32 = 2;

/// The first line of a client.
pub(crate) fn line(run: u64, platform: &str) -> String {
    format!("{run:016x} {platform}\n")
}

pub(crate) async fn write(
    stream: &mut TcpStream,
    number: u32,
    octets: &[u8],
) -> Result<(), Failure> {
    let length = u32::try_from(octets.len()).ok();
    let length = length.filter(|length| *length <= MAX_OCTETS);
    let length = length.ok_or("more octets than a call may have")?;
    // One write, since the two would be two packets.
    let mut message = Vec::with_capacity(octets.len() + 8);
    message.extend_from_slice(&length.to_ne_bytes());
    message.extend_from_slice(&number.to_ne_bytes());
    message.extend_from_slice(octets);
    stream.write_all(&message).await?;
    Ok(())
}

/// The number and the octets of a message; `None` at the end of the stream.
pub(crate) async fn read(stream: &mut TcpStream) -> io::Result<Option<(u32, Vec<u8>)>> {
    let mut header = [0; 8];
    if stream.read(&mut header[..1]).await? == 0 {
        return Ok(None);
    }
    stream.read_exact(&mut header[1..]).await?;
    let [a, b, c, d, e, f, g, h] = header;
    let length = u32::from_ne_bytes([a, b, c, d]);
    if length > MAX_OCTETS {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "more octets than a call may have",
        ));
    }
    // Memory is taken as the octets come.
    let mut octets = Vec::with_capacity(length.min(64 << 10) as usize);
    let mut rest = stream.take(length.into());
    rest.read_to_end(&mut octets).await?;
    if octets.len() != length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some((u32::from_ne_bytes([e, f, g, h]), octets)))
}

/// What became of a call.
#[derive(Debug)]
pub enum Outcome {
    /// Its results.
    Done(Vec<u8>),
    /// The text of its failure.
    Failed(String),
    /// The server has not begun it, and never will.
    NotBegun,
    /// The connection broke behind the request.
    Lost(Failure),
}

/// A connection to an alike server.
#[derive(Debug)]
pub struct RawConnection(TcpStream);

impl RawConnection {
    /// Connects, if the server of that run is there still and takes this platform for alike.
    ///
    /// # Errors
    /// It does not, or does not answer within a second.
    pub async fn connect(way: &Bypass, platform: &str) -> Result<Self, Failure> {
        let connected = async {
            let mut stream = TcpStream::connect(&way.endpoint).await?;
            stream.set_nodelay(true)?;
            stream.write_all(line(way.run, platform).as_bytes()).await?;
            let mut answer = [0; 4];
            stream.read_exact(&mut answer).await?;
            match answer {
                YES => Ok(Self(stream)),
                _ => Err(Failure::from("another server, or one that is not alike")),
            }
        };
        tokio::time::timeout(ANSWER_TIMEOUT, connected).await?
    }

    /// Whether the server has closed the connection. Asks the kernel.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let mut octet = [0; 1];
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        recv(&self.0, &mut octet, flags).err() != Some(rustix::io::Errno::AGAIN)
    }

    /// Calls an operation. If the future is dropped, the connection is of no use.
    pub async fn call(&mut self, operation: u32, arguments: &[u8]) -> Outcome {
        if write(&mut self.0, operation, arguments).await.is_err() {
            // A server begins no operation whose arguments it does not have.
            return Outcome::NotBegun;
        }
        match read(&mut self.0).await {
            Ok(Some((DONE, results))) => Outcome::Done(results),
            Ok(Some((FAILED, why))) => Outcome::Failed(String::from_utf8_lossy(&why).into_owned()),
            Ok(Some((CLOSING, _))) => Outcome::NotBegun,
            Ok(Some(_)) => Outcome::Lost("a reply of no known status".into()),
            Ok(None) => Outcome::Lost("the server has closed the connection".into()),
            Err(error) => Outcome::Lost(error.into()),
        }
    }
}
