//! The one call of a connection that is in no table, and what the reactor has told, in one word.
//!
//! ```text
//!  63                       32 31                        1  0
//!  ┌──────────────────────────┬────────────────────────────┬──────┐
//!  │ how often it has told    │ request id, which is even  │ over │   all ones below: there is no such call
//!  └──────────────────────────┴────────────────────────────┴──────┘
//! ```
//!
//! Everything here changes under the lock of the connection's state, but for one step: who has read the reply to its call says
//! that this is [over](Sole::is_heard), and takes no lock for that. It says so only if the reactor has told nothing since it
//! was asked to listen behind the reply; both in one step, so there is an order of the two. If the call is over first, the
//! reactor [finds](Sole::tell) that, and wakes the driver and not a caller that has gone; else the caller finds that the
//! reactor has told of something, and looks at that.
//!
//! `tests/models` drives this very file under loom.

use super::sync::{AtomicU64, Ordering};
use zorb_giop::RequestId;

/// In the place of an id that is over or not: none.
const NONE: u64 = NEWS - 1;
const OVER: u64 = 1;
/// What the reactor tells once counts so much.
const NEWS: u64 = 1 << 32;

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Sole(AtomicU64);

/// Whether there is such a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Is {
    /// No.
    None,
    /// It has no reply yet.
    Under(RequestId),
    /// It has its reply, and the reactor has told nothing since it was asked to listen behind that.
    Over(RequestId),
}

impl Is {
    #[inline(always)]
    fn of(word: u64) -> Self {
        // The lower half.
        let id = word as u32;
        match (word & NONE, word & OVER) {
            (NONE, _) => Self::None,
            (_, 0) => Self::Under(RequestId(id)),
            _ => Self::Over(RequestId(id & !(OVER as u32))),
        }
    }
}

/// The word with this id in it, under way.
#[inline(always)]
fn with(news: u32, id: RequestId) -> u64 {
    u64::from(news) << 32 | u64::from(id.0)
}

impl Sole {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(NONE))
    }

    /// To be asked under the lock.
    #[inline(always)]
    pub(crate) fn is(&self) -> Is {
        // Acquired: what was done before it was over, the reactor asked.
        Is::of(self.0.load(Ordering::Acquire))
    }

    /// How often the reactor has told of something.
    #[inline(always)]
    pub(crate) fn news(&self) -> u32 {
        (self.0.load(Ordering::Relaxed) >> 32) as u32
    }

    /// Under the lock: this call is under way from now on, and none is before. How often the reactor has told until now.
    #[inline(always)]
    pub(crate) fn begin(&self, id: RequestId) -> u32 {
        // Nobody changes it without the lock while none is under way.
        let news = self.news();
        self.0.store(with(news, id), Ordering::Relaxed);
        news
    }

    /// Without the lock: the call has its reply, unless it is not this one any more that is under way, or the reactor has
    /// told of something `since` it was asked to listen. Whether that is so.
    #[inline(always)]
    pub(crate) fn is_heard(&self, since: u32, id: RequestId) -> bool {
        let now = with(since, id);
        self.0
            // Released: that the reactor was asked.
            .compare_exchange(now, now | OVER, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    /// Under the lock: the reactor tells of something. What there was by then; nothing is there any more of what was over.
    #[inline(always)]
    pub(crate) fn tell(&self) -> Is {
        let was = Is::of(self.0.fetch_add(NEWS, Ordering::AcqRel));
        if let Is::Over(_) = was {
            self.take();
        }
        was
    }

    /// Under the lock: nothing is there any more. What there was.
    pub(crate) fn take(&self) -> Is {
        Is::of(self.0.fetch_or(NONE, Ordering::AcqRel))
    }
}
