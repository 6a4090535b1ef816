//! The request header cache.

use super::super::header_cache::{ENTRIES, RequestHeaderCache};
use crate::testing::*;
use bytes::Bytes;
use core::sync::atomic::Ordering;
use zorb_cdr::{BigEndian, Encoder, LittleEndian, WireFormat};
use zorb_giop::{
    Limits, Message, Reader, RequestBuilder, RequestHeader, ResponseFlags, ServiceContext,
    ServiceContextId, Version,
};

type Cache = RequestHeaderCache<TestOwner>;

/// The contents of a request header.
#[derive(Clone)]
struct Stated<'a> {
    version: Version,
    is_big: bool,
    id: u32,
    response: ResponseFlags,
    key: &'a [u8],
    operation: &'a str,
    contexts: Vec<ServiceContext>,
    arguments: &'a [u8],
}

const PLAIN: Stated<'_> = Stated {
    version: Version::V1_2,
    is_big: false,
    id: 7,
    response: ResponseFlags::WithTarget,
    key: KEY,
    operation: "operation",
    contexts: Vec::new(),
    arguments: b"arguments",
};

fn code_sets(data: &'static [u8]) -> ServiceContext {
    ServiceContext {
        id: ServiceContextId::CODE_SETS,
        data: Bytes::from_static(data),
    }
}

impl Stated<'_> {
    fn octets(&self) -> Vec<u8> {
        let builder = RequestBuilder {
            version: self.version,
            request_id: self.id,
            response: self.response,
            key: self.key,
            operation: self.operation,
            contexts: &self.contexts,
        };
        let format = WireFormat::default();
        let message = match self.is_big {
            true => builder.encode(Encoder::<BigEndian>::new(format), |e| {
                e.append(self.arguments);
                Ok(())
            }),
            false => builder.encode(Encoder::<LittleEndian>::new(format), |e| {
                e.append(self.arguments);
                Ok(())
            }),
        };
        message.unwrap().to_vec()
    }

    fn message(&self) -> Message {
        whole(&[self.octets()])
    }

    fn remember(&self, cache: &mut Cache, owner: &TestOwner) {
        remember(cache, &self.message(), owner);
    }

    /// The request id and the offset of the arguments, if the header is cached.
    fn find(&self, cache: &mut Cache, owner: &TestOwner) -> Option<(u32, usize)> {
        let message = self.message();
        let hit = cache.find(&message.header, message.frame.octets(), owner)?;
        let Wanted::Operation(operation) = hit.target else {
            panic!("it is an operation")
        };
        assert_eq!(operation, self.operation);
        Some((hit.offsets.request_id(), hit.offsets.body()))
    }

    fn is_cached(&self, cache: &mut Cache, owner: &TestOwner) -> bool {
        self.find(cache, owner).is_some()
    }
}

/// The message that pieces make up.
fn whole(pieces: &[Vec<u8>]) -> Message {
    let mut reader = Reader::new(Limits::default());
    for piece in pieces {
        reader.buffer().extend_from_slice(piece);
    }
    reader.next().unwrap().expect("it is whole")
}

fn remember(cache: &mut Cache, message: &Message, owner: &TestOwner) {
    let header = RequestHeader::read(message).unwrap();
    let operation = String::from_utf8_lossy(header.operation).into_owned();
    let target = Wanted::Operation(operation);
    cache.remember(message, &header, WireFormat::default(), &target, owner);
}

/// A cache that has seen a request twice.
fn cache_of(stated: &Stated<'_>, owner: &TestOwner) -> Cache {
    let mut cache = Cache::default();
    for _ in 0..2 {
        assert!(!stated.is_cached(&mut cache, owner));
        stated.remember(&mut cache, owner);
    }
    cache
}

#[tokio::test]
async fn a_header_is_cached_when_it_comes_again() {
    let owner = TestOwner::new();
    let mut cache = cache_of(&PLAIN, &owner);
    for (id, arguments) in [(8, &b"other"[..]), (u32::MAX, b""), (0, &[1; 500])] {
        let again = Stated {
            id,
            arguments,
            ..PLAIN
        };
        let message = again.message();
        let body = RequestHeader::read(&message).unwrap().body;
        assert_eq!(again.find(&mut cache, &owner), Some((id, body)));
    }
}

