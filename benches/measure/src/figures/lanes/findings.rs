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
        without_lanes(data),
    ];
    all.push(order(
        data,
        "With lanes the low client is affected first, then the medium one, and the high one last (experiment 5, Figure 7.10a)",
        "rising rates with lanes, one CPU",
        RISING,
    ));
    all.push(split(data));
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
    all.push(
        effort(
            data,
            "Below capacity, best-effort clients have the slack and no more (experiment 8, Figure 7.14a)",
            "best effort below capacity with lanes, one CPU",
            |high, medium, low, effort| {
                Holds::when([high, medium, low].iter().all(|share| *share >= WHOLE) && effort > 0.0)
            },
        ),
    );
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

fn concurrency(data: &Data) -> Finding {
    let panel = "concurrency, one CPU";
    let claim = "On one CPU neither more clients nor more server threads make more calls of work that computes (experiment 3, Figure 7.7)";
    let rates: Vec<f64> = ["1 server threads", "3 server threads"]
        .iter()
        .flat_map(|series| data.line(panel, series))
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

/// With a CPU for the clients, the server is free between two calls of the high one.
fn split(data: &Data) -> Finding {
    let panel = "rising rates with lanes, a CPU each";
    let claim = "With client and server apart, too, the high client is affected last, and the medium one makes some progress (experiment \
                 5, Figure 7.10b)";
    let all = RISING.map(|client| shares(data, panel, client));
    if all.iter().any(Vec::is_empty) {
        return Finding::not_measured(claim, "one CPU only").placed(Placed::Split);
    }
    let names = RISING.iter().zip(&all);
    let seen: Vec<_> = names
        .map(|(client, shares)| shown(client.0, shares))
        .collect();
    let last = all
        .each_ref()
        .map(|shares| shares.last().map_or(0.0, |last| last.1));
    let [high, medium, low] = last;
    let holds = Holds::when(high >= medium && medium >= low - 0.05);
    Finding::said(claim, seen.join("; "), holds).placed(Placed::Split)
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
