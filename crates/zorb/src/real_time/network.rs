//! Priorities of packets, by differentiated services.

use core::fmt;
use zorb_executor::Priority;

/// Maps CORBA priorities to the differentiated services code points of packets, by which routers prioritise them: TAO's
/// `NetworkPriorityMapping`. Closures from a priority to an optional code point implement it.
///
/// Called when a connection is opened and when a lane listens. It must neither block nor take long.
pub trait NetworkPriorityMapping: Send + Sync {
    /// The code point, from 0 to 63 (RFC 2474, section 3). `None`, and a number out of range, keeps the transport's
    /// `dscp` property.
    fn to_network(&self, priority: Priority) -> Option<u8>;
}

impl<M: Fn(Priority) -> Option<u8> + Send + Sync> NetworkPriorityMapping for M {
    fn to_network(&self, priority: Priority) -> Option<u8> {
        self(priority)
    }
}

/// All CORBA priorities, 0 to 32,767, spread evenly over six code points, from the default to expedited forwarding: 0 (DF), 10
/// (AF11), 18 (AF21), 26 (AF31), 34 (AF41) and 46 (EF), the classes of RFC 4594, section 2.3, in the order of their precedence.
///
/// TAO's linear mapping uses 21 code points, including those of routing protocols, in another order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinearNetworkMapping;

impl LinearNetworkMapping {
    /// The code points, from the least urgent to the most urgent.
    const CODE_POINTS: [u8; 6] = [0, 10, 18, 26, 34, 46];
}

impl NetworkPriorityMapping for LinearNetworkMapping {
    fn to_network(&self, priority: Priority) -> Option<u8> {
        let number = usize::try_from(priority.0).ok()?;
        let all = usize::try_from(Priority::MAX.0).ok()?.checked_add(1)?;
        let level = number.checked_mul(Self::CODE_POINTS.len())?;
        Self::CODE_POINTS.get(level.checked_div(all)?).copied()
    }
}

/// The mapping of an ORB.
#[derive(Clone)]
pub(crate) struct NetworkMapping(pub(crate) std::sync::Arc<dyn NetworkPriorityMapping>);

impl fmt::Debug for NetworkMapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NetworkMapping")
    }
}

/// The transport property for the code point of packets.
pub(super) const CODE_POINT: &str = "dscp";

/// The largest code point: six bits.
const MAX_CODE_POINT: u8 = 63;

impl NetworkMapping {
    /// The value of the property `dscp` for sockets whose messages have this priority; `None` to keep the transport's.
    pub(crate) fn property(&self, priority: i16) -> Option<String> {
        let code_point = self.0.to_network(Priority(priority))?;
        (code_point <= MAX_CODE_POINT).then(|| code_point.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linear_mapping_reaches_both_ends_and_is_monotone() {
        let of = |priority| LinearNetworkMapping.to_network(Priority(priority));
        assert_eq!((of(0), of(5_461), of(5_462)), (Some(0), Some(0), Some(10)));
        assert_eq!((of(27_306), of(27_307)), (Some(34), Some(46)));
        assert_eq!((of(i16::MAX), of(-1)), (Some(46), None));
        let all: Vec<_> = (0..=i16::MAX).map(of).collect();
        assert!(all.is_sorted());
    }

    #[test]
    fn a_code_point_of_more_than_six_bits_is_none() {
        let mapping = NetworkMapping(std::sync::Arc::new(|priority: Priority| {
            u8::try_from(priority.0).ok()
        }));
        let of = |priority| mapping.property(priority);
        assert_eq!(
            (of(63).as_deref(), of(64), of(256)),
            (Some("63"), None, None)
        );
    }
}
