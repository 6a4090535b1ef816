//! The retransmission timeout: the wait for an acknowledgement before a frame is sent again, estimated as in RFC 6298.
use std::time::Duration;

use super::Config;

/// The estimate of the retransmission timeout.
#[derive(Debug)]
pub(super) struct RetransmissionTimeout {
    /// Mean and mean deviation of the round trips, once there was one.
    measured: Option<(Duration, Duration)>,
    /// Expirations since the last new acknowledgement; each doubles the timeout.
    expirations: u32,
}

impl RetransmissionTimeout {
    pub(super) const fn new() -> Self {
        Self {
            measured: None,
            expirations: 0,
        }
    }

    /// Returns the present timeout.
    pub(super) fn current(&self, config: &Config) -> Duration {
        let once = match self.measured {
            None => config.initial_retransmission_timeout,
            // The other end may delay its acknowledgement.
            Some((mean, deviation)) => mean
                .saturating_add(deviation.saturating_mul(4))
                .saturating_add(config.acknowledgement_delay)
                .max(config.min_retransmission_timeout),
        };
        let doubled = once.saturating_mul(1 << self.expirations.min(10));
        doubled.min(config.max_retransmission_timeout.max(once))
    }

    /// Takes a measured round trip into the estimate.
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

    /// Notes that the timeout has expired.
    pub(super) fn expired(&mut self) {
        self.expirations = self.expirations.saturating_add(1);
    }

    /// Notes a new acknowledgement: the timeout is no longer doubled.
    pub(super) fn reset(&mut self) {
        self.expirations = 0;
    }
}

fn part(of: Duration, by: u32) -> Duration {
    of.checked_div(by).unwrap_or_default()
}
