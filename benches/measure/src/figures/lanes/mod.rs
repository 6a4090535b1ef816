//! Lanes under load: experiments 1 to 8 of the dissertation's chapter 7.

mod findings;

use crate::figures::Experiment;
use crate::figures::chart::{Axis, Chart, Panel};
use crate::figures::data::{Collected, Data, Place, Point};
use crate::figures::finding::Placed;
use crate::figures::session::Session;
use crate::figures::source;
use crate::measure::programs;
use serde::Deserialize;
use std::process::{Command, Stdio};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "lanes",
    sources: &[(source::DISSERTATION, "experiments 1 to 8 of chapter 7")],
    question: "Which client loses its deadlines first when a CPU has more to do than it can? A high-priority client calls 75 times a \
        second, a medium one 50 and a low one 25 times; each call keeps the server's CPU busy for a calibrated time, 0.215 ms for a \
        unit of work, so that 30 units at 150 calls a second fill it. A rate-based client whose call takes longer than its period \
        misses the periods that pass meanwhile. *Without lanes*, all threads are in the default scheduling class, and a pool of four \
        threads serves all clients. *With lanes*, each priority has a server thread (leader/followers) with its own reactor and \
        endpoint, and client and server threads are SCHED_FIFO at the same priority. Best-effort clients call without pause, at the \
        lowest priority. The kernel's bound on real-time threads (`sched_rt_runtime_us`) is lifted for the run. Clients and servers \
        are ORBs of one process, which share connections over TCP only.",
    placed: Placed::Same,
    measure,
    charts,
    findings: findings::findings,
};

/// A line of the program.
#[derive(Deserialize)]
struct Sample {
    panel: String,
    series: String,
    x: f64,
    value: f64,
    unit: String,
}

fn measure(session: &Session) -> Result<Vec<Point>, String> {
    let mut collected = Collected::default();
    session.step("experiments 1 to 8");
    let seconds = session.pick("2.5", "0.2");
    let output = Command::new(programs::ours("papers-lanes"))
        .args(["experiments", "--seconds", seconds])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("papers-lanes: {e}"))?;
    if !output.status.success() {
        return Err(format!("papers-lanes: {}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    // The first line says what the kernel's bound was.
    for line in text.lines().skip(1) {
        let sample: Sample = serde_json::from_str(line).map_err(|e| format!("{line}: {e}"))?;
        let place = Place {
            panel: sample.panel,
            series: sample.series,
            x: sample.x,
            label: None,
            unit: if sample.unit == "%" { "%" } else { "calls/s" },
        };
        collected.add(place, sample.value, None);
    }
    Ok(collected.points())
}

/// Panels of a picture: the name in the data, the title.
type Panels = &'static [(&'static str, &'static str)];

const WORK: &str = "work (units of 0.215 ms)";
const CALLS: &str = "calls a second";

const PICTURES: [(&str, &str, &str, Panels); 4] = [
    (
        "rates",
        "Rate-based clients and increasing work (dissertation, experiments 4 to 6)",
        WORK,
        &[
            ("rates without lanes, one CPU", "without lanes, one CPU"),
            ("rising rates with lanes, one CPU", "lanes, one CPU"),
            (
                "falling rates with lanes, one CPU",
                "lanes, rates falling, one CPU",
            ),
            ("rising rates with lanes, a CPU each", "lanes, a CPU each"),
        ],
    ),
    (
        "best-effort",
        "Rate-based clients and best-effort load (dissertation, experiments 7 and 8)",
        "best-effort clients",
        &[
            (
                "best effort without lanes, one CPU",
                "without lanes, work 30",
            ),
            ("best effort with lanes, one CPU", "lanes, work 30"),
            (
                "best effort below capacity with lanes, one CPU",
                "lanes, work 28",
            ),
            (
                "best effort below capacity with lanes, a CPU each",
                "lanes, work 28, a CPU each",
            ),
        ],
    ),
    (
        "workload",
        "One client that calls without pause (dissertation, experiment 1)",
        WORK,
        &[("workload, one CPU", "one server thread, one CPU")],
    ),
    (
        "concurrency",
        "Clients that call without pause (dissertation, experiment 3)",
        "clients",
        &[("concurrency, one CPU", "work 30, one CPU")],
    ),
];

fn charts(data: &Data) -> Vec<Chart> {
    let mut charts: Vec<Chart> = PICTURES
        .iter()
        .map(|(file, title, x, panels)| {
            let panel = |(name, title): &(&str, &str)| {
                Panel::lines(data, name, title, Axis::linear(x), Axis::linear(CALLS))
            };
            let panels = panels.iter().filter_map(panel).collect();
            Chart::new(format!("lanes-{file}"), *title, panels)
        })
        .collect();
    let rate = Panel::lines(
        data,
        "invocation rate, one CPU",
        "work 30, one CPU",
        Axis::linear("calls a second asked for"),
        Axis::linear("deadlines met (%)"),
    );
    charts.push(Chart::new(
        "lanes-invocation-rate",
        "One rate-based client beyond the capacity (dissertation, experiment 2)",
        rate.into_iter().collect(),
    ));
    charts.retain(|chart| !chart.panels.is_empty());
    charts
}
