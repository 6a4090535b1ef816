//! What the bench programs share: the interface, the payloads, and what a servant makes of them.

#![allow(dead_code, unused_imports, reason = "each program uses its part")]

/// The one interface every peer implements.
#[zorb::idl_file("benches/bench.idl")]
pub mod idl {}

pub(crate) use idl::bench::{BinStruct, Ttcp, TtcpRef, TtcpServant};
use zorb::Char;
use zorb_floor::digest;
pub(crate) use zorb_floor::digest::{longs as digest_longs, octets as digest_octets};

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

    /// What a servant folds for one call with it.
    pub(crate) fn digest(&self, op: &str) -> u64 {
        match op {
            _ if op.contains("noparams") => 1,
            _ if op.contains("octet") => digest_octets(&self.octets),
            "long" => digest_longs(&self.longs),
            _ if op.contains("struct") => digest_structs(&self.structs),
            _ => digest_octets(self.string.as_bytes()),
        }
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

/// Folds every field of every struct.
pub(crate) fn digest_structs(structs: &[BinStruct]) -> u64 {
    structs.iter().fold(structs.len() as u64, |sum, each| {
        let one = digest::bin_struct(each.s, each.c.0, each.l, each.o, each.d);
        sum.wrapping_add(one)
    })
}
