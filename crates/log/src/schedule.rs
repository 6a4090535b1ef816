//! When a log is on duty: its interval and its week mask, in UTC.

use crate::ds_log_admin::{
    InvalidMask, InvalidTime, InvalidTimeInterval, SATURDAY, Time24, TimeInterval, WeekMaskItem,
    log::SetWeekMaskError,
};
use std::time::{SystemTime, UNIX_EPOCH};
use zorb::{SystemException, SystemExceptionKind};

/// Intervals of a week mask.
pub(crate) const MAX_INTERVALS: usize = 1_000;
/// Units of 100 ns in a second.
pub(crate) const UNITS_OF_A_SECOND: u64 = 10_000_000;
/// Units of 100 ns between 15 October 1582 and 1970.
const UNITS_BEFORE_1970: u64 = 0x01b2_1dd2_1381_4000;
const MINUTES_OF_A_DAY: u64 = 24 * 60;
/// All days of a week.
const ALL_DAYS: u16 = (SATURDAY << 1) - 1;

/// Now, in units of 100 ns since 15 October 1582.
pub(crate) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let units = now.map_or(0, |now| {
        u64::try_from(now.as_nanos() / 100).unwrap_or(u64::MAX)
    });
    units.saturating_add(UNITS_BEFORE_1970)
}

/// Why a week mask is none.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum WrongMask {
    Days,
    Time,
    Interval,
    TooLong,
}

/// An interval is open at its end where that is 0.
pub(crate) fn check_interval(interval: &TimeInterval) -> Result<(), InvalidTimeInterval> {
    match interval.stop == 0 || interval.start < interval.stop {
        true => Ok(()),
        false => Err(InvalidTimeInterval {}),
    }
}

fn minute(time: &Time24) -> Result<u64, WrongMask> {
    match time.hour < 24 && time.minute < 60 {
        true => Ok(u64::from(time.hour) * 60 + u64::from(time.minute)),
        false => Err(WrongMask::Time),
    }
}

/// The minutes of a day that an item of a mask names, the last one included: without intervals all of them.
fn minutes(item: &WeekMaskItem) -> Result<Vec<(u64, u64)>, WrongMask> {
    if item.intervals.is_empty() {
        return Ok(vec![(0, MINUTES_OF_A_DAY - 1)]);
    }
    let intervals = item.intervals.iter();
    intervals
        .map(|interval| {
            let (start, stop) = (minute(&interval.start)?, minute(&interval.stop)?);
            match start < stop {
                true => Ok((start, stop)),
                false => Err(WrongMask::Interval),
            }
        })
        .collect()
}

fn has_day(item: &WeekMaskItem, day: u64) -> bool {
    item.days >> day & 1 == 1
}

/// Checks that days and times are such, and that the intervals of no day overlap.
pub(crate) fn check_mask(mask: &[WeekMaskItem]) -> Result<(), WrongMask> {
    let count = |item: &WeekMaskItem| item.intervals.len().max(1);
    let count = mask.iter().map(count).fold(0, usize::saturating_add);
    if count > MAX_INTERVALS {
        return Err(WrongMask::TooLong);
    }
    let mut all = Vec::new();
    for item in mask {
        if item.days == 0 || item.days & !ALL_DAYS != 0 {
            return Err(WrongMask::Days);
        }
        for (start, stop) in minutes(item)? {
            let days = (0..7).filter(|day| has_day(item, *day));
            all.extend(days.map(|day| (day, start, stop)));
        }
    }
    all.sort_unstable();
    let overlap = all.windows(2).any(|pair| match pair {
        [(day, _, stop), (next_day, next_start, _)] => day == next_day && next_start < stop,
        _ => false,
    });
    match overlap {
        true => Err(WrongMask::Interval),
        false => Ok(()),
    }
}

/// Whether a log with this interval and mask is on duty at a time.
pub(crate) fn is_on_duty(interval: &TimeInterval, mask: &[WeekMaskItem], at: u64) -> bool {
    if at < interval.start || (interval.stop != 0 && at >= interval.stop) {
        return false;
    }
    if mask.is_empty() {
        return true;
    }
    let minute = at.saturating_sub(UNITS_BEFORE_1970) / UNITS_OF_A_SECOND / 60;
    // 1 January 1970 was a Thursday, and the first day of a week is Sunday.
    let day = (minute / MINUTES_OF_A_DAY + 4) % 7;
    let minute = minute % MINUTES_OF_A_DAY;
    mask.iter().any(|item| {
        let is_within = |(start, stop): &(u64, u64)| (*start..=*stop).contains(&minute);
        has_day(item, day) && minutes(item).is_ok_and(|all| all.iter().any(is_within))
    })
}

