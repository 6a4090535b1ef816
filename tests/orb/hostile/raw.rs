//! Plain sockets that speak as much GIOP as a test wants them to.

use crate::hostile::honest_pair::{TargetRef, World, within};
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use zorb::{Interface, Orb, SystemException};
use zorb_cdr::{BigEndian, ByteOrder, Decode, Decoder, EncodeError, Encoder, Endian};
use zorb_cdr::{LittleEndian, WireFormat};
use zorb_giop::ior::{ComponentTag, IiopAddress, ProfileBody, TaggedComponent, encapsulate};
use zorb_giop::{
    Ior, Limits, Message, MessageHeader, MessageKind, Reader, ReplyBuilder, ReplyHeader,
    ReplyStatus, RequestBuilder, RequestHeader, ResponseFlags, ServiceContext, Version,
};

pub(crate) type Written = Result<(), EncodeError>;

/// A socket and the messages that come out of it.
pub(crate) struct Raw {
    pub(crate) stream: TcpStream,
    reader: Reader,
}

impl Raw {
    pub(crate) fn new(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        Self {
            stream,
            reader: Reader::new(Limits::default()),
        }
    }

    /// A connection to the server of `world`.
    pub(crate) async fn connect(world: &World) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", world.port())).await;
        Self::new(stream.unwrap())
    }

    pub(crate) async fn send(&mut self, octets: &[u8]) {
        within(self.stream.write_all(octets)).await.unwrap();
    }

    /// The next message; `None` at the end of the stream.
    pub(crate) async fn receive(&mut self) -> Option<Message> {
        self.try_receive()
            .await
            .expect("closed in order, not reset")
    }

    /// The same, where a reset is no fault.
    pub(crate) async fn try_receive(&mut self) -> std::io::Result<Option<Message>> {
        within(async {
            loop {
                if let Some(message) = self.reader.next().expect("zorb speaks GIOP") {
                    return Ok(Some(message));
                }
                self.reader.reserve().unwrap();
                if self.stream.read_buf(self.reader.buffer()).await? == 0 {
                    assert!(self.reader.is_idle(), "half a message, then the end");
                    return Ok(None);
                }
            }
        })
        .await
    }

    /// The server says MessageError and closes; gives the version it said it in.
    pub(crate) async fn receive_message_error(&mut self) -> Version {
        let message = self.receive().await.expect("a MessageError before the end");
        assert_eq!(message.header.kind, MessageKind::MessageError);
        assert!(self.receive().await.is_none(), "nothing behind it");
        message.header.version
    }

    /// The result in the reply to `id`, whatever kind of reply it is.
    pub(crate) async fn receive_reply<T>(&mut self, id: u32) -> Result<T, SystemException>
    where
        T: for<'de> Decode<'de>,
    {
        let message = self.receive().await.expect("a reply before the end");
        assert_eq!(message.header.kind, MessageKind::Reply);
        let header = ReplyHeader::read(&message).unwrap();
        assert_eq!(header.request_id, id, "the reply is for another request");
        match header.status {
            ReplyStatus::NoException => Ok(decode(&message, header.body)),
            ReplyStatus::SystemException => Err(decode(&message, header.body)),
            other => panic!("expected a result or a system exception, found {other:?}"),
        }
    }

    /// The next request of a client: its id and its operation.
    pub(crate) async fn receive_request(&mut self) -> (u32, String) {
        let message = self.receive().await.expect("a request before the end");
        assert_eq!(message.header.kind, MessageKind::Request);
        let header = RequestHeader::read(&message).unwrap();
        let operation = String::from_utf8(header.operation.to_vec()).unwrap();
        (header.request_id, operation)
    }

    /// Serves one call of `twice`, as a server should.
    pub(crate) async fn serve_twice(&mut self) {
        let message = self.receive().await.expect("a request before the end");
        let header = RequestHeader::read(&message).unwrap();
        assert_eq!(header.operation, b"twice");
        let n: i32 = decode(&message, header.body);
        let reply = reply(header.request_id, ReplyStatus::NoException, |e| {
            e.put(&(n * 2))
        });
        self.send(&reply).await;
    }

    /// Ends the connection with a reset instead of an end of stream.
    pub(crate) fn reset(self) {
        self.stream.set_zero_linger().unwrap();
    }
}

pub(crate) fn decode<T: for<'de> Decode<'de>>(message: &Message, at: usize) -> T {
    let format = WireFormat::default();
    match message.header.endian {
        Endian::Big => Decoder::<BigEndian>::at(&message.frame, at, format)
            .and_then(|mut d| d.get())
            .unwrap(),
        Endian::Little => Decoder::<LittleEndian>::at(&message.frame, at, format)
            .and_then(|mut d| d.get())
            .unwrap(),
    }
}

