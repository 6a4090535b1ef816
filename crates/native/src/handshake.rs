//! How two ends find out that they are alike: the client's first message asks whether an object is there whose key says what the
//! client is. An alike server answers that it is; any other ORB answers that it knows no such object, and goes on in GIOP.
//!
//! ```text
//! client                                       server
//!   │ LocateRequest, key "zorb.native/…"         │ alike: the answer is of this crate
//!   ├───────────────────────────────────────────►│ other: of its ORB
//!   │             OBJECT_HERE or UNKNOWN_OBJECT  │
//!   │◄───────────────────────────────────────────┤
//! ```

use bytes::{Buf, BytesMut};
use std::mem::{align_of, size_of};

/// The version of the frames; others are other peers.
const VERSION: u8 = 1;
/// Octets of the question, and of its answer.
pub(crate) const QUESTION: usize = 60;
pub(crate) const ANSWER: usize = 20;
/// The request id of the question, which no ORB begins with.
const ID: u32 = 0xffff_fff0;
const LITTLE: u8 = cfg!(target_endian = "little") as u8;
const LOCATE_REQUEST: u8 = 3;
const LOCATE_REPLY: u8 = 4;
const UNKNOWN_OBJECT: u32 = 0;
const OBJECT_HERE: u32 = 1;

/// The key of an object that is there for alike peers: the version, and how numbers and pointers lie in memory.
#[expect(
    clippy::cast_possible_truncation,
    reason = "sizes and alignments of numbers"
)]
const fn key() -> [u8; 32] {
    let mut key = *b"zorb.native/                    ";
    let [.., version, pointer, a16, a32, a64, a128, f64, end] = &mut key;
    (*version, *end) = (VERSION, b'.');
    *pointer = size_of::<usize>() as u8;
    *a16 = align_of::<u16>() as u8;
    *a32 = align_of::<u32>() as u8;
    *a64 = align_of::<u64>() as u8;
    *a128 = align_of::<u128>() as u8;
    *f64 = align_of::<f64>() as u8;
    key
}

const fn header(kind: u8, octets: u32) -> [u8; 12] {
    let [s0, s1, s2, s3] = octets.to_ne_bytes();
    let [g, i, o, p] = *b"GIOP";
    [g, i, o, p, 1, 2, LITTLE, kind, s0, s1, s2, s3]
}

/// The question of a client.
pub(crate) fn question() -> [u8; QUESTION] {
    const SIZE: u32 = 48;
    let mut octets = [0; QUESTION];
    let parts: [&[u8]; 5] = [
        &header(LOCATE_REQUEST, SIZE),
        &ID.to_ne_bytes(),
        // The target is a key.
        &[0; 4],
        &32_u32.to_ne_bytes(),
        &key(),
    ];
    let parts = parts.into_iter().flatten();
    for (place, octet) in octets.iter_mut().zip(parts) {
        *place = *octet;
    }
    octets
}

fn answer(status: u32) -> [u8; ANSWER] {
    let mut octets = [0; ANSWER];
    let parts = [ID.to_ne_bytes(), status.to_ne_bytes()];
    let parts = header(LOCATE_REPLY, 8)
        .into_iter()
        .chain(parts.into_iter().flatten());
    for (place, octet) in octets.iter_mut().zip(parts) {
        *place = octet;
    }
    octets
}

/// The answer of a server to its likes.
pub(crate) fn here() -> [u8; ANSWER] {
    answer(OBJECT_HERE)
}

/// What the first octets of a peer say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Too few to say.
    Begins,
    Alike,
    /// Another ORB, or one that speaks GIOP.
    Other,
}

/// What a server thinks of a client's first octets. The question of an alike one is taken out of them.
pub(crate) fn opening_of_client(received: &mut BytesMut) -> Opening {
    opening(received, &question())
}

/// What a client thinks of a server's first octets. The answer to its question is taken out of them.
pub(crate) fn opening_of_server(received: &mut BytesMut) -> Opening {
    match opening(received, &here()) {
        Opening::Other => {}
        known => return known,
    }
    match opening(received, &answer(UNKNOWN_OBJECT)) {
        Opening::Alike => Opening::Other,
        known => known,
    }
}

fn opening(received: &mut BytesMut, expected: &[u8]) -> Opening {
    let here = received.get(..expected.len()).unwrap_or(received);
    if !expected.starts_with(here) {
        return Opening::Other;
    }
    if here.len() < expected.len() {
        return Opening::Begins;
    }
    received.advance(expected.len());
    Opening::Alike
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_questions_of_the_same_platform_are_of_alike_clients() {
        let question = question();
        for end in 0..QUESTION {
            let mut received = BytesMut::from(&question[..end]);
            assert_eq!(opening_of_client(&mut received), Opening::Begins, "{end}");
            assert_eq!(received.len(), end);
        }
        let mut received = BytesMut::from(&[&question[..], b"more"].concat()[..]);
        assert_eq!(opening_of_client(&mut received), Opening::Alike);
        assert_eq!(&received[..], b"more");
        for at in 0..QUESTION {
            let mut other = question;
            other[at] ^= 1;
            let mut received = BytesMut::from(&other[..]);
            assert_eq!(opening_of_client(&mut received), Opening::Other, "{at}");
            assert_eq!(received.len(), QUESTION, "its ORB reads all of it");
        }
    }

    #[test]
    fn an_answer_is_taken_out_and_anything_else_is_left() {
        for (octets, expected, left) in [
            (&here()[..], Opening::Alike, 0),
            (&answer(UNKNOWN_OBJECT)[..], Opening::Other, 0),
            (&answer(OBJECT_HERE)[..19], Opening::Begins, 19),
            (&answer(UNKNOWN_OBJECT)[..17], Opening::Begins, 17),
            (b"GIOP\x01\x02\x01\x05\0\0\0\0", Opening::Other, 12),
        ] {
            let mut received = BytesMut::from(octets);
            assert_eq!(opening_of_server(&mut received), expected);
            assert_eq!(received.len(), left);
        }
    }
}
