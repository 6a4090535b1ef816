//! The memory that the decoders of several messages share, and the time that decoding may take.

use std::{
    any::Any as StdAny,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
};
use zorb_cdr::{
    BigEndian, Context, DecodeError, DecodeErrorKind as Kind, Decoder, EncapsulationVisitor,
    Encoder, Limits, MemoryBudget, WireFormat,
};

#[derive(Default)]
struct Budget {
    limit: usize,
    taken: AtomicUsize,
}

impl MemoryBudget for Budget {
    fn take(&self, octets: usize) -> bool {
        let fits = |taken: usize| Some(taken + octets).filter(|taken| *taken <= self.limit);
        let taken = &self.taken;
        (taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits)).is_ok()
    }

    fn give_back(&self, octets: usize) {
        self.taken.fetch_sub(octets, Ordering::Relaxed);
    }
}

struct Orb {
    budget: Arc<Budget>,
    /// How often it may be asked before it is late.
    patience: AtomicU32,
}

impl Orb {
    fn with(limit: usize, patience: u32) -> Self {
        Self {
            budget: Arc::new(Budget {
                limit,
                ..Budget::default()
            }),
            patience: AtomicU32::new(patience),
        }
    }

    fn taken(&self) -> usize {
        self.budget.taken.load(Ordering::Relaxed)
    }
}

impl Context for Orb {
    fn as_any(&self) -> &(dyn StdAny + Send + Sync) {
        self
    }

    fn memory_budget(&self) -> Option<Arc<dyn MemoryBudget>> {
        Some(Arc::clone(&self.budget) as Arc<dyn MemoryBudget>)
    }

    fn is_late(&self) -> bool {
        let left = |patience: u32| patience.checked_sub(1);
        let patience = &self.patience;
        (patience.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left)).is_err()
    }
}

/// A sequence of empty strings, which take six times as much memory as octets.
fn strings(count: usize) -> Vec<u8> {
    let mut e = Encoder::<BigEndian>::new(WireFormat::default());
    e.write_count(count).unwrap();
    (0..count).for_each(|_| e.write_u32(0));
    e.finish().to_vec()
}

fn decode(octets: &[u8], orb: &Orb) -> Result<usize, DecodeError> {
    let d = Decoder::<BigEndian>::from_slice(octets, WireFormat::default());
    let mut d = d.with_context(orb);
    let read: Vec<String> = d.get()?;
    let taken = orb.taken();
    let reservation = d.take_reservation();
    drop(d);
    assert_eq!(orb.taken(), taken, "it is kept with the values");
    assert_eq!(reservation.as_ref().map_or(0, |it| it.octets()), taken);
    drop(read);
    Ok(taken)
}

#[test]
fn memory_is_taken_from_what_messages_share_and_goes_back_with_the_values() {
    let orb = Orb::with(1 << 20, u32::MAX);
    let few = Limits::UNSHARED_MEMORY / size_of::<String>();
    for (count, takes) in [(few, false), (few + 1, true), (20_000, true)] {
        let taken = decode(&strings(count), &orb).unwrap();
        let needed = count * size_of::<String>();
        assert_eq!(taken > 0, takes, "{count}");
        assert!(!takes || (needed..needed + (128 << 10)).contains(&(taken + (8 << 10))));
        assert_eq!(orb.taken(), 0);
    }
    let error = decode(&strings(50_000), &orb).unwrap_err();
    assert!(
        matches!(error.kind(), Kind::NoSharedMemory { .. }),
        "{error}"
    );
    assert_eq!(orb.taken(), 0);
}

#[test]
fn what_an_encapsulation_takes_is_the_messages() {
    struct Strings;
    impl<'de> EncapsulationVisitor<'de> for Strings {
        type Output = Vec<String>;
        fn visit<O: zorb_cdr::ByteOrder>(
            self,
            d: &mut Decoder<'de, O>,
        ) -> Result<Vec<String>, DecodeError> {
            d.get()
        }
    }
    let mut e = Encoder::<BigEndian>::new(WireFormat::default());
    for _ in 0..2 {
        e.encapsulation(|e| {
            e.write_count(10_000)?;
            (0..10_000).for_each(|_| e.write_u32(0));
            Ok(())
        })
        .unwrap();
    }
    let octets = e.finish().to_vec();
    let orb = Orb::with(1 << 20, u32::MAX);
    let d = Decoder::<BigEndian>::from_slice(&octets, WireFormat::default());
    let mut d = d.with_context(&orb);
    for read in 1..=2 {
        d.encapsulation(Strings).unwrap();
        let needed = read * 10_000 * size_of::<String>() - Limits::UNSHARED_MEMORY;
        assert!(orb.taken() >= needed, "{} of {needed}", orb.taken());
    }
    drop(d);
    assert_eq!(orb.taken(), 0);
}

#[test]
fn decoding_ends_when_it_is_late() {
    // Asked once in some thousand elements, it is late at the third time.
    let orb = Orb::with(usize::MAX, 2);
    let error = decode(&strings(100_000), &orb).unwrap_err();
    assert_eq!(error.kind(), Kind::Late);
    assert!(error.offset() < 100_000, "at octet {}", error.offset());
    // A short message is decoded without looking.
    assert!(decode(&strings(100), &orb).is_ok());
}
