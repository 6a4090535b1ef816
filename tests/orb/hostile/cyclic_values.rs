//! Values in cycles, accessed by a hand-written unmarshal before they are complete: MARSHAL, and no panic.

use crate::hostile::honest_pair::within;
use crate::hostile::raw::{Call, Peer, Raw, reply};
use tokio::join;
use zorb::{CompletionStatus as Completed, SystemExceptionKind as Kind};
use zorb::{
    CustomMarshal, DataInput, DataOutput, Interface, MarshalError, Orb, SystemException, Value,
};
use zorb_giop::ReplyStatus;
use zorb_giop::ior::IiopProfile;

zorb::idl! {
    module Pits {
        valuetype Node { public string name; public Node next; };
        valuetype Fork : Node { public Node left; public Node right; };
        /// Looks at what follows it while it is unmarshalled.
        custom valuetype Curious : Node {};
        /// Takes what follows it as it comes.
        custom valuetype Careful : Node { public boolean early; };
        interface Pit { Node echo(in Node what); };
    };
}
use pits::{Careful, Curious, Fork, Node, Pit, PitRef, PitServant};

impl CustomMarshal for Curious {
    fn marshal(&self, output: &mut DataOutput<'_>) -> Result<(), MarshalError> {
        output.write_value(self.base.next.as_ref())
    }

    fn unmarshal(input: &mut DataInput<'_, '_>) -> Result<Self, MarshalError> {
        let next = input.read_value::<Node>()?;
        let mut name = String::new();
        let mut at = next.clone();
        for _ in 0..4 {
            let Some(node) = at else { break };
            name += &node.read().name;
            at = node.read().next.clone();
        }
        let base = Node { name, next };
        Ok(Self { base })
    }
}

impl CustomMarshal for Careful {
    fn marshal(&self, output: &mut DataOutput<'_>) -> Result<(), MarshalError> {
        output.write_value(self.base.next.as_ref())
    }

    fn unmarshal(input: &mut DataInput<'_, '_>) -> Result<Self, MarshalError> {
        let next = input.read_incomplete_value::<Node>()?;
        let early = next.as_ref().is_some_and(|next| next.try_read().is_none());
        let name = "careful".to_owned();
        let base = Node { name, next };
        Ok(Self { base, early })
    }
}

struct Servant;

impl Pit for Servant {
    async fn echo(
        &self,
        what: Option<Value<Node>>,
    ) -> Result<Option<Value<Node>>, SystemException> {
        let names = what.as_ref().map(|what| what.read().name.clone());
        // A cycle that came is described and not sent back: its receiver would have to take it apart.
        let name = names.unwrap_or_default();
        Ok(Some(Value::new(Node { name, next: None })))
    }
}

/// Little-endian octets, from an index that is a multiple of 8.
#[derive(Default)]
struct Octets(Vec<u8>);

impl Octets {
    fn long(mut self, value: u32) -> Self {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self.0.extend(value.to_le_bytes());
        self
    }

    fn text(self, text: &str) -> Self {
        let mut octets = self.long(text.len() as u32 + 1);
        octets.0.extend(text.as_bytes());
        octets.0.push(0);
        octets
    }

    /// A value with an id: not in chunks.
    fn value(self, id: &str) -> Self {
        self.long(0x7fff_ff02).text(id)
    }

    /// The same in chunks.
    fn chunked(self, id: &str) -> Self {
        self.long(0x7fff_ff0a).text(id)
    }

    /// A chunk that refers to the value whose tag is at `tag`.
    fn chunk_again(self, tag: usize) -> Self {
        self.long(8).again(tag)
    }

    fn again(self, tag: usize) -> Self {
        let octets = self.long(u32::MAX);
        let offset = tag as i32 - octets.0.len() as i32;
        octets.long(offset.cast_unsigned())
    }

    /// Where the next long will be.
    fn here(&self) -> usize {
        self.0.len().next_multiple_of(4)
    }

    fn end(self, depth: i32) -> Vec<u8> {
        self.long((-depth).cast_unsigned()).0
    }
}

const NODE: &str = "IDL:Pits/Node:1.0";
const FORK: &str = "IDL:Pits/Fork:1.0";
const CURIOUS: &str = "IDL:Pits/Curious:1.0";
const CAREFUL: &str = "IDL:Pits/Careful:1.0";

/// A value that leads to one that is still being read.
fn hollow() -> Vec<(&'static str, Vec<u8>)> {
    let start = Octets::default;
    vec![
        ("itself", start().chunked(CURIOUS).chunk_again(0).end(1)),
        ("a value in it that leads to it", {
            // Name and indirection in one chunk: 4 + 6 octets, 2 of padding, 8.
            let node = start()
                .chunked(CURIOUS)
                .chunked(NODE)
                .long(20)
                .text("in it");
            node.again(0).end(1)
        }),
        (
            "the value around it",
            start()
                .value(NODE)
                .text("around")
                .chunked(CURIOUS)
                .chunk_again(0)
                .end(1),
        ),
        ("a value that leads to one around it", {
            let fork = start().value(FORK).text("fork").long(0);
            let at = fork.here();
            let fork = fork.value(NODE).text("left").again(0);
            fork.chunked(CURIOUS).chunk_again(at).end(1)
        }),
        ("a value that leads to one that does", {
            let fork = start().value(FORK).text("fork");
            // `next` is a fork in which a node refers to the outer one, so that it is complete but for that.
            let inner = fork.here();
            let fork = fork.value(FORK).text("inner").long(0);
            let fork = fork.value(NODE).text("leaf").again(0).long(0);
            // `left` refers to the inner fork.
            let left = fork.here();
            let fork = fork.value(NODE).text("left").again(inner);
            fork.chunked(CURIOUS).chunk_again(left).end(1)
        }),
    ]
}

