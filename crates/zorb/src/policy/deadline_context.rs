//! The service context of a request's deadline, which states the time left.

use super::policy_values::{read_policies, read_ticks, read_time};
use super::untyped::{PolicyType, after_epoch, duration};
use core::time::Duration;
use std::time::{Instant, SystemTime};
use zorb_cdr::{Encoder, NativeEndian};
use zorb_giop::ior::encapsulate;
use zorb_giop::{ServiceContext, ServiceContextId};

/// The context of a request that is sent now. A deadline that has passed is encoded as zero, and the server refuses the
/// request.
pub(crate) fn deadline_left(id: ServiceContextId, deadline: Instant) -> Option<ServiceContext> {
    let left = deadline.saturating_duration_since(Instant::now());
    let write = |e: &mut Encoder<NativeEndian>| {
        e.write_u64(u64::try_from(left.as_nanos() / 100).unwrap_or(u64::MAX));
        Ok(())
    };
    let data = encapsulate(write).ok()?;
    Some(ServiceContext { id, data })
}

/// The deadline in the context of a request that arrives `now`; `None` for a malformed context or a time beyond the
/// clock's range.
pub(crate) fn deadline_of(data: &[u8], now: Instant) -> Option<Instant> {
    let ticks = read_ticks(data).ok()?;
    now.checked_add(duration(ticks))
}

/// A time that INVOCATION_POLICIES states, and a server acts on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeStated {
    RequestEnd,
    ReplyEnd,
}

/// The end times in the context INVOCATION_POLICIES of a request that arrives `now`, each later by `tolerance`, as the clocks of
/// two hosts differ. A time that has passed is `now`, and one beyond the clock's range is `None`. Nothing for a malformed
/// context.
pub(crate) fn times_of(
    data: &[u8],
    now: Instant,
    tolerance: Duration,
) -> impl Iterator<Item = (TimeStated, Option<Instant>)> {
    let time = SystemTime::now();
    let policies = read_policies(data).unwrap_or_default();
    policies.into_iter().filter_map(move |(policy, value)| {
        let stated = match PolicyType(policy) {
            PolicyType::REQUEST_END_TIME => TimeStated::RequestEnd,
            PolicyType::REPLY_END_TIME => TimeStated::ReplyEnd,
            _ => return None,
        };
        let at = after_epoch(read_time(&value).ok()?);
        let at = SystemTime::UNIX_EPOCH
            .checked_add(at)
            .and_then(|at| at.checked_add(tolerance));
        let left = at.map(|at| at.duration_since(time).unwrap_or_default());
        Some((stated, left.and_then(|left| now.checked_add(left))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::untyped::write_end_times;

    #[test]
    fn a_deadline_travels_as_the_time_that_is_left() {
        let left = Duration::from_secs(3_600);
        let before = Instant::now();
        let context = deadline_left(ServiceContextId::DEADLINE, before + left).unwrap();
        assert_eq!(context.id.name(), Some("zorb deadline"));
        let read = deadline_of(&context.data, Instant::now()).unwrap();
        // The receiver reads the clock after the sender.
        assert!(read + Duration::from_nanos(100) >= before + left);
        let past = deadline_left(ServiceContextId::DEADLINE, before).unwrap();
        assert!(deadline_of(&past.data, Instant::now()).unwrap() <= Instant::now());
    }

    #[test]
    fn a_malformed_deadline_is_none() {
        for data in [&[][..], &[0], &[0, 0, 0, 0, 0, 0, 0, 0], &[1; 15]] {
            assert_eq!(deadline_of(data, Instant::now()), None, "{data:?}");
        }
        let for_ever = [&[0; 8][..], &[0xff; 8]].concat();
        // A hundred thousand years may be beyond the clock's range, and the sum must not overflow.
        let _ = deadline_of(&for_ever, Instant::now());
    }

    #[test]
    fn an_absolute_time_is_later_by_the_tolerance_and_never_before_now() {
        let (now, time) = (Instant::now(), SystemTime::now());
        let hour = Duration::from_secs(3_600);
        let stated = |request_end: SystemTime, reply_end| {
            let context = write_end_times(Some(request_end), reply_end).unwrap();
            times_of(&context.data, now, Duration::from_secs(60)).collect::<Vec<_>>()
        };
        let times = stated(time + hour, Some(time - hour));
        let [
            (TimeStated::RequestEnd, Some(sent)),
            (TimeStated::ReplyEnd, Some(done)),
        ] = times[..]
        else {
            panic!("{times:?}");
        };
        let left = sent.duration_since(now);
        assert!(
            left > hour && left <= hour + Duration::from_secs(60),
            "{left:?}"
        );
        assert_eq!(done, now);
        // Within the tolerance.
        let times = stated(time - Duration::from_secs(30), None);
        assert!(times[0].1.unwrap() > now);
        let before_unix = stated(SystemTime::UNIX_EPOCH, None);
        assert_eq!(before_unix, [(TimeStated::RequestEnd, Some(now))]);
        for malformed in [&[][..], &[0; 3], &[0, 0, 0, 0, 0, 0, 0, 1], &[0xff; 40]] {
            assert_eq!(times_of(malformed, now, hour).count(), 0);
        }
    }
}