#[tokio::test]
async fn a_header_that_differs_in_any_field_misses_the_cache() {
    let owner = TestOwner::new();
    let with_context = Stated {
        contexts: vec![code_sets(&[1, 0, 0, 0, 1])],
        ..PLAIN
    };
    let with = |contexts| Stated { contexts, ..PLAIN };
    for cached in [&PLAIN, &with_context] {
        let mut cache = cache_of(cached, &owner);
        assert!(cached.is_cached(&mut cache, &owner));
        let same = |change: fn(&mut Stated<'_>)| {
            let mut stated = cached.clone();
            change(&mut stated);
            stated
        };
        let others = [
            same(|stated| stated.version = Version::V1_1),
            same(|stated| stated.is_big = true),
            same(|stated| stated.response = ResponseFlags::WithServer),
            same(|stated| stated.response = ResponseFlags::None),
            same(|stated| stated.key = b"tHe object"),
            same(|stated| stated.key = b"the object "),
            same(|stated| stated.key = b""),
            same(|stated| stated.operation = "oPeration"),
            same(|stated| stated.operation = "operation_"),
            same(|stated| stated.operation = ""),
            with(vec![code_sets(&[1, 0, 0, 0, 2])]),
            with(vec![code_sets(&[1])]),
            with(vec![
                code_sets(&[1, 0, 0, 0, 1]),
                code_sets(&[1, 0, 0, 0, 2]),
            ]),
        ];
        for (at, other) in others.iter().enumerate() {
            assert!(!other.is_cached(&mut cache, &owner), "field {at}");
        }
        assert!(cached.is_cached(&mut cache, &owner), "it is cached yet");
    }
    // What the client has settled once it need not state again.
    let mut cache = cache_of(&with_context, &owner);
    assert!(PLAIN.is_cached(&mut cache, &owner));
    let mut cache = cache_of(&PLAIN, &owner);
    assert!(!with_context.is_cached(&mut cache, &owner));
}

#[tokio::test]
async fn contexts_of_a_request_are_no_part_of_its_cached_header() {
    let owner = TestOwner::new();
    let priority = |data: &'static [u8]| ServiceContext {
        id: ServiceContextId::RT_CORBA_PRIORITY,
        data: Bytes::from_static(data),
    };
    let offer = ServiceContext {
        id: ServiceContextId::BI_DIR_IIOP,
        data: Bytes::from_static(&[1, 0, 0, 0]),
    };
    let settled = code_sets(&[1, 0, 0, 0, 1]);
    let with = |contexts| Stated { contexts, ..PLAIN };
    for first in [
        vec![],
        vec![priority(&[1, 0, 0, 7])],
        vec![settled.clone(), priority(&[1])],
    ] {
        let is_settled = first.contains(&settled);
        let mut cache = cache_of(&with(first), &owner);
        for others in [
            vec![],
            vec![priority(&[1, 0, 0, 7])],
            vec![priority(&[]), priority(&[9; 70])],
        ] {
            let message = with(others.clone()).message();
            let body = RequestHeader::read(&message).unwrap().body;
            let found = with(others.clone()).find(&mut cache, &owner);
            assert_eq!(found, Some((PLAIN.id, body)));
            // An offer is taken each time; code sets are, unless they are the ones that are settled.
            let offers = others.iter().chain([&offer]).cloned().collect();
            assert!(!with(offers).is_cached(&mut cache, &owner));
            let states: Vec<_> = others.iter().chain([&settled]).cloned().collect();
            assert_eq!(with(states).is_cached(&mut cache, &owner), is_settled);
        }
    }
    let offered = with(vec![offer]);
    let mut cache = cache_of(&offered, &owner);
    assert!(!offered.is_cached(&mut cache, &owner));
}

#[tokio::test]
async fn a_request_that_came_in_fragments_matches_a_cached_header() {
    let owner = TestOwner::new();
    let mut cache = cache_of(&PLAIN, &owner);
    let long = Stated {
        arguments: &[7; 500],
        ..PLAIN
    };
    let message = whole(&fragments(&long.octets(), 128));
    assert!(
        cache
            .find(&message.header, message.frame.octets(), &owner)
            .is_some()
    );
}

#[tokio::test]
async fn settled_code_sets_empty_the_cache_of_the_connection() {
    let owner = TestOwner::new();
    let (_connection, mut peer, _driver) = owner.serve_peer();
    let chosen = zorb_giop::codeset::CodeSets {
        char_set: zorb_cdr::CharSet::Utf8,
        wchar_set: zorb_cdr::WCharSet::Utf16,
    };
    let chosen = [chosen.to_context().unwrap()];
    let requests = [&[][..], &[], &[], &chosen, &[], &[]];
    for ((id, contexts), expected) in (0..).zip(requests).zip([1, 2, 2, 3, 4, 4]) {
        let response = ResponseFlags::WithTarget;
        peer.send(&request_with(id, "echo", b"", response, contexts));
        assert_eq!(peer.reply().await.0, id);
        assert_eq!(
            owner.located.load(Ordering::Relaxed),
            expected,
            "request {id}"
        );
    }
}

