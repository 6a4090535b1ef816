//! The findings of the experiment.

use crate::figures::contender::PLACEMENTS;
use crate::figures::data::Data;
use crate::figures::finding::{Finding, Holds, Placed, count};
use crate::figures::latency::latency_programs::{OMNIORB, ZORB};
use crate::figures::measured::{EQUAL, Measured, ratio};
use crate::figures::scale::MOST_CALLERS;
use crate::measure::place::Placement;
use crate::measure::statistics::three_digits;
use crate::row::Aim;

/// The experiment in three sentences.
pub(super) fn seen(data: &Data) -> Option<String> {
    let many = |panel: &str, series, most| Some(longer(data, panel, series, most)?.factor());
    let rate = |series| {
        let rate = at(data, "callers rate, split", series, MOST_CALLERS)?;
        Some(three_digits(rate.median / 1000.0))
    };
    Some(format!(
        "On one CPU a call to one of a million servants takes, relative to a single servant, {} with zorb and {} with omniORB. \
         Beside 9,999 idle connections it takes {} with zorb. With a CPU for each program 256 callers make {} thousand calls a \
         second with zorb, and {} thousand with omniORB.",
        many("servants, same", ZORB, 1_000_000)?,
        many("servants, same", OMNIORB, 1_000_000)?,
        many("connections idle, same", ZORB, 10_000)?,
        rate(ZORB)?,
        rate(OMNIORB)?
    ))
}

pub(super) fn findings(data: &Data) -> Vec<Finding> {
    let mut all = very_many(data);
    all.extend(callers(data));
    all
}

/// Something of which there are very many, and how much longer a call may take for it.
struct Many {
    /// The panel of latencies; that of rates is beside it.
    panel: &'static str,
    most: usize,
    what: &'static str,
    /// The name of the number that has to stay.
    name: &'static str,
    /// The limits with one CPU for both programs, and with one for each.
    limits: [f64; 2],
}

/// *The same* is what is within [`EQUAL`]; what is within a limit here is *in part*, for the reason beside it.
const MANY: [Many; 3] = [
    Many {
        panel: "servants",
        most: 1_000_000,
        what: "a million servants",
        name: "servants-1000000-over-1",
        // Any of a million is in no cache: its slot, the servant, what counts its users. That is hundreds of
        // nanoseconds, and the octets of the kernel's that are driven out of the cache take some microseconds to come
        // back: a third of a call of ten. Half of one is more than that.
        limits: [1.5, 1.5],
    },
    Many {
        panel: "connections idle",
        most: 10_000,
        what: "10,000 connections, one in use,",
        name: "idle-connections-10000-over-1",
        // They cost memory and no time: nothing but what the machine's states are apart.
        limits: [1.3, 1.3],
    },
    Many {
        panel: "connections active",
        most: 10_000,
        what: "10,000 connections, used in turn,",
        name: "active-connections-10000-over-1",
        // On one CPU every socket is in no cache, at both ends: some five KiB of the kernel's for each, half of a call.
        // On a CPU each a server that spins before it parks cannot for connections that are silent for half a second: a
        // call takes what it takes with a server that sleeps, which is more than twice as long.
        limits: [1.6, 2.5],
    },
];

fn at(data: &Data, panel: &str, series: &str, x: usize) -> Option<Measured> {
    data.measured(panel, series, x as f64)
}

/// How much longer a call takes than where there is one.
fn longer(data: &Data, panel: &str, series: &str, most: usize) -> Option<Measured> {
    ratio(at(data, panel, series, most), at(data, panel, series, 1))
}

/// How many times as many calls a second there are where there is one.
fn fewer(data: &Data, panel: &str, series: &str, most: usize) -> Option<Measured> {
    ratio(at(data, panel, series, 1), at(data, panel, series, most))
}

/// A slowdown: the same, within its limit, or more than that.
fn slowed(times: Measured, limit: f64) -> Holds {
    match (times.is_no_more(), times.at_most(limit)) {
        (Holds::Yes, _) => Holds::Yes,
        (Holds::No, Holds::Yes) => Holds::InPart,
        (_, Holds::No) => Holds::No,
        (_, Holds::Yes) => Holds::YesOrInPart,
        (Holds::No, _) => Holds::NoOrInPart,
        _ => Holds::Untold,
    }
}

/// The findings about servants and connections.
fn very_many(data: &Data) -> Vec<Finding> {
    let each = |many: &Many| {
        let of = |(placement, limit): (Placement, f64)| {
            [
                as_long(data, many, placement, limit),
                beside_omniorb(
                    data,
                    (&format!("{} rate, {placement}", many.panel), placement),
                    &format!("with {}", many.what.trim_end_matches(',')),
                    many.most,
                ),
            ]
        };
        let placed: Vec<_> = PLACEMENTS.into_iter().zip(many.limits).collect();
        placed.into_iter().flat_map(of).collect::<Vec<_>>()
    };
    MANY.iter().flat_map(each).collect()
}

