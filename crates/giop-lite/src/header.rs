//! The two forms of a message header, and the translation between them. Sans I/O.

use std::io;
use zorb_giop::{HEADER_LEN, MessageHeader, Version};

/// Octets of a header of GIOPlite.
pub(super) const LITE_HEADER_LEN: usize = 5;
/// The difference in octets between a long and a short header.
pub(super) const MORE: usize = HEADER_LEN - LITE_HEADER_LEN;

const KIND: u8 = 0b111;
const MINOR_SHIFT: u32 = 3;
const MINOR: u8 = 0b11;
const FLAGS_SHIFT: u32 = 5;
const FLAGS: u8 = 0b11;
const LITTLE_ENDIAN: u8 = 1 << FLAGS_SHIFT;
const RESERVED: u8 = 1 << 7;

/// The header of GIOP, and that of GIOPlite.
pub(super) type Header = [u8; HEADER_LEN];
pub(super) type Short = [u8; LITE_HEADER_LEN];

#[inline(always)]
pub(super) fn shortened(header: &Header) -> io::Result<(Short, u32)> {
    let [g, i, o, p, major, minor, flags, kind, ..] = *header;
    let is_plain = [g, i, o, p] == *b"GIOP"
        && [major, minor] == [1, Version::HIGHEST.minor]
        && flags <= FLAGS
        && kind <= KIND;
    if !is_plain {
        return shortened_by_parsing(header);
    }
    Ok(short_of(header))
}

/// The short form of a header of an earlier version, whose flags may differ in GIOP 1.0, and the error of octets that are no
/// header.
#[cold]
fn shortened_by_parsing(header: &Header) -> io::Result<(Short, u32)> {
    let read = MessageHeader::parse(header).map_err(io::Error::other)?;
    Ok(short_of(&read.to_octets()))
}

#[inline]
fn short_of(header: &Header) -> (Short, u32) {
    let [.., minor, flags, kind, s0, s1, s2, s3] = *header;
    let rest = kind | minor << MINOR_SHIFT | flags << FLAGS_SHIFT;
    ([s0, s1, s2, s3, rest], size([s0, s1, s2, s3], rest))
}

#[inline(always)]
pub(super) fn lengthened(short: &Short) -> io::Result<(Header, u32)> {
    let [s0, s1, s2, s3, rest] = *short;
    let minor = rest >> MINOR_SHIFT & MINOR;
    if rest & RESERVED != 0 || minor > Version::HIGHEST.minor {
        return Err(not_lite());
    }
    let [flags, kind] = [rest >> FLAGS_SHIFT & FLAGS, rest & KIND];
    let [g, i, o, p] = *b"GIOP";
    let header = [g, i, o, p, 1, minor, flags, kind, s0, s1, s2, s3];
    Ok((header, size([s0, s1, s2, s3], rest)))
}

#[cold]
fn not_lite() -> io::Error {
    let what = "expected a header of GIOPlite";
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[inline]
fn size(octets: [u8; 4], rest: u8) -> u32 {
    match rest & LITTLE_ENDIAN {
        0 => u32::from_be_bytes(octets),
        _ => u32::from_le_bytes(octets),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_the_same_again_if_giop_reads_it() {
        for minor in 0..=3 {
            for flags in 0..=u8::MAX {
                for kind in 0..=8 {
                    let header = [b'G', b'I', b'O', b'P', 1, minor, flags, kind, 0, 1, 0, 0];
                    let Ok(read) = MessageHeader::parse(&header) else {
                        assert!(shortened(&header).is_err());
                        continue;
                    };
                    let (short, size) = shortened(&header).unwrap();
                    assert_eq!(size, read.size);
                    let (again, size) = lengthened(&short).unwrap();
                    assert_eq!(size, read.size);
                    assert_eq!(MessageHeader::parse(&again).unwrap(), read);
                }
            }
        }
        assert!(shortened(b"GIOQ\x01\x02\x01\0\0\0\0\0").is_err());
        assert!(shortened(b"GIOP\x02\x02\x01\0\0\0\0\0").is_err());
    }
}
