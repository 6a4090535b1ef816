//! How long an end waits for an acknowledgement before it sends again (the estimate of RFC 6298).
use std::time::Duration;

use super::Config;

#[derive(Debug)]
pub(super) struct Patience {
    /// Mean and mean deviation of the round trips, once there was one.
    measured: Option<(Duration, Duration)>,
    /// How often the wait has passed without news.
    passed: u32,
}

impl Patience {
    pub(super) const fn new() -> Self {
        Self {
            measured: None,
            passed: 0,
        }
    }

    pub(super) fn now(&self, config: &Config) -> Duration {
        let once = match self.measured {
            None => config.first_patience,
            // The other end may delay its acknowledgement.
            Some((mean, deviation)) => mean
                .saturating_add(deviation.saturating_mul(4))
                .saturating_add(config.acknowledgement_delay)
                .max(config.least_patience),
        };
        let doubled = once.saturating_mul(1 << self.passed.min(10));
        doubled.min(config.most_patience.max(once))
    }

    pub(super) fn measure(&mut self, round_trip: Duration) {
        self.measured = Some(match self.measured {
            None => (round_trip, part(round_trip, 2)),
            Some((mean, deviation)) => {
                let away = mean.abs_diff(round_trip);
                (
                    part(mean.saturating_mul(7).saturating_add(round_trip), 8),
                    part(deviation.saturating_mul(3).saturating_add(away), 4),
                )
            }
        });
    }

    pub(super) fn passed(&mut self) {
        self.passed = self.passed.saturating_add(1);
    }

    pub(super) fn news(&mut self) {
        self.passed = 0;
    }
}

fn part(of: Duration, by: u32) -> Duration {
    of.checked_div(by).unwrap_or_default()
}
