//! A ring of octets in shared memory: one process puts them in, the other one takes them out.
//!
//! Each end keeps its own place in a variable of its own, and tells it to the other; it believes nothing else that the memory
//! says. The place of the other end is checked each time: an end that writes nonsense gets an error, and harms itself alone.

use crate::sys::{HEADER, Segment};
use bytes::BytesMut;
use std::io::{self, IoSlice};
use std::sync::Arc;

#[cfg(zorb_model)]
use loom::sync::atomic::{AtomicU32, Ordering, fence};
#[cfg(not(zorb_model))]
use std::sync::atomic::{AtomicU32, Ordering, fence};

/// Octets between the words of a ring, so that none shares a cache line, or a pair of them, with another.
const APART: usize = 128;
/// The words of a ring.
const WORDS: usize = 6;

/// A consumer waits for an octet on its socket.
const FOR_BELL: u32 = 1;
/// A consumer's thread waits for this word to change.
pub(crate) const FOR_WORD: u32 = 2;

/// How a consumer is woken that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// It does not wait.
    Not,
    /// By an octet on its socket.
    ByBell,
    /// By its word, which is a futex.
    ByWord,
}

/// Which of the two rings of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From the process that has connected.
    ToServer,
    /// To it.
    ToClient,
}

impl Direction {
    pub(crate) const fn back(self) -> Self {
        match self {
            Self::ToServer => Self::ToClient,
            Self::ToClient => Self::ToServer,
        }
    }

    const fn index(self) -> usize {
        match self {
            Self::ToServer => 0,
            Self::ToClient => 1,
        }
    }
}

/// Octets of a segment with two rings of this capacity.
pub(crate) const fn segment_octets(capacity: u32) -> usize {
    HEADER.saturating_add((capacity as usize).saturating_mul(2))
}

/// What both ends see.
#[derive(Debug)]
struct Ring {
    segment: Arc<Segment>,
    direction: Direction,
    /// A power of two.
    capacity: u32,
}

impl Ring {
    fn word(&self, number: usize) -> &AtomicU32 {
        let first = self.direction.index().saturating_mul(WORDS);
        let number = first.saturating_add(number);
        self.segment.word(number.saturating_mul(APART))
    }

    /// Octets that were put in, ever, modulo 2³².
    fn head(&self) -> &AtomicU32 {
        self.word(0)
    }

    /// Octets that were taken out.
    fn tail(&self) -> &AtomicU32 {
        self.word(1)
    }

    /// Whether the consumer waits for octets, and for what: the producer that sees it wakes it.
    fn reader_waits(&self) -> &AtomicU32 {
        self.word(2)
    }

    /// Whether the producer waits for room.
    fn writer_waits(&self) -> &AtomicU32 {
        self.word(3)
    }

    /// Whether no more octets will be put in.
    fn ended(&self) -> &AtomicU32 {
        self.word(4)
    }

    /// Whether no more octets will be taken out.
    fn closed(&self) -> &AtomicU32 {
        self.word(5)
    }

    /// Where the octets of these numbers lie: two places, since they may go round the end.
    fn places(&self, from: u32, octets: usize) -> [(usize, usize); 2] {
        let capacity = self.capacity as usize;
        let offset = (from & self.capacity.wrapping_sub(1)) as usize;
        let first = octets.min(capacity.saturating_sub(offset));
        let of_ring = self.direction.index().saturating_mul(capacity);
        let start = HEADER.saturating_add(of_ring);
        let rest = octets.saturating_sub(first);
        [(start.saturating_add(offset), first), (start, rest)]
    }

    /// How far `head` is in front of `tail`, if the two can be true.
    fn filled(&self, head: u32, tail: u32) -> io::Result<u32> {
        let filled = head.wrapping_sub(tail);
        if filled > self.capacity {
            let why = "the peer has written nonsense into the shared memory";
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        Ok(filled)
    }
}

/// The end that puts octets in.
#[derive(Debug)]
pub(crate) struct Producer {
    ring: Ring,
    head: u32,
    is_ended: bool,
}

impl Producer {
    pub(crate) fn new(segment: &Arc<Segment>, direction: Direction, capacity: u32) -> Self {
        let segment = Arc::clone(segment);
        let ring = Ring {
            segment,
            direction,
            capacity,
        };
        Self {
            ring,
            head: 0,
            is_ended: false,
        }
    }

    fn room(&self) -> io::Result<u32> {
        let tail = self.ring.tail().load(Ordering::Acquire);
        let filled = self.ring.filled(self.head, tail)?;
        Ok(self.ring.capacity.wrapping_sub(filled))
    }

