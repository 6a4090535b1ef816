//! What the two bench programs share: the interface, the payloads and the digest.

#![allow(dead_code, unused_imports, reason = "each program uses its part")]

/// The one interface every peer implements.
#[zorb::idl_file("benches/bench.idl")]
pub mod idl {}

pub(crate) use idl::bench::{BinStruct, Ttcp, TtcpRef, TtcpServant};
use zorb::Char;

/// The arguments of an operation, built once.
#[derive(Debug, Default)]
pub(crate) struct Payload {
    pub(crate) octets: Vec<u8>,
    pub(crate) longs: Vec<i32>,
    pub(crate) structs: Vec<BinStruct>,
    pub(crate) string: String,
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the pattern wraps, as every peer's does"
)]
impl Payload {
    /// `size` elements of what `op` sends, with the contents that every peer uses.
    pub(crate) fn new(op: &str, size: usize) -> Self {
        let mut payload = Self::default();
        if op.contains("octet") {
            payload.octets = (0..size).map(|i| i as u8).collect();
        } else if op == "long" {
            payload.longs = (0..size).map(|i| i as i32).collect();
        } else if op.contains("struct") {
            payload.structs = (0..size)
                .map(|i| BinStruct {
                    s: i as i16,
                    c: Char(b'a' + (i % 26) as u8),
                    l: i as i32,
                    o: i as u8,
                    d: i as f64,
                })
                .collect();
        } else {
            payload.string = "x".repeat(size);
        }
        payload
    }

    /// Octets of one message's arguments, counted as CDR elements; an echo is counted once.
    pub(crate) fn octets_per_call(op: &str, size: usize) -> usize {
        match op {
            _ if op.contains("noparams") => 0,
            "long" => 4 * size,
            _ if op.contains("struct") => 24 * size,
            _ => size,
        }
    }
}

const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(digest: u64, value: u64) -> u64 {
    (digest.rotate_left(5) ^ value).wrapping_mul(MULTIPLIER)
}

/// Folds every octet.
pub(crate) fn digest_octets(octets: &[u8]) -> u64 {
    let mut chunks = octets.chunks_exact(8);
    let mut digest = octets.len() as u64;
    for chunk in &mut chunks {
        let mut eight = [0; 8];
        eight.copy_from_slice(chunk);
        digest = mix(digest, u64::from_le_bytes(eight));
    }
    chunks
        .remainder()
        .iter()
        .fold(digest, |digest, octet| mix(digest, u64::from(*octet)))
}

/// Folds every long.
pub(crate) fn digest_longs(longs: &[i32]) -> u64 {
    longs.iter().fold(longs.len() as u64, |digest, long| {
        mix(digest, u64::from(long.cast_unsigned()))
    })
}

/// Folds every field of every struct.
pub(crate) fn digest_structs(structs: &[BinStruct]) -> u64 {
    structs.iter().fold(structs.len() as u64, |digest, each| {
        let small = u64::from(each.s.cast_unsigned()) << 48
            | u64::from(each.c.0) << 40
            | u64::from(each.o) << 32
            | u64::from(each.l.cast_unsigned());
        mix(mix(digest, small), each.d.to_bits())
    })
}
