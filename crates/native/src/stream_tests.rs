//! What is sent in frames is received as the messages that it was made of, however writes and reads are cut.

use super::frame::{FRAME, MAX_NUMBERS, MAX_PREFIX, MAX_PREFIXES_OCTETS};
use super::receive::Receiver;
use super::send::Sender;
use bytes::BytesMut;
use proptest::prelude::*;
use std::io::{self, ErrorKind, IoSlice};

const LITTLE: u8 = cfg!(target_endian = "little") as u8;

fn message(minor: u8, flags: u8, kind: u8, body: &[u8]) -> Vec<u8> {
    let size = u32::try_from(body.len()).unwrap();
    let size = match flags & 1 {
        0 => size.to_be_bytes(),
        _ => size.to_le_bytes(),
    };
    [b"GIOP\x01", &[minor, flags, kind][..], &size, body].concat()
}

/// A request of GIOP 1.2 in this machine's byte order, with as many octets behind the name.
fn request(id: u32, key: &[u8], name: &str, rest: usize) -> Vec<u8> {
    let mut body = [&id.to_ne_bytes()[..], &[3, 0, 0, 0], &[0; 4]].concat();
    body.extend_from_slice(&u32::try_from(key.len()).unwrap().to_ne_bytes());
    body.extend_from_slice(key);
    body.resize(body.len().next_multiple_of(4), 0);
    body.extend_from_slice(&u32::try_from(name.len() + 1).unwrap().to_ne_bytes());
    body.extend_from_slice(name.as_bytes());
    body.push(0);
    body.resize(body.len().next_multiple_of(4), 0);
    body.extend((0..rest).map(|n| n as u8));
    message(2, LITTLE, 0, &body)
}

fn reply(id: u32, status: u32, rest: usize) -> Vec<u8> {
    let mut body = [id.to_ne_bytes(), status.to_ne_bytes()].concat();
    body.extend((0..rest).map(|n| n as u8));
    message(2, LITTLE, 1, &body)
}

fn any_message() -> impl Strategy<Value = Vec<u8>> {
    let rest = prop_oneof![0..40_usize, 0..9_000_usize];
    prop_oneof![
        6 => (any::<u32>(), 0..3_u8, 0..3_usize, rest.clone()).prop_map(|(id, key, name, rest)| {
            request(id, &vec![key; 20 + usize::from(key)], ["ping", "pong", ""][name], rest)
        }),
        4 => (any::<u32>(), 0..3_u32, rest.clone()).prop_map(|(id, status, rest)| reply(id, status, rest)),
        1 => (0..3_u8, 0..4_u8, 0..8_u8, rest).prop_map(|(minor, flags, kind, rest)| {
            message(minor, flags, kind, &vec![0xa5; rest])
        }),
    ]
}

/// Sends messages, each in two chunks, `together` of them in a write, of which the transport takes what `most` says.
fn sent(messages: &[Vec<u8>], together: usize, most: &mut impl FnMut() -> usize) -> Vec<u8> {
    let (mut sender, mut out) = (Sender::default(), Vec::new());
    for some in messages.chunks(together) {
        let mut chunks: Vec<&[u8]> = Vec::new();
        for message in some {
            let (head, body) = message.split_at(message.len() - message.len() / 3);
            // The header of a message is in one piece.
            match head.len() < 100 {
                true => chunks.push(message),
                false => chunks.extend([head, body]),
            }
        }
        while !chunks.is_empty() {
            let slices: Vec<_> = chunks.iter().map(|chunk| IoSlice::new(chunk)).collect();
            let written = sender.write(&slices, |slices| {
                let all: Vec<u8> = slices.iter().flat_map(|slice| slice.to_vec()).collect();
                let taken = all.len().min(most());
                out.extend_from_slice(&all[..taken]);
                Ok(taken)
            });
            let mut taken = match written {
                Ok(taken) => taken,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::WouldBlock);
                    continue;
                }
            };
            assert!(taken > 0);
            while let Some(first) = chunks.first_mut() {
                let part = taken.min(first.len());
                *first = &first[part..];
                taken -= part;
                if !first.is_empty() {
                    break;
                }
                chunks.remove(0);
            }
        }
    }
    out
}

/// Receives octets in pieces, into buffers with some room.
fn received(octets: &[u8], piece: usize, room: usize) -> io::Result<Vec<u8>> {
    let (mut receiver, mut out) = (Receiver::default(), Vec::new());
    for piece in octets.chunks(piece) {
        let mut rest = piece;
        loop {
            let mut to = BytesMut::with_capacity(6 + room);
            to.extend_from_slice(b"before");
            let read = receiver.read(&mut to, |to| {
                let octets = rest.len().min(to.capacity() - to.len());
                let (now, later) = rest.split_at(octets);
                to.extend_from_slice(now);
                rest = later;
                match octets {
                    0 => Err(ErrorKind::WouldBlock.into()),
                    octets => Ok(octets),
                }
            });
            assert_eq!(&to[..6], b"before");
            match read {
                Ok(octets) => {
                    assert_eq!((octets, octets > 0), (to.len() - 6, true));
                    out.extend_from_slice(&to[6..]);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    assert_eq!(to.len(), 6);
                    assert!(rest.is_empty() && receiver.waits());
                    break;
                }
                Err(error) => return Err(error),
            }
        }
    }
    Ok(out)
}

