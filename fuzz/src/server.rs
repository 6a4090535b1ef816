//! Whole conversations with a server: what is asked is answered, once and in order; a server that has cached headers, or that
//! gets its octets in other pieces, answers the same.
//!
//! The server runs in this process, behind a socket. A conversation whose messages are whole ends with a LocateRequest, so
//! that the last octet of the answers is known without a clock. Values (of value types) are passed through `pass`.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;
use zorb::{Any, Orb, SystemException, Value};
use zorb_cdr::{Encoder, LittleEndian, WireFormat};
use zorb_giop::{
    Limits, LocateReply, LocateRequestHeader, Message, MessageKind, Reader, ReplyHeader,
    RequestHeader, ResponseFlags, ServiceContextId, UnfinishedInput, Version,
};

zorb::idl! {
    module Conversed {
        valuetype Node {
            public string name;
            public Node left;
            public Node right;
        };
        valuetype Leaf : truncatable Node { public double weight; };
        typedef sequence<Node> Nodes;

        interface Target {
            long twice(in long n);
            string echo(in string text);
            any reflect(in any what);
            Nodes pass(in Nodes them);
            oneway void forget(in long n);
        };
    };
}

use conversed::{Node, Target, TargetServant};

/// The object key that the corpus has.
const KEY: &[u8] = b"fuzz";
/// The request id of the last message of a conversation.
const LAST: u32 = 0xffff_fff0;
/// How long an answer may take before it counts as lost.
const HANG: Duration = Duration::from_secs(60);

struct Servant;

impl Target for Servant {
    async fn twice(&self, n: i32) -> Result<i32, SystemException> {
        Ok(n.wrapping_mul(2))
    }

    async fn echo(&self, text: &str) -> Result<String, SystemException> {
        Ok(text.to_owned())
    }

    async fn reflect(&self, what: &Any) -> Result<Any, SystemException> {
        Ok(what.clone())
    }

    async fn pass(
        &self,
        them: &[Option<Value<Node>>],
    ) -> Result<Vec<Option<Value<Node>>>, SystemException> {
        Ok(them.to_vec())
    }

    async fn forget(&self, _: i32) -> Result<(), SystemException> {
        Ok(())
    }
}

/// The port of the server, which runs until the process ends.
fn port() -> u16 {
    static PORT: OnceLock<u16> = OnceLock::new();
    *PORT.get_or_init(|| {
        let (sender, port) = channel();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async {
                // Offers of clients (BI_DIR_IIOP) are taken, so that they are read.
                let builder = Orb::builder().accept_bidirectional(|_, _| true);
                let orb = builder.listen("iiop://127.0.0.1:0").build().await;
                let orb = orb.expect("an ORB");
                let poa = orb.ins_poa();
                poa.activate_object_with_id(KEY, TargetServant::new(Servant))
                    .expect("an object");
                poa.the_poa_manager().activate().expect("a manager");
                let endpoint = orb.endpoints().first().expect("an endpoint").to_string();
                let port = endpoint.rsplit(':').next().and_then(|p| p.parse().ok());
                sender.send(port.expect("a port")).expect("a listener");
                orb.run().await;
            });
        });
        port.recv().expect("a server")
    })
}

/// The requests of a stream.
#[derive(Default)]
struct Ledger {
    /// Ids of requests and LocateRequests that have to be answered, in order.
    owed: Vec<u32>,
    /// All of the stream is whole messages that a client may send.
    is_whole: bool,
    /// No request says anything of code sets, of which the first one would count for a connection's life.
    is_unstated: bool,
}

impl Ledger {
    fn of(stream: &[u8]) -> Self {
        let mut ledger = Self {
            is_unstated: true,
            ..Self::default()
        };
        let mut reader = Reader::new(Limits::default());
        let mut rest = stream;
        loop {
            match reader.next() {
                Ok(Some(message)) => {
                    if !ledger.enter(&message) {
                        return ledger;
                    }
                }
                Ok(None) if rest.is_empty() => break,
                Ok(None) => {
                    if reader.reserve().is_err() {
                        return ledger;
                    }
                    let (piece, behind) = rest.split_at(rest.len().min(1 << 10));
                    reader.buffer().extend_from_slice(piece);
                    rest = behind;
                }
                Err(_) => return ledger,
            }
        }
        // Fragments without an end are none: the same request, sent again, would be another one of the same id.
        ledger.is_whole = reader.unfinished() == UnfinishedInput::Nothing;
        ledger
    }

