//! The memory that a server takes for a complete message: for elements that are small in the message and large here.

use super::MOST;
use crate::counting::{Memory, held_since, hold_from_here};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use zorb::{Any, Interface, Orb, SystemException, Value};
use zorb_cdr::{EncodeError, Encoder, Limits, LittleEndian, WireFormat};
use zorb_giop::ior::IiopProfile;
use zorb_giop::{RequestBuilder, ResponseFlags, Version};

zorb::idl! {
    module Hoard {
        union Sparse switch (boolean) { case TRUE: long numbers[1024]; };
        union Name switch (boolean) { case TRUE: string text; };
        valuetype Wide { public Sparse it; };
        valuetype Count { public long number; };
        typedef sequence<Sparse> SparseSeq;
        typedef sequence<Name> NameSeq;
        typedef sequence<any> AnySeq;
        typedef sequence<Wide> WideSeq;
        typedef sequence<Count> CountSeq;
        typedef sequence<Object> ObjectSeq;
        interface Target {
            void sparses(in SparseSeq them);
            void names(in NameSeq them);
            void anys(in AnySeq them);
            void wides(in WideSeq them);
            void counts(in CountSeq them);
            void objects(in ObjectSeq them);
        };
    };
}

use hoard::{Count, Name, Sparse, Target, TargetServant, Wide};

/// Octets that are held while a servant runs, since its request was sent.
static BEFORE: AtomicUsize = AtomicUsize::new(0);
static LIVE: AtomicUsize = AtomicUsize::new(0);

struct Servant;

fn look() -> Result<(), SystemException> {
    let held = held_since(BEFORE.load(Ordering::Relaxed));
    LIVE.store(held.live, Ordering::Relaxed);
    Ok(())
}

impl Target for Servant {
    async fn sparses(&self, _: &[Sparse]) -> Result<(), SystemException> {
        look()
    }

    async fn names(&self, _: &[Name]) -> Result<(), SystemException> {
        look()
    }

    async fn anys(&self, _: &[Any]) -> Result<(), SystemException> {
        look()
    }

    async fn wides(&self, _: &[Option<Value<Wide>>]) -> Result<(), SystemException> {
        look()
    }

    async fn counts(&self, _: &[Option<Value<Count>>]) -> Result<(), SystemException> {
        look()
    }

    async fn objects(&self, _: &[Option<zorb::ObjectRef>]) -> Result<(), SystemException> {
        look()
    }
}

/// An octet, which is an absent member.
fn octet(e: &mut Encoder<LittleEndian>) -> Result<(), EncodeError> {
    e.write_u8(0);
    Ok(())
}

type Write = fn(&mut Encoder<LittleEndian>) -> Result<(), EncodeError>;

/// A request of so many elements: what it is, its size, and whether it is refused.
const REQUESTS: [(&str, u32, Write, bool); 8] = [
    ("sparses", 1 << 16, octet, true),
    ("names", 8_000, octet, false),
    ("names", 1 << 17, octet, true),
    (
        "anys",
        30_000,
        |e| {
            e.write_u32(18);
            e.write_u32(0);
            e.write_str("")
        },
        false,
    ),
    (
        "wides",
        30_000,
        |e| {
            e.write_u32(0x7fff_ff00);
            e.write_u8(0);
            Ok(())
        },
        true,
    ),
    (
        "counts",
        30_000,
        |e| {
            e.write_u32(0x7fff_ff00);
            e.write_u32(7);
            Ok(())
        },
        false,
    ),
    (
        "objects",
        30_000,
        |e| {
            e.write_u32(0);
            e.write_u32(0);
            Ok(())
        },
        false,
    ),
    (
        "objects",
        10_000,
        |e| {
            e.write_raw_string(b"IDL:X:1.0")?;
            e.write_u32(1);
            e.write_u32(99);
            e.write_u32(0);
            Ok(())
        },
        false,
    ),
];

#[tokio::test]
async fn a_server_holds_a_small_multiple_of_a_message() {
    let server = Orb::builder().listen("iiop://127.0.0.1:0").build();
    let server = server.await.unwrap();
    let target = TargetServant::new(Servant);
    let target = server.root_poa().activate(target).unwrap();
    server.root_poa().the_poa_manager().activate().unwrap();
    let profile = IiopProfile::from_tagged(&target.as_object().ior().profiles[0]).unwrap();
    for (operation, count, write, is_refused) in REQUESTS {
        let request = RequestBuilder {
            version: Version::V1_2,
            request_id: 1,
            response: ResponseFlags::WithTarget,
            key: &profile.object_key,
            operation,
            contexts: &[],
        };
        let e = Encoder::<LittleEndian>::new(WireFormat::default());
        let request = request.encode(e, |e| {
            e.write_u32(count);
            (0..count).try_for_each(|_| write(e))
        });
        let request = request.unwrap().to_vec();
        let mut answer = vec![0; 1024];
        let mut stream = TcpStream::connect(("127.0.0.1", profile.address.port))
            .await
            .unwrap();
        let before = hold_from_here();
        BEFORE.store(before, Ordering::Relaxed);
        LIVE.store(0, Ordering::Relaxed);
        stream.write_all(&request).await.unwrap();
        // A guard against a hang, and nothing else.
        let reading = tokio::time::timeout(Duration::from_secs(60), stream.read(&mut answer));
        let len = reading.await.expect("an answer").unwrap();
        let Memory { peak, .. } = held_since(before);
        let live = LIVE.load(Ordering::Relaxed);
        let refused = answer[..len].windows(7).any(|seven| seven == b"MARSHAL");
        let what = format!("{count} {operation} in {} octets", request.len());
        assert_eq!(refused, is_refused, "{what}");
        // The message itself is held while it is decoded, in a buffer that has grown to twice its size.
        let decoded = (Limits::MEMORY + 1) * request.len() + Limits::LEAST_MEMORY;
        let most = decoded + 2 * request.len() + MOST;
        assert!(live <= most, "{live} octets are held for {what}");
        assert!(peak <= most, "{peak} octets are held for {what}");
    }
    server.shutdown(true).await.unwrap();
}