/// A value that leads to complete values only, and the resulting name.
fn complete() -> Vec<(&'static str, Vec<u8>)> {
    let start = Octets::default;
    vec![
        ("", start().chunked(CURIOUS).long(4).long(0).end(1)),
        ("in itin itin itin it", {
            let node = start().chunked(CURIOUS);
            let at = node.here();
            node.chunked(NODE).long(20).text("in it").again(at).end(1)
        }),
        ("fork", {
            let fork = start().value(FORK).text("fork").long(0);
            let at = fork.here();
            let fork = fork.value(NODE).text("left").long(0);
            fork.chunked(CURIOUS).chunk_again(at).end(1)
        }),
    ]
}

async fn orb() -> Orb {
    let orb = Orb::builder().listen("iiop://127.0.0.1:0");
    let orb = orb.build().await.unwrap();
    orb.register_value::<Curious>();
    orb.register_value::<Careful>();
    orb
}

#[tokio::test]
async fn a_servants_values_are_complete_or_refused() {
    let server = orb().await;
    server.root_poa().the_poa_manager().activate().unwrap();
    let pit = server
        .root_poa()
        .activate(PitServant::new(Servant))
        .unwrap();
    let profile = IiopProfile::from_tagged(&pit.as_object().ior().profiles[0]).unwrap();
    let stream = tokio::net::TcpStream::connect(("127.0.0.1", profile.address.port)).await;
    let mut raw = Raw::new(stream.unwrap());
    let call = Call::new(&profile.object_key, "echo");
    for (what, octets) in hollow() {
        let request = call.with(|e| {
            e.append(&octets);
            Ok(())
        });
        raw.send(&request).await;
        let error = raw.receive_reply::<()>(1).await.expect_err(what);
        let seen = (error.kind, error.completed);
        assert_eq!(seen, (Kind::Marshal, Completed::No), "{what}");
    }
    let client = orb().await;
    let there: PitRef = client
        .string_to_object(&server.object_to_string(&pit))
        .await
        .unwrap()
        .unchecked_narrow();
    for (name, octets) in complete() {
        let request = call.with(|e| {
            e.append(&octets);
            Ok(())
        });
        raw.send(&request).await;
        // A value without chunks: the tag, its id, the name.
        let (_, id, found): (u32, String, String) = raw.receive_reply(1).await.unwrap();
        assert_eq!((&*id, &*found), (NODE, name));
    }
    let node = Value::new(Node {
        name: "still served".to_owned(),
        next: None,
    });
    let back = within(there.echo(&node)).await.unwrap().unwrap();
    assert_eq!(back.read().name, "still served");
}

#[tokio::test]
async fn a_clients_values_are_complete_or_refused() {
    let client = orb().await;
    let peer = Peer::start().await;
    let pit = PitRef::unchecked_narrow(client.object(peer.ior()));
    let mut raw: Option<Raw> = None;
    let answers = hollow()
        .into_iter()
        .map(|(what, octets)| (Err(what), octets));
    let good = complete()
        .into_iter()
        .map(|(name, octets)| (Ok(name), octets));
    for (expected, octets) in answers.chain(good) {
        let serve = async {
            let mut raw = match raw.take() {
                Some(raw) => raw,
                None => peer.accept().await,
            };
            let (id, _) = raw.receive_request().await;
            let reply = reply(id, ReplyStatus::NoException, |e| {
                e.append(&octets);
                Ok(())
            });
            raw.send(&reply).await;
            raw
        };
        let (outcome, served) = join!(within(pit.echo(None)), serve);
        raw = Some(served);
        match expected {
            Ok(name) => {
                let value = outcome.unwrap().unwrap();
                assert_eq!(value.read().name, name);
                let curious = value.downcast::<Curious>();
                if let Some(inner) = curious.and_then(|curious| curious.read().base.next.clone()) {
                    inner.write().next = None;
                }
            }
            Err(what) => {
                let error = outcome.expect_err(what);
                let seen = (error.kind, error.completed);
                assert_eq!(seen, (Kind::Marshal, Completed::Yes), "{what}: {error}");
                assert!(error.to_string().contains("complete"), "{what}: {error}");
            }
        }
    }
}

#[tokio::test]
async fn who_asks_for_an_incomplete_value_gets_it_and_finds_it_complete_afterwards() {
    let client = orb().await;
    let peer = Peer::start().await;
    let pit = PitRef::unchecked_narrow(client.object(peer.ior()));
    let octets = Octets::default().chunked(CAREFUL).chunk_again(0).end(1);
    let serve = async {
        let mut raw = peer.accept().await;
        let (id, _) = raw.receive_request().await;
        let reply = reply(id, ReplyStatus::NoException, |e| {
            e.append(&octets);
            Ok(())
        });
        raw.send(&reply).await;
        raw
    };
    let (outcome, _raw) = join!(within(pit.echo(None)), serve);
    let value = outcome.unwrap().unwrap();
    assert_eq!(value.read().next, Some(value.clone()));
    let careful = value.downcast::<Careful>().unwrap();
    assert!(careful.read().early);
    assert!(careful.try_write().is_some());
    value.write().next = None;
    let _: Option<Value<Fork>> = value.downcast();
}