/// Whether a call takes as long as where there is one, and whether there are as many a second.
fn as_long(data: &Data, many: &Many, placement: Placement, limit: f64) -> Finding {
    let Many {
        panel, most, what, ..
    } = *many;
    let (times, rates) = (
        format!("{panel}, {placement}"),
        format!("{panel} rate, {placement}"),
    );
    let of = |series| {
        let longer = longer(data, &times, series, most);
        longer.zip(fewer(data, &rates, series, most))
    };
    let (ours, theirs) = (of(ZORB), of(OMNIORB));
    let text = |(longer, fewer): (Measured, Measured)| {
        let rate = Measured::exactly(1.0).over(fewer);
        format!("{}, calls a second {}", longer.factor(), rate.factor())
    };
    Finding::new(
        &format!("A call takes as long with {what} as with one, at the same rate (up to ×{limit}: in part)"),
        [ours.map(|ours| ours.0), ours.map(|ours| ours.1)],
        |[longer, fewer]| {
            let theirs = theirs.map_or_else(String::new, |it| format!("; omniORB {}", text(it)));
            let seen = format!("zorb {}{theirs}", text((longer, fewer)));
            (seen, Holds::and(slowed(longer, limit), slowed(fewer, limit)))
        },
    )
    .with_number(
        &numbered(many.name, placement),
        // The worse of the two: a median does not know of the calls that take ten times as long.
        ours.map(|(longer, fewer)| longer.median.max(fewer.median)),
        Aim::AtMost(limit),
    )
    .placed(placed(placement))
}

/// Whether there are as many calls a second as with omniORB, along a whole curve and where it ends.
fn beside_omniorb(
    data: &Data,
    (panel, placement): (&str, Placement),
    what: &str,
    most: usize,
) -> Finding {
    let line = data.measured_line(panel, ZORB);
    let both = line.into_iter().filter_map(|(x, ours)| {
        let theirs = data.measured(panel, OMNIORB, x)?;
        Some((x, ours.over(theirs)))
    });
    let both: Vec<(f64, Measured)> = both.collect();
    let last = both.iter().find(|(x, _)| *x == most as f64);
    let by_median = |a: &&(f64, Measured), b: &&(f64, Measured)| a.1.median.total_cmp(&b.1.median);
    let least = both.iter().min_by(by_median);
    Finding::new(
        &format!("zorb makes as many calls a second as omniORB {what}, and with fewer"),
        [last.map(|last| last.1), least.map(|least| least.1)],
        |[last, least]| {
            let at = both.iter().min_by(by_median).map_or(0.0, |least| least.0);
            let seen = format!(
                "zorb over omniORB {}, and at the worst of {} points, {}, {}",
                last.factor(),
                both.len(),
                count(at),
                least.factor()
            );
            let each = both.iter().map(|(_, times)| times.at_least(1.0 / EQUAL));
            (seen, Holds::all(each))
        },
    )
    .placed(placed(placement))
}

/// The placement, in the words of findings.
const fn placed(placement: Placement) -> Placed {
    match placement {
        Placement::Same => Placed::Same,
        Placement::Split | Placement::Awake | Placement::Free => Placed::Split,
    }
}

/// The name of a number; a CPU for each program is not said.
fn numbered(name: &str, placement: Placement) -> String {
    match placement {
        Placement::Same => format!("{name}-on-one-cpu"),
        Placement::Split | Placement::Awake | Placement::Free => name.to_owned(),
    }
}

/// A curve of callers: where it begins, where it has its peak, and where it ends.
#[derive(Clone, Copy)]
struct Curve {
    one: Measured,
    peak: (f64, Measured),
    last: Measured,
}

impl Curve {
    fn of(data: &Data, panel: &str, series: &str) -> Option<Self> {
        let line = data.measured_line(panel, series);
        let peak = line
            .iter()
            .copied()
            .max_by(|a, b| a.1.median.total_cmp(&b.1.median));
        Some(Self {
            one: at(data, panel, series, 1)?,
            peak: peak?,
            last: at(data, panel, series, MOST_CALLERS)?,
        })
    }

    fn text(self) -> String {
        let Self { one, peak, last } = self;
        format!(
            "{} thousand calls a second with one, peak {} thousand with {:.0}, and {} of the peak with {MOST_CALLERS}",
            three_digits(one.median / 1000.0),
            three_digits(peak.1.median / 1000.0),
            peak.0,
            last.over(peak.1).share()
        )
    }

    /// Whether it rises, and stays up.
    fn holds(self) -> Holds {
        let Self { one, peak, last } = self;
        let up = peak.1.over(one).above(EQUAL);
        // Above half of the peak it is in part.
        Holds::and(up, slowed(peak.1.over(last), 2.0))
    }
}

/// The 99th percentile of the calls, over their median.
fn spread(data: &Data, placement: Placement, series: &str) -> Option<Measured> {
    let panel = format!("callers latency, {placement}");
    let most = MOST_CALLERS as f64;
    let mut found = data.of(&panel);
    let point = found.find(|point| point.series == series && point.x == most)?;
    // Only the median of it is kept.
    Some(Measured::exactly(point.p99?).over(point.into()))
}

