//! The lanes that miss deadlines first, checked from the data.

use crate::figures::data::Data;
use crate::figures::finding::{Finding, Holds, Placed};
use crate::figures::lanes::patterns::{LANES, NO_LANES};
use crate::measure::statistics::three_digits;
use crate::row::Aim;

/// Clients of rates that rise with the priority: series, and calls a second asked for.
const RISING: [(&str, f64); 3] = [
    ("high, 75 Hz", 75.0),
    ("medium, 50 Hz", 50.0),
    ("low, 25 Hz", 25.0),
];
const FALLING: [(&str, f64); 3] = [
    ("high, 25 Hz", 25.0),
    ("medium, 50 Hz", 50.0),
    ("low, 75 Hz", 75.0),
];
const BEST_EFFORT: &str = "best effort, all";

/// A client that makes this share of its calls is not disturbed. In 0.7 s at 25 Hz there are 17 or 18 calls, 103 %, of
/// which one is 6 %.
const WHOLE: f64 = 0.95;

/// The share of its calls that a client made, at each place of a panel.
fn shares(data: &Data, panel: &str, client: (&str, f64)) -> Vec<(f64, f64)> {
    let line = data.line(panel, client.0);
    line.into_iter()
        .map(|(x, rate)| (x, rate / client.1))
        .collect()
}

/// Percent of the calls asked for that each client made: with the least work, the most, and half-way.
fn shown(all: &[Vec<(f64, f64)>; 3]) -> String {
    let ends = |shares: &[(f64, f64)], of: fn(&(f64, f64)) -> f64| {
        let three = [0, shares.len() / 2, shares.len().saturating_sub(1)];
        let each = three.map(|at| shares.get(at).map_or(f64::NAN, of));
        each.map(|value| format!("{value:.0}")).join(", ")
    };
    let work = ends(&all[0], |place| place.0);
    let [high, medium, low] = all
        .each_ref()
        .map(|shares| ends(shares, |place| 100.0 * place.1));
    format!("calls made in %, work {work}: high {high}; medium {medium}; low {low}")
}

/// Whether no client loses anything while one of a lower priority still has something to lose: up to one call in a lane
/// that is preempted.
fn in_order(all: &[Vec<(f64, f64)>; 3]) -> Holds {
    let [high, medium, low] = all;
    let each = high
        .iter()
        .zip(medium)
        .zip(low)
        .map(|((high, medium), low)| {
            let (high, medium, low) = (high.1, medium.1, low.1);
            Holds::when(
                (high >= WHOLE || medium <= 0.05)
                    && (medium >= WHOLE || low <= 0.1)
                    && high + 0.05 >= medium,
            )
        });
    Holds::all(each)
}

fn order(data: &Data, claim: &str, panel: &str, clients: [(&str, f64); 3]) -> Finding {
    let all = clients.map(|client| shares(data, panel, client));
    if all.iter().any(Vec::is_empty) {
        return Finding::not_measured(claim, "not measured here");
    }
    Finding::said(claim, shown(&all), in_order(&all))
}

/// The experiment in three sentences.
pub(super) fn seen(data: &Data) -> Option<String> {
    let urgent = |panel: &str| {
        let made = shares(data, panel, RISING[0]).last()?.1;
        Some(format!("{:.0} %", 100.0 * made))
    };
    let stuck = |series| {
        Some(three_digits(data.under(
            "inversion",
            series,
            "a full queue",
        )?))
    };
    Some(format!(
        "With twice the work that fills the CPU, the urgent client makes {} of its calls with lanes, and {} without. Beside ten \
         best-effort clients it makes {} and {}. The 99th percentile of an urgent call while another caller waits for a full \
         queue is {} ms with lanes, and {} ms without.",
        urgent("rising rates with lanes, one CPU")?,
        urgent("rates without lanes, one CPU")?,
        urgent("best effort with lanes, one CPU")?,
        urgent("best effort without lanes, one CPU")?,
        stuck(LANES)?,
        stuck(NO_LANES)?
    ))
}

