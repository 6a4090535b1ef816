//! Who reads a connection: one word, and its transitions.
//!
//! ```text
//!             claim                    release_to                   readable
//!   DRIVER ────────────►┌────────┐────────────────────► REACTOR ─────────────► DRIVER
//!   TIMER  ────────────►│ HOLDER │────────────────────► REACTOR(id) ─────────► CALLER(id)
//!   REACTOR … ─────────►│        │────────────────────► TIMER
//!   CALLER(id) ────────►└────────┘────────────────────► CALLER(id), DRIVER
//!                         │    ▲
//!         claim, readable ▼    │ release_to: the holder looks again
//!                       contended
//! ```
//!
//! | reader | who finds the next octets |
//! |---|---|
//! | `Driver` | the driver, which has been woken |
//! | `Timer` | the next caller; the driver looks from time to time, as the reactor does not watch |
//! | `Reactor` | the reactor, which wakes a caller that waits alone, else the driver |
//! | `Caller` | the caller that was woken, or yields to other tasks |
//! | `Holder` | the holder of the lease, within one poll or one blocking call |
//!
//! The holder of the lease reads for every caller. A caller that finds the lease held parks, once its waker is in the table,
//! and leaves the lease *contended*: the holder looks at the table again before it releases. The reactor does the same when
//! octets come while the lease is held. So the release, which names the next reader, is the only place where a wake-up could
//! be lost, and it fails then.
//!
//! Orderings: claim and release are `AcqRel` on the one word. The holder that looks again sees the waker that a parked
//! caller has recorded.

use super::sync::{self, AtomicU64, Mutex, Ordering};
use core::fmt;
use core::task::Waker;
use std::sync::PoisonError;
use zorb_giop::RequestId;

/// Who reads a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CurrentReader {
    /// The driver, which has been woken.
    Driver,
    /// None before the next call: the reactor does not watch, and the driver looks by a timer.
    Timer,
    /// The reactor watches. It wakes this caller, or the driver.
    Reactor(Option<RequestId>),
    /// This caller, which has been woken to read.
    Caller(RequestId),
    /// The holder of the lease. `contended`: it has to look again before it releases the lease. `timed`: it reads without the
    /// reactor, and the driver looks by a timer meanwhile.
    Holder { contended: bool, timed: bool },
}

/// The kinds of readers, in the low bits of the word; the id of the caller is its upper half.
const DRIVER: u64 = 0;
const TIMER: u64 = 1;
const REACTOR: u64 = 2;
const REACTOR_FOR_CALLER: u64 = 3;
const CALLER: u64 = 4;
const HOLDER: u64 = 5;
const KIND: u64 = 7;
/// The flags of a holder.
const CONTENDED: u64 = 8;
const TIMED: u64 = 16;
const ID_SHIFT: u32 = 32;

impl CurrentReader {
    #[inline(always)]
    fn encode(self) -> u64 {
        let of = |kind: u64, id: RequestId| kind | u64::from(id.0) << ID_SHIFT;
        match self {
            Self::Driver => DRIVER,
            Self::Timer => TIMER,
            Self::Reactor(None) => REACTOR,
            Self::Reactor(Some(id)) => of(REACTOR_FOR_CALLER, id),
            Self::Caller(id) => of(CALLER, id),
            Self::Holder { contended, timed } => {
                let flag = |is_set: bool, flag: u64| if is_set { flag } else { 0 };
                HOLDER | flag(contended, CONTENDED) | flag(timed, TIMED)
            }
        }
    }

    #[inline(always)]
    fn decode(word: u64) -> Self {
        let [.., a, b, c, d] = (word >> ID_SHIFT).to_be_bytes();
        let id = RequestId(u32::from_be_bytes([a, b, c, d]));
        match word & KIND {
            DRIVER => Self::Driver,
            TIMER => Self::Timer,
            REACTOR => Self::Reactor(None),
            REACTOR_FOR_CALLER => Self::Reactor(Some(id)),
            CALLER => Self::Caller(id),
            _ => Self::Holder {
                contended: word & CONTENDED != 0,
                timed: word & TIMED != 0,
            },
        }
    }
}

/// The one to be woken for octets that have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readable {
    /// This caller reads next.
    Caller(RequestId),
    /// The driver reads next.
    Driver,
    /// The holder of the lease looks again.
    Holder,
}

/// The right to read a connection, which one reader at a time holds, and the state that goes with it.
///
/// Claiming the lease never blocks, and its holder releases it before its poll returns: a future that kept it between two
/// polls would stop every other reader.
pub(crate) struct ReadLease<T> {
    word: AtomicU64,
    /// Locked by the holder only, so never waited for.
    value: Mutex<T>,
    /// Wakes the driver when the lease is dropped, for instance by a panic.
    driver: Waker,
}

impl<T> ReadLease<T> {
    /// A lease that the driver has to claim first.
    pub(crate) fn new(value: T, driver: Waker) -> Self {
        Self {
            word: AtomicU64::new(CurrentReader::Driver.encode()),
            value: Mutex::new(value),
            driver,
        }
    }

    #[inline(always)]
    pub(crate) fn current(&self) -> CurrentReader {
        CurrentReader::decode(self.word.load(Ordering::Acquire))
    }

    /// Whether a reader holds the lease.
    pub(crate) fn is_held(&self) -> bool {
        matches!(self.current(), CurrentReader::Holder { .. })
    }

    /// Whether the reactor does not watch, so that the driver looks by a timer.
    #[inline]
    pub(crate) fn is_timed(&self) -> bool {
        let current = self.current();
        matches!(
            current,
            CurrentReader::Timer | CurrentReader::Holder { timed: true, .. }
        )
    }

