//! Messages beyond a limit: the call that waits for one gets an exception that names the limit, and other calls go on.

use crate::hostile::honest_pair::{World, reach, within};
use crate::hostile::raw::{Call, Peer, Raw, decode, message};
use crate::savings::spawn;
use tokio::join;
use zorb::{
    CompletionStatus as Completed, Counter, Orb, SystemException, SystemExceptionKind as Kind,
};
use zorb_cdr::{BigEndian, Encoder, WireFormat};
use zorb_giop::ior::{ComponentTag, IiopProfile, TaggedComponent, encapsulate};
use zorb_giop::{MessageKind, ReplyBuilder, ReplyStatus, Version, minor};

const LIMIT: usize = 100_000;

fn check(e: &SystemException, completed: Completed, says: &[&str]) {
    assert_eq!((e.kind, e.completed), (Kind::ImpLimit, completed), "{e}");
    assert_eq!(e.minor, minor::MESSAGE_TOO_LARGE);
    for says in says.iter().chain(&["max_message_octets"]) {
        assert!(
            format!("{e:#}").contains(says),
            "expected {says:?} in {e:#}"
        );
    }
}

#[tokio::test]
async fn a_request_too_large_for_its_server_fails_alone() {
    let mut world = World::start_with(|b| b.max_message_octets(LIMIT)).await;
    let orb = Orb::builder().build().await.unwrap();
    let target = reach(&orb, &world.reference()).await;
    let waiting = spawn({
        let target = target.clone();
        async move { target.wait().await }
    });
    world.entered().await;
    let octets = vec![1; 3 << 20];
    for _ in 0..3 {
        let e = within(target.swallow(&octets)).await.unwrap_err();
        // The octets around the argument depend on the length of the key.
        check(&e, Completed::No, &["request of 31458"]);
        assert_eq!(within(target.twice(4)).await, Ok(8));
    }
    let most = vec![1; LIMIT - 1000];
    assert_eq!(within(target.swallow(&most)).await, Ok(most.len() as u32));
    // All that time another call has been in progress on that connection.
    world.let_go().await;
    assert_eq!(within(waiting).await.unwrap(), Ok(()));
    assert_eq!(world.server.connections_served(), 2);
    let counted = world.server.counters();
    assert_eq!(counted.get(Counter::RequestsTooLarge), 3);
    within(orb.shutdown(true)).await.unwrap();
    world.end().await;
}

#[tokio::test]
async fn a_reply_too_large_for_its_client_fails_alone() {
    let mut world = World::start().await;
    let orb = Orb::builder()
        .max_message_octets(LIMIT)
        .build()
        .await
        .unwrap();
    let target = reach(&orb, &world.reference()).await;
    let waiting = spawn({
        let target = target.clone();
        async move { target.wait().await }
    });
    world.entered().await;
    for _ in 0..3 {
        let e = within(target.large(3 << 20)).await.unwrap_err();
        check(&e, Completed::Yes, &["127.0.0.1", "3145756", "100000"]);
        assert_eq!(within(target.twice(4)).await, Ok(8));
    }
    assert_eq!(orb.counters().get(Counter::RepliesTooLarge), 3);
    world.let_go().await;
    assert_eq!(within(waiting).await.unwrap(), Ok(()));
    within(orb.shutdown(true)).await.unwrap();
    world.end().await;
}

#[tokio::test]
async fn a_request_too_large_is_answered_in_every_version() {
    let world = World::start_with(|b| b.max_message_octets(LIMIT)).await;
    let key = world.key();
    for minor in 0..=2 {
        let mut raw = Raw::connect(&world).await;
        let mut call = Call::new(&key, "swallow");
        call.version = Version { major: 1, minor };
        let request = call.with(|e| e.put(&vec![7_u8; 1 << 20]));
        raw.send(&request).await;
        let e = raw.receive_reply::<u32>(1).await.unwrap_err();
        check_on_the_wire(&e);
        let mut call = Call::new(&key, "twice").id(2);
        call.version = Version { major: 1, minor };
        raw.send(&call.with(|e| e.put(&4_i32))).await;
        assert_eq!(raw.receive_reply(2).await, Ok(8));
    }
    // Without a header that can be read there is no request to answer.
    let mut raw = Raw::connect(&world).await;
    let nonsense = message(Version::V1_2, MessageKind::Request, &vec![0xff; 1 << 20]);
    raw.send(&nonsense[..8 << 10]).await;
    raw.receive_message_error().await;
    // A one-way call has no reply.
    let mut raw = Raw::connect(&world).await;
    let mut call = Call::new(&key, "swallow");
    call.response = zorb_giop::ResponseFlags::None;
    raw.send(&call.with(|e| e.put(&vec![7_u8; 1 << 20]))).await;
    raw.send(&Call::new(&key, "twice").id(2).with(|e| e.put(&4_i32)))
        .await;
    assert_eq!(raw.receive_reply(2).await, Ok(8));
    world.end().await;
}