pub(super) fn findings(data: &Data) -> Vec<Finding> {
    let mut all = vec![
        workload(data),
        invocation_rate(data),
        concurrency(data),
        doubled(data),
        without_lanes(data),
    ];
    all.push(order(
        data,
        "With lanes the low client loses first, then the medium one, the high one last (experiment 5, Figure 7.10a)",
        "rising rates with lanes, one CPU",
        RISING,
    ));
    all.push(apart(
        data,
        "a CPU each",
        "With a CPU for each end the order is the same; the medium client progresses (experiment 5, Figure 7.10b)",
    ));
    all.push(apart(
        data,
        "two hosts",
        "With a host for each end the order is the same (experiment 5, Figure 7.10b)",
    ));
    all.push(order(
        data,
        "With falling rates, too, the low client (75 Hz) loses first, and the high one nothing (experiment 6, Figure 7.11b)",
        "falling rates with lanes, one CPU",
        FALLING,
    ));
    all.push(effort(
        data,
        "Without lanes best-effort calls cost the others deadlines (experiment 7, Figure 7.12b)",
        "best effort without lanes, one CPU",
        |high, _, low, effort| Holds::when(effort > 5.0 && high.min(low) < WHOLE),
    ));
    all.push(effort(
        data,
        "With lanes best-effort clients cost high and medium nothing (experiment 8, Figure 7.13b)",
        "best effort with lanes, one CPU",
        |high, medium, _, _| Holds::when(high >= WHOLE && medium >= WHOLE),
    ));
    let slack = |high: f64, medium: f64, low: f64, effort: f64| {
        Holds::when([high, medium, low].iter().all(|share| *share >= WHOLE) && effort > 0.0)
    };
    all.push(effort(
        data,
        "Below capacity best-effort clients get the slack and no more (experiment 8, Figure 7.14a)",
        "best effort below capacity with lanes, one CPU",
        slack,
    ));
    all.push(more_slack(data));
    for (claim, panel) in [
        (
            "With a CPU for each end best-effort clients cost the others nothing (experiment 8, Figure 7.14b)",
            "best effort below capacity with lanes, a CPU each",
        ),
        (
            "With a host for each end best-effort clients cost the others nothing (experiment 8, Figure 7.14b)",
            "best effort below capacity with lanes, two hosts",
        ),
    ] {
        all.push(effort(data, claim, panel, slack).placed(Placed::Split));
    }
    all.extend(pools(data));
    all
}

fn workload(data: &Data) -> Finding {
    let line = data.line("workload, one CPU", "continuous client");
    let claim = "The more work a call does, the fewer calls are made (experiment 1, Figure 7.5)";
    if line.len() < 2 {
        return Finding::not_measured(claim, "not measured here");
    }
    let each: Vec<_> = line
        .iter()
        .map(|(work, rate)| format!("{rate:.0} at {work:.0}"))
        .collect();
    let seen = format!("calls a second, by work: {}", each.join(", "));
    let falls = line.windows(2).all(|pair| pair[0].1 > pair[1].1);
    Finding::said(claim, seen, Holds::when(falls))
}

fn invocation_rate(data: &Data) -> Finding {
    let line = data.line("invocation rate, one CPU", "deadlines met");
    let claim = "A client meets all deadlines up to the capacity, and ever fewer beyond it (experiment 2, Figure 7.6)";
    let capacity = data.at("workload, one CPU", "continuous client", 30.0);
    let Some(capacity) = capacity.filter(|_| !line.is_empty()) else {
        return Finding::not_measured(claim, "not measured here");
    };
    let each: Vec<_> = line
        .iter()
        .map(|(rate, met)| format!("{met:.0} % at {rate:.0} Hz"))
        .collect();
    let seen = format!("capacity {capacity:.0} Hz; met {}", each.join(", "));
    let holds = line.iter().map(|(rate, met)| match *rate {
        rate if rate < 0.95 * capacity => Holds::when(*met >= 99.0),
        // The rate that the capacity permits, within a tenth.
        rate if rate > 1.05 * capacity => Holds::when((met / 100.0 - capacity / rate).abs() < 0.1),
        _ => Holds::when(*met >= 90.0),
    });
    Finding::said(claim, seen, Holds::all(holds))
}

/// Configurations of the server: series, and how many CPUs it has.
const CONCURRENT: [&str; 3] = ["1 thread, 1 CPU", "2 threads, 1 CPU", "2 threads, 2 CPUs"];

fn concurrency(data: &Data) -> Finding {
    let claim = "On one CPU neither more clients nor more threads make more calls (experiment 3, Figure 7.7)";
    let rates: Vec<f64> = CONCURRENT[..2]
        .iter()
        .flat_map(|series| data.line("concurrency", series))
        .map(|(_, rate)| rate)
        .collect();
    let (least, most) = rates
        .iter()
        .fold((f64::MAX, 0.0_f64), |(least, most), rate| {
            (least.min(*rate), most.max(*rate))
        });
    if rates.is_empty() {
        return Finding::not_measured(claim, "not measured here");
    }
    let seen = format!("{least:.0} to {most:.0} calls a second");
    Finding::said(claim, seen, Holds::when(most <= 1.15 * least))
}

/// The finding about a second CPU.
fn doubled(data: &Data) -> Finding {
    let claim = "On two CPUs two clients make twice the calls, and more clients no more (experiment 3, Figure 7.7)";
    let one = data.at("concurrency", CONCURRENT[1], 2.0);
    let line = data.line("concurrency", CONCURRENT[2]);
    let two = line.iter().filter(|(clients, _)| *clients >= 2.0);
    let gains: Vec<f64> = two
        .map(|(_, rate)| rate / one.unwrap_or(f64::NAN))
        .collect();
    let (Some(first), true) = (gains.first(), one.is_some()) else {
        return Finding::not_measured(claim, "one CPU only").placed(Placed::Split);
    };
    let each: Vec<_> = gains.iter().map(|gain| format!("×{gain:.2}")).collect();
    let seen = format!(
        "two CPUs over one, with 2, 5 and 20 clients: {}",
        each.join(", ")
    );
    // The clients need some of both CPUs as well.
    let holds = Holds::when(
        *first >= 1.7
            && gains
                .iter()
                .all(|gain| gain / first <= 1.15 && first / gain <= 1.15),
    );
    Finding::said(claim, seen, holds).placed(Placed::Split)
}

