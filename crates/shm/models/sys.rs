//! A segment for loom: its words are loom's atomics, and each octet behind them is a cell that finds two accesses at a time.
#![expect(
    unsafe_code,
    reason = "loom's cells are read and written through pointers"
)]

use bytes::{BufMut, BytesMut};
use loom::cell::UnsafeCell;
use loom::sync::atomic::AtomicU32;
use std::io;

pub(crate) const HEADER: usize = 4096;
/// Octets between two words.
const APART: usize = 128;

#[derive(Debug)]
pub(crate) struct Segment {
    words: Vec<AtomicU32>,
    octets: Vec<UnsafeCell<u8>>,
}

// SAFETY: the cells are reached by `write` and `read` alone, and loom ends a model with an error in which two of these that are
// not ordered reach the same one.
unsafe impl Sync for Segment {}

impl Segment {
    pub(crate) fn new(octets: usize) -> io::Result<(Self, ())> {
        let segment = Self {
            words: (0..HEADER / APART).map(|_| AtomicU32::new(0)).collect(),
            octets: (HEADER..octets).map(|_| UnsafeCell::new(0)).collect(),
        };
        Ok((segment, ()))
    }

    pub(crate) fn word(&self, at: usize) -> &AtomicU32 {
        assert!(at.is_multiple_of(APART), "a word of the header");
        &self.words[at / APART]
    }

    pub(crate) fn write(&self, at: usize, octets: &[u8]) {
        for (cell, octet) in self.octets[at - HEADER..].iter().zip(octets) {
            // SAFETY: the pointer is that of the cell, which loom has found to be free.
            cell.with_mut(|place| unsafe { *place = *octet });
        }
    }

    pub(crate) fn read(&self, at: usize, octets: usize, to: &mut BytesMut) {
        for cell in &self.octets[at - HEADER..][..octets] {
            // SAFETY: as above.
            to.put_u8(cell.with(|place| unsafe { *place }));
        }
    }
}
