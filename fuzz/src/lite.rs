//! GIOPlite's headers: what the other end sends is passed on as far as it is GIOPlite, however it is cut, and what is
//! written as GIOPlite is read as the GIOP that it was made of.

use bytes::BytesMut;
use shorten::{Lengthener, Shortener};
use std::io::{self, ErrorKind, IoSlice};

#[path = "../../crates/giop-lite/src/header.rs"]
mod header;
#[path = "../../crates/giop-lite/src/shorten.rs"]
mod shorten;

/// Takes the first octet for how the others are cut, and those for what comes in and for what goes out.
pub fn run(data: &[u8]) {
    let Some((cut, octets)) = data.split_first() else {
        return;
    };
    let (piece, room) = (1 + usize::from(cut & 0xf), 1 << (cut >> 4));
    let whole = lengthened(octets, octets.len().max(1), 1 << 16);
    assert_eq!(lengthened(octets, piece, room), whole, "however it is cut");
    if let Some(short) = shortened(octets, piece) {
        let (long, error) = lengthened(&short, piece, room);
        assert_eq!(error, None, "what was written is read");
        // The last message may have begun without its header's end. Reserved flags are lost.
        assert!(long.len() <= octets.len() && octets.len() - long.len() < 12);
        assert_eq!(shortened(&long, piece), Some(short));
    }
}

/// The octets that are passed on of such pieces, into such buffers, and why they end before the pieces do.
fn lengthened(octets: &[u8], piece: usize, room: usize) -> (Vec<u8>, Option<ErrorKind>) {
    let mut lengthener = Lengthener::default();
    let mut out = Vec::new();
    for piece in octets.chunks(piece) {
        let mut rest = piece;
        loop {
            let mut to = BytesMut::with_capacity(room);
            let read = lengthener.read(&mut to, |to| receive(&mut rest, to));
            out.extend_from_slice(&to);
            match read {
                Ok(octets) => assert!(octets > 0 && octets == to.len()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    assert!(to.is_empty() && rest.is_empty() && lengthener.waits());
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

/// The octets that are written for these in such chunks, while the transport takes one more octet of each write than of
/// the one before. `None` if they are not messages.
fn shortened(octets: &[u8], chunk: usize) -> Option<Vec<u8>> {
    let (mut shortener, mut out) = (Shortener::default(), Vec::new());
    let (mut at, mut most) = (0, 0);
    while at < octets.len() {
        most += 1;
        let chunks: Vec<_> = octets[at..].chunks(chunk).map(IoSlice::new).collect();
        let written = shortener.write(&chunks, |slices| {
            let all: Vec<u8> = slices.iter().flat_map(|slice| slice.to_vec()).collect();
            let taken = all.len().min(most);
            out.extend_from_slice(&all[..taken]);
            Ok(taken)
        });
        match written {
            Ok(written) => {
                assert!(written > 0 && at + written <= octets.len());
                at += written;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return None,
        }
    }
    Some(out)
}
