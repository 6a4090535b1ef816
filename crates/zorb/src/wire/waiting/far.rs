//! Two who both sleep, and are slow to wake.

use core::time::Duration;
use zorb_executor::WaitPolicy;

/// How many times as long as a wait tries at first it may take if both sides sleep, for far tries.
const FARTHEST: u32 = 25;
/// Far tries that are no better than to sleep, or in vain, until they are given up: the other side has to notice them.
const FAR_TRIES: u32 = 8;
/// Waits before the first series of them: many connections do not last longer.
const BEFORE_FIRST: u32 = 16;
/// Waits from one series of far tries to the next, at least and at most.
const FAR_APART: (u32, u32) = (64, 4096);
/// Finds in a row after which a series was worth it: who computes for long now and then answers soon in between.
const FINDS: u32 = 8;

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
#[derive(Debug)]
pub(super) struct Far {
    /// How far, and how many more may be worth nothing.
    reach: Duration,
    left: u32,
    /// Waits until there may be others, and how many it were last time.
    until_next: u32,
    apart: u32,
    /// Whether the try that is being made is one, and how many in a row found something.
    is_tried: bool,
    found: u32,
}

impl Far {
    pub(super) const fn new() -> Self {
        Self {
            reach: Duration::ZERO,
            left: 0,
            until_next: BEFORE_FIRST,
            apart: 0,
            is_tried: false,
            found: 0,
        }
    }

    /// A wait was slept through.
    pub(super) fn has_slept(&mut self) {
        self.until_next = self.until_next.saturating_sub(1);
    }

    /// What it was slept for came so late, of what may come at most so late, and nothing shorter may find the next.
    pub(super) fn may_reach(&mut self, slept: Duration, most: Duration) {
        if slept <= most && self.until_next == 0 && self.left == 0 {
            // A little farther: it does not take the same time every time.
            self.reach = most.min(slept + slept / 4);
            self.left = FAR_TRIES;
            self.found = 0;
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
    pub(super) fn reach(&self) -> Option<Duration> {
        self.is_next().then_some(self.reach)
    }

    /// As [`reach`](Self::reach), of the try that is made now.
    pub(super) fn begins(&mut self) -> Option<Duration> {
        self.is_tried = self.is_next();
        self.reach()
    }

    /// The try that is made now is none of these.
    pub(super) fn is_passed(&mut self) {
        self.is_tried = false;
    }

    /// Whether it was a far try that found something, as soon as things come when nobody sleeps.
    pub(super) fn has_found(&mut self) -> bool {
        let was_tried = self.is_tried;
        if was_tried {
            self.is_tried = false;
            self.found += 1;
            if self.found == FINDS {
                self.apart = 0;
                self.until_next = FAR_APART.0;
                self.left = 0;
            }
        }
        was_tried
    }

    /// Nothing came so soon.
    pub(super) fn has_missed(&mut self) {
        if self.is_tried {
            self.is_tried = false;
            self.found = 0;
            self.left -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: Duration = Duration::from_micros(300);

    /// Sleeps until the next try is a far one: how many waits that took.
    fn slept_through(far: &mut Far) -> u32 {
        let mut waits = 0;
        while far.begins().is_none() {
            far.has_slept();
            far.may_reach(SLOW, most(WaitPolicy::SHARED));
            waits += 1;
        }
        waits
    }

    #[test]
    fn what_is_worth_nothing_is_tried_less_and_less_often() {
        let mut far = Far::new();
        for waits in [BEFORE_FIRST, 64, 128, 256, 512, 1024, 2048, 4096, 4096] {
            assert_eq!(slept_through(&mut far), waits);
            for _ in 0..FAR_TRIES {
                assert!(far.begins() > Some(SLOW));
                far.has_missed();
            }
            assert_eq!(far.begins(), None);
        }
    }

    #[test]
    fn what_finds_the_other_one_awake_does_so_as_soon_again_each_time() {
        let mut far = Far::new();
        for waits in [BEFORE_FIRST, 64, 64, 64] {
            assert_eq!(slept_through(&mut far), waits);
            for _ in 0..FINDS {
                assert!(far.begins().is_some());
                assert!(far.has_found());
            }
            assert_eq!(far.begins(), None);
            assert!(!far.has_found());
        }
    }

    #[test]
    fn what_comes_later_than_anybody_may_be_kept_waiting_for_is_not_reached() {
        let mut far = Far::new();
        for limit in [WaitPolicy::SHARED, WaitPolicy::DEDICATED] {
            assert!(most(limit) <= WaitPolicy::LONGEST);
            for _ in 0..100 {
                far.has_slept();
                far.may_reach(most(limit) + Duration::from_nanos(1), most(limit));
            }
            assert_eq!(far.begins(), None);
        }
    }
}