/// A caller that is served in turn waits for all others once. Where the slowest wait for twice, another caller was
/// served twice.
const TURNS: f64 = 2.0;

fn callers(data: &Data) -> Vec<Finding> {
    let mut findings = Vec::new();
    for placement in PLACEMENTS {
        let panel = format!("callers rate, {placement}");
        let beside = |theirs: Option<Measured>| {
            theirs.map_or_else(String::new, |it| format!(", omniORB {}", it.factor()))
        };
        let theirs = Curve::of(data, &panel, OMNIORB);
        let ours = Curve::of(data, &panel, ZORB);
        let claim = format!(
            "The rate grows with the callers, and does not fall up to {MOST_CALLERS} (above half of the peak: in part)"
        );
        findings.push(
            Finding::new(&claim, [ours.map(|ours| ours.last)], |[_]| {
                let theirs =
                    theirs.map_or_else(String::new, |it| format!("; omniORB {}", it.text()));
                let seen = format!("zorb {}{theirs}", ours.map(Curve::text).unwrap_or_default());
                (seen, ours.map_or(Holds::Unknown, Curve::holds))
            })
            .placed(placed(placement)),
        );
        let what = format!("with {MOST_CALLERS} callers");
        findings.push(beside_omniorb(
            data,
            (&panel, placement),
            &what,
            MOST_CALLERS,
        ));
        let pair = |series| ratio(at(data, &panel, series, 2), at(data, &panel, series, 1));
        let claim = "Two callers make more calls a second than one";
        let theirs = pair(OMNIORB);
        findings.push(
            Finding::new(claim, [pair(ZORB)], |[ours]| {
                let seen = format!("zorb {}{}", ours.factor(), beside(theirs));
                (seen, ours.above(1.0))
            })
            .placed(placed(placement)),
        );
        let theirs = spread(data, placement, OMNIORB);
        let claim = format!(
            "With {MOST_CALLERS} callers the 99th percentile is at most twice the median: no caller waits for two turns"
        );
        findings.push(
            Finding::new(&claim, [spread(data, placement, ZORB)], |[ours]| {
                let seen = format!("zorb {}{}", ours.factor(), beside(theirs));
                (seen, ours.at_most(TURNS))
            })
            .placed(placed(placement)),
        );
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn a_million_servants_are_compared_with_one_by_time_and_by_rate() {
        let data = data(&[
            ("servants, same", ZORB, 1.0, None, 10.0),
            ("servants, same", ZORB, 1_000_000.0, None, 11.0),
            ("servants rate, same", ZORB, 1.0, None, 90_000.0),
            ("servants rate, same", ZORB, 1_000_000.0, None, 85_000.0),
            ("servants, split", ZORB, 1.0, None, 10.0),
            ("servants, split", ZORB, 1_000_000.0, None, 11.0),
            ("servants rate, split", ZORB, 1.0, None, 90_000.0),
            ("servants rate, split", ZORB, 1_000_000.0, None, 70_000.0),
            ("servants rate, split", OMNIORB, 1.0, None, 30_000.0),
            (
                "servants rate, split",
                OMNIORB,
                1_000_000.0,
                None,
                100_000.0,
            ),
        ]);
        let found = findings(&data);
        assert_eq!(
            (found[0].seen.as_str(), found[0].holds),
            ("zorb ×1.10, calls a second ×0.94", Holds::Yes)
        );
        assert_eq!(found[1].holds, Holds::Unknown);
        // The times are the same, and the rates are not.
        assert_eq!(
            (found[2].seen.as_str(), found[2].holds),
            ("zorb ×1.10, calls a second ×0.78", Holds::InPart)
        );
        assert_eq!(found[2].placed, Some(Placed::Split));
        let number = found[2].number.clone().unwrap();
        assert!((number.1 - 90.0 / 70.0).abs() < 1e-9, "{number:?}");
        assert_eq!(
            (found[3].seen.as_str(), found[3].holds),
            (
                "zorb over omniORB ×0.70, and at the worst of 2 points, 1,000,000, ×0.70",
                Holds::InPart
            )
        );
        assert_eq!(found[4].holds, Holds::Unknown);
    }

    #[test]
    fn a_slowdown_is_the_same_or_within_its_limit_or_more() {
        let times = |least: f64, most: f64| Measured::apart(least, least, most);
        for (times, holds) in [
            (times(1.0, 1.1), Holds::Yes),
            (times(1.1, 1.2), Holds::YesOrInPart),
            (times(1.1, 1.6), Holds::Untold),
            (times(1.2, 1.4), Holds::InPart),
            (times(1.4, 1.6), Holds::NoOrInPart),
            (times(1.6, 1.7), Holds::No),
        ] {
            assert_eq!(slowed(times, 1.5), holds, "{}", times.factor());
        }
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
            of("does not fall up to 256"),
            (
                "zorb 75.0 thousand calls a second with one, peak 150 thousand with 16, and 80 % of the peak with 256",
                Holds::InPart
            )
        );
        assert_eq!(of("Two callers"), ("zorb ×0.27", Holds::No));
        assert_eq!(of("99th percentile"), ("zorb ×2.50", Holds::No));
    }
}
