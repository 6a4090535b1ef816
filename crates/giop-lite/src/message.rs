//! Messages that are whole in one write or read, as most are. They are translated without the state that
//! [`Shortener`](super::shorten::Shortener) and [`Lengthener`](super::shorten::Lengthener) keep for streams that are cut
//! anywhere.

use super::header::{lengthened, shortened};
use arrayvec::ArrayVec;
use zorb_giop::HEADER_LEN;

/// Messages of up to this many octets are copied behind the short header, so that they leave as one slice: two slices
/// cost the kernel more than the copy.
const MAX_COPIED: usize = HEADER_LEN + 256;

/// The short form of a short message.
pub(super) type ShortMessage = ArrayVec<u8, MAX_COPIED>;

/// Puts the short form of octets that are one whole message into `place`, which is empty. Returns whether they are, and
/// fit.
#[inline(always)]
pub(super) fn shorten_message(octets: &[u8], place: &mut ShortMessage) -> bool {
    let Some((header, body)) = octets.split_first_chunk() else {
        return false;
    };
    if octets.len() > MAX_COPIED {
        return false;
    }
    match shortened(header) {
        Ok((short, size)) if usize::try_from(size) == Ok(body.len()) => {
            place.try_extend_from_slice(&short).is_ok() && place.try_extend_from_slice(body).is_ok()
        }
        _ => false,
    }
}

/// Writes the long header of a message in place. `octets` are [`MORE`](super::header::MORE) octets of room, and the
/// message with its short header behind them. Returns whether that was one whole message; otherwise the octets are unchanged.
#[inline(always)]
pub(super) fn lengthen_message(octets: &mut [u8]) -> bool {
    let Some((front, body)) = octets.split_first_chunk_mut::<HEADER_LEN>() else {
        return false;
    };
    let [.., s0, s1, s2, s3, rest] = *front;
    match lengthened(&[s0, s1, s2, s3, rest]) {
        Ok((header, size)) if usize::try_from(size) == Ok(body.len()) => *front = header,
        _ => return false,
    }
    true
}

#[cfg(test)]
mod tests {
    use super::super::header::MORE;
    use super::*;

    #[test]
    fn only_a_whole_message_is_translated_at_once() {
        let message = b"GIOP\x01\x02\x01\x00\x04\0\0\0body";
        let shorten = |octets: &[u8]| {
            let mut place = ShortMessage::new();
            shorten_message(octets, &mut place).then_some(place)
        };
        let short = shorten(message).unwrap();
        assert_eq!(short.as_slice(), b"\x04\0\0\0\x30body");
        assert!(shorten(&message[..15]).is_none());
        assert!(shorten(&message.repeat(2)).is_none());
        let mut long = b"GIOP\x01\x02\x01\x00\x01\x01\0\0".to_vec();
        long.resize(HEADER_LEN + 257, 0);
        assert!(shorten(&long).is_none());

        let received = [&[0; MORE][..], &short].concat();
        for (end, more, is_whole) in [
            (15, 0, false),
            (11, 0, false),
            (16, 0, true),
            (16, 1, false),
        ] {
            let mut octets = [&received[..end], &vec![7; more]].concat();
            let before = octets.clone();
            assert_eq!(lengthen_message(&mut octets), is_whole);
            assert_eq!(octets, if is_whole { message.to_vec() } else { before });
        }
    }
}