    /// Puts in as many octets as there is room for, and returns how many.
    pub(crate) fn push(&mut self, chunks: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut room = self.room()? as usize;
        let mut head = self.head;
        for chunk in chunks {
            let octets = chunk.get(..room).unwrap_or(chunk);
            let [(first, length), (second, _)] = self.ring.places(head, octets.len());
            let (before, behind) = octets.split_at(length);
            self.ring.segment.write(first, before);
            if !behind.is_empty() {
                self.ring.segment.write(second, behind);
            }
            room = room.saturating_sub(octets.len());
            head = head.wrapping_add(number(octets.len()));
            if room == 0 {
                break;
            }
        }
        let pushed = head.wrapping_sub(self.head);
        self.head = head;
        self.ring.head().store(head, Ordering::Release);
        Ok(pushed as usize)
    }

    /// Whether the consumer waits, and how it is to be woken: once for each wait.
    pub(crate) fn wakes(&self) -> Wake {
        // Octets are seen before the question is asked; the consumer does it the other way round.
        fence(Ordering::SeqCst);
        let waits = self.ring.reader_waits();
        if waits.load(Ordering::Relaxed) == 0 {
            return Wake::Not;
        }
        match waits.swap(0, Ordering::Relaxed) {
            0 => Wake::Not,
            FOR_BELL => Wake::ByBell,
            _ => Wake::ByWord,
        }
    }

    /// The word of the consumer.
    pub(crate) fn word(&self) -> &AtomicU32 {
        self.ring.reader_waits()
    }

    /// Whether a write is worth while: half of the ring is free, or the consumer takes nothing any more.
    pub(crate) fn is_writable(&self) -> io::Result<bool> {
        Ok(self.room()? >= self.ring.capacity / 2 || self.is_closed_by_peer())
    }

    /// Says that the producer waits for room. Look again afterwards.
    pub(crate) fn wait(&self) {
        self.ring.writer_waits().store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    pub(crate) fn end(&mut self) {
        self.is_ended = true;
        self.ring.ended().store(1, Ordering::Release);
    }

    /// Whether nothing can be put in any more: here, or since the peer takes nothing out.
    pub(crate) fn is_over(&self) -> bool {
        self.is_ended || self.is_closed_by_peer()
    }

    pub(crate) fn is_closed_by_peer(&self) -> bool {
        self.ring.closed().load(Ordering::Acquire) != 0
    }
}

/// The end that takes octets out.
#[derive(Debug)]
pub(crate) struct Consumer {
    ring: Ring,
    tail: u32,
}

impl Consumer {
    pub(crate) fn new(segment: &Arc<Segment>, direction: Direction, capacity: u32) -> Self {
        let Producer { ring, .. } = Producer::new(segment, direction, capacity);
        Self { ring, tail: 0 }
    }

    fn filled(&self) -> io::Result<u32> {
        let head = self.ring.head().load(Ordering::Acquire);
        self.ring.filled(head, self.tail)
    }

    pub(crate) fn is_empty(&self) -> io::Result<bool> {
        Ok(self.filled()? == 0)
    }

    /// Takes out as many octets as there is room for in `to`, and returns how many.
    pub(crate) fn take(&mut self, to: &mut BytesMut) -> io::Result<usize> {
        let room = to.spare_capacity_mut().len();
        let octets = (self.filled()? as usize).min(room);
        if octets == 0 {
            return Ok(0);
        }
        for (at, octets) in self.ring.places(self.tail, octets) {
            if octets > 0 {
                self.ring.segment.read(at, octets, to);
            }
        }
        self.tail = self.tail.wrapping_add(number(octets));
        self.ring.tail().store(self.tail, Ordering::Release);
        Ok(octets)
    }

    /// Whether the producer waits for the room that there is now, and is to be woken: once for each wait.
    pub(crate) fn takes_bell(&self) -> bool {
        fence(Ordering::SeqCst);
        let waits = self.ring.writer_waits();
        if waits.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let filled = self.filled().unwrap_or(0);
        filled <= self.ring.capacity / 2 && waits.swap(0, Ordering::Relaxed) != 0
    }