/// Any request.
pub(crate) struct Call<'a> {
    pub(crate) version: Version,
    pub(crate) id: u32,
    pub(crate) response: ResponseFlags,
    pub(crate) key: &'a [u8],
    pub(crate) operation: &'a str,
    pub(crate) contexts: &'a [ServiceContext],
}

impl<'a> Call<'a> {
    pub(crate) fn new(key: &'a [u8], operation: &'a str) -> Self {
        Self {
            version: Version::V1_2,
            id: 1,
            response: ResponseFlags::WithTarget,
            key,
            operation,
            contexts: &[],
        }
    }

    pub(crate) fn id(self, id: u32) -> Self {
        Self { id, ..self }
    }

    pub(crate) fn encode<O: ByteOrder>(
        &self,
        arguments: impl FnOnce(&mut Encoder<O>) -> Written,
    ) -> Vec<u8> {
        RequestBuilder {
            version: self.version,
            request_id: self.id,
            response: self.response,
            key: self.key,
            operation: self.operation,
            contexts: self.contexts,
        }
        .encode(Encoder::new(WireFormat::default()), arguments)
        .unwrap()
        .to_vec()
    }

    /// The request in little-endian, as most are.
    pub(crate) fn with(
        &self,
        arguments: impl FnOnce(&mut Encoder<LittleEndian>) -> Written,
    ) -> Vec<u8> {
        self.encode(arguments)
    }

    pub(crate) fn empty(&self) -> Vec<u8> {
        self.with(|_| Ok(()))
    }
}

/// A reply of GIOP 1.2.
pub(crate) fn reply(
    id: u32,
    status: ReplyStatus,
    body: impl FnOnce(&mut Encoder<LittleEndian>) -> Written,
) -> Vec<u8> {
    ReplyBuilder {
        version: Version::V1_2,
        request_id: id,
        status,
        contexts: &[],
    }
    .encode(Encoder::new(WireFormat::default()), body)
    .unwrap()
    .to_vec()
}

/// A message of any kind with any body, in little-endian.
pub(crate) fn message(version: Version, kind: MessageKind, body: &[u8]) -> Vec<u8> {
    let header = MessageHeader {
        version,
        endian: Endian::Little,
        more_fragments: false,
        kind,
        size: body.len() as u32,
    };
    [&header.to_octets()[..], body].concat()
}

/// A server that is nothing but a listening socket.
pub(crate) struct Peer {
    listener: TcpListener,
    address: SocketAddr,
}

impl Peer {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        Self { listener, address }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// A reference that leads here.
    pub(crate) fn ior(&self) -> Ior {
        ior(self.address)
    }

    /// The same, for calls.
    pub(crate) fn target(&self, orb: &Orb) -> TargetRef {
        TargetRef::unchecked_narrow(orb.object(self.ior()))
    }

    pub(crate) async fn accept(&self) -> Raw {
        let (stream, _) = within(self.listener.accept()).await.unwrap();
        Raw::new(stream)
    }
}

/// A reference to a port that refuses connections. The socket keeps the port from the listeners of other tests, and
/// does not listen itself.
pub(crate) fn refusing() -> (TcpSocket, Ior) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let ior = ior(socket.local_addr().unwrap());
    (socket, ior)
}

/// The ORB type in TAO's references.
const SOME_ORB_TYPE: u32 = 0x5441_4f00;

/// A reference to whatever is at `address`.
pub(crate) fn ior(address: SocketAddr) -> Ior {
    ior_of(Version::V1_2, address)
}

/// The same, of a server that speaks this version.
pub(crate) fn ior_of(version: Version, address: SocketAddr) -> Ior {
    let body = ProfileBody {
        version,
        address: IiopAddress {
            host: address.ip().to_string(),
            port: address.port(),
        },
        object_key: zorb::Bytes::from_static(b"whatever"),
        // An ORB that is not omniORB, and so may be sent CancelRequests.
        components: vec![TaggedComponent {
            tag: ComponentTag::ORB_TYPE,
            data: encapsulate(|e| {
                e.write_u32(SOME_ORB_TYPE);
                Ok(())
            })
            .unwrap(),
        }],
    };
    Ior {
        type_id: TargetRef::REPOSITORY_ID.to_owned(),
        profiles: vec![body.to_tagged().unwrap()],
    }
}
