//! The policy of buffered one-way requests: TAO's `BufferingConstraintPolicy`.

use super::untyped::duration;
use core::time::Duration;
use zorb_cdr::{ByteOrder, DecodeError, Decoder, EncapsulationVisitor};
use zorb_connection::Buffering;

/// The bits of `TAO::BufferingConstraintMode`: each enables one limit.
const BUFFER_TIMEOUT: u16 = 1;
const BUFFER_MESSAGE_COUNT: u16 = 2;
const BUFFER_MESSAGE_BYTES: u16 = 4;

/// The limits within which one-way requests of [`SyncScope::None`](super::SyncScope::None) wait on their connection for
/// others: `TAO::BufferingConstraint`.
///
/// All waiting requests leave by one system call as soon as one of the limits is reached: a number of requests, a
/// number of octets, or the time since the oldest. They leave earlier with any call of another scope on their
/// connection, two-way calls included, so that all arrive in order. They also leave by
/// [`flush_one_ways`](crate::ObjectRef::flush_one_ways), when 1 MiB waits, and when the ORB shuts down. A request with
/// a constraint without limits ([`flush`](Self::flush)) leaves at once, with those before it.
///
/// The connection is made at once. Requests may have different constraints: the first limit that is reached counts.
/// Without a limit of time, requests wait until one of the other events. Collocated calls do not wait.
///
/// Source: TAO's `TAO.pidl`; the specification leaves the buffering of SYNC_NONE requests to the ORB (CORBA 3.3 part 1,
/// section 17.2.2.1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[doc(alias = "BUFFER_MESSAGE_COUNT")]
#[doc(alias = "BUFFER_MESSAGE_BYTES")]
#[doc(alias = "BUFFER_TIMEOUT")]
pub struct BufferingConstraint {
    pub(crate) messages: Option<u32>,
    pub(crate) octets: Option<u32>,
    pub(crate) time: Option<Duration>,
}

impl BufferingConstraint {
    /// A constraint without limits: requests leave at once, with all waiting ones (BUFFER_FLUSH).
    #[must_use]
    #[doc(alias = "BUFFER_FLUSH")]
    pub const fn flush() -> Self {
        Self {
            messages: None,
            octets: None,
            time: None,
        }
    }

    /// Flushes the buffer when it holds this many requests (BUFFER_MESSAGE_COUNT).
    #[must_use]
    pub const fn message_count(self, messages: u32) -> Self {
        Self {
            messages: Some(messages),
            ..self
        }
    }

    /// Flushes the buffer when it holds this many octets of requests, headers included (BUFFER_MESSAGE_BYTES).
    #[must_use]
    pub const fn message_bytes(self, octets: u32) -> Self {
        Self {
            octets: Some(octets),
            ..self
        }
    }

    /// Flushes the buffer when its oldest request has waited this long (BUFFER_TIMEOUT), to the precision of the runtime's timers.
    #[must_use]
    pub const fn timeout(self, time: Duration) -> Self {
        Self {
            time: Some(time),
            ..self
        }
    }

    /// Converts the limits for a connection's buffer.
    pub(crate) const fn limits(self) -> Buffering {
        let Self {
            messages,
            octets,
            time,
        } = self;
        Buffering {
            messages,
            octets,
            time,
        }
    }
}

/// Reads a `TAO::BufferingConstraint`; `None` for a mode that TAO does not define.
pub(super) struct ReadConstraint;

impl EncapsulationVisitor<'_> for ReadConstraint {
    type Output = Option<BufferingConstraint>;
    fn visit<O: ByteOrder>(self, d: &mut Decoder<'_, O>) -> Result<Self::Output, DecodeError> {
        let (mode, time, messages, octets): (u16, u64, u32, u32) = d.get()?;
        let known = BUFFER_TIMEOUT | BUFFER_MESSAGE_COUNT | BUFFER_MESSAGE_BYTES;
        let has = |bit| mode & bit != 0;
        Ok((mode & !known == 0).then(|| BufferingConstraint {
            messages: has(BUFFER_MESSAGE_COUNT).then_some(messages),
            octets: has(BUFFER_MESSAGE_BYTES).then_some(octets),
            time: has(BUFFER_TIMEOUT).then(|| duration(time)),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb_cdr::{NativeEndian, WireFormat};
    use zorb_giop::ior::encapsulate;

    fn read(mode: u16, octets: u32) -> Option<BufferingConstraint> {
        let value = encapsulate(|e: &mut zorb_cdr::Encoder<NativeEndian>| {
            e.write_u16(mode);
            e.write_u64(20_000_000);
            e.write_u32(7);
            e.write_u32(octets);
            Ok(())
        });
        let format = WireFormat::default();
        zorb_cdr::decode_encapsulation(&value.unwrap(), format, ReadConstraint).unwrap()
    }

    #[test]
    fn the_mode_says_which_limits_count() {
        assert_eq!(read(0, 9), Some(BufferingConstraint::flush()));
        let count = BufferingConstraint::flush().message_count(7);
        assert_eq!(read(2, 9), Some(count));
        let all = count.message_bytes(9).timeout(Duration::from_secs(2));
        assert_eq!(read(7, 9), Some(all));
        assert_eq!(read(8, 9), None);
    }
}