proptest! {
    #[test]
    fn messages_are_the_same_again_however_they_are_cut(
        messages in prop::collection::vec(any_message(), 1..20),
        together in 1..4_usize,
        most in prop::collection::vec(prop_oneof![1..30_usize, 1..9_000_usize], 1..8),
        piece in prop_oneof![1..40_usize, 1..9_000_usize],
        room in prop_oneof![1..40_usize, 1..9_000_usize],
    ) {
        let mut next = most.iter().copied().cycle();
        let octets = sent(&messages, together, &mut || next.next().unwrap());
        prop_assert!(received(&octets, piece, room).unwrap() == messages.concat());
    }

    #[test]
    fn any_octets_are_messages_or_an_error(octets in prop::collection::vec(any::<u8>(), 0..200), piece in 1..40_usize) {
        let _ = received(&octets, piece, 64);
    }

    #[test]
    fn frames_of_any_numbers_are_messages_or_an_error(
        frames in prop::collection::vec((0..400_u32, 0..400_u32, 0..3_u16, 0..4_u8), 1..20),
        piece in 1..400_usize,
    ) {
        let mut octets = Vec::new();
        for (length, id, number, kind) in frames {
            octets.extend_from_slice(&length.to_ne_bytes());
            octets.extend_from_slice(&id.to_ne_bytes());
            octets.extend_from_slice(&number.to_ne_bytes());
            octets.extend_from_slice(&[kind, 0]);
            octets.extend((0..length).map(|n| n as u8));
        }
        if let Err(error) = received(&octets, piece, 64) {
            prop_assert_eq!(error.kind(), ErrorKind::InvalidData);
        }
    }
}

#[test]
fn a_header_that_repeats_is_a_number_and_has_no_text() {
    let messages: Vec<_> = (0..10)
        .map(|id| request(id, &[7; 24], "sendNoParams_2way", 4))
        .collect();
    let octets = sent(&messages, 1, &mut || usize::MAX);
    // The first names its header; the others are their frame, and what follows the operation's name.
    assert_eq!(octets.len(), FRAME + messages[0].len() + 9 * (FRAME + 4));
    let texts = octets.windows(4).filter(|octets| octets == b"send").count();
    assert_eq!(texts, 1);
    let replies: Vec<_> = (0..10).map(|id| reply(id, 0, 4)).collect();
    let octets = sent(&replies, 10, &mut || usize::MAX);
    assert_eq!(octets.len(), FRAME + 24 + 9 * (FRAME + 4));
}

#[test]
fn there_are_no_more_numbers_than_the_limit_and_messages_beyond_are_whole() {
    let messages: Vec<_> = (0..2 * MAX_NUMBERS)
        .map(|n| request(1, &n.to_ne_bytes(), "ping", 8))
        .collect();
    let octets = sent(&messages, 1, &mut || usize::MAX);
    assert!(received(&octets, 1_000, 1_000).unwrap() == messages.concat());
    // One that names another prefix is refused.
    let mut hostile = sent(&messages[..1], 1, &mut || usize::MAX);
    hostile[8..10].copy_from_slice(&1_u16.to_ne_bytes());
    assert_eq!(
        received(&hostile, 100, 100).unwrap_err().kind(),
        ErrorKind::InvalidData
    );
}

#[test]
fn prefixes_with_numbers_are_no_more_octets_than_the_limit() {
    let long = |n: usize| request(1, &vec![n as u8; MAX_PREFIX - 60], "ping", 4_000);
    let messages: Vec<_> = (0..40).map(long).collect();
    let twice = [&messages[..], &messages].concat();
    let octets = sent(&twice, 1, &mut || usize::MAX);
    assert!(received(&octets, 1_000, 1_000).unwrap() == twice.concat());
    let whole = sent(&messages[..1], 1, &mut || usize::MAX).len();
    // A number has no text the second time; those beyond the limit are whole again.
    let prefix = messages[0].len() - 4_000;
    let numbered = (80 * whole - octets.len()) / prefix;
    assert_eq!(numbered, MAX_PREFIXES_OCTETS / prefix);
}

#[test]
fn what_is_not_giop_is_an_error_before_anything_is_written() {
    let error = Sender::default().write(&[IoSlice::new(b"twelve octets")], |_| unreachable!());
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Other);
}
