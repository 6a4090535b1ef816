//! Marks of where a call's time goes, in a ring for each thread, with the feature `probes`; without it they are no
//! code.
//!
//! `probe!(Bound)` marks the end of the step before it. Without the feature it expands to nothing, so the hot path has
//! no further instruction. With the feature it reads the clock and stores two words in a ring, which the thread has
//! since its first mark: no lock, no allocation, no system call. Calls must be made one after the other, so that a
//! reader of the rings separates them by their first step.

/// The step that a mark ends, in the order of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "readers of the rings name each step"
)]
pub enum Point {
    /// Client: the stub is entered; the first step begins.
    Called,
    /// Client: the call's own state is made.
    Initialised,
    /// Client: the reference's connection is found.
    Bound,
    /// Client: the request's header is written.
    Headed,
    /// Client: the arguments are encoded.
    Marshalled,
    /// Client: the message is whole.
    RequestSealed,
    /// Both: the transport begins to write.
    Writing,
    /// Both: the transport has written.
    Written,
    /// Both: the transport has read octets. The wait for them is before this.
    Read,
    /// Both: a message is cut out of the octets that were read.
    Framed,
    /// Client: the reply is matched to its call, and passed to the caller.
    Matched,
    /// Client: the result is read, and the call over.
    Returned,
    /// Server: the request's header is read.
    HeaderRead,
    /// Server: the object key is parsed.
    KeyParsed,
    /// Server: the adapter is found.
    AdapterFound,
    /// Server: the servant is found.
    ServantFound,
    /// Server: the request is admitted, and is passed to the skeleton next.
    Admitted,
    /// Server: the operation is found.
    OperationFound,
    /// Server: the arguments are read.
    Demarshalled,
    /// Server: the servant has returned.
    Upcalled,
    /// Server: the reply is whole.
    ReplySealed,
}

impl Point {
    /// All points, by their numbers.
    #[cfg(feature = "probes")]
    pub const ALL: [Self; 21] = [
        Self::Called,
        Self::Initialised,
        Self::Bound,
        Self::Headed,
        Self::Marshalled,
        Self::RequestSealed,
        Self::Writing,
        Self::Written,
        Self::Read,
        Self::Framed,
        Self::Matched,
        Self::Returned,
        Self::HeaderRead,
        Self::KeyParsed,
        Self::AdapterFound,
        Self::ServantFound,
        Self::Admitted,
        Self::OperationFound,
        Self::Demarshalled,
        Self::Upcalled,
        Self::ReplySealed,
    ];
}

/// A step that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing else to say")]
pub struct Mark {
    /// Nanoseconds since the first mark of the process.
    pub at: u64,
    /// The step that has ended.
    pub point: Point,
}

/// Marks the end of a step: see [`probe`](crate::probe).
#[cfg(feature = "probes")]
#[doc(hidden)]
#[macro_export]
macro_rules! probe {
    ($point:ident) => {
        $crate::probe::mark($crate::probe::Point::$point)
    };
}

/// Expands to nothing, without the feature `probes`.
#[cfg(not(feature = "probes"))]
#[doc(hidden)]
#[macro_export]
macro_rules! probe {
    ($point:ident) => {};
}

/// The macro expands to nothing: a mark would not compile in a constant.
#[cfg(not(feature = "probes"))]
const _: () = {
    crate::probe!(Called);
};

#[cfg(feature = "probes")]
pub use ring::{MARKS, cost, mark, take};

#[cfg(feature = "probes")]
#[expect(clippy::disallowed_methods, reason = "probes read the clock")]
mod ring {
    use super::{Mark, Point};
    use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
    use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
    use std::time::Instant;

    /// Marks that a thread's ring holds: a thousand calls of a dozen each, and a power of two.
    pub const MARKS: usize = 1 << 14;

    /// Written by one thread, read by any: the last eight bits are the point, the others nanoseconds.
    struct Ring {
        marks: Box<[AtomicU64]>,
        /// Marks ever written.
        next: AtomicUsize,
    }

    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    static RINGS: Mutex<Vec<Arc<Ring>>> = Mutex::new(Vec::new());

    thread_local! {
        static RING: Arc<Ring> = {
            let ring = Arc::new(Ring {
                marks: (0..MARKS).map(|_| AtomicU64::new(0)).collect(),
                next: AtomicUsize::new(0),
            });
            rings().push(Arc::clone(&ring));
            ring
        };
    }

    fn rings() -> MutexGuard<'static, Vec<Arc<Ring>>> {
        RINGS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the end of the step.
    pub fn mark(point: Point) {
        // A mark of a thread that is ending is dropped.
        let _ = RING.try_with(|ring| {
            let nanoseconds = u64::try_from(BEGIN.elapsed().as_nanos()).unwrap_or(u64::MAX);
            let next = ring.next.load(Ordering::Relaxed);
            if let Some(place) = ring.marks.get(next % MARKS) {
                place.store(nanoseconds << 8 | u64::from(point as u8), Ordering::Relaxed);
            }
            ring.next.store(next.wrapping_add(1), Ordering::Release);
        });
    }

    /// Takes the marks of all threads since the last call, in order of time. It must be called while no call is under
    /// way. A full ring overwrites its oldest marks.
    #[must_use]
    pub fn take() -> Vec<Mark> {
        let mut all = Vec::new();
        for ring in rings().iter() {
            let next = ring.next.load(Ordering::Acquire).min(MARKS);
            for place in ring.marks.iter().take(next) {
                let word = place.load(Ordering::Relaxed);
                let at = word >> 8;
                let number = usize::from(word.to_le_bytes()[0]);
                all.extend(Point::ALL.get(number).map(|&point| Mark { at, point }));
            }
            ring.next.store(0, Ordering::Relaxed);
        }
        // The sort is stable, so marks of one thread stay in order where the clock stood still.
        all.sort_by_key(|mark| mark.at);
        all
    }

    /// Returns the nanoseconds that a mark takes, by which every step appears longer: the median of many.
    #[must_use]
    pub fn cost() -> f64 {
        const BATCH: u32 = 100;
        let mut all: Vec<f64> = (0..200)
            .map(|_| {
                let start = Instant::now();
                (0..BATCH).for_each(|_| mark(Point::Called));
                start.elapsed().as_secs_f64() * 1e9 / f64::from(BATCH)
            })
            .collect();
        all.sort_unstable_by(f64::total_cmp);
        // Drops the marks of the calibration.
        drop(take());
        all.get(all.len() / 2).copied().unwrap_or(0.0)
    }
}