impl From<WrongMask> for SetWeekMaskError {
    fn from(wrong: WrongMask) -> Self {
        match wrong {
            WrongMask::Days => InvalidMask {}.into(),
            WrongMask::Time => InvalidTime {}.into(),
            WrongMask::Interval => InvalidTimeInterval {}.into(),
            WrongMask::TooLong => SystemException::from(SystemExceptionKind::ImpLimit).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ds_log_admin::{MONDAY, SUNDAY, THURSDAY, Time24Interval};

    const FOREVER: TimeInterval = TimeInterval { start: 0, stop: 0 };

    fn interval(start: (u16, u16), stop: (u16, u16)) -> Time24Interval {
        let time = |(hour, minute)| Time24 { hour, minute };
        Time24Interval {
            start: time(start),
            stop: time(stop),
        }
    }

    fn item(days: u16, intervals: Vec<Time24Interval>) -> WeekMaskItem {
        WeekMaskItem { days, intervals }
    }

    /// A time of the first week of 1970.
    fn at(day: u64, hour: u64, minute: u64) -> u64 {
        let minutes = (day * 24 + hour) * 60 + minute;
        UNITS_BEFORE_1970 + minutes * 60 * UNITS_OF_A_SECOND
    }

    #[test]
    fn a_log_is_on_duty_on_the_days_and_in_the_minutes_of_its_mask() {
        let mask = [
            item(THURSDAY | MONDAY, vec![interval((8, 30), (17, 0))]),
            item(SUNDAY, Vec::new()),
        ];
        assert_eq!(check_mask(&mask), Ok(()));
        let is_on = |at| is_on_duty(&FOREVER, &mask, at);
        // 1 January 1970 was a Thursday.
        assert!(!is_on(at(0, 8, 29)) && is_on(at(0, 8, 30)));
        assert!(is_on(at(0, 17, 0)) && !is_on(at(0, 17, 1)));
        assert!(!is_on(at(1, 9, 0)));
        assert!(is_on(at(3, 0, 0)) && is_on(at(3, 23, 59)));
        assert!(is_on(at(4, 9, 0)) && !is_on(at(4, 7, 0)));
    }

    #[test]
    fn a_log_is_on_duty_within_its_interval() {
        let within = TimeInterval {
            start: 10,
            stop: 20,
        };
        let is_on = |at| is_on_duty(&within, &[], at);
        assert_eq!([9, 10, 19, 20].map(is_on), [false, true, true, false]);
        assert!(is_on_duty(&FOREVER, &[], u64::MAX));
        assert!(
            check_interval(&TimeInterval {
                start: 20,
                stop: 20
            })
            .is_err()
        );
        assert!(check_interval(&TimeInterval { start: 20, stop: 0 }).is_ok());
    }

    #[test]
    fn days_times_and_intervals_that_are_none_are_refused() {
        let wrong = |days, start, stop| check_mask(&[item(days, vec![interval(start, stop)])]);
        assert_eq!(wrong(128, (1, 0), (2, 0)), Err(WrongMask::Days));
        assert_eq!(wrong(u16::MAX, (1, 0), (2, 0)), Err(WrongMask::Days));
        assert_eq!(wrong(0, (1, 0), (2, 0)), Err(WrongMask::Days));
        assert_eq!(wrong(1, (24, 0), (2, 0)), Err(WrongMask::Time));
        assert_eq!(wrong(1, (1, 60), (2, 0)), Err(WrongMask::Time));
        assert_eq!(wrong(1, (2, 0), (2, 0)), Err(WrongMask::Interval));
        assert_eq!(wrong(1, (3, 0), (2, 0)), Err(WrongMask::Interval));
        assert_eq!(wrong(127, (0, 0), (23, 59)), Ok(()));
        let two = |second| check_mask(&[item(3, vec![interval((1, 0), (2, 0))]), second]);
        let overlapping = item(SUNDAY, vec![interval((1, 30), (3, 0))]);
        assert_eq!(two(overlapping), Err(WrongMask::Interval));
        assert_eq!(two(item(SUNDAY, vec![interval((2, 0), (3, 0))])), Ok(()));
        assert_eq!(two(item(4, vec![interval((1, 30), (3, 0))])), Ok(()));
        let many = vec![item(1, Vec::new()); MAX_INTERVALS + 1];
        assert_eq!(check_mask(&many), Err(WrongMask::TooLong));
    }
}
