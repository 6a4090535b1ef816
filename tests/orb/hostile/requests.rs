//! Whole messages with something wrong in them: the call fails, the connection goes on.

use crate::hostile::honest_pair::{World, reach, within};
use crate::hostile::raw::{Call, Raw, Written, message};
use zorb::executor::{Dispatch, WorkerPool};
use zorb::{CompletionStatus as Completed, Orb, SystemException};
use zorb::{SystemExceptionKind as Kind, minor};
use zorb_cdr::{BigEndian, ByteOrder, Encoder, LittleEndian};
use zorb_giop::{
    LocateReply, MessageKind, ResponseFlags, ServiceContext, ServiceContextId, Version,
};

/// Sends one request and gives what came of it; the same connection is used for a good call
/// afterwards, and the bystander is served.
async fn exchange<O: ByteOrder>(
    world: &World,
    peer: &mut Raw,
    call: Call<'_>,
    arguments: impl FnOnce(&mut Encoder<O>) -> Written,
) -> Result<i32, SystemException> {
    let id = call.id;
    peer.send(&call.encode(arguments)).await;
    let outcome = peer.receive_reply(id).await;
    let key = world.key();
    peer.send(&Call::new(&key, "twice").id(99).with(|e| e.put(&4i32)))
        .await;
    assert_eq!(
        peer.receive_reply(99).await,
        Ok(8i32),
        "the connection goes on"
    );
    world.serves().await;
    outcome
}

fn no(kind: Kind, minor: u32) -> Result<i32, SystemException> {
    Err(SystemException::new(kind, minor, Completed::No))
}

#[tokio::test]
async fn arguments_cut_short_are_marshal_and_not_carried_out() {
    let world = World::start().await;
    let key = world.key();
    let mut peer = Raw::connect(&world).await;
    for version in [Version::V1_0, Version::V1_1, Version::V1_2] {
        let call = |operation| Call {
            version,
            ..Call::new(&key, operation)
        };
        for len in 0..4 {
            let octets = [0; 3];
            let cut = exchange::<LittleEndian>(&world, &mut peer, call("twice"), |e| {
                e.append(&octets[..len.min(3)]);
                Ok(())
            });
            assert_eq!(cut.await, no(Kind::Marshal, 0), "{len} octets of 4");
        }
        let strings: [&[u8]; 5] = [
            &[],
            &[5, 0, 0, 0],
            &[5, 0, 0, 0, b'a', b'b', b'c', b'd'],
            &[255, 255, 255, 255, b'a', 0],
            // Without its NUL.
            &[3, 0, 0, 0, b'a', b'b', b'c'],
        ];
        for octets in strings {
            let cut = exchange::<LittleEndian>(&world, &mut peer, call("greet"), |e| {
                e.append(octets);
                Ok(())
            });
            assert_eq!(cut.await, no(Kind::Marshal, 0), "{octets:?}");
        }
    }
    drop(peer);
    world.end().await;
}

#[tokio::test]
async fn octets_behind_the_arguments_are_ignored() {
    let world = World::start().await;
    let key = world.key();
    let mut peer = Raw::connect(&world).await;
    for len in [1, 3, 4, 8, 1000] {
        let call = Call::new(&key, "twice");
        let answered = exchange::<BigEndian>(&world, &mut peer, call, |e| {
            e.put(&4i32)?;
            e.append(&vec![0xff; len]);
            Ok(())
        });
        assert_eq!(answered.await, Ok(8), "{len} octets too many");
        // An operation without arguments takes any.
        let mut noise = message(Version::V1_2, MessageKind::CancelRequest, &[9, 0, 0, 0]);
        noise.extend(vec![0; len]);
        noise[8..12].copy_from_slice(&(4 + len as u32).to_le_bytes());
        peer.send(&noise).await;
    }
    drop(peer);
    world.end().await;
}

#[tokio::test]
async fn counts_that_the_message_cannot_hold_are_marshal() {
    let world = World::start().await;
    let key = world.key();
    let mut peer = Raw::connect(&world).await;
    for operation in ["sum", "swallow", "greet"] {
        for count in [2u32, 0x7fff_ffff, 0x8000_0000, 0xffff_fff0, u32::MAX] {
            let call = Call::new(&key, operation);
            let refused = exchange::<LittleEndian>(&world, &mut peer, call, |e| {
                e.write_u32(count);
                // One octet for those that count octets.
                e.write_u8(0);
                Ok(())
            });
            assert_eq!(refused.await, no(Kind::Marshal, 0), "{operation} {count}");
        }
    }
    drop(peer);
    world.end().await;
}

