//! Servers that answer nonsense: the call fails with the right exception, and the next one works.

use crate::hostile::honest_pair::{GreetError, TargetRef, World, reach, within};
use crate::hostile::raw::{Peer, Raw, Written, decode, message, reply};
use tokio::join;
use zorb::SystemExceptionKind as Kind;
use zorb::{Bytes, CompletionStatus as Completed, Orb, SystemException};
use zorb_cdr::{Encoder, LittleEndian, WireFormat};
use zorb_giop::{
    Message, MessageKind, ReplyBuilder, ReplyStatus, RequestHeader, ServiceContext,
    ServiceContextId, Version,
};

/// A client, the peer it calls, and a server that serves it meanwhile.
struct Stage {
    world: World,
    client: Orb,
    good: TargetRef,
    peer: Peer,
    target: TargetRef,
}

impl Stage {
    async fn start() -> Self {
        let world = World::start().await;
        let client = Orb::builder().build().await.unwrap();
        let good = reach(&client, &world.reference()).await;
        let peer = Peer::start().await;
        let target = peer.target(&client);
        Self {
            world,
            client,
            good,
            peer,
            target,
        }
    }

    /// The peer reads one request and answers with whatever `answer` makes of its id.
    async fn answers(&self, raw: &mut Raw, answer: impl FnOnce(u32) -> Vec<u8>) {
        let (id, _) = raw.receive_request().await;
        assert_eq!(within(self.good.twice(1)).await, Ok(2), "served meanwhile");
        raw.send(&answer(id)).await;
    }

    async fn end(self) {
        within(self.client.shutdown(true)).await.unwrap();
        self.world.end().await;
    }
}

type Body<'a> = &'a dyn Fn(&mut Encoder<LittleEndian>) -> Written;
type Seen = (Kind, u32, Completed);

fn exception<T: std::fmt::Debug>(outcome: Result<T, SystemException>) -> Seen {
    let exception = outcome.unwrap_err();
    (exception.kind, exception.minor, exception.completed)
}

#[tokio::test]
async fn bodies_that_are_not_what_they_should_be_fail_the_call_and_not_the_connection() {
    let stage = Stage::start().await;
    let mut raw = None;
    let yes = (Kind::Marshal, 0, Completed::Yes);
    let maybe = (Kind::Marshal, 0, Completed::Maybe);
    let system = |id: &'static str, minor: u32, completed: u32| {
        move |e: &mut Encoder<LittleEndian>| {
            e.write_raw_string(id.as_bytes())?;
            e.write_u32(minor);
            e.write_u32(completed);
            Ok(())
        }
    };
    let cases: [(&str, ReplyStatus, Body<'_>, Seen); 13] = [
        ("no result", ReplyStatus::NoException, &|_| Ok(()), yes),
        (
            "half a result",
            ReplyStatus::NoException,
            &|e| {
                e.write_u16(1);
                Ok(())
            },
            yes,
        ),
        (
            "no exception at all",
            ReplyStatus::UserException,
            &|_| Ok(()),
            yes,
        ),
        (
            "an exception's id of 4 GiB",
            ReplyStatus::UserException,
            &|e| {
                e.write_u32(u32::MAX);
                Ok(())
            },
            yes,
        ),
        (
            "an unlisted user exception",
            ReplyStatus::UserException,
            &|e| e.write_raw_string(b"IDL:Elsewhere/Odd:1.0"),
            (Kind::Unknown, 0x4f4d_0001, Completed::Yes),
        ),
        (
            "no system exception",
            ReplyStatus::SystemException,
            &|_| Ok(()),
            maybe,
        ),
        (
            "a system exception cut short",
            ReplyStatus::SystemException,
            &|e| {
                e.write_raw_string(b"IDL:omg.org/CORBA/NO_MEMORY:1.0")?;
                e.write_u32(3);
                Ok(())
            },
            maybe,
        ),
        (
            "a completion status that does not exist",
            ReplyStatus::SystemException,
            &system("IDL:omg.org/CORBA/NO_MEMORY:1.0", 3, 7),
            maybe,
        ),
        (
            "an unknown system exception",
            ReplyStatus::SystemException,
            &system("IDL:vendor.com/CORBA/OUT_OF_COFFEE:1.0", 3, 1),
            (Kind::Unknown, 0x4f4d_0002, Completed::No),
        ),
        (
            "one without a name",
            ReplyStatus::SystemException,
            &system("", 3, 2),
            (Kind::Unknown, 0x4f4d_0002, Completed::Maybe),
        ),
        (
            "a known one",
            ReplyStatus::SystemException,
            &system("IDL:omg.org/CORBA/NO_MEMORY:1.0", 3, 0),
            (Kind::NoMemory, 3, Completed::Yes),
        ),
        (
            "a forward to nowhere",
            ReplyStatus::LocationForward,
            &|_| Ok(()),
            maybe,
        ),
        (
            "a forward with profiles that are not there",
            ReplyStatus::LocationForwardPerm,
            &|e| {
                e.write_raw_string(b"IDL:X:1.0")?;
                e.write_u32(u32::MAX);
                Ok(())
            },
            maybe,
        ),
    ];
    for (what, status, body, expected) in cases {
        let answering = async {
            if raw.is_none() {
                raw = Some(stage.peer.accept().await);
            }
            let raw = raw.as_mut().unwrap();
            stage.answers(raw, |id| reply(id, status, body)).await;
            // The connection serves the next call.
            raw.serve_twice().await;
        };
        let calling = async {
            let outcome = within(stage.target.twice(4)).await;
            assert_eq!(within(stage.target.twice(5)).await, Ok(10), "{what}");
            outcome
        };
        let (outcome, ()) = join!(calling, answering);
        assert_eq!(exception(outcome), expected, "{what}");
    }
    stage.end().await;
}

