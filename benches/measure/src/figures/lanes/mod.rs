//! Real-time CORBA under load: the experiments of the dissertation's chapter 7, and those of its chapters 2 and 4 to 6
//! that explain them.

mod lanes_findings;
mod patterns;
mod pictures;

use crate::figures::Experiment;
use crate::figures::data::{Collected, Data, PanelPoint, Point};
use crate::figures::finding::{Finding, Placed};
use crate::figures::session::Session;
use crate::figures::source;
use crate::measure::programs;
use serde::Deserialize;
use std::process::{Command, Stdio};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "lanes",
    sources: &[(
        source::DISSERTATION,
        "experiments 1 to 9 of chapter 7, Figures 2.5, 5.8 and 6.7, Tables 4.1 and 5.3",
    )],
    found: "Without priorities the most urgent client, which calls most often, loses its deadlines first. With a lane \
        for each priority the least urgent client loses first, and the most urgent one last. Best-effort clients \
        get the capacity that is left over, and no more.",
    seen: lanes_findings::seen,
    method: "Three clients call a server: an urgent one 75 times a second, a medium one 50 times, and one with time to \
        spare 25 times. Each call keeps the server's CPU busy for a calibrated time, 0.215 ms for a *unit of \
        work*, so that 150 calls a second of 30 units fill it. A client whose call takes longer than its period \
        misses the periods that pass meanwhile. *Best-effort* clients call without pause and take whatever is \
        left.\n\n\
        *Without lanes*, four threads of the server take requests as they come, and nothing has a priority. *With \
        lanes*, the server has one thread pool of Real-time CORBA with a lane for each priority (32,767, 21,844, \
        10,922 and 0, as in the dissertation): a port, a thread that reads, a queue and a thread that serves.\n\n\
        Clients send their priority with each request, and all threads are SCHED_FIFO, so that the operating \
        system takes the CPU away from the less urgent. The kernel's bound on such threads (`sched_rt_runtime_us`) \
        is lifted for the run. *Two hosts* are two network namespaces of one machine with a virtual Ethernet \
        between them and a CPU each. A run is short, so a client may make one call more than its rate asks for: \
        101 % or 103 % of its calls. A client counts as undisturbed if it makes 95 % of them.",
    placed: Placed::Same,
    measure,
    charts: pictures::charts,
    findings,
};

pub(crate) use pictures::stories;

fn findings(data: &Data) -> Vec<Finding> {
    let mut all = lanes_findings::findings(data);
    all.extend(patterns::findings(data));
    all
}

/// A line of the program.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Sample {
        panel: String,
        series: String,
        x: f64,
        #[serde(default)]
        label: Option<String>,
        value: f64,
        unit: String,
    },
    Missing {
        missing: String,
    },
    /// The kernel's bound on real-time threads.
    Bound {
        #[serde(rename = "bound")]
        _bound: String,
    },
}

/// Builds the program.
///
/// # Errors
/// Cargo does not start, or fails.
pub(crate) fn build() -> Result<(), String> {
    programs::build(&["zorb-papers"], &["--bin", "papers-lanes"], &[])
}

const UNITS: [&str; 9] = [
    "%", "calls/s", "ms", "ns", "M/s", "times", "allowed", "priority", "µs",
];

fn measure(session: &Session) -> Result<Vec<Point>, String> {
    let mut collected = Collected::default();
    let seconds = session.pick("0.7", "0.02");
    let rounds = session.pick(session.rounds, 1);
    session.expect(rounds);
    for round in 1..=rounds {
        session.step(format!("round {round}"));
        let output = Command::new(programs::ours("papers-lanes"))
            .args(["experiments", "--seconds", seconds])
            .stderr(Stdio::inherit())
            .output()
            .map_err(|e| format!("papers-lanes: {e}"))?;
        if !output.status.success() {
            return Err(format!("papers-lanes: {}", output.status));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        for line in text.lines() {
            take(line, session, &mut collected)?;
        }
    }
    Ok(collected.points())
}

fn take(line: &str, session: &Session, collected: &mut Collected) -> Result<(), String> {
    match serde_json::from_str(line).map_err(|e| format!("{line}: {e}"))? {
        Line::Bound { .. } => {}
        Line::Missing { missing } => {
            eprintln!("not measured: {missing}");
            session.miss(missing);
        }
        Line::Sample {
            panel,
            series,
            x,
            label,
            value,
            unit,
        } => {
            let known = UNITS.iter().find(|known| **known == unit);
            let place = PanelPoint {
                panel,
                series,
                x,
                label,
                unit: known.ok_or_else(|| format!("{line}: no such unit"))?,
            };
            collected.add(place, value, None);
        }
    }
    Ok(())
}
