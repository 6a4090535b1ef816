//! What is to be seen of it.

use crate::claims::Aim;
use crate::figures::contender::PLACEMENTS;
use crate::figures::data::Data;
use crate::figures::finding::{Finding, Holds, Placed};
use crate::figures::latency::programs::{OMNIORB, ZORB};
use crate::figures::scale::MOST_CALLERS;
use crate::measure::place::Placement;
use crate::measure::statistics::three_digits;

pub(super) fn findings(data: &Data) -> Vec<Finding> {
    let mut all = very_many(data);
    all.extend(callers(data));
    all
}

/// From one to so many.
fn growth(data: &Data, panel: &str, series: &str, to: usize) -> Option<f64> {
    Some(data.at(panel, series, to as f64)? / data.at(panel, series, 1.0)?)
}

/// Of servants and connections.
fn very_many(data: &Data) -> Vec<Finding> {
    let about = [
        (
            "servants",
            1_000_000,
            "a million servants",
            "servants-1000000-over-1",
            2.0,
        ),
        (
            "connections idle",
            10_000,
            "10,000 connections, one of them in use,",
            "idle-connections-10000-over-1",
            1.5,
        ),
        (
            "connections active",
            10_000,
            "10,000 connections, all in use in turn,",
            "active-connections-10000-over-1",
            4.0,
        ),
    ];
    let finding = |(panel, to, what, name, most): (&str, usize, &str, &str, f64), placement| {
        let panel = format!("{panel}, {placement}");
        let ours = growth(data, &panel, ZORB, to);
        let theirs = growth(data, &panel, OMNIORB, to);
        let claim = format!("A call takes as long with {what} as with one");
        Finding::new(&claim, [ours], |[ours]| {
            let theirs =
                theirs.map_or_else(String::new, |t| format!(", omniORB ×{}", three_digits(t)));
            let seen = format!("zorb ×{}{theirs}", three_digits(ours));
            let holds = if ours <= 1.15 {
                Holds::Yes
            } else if ours <= most {
                Holds::InPart
            } else {
                Holds::No
            };
            (seen, holds)
        })
        .with_number(&numbered(name, placement), ours, Aim::AtMost(most))
        .placed(placed(placement))
    };
    let both = |of| PLACEMENTS.map(|placement| finding(of, placement));
    about.into_iter().flat_map(both).collect()
}

/// Where that is, as findings say it.
const fn placed(placement: Placement) -> Placed {
    match placement {
        Placement::Same => Placed::Same,
        Placement::Split | Placement::Free => Placed::Split,
    }
}

/// The name of a number; a CPU for each program is not said.
fn numbered(name: &str, placement: Placement) -> String {
    match placement {
        Placement::Same => format!("{name}-on-one-cpu"),
        Placement::Split | Placement::Free => name.to_owned(),
    }
}

/// Where a curve of callers has its peak: how many, and how many calls a second.
fn peak(data: &Data, placement: Placement, series: &str) -> Option<(f64, f64)> {
    let line = data.line(&format!("callers rate, {placement}"), series);
    line.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))
}

/// What the slowest hundredth of the calls takes longer than, over what half of them does.
fn spread(data: &Data, placement: Placement, series: &str, callers: f64) -> Option<f64> {
    let panel = format!("callers latency, {placement}");
    let found = data
        .of(&panel)
        .find(|point| point.series == series && point.x == callers);
    found.and_then(|point| Some(point.p99? / point.value))
}

