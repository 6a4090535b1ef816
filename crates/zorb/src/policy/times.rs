//! Start and end times of requests and replies: a call evaluates them once, at its beginning.

use super::overrides::{Levels, PolicyOverrides};
use super::untyped::PolicyType;
use core::time::Duration;
use std::time::{Instant, SystemTime};
use zorb_giop::{CompletionStatus, Fault, SystemException};

/// A point in time that a call waits for, or by which a step has to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) at: Instant,
    /// The time from the beginning of the call.
    pub(crate) after: Duration,
}

/// The times at which a call may send its request and deliver its reply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TimeLimits {
    pub(crate) request_start: Option<Limit>,
    pub(crate) request_end: Option<Limit>,
    pub(crate) reply_start: Option<Limit>,
    pub(crate) reply_end: Option<Limit>,
}

impl TimeLimits {
    /// The limits of a call that begins now.
    ///
    /// # Errors
    /// INV_POLICY if a start is not before its end.
    pub(crate) fn of(levels: &Levels<'_>) -> Result<Self, SystemException> {
        Self::at(levels, Instant::now(), SystemTime::now())
    }

    fn at(levels: &Levels<'_>, now: Instant, time: SystemTime) -> Result<Self, SystemException> {
        let get = |policy: fn(&PolicyOverrides) -> Option<SystemTime>| levels.get(policy);
        let request_start = get(|policies| policies.request_start);
        let request_end = get(|policies| policies.request_end);
        let reply_start = get(|policies| policies.reply_start);
        let reply_end = get(|policies| policies.reply_end);
        if let Some([start, end]) = conflict(levels) {
            let why = format!("{start} and {end} leave no time in between");
            return Err(Fault::PolicyConflict(why).raise(CompletionStatus::No));
        }
        let left = |until: SystemTime| until.duration_since(time).unwrap_or_default();
        // A start in the past has no effect; one beyond the clock's range is a hundred years off.
        let start = |at: Option<SystemTime>| {
            let after = at.map(left).filter(|left| !left.is_zero())?.min(NEVER);
            let at = now.checked_add(after)?;
            Some(Limit { at, after })
        };
        let limit = |relative: Option<Duration>, absolute: Option<SystemTime>| {
            let after = relative.into_iter().chain(absolute.map(left)).min()?;
            // A limit beyond the clock's range never passes.
            let at = now.checked_add(after)?;
            Some(Limit { at, after })
        };
        Ok(Self {
            request_start: start(request_start),
            request_end: limit(levels.get(|policies| policies.request_timeout), request_end),
            reply_start: start(reply_start),
            reply_end: limit(
                levels.get(|policies| policies.round_trip_timeout),
                reply_end,
            ),
        })
    }

    /// These limits within the deadline of the request whose servant calls: the earlier end of the reply holds.
    pub(crate) fn within(self, deadline: Option<Instant>) -> Self {
        let inherited = deadline.map(|at| Limit {
            at,
            after: at.saturating_duration_since(Instant::now()),
        });
        let ends = self.reply_end.into_iter().chain(inherited);
        Self {
            reply_end: ends.min_by_key(|limit| limit.at),
            ..self
        }
    }

    /// Whether no limit is set.
    pub(crate) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// The earlier end, of the request if both are equal.
    pub(crate) fn first(&self) -> Option<Limit> {
        let limits = self.request_end.into_iter().chain(self.reply_end);
        limits.min_by_key(|limit| limit.at)
    }
}

/// The types of a start time and an end time that conflict: the start is not before the end.
pub(crate) fn conflict(levels: &Levels<'_>) -> Option<[PolicyType; 2]> {
    let get = |policy: fn(&PolicyOverrides) -> Option<SystemTime>| levels.get(policy);
    let request_start = get(|policies| policies.request_start);
    let request_end = get(|policies| policies.request_end);
    let reply_start = get(|policies| policies.reply_start);
    let reply_end = get(|policies| policies.reply_end);
    let [sends, sent] = [PolicyType::REQUEST_START_TIME, PolicyType::REQUEST_END_TIME];
    let [from, until] = [PolicyType::REPLY_START_TIME, PolicyType::REPLY_END_TIME];
    [
        (request_start, request_end, [sends, sent]),
        (request_start, reply_end, [sends, until]),
        (reply_start, reply_end, [from, until]),
    ]
    .into_iter()
    .find(|(start, end, _)| matches!((start, end), (Some(start), Some(end)) if start >= end))
    .map(|(_, _, types)| types)
}

/// A hundred years, for a start that the clock cannot express.
const NEVER: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use zorb_giop::SystemExceptionKind as Kind;

    fn limits(policies: &PolicyOverrides) -> Result<TimeLimits, SystemException> {
        let (now, time) = (Instant::now(), SystemTime::UNIX_EPOCH + AT);
        let levels = Levels {
            object: Some(policies),
            task: None,
            orb: arc_swap::Guard::from_inner(Arc::default()),
        };
        TimeLimits::at(&levels, now, time)
    }

    const AT: Duration = Duration::from_secs(1_000);

    fn time(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn of_a_relative_and_an_absolute_limit_the_earlier_one_counts() {
        let policies = PolicyOverrides::new()
            .relative_round_trip_timeout(Duration::from_secs(30))
            .reply_end_time(time(1_010));
        let seconds = |policies: &PolicyOverrides| {
            limits(policies)
                .unwrap()
                .reply_end
                .map(|limit| limit.after.as_secs())
        };
        assert_eq!(seconds(&policies), Some(10));
        let earlier = policies
            .clone()
            .relative_round_trip_timeout(Duration::from_secs(3));
        assert_eq!(seconds(&earlier), Some(3));
        assert_eq!(seconds(&policies.reply_end_time(time(999))), Some(0));
        let for_ever = PolicyOverrides::new().relative_round_trip_timeout(Duration::MAX);
        assert!(limits(&for_ever).unwrap().is_none());
    }

    #[test]
    fn a_start_behind_its_end_is_a_conflict_and_one_in_the_past_is_none() {
        let policies = PolicyOverrides::new().request_start_time(time(900));
        assert!(limits(&policies).unwrap().is_none());
        let policies = policies.request_start_time(time(1_005));
        let limits_of = limits(&policies).unwrap();
        assert!(limits_of.request_start.is_some() && limits_of.first().is_none());
        for conflict in [
            policies.clone().request_end_time(time(1_005)),
            policies.clone().reply_end_time(time(1_001)),
            policies.reply_start_time(time(5)).reply_end_time(time(5)),
        ] {
            let error = limits(&conflict).unwrap_err();
            assert_eq!(error.kind, Kind::InvPolicy, "{error}");
        }
    }
}