#[tokio::test]
async fn keys_without_an_object_do_not_exist() {
    let world = World::start().await;
    let good = world.key();
    let mut peer = Raw::connect(&world).await;
    let mut keys: Vec<Vec<u8>> = vec![
        vec![],
        b"NameService".to_vec(),
        vec![0xff; good.len()],
        good[..good.len() - 1].to_vec(),
        [&good[..], &[0]].concat(),
        vec![0; 100_000],
    ];
    // Every single bit of the key counts.
    for bit in 0..good.len() * 8 {
        let mut key = good.to_vec();
        key[bit / 8] ^= 1 << (bit % 8);
        keys.push(key);
    }
    for key in keys {
        let call = Call::new(&key, "twice");
        let outcome = exchange::<LittleEndian>(&world, &mut peer, call, |e| e.put(&4i32)).await;
        let exception = outcome.unwrap_err();
        assert_eq!(
            (exception.kind, exception.completed),
            (Kind::ObjectNotExist, Completed::No),
            "{key:02x?}"
        );
    }
    // No object is there when asked.
    let body = [&[5, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0][..], b"key"].concat();
    peer.send(&message(Version::V1_2, MessageKind::LocateRequest, &body))
        .await;
    let located = peer.receive().await.unwrap();
    assert_eq!(
        LocateReply::read(&located),
        Ok((5, LocateReply::UnknownObject))
    );
    drop(peer);
    world.end().await;
}

#[tokio::test]
async fn a_reference_from_an_earlier_life_of_the_server_does_not_exist() {
    // An address of the loopback network that no other test's port can be taken from.
    let first = World::start_with(|builder| builder.listen("iiop://127.9.9.9:0")).await;
    let endpoint = first.server.endpoints()[1].to_string();
    let mut ior = first
        .server
        .string_to_object(&first.reference())
        .await
        .unwrap()
        .ior()
        .clone();
    let old = {
        // The second address is an alternate of the first; make a profile of it alone.
        let mut body = first.profile();
        let endpoint = &first.server.endpoints()[1];
        body.address.host = endpoint.host().unwrap().to_owned();
        body.address.port = endpoint.port().unwrap();
        body.components.clear();
        ior.profiles = vec![body.to_tagged().unwrap()];
        ior.to_ior_string().unwrap()
    };
    let client = Orb::builder().build().await.unwrap();
    let object = reach(&client, &old).await;
    assert_eq!(object.twice(3).await, Ok(6), "it was alive once");
    first.end().await;

    let second = World::start_with(|builder| builder.listen(endpoint)).await;
    let exception = within(object.twice(3)).await.unwrap_err();
    assert_eq!(
        (exception.kind, exception.completed),
        (Kind::ObjectNotExist, Completed::No)
    );
    assert_eq!(within(object.as_ref().non_existent()).await, Ok(true));
    second.end().await;
    client.shutdown(true).await.unwrap();
}

#[tokio::test]
async fn operations_that_the_interface_does_not_have_are_bad_operations() {
    let world = World::start().await;
    let key = world.key();
    let mut peer = Raw::connect(&world).await;
    let long = "x".repeat(50_000);
    for operation in [
        "",
        "Twice",
        "twic",
        "twicee",
        "_get_twice",
        "_",
        "тwice",
        "a b",
        &long,
    ] {
        let call = Call::new(&key, operation);
        let outcome = exchange::<LittleEndian>(&world, &mut peer, call, |_| Ok(())).await;
        let shown: String = operation.chars().take(20).collect();
        assert_eq!(
            outcome,
            no(Kind::BadOperation, minor::NO_SUCH_OPERATION),
            "{shown:?}"
        );
    }
    // A name that is no text in any character set.
    let mut octets = Call::new(&key, "twice").with(|e| e.put(&4i32));
    let at = octets.windows(5).position(|five| five == b"twice").unwrap();
    octets[at..at + 5].copy_from_slice(&[0xff, 0xfe, 1, 0x80, 0xc0]);
    peer.send(&octets).await;
    assert_eq!(
        peer.receive_reply::<i32>(1).await,
        no(Kind::BadOperation, minor::NO_SUCH_OPERATION)
    );
    drop(peer);
    world.end().await;
}

