//! The arguments of an operation.

use crate::common::idl::bench::BinStruct;
use crate::common::in_memory;
use crate::digests;
use crate::structs::structs;
use zorb_floor::digest;

/// The arguments of an operation, built once.
#[derive(Debug, Default)]
pub(crate) struct Payload {
    pub(crate) octets: Vec<u8>,
    pub(crate) longs: Vec<i32>,
    pub(crate) structs: Vec<BinStruct>,
    /// The same, as native programs have them.
    pub(crate) in_memory: Vec<in_memory::bench::BinStruct>,
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
            payload.structs = structs(size);
            let all = payload.structs.iter();
            payload.in_memory = all
                .map(|one| in_memory::bench::BinStruct {
                    s: one.s,
                    c: one.c,
                    l: one.l,
                    o: one.o,
                    d: one.d,
                })
                .collect();
        } else {
            payload.string = "x".repeat(size);
        }
        payload
    }

    /// The digest that a servant adds for one call with it.
    pub(crate) fn digest(&self, op: &str) -> u64 {
        match op {
            _ if op.contains("noparams") => 1,
            _ if op.contains("octet") => digest::octets(&self.octets),
            "long" => digest::longs(&self.longs),
            _ if op.contains("struct") => digests::of_structs(&self.structs),
            _ => digest::octets(self.string.as_bytes()),
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