#[tokio::test]
async fn a_header_longer_than_the_cache_keeps_is_not_cached() {
    let owner = TestOwner::new();
    for (octets, is_cached) in [(800, true), (2000, false)] {
        let operation = "o".repeat(octets);
        let long = Stated {
            operation: &operation,
            ..PLAIN
        };
        let mut cache = cache_of(&long, &owner);
        assert_eq!(long.is_cached(&mut cache, &owner), is_cached);
    }
}

#[tokio::test]
async fn a_target_that_is_no_longer_valid_misses_the_cache() {
    let owner = TestOwner::new();
    let mut cache = cache_of(&PLAIN, &owner);
    assert!(PLAIN.is_cached(&mut cache, &owner));
    owner.changes.fetch_add(1, Ordering::Relaxed);
    assert!(!PLAIN.is_cached(&mut cache, &owner));
    PLAIN.remember(&mut cache, &owner);
    assert!(PLAIN.is_cached(&mut cache, &owner));
}

#[tokio::test]
async fn a_target_that_the_owner_does_not_cache_misses_the_cache() {
    let owner = TestOwner::new();
    let mut cache = Cache::default();
    let message = PLAIN.message();
    let header = RequestHeader::read(&message).unwrap();
    let exception = zorb_giop::Fault::NoObject.raise(zorb_giop::CompletionStatus::No);
    let target = Wanted::Refused(exception);
    for _ in 0..3 {
        cache.remember(&message, &header, WireFormat::default(), &target, &owner);
    }
    assert!(!PLAIN.is_cached(&mut cache, &owner));
}

#[tokio::test]
async fn operations_are_cached_together_and_of_too_many_the_latest() {
    let owner = TestOwner::new();
    let names: [String; ENTRIES + 1] = core::array::from_fn(|n| format!("operation{n}"));
    let all = names.each_ref().map(|name| Stated {
        operation: name,
        ..PLAIN
    });
    let [shared @ .., last] = &all;
    let mut cache = Cache::default();
    // One after the other, as a client calls operations in turn.
    for _ in 0..2 {
        for stated in shared {
            assert!(!stated.is_cached(&mut cache, &owner));
            stated.remember(&mut cache, &owner);
        }
    }
    for _ in 0..2 {
        assert!(
            shared
                .iter()
                .all(|stated| stated.is_cached(&mut cache, &owner))
        );
    }
    for _ in 0..2 {
        assert!(!last.is_cached(&mut cache, &owner));
        last.remember(&mut cache, &owner);
    }
    assert!(last.is_cached(&mut cache, &owner));
    assert!(!shared[0].is_cached(&mut cache, &owner));
    assert!(shared[ENTRIES - 1].is_cached(&mut cache, &owner));
    cache.clear();
    assert!(!last.is_cached(&mut cache, &owner));
}

#[tokio::test]
async fn the_cache_holds_a_bounded_number_of_headers() {
    let owner = TestOwner::new();
    let mut cache = Cache::default();
    let names: Vec<String> = (0..).map(|n| format!("operation{n}")).take(100).collect();
    let mut all = names.iter().map(|name| Stated {
        operation: name,
        ..PLAIN
    });
    for stated in all.clone() {
        stated.remember(&mut cache, &owner);
        stated.remember(&mut cache, &owner);
        assert!(stated.is_cached(&mut cache, &owner));
    }
    let cached = all
        .by_ref()
        .filter(|stated| stated.is_cached(&mut cache, &owner));
    assert_eq!(cached.count(), ENTRIES);
}

#[tokio::test]
async fn requests_of_a_connection_are_located_once_they_miss_the_cache() {
    let owner = TestOwner::new();
    let (_connection, mut peer, _driver) = owner.serve_peer();
    let located = || owner.located.load(Ordering::Relaxed);
    for (id, expected) in (0..5).zip([1, 2, 2, 2, 2]) {
        let arguments = vec![7; 40 * id as usize];
        peer.send(&request(id, "echo", &arguments));
        assert_eq!(peer.reply().await, (id, arguments));
        assert_eq!(located(), expected);
    }
    owner.changes.fetch_add(1, Ordering::Relaxed);
    peer.send(&request(5, "echo", b""));
    assert_eq!(peer.reply().await, (5, Vec::new()));
    assert_eq!(located(), 3);
}
