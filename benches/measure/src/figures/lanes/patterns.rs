//! The dissertation's explanations (chapters 2 and 4 to 6), checked from the data.

use crate::figures::data::Data;
use crate::figures::finding::{Finding, Holds, Placed};
use crate::figures::measured::EQUAL;
use crate::measure::statistics::three_digits;
use crate::row::Aim;

pub(super) fn findings(data: &Data) -> Vec<Finding> {
    vec![
        inversion(data),
        inversion_without(data),
        strategies(data),
        operations(data),
        memory(data),
        dispatching(data),
        nested(data),
        propagation(data),
    ]
}

pub(super) const LANES: &str = "lanes, an ORB for each caller";
const SHARED: &str = "lanes, callers share an ORB";
pub(super) const NO_LANES: &str = "no lanes";
const STUCK: [&str; 3] = ["a long upcall", "a large send", "a full queue"];

/// Milliseconds beside nothing, and beside each that a caller can be stuck in.
fn probed(data: &Data, series: &str) -> Option<(f64, [f64; 3])> {
    let of = |label| data.under("inversion", series, label);
    let [upcall, send, queue] = STUCK.map(of);
    Some((of("nothing")?, [upcall?, send?, queue?]))
}

fn named(values: [f64; 3]) -> String {
    let [upcall, send, queue] = values.map(three_digits);
    format!("beside an upcall {upcall}, a send {send}, a queue {queue}")
}

/// Calls of 50 µs that come while a caller of low priority holds something for 20 ms are delayed by what is left of it.
const DELAYED: f64 = 2.0;

fn inversion(data: &Data) -> Finding {
    let claim =
        "With lanes a stuck caller of low priority does not delay one of high priority (6.3)";
    let (Some((alone, with)), shared) = (probed(data, LANES), probed(data, SHARED)) else {
        return Finding::not_measured(claim, "not measured here");
    };
    let worst = with.into_iter().fold(0.0, f64::max);
    let holds = with.map(|value| Holds::when(value < DELAYED && value < 5.0 * alone));
    let beside = shared.map(|(_, shared)| {
        format!(
            "; callers in one ORB {}",
            shared.map(three_digits).join(", ")
        )
    });
    let seen = format!(
        "p99 in ms: alone {}, {}{}",
        three_digits(alone),
        named(with),
        beside.unwrap_or_default()
    );
    Finding::said(claim, seen, Holds::all(holds)).with_number(
        "lanes:inversion-ms",
        Some(worst),
        Aim::AtMost(DELAYED),
    )
}

fn inversion_without(data: &Data) -> Finding {
    let claim = "Callers that share connection, queue and thread suffer priority inversion (6.2)";
    let Some((alone, with)) = probed(data, NO_LANES) else {
        return Finding::not_measured(claim, "not measured here");
    };
    let holds = with.map(|value| Holds::when(value > DELAYED && value > 5.0 * alone));
    let seen = format!("p99 in ms: alone {}, {}", three_digits(alone), named(with));
    Finding::said(claim, seen, Holds::all(holds))
}

const LEADER: &str = "leader/followers";
const HALF_SYNC: &str = "half-sync/half-async";

fn strategies(data: &Data) -> Finding {
    let claim = "Leader/followers serves more calls than half-sync/half-async, with any number of threads (5.4; Figure 5.8)";
    let line = |series| data.line("strategies", series);
    let (leader, half) = (line(LEADER), line(HALF_SYNC));
    if leader.is_empty() || leader.len() != half.len() {
        return Finding::not_measured(claim, "not measured here");
    }
    let ratios: Vec<(f64, f64)> = (leader.iter().zip(&half))
        .map(|((threads, leader), (_, half))| (*threads, leader / half))
        .collect();
    let seen: Vec<_> = ratios
        .iter()
        .map(|(threads, ratio)| format!("×{ratio:.2} with {threads}"))
        .collect();
    let seen = format!(
        "leader/followers over half-sync/half-async, by threads: {}",
        seen.join(", ")
    );
    let holds = ratios.iter().map(|(_, ratio)| match *ratio {
        more if more > EQUAL => Holds::Yes,
        less if less < 1.0 / EQUAL => Holds::No,
        _ => Holds::InPart,
    });
    Finding::said(claim, seen, Holds::all(holds)).placed(Placed::Split)
}