    /// Enters a message; `false` if nothing is known of what comes behind it.
    fn enter(&mut self, message: &Message) -> bool {
        match message.header.kind {
            MessageKind::Request => {
                let Ok(header) = RequestHeader::read(message) else {
                    return false;
                };
                let contexts = &header.contexts;
                self.is_unstated &= contexts.get(ServiceContextId::CODE_SETS).is_none();
                if header.response != ResponseFlags::None {
                    self.owed.push(header.request_id);
                }
                true
            }
            MessageKind::LocateRequest => {
                let header = LocateRequestHeader::read(message);
                header.is_ok_and(|header| {
                    self.owed.push(header.request_id);
                    true
                })
            }
            MessageKind::CancelRequest => message.cancelled_request().is_ok(),
            _ => false,
        }
    }
}

/// A connection to the server.
struct Conversation {
    stream: TcpStream,
    reader: Reader,
}

impl Conversation {
    fn begin() -> Self {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port())).expect("it listens");
        stream.set_nodelay(true).expect("a socket");
        stream.set_read_timeout(Some(HANG)).expect("a socket");
        stream.set_write_timeout(Some(HANG)).expect("a socket");
        Self {
            stream,
            reader: Reader::new(Limits::default()),
        }
    }

    /// Sends in pieces whose sizes `sizes` gives in turn. The server may have closed before the last.
    fn send(&mut self, octets: &[u8], sizes: &[u8]) {
        let mut rest = octets;
        let mut sizes = sizes.iter().cycle();
        while !rest.is_empty() {
            let size = sizes
                .next()
                .map_or(usize::MAX, |size| usize::from(*size) + 1);
            let (piece, behind) = rest.split_at(size.min(rest.len()));
            if self.stream.write_all(piece).is_err() {
                return;
            }
            rest = behind;
        }
    }

    /// The next message; `None` when the server has closed.
    fn receive(&mut self) -> Option<Message> {
        loop {
            if let Some(message) = self.reader.next().expect("zorb speaks GIOP") {
                return Some(message);
            }
            self.reader.reserve().expect("no message is too large");
            let mut piece = [0; 4096];
            match self.stream.read(&mut piece) {
                Ok(0) => return None,
                Ok(read) => self.reader.buffer().extend_from_slice(&piece[..read]),
                Err(why) => {
                    assert!(
                        why.kind() == std::io::ErrorKind::ConnectionReset,
                        "no answer: {why}"
                    );
                    return None;
                }
            }
        }
    }

    /// The server's answers until the connection ends, or to a stream of whole messages.
    fn hold(&mut self, octets: &[u8], sizes: &[u8], is_whole: bool) -> Vec<Answer> {
        self.send(octets, sizes);
        if is_whole {
            self.send(&last(), &[]);
        } else {
            let _ = self.stream.shutdown(std::net::Shutdown::Write);
        }
        let mut answers = Vec::new();
        while let Some(message) = self.receive() {
            let Some(answer) = Answer::of(&message) else {
                continue;
            };
            if is_whole && answer.id == LAST {
                return answers;
            }
            answers.push(answer);
        }
        assert!(!is_whole, "the server has closed on whole messages");
        answers
    }
}

/// A LocateRequest.
fn last() -> Vec<u8> {
    let encoder = Encoder::<LittleEndian>::new(WireFormat::default());
    LocateRequestHeader::encode(encoder, Version::V1_2, LAST, KEY)
        .expect("a short message")
        .to_vec()
}

/// A reply, or a LocateReply.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    id: u32,
    octets: Vec<u8>,
}

impl Answer {
    fn of(message: &Message) -> Option<Self> {
        let id = match message.header.kind {
            MessageKind::Reply => ReplyHeader::read(message).expect("a reply").request_id,
            MessageKind::LocateReply => LocateReply::read(message).expect("a reply").0,
            _ => return None,
        };
        let octets = message.frame.octets().to_vec();
        Some(Self { id, octets })
    }
}

/// The first octet says how many of the next are the sizes of the pieces; the rest is what a client sends.
pub fn run(data: &[u8]) {
    let [count, data @ ..] = data else { return };
    let (sizes, stream) = data.split_at(usize::from(count % 8).min(data.len()));
    let ledger = Ledger::of(stream);
    if ledger.owed.contains(&LAST) {
        return;
    }
    let mut joined = Conversation::begin();
    let answers = joined.hold(stream, &[], ledger.is_whole);
    let ids: Vec<u32> = answers.iter().map(|answer| answer.id).collect();
    if !ledger.is_whole {
        // Earlier requests are answered unless the connection ends first; and others are served.
        assert_eq!(Conversation::begin().hold(&[], &[], true), []);
        return;
    }
    assert_eq!(ids, ledger.owed, "each request is answered once, in order");
    let split = Conversation::begin().hold(stream, sizes, true);
    assert_eq!(split, answers, "pieces of {sizes:?}");
    if ledger.is_unstated {
        let again = joined.hold(stream, sizes, true);
        assert_eq!(again, answers, "headers that the connection has seen");
    }
}
