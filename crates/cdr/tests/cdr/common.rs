//! Support that the tests share.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "every test file takes what it needs"
)]

use bytes::Bytes;
use zorb_cdr::{
    BigEndian, ByteOrder, CharSet, Decode, DecodeError, DecodeErrorKind, Decoder, Encode,
    EncodeError, Encoder, Frame, LittleEndian, WCharSet, WireFormat,
};

/// GIOP 1.2, UTF-8, UTF-16.
pub fn modern() -> WireFormat {
    WireFormat::default()
}

pub fn latin1() -> WireFormat {
    WireFormat {
        char_set: CharSet::Latin1,
        ..modern()
    }
}

pub fn minor(minor: u8) -> WireFormat {
    WireFormat { minor, ..modern() }
}

pub fn narrow() -> WireFormat {
    WireFormat {
        wchar_set: WCharSet::None,
        ..modern()
    }
}

/// The octets of a value that starts at index `start`, without what is before it.
pub fn encode_at<O: ByteOrder>(
    value: &(impl Encode + ?Sized),
    start: usize,
    format: WireFormat,
) -> Result<Vec<u8>, EncodeError> {
    let mut e = Encoder::<O>::new(format);
    e.append(&vec![0xee; start]);
    e.put(value)?;
    Ok(e.finish().to_vec().split_off(start))
}

pub fn big(value: &(impl Encode + ?Sized)) -> Vec<u8> {
    encode_at::<BigEndian>(value, 0, modern()).unwrap()
}

pub fn little(value: &(impl Encode + ?Sized)) -> Vec<u8> {
    encode_at::<LittleEndian>(value, 0, modern()).unwrap()
}

pub fn decode<'de, O: ByteOrder, T: Decode<'de>>(
    octets: &'de [u8],
    format: WireFormat,
) -> Result<T, DecodeError> {
    Decoder::<O>::from_slice(octets, format).get()
}

/// The error of reading big-endian octets in the usual format.
pub fn fault<T: for<'de> Decode<'de>>(octets: &[u8]) -> (DecodeErrorKind, usize) {
    fault_in::<T>(octets, modern())
}

pub fn fault_in<T: for<'de> Decode<'de>>(
    octets: &[u8],
    format: WireFormat,
) -> (DecodeErrorKind, usize) {
    match decode::<BigEndian, T>(octets, format) {
        Ok(_) => panic!("{octets:02x?} was accepted"),
        Err(e) => (e.kind(), e.offset()),
    }
}

/// Writes the body of one fragment.
pub type Part<'a, O> = &'a dyn Fn(&mut Encoder<O>);
pub type BoxedPart<'a, O> = Box<dyn Fn(&mut Encoder<O>) + 'a>;

/// A frame of GIOP 1.1 fragments: the body encoded by `parts`, each of which starts a fragment (at index 12).
/// The first is behind a header.
pub fn fragmented<O: ByteOrder>(parts: &[Part<'_, O>]) -> Frame {
    let mut octets = Vec::new();
    let mut starts = Vec::new();
    for (n, part) in parts.iter().enumerate() {
        let mut e = Encoder::<O>::new(minor(1));
        e.append(&[0xee; 12]);
        part(&mut e);
        let message = e.finish().to_vec();
        if n == 0 {
            octets = message;
        } else {
            starts.push(octets.len());
            octets.extend_from_slice(&message[12..]);
        }
    }
    Frame::with_fragment_starts(Bytes::from(octets), starts.into())
}