fn operations(data: &Data) -> Finding {
    let claim = "A hand-over costs allocations, queue entries and wake-ups; leader/followers has none (5.4; Table 5.3)";
    let of = |series, label| data.under("operations of a request", series, label);
    let all = |series| {
        Some([
            of(series, "malloc")?,
            of(series, "enqueue")?,
            of(series, "thread switches")?,
        ])
    };
    let (Some(leader), Some(half)) = (all(LEADER), all(HALF_SYNC)) else {
        return Finding::not_measured(claim, "not measured here");
    };
    let shown =
        |[malloc, enqueue, switches]: [f64; 3]| format!("{malloc:.2}, {enqueue:.2}, {switches:.2}");
    let seen = format!(
        "malloc, enqueue, thread switches: {LEADER} {}; {HALF_SYNC} {}",
        shown(leader),
        shown(half)
    );
    let queued = Holds::when(leader[1] == 0.0 && half[1] >= 0.99);
    let switches = Holds::when(half[2] > leader[2] + 0.5);
    let memory = Holds::when(half[0] > leader[0] + 0.5);
    Finding::said(claim, seen, Holds::all([queued, switches, memory]))
}

fn memory(data: &Data) -> Finding {
    let claim = "A shared pool gets slower with more threads; other pools do not (6.6; Figure 6.7)";
    let gain = |series| {
        let one = data.at("memory pools", series, 1.0)?;
        Some(data.at("memory pools", series, 4.0)? / one)
    };
    let series = ["one pool, a lock", "a pool of each thread", "the stack"];
    let [Some(shared), Some(own), Some(stack)] = series.map(gain) else {
        return Finding::not_measured(claim, "not measured here");
    };
    let malloc = gain("the system's malloc").unwrap_or(f64::NAN);
    let seen = format!(
        "4 threads over 1: shared pool ×{shared:.2}, pool of each thread ×{own:.2}, stack ×{stack:.2}, malloc ×{malloc:.2}"
    );
    let holds = [
        Holds::when(shared < 1.0),
        Holds::when(own > 1.0 / EQUAL),
        Holds::when(stack > 1.0 / EQUAL),
    ];
    Finding::said(claim, seen, Holds::all(holds)).placed(Placed::Alone)
}

const PATTERNS: [&str; 5] = [
    "serialized",
    "recursive lock",
    "readers/writer",
    "counted",
    "zorb's POA",
];

/// For each pattern whether another upcall, and a change of the table, are as long as the dissertation has it.
fn each_pattern(
    data: &Data,
    panel: &str,
    judge: impl Fn(usize, f64, f64) -> bool,
) -> Vec<(String, Holds)> {
    let of = |(number, pattern): (usize, &&str)| {
        let upcall = data.under(panel, "another upcall", pattern)?;
        let change = data.under(panel, "a change of the table", pattern)?;
        let [upcall_shown, change_shown] =
            [upcall, change].map(|value| (value * 10.0).round() / 10.0);
        let shown = format!("{pattern} {upcall_shown}, {change_shown}");
        Some((shown, Holds::when(judge(number, upcall, change))))
    };
    PATTERNS.iter().enumerate().filter_map(of).collect()
}

fn said(claim: &str, unit: &str, each: Vec<(String, Holds)>) -> Finding {
    if each.len() < PATTERNS.len() {
        return Finding::not_measured(claim, "not measured here");
    }
    let (shown, holds): (Vec<_>, Vec<_>) = each.into_iter().unzip();
    let seen = format!("{unit}: {}", shown.join("; "));
    Finding::said(claim, seen, Holds::all(holds)).placed(Placed::Alone)
}

fn dispatching(data: &Data) -> Finding {
    let claim = "A lock held over an upcall makes other threads wait; counted references do not (4.2; Table 4.1)";
    let each = each_pattern(
        data,
        "dispatching, beside an upcall",
        |number, upcall, change| match number {
            0 | 1 => upcall > 1.0 && change > 1.0,
            2 => upcall < 1.0 && change > 1.0,
            _ => upcall < 1.0 && change < 1.0,
        },
    );
    said(claim, "waits in ms", each)
}

fn nested(data: &Data) -> Finding {
    let claim = "All patterns but the serialized one allow nested upcalls, readers/writer locks no changes (4.2; Table 4.1)";
    let each = each_pattern(
        data,
        "dispatching, within an upcall",
        |number, upcall, change| {
            let expected = match number {
                0 => (0.0, 0.0),
                2 => (1.0, 0.0),
                _ => (1.0, 1.0),
            };
            (upcall, change) == expected
        },
    );
    said(claim, "allowed (1) or not (0)", each)
}

const TIERS: [(&str, f64, f64); 3] = [
    ("client", 1.0, 99.0),
    ("middle tier", 10.0, 40.0),
    ("server", 60.0, 90.0),
];