#[tokio::test]
async fn a_panic_in_a_servant_is_unknown_and_the_connection_goes_on() {
    let world = World::start().await;
    let key = world.key();
    let mut peer = Raw::connect(&world).await;
    for operation in ["panic_at_once", "panic_later", "panic_at_once"] {
        let call = Call::new(&key, operation);
        let outcome = exchange::<LittleEndian>(&world, &mut peer, call, |_| Ok(())).await;
        let exception = outcome.unwrap_err();
        assert_eq!(
            (exception.kind, exception.completed),
            (Kind::Unknown, Completed::Maybe)
        );
        // A one-way call has no reply; none may come.
        let one_way = Call {
            response: ResponseFlags::None,
            ..Call::new(&key, operation).id(50)
        };
        peer.send(&one_way.empty()).await;
    }
    let target = reach(world.bystander(), &world.reference()).await;
    let exception = within(target.panic_later()).await.unwrap_err();
    assert_eq!(exception.kind, Kind::Unknown);
    drop(peer);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_is_unknown_wherever_upcalls_run() {
    let pool = WorkerPool::builder().threads(1).build().unwrap();
    for dispatch in [Dispatch::Pool(pool), Dispatch::BlockInPlace] {
        let world = World::start_with(|builder| builder.dispatch(dispatch)).await;
        let key = world.key();
        let mut peer = Raw::connect(&world).await;
        for operation in ["panic_at_once", "panic_later", "panic_at_once"] {
            let call = Call::new(&key, operation);
            let outcome = exchange::<LittleEndian>(&world, &mut peer, call, |_| Ok(())).await;
            assert_eq!(outcome.unwrap_err().kind, Kind::Unknown);
        }
        world.end().await;
    }
}

/// A CodeSets context.
fn code_sets(chars: u32, wide: u32) -> ServiceContext {
    let mut data = vec![1, 0, 0, 0];
    data.extend(chars.to_le_bytes());
    data.extend(wide.to_le_bytes());
    ServiceContext {
        id: ServiceContextId::CODE_SETS,
        data: data.into(),
    }
}

const UTF8: u32 = 0x0501_0001;
const UTF16: u32 = 0x0001_0109;
const EBCDIC: u32 = 0x1002_0025;

#[tokio::test]
async fn code_sets_that_the_server_does_not_have_are_incompatible() {
    let world = World::start().await;
    let key = world.key();
    for (chars, wide) in [(EBCDIC, 0), (UTF8, EBCDIC), (u32::MAX, u32::MAX)] {
        let mut peer = Raw::connect(&world).await;
        let contexts = [code_sets(chars, wide)];
        let call = Call {
            contexts: &contexts,
            ..Call::new(&key, "twice")
        };
        let outcome = exchange::<LittleEndian>(&world, &mut peer, call, |e| e.put(&4i32)).await;
        assert_eq!(
            outcome,
            no(Kind::CodesetIncompatible, minor::UNSUPPORTED_CODE_SET),
            "{chars:#x} {wide:#x}"
        );
    }
    // A context that is no code sets at all.
    let mut peer = Raw::connect(&world).await;
    for data in [&[][..], &[1], &[0, 0, 0, 0, 0, 0, 0]] {
        let contexts = [ServiceContext {
            id: ServiceContextId::CODE_SETS,
            data: zorb::Bytes::copy_from_slice(data),
        }];
        let call = Call {
            contexts: &contexts,
            ..Call::new(&key, "twice")
        };
        let outcome = exchange::<LittleEndian>(&world, &mut peer, call, |e| e.put(&4i32)).await;
        assert_eq!(outcome, no(Kind::Marshal, 0), "{data:?}");
    }
    drop(peer);
    world.end().await;
}

#[tokio::test]
async fn code_sets_that_are_sent_again_and_again_may_still_change_only_as_they_may() {
    let world = World::start().await;
    let key = world.key();
    let mut peer = Raw::connect(&world).await;
    let (narrow, wide) = ([code_sets(UTF8, 0)], [code_sets(UTF8, UTF16)]);
    let changed = no(Kind::Marshal, minor::CODE_SETS_CHANGED);
    // A set for wide text may be sent later; then it stays. Each is sent more often than the header cache needs to
    // learn it.
    for (contexts, expected) in [
        (&narrow, Ok(8)),
        (&wide, Ok(8)),
        (&narrow, changed),
        (&wide, Ok(8)),
    ] {
        for _ in 0..4 {
            let call = Call {
                contexts,
                ..Call::new(&key, "twice")
            };
            peer.send(&call.with(|e| e.put(&4i32))).await;
            let outcome = peer.receive_reply(call.id).await;
            assert_eq!(outcome, expected);
        }
    }
    drop(peer);
    world.end().await;
}

#[tokio::test]
async fn text_that_is_not_in_the_code_set_is_data_conversion() {
    let world = World::start().await;
    let key = world.key();
    let mut peer = Raw::connect(&world).await;
    let contexts = [code_sets(UTF8, UTF16)];
    let bad = no(Kind::DataConversion, minor::CHARACTER_NOT_IN_CODE_SET);
    for text in [
        &b"\xff"[..],
        b"\xc0\x80",
        b"ab\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xe2\x82",
    ] {
        let call = Call {
            contexts: &contexts,
            ..Call::new(&key, "greet")
        };
        let outcome =
            exchange::<LittleEndian>(&world, &mut peer, call, |e| e.write_raw_string(text));
        assert_eq!(outcome.await, bad, "{text:02x?}");
    }
    // An unpaired surrogate, marked and unmarked; an odd number of octets.
    for (octets, expected) in [
        (&[2u8, 0, 0, 0, 0xd8, 0x00][..], &bad),
        (&[4, 0, 0, 0, 0xff, 0xfe, 0x00, 0xdc], &bad),
    ] {
        let call = Call {
            contexts: &contexts,
            ..Call::new(&key, "widen")
        };
        let outcome = exchange::<LittleEndian>(&world, &mut peer, call, |e| {
            e.append(octets);
            Ok(())
        });
        assert_eq!(&outcome.await, expected, "{octets:02x?}");
    }
    drop(peer);
    world.end().await;
}
