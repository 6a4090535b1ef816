//! The promise about memory: what octets are decoded to takes a small multiple of them.

use crate::counting::{held_since, hold_from_here};
use zorb_cdr::Limits;

/// Octets that a message of none may be decoded to. The default would hide what a fuzzer can reach in its few kilobytes.
const LEAST: usize = 4 << 10;

/// Octets of memory per octet that are not counted by the decoder: text, octets and numbers. A wide character of two
/// octets may take three, in text that has grown to twice its size.
const NOT_COUNTED: usize = 3;

/// Octets of memory per octet that are needed only while values (of value types) are read, of which each is remembered.
const MEANWHILE: usize = 64;

/// Octets that are needed meanwhile whatever is read: the first buffer of an any, stacks of values and so on.
const LEAST_MEANWHILE: usize = 16 << 10;

/// The limits that the promise is about.
pub(crate) fn limits() -> Limits {
    Limits::default().with_least_memory(LEAST)
}

/// Runs `decode`, which decodes from `len` octets with [`limits`].
pub(crate) fn measured<R>(len: usize, decode: impl FnOnce() -> R) -> R {
    let before = hold_from_here();
    let result = decode();
    let memory = held_since(before);
    let most = len * (Limits::MEMORY + NOT_COUNTED) + LEAST;
    assert!(
        memory.live <= most,
        "{} octets of memory are held for {len}",
        memory.live
    );
    assert!(
        memory.peak <= most + len * MEANWHILE + LEAST_MEANWHILE,
        "{} octets of memory are taken for {len}",
        memory.peak
    );
    result
}