fn callers(data: &Data) -> Vec<Finding> {
    let most = MOST_CALLERS as f64;
    let rate = |placement: Placement, series: &str, callers: f64| {
        data.at(&format!("callers rate, {placement}"), series, callers)
    };
    let mut findings = Vec::new();
    for placement in PLACEMENTS {
        let mut all = Vec::new();
        let curve = |series| {
            let (at, top) = peak(data, placement, series)?;
            let last = rate(placement, series, most)?;
            Some((at, top, last / top))
        };
        let told = |(at, top, left): (f64, f64, f64)| {
            format!(
                "most with {at:.0} callers, {} thousand calls a second, and {:.0} % of that with {MOST_CALLERS}",
                three_digits(top / 1000.0),
                100.0 * left
            )
        };
        let (ours, theirs) = (curve(ZORB), curve(OMNIORB));
        let left = ours.map(|(.., left)| left);
        let claim = format!(
            "Calls a second become more with the callers, and no fewer with {MOST_CALLERS}"
        );
        all.push(Finding::new(&claim, [left], |[left]| {
            let theirs = theirs.map_or_else(String::new, |it| format!("; omniORB {}", told(it)));
            let seen = format!("zorb {}{theirs}", ours.map(told).unwrap_or_default());
            let holds = match left {
                left if left >= 0.9 => Holds::Yes,
                left if left >= 0.6 => Holds::InPart,
                _ => Holds::No,
            };
            (seen, holds)
        }));
        let pair = |series| Some(rate(placement, series, 2.0)? / rate(placement, series, 1.0)?);
        let theirs = pair(OMNIORB);
        let claim = "Two callers make more calls a second than one";
        all.push(Finding::new(claim, [pair(ZORB)], |[ours]| {
            let theirs =
                theirs.map_or_else(String::new, |it| format!(", omniORB ×{}", three_digits(it)));
            let seen = format!("zorb ×{}{theirs}", three_digits(ours));
            (seen, Holds::when(ours > 1.0))
        }));
        let slowest = spread(data, placement, ZORB, most);
        let theirs = spread(data, placement, OMNIORB, most);
        let claim = format!(
            "With {MOST_CALLERS} callers the slowest hundredth of the calls takes at most 3 times what half of them take"
        );
        all.push(Finding::new(&claim, [slowest], |[ours]| {
            let theirs =
                theirs.map_or_else(String::new, |it| format!(", omniORB ×{}", three_digits(it)));
            let seen = format!("zorb ×{}{theirs}", three_digits(ours));
            (seen, Holds::when(ours <= 3.0))
        }));
        let here = |finding: Finding| finding.placed(placed(placement));
        findings.extend(all.into_iter().map(here));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn a_million_servants_are_compared_with_one() {
        let data = data(&[
            ("servants, same", ZORB, 1.0, None, 10.0),
            ("servants, same", ZORB, 1_000_000.0, None, 11.0),
            ("servants, split", ZORB, 1.0, None, 10.0),
            ("servants, split", ZORB, 1_000_000.0, None, 14.0),
        ]);
        let found = findings(&data);
        assert_eq!(
            (found[0].seen.as_str(), found[0].holds),
            ("zorb ×1.10", Holds::Yes)
        );
        assert_eq!(
            (found[1].seen.as_str(), found[1].holds),
            ("zorb ×1.40", Holds::InPart)
        );
        assert_eq!(found[1].placed, Some(Placed::Split));
        assert_eq!(found[2].holds, Holds::Unknown);
    }

    #[test]
    fn where_a_curve_peaks_and_how_slow_the_slowest_are_is_computed() {
        let mut data = data(&[
            ("callers rate, split", ZORB, 1.0, None, 75_000.0),
            ("callers rate, split", ZORB, 2.0, None, 20_000.0),
            ("callers rate, split", ZORB, 16.0, None, 150_000.0),
            ("callers rate, split", ZORB, 256.0, None, 120_000.0),
            ("callers latency, split", ZORB, 256.0, None, 2_000.0),
        ]);
        data.points[4].p99 = Some(5_000.0);
        let found = findings(&data);
        let of = |words: &str| {
            let mut of_it = found.iter().filter(|f| f.placed == Some(Placed::Split));
            let one = of_it.find(|f| f.claim.contains(words)).unwrap();
            (one.seen.as_str(), one.holds)
        };
        assert_eq!(
            of("no fewer with 256"),
            (
                "zorb most with 16 callers, 150 thousand calls a second, and 80 % of that with 256",
                Holds::InPart
            )
        );
        assert_eq!(of("Two callers"), ("zorb ×0.27", Holds::No));
        assert_eq!(of("slowest hundredth"), ("zorb ×2.50", Holds::Yes));
    }
}