fn without_lanes(data: &Data) -> Finding {
    let claim = "Without lanes the high client loses first, as it calls most often (experiment 4, Figure 7.8b)";
    let all = RISING.map(|client| shares(data, "rates without lanes, one CPU", client));
    let (Some(high), Some(low)) = (all[0].last(), all[2].last()) else {
        return Finding::not_measured(claim, "not measured here");
    };
    Finding::said(
        claim,
        shown(&all),
        Holds::when(high.1 < WHOLE && low.1 > high.1),
    )
}

/// With a CPU or a host for the clients, the server is free between two calls of the high one.
fn apart(data: &Data, at: &str, claim: &str) -> Finding {
    let panel = format!("rising rates with lanes, {at}");
    let all = RISING.map(|client| shares(data, &panel, client));
    if all.iter().any(Vec::is_empty) {
        return Finding::not_measured(claim, "not measured here").placed(Placed::Split);
    }
    let high = Holds::all(all[0].iter().map(|(_, share)| Holds::when(*share >= WHOLE)));
    let last = all
        .each_ref()
        .map(|shares| shares.last().map_or(0.0, |last| last.1));
    let [_, medium, low] = last;
    let holds = Holds::all([high, Holds::when(medium >= low - 0.05)]);
    Finding::said(claim, shown(&all), holds).placed(Placed::Split)
}

/// Experiment 9: what a pool without lanes does, by its own priority, where there is most work.
fn pools(data: &Data) -> [Finding; 3] {
    let of = |pool: &str| {
        RISING.map(|client| shares(data, &format!("rates with a {pool} pool, one CPU"), client))
    };
    let judged = |pool: &str, claim: &str, judge: fn(f64, f64, f64) -> bool| {
        let all = of(pool);
        let [Some(high), Some(medium), Some(low)] = all
            .each_ref()
            .map(|shares| shares.last().map(|last| last.1))
        else {
            return Finding::not_measured(claim, "not measured here");
        };
        Finding::said(claim, shown(&all), Holds::when(judge(high, medium, low)))
    };
    [
        judged(
            "low",
            "A pool without lanes at low priority does not spare the high client (experiment 9, Figure 7.15b)",
            |high, _, _| high < WHOLE,
        ),
        judged(
            "medium",
            "A pool at medium priority treats high and medium alike, and low loses first (experiment 9, Figure 7.16a)",
            |high, medium, low| high < WHOLE && low <= high.min(medium),
        ),
        judged(
            "high",
            "A pool at high priority acts as lanes do: low loses first, high last (experiment 9, Figure 7.16b)",
            |high, medium, low| high >= WHOLE && high >= medium && medium >= low,
        ),
    ]
}

/// The CPU time that the client's work leaves to the server when it has a CPU of its own.
fn more_slack(data: &Data) -> Finding {
    let claim =
        "The slack grows where the clients have a CPU of their own (experiment 8, Figure 7.14b)";
    let of = |at: &str| {
        let panel = format!("best effort below capacity with lanes, {at}");
        data.line(&panel, BEST_EFFORT).last().map(|last| last.1)
    };
    let (Some(same), Some(split)) = (of("one CPU"), of("a CPU each")) else {
        return Finding::not_measured(claim, "not measured here").placed(Placed::Split);
    };
    let hosts = of("two hosts").map(|rate| format!(", on two hosts {}", three_digits(rate)));
    let seen = format!(
        "best-effort calls a second: on one CPU {}, a CPU each {}{}",
        three_digits(same),
        three_digits(split),
        hosts.unwrap_or_default()
    );
    Finding::said(claim, seen, Holds::when(split > same)).placed(Placed::Split)
}

/// Results with the most best-effort clients: shares of the three, best-effort calls per second.
fn effort(
    data: &Data,
    claim: &str,
    panel: &str,
    judge: impl FnOnce(f64, f64, f64, f64) -> Holds,
) -> Finding {
    let all = RISING.map(|client| shares(data, panel, client).last().map(|last| last.1));
    let effort = data.line(panel, BEST_EFFORT).last().map(|last| last.1);
    let ([Some(high), Some(medium), Some(low)], Some(effort)) = (all, effort) else {
        return Finding::not_measured(claim, "not measured here");
    };
    let percent = |share: f64| format!("{:.0}", 100.0 * share);
    let seen = format!(
        "ten best-effort clients: high {} %, medium {} %, low {} % of their calls; best effort {} calls a second",
        percent(high),
        percent(medium),
        percent(low),
        three_digits(effort)
    );
    Finding::said(claim, seen, judge(high, medium, low, effort)).with_number(
        &format!("lanes:{}", panel.replace([' ', ','], "-")),
        Some(100.0 * high),
        // A server without lanes guarantees nothing.
        if panel.contains("without") {
            Aim::AtLeast(0.0)
        } else {
            Aim::AtLeast(100.0 * WHOLE)
        },
    )
}