fn check_on_the_wire(e: &SystemException) {
    assert_eq!((e.kind, e.completed), (Kind::ImpLimit, Completed::No));
    assert_eq!(e.minor, minor::MESSAGE_TOO_LARGE);
}

#[tokio::test]
async fn a_request_too_large_in_fragments_fails_alone() {
    let mut world = World::start_with(|b| b.max_message_octets(LIMIT)).await;
    let orb = Orb::builder().max_fragment_octets(4_096).build();
    let orb = orb.await.unwrap();
    let target = reach(&orb, &world.reference()).await;
    let waiting = spawn({
        let target = target.clone();
        async move { target.wait().await }
    });
    world.entered().await;
    let octets = vec![1; 3 << 20];
    for _ in 0..3 {
        let e = within(target.swallow(&octets)).await.unwrap_err();
        check(&e, Completed::No, &["request of 31458"]);
        assert_eq!(within(target.twice(4)).await, Ok(8));
    }
    world.let_go().await;
    assert_eq!(within(waiting).await.unwrap(), Ok(()));
    assert_eq!(world.server.connections_served(), 2);
    assert_eq!(world.server.counters().get(Counter::RequestsTooLarge), 3);
    within(orb.shutdown(true)).await.unwrap();
    world.end().await;
}

/// Sends the fragments of a request that is too large, with another request between them if `is_mixed`.
async fn check_fragments(raw: &mut Raw, key: &[u8], version: Version, is_mixed: bool) {
    let call = |operation, id| Call {
        version,
        ..Call::new(key, operation).id(id)
    };
    raw.send(&call("wait", 2).empty()).await;
    let request = zorb_giop::RequestBuilder {
        version,
        request_id: 4,
        response: zorb_giop::ResponseFlags::WithTarget,
        key,
        operation: "swallow",
        contexts: &[],
    };
    let e = Encoder::<BigEndian>::new(WireFormat::default());
    let request = request
        .encode(e, |e| e.put(&vec![7_u8; 5 * LIMIT]))
        .unwrap();
    let pieces = zorb_giop::Fragments::new(request, 16_384).unwrap();
    for (n, piece) in pieces.enumerate() {
        if is_mixed && n > 2 {
            let id = u32::try_from(n).unwrap() * 2;
            raw.send(&call("twice", id).with(|e| e.put(&4_i32))).await;
        }
        raw.send(&piece.to_vec()).await;
    }
    raw.send(&call("twice", 1_000).with(|e| e.put(&4_i32)))
        .await;
    // All are answered but the one that waits.
    let mut refused = 0;
    loop {
        let message = raw.receive().await.expect("a reply before the end");
        let header = zorb_giop::ReplyHeader::read(&message).unwrap();
        match header.request_id {
            4 => {
                assert_eq!(header.status, ReplyStatus::SystemException);
                check_on_the_wire(&decode(&message, header.body));
                refused += 1;
            }
            id => {
                assert_eq!(decode::<i32>(&message, header.body), 8);
                if id == 1_000 {
                    break;
                }
            }
        }
    }
    assert_eq!(refused, 1, "GIOP {version}");
}

#[tokio::test]
async fn a_request_too_large_in_fragments_is_answered_in_every_version() {
    let mut world = World::start_with(|b| b.max_message_octets(LIMIT)).await;
    let key = world.key();
    for (version, is_mixed) in [
        (Version::V1_1, false),
        (Version::V1_2, false),
        (Version::V1_2, true),
    ] {
        let mut raw = Raw::connect(&world).await;
        check_fragments(&mut raw, &key, version, is_mixed).await;
        world.entered().await;
        world.let_go().await;
        assert_eq!(raw.receive_reply(2).await, Ok(()), "GIOP {version}");
    }
    world.end().await;
}

#[tokio::test]
async fn a_reply_too_large_in_fragments_fails_alone_and_names_the_limit_too() {
    let world = World::start().await;
    let peer = Peer::start().await;
    let orb = Orb::builder()
        .max_message_octets(LIMIT)
        .build()
        .await
        .unwrap();
    let target = peer.target(&orb);
    let serving = async {
        let mut raw = peer.accept().await;
        let (other, _) = raw.receive_request().await;
        let (id, _) = raw.receive_request().await;
        let reply = ReplyBuilder {
            version: Version::V1_2,
            request_id: id,
            status: ReplyStatus::NoException,
            contexts: &[],
        };
        let e = Encoder::<BigEndian>::new(WireFormat::default());
        let reply = reply.encode(e, |e| e.put(&vec![7_u8; 5 * LIMIT])).unwrap();
        for piece in zorb_giop::Fragments::new(reply, 10_000).unwrap() {
            raw.send(&piece.to_vec()).await;
        }
        let answer = crate::hostile::raw::reply(other, ReplyStatus::NoException, |e| e.put(&8_i32));
        raw.send(&answer).await;
        raw.serve_twice().await;
    };
    let calling = async {
        let (other, too_large) = join!(target.twice(4), target.large(1));
        check(
            &too_large.unwrap_err(),
            Completed::Yes,
            &["127.0.0.1", "100000"],
        );
        assert_eq!(other, Ok(8));
        assert_eq!(
            within(target.twice(4)).await,
            Ok(8),
            "on the same connection"
        );
    };
    join!(within(calling), serving);
    assert_eq!(orb.counters().get(Counter::RepliesTooLarge), 1);
    world.end().await;
}