    /// Says that the consumer waits for a bell. Look again afterwards.
    pub(crate) fn wait(&self) {
        self.ring.reader_waits().store(FOR_BELL, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// Says that the consumer's thread waits for its word to be another than [`FOR_WORD`]. Look again afterwards.
    pub(crate) fn wait_for_word(&self) -> &AtomicU32 {
        let word = self.ring.reader_waits();
        word.store(FOR_WORD, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        word
    }

    /// Takes that back.
    pub(crate) fn look_elsewhere(&self) {
        self.ring.reader_waits().store(0, Ordering::Relaxed);
    }

    pub(crate) fn close(&self) {
        self.ring.closed().store(1, Ordering::Release);
    }

    /// Whether the producer has said that nothing more comes. What it put in before is seen by then.
    pub(crate) fn is_ended_by_peer(&self) -> bool {
        self.ring.ended().load(Ordering::Acquire) != 0
    }
}

/// Takes back the wait of a consumer, whoever uses it just now, and returns its word. What was written before is seen by a
/// consumer that looks after it has said that it waits.
pub(crate) fn stop_waiting(segment: &Segment, direction: Direction) -> &AtomicU32 {
    let first = direction.index().saturating_mul(WORDS);
    let word = segment.word(first.saturating_add(2).saturating_mul(APART));
    fence(Ordering::SeqCst);
    word.store(0, Ordering::Relaxed);
    word
}

/// Octets of one step: never more than a capacity, which is a `u32`.
fn number(octets: usize) -> u32 {
    u32::try_from(octets).unwrap_or(u32::MAX)
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ends(capacity: u32) -> (Producer, Consumer) {
        let (segment, _) = Segment::new(segment_octets(capacity)).unwrap();
        let segment = Arc::new(segment);
        let direction = Direction::ToClient;
        (
            Producer::new(&segment, direction, capacity),
            Consumer::new(&segment, direction, capacity),
        )
    }

    /// Miri takes a thousand times as long.
    const STEPS: usize = if cfg!(miri) { 4 } else { 60 };

    proptest! {
        #[test]
        fn octets_come_out_as_they_went_in(
            start in any::<u32>(),
            steps in prop::collection::vec((0..9_000_usize, 1..9_000_usize), 1..STEPS),
        ) {
            let (mut producer, mut consumer) = ends(4096);
            // Numbers go round, wherever they begin.
            (producer.head, consumer.tail) = (start, start);
            producer.ring.head().store(start, Ordering::Relaxed);
            producer.ring.tail().store(start, Ordering::Relaxed);
            let (mut sent, mut received) = (0_usize, 0_usize);
            for (write, read) in steps {
                let octets: Vec<u8> = (sent..sent + write).map(|n| n as u8).collect();
                let (one, two) = octets.split_at(write / 3);
                sent += producer.push(&[IoSlice::new(one), IoSlice::new(two)]).unwrap();
                let mut taken = BytesMut::with_capacity(read);
                let octets = consumer.take(&mut taken).unwrap();
                prop_assert_eq!(octets, taken.len());
                for octet in taken {
                    prop_assert_eq!(octet, received as u8);
                    received += 1;
                }
                prop_assert!(sent - received <= 4096);
            }
        }

        #[test]
        fn whatever_a_peer_writes_is_an_error_or_octets(words in prop::collection::vec((0..12_usize, any::<u32>()), 1..STEPS)) {
            let (mut producer, mut consumer) = ends(4096);
            for (number, value) in words {
                producer.ring.segment.word(number * APART).store(value, Ordering::Relaxed);
                let pushed = producer.push(&[IoSlice::new(&[7; 5000])]);
                prop_assert!(pushed.map_or(true, |octets| octets <= 4096));
                let mut taken = BytesMut::with_capacity(5000);
                let octets = consumer.take(&mut taken);
                prop_assert!(octets.map_or(true, |octets| octets <= 4096));
                let _ = (producer.is_writable(), producer.wakes(), consumer.takes_bell());
            }
        }
    }

    #[test]
    fn threads_pass_megabytes_through_a_small_ring() {
        const TOTAL: usize = if cfg!(miri) { 12 << 10 } else { 1 << 20 };
        let (mut producer, mut consumer) = ends(4096);
        let writer = std::thread::spawn(move || {
            let mut sent = 0;
            while sent < TOTAL {
                let octets: Vec<u8> = (sent..TOTAL.min(sent + 999))
                    .map(|n| (n / 7) as u8)
                    .collect();
                sent += producer.push(&[IoSlice::new(&octets)]).unwrap();
                std::thread::yield_now();
            }
        });
        let mut all = BytesMut::with_capacity(TOTAL);
        while all.len() < TOTAL {
            consumer.take(&mut all).unwrap();
        }
        writer.join().unwrap();
        assert!(
            all.iter()
                .enumerate()
                .all(|(n, &octet)| octet == (n / 7) as u8)
        );
    }
}