    /// Moves to the reader that `next` makes of the present one. Returns the reader before.
    #[inline]
    fn update(&self, next: impl Fn(CurrentReader) -> CurrentReader) -> CurrentReader {
        CurrentReader::decode(self.exchange(|word| next(CurrentReader::decode(word)).encode()))
    }

    /// The same in words.
    #[inline(always)]
    fn exchange(&self, next: impl Fn(u64) -> u64) -> u64 {
        let mut word = sync::newest(&self.word);
        // Exchanged even for the same value: a load may return a reader that is none any more.
        loop {
            let next = next(word);
            match (self.word).compare_exchange(word, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return word,
                Err(now) => word = now,
            }
        }
    }

    /// The lease, or `None` while another reader holds it; that reader then looks again before it releases the lease.
    #[inline]
    pub(crate) fn claim(&self) -> Option<Lease<'_, T>> {
        // Acquire: this reader sees what the last holder did. Release: the holder sees what this reader has recorded.
        let before = self.exchange(|word| match word & KIND {
            HOLDER => word | CONTENDED,
            TIMER => HOLDER | TIMED,
            _ => HOLDER,
        });
        match CurrentReader::decode(before) {
            CurrentReader::Holder { .. } => None,
            before => Some(Lease {
                lease: self,
                before,
            }),
        }
    }

    /// The lease, if this caller was woken to read, and no one has read since.
    #[inline]
    pub(crate) fn claim_for(&self, id: RequestId) -> Option<Lease<'_, T>> {
        let before = CurrentReader::Caller(id);
        (self.word)
            .compare_exchange(before.encode(), HOLDER, Ordering::AcqRel, Ordering::Acquire)
            .ok()?;
        Some(Lease {
            lease: self,
            before,
        })
    }

    /// Leaves the wait for octets to the reactor, if it watches: it wakes the `leader`, a caller that waits alone and has its
    /// waker in the table, else the driver. Returns `false` if it does not watch.
    #[inline]
    pub(crate) fn rely_on_reactor(&self, leader: Option<RequestId>) -> bool {
        let next = CurrentReader::Reactor(leader).encode();
        let mut word = self.word.load(Ordering::Acquire);
        while matches!(word & KIND, REACTOR | REACTOR_FOR_CALLER) {
            // Exchanged even for the same value: a load may return a reader that is none any more.
            match (self.word).compare_exchange(word, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Notes that octets have come: the reactor watches no longer.
    #[inline]
    pub(crate) fn readable(&self) -> Readable {
        let mut word = sync::newest(&self.word);
        loop {
            let (next, readable) = match CurrentReader::decode(word) {
                CurrentReader::Reactor(Some(id)) => {
                    (CurrentReader::Caller(id).encode(), Readable::Caller(id))
                }
                CurrentReader::Reactor(None) => (DRIVER, Readable::Driver),
                CurrentReader::Holder { .. } => (word | CONTENDED, Readable::Holder),
                CurrentReader::Driver | CurrentReader::Timer | CurrentReader::Caller(_) => {
                    (word, Readable::Driver)
                }
            };
            match (self.word).compare_exchange(word, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return readable,
                Err(now) => word = now,
            }
        }
    }

    /// Notes that a caller no longer waits. Returns whether the driver has to be woken in its place.
    #[must_use]
    pub(crate) fn resign(&self, id: RequestId) -> bool {
        let before = self.update(|current| match current {
            CurrentReader::Reactor(Some(leader)) if leader == id => CurrentReader::Reactor(None),
            CurrentReader::Caller(caller) if caller == id => CurrentReader::Driver,
            other => other,
        });
        before == CurrentReader::Caller(id)
    }

    /// Notes that the holder reads without the reactor. Returns whether the driver has to be woken, to look by a timer.
    #[must_use]
    pub(crate) fn holder_reads_without_reactor(&self) -> bool {
        // Only the holder sets it.
        !self.is_timed() && {
            let before = self.exchange(|word| match word & KIND {
                HOLDER => word | TIMED,
                _ => word,
            });
            before & KIND == HOLDER
        }
    }
}

impl<T> fmt::Debug for ReadLease<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReadLease").field(&self.current()).finish()
    }
}

/// The lease while it is held. Dropping it leaves the reading to the driver.
pub(crate) struct Lease<'a, T> {
    lease: &'a ReadLease<T>,
    /// The reader before the holder.
    before: CurrentReader,
}

impl<T> Lease<'_, T> {
    /// The reader before this one.
    pub(crate) const fn before(&self) -> CurrentReader {
        self.before
    }

    #[inline(always)]
    pub(crate) fn with<R>(&mut self, run: impl FnOnce(&mut T) -> R) -> R {
        let mut value = (self.lease.value.lock()).unwrap_or_else(PoisonError::into_inner);
        run(&mut value)
    }

    /// Releases the lease to the next reader, which the holder has still to wake if it is the driver or a caller. A contended
    /// lease stays with its holder, which has to look again.
    #[inline]
    pub(crate) fn release_to(self, next: CurrentReader) -> Option<Self> {
        let next = next.encode();
        // Acquire: the holder sees what the other reader recorded before it asked.
        let before = self.lease.exchange(|word| match word & CONTENDED {
            0 => next,
            _ => word & !CONTENDED,
        });
        if before & CONTENDED != 0 {
            return Some(self);
        }
        core::mem::forget(self);
        None
    }
}

impl<T> Drop for Lease<'_, T> {
    fn drop(&mut self) {
        let driver = CurrentReader::Driver.encode();
        self.lease.word.swap(driver, Ordering::AcqRel);
        self.lease.driver.wake_by_ref();
    }
}