#[tokio::test]
async fn results_that_are_no_text_or_too_long_fail_the_call() {
    let stage = Stage::start().await;
    let (target, peer) = (&stage.target, &stage.peer);
    let answering = async {
        let mut raw = peer.accept().await;
        for octets in [&[255u8, 255, 255, 255][..], &[3, 0, 0, 0, b'a', b'b', b'c']] {
            let answer = |id| {
                reply(id, ReplyStatus::NoException, |e| {
                    e.append(octets);
                    Ok(())
                })
            };
            stage.answers(&mut raw, answer).await;
        }
        // A listed exception, cut short; then whole.
        let cut = |id| {
            reply(id, ReplyStatus::UserException, |e| {
                e.write_raw_string(b"IDL:Hostile/Target/Refused:1.0")
            })
        };
        stage.answers(&mut raw, cut).await;
        let whole = |id| {
            reply(id, ReplyStatus::UserException, |e| {
                e.write_raw_string(b"IDL:Hostile/Target/Refused:1.0")?;
                e.write_raw_string(b"no")
            })
        };
        stage.answers(&mut raw, whole).await;
    };
    let calling = async {
        for _ in 0..3 {
            let Err(GreetError::System(e)) = within(target.greet("Ada")).await else {
                panic!("a system exception");
            };
            assert_eq!((e.kind, e.completed), (Kind::Marshal, Completed::Yes));
        }
        let Err(GreetError::Refused(refused)) = within(target.greet("Ada")).await else {
            panic!("the user exception");
        };
        assert_eq!(refused.why, "no");
    };
    join!(calling, answering);
    stage.end().await;
}