fn propagation(data: &Data) -> Finding {
    let claim = "A priority stays the same over a middle tier, and each host maps it to its own (2.3.2; Figure 2.5)";
    let lines = TIERS.map(|(tier, _, _)| data.line("propagation, CORBA", tier));
    let native = TIERS.map(|(tier, _, _)| data.line("propagation, native", tier));
    if lines.iter().chain(&native).any(Vec::is_empty) {
        return Finding::not_measured(claim, "not measured here");
    }
    let same = lines.iter().flatten().all(|(sent, seen)| sent == seen);
    // Spread evenly over what the host has, whichever way it rounds.
    let mapped = native.iter().zip(TIERS).all(|(line, (_, low, high))| {
        let within = |(priority, native): &(f64, f64)| {
            let even = low + (high - low) * priority / 32_767.0;
            (native - even).abs() <= 1.0
        };
        line.iter().all(within)
            && line
                .windows(2)
                .all(|pair| pair[0].1 < pair[1].1 || pair[1].0 <= 100.0)
    });
    let shown = |line: &[(f64, f64)]| {
        let each: Vec<_> = line.iter().map(|(_, native)| format!("{native}")).collect();
        each.join(", ")
    };
    let seen = format!(
        "native priorities: client {}; middle tier {}; server {}",
        shown(&native[0]),
        shown(&native[1]),
        shown(&native[2])
    );
    Finding::said(claim, seen, Holds::when(same && mapped)).placed(Placed::Alone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    type Probed = (&'static str, [f64; 4]);

    fn probe([lanes, none]: [[f64; 4]; 2]) -> Data {
        let all: [Probed; 2] = [(LANES, lanes), (NO_LANES, none)];
        let labels = ["nothing", STUCK[0], STUCK[1], STUCK[2]];
        let points: Vec<_> = all
            .iter()
            .flat_map(|(series, values)| {
                let each = labels.iter().zip(values).zip(0..);
                each.map(|((label, value), x)| {
                    ("inversion", *series, f64::from(x), Some(*label), *value)
                })
            })
            .collect();
        data(&points)
    }

    #[test]
    fn a_caller_that_is_delayed_by_one_of_three_is_so_in_part() {
        let waits = [0.1, 20.0, 5.0, 40.0];
        let calm = [0.1, 0.12, 0.2, 0.11];
        assert_eq!(inversion(&probe([calm, waits])).holds, Holds::Yes);
        assert_eq!(inversion_without(&probe([calm, waits])).holds, Holds::Yes);
        let sends = [0.1, 0.12, 9.0, 0.11];
        assert_eq!(inversion(&probe([sends, waits])).holds, Holds::InPart);
        assert_eq!(inversion_without(&probe([waits, calm])).holds, Holds::No);
        assert_eq!(inversion(&data(&[])).holds, Holds::Unknown);
    }

    #[test]
    fn a_priority_that_changes_on_its_way_is_seen() {
        let points = |server: f64, native: f64| {
            let mut points = Vec::new();
            for (x, of) in [(0.0, [1.0, 10.0, 60.0]), (32_767.0, [99.0, 40.0, 90.0])] {
                for ((tier, _, _), own) in TIERS.iter().zip(of) {
                    points.push(("propagation, CORBA", *tier, x, None, x));
                    points.push(("propagation, native", *tier, x, None, own));
                }
            }
            let last = points.len();
            points[last - 2].4 = server;
            points[last - 1].4 = native;
            data(&points)
        };
        assert_eq!(propagation(&points(32_767.0, 90.0)).holds, Holds::Yes);
        assert_eq!(propagation(&points(32_766.0, 90.0)).holds, Holds::No);
        assert_eq!(propagation(&points(32_767.0, 60.0)).holds, Holds::No);
    }

    #[test]
    fn a_pattern_that_waits_where_it_should_not_is_seen() {
        let points = |poa: f64| {
            let waits = [
                (9.0, 9.0),
                (9.0, 9.0),
                (0.01, 9.0),
                (0.01, 0.01),
                (poa, 0.01),
            ];
            let mut points = Vec::new();
            for ((pattern, (upcall, change)), x) in PATTERNS.iter().zip(waits).zip(0..) {
                let (panel, x) = ("dispatching, beside an upcall", f64::from(x));
                points.push((panel, "another upcall", x, Some(*pattern), upcall));
                points.push((panel, "a change of the table", x, Some(*pattern), change));
            }
            data(&points)
        };
        assert_eq!(dispatching(&points(0.01)).holds, Holds::Yes);
        assert_eq!(dispatching(&points(9.0)).holds, Holds::InPart);
    }
}
