//! Who loses deadlines first, checked from the data.

use crate::claims::Aim;
use crate::figures::data::Data;
use crate::figures::finding::{Finding, Holds, Placed};
use crate::measure::statistics::three_digits;

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

/// A client that makes this share of its calls is not disturbed: of two and a half seconds at 25 Hz, one call is 1.6 %.
const WHOLE: f64 = 0.97;

/// The share of its calls that a client made, at each place of a panel.
fn shares(data: &Data, panel: &str, client: (&str, f64)) -> Vec<(f64, f64)> {
    let line = data.line(panel, client.0);
    line.into_iter()
        .map(|(x, rate)| (x, rate / client.1))
        .collect()
}

fn shown(name: &str, shares: &[(f64, f64)]) -> String {
    let each: Vec<_> = shares
        .iter()
        .map(|(_, share)| three_digits(100.0 * share))
        .collect();
    format!("{name} {} %", each.join(", "))
}

/// Whether no client loses anything while one of a lower priority still has something to lose: up to one call in a lane that
/// is preempted.
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
                    && high + 0.03 >= medium,
            )
        });
    Holds::all(each)
}

fn order(data: &Data, claim: &str, panel: &str, clients: [(&str, f64); 3]) -> Finding {
    let all = clients.map(|client| shares(data, panel, client));
    if all.iter().any(Vec::is_empty) {
        return Finding::not_measured(claim, "not measured here");
    }
    let names = clients.iter().zip(&all);
    let seen: Vec<_> = names
        .map(|(client, shares)| shown(client.0, shares))
        .collect();
    let works: Vec<_> = all[0].iter().map(|(x, _)| three_digits(*x)).collect();
    let seen = format!(
        "calls made of those asked for, at work {}: {}",
        works.join(", "),
        seen.join("; ")
    );
    Finding::said(claim, seen, in_order(&all))
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
        "With lanes the low client is affected first, then the medium one, and the high one last (experiment 5, Figure 7.10a)",
        "rising rates with lanes, one CPU",
        RISING,
    ));
    all.push(apart(
        data,
        "a CPU each",
        "With client and server apart, too, the high client loses nothing before the others (experiment 5, Figure 7.10b)",
    ));
    all.push(apart(
        data,
        "two hosts",
        "The same over a network: two hosts (experiment 5, Figure 7.10b)",
    ));
    all.push(order(
        data,
        "Where the rate falls with the priority, it is the low client at 75 Hz that is affected first; the high one is not (experiment 6, \
         Figure 7.11b)",
        "falling rates with lanes, one CPU",
        FALLING,
    ));
    all.push(effort(
        data,
        "Without lanes, every call of best-effort clients costs the rate-based ones deadlines (experiment 7, Figure 7.12b)",
        "best effort without lanes, one CPU",
        |high, _, low, effort| Holds::when(effort > 5.0 && high.min(low) < WHOLE),
    ));
    all.push(effort(
        data,
        "With lanes, best-effort clients affect no other one (experiment 8, Figure 7.13b)",
        "best effort with lanes, one CPU",
        |high, medium, _, _| Holds::when(high >= WHOLE && medium >= WHOLE),
    ));
    let slack = |high: f64, medium: f64, low: f64, effort: f64| {
        Holds::when([high, medium, low].iter().all(|share| *share >= WHOLE) && effort > 0.0)
    };
    all.push(effort(
        data,
        "Below capacity, best-effort clients have the slack and no more (experiment 8, Figure 7.14a)",
        "best effort below capacity with lanes, one CPU",
        slack,
    ));
    all.push(more_slack(data));
    for (claim, panel) in [
        (
            "With a CPU for each end they take nothing from the others either (experiment 8, Figure 7.14b)",
            "best effort below capacity with lanes, a CPU each",
        ),
        (
            "Nor on two hosts (experiment 8, Figure 7.14b)",
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
    let claim = "The more work a call is, the fewer calls are made (experiment 1, Figure 7.5)";
    if line.len() < 2 {
        return Finding::not_measured(claim, "not measured here");
    }
    let each: Vec<_> = line
        .iter()
        .map(|(work, rate)| format!("{} at {}", three_digits(*rate), three_digits(*work)))
        .collect();
    let seen = format!("calls a second: {}", each.join(", "));
    let falls = line.windows(2).all(|pair| pair[0].1 > pair[1].1);
    Finding::said(claim, seen, Holds::when(falls))
}

fn invocation_rate(data: &Data) -> Finding {
    let line = data.line("invocation rate, one CPU", "deadlines met");
    let claim = "A rate-based client meets all deadlines up to the capacity, and fewer the farther it is beyond (experiment 2, Figure 7.6)";
    let capacity = data.at("workload, one CPU", "continuous client", 30.0);
    let Some(capacity) = capacity.filter(|_| !line.is_empty()) else {
        return Finding::not_measured(claim, "not measured here");
    };
    let each: Vec<_> = line
        .iter()
        .map(|(rate, met)| format!("{} % at {} Hz", three_digits(*met), three_digits(*rate)))
        .collect();
    let seen = format!(
        "of a capacity of {}: {}",
        three_digits(capacity),
        each.join(", ")
    );
    let holds = line.iter().map(|(rate, met)| match *rate {
        rate if rate < 0.95 * capacity => Holds::when(*met >= 99.0),
        // What the capacity leaves of the rate, within a tenth.
        rate if rate > 1.05 * capacity => Holds::when((met / 100.0 - capacity / rate).abs() < 0.1),
        _ => Holds::when(*met >= 90.0),
    });
    Finding::said(claim, seen, Holds::all(holds))
}

/// Configurations of the server: series, and how many CPUs it has.
const CONCURRENT: [&str; 3] = ["1 thread, 1 CPU", "2 threads, 1 CPU", "2 threads, 2 CPUs"];

fn concurrency(data: &Data) -> Finding {
    let claim = "On one CPU neither more clients nor more server threads make more calls of work that computes (experiment 3, Figure 7.7)";
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
    let seen = format!(
        "{} to {} calls a second",
        three_digits(least),
        three_digits(most)
    );
    Finding::said(claim, seen, Holds::when(most <= 1.15 * least))
}

/// With a second CPU.
fn doubled(data: &Data) -> Finding {
    let claim = "With two CPUs and two threads, two clients make twice the calls, and more clients no more (experiment 3, Figure 7.7)";
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
        "calls of those on one CPU, with 2, 5 and 20 clients: {}",
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
    let claim = "Without lanes, overload costs the high client deadlines first: its rate is the highest (experiment 4, Figure 7.8b)";
    let all = RISING.map(|client| shares(data, "rates without lanes, one CPU", client));
    let (Some(high), Some(low)) = (all[0].last(), all[2].last()) else {
        return Finding::not_measured(claim, "not measured here");
    };
    let names = RISING.iter().zip(&all);
    let seen: Vec<_> = names
        .map(|(client, shares)| shown(client.0, shares))
        .collect();
    let seen = format!(
        "calls made of those asked for, by work: {}",
        seen.join("; ")
    );
    Finding::said(claim, seen, Holds::when(high.1 < WHOLE && low.1 > high.1))
}

/// With a CPU or a host for the clients, the server is free between two calls of the high one.
fn apart(data: &Data, at: &str, claim: &str) -> Finding {
    let panel = format!("rising rates with lanes, {at}");
    let all = RISING.map(|client| shares(data, &panel, client));
    if all.iter().any(Vec::is_empty) {
        return Finding::not_measured(claim, "not measured here").placed(Placed::Split);
    }
    let names = RISING.iter().zip(&all);
    let seen: Vec<_> = names
        .map(|(client, shares)| shown(client.0, shares))
        .collect();
    let high = Holds::all(all[0].iter().map(|(_, share)| Holds::when(*share >= WHOLE)));
    let last = all
        .each_ref()
        .map(|shares| shares.last().map_or(0.0, |last| last.1));
    let [_, medium, low] = last;
    let holds = Holds::all([high, Holds::when(medium >= low - 0.05)]);
    Finding::said(claim, seen.join("; "), holds).placed(Placed::Split)
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
        let names = RISING.iter().zip(&all);
        let seen: Vec<_> = names
            .map(|(client, shares)| shown(client.0, shares))
            .collect();
        Finding::said(
            claim,
            seen.join("; "),
            Holds::when(judge(high, medium, low)),
        )
    };
    [
        judged(
            "low",
            "A pool without lanes at low priority treats all alike: the high client is not spared (experiment 9, Figure 7.15b)",
            |high, _, _| high < WHOLE,
        ),
        judged(
            "medium",
            "At medium priority the high and the medium client are alike, before the low one (experiment 9, Figure 7.16a)",
            |high, medium, low| high < WHOLE && low <= high.min(medium),
        ),
        judged(
            "high",
            "At high priority it does as lanes do: low first, then medium, high last (experiment 9, Figure 7.16b)",
            |high, medium, low| high >= WHOLE && high >= medium && medium >= low,
        ),
    ]
}

/// What the client's work leaves to the server when it has a CPU of its own.
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

/// With the most best-effort clients: shares of the three, calls a second of best effort.
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
    let percent = |share: f64| three_digits(100.0 * share);
    let seen = format!(
        "beside the most best-effort clients: high {} %, medium {} %, low {} % of their calls, best effort {} calls a second",
        percent(high),
        percent(medium),
        percent(low),
        three_digits(effort)
    );
    Finding::said(claim, seen, judge(high, medium, low, effort)).with_number(
        &format!("lanes:{}", panel.replace([' ', ','], "-")),
        Some(100.0 * high),
        // Without lanes nothing is promised.
        if panel.contains("without") {
            Aim::AtLeast(0.0)
        } else {
            Aim::AtLeast(100.0 * WHOLE)
        },
    )
}