#[tokio::test]
async fn garbage_instead_of_a_reply_is_a_communication_failure_that_names_the_peer() {
    let stage = Stage::start().await;
    let address = stage.peer.address().to_string();
    let of = |kind, body: &[u8]| message(Version::V1_2, kind, body);
    let cases: Vec<(&str, Vec<u8>, bool)> = vec![
        (
            "another protocol",
            b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
            true,
        ),
        ("noise", vec![0xa5; 100], true),
        (
            "GIOP 9.9",
            b"GIOP\x09\x09\x00\x01\x00\x00\x00\x00".to_vec(),
            true,
        ),
        (
            "message type 9",
            b"GIOP\x01\x02\x01\x09\x00\x00\x00\x00".to_vec(),
            true,
        ),
        (
            "a fragment of nothing",
            of(MessageKind::Fragment, &[0; 4]),
            true,
        ),
        (
            "a reply without a header",
            of(MessageKind::Reply, &[]),
            true,
        ),
        (
            "a reply of 4 GiB",
            b"GIOP\x01\x02\x01\x01\xff\xff\xff\xff".to_vec(),
            true,
        ),
        (
            "a request for the client",
            of(MessageKind::Request, &[0; 40]),
            true,
        ),
        (
            "a cancel request",
            of(MessageKind::CancelRequest, &[0; 4]),
            true,
        ),
        ("MessageError", of(MessageKind::MessageError, &[]), false),
    ];
    for (what, octets, reported) in cases {
        let answering = async {
            let mut raw = stage.peer.accept().await;
            stage.answers(&mut raw, |_| octets).await;
            if reported {
                raw.receive_message_error().await;
            } else {
                assert!(raw.receive().await.is_none());
            }
            // The next call comes on a connection of its own.
            stage.peer.accept().await.serve_twice().await;
        };
        let calling = async {
            let outcome = within(stage.target.twice(4)).await;
            assert_eq!(within(stage.target.twice(5)).await, Ok(10), "{what}");
            outcome
        };
        let (outcome, ()) = join!(calling, answering);
        let e = outcome.unwrap_err();
        let kind = match what {
            "a reply of 4 GiB" => Kind::ImpLimit,
            _ => Kind::CommFailure,
        };
        assert_eq!((e.kind, e.completed), (kind, Completed::Maybe), "{what}");
        assert!(format!("{e:#}").contains(&address), "{what}: {e:#}");
    }
    stage.end().await;
}

#[tokio::test]
async fn a_status_that_does_not_exist_is_a_communication_failure() {
    let stage = Stage::start().await;
    let answering = async {
        let mut raw = stage.peer.accept().await;
        let answer = |id: u32| {
            let body = [&id.to_le_bytes()[..], &[9, 0, 0, 0, 0, 0, 0, 0]].concat();
            message(Version::V1_2, MessageKind::Reply, &body)
        };
        stage.answers(&mut raw, answer).await;
        raw.receive_message_error().await;
    };
    let (outcome, ()) = join!(within(stage.target.twice(4)), answering);
    assert_eq!(exception(outcome), (Kind::CommFailure, 0, Completed::Maybe));
    stage.end().await;
}

#[tokio::test]
async fn replies_that_come_twice_or_are_without_a_caller_are_thrown_away() {
    let stage = Stage::start().await;
    let result = |id, n: i32| reply(id, ReplyStatus::NoException, |e| e.put(&n));
    let answering = async {
        let mut raw = stage.peer.accept().await;
        let mut before = Vec::new();
        for n in 0..20 {
            let (id, _) = raw.receive_request().await;
            // Ids that were never given out: the acceptor's, and far ones.
            for stray in [id ^ 1, id ^ 0x8000_0000, id ^ 0x100, u32::MAX, 1] {
                raw.send(&result(stray, -1)).await;
            }
            // Those of earlier calls, answered once more.
            for id in &before {
                raw.send(&result(*id, -2)).await;
            }
            raw.send(&[result(id, n), result(id, -3)].concat()).await;
            assert!(!before.contains(&id), "ids are not used again at once");
            before.push(id);
        }
    };
    let calling = async {
        for n in 0..20 {
            assert_eq!(within(stage.target.twice(0)).await, Ok(n));
        }
    };
    join!(calling, answering);
    assert_eq!(within(stage.good.twice(1)).await, Ok(2));
    stage.end().await;
}

#[tokio::test]
async fn a_late_reply_matches_no_call_and_the_next_call_gets_its_own() {
    let stage = Stage::start().await;
    let result = |id, n: i32| reply(id, ReplyStatus::NoException, |e| e.put(&n));
    let received = tokio::sync::Notify::new();
    let answering = async {
        let mut raw = stage.peer.accept().await;
        let (first, _) = raw.receive_request().await;
        raw.send(&result(first, 7)).await;
        for n in 0..5 {
            let (late, _) = raw.receive_request().await;
            received.notify_one();
            // The client reports when it has given up.
            let cancel: Message = raw.receive().await.unwrap();
            assert_eq!(cancel.header.kind, MessageKind::CancelRequest);
            assert_eq!(cancel.cancelled_request(), Ok(late));
            let (next, _) = raw.receive_request().await;
            assert_ne!(late, next);
            raw.send(&result(late, -1)).await;
            raw.send(&result(next, n)).await;
        }
    };
    let calling = async {
        assert_eq!(within(stage.target.twice(4)).await, Ok(7));
        for n in 0..5 {
            tokio::select! {
                outcome = within(stage.target.twice(4)) => panic!("{outcome:?}"),
                () = received.notified() => {}
            }
            assert_eq!(within(stage.target.twice(4)).await, Ok(n));
            assert_eq!(within(stage.good.twice(1)).await, Ok(2));
        }
    };
    join!(calling, answering);
    stage.end().await;
}

