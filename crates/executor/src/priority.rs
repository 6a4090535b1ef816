//! Priorities of CORBA, and their mapping to those of the operating system.
use core::fmt;
use std::{ops::RangeInclusive, sync::Arc};

/// The urgency of a request: the request with the *higher* number goes first. The default is 0.
///
/// Real-time CORBA calls this `RTCORBA::Priority`, and allows 0 to 32,767 ([`MIN`](Self::MIN), [`MAX`](Self::MAX)):
/// lanes and mappings to native priorities take only these. A pool without lanes and without real-time scheduling
/// orders its queue by any number.
///
/// Source: Real-time CORBA 1.2 (formal/05-01-04).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(pub i16);

impl Priority {
    /// The lowest valid priority, 0 (`RTCORBA::minPriority`).
    pub const MIN: Self = Self(0);
    /// The highest valid priority, 32,767 (`RTCORBA::maxPriority`).
    pub const MAX: Self = Self(i16::MAX);

    /// Whether the priority is valid in Real-time CORBA, where none is negative.
    #[must_use]
    pub const fn is_valid(self) -> bool {
        self.0 >= Self::MIN.0
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A priority of the operating system: 1 to 99 for SCHED_FIFO and SCHED_RR on Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NativePriority(pub i32);

impl fmt::Display for NativePriority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Maps CORBA priorities to native ones and back (`RTCORBA::PriorityMapping`, Real-time CORBA 1.2, section 5.3.3).
///
/// Both directions are monotone: a higher priority never maps to a lower one. `native` is the range of the scheduling
/// policy in use. A method may be called at any time from any thread, so it neither blocks nor takes long.
pub trait PriorityMapping: fmt::Debug + Send + Sync {
    /// Returns the native priority, or `None` if there is none for this one. A result outside of `native` counts as
    /// `None`.
    fn to_native(&self, priority: Priority, native: &RangeInclusive<i32>)
    -> Option<NativePriority>;

    /// Returns the CORBA priority, or `None` if there is none for this one.
    fn to_corba(&self, native: NativePriority, range: &RangeInclusive<i32>) -> Option<Priority>;
}

impl<M: PriorityMapping + ?Sized> PriorityMapping for Arc<M> {
    fn to_native(
        &self,
        priority: Priority,
        native: &RangeInclusive<i32>,
    ) -> Option<NativePriority> {
        (**self).to_native(priority, native)
    }

    fn to_corba(&self, native: NativePriority, range: &RangeInclusive<i32>) -> Option<Priority> {
        (**self).to_corba(native, range)
    }
}

/// Equal numbers on both sides: CORBA priority 10 is native priority 10. TAO's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectMapping;

impl PriorityMapping for DirectMapping {
    fn to_native(
        &self,
        priority: Priority,
        native: &RangeInclusive<i32>,
    ) -> Option<NativePriority> {
        let number = i32::from(priority.0);
        (priority.is_valid() && native.contains(&number)).then_some(NativePriority(number))
    }

    fn to_corba(&self, native: NativePriority, range: &RangeInclusive<i32>) -> Option<Priority> {
        let priority = Priority(i16::try_from(native.0).ok()?);
        (priority.is_valid() && range.contains(&native.0)).then_some(priority)
    }
}

/// CORBA priorities from 0 on are the native ones from the least urgent on, one for one: with native priorities from 1 to
/// 99, 0 is 1 and 98 is 99.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContinuousMapping;

impl PriorityMapping for ContinuousMapping {
    fn to_native(
        &self,
        priority: Priority,
        native: &RangeInclusive<i32>,
    ) -> Option<NativePriority> {
        let number = native.start().checked_add(i32::from(priority.0))?;
        (priority.is_valid() && native.contains(&number)).then_some(NativePriority(number))
    }

    fn to_corba(&self, native: NativePriority, range: &RangeInclusive<i32>) -> Option<Priority> {
        if !range.contains(&native.0) {
            return None;
        }
        let priority = Priority(i16::try_from(native.0.checked_sub(*range.start())?).ok()?);
        priority.is_valid().then_some(priority)
    }
}

/// All CORBA priorities, 0 to 32,767, spread evenly over the native range. The mapping that needs no knowledge of the
/// platform, and so the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinearMapping;

impl LinearMapping {
    /// Number of CORBA priorities.
    const COUNT: i64 = Priority::MAX.0 as i64 + 1;

    /// Returns the number of native priorities, at least 1; `None` for an empty range.
    fn levels(native: &RangeInclusive<i32>) -> Option<i64> {
        let levels = i64::from(*native.end()) - i64::from(*native.start()) + 1;
        (levels > 0).then_some(levels)
    }
}

impl PriorityMapping for LinearMapping {
    fn to_native(
        &self,
        priority: Priority,
        native: &RangeInclusive<i32>,
    ) -> Option<NativePriority> {
        if !priority.is_valid() {
            return None;
        }
        // Both factors are below 2^33, so the product fits.
        let level = i64::from(priority.0) * Self::levels(native)? / Self::COUNT;
        let number = i32::try_from(i64::from(*native.start()) + level).ok()?;
        Some(NativePriority(number))
    }

    /// Returns the lowest of the priorities that map to this native one.
    fn to_corba(&self, native: NativePriority, range: &RangeInclusive<i32>) -> Option<Priority> {
        if !range.contains(&native.0) {
            return None;
        }
        let levels = Self::levels(range)?;
        let level = i64::from(native.0) - i64::from(*range.start());
        let lowest = (level * Self::COUNT + levels - 1) / levels;
        // With more native priorities than CORBA has, some have no counterpart.
        let priority = Priority(i16::try_from(lowest).ok()?);
        (self.to_native(priority, range) == Some(native)).then_some(priority)
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;

    const FIFO: RangeInclusive<i32> = 1..=99;

    #[test]
    fn mappings_reach_the_ends_of_the_native_range() {
        let linear = LinearMapping;
        assert_eq!(
            linear.to_native(Priority::MIN, &FIFO),
            Some(NativePriority(1))
        );
        assert_eq!(
            linear.to_native(Priority::MAX, &FIFO),
            Some(NativePriority(99))
        );
        let continuous = ContinuousMapping;
        assert_eq!(
            continuous.to_native(Priority(0), &FIFO),
            Some(NativePriority(1))
        );
        assert_eq!(
            continuous.to_native(Priority(98), &FIFO),
            Some(NativePriority(99))
        );
        assert_eq!(continuous.to_native(Priority(99), &FIFO), None);
        let direct = DirectMapping;
        assert_eq!(direct.to_native(Priority(0), &FIFO), None);
        assert_eq!(
            direct.to_native(Priority(99), &FIFO),
            Some(NativePriority(99))
        );
        assert_eq!(direct.to_native(Priority(100), &FIFO), None);
    }

    #[test]
    fn mappings_are_monotone_and_come_back() {
        let mappings: [&dyn PriorityMapping; 3] =
            [&DirectMapping, &ContinuousMapping, &LinearMapping];
        for range in [FIFO, 0..=0, -20..=19, 1..=32_767, 0..=100_000] {
            for mapping in mappings {
                let mut highest = None;
                for priority in (0..=i16::MAX).map(Priority) {
                    let Some(native) = mapping.to_native(priority, &range) else {
                        continue;
                    };
                    assert!(range.contains(&native.0), "{mapping:?} {priority} {native}");
                    assert!(
                        highest <= Some(native),
                        "{mapping:?}: {priority} is less urgent than its predecessor"
                    );
                    highest = Some(native);
                    let back = mapping
                        .to_corba(native, &range)
                        .unwrap_or_else(|| panic!("{mapping:?} has no priority for {native}"));
                    assert_eq!(mapping.to_native(back, &range), Some(native), "{mapping:?}");
                    assert!(back <= priority, "{mapping:?}");
                }
            }
        }
    }

    #[test]
    fn negative_priorities_and_foreign_native_ones_map_to_nothing() {
        let mappings: [&dyn PriorityMapping; 3] =
            [&DirectMapping, &ContinuousMapping, &LinearMapping];
        for mapping in mappings {
            assert_eq!(mapping.to_native(Priority(-1), &FIFO), None);
            assert_eq!(mapping.to_native(Priority(i16::MIN), &FIFO), None);
            assert_eq!(mapping.to_corba(NativePriority(0), &FIFO), None);
            assert_eq!(mapping.to_corba(NativePriority(100), &FIFO), None);
            assert_eq!(mapping.to_corba(NativePriority(i32::MIN), &FIFO), None);
            assert_eq!(mapping.to_corba(NativePriority(i32::MAX), &FIFO), None);
        }
    }
}
