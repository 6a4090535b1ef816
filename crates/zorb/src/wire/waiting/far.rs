//! Two who both sleep, and are slow to wake.

use core::time::Duration;
use zorb_executor::WaitPolicy;

/// How many times as long as a wait tries at first it may take if both sides sleep, for far tries.
const FARTHEST: u32 = 25;
/// Far tries that are no better than to sleep, or in vain, until they are given up: the other side has to notice them.
pub(super) const FAR_TRIES: u32 = 8;
/// Waits from one series of far tries to the next, at least and at most.
const FAR_APART: (u32, u32) = (64, 4096);

/// How far the tries of a wait may reach that tries for so long at first: a millisecond on a lane that has nothing else to
/// do, half of it anywhere else, where others wait meanwhile.
pub(super) fn most(limit: Duration) -> Duration {
    limit.saturating_mul(FARTHEST).min(WaitPolicy::LONGEST)
}

/// Tries as far as what was slept for last came.
///
/// Two who both sleep come as late as it takes to wake them both, however soon either answers, and what is tried for as
/// long as an answer takes finds nothing, on either side. Whoever tries for once until what is late has come lets the other
/// one see that its next answer comes sooner, and from then on neither sleeps. If none comes sooner after all, somebody
/// computes for so long: then this is worth nothing, and is tried less and less often.
#[derive(Debug, Default)]
pub(super) struct Far {
    /// How far, and how many more may be worth nothing.
    reach: Duration,
    left: u32,
    /// Waits until there may be others, and how many it were last time.
    until_next: u32,
    apart: u32,
    /// Whether the try that is being made is one.
    is_tried: bool,
}

impl Far {
    /// What was slept for came so late, of what may come at most so late.
    pub(super) fn has_slept(&mut self, slept: Duration, most: Duration) {
        self.until_next = self.until_next.saturating_sub(1);
        if slept <= most && self.until_next == 0 && self.left == 0 {
            // A little farther: it does not take the same time every time.
            self.reach = most.min(slept + slept / 4);
            self.left = FAR_TRIES;
            let (least, most) = FAR_APART;
            self.apart = self.apart.saturating_mul(2).clamp(least, most);
            self.until_next = self.apart;
        }
    }

    /// Whether the next try is a far one.
    pub(super) fn is_next(&self) -> bool {
        self.left > 0
    }

    /// Whether the one that is being made is.
    pub(super) fn is_tried(&self) -> bool {
        self.is_tried
    }

    /// How long the next try is, if it is a far one.
    pub(super) fn next(&mut self) -> Option<Duration> {
        self.is_tried = self.is_next();
        self.is_tried.then_some(self.reach)
    }

    /// Whether it was a far try that found something, as soon as things come when nobody sleeps: a series of them was
    /// worth it.
    pub(super) fn has_found(&mut self) -> bool {
        if self.is_tried {
            self.apart = 0;
            self.until_next = FAR_APART.0;
        }
        self.is_tried
    }

    /// Nothing came so soon.
    pub(super) fn has_missed(&mut self) {
        self.left -= u32::from(self.is_tried);
        self.is_tried = false;
    }
}
