//! Plain sockets of one host or another that speak GIOP.

use crate::Failure;
use socket2::{Domain, Socket, Type};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::time::Duration;
use zorb_cdr::{Decode, Decoder, EncodeError, Encoder, Endian, LittleEndian, WireFormat};
use zorb_giop::{
    HEADER_LEN, Limits, Message, MessageHeader, MessageKind, Reader, ReplyHeader, ReplyStatus,
    RequestBuilder, ResponseFlags, SystemException, Version,
};

/// How long a connection attempt, a read or a write may take before it counts as failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// Octets of each buffer of an attacker's socket.
const NARROW: usize = 16 << 10;

/// Host number `n` of a group of hosts. All of 127.0.0.0/8 is this machine.
pub(crate) fn host(group: u8, n: usize) -> Ipv4Addr {
    let octet = |n: usize| u8::try_from(n).unwrap_or(u8::MAX);
    Ipv4Addr::new(127, group, octet(n / 250 % 250), octet(n % 250 + 1))
}

/// An object of the victim.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    pub(crate) key: Vec<u8>,
}

impl Target {
    /// Opens a connection from a host.
    pub(crate) fn connect(&self, from: Ipv4Addr) -> io::Result<TcpStream> {
        self.connect_by(Socket::new(Domain::IPV4, Type::STREAM, None)?, from)
    }

    /// Opens a connection for an attacker that is one of thousands. The kernel keeps little for it: the memory that it has for
    /// sockets is the victim's, whose attackers are elsewhere.
    pub(crate) fn connect_narrow(&self, from: Ipv4Addr) -> io::Result<TcpStream> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        socket.set_recv_buffer_size(NARROW)?;
        socket.set_send_buffer_size(NARROW)?;
        self.connect_by(socket, from)
    }

    fn connect_by(&self, socket: Socket, from: Ipv4Addr) -> io::Result<TcpStream> {
        socket.bind(&SocketAddrV4::new(from, 0).into())?;
        socket.connect_timeout(&self.address.into(), PATIENCE)?;
        socket.set_tcp_nodelay(true)?;
        Ok(socket.into())
    }

    /// Opens a connection for calls that wait for their replies.
    pub(crate) fn caller(&self, from: Ipv4Addr) -> io::Result<Caller> {
        let stream = self.connect(from)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Caller {
            stream,
            reader: Reader::new(Limits::default()),
        })
    }

    /// Another object of the same server.
    pub(crate) fn with_key(&self, key: Vec<u8>) -> Self {
        Self {
            address: self.address,
            key,
        }
    }

    /// A request.
    pub(crate) fn request(
        &self,
        id: u32,
        operation: &str,
        arguments: impl FnOnce(&mut Encoder<LittleEndian>) -> Result<(), EncodeError>,
    ) -> Result<Vec<u8>, EncodeError> {
        self.request_for(id, operation, ResponseFlags::WithTarget, arguments)
    }

    /// A request that asks for this response.
    pub(crate) fn request_for(
        &self,
        id: u32,
        operation: &str,
        response: ResponseFlags,
        arguments: impl FnOnce(&mut Encoder<LittleEndian>) -> Result<(), EncodeError>,
    ) -> Result<Vec<u8>, EncodeError> {
        let request = RequestBuilder {
            version: Version::V1_2,
            request_id: id,
            response,
            key: &self.key,
            operation,
            contexts: &[],
        };
        let encoder = Encoder::new(WireFormat::default());
        Ok(request.encode(encoder, arguments)?.to_vec())
    }
}

/// The message as the first of several fragments.
pub(crate) fn as_first_fragment(message: &mut [u8]) {
    /// The octet of the flags, and the bit that says that more fragments follow.
    const FLAGS: usize = 6;
    const MORE_FRAGMENTS: u8 = 2;
    if let Some(flags) = message.get_mut(FLAGS) {
        *flags |= MORE_FRAGMENTS;
    }
}

/// The message with another length in its header: of octets that have not come.
pub(crate) fn announce(message: &mut [u8], octets: u32) {
    if let Some(size) = message.get_mut(HEADER_LEN - 4..HEADER_LEN) {
        size.copy_from_slice(&octets.to_le_bytes());
    }
}

/// A client that waits for the reply to each of its requests.
#[derive(Debug)]
pub(crate) struct Caller {
    stream: TcpStream,
    reader: Reader,
}

/// The outcome of a request.
#[derive(Debug)]
pub(crate) enum Answer {
    Result(Message, usize),
    Exception(SystemException),
}

impl Answer {
    /// The result, if there is one of that type.
    pub(crate) fn result<T: for<'de> Decode<'de>>(&self) -> Result<T, Failure> {
        match self {
            Self::Result(message, at) => decode(message, *at),
            Self::Exception(exception) => Err(format!("{exception:#}").into()),
        }
    }
}

fn decode<T: for<'de> Decode<'de>>(message: &Message, at: usize) -> Result<T, Failure> {
    // The victim runs on this machine, and so writes as this client does.
    if message.header.endian != Endian::Little {
        return Err("expected a reply in little-endian".into());
    }
    let mut decoder = Decoder::<LittleEndian>::at(&message.frame, at, WireFormat::default())?;
    Ok(decoder.get()?)
}

impl Caller {
    /// Sends a request, and waits for the next reply.
    pub(crate) fn call(&mut self, request: &[u8]) -> Result<Answer, Failure> {
        self.stream.write_all(request)?;
        self.reply()
    }

    /// Sets how long a read waits.
    pub(crate) fn set_patience(&self, patience: Duration) -> io::Result<()> {
        self.stream.set_read_timeout(Some(patience))
    }

    /// Sends octets.
    pub(crate) fn send(&mut self, octets: &[u8]) -> io::Result<()> {
        self.stream.write_all(octets)
    }

    /// Reads at most this many octets, and says whether the reply is there.
    pub(crate) fn read_some(&mut self, octets: usize) -> Result<Option<Answer>, Failure> {
        if let Some(message) = self.reader.next()? {
            return answer(message).map(Some);
        }
        self.reader.reserve()?;
        let mut piece = vec![0; octets];
        let read = self.stream.read(&mut piece)?;
        if read == 0 {
            return Err("the connection has ended".into());
        }
        self.reader
            .buffer()
            .extend_from_slice(piece.get(..read).unwrap_or_default());
        match self.reader.next()? {
            Some(message) => answer(message).map(Some),
            None => Ok(None),
        }
    }

    /// The next reply.
    pub(crate) fn reply(&mut self) -> Result<Answer, Failure> {
        loop {
            if let Some(answer) = self.read_some(Reader::READ_OCTETS)? {
                return Ok(answer);
            }
        }
    }
}

fn answer(message: Message) -> Result<Answer, Failure> {
    if message.header.kind != MessageKind::Reply {
        return Err(format!("expected a reply, found {:?}", message.header.kind).into());
    }
    let header = ReplyHeader::read(&message)?;
    let (status, body) = (header.status, header.body);
    match status {
        ReplyStatus::NoException => Ok(Answer::Result(message, body)),
        ReplyStatus::SystemException => Ok(Answer::Exception(decode(&message, body)?)),
        other => Err(format!("expected a result, found {other:?}").into()),
    }
}

/// The header of a message of GIOP 1.2 in little-endian.
pub(crate) fn header(kind: MessageKind, size: u32) -> [u8; HEADER_LEN] {
    MessageHeader {
        version: Version::V1_2,
        endian: Endian::Little,
        more_fragments: false,
        kind,
        size,
    }
    .to_octets()
}
