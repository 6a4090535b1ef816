//! A server whose operations take anys, TypeCodes and values of every kind, and a connection to it.

use crate::counting::{ALLOCATED, Memory, held_since, hold_from_here};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use zorb::{
    Any, Bytes, CustomMarshal, DataInput, DataOutput, Interface, MarshalError, Orb,
    SystemException, TypeCode, Value,
};
use zorb_cdr::{ByteOrder, Decoder, Encoder, Endian, LittleEndian, WireFormat};
use zorb_giop::ior::IiopProfile;
use zorb_giop::{
    Limits, Message, MessageKind, Reader, ReplyHeader, ReplyStatus, RequestBuilder, ResponseFlags,
    ServiceContext, ServiceContextId, Version,
};

zorb::idl! {
    module Grain {
        valuetype Node { public string name; public Node left; public Node right; };
        valuetype Leaf : truncatable Node { public double weight; };
        custom valuetype Secret { public string text; public Node about; };
        valuetype Count long;
        abstract interface Described {};
        valuetype Note supports Described { public string text; };
        enum Suit { clubs, hearts };
        union Choice;
        typedef sequence<Choice> Choices;
        union Choice switch (Suit) {
            case clubs: string text;
            case hearts: Choices more;
        };
        struct Mix {
            Choice which;
            fixed<7, 2> price;
            long double exact;
            wstring wide;
            any what;
            Described about;
            Count number;
        };
        interface Stones {
            any check_any(in unsigned long which, in long n, in any it);
            CORBA::TypeCode check_type(in unsigned long which, in CORBA::TypeCode it);
            Node walk(in Node what);
            Mix grind(in Mix what);
            Secret hide(in Secret what);
        };
    };
}
pub(crate) use grain::{Choice, Count, DescribedRef, Leaf, Mix, Node, Note, Secret};
use grain::{Stones, StonesServant};

pub(crate) type Handle = Option<Value<Node>>;

impl CustomMarshal for Secret {
    fn marshal(&self, output: &mut DataOutput<'_>) -> Result<(), MarshalError> {
        output.write(&self.text)?;
        output.write_value(self.about.as_ref())
    }

    fn unmarshal(input: &mut DataInput<'_, '_>) -> Result<Self, MarshalError> {
        let text: String = input.read()?;
        let about = input.read_value::<Node>()?;
        let seen = about.as_ref().map_or(0, |node| node.read().name.len());
        let text = format!("{text}{seen}");
        Ok(Self { text, about })
    }
}

/// Returns what it gets, having looked at it.
struct Servant;

fn look(what: &impl std::fmt::Debug) {
    let shown = format!("{what:?}");
    assert!(shown.len() < 1 << 20, "{} octets of text", shown.len());
}

impl Stones for Servant {
    async fn check_any(&self, _: u32, _: i32, it: &Any) -> Result<Any, SystemException> {
        look(it);
        Ok(it.clone())
    }

    async fn check_type(&self, _: u32, it: &TypeCode) -> Result<TypeCode, SystemException> {
        look(it);
        Ok(it.clone())
    }

    async fn walk(&self, what: Handle) -> Result<Handle, SystemException> {
        look(&what);
        Ok(what)
    }

    async fn grind(&self, what: &Mix) -> Result<Mix, SystemException> {
        look(what);
        Ok(what.clone())
    }

    async fn hide(
        &self,
        what: Option<Value<Secret>>,
    ) -> Result<Option<Value<Secret>>, SystemException> {
        look(&what);
        Ok(what)
    }
}

/// ISO 8859-1 and UTF-16.
const CODE_SETS: [u8; 12] = [1, 0, 0, 0, 1, 0, 1, 0, 9, 1, 1, 0];

/// The server and a connection to it.
pub(crate) struct Mill {
    _server: Orb,
    key: Bytes,
    stream: TcpStream,
    reader: Reader,
    /// Octets allocated for one request at most, so far.
    pub(crate) most: usize,
    /// Octets that were held at a time because of one request, and that stayed held after it, at most so far.
    pub(crate) held: Memory,
}

impl Mill {
    pub(crate) async fn start() -> Self {
        let server = Orb::builder().listen("iiop://127.0.0.1:0").build();
        let server = server.await.unwrap();
        server.register_value::<Secret>();
        server.register_value::<Note>();
        let servant = StonesServant::new(Servant);
        let stones = server.root_poa().activate(servant).unwrap();
        server.root_poa().the_poa_manager().activate().unwrap();
        let profile = IiopProfile::from_tagged(&stones.as_object().ior().profiles[0]).unwrap();
        let stream = TcpStream::connect(("127.0.0.1", profile.address.port)).await;
        Self {
            _server: server,
            key: profile.object_key,
            stream: stream.unwrap(),
            reader: Reader::new(Limits::default()),
            most: 0,
            held: Memory::default(),
        }
    }

    /// The server's reply to a request with this body.
    pub(crate) async fn answer<O: ByteOrder>(
        &mut self,
        operation: &str,
        wide: bool,
        body: &[u8],
    ) -> Result<(), SystemException> {
        let contexts = [ServiceContext {
            id: ServiceContextId::CODE_SETS,
            data: Bytes::from_static(&CODE_SETS),
        }];
        let request = RequestBuilder {
            version: Version::V1_2,
            request_id: 1,
            response: ResponseFlags::WithTarget,
            key: &self.key,
            operation,
            contexts: if wide { &contexts } else { &[] },
        };
        let request = request.encode(Encoder::<O>::new(WireFormat::default()), |e| {
            e.append(body);
            Ok(())
        });
        let request = request.unwrap().to_vec();
        let (before, held) = (ALLOCATED.get(), hold_from_here());
        self.stream.write_all(&request).await.unwrap();
        // A guard against a hang, and nothing else.
        let reply = tokio::time::timeout(Duration::from_secs(60), self.receive());
        let reply = reply.await.expect("an answer");
        let allocated = ALLOCATED.get() - before;
        self.most = self.most.max(allocated);
        let held = held_since(held);
        self.held.peak = self.held.peak.max(held.peak);
        self.held.live = self.held.live.max(held.live);
        assert_eq!(reply.header.kind, MessageKind::Reply);
        let header = ReplyHeader::read(&reply).unwrap();
        match header.status {
            ReplyStatus::NoException => Ok(()),
            ReplyStatus::SystemException => {
                let d =
                    Decoder::<LittleEndian>::at(&reply.frame, header.body, WireFormat::default());
                assert_eq!(reply.header.endian, Endian::Little);
                Err(d.and_then(|mut d| d.get()).unwrap())
            }
            other => panic!("{other:?}"),
        }
    }

    async fn receive(&mut self) -> Message {
        loop {
            if let Some(message) = self.reader.next().expect("zorb speaks GIOP") {
                return message;
            }
            self.reader.reserve().unwrap();
            let read = self.stream.read_buf(self.reader.buffer()).await.unwrap();
            assert!(read != 0, "the server closed the connection");
        }
    }
}

/// Octets that one request may cost, of a few kilobytes each: a receive buffer on either side, and what is made of it.
pub(crate) const MOST: usize = 256 << 10;
