//! Native messages: what the other end sends is passed on as far as it is frames, however it is cut, and what is written in
//! frames is read as the GIOP that it was made of.

use bytes::BytesMut;
use receive::Receiver;
use send::Sender;
use std::io::{self, ErrorKind, IoSlice};

#[path = "../../crates/native/src/frame.rs"]
mod frame;
#[path = "../../crates/native/src/receive.rs"]
mod receive;
#[path = "../../crates/native/src/send.rs"]
mod send;

/// Takes the first octet for how the others are cut, and those for what comes in and for what goes out.
pub fn run(data: &[u8]) {
    let Some((cut, octets)) = data.split_first() else {
        return;
    };
    let (piece, room) = (1 + usize::from(cut & 0xf), 1 << (cut >> 4));
    let whole = received(octets, octets.len().max(1), 1 << 16);
    assert_eq!(received(octets, piece, room), whole, "however it is cut");
    let messages = messages(octets);
    let frames = sent(&messages, piece);
    assert_eq!(
        received(&frames, piece, room),
        (messages.concat(), None),
        "what was written is read"
    );
}

/// The octets that are passed on of such pieces, into such buffers, and why they end before the pieces do.
fn received(octets: &[u8], piece: usize, room: usize) -> (Vec<u8>, Option<ErrorKind>) {
    // The first piece has come with the answer of the handshake.
    let (first, octets) = octets.split_at(piece.min(octets.len()));
    let mut receiver = Receiver::behind(BytesMut::from(first));
    let mut out = Vec::new();
    for piece in [&[][..]].into_iter().chain(octets.chunks(piece)) {
        let mut rest = piece;
        loop {
            let mut to = BytesMut::with_capacity(room);
            let read = receiver.read(&mut to, |to| receive(&mut rest, to));
            out.extend_from_slice(&to);
            match read {
                Ok(octets) => assert!(octets > 0 && octets == to.len()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    assert!(to.is_empty() && rest.is_empty() && receiver.waits());
                    break;
                }
                Err(error) => return (out, Some(error.kind())),
            }
        }
    }
    (out, None)
}

fn receive(rest: &mut &[u8], to: &mut BytesMut) -> io::Result<usize> {
    let octets = rest.len().min(to.capacity() - to.len());
    if octets == 0 {
        return Err(ErrorKind::WouldBlock.into());
    }
    let (now, later) = rest.split_at(octets);
    to.extend_from_slice(now);
    *rest = later;
    Ok(octets)
}

/// The whole messages that octets begin with.
fn messages(mut octets: &[u8]) -> Vec<&[u8]> {
    let mut all = Vec::new();
    while let Some(length) = frame::message_octets(octets)
        && let Some((message, rest)) = octets.split_at_checked(length)
    {
        all.push(message);
        octets = rest;
    }
    all
}

/// The octets that are written for messages, up to three in a write, while the transport takes one octet more of each write
/// than of the one before.
fn sent(messages: &[&[u8]], together: usize) -> Vec<u8> {
    let (mut sender, mut out, mut most) = (Sender::default(), Vec::new(), 0);
    for some in messages.chunks(1 + together % 3) {
        let mut chunks = some.to_vec();
        while !chunks.is_empty() {
            most += 1;
            let slices: Vec<_> = chunks.iter().map(|chunk| IoSlice::new(chunk)).collect();
            let written = sender.write(&slices, |slices| {
                let all: Vec<u8> = slices.iter().flat_map(|slice| slice.to_vec()).collect();
                let taken = all.len().min(most);
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