#[tokio::test]
async fn omniorb_s_limit_is_named_where_it_may_be_the_reason() {
    let world = World::start().await;
    const OMNIORB: u32 = 0x4154_5400;
    const OTHER: u32 = 0x4a41_4300;
    let too_long = ", the request was of 3145";
    for (made_by, octets, resets, says) in [
        (
            Some(OMNIORB),
            3 << 20,
            true,
            &[too_long, "and omniORB takes 2097152 octets"][..],
        ),
        (
            Some(OMNIORB),
            1,
            false,
            &[", omniORB ends", "over a reply of more than 2097152 octets"],
        ),
        // `corbaloc` references and those of GIOP 1.0 do not say who made them.
        (
            None,
            3 << 20,
            true,
            &[
                too_long,
                "if the server is omniORB, it takes 2097152 octets",
            ],
        ),
        (
            None,
            1,
            false,
            &[", if the server is omniORB, it ends", "more than 2097152"],
        ),
        (None, 1, true, &[]),
        (Some(OTHER), 3 << 20, true, &[]),
        (Some(OTHER), 1, false, &[]),
    ] {
        let peer = Peer::start().await;
        let mut ior = peer.ior();
        let mut profile = IiopProfile::from_tagged(&ior.profiles[0]).unwrap();
        profile
            .components
            .retain(|c| c.tag != ComponentTag::ORB_TYPE);
        profile.components.extend(made_by.map(|orb_type| {
            let data = encapsulate(|e| {
                e.write_u32(orb_type);
                Ok(())
            });
            TaggedComponent {
                tag: ComponentTag::ORB_TYPE,
                data: data.unwrap(),
            }
        }));
        ior.profiles[0] = profile.to_tagged().unwrap();
        let target = world.bystander().object(ior);
        let target: crate::hostile::honest_pair::TargetRef = target.unchecked_narrow();
        let serving = async {
            loop {
                let mut raw = peer.accept().await;
                if resets {
                    // After the first octets, as omniORB does.
                    tokio::io::AsyncReadExt::read(&mut raw.stream, &mut [0; 100])
                        .await
                        .unwrap();
                    raw.reset();
                } else {
                    raw.receive().await;
                    raw.send(&message(Version::V1_0, MessageKind::MessageError, &[]))
                        .await;
                    raw.receive().await;
                }
            }
        };
        let octets = vec![1; octets];
        let outcome = tokio::select! {
            outcome = within(target.swallow(&octets)) => outcome,
            () = serving => unreachable!("it goes on for ever"),
        };
        let e = outcome.unwrap_err();
        assert_eq!(e.kind, Kind::CommFailure);
        let said = format!("{e:#}");
        for says in says {
            assert!(said.contains(says), "expected {says:?} in {e:#}");
        }
        assert_eq!(said.contains("omniORB"), !says.is_empty(), "{e:#}");
    }
    world.end().await;
}

/// Counts the warnings about it.
#[derive(Clone, Default)]
struct Warnings(std::sync::Arc<std::sync::atomic::AtomicUsize>);

impl tracing::Subscriber for Warnings {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::WARN && metadata.target().contains("server")
    }

    fn event(&self, _: &tracing::Event<'_>) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[tokio::test]
async fn a_client_that_sends_too_much_for_ever_does_not_fill_the_log() {
    let warnings = Warnings::default();
    let _listening = tracing::subscriber::set_default(warnings.clone());
    let world = World::start_with(|b| b.max_message_octets(LIMIT)).await;
    let key = world.key();
    let mut raw = Raw::connect(&world).await;
    for _ in 0..50 {
        let request = Call::new(&key, "swallow").with(|e| e.put(&vec![7_u8; 2 * LIMIT]));
        raw.send(&request).await;
        check_on_the_wire(&raw.receive_reply::<u32>(1).await.unwrap_err());
    }
    assert_eq!(warnings.0.load(std::sync::atomic::Ordering::Relaxed), 1);
    drop(raw);
    world.end().await;
}
