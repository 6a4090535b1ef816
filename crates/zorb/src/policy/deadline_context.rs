//! The service context of a request's deadline, which states the time left.

use super::policy_values::read_ticks;
use super::untyped::duration;
use std::time::Instant;
use zorb_cdr::{Encoder, NativeEndian};
use zorb_giop::ior::encapsulate;
use zorb_giop::{ServiceContext, ServiceContextId};

/// The context of a request that is sent now. A deadline that has passed is encoded as zero, and the server refuses the
/// request.
pub(crate) fn deadline_left(deadline: Instant) -> Option<ServiceContext> {
    let left = deadline.saturating_duration_since(Instant::now());
    let write = |e: &mut Encoder<NativeEndian>| {
        e.write_u64(u64::try_from(left.as_nanos() / 100).unwrap_or(u64::MAX));
        Ok(())
    };
    Some(ServiceContext {
        id: ServiceContextId::DEADLINE,
        data: encapsulate(write).ok()?,
    })
}

/// The deadline in the context of a request that arrives now; `None` for a malformed context or a time beyond the
/// clock's range.
pub(crate) fn deadline_of(data: &[u8]) -> Option<Instant> {
    let ticks = read_ticks(data).ok()?;
    Instant::now().checked_add(duration(ticks))
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;

    #[test]
    fn a_deadline_travels_as_the_time_that_is_left() {
        let left = Duration::from_secs(3_600);
        let before = Instant::now();
        let context = deadline_left(before + left).unwrap();
        assert_eq!(context.id.name(), Some("zorb deadline"));
        let read = deadline_of(&context.data).unwrap();
        // The receiver reads the clock after the sender.
        assert!(read + Duration::from_nanos(100) >= before + left);
        let past = deadline_left(before).unwrap();
        assert!(deadline_of(&past.data).unwrap() <= Instant::now());
    }

    #[test]
    fn a_malformed_deadline_is_none() {
        for data in [&[][..], &[0], &[0, 0, 0, 0, 0, 0, 0, 0], &[1; 15]] {
            assert_eq!(deadline_of(data), None, "{data:?}");
        }
        let for_ever = [&[0; 8][..], &[0xff; 8]].concat();
        // A hundred thousand years may be beyond the clock's range, and the sum must not overflow.
        let _ = deadline_of(&for_ever);
    }
}