#[tokio::test]
async fn replies_in_fragments_and_in_any_order_find_their_callers() {
    let stage = Stage::start().await;
    let answering = async {
        let mut raw = stage.peer.accept().await;
        let mut asked = Vec::new();
        for _ in 0..3 {
            let request = raw.receive().await.unwrap();
            let header = RequestHeader::read(&request).unwrap();
            let n: u32 = decode(&request, header.body);
            asked.push((header.request_id, n as u8));
        }
        // Last first, cut into pieces that are interleaved.
        let pieces: Vec<Vec<Vec<u8>>> = asked
            .iter()
            .rev()
            .map(|(id, n)| {
                let whole = reply(*id, ReplyStatus::NoException, |e| {
                    e.write_octets(&[*n; 100])
                });
                fragments(&whole)
            })
            .collect();
        for turn in 0..pieces[0].len() {
            for each in &pieces {
                raw.send(&each[turn]).await;
            }
        }
    };
    let (a, b, c, ()) = join!(
        within(stage.target.large(1)),
        within(stage.target.large(2)),
        within(stage.target.large(3)),
        answering
    );
    for (n, outcome) in [(1u8, a), (2, b), (3, c)] {
        assert_eq!(outcome, Ok(Bytes::from(vec![n; 100])));
    }
    stage.end().await;
}

/// Cuts a little-endian message of GIOP 1.2 into fragments of 32 octets.
fn fragments(whole: &[u8]) -> Vec<Vec<u8>> {
    let (first, rest) = whole.split_at(32);
    let mut begun = first.to_vec();
    begun[6] |= 2;
    begun[8..12].copy_from_slice(&20u32.to_le_bytes());
    let mut pieces = vec![begun];
    let count = rest.chunks(16).count();
    for (index, data) in rest.chunks(16).enumerate() {
        let body = [&whole[12..16], data].concat();
        let mut piece = message(Version::V1_2, MessageKind::Fragment, &body);
        if index + 1 < count {
            piece[6] |= 2;
        }
        pieces.push(piece);
    }
    pieces
}

/// As JacORB does; its text may not command a terminal, and text that cannot be read does not matter.
#[tokio::test]
async fn what_a_server_says_of_its_exception_is_shown() {
    let stage = Stage::start().await;
    let explained = |id, data: &'static [u8]| {
        let contexts = [ServiceContext {
            id: ServiceContextId::EXCEPTION_DETAIL_MESSAGE,
            data: Bytes::from_static(data),
        }];
        let raised = SystemException::new(Kind::NoPermission, 7, Completed::No);
        ReplyBuilder {
            version: Version::V1_2,
            request_id: id,
            status: ReplyStatus::SystemException,
            contexts: &contexts,
        }
        .encode(Encoder::<LittleEndian>::new(WireFormat::default()), |e| {
            e.put(&raised)
        })
        .unwrap()
        .to_vec()
    };
    let mut raw = None;
    for (data, shown) in [
        (
            &b"\0\0\0\0\0\0\0\x08\0n\0o\0\x1b\0!"[..],
            "NO_PERMISSION (minor 0x7, COMPLETED_NO): the server says: no\\u{1b}!",
        ),
        (
            b"\0\0\0\0\xff\xff\xff\xff\0n",
            "NO_PERMISSION (minor 0x7, COMPLETED_NO)",
        ),
    ] {
        let answering = async {
            let mut raw = match raw.take() {
                Some(raw) => raw,
                None => stage.peer.accept().await,
            };
            stage.answers(&mut raw, |id| explained(id, data)).await;
            raw
        };
        let (outcome, used) = join!(within(stage.target.twice(4)), answering);
        assert_eq!(outcome.unwrap_err().to_string(), shown);
        raw = Some(used);
    }
    stage.world.end().await;
}
