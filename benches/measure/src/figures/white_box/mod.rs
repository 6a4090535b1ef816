//! The time of a call, step by step: the pluggable-protocols paper's Tables 1 and 2 and Figures 6 to 8, the
//! dissertation's Table 3.1.

mod step_table;
mod steps;
mod white_box_charts;
mod white_box_findings;

pub(super) use step_table::tables;

use crate::figures::Experiment;
use crate::figures::contender::PLACEMENTS;
use crate::figures::data::{Collected, PanelPoint, Point};
use crate::figures::finding::Placed;
use crate::figures::session::Session;
use crate::figures::source;
use crate::measure::dialogue::{Answer, Dialogue, Pair};
use crate::measure::place::Placement;
use crate::measure::programs::{self, ours};
use steps::{CLIENT, FOUND, FOUND_TOGETHER, LAYERS, NOT_OURS, SERVER, SUM};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "white-box",
    sources: &[
        (source::PLUGGABLE, "Tables 1 and 2, Figures 6 to 8"),
        (source::DISSERTATION, "Table 3.1"),
    ],
    found: "TAO's client spent 0.74 to 50.7 µs in each step of a call, its server 1.39 to 93.6 µs. Just over half of a \
        call over TCP was I/O and the operating system. Finding POA, servant and operation took 15.1 of the \
        server's 153 µs.",
    seen: white_box_findings::seen,
    method: "zorb is built with the feature `probes`, which records a mark at the end of each step in a ring of the \
        thread; without the feature no such code exists. A step lasts from one mark to the next, less the cost of \
        a mark. Each number is the mean over the middle half of the calls by duration, the same calls for all \
        steps, so that the steps and the time in no step add up to the call. A negative time is below the \
        difference of two marks.\n\n\
        Steps have the papers' numbers: C1 is the first of the client (Table 1), S01 the first of the server \
        (Table 2). Where zorb has no such step, the row names the step that includes it. The client's wait \
        includes the server's work and ends with the read that brings the reply (C6); the server's wait belongs to \
        no step. A server caches the request headers of a connection: for a repeated header, S04 to S06 are one \
        comparison. In the layers of both ends, *messaging* includes marshalling and demarshalling.",
    placed: Placed::Split,
    measure,
    charts: white_box_charts::charts,
    findings: white_box_findings::findings,
};

#[derive(Clone, Copy, Debug)]
struct Asked {
    kind: &'static str,
    units: usize,
}

impl Asked {
    fn label(self) -> String {
        match self {
            Self {
                kind: "noparams", ..
            } => "none".to_owned(),
            Self { kind, units } => format!("{units} {kind}"),
        }
    }

    /// Its order: nothing, octets by their number, then structs.
    fn x(self) -> f64 {
        match self.kind {
            "noparams" => 0.0,
            "octets" => self.units as f64,
            _ => 1e9 + self.units as f64,
        }
    }
}

fn asked(session: &Session) -> Vec<Asked> {
    let octets: &[usize] = session.pick(
        &[4, 16, 64, 256, 1_024, 2_048, 8_192, 65_536],
        &[4, 2_048, 65_536],
    );
    let mut all = vec![Asked {
        kind: "noparams",
        units: 0,
    }];
    all.extend(octets.iter().map(|&units| Asked {
        kind: "octets",
        units,
    }));
    all.push(Asked {
        kind: "structs",
        units: 1_024,
    });
    all
}

/// Over what, and whether the server listens on a UNIX socket.
const TRANSPORTS: [(&str, bool); 2] = [("TCP", false), ("UNIX", true)];

/// Builds zorb with its marks, and the program.
fn ready() -> Result<(), String> {
    let program = ["--bin", "papers-white-box"];
    let features = ["--features", "zorb-papers/probes"];
    programs::build(&["zorb-papers"], &[program, features].concat(), &[])
}

struct Pairs {
    transport: &'static str,
    placement: Placement,
    dialogue: Dialogue,
}

fn measure(session: &Session) -> Result<Vec<Point>, String> {
    ready()?;
    let mut pairs = Vec::new();
    for placement in PLACEMENTS {
        for (transport, unix) in TRANSPORTS {
            let words = |role: &str| vec![ours("papers-white-box"), role.to_owned()];
            let pair = Pair {
                name: format!("white box over {transport}"),
                server: Some(words("serve")),
                client: words("call"),
                unix,
            };
            pairs.push(Pairs {
                transport,
                placement,
                dialogue: Dialogue::start(&pair, placement, session.cpus)?,
            });
        }
    }
    let mut collected = Collected::default();
    let calls = session.pick(500, 50);
    session.rounds(&asked(session), &mut pairs, |asked, pair| {
        let Asked { kind, units } = asked;
        let answer = pair.dialogue.ask(&format!("{kind} {units} {calls}"))?;
        keep(&mut collected, *asked, pair, &answer)
    })?;
    pairs.into_iter().try_for_each(|pair| pair.dialogue.end())?;
    Ok(collected.points())
}

/// The panel of what the bars of another one are as a whole, and its only series.
fn together(of: &str) -> String {
    format!("{of} together")
}

const TOGETHER: &str = "together";

/// Nanoseconds of a step in an answer; none if there is no such step in the call.
fn step(answer: &Answer, end: &str, name: &str) -> f64 {
    let steps = answer.more.get(end);
    let step = steps.and_then(|steps| steps.get(name));
    step.and_then(serde_json::Value::as_f64).unwrap_or(0.0)
}

fn keep(
    collected: &mut Collected,
    asked: Asked,
    pair: &Pairs,
    answer: &Answer,
) -> Result<(), String> {
    let Pairs {
        transport,
        placement,
        ..
    } = pair;
    let mut add = |panel: &str, series: &str, nanoseconds: f64| {
        let place = PanelPoint {
            panel: format!("{panel}, {transport}, {placement}"),
            series: series.to_owned(),
            x: asked.x(),
            label: Some(asked.label()),
            unit: "µs",
        };
        collected.add(place, nanoseconds / 1_000.0, None);
    };
    // The parts of one bar are stacked, so that the spread of the whole is known.
    let mut stacks: Vec<(String, f64)> = Vec::new();
    for (end, steps) in [("client", &CLIENT[..]), ("server", &SERVER[..])] {
        let known = |name: &str| steps.iter().any(|(step, _)| *step == name);
        let found = answer.more.get(end).and_then(serde_json::Value::as_object);
        let found = found.ok_or_else(|| format!("no steps of the {end}"))?;
        if let Some(unknown) = found.keys().find(|name| !known(name)) {
            return Err(format!("the {end} has a step {unknown} that is not drawn"));
        }
        let mut all = 0.0;
        for (name, series) in steps {
            let took = step(answer, end, name);
            add(end, series, took);
            if NOT_OURS.contains(name) {
                continue;
            }
            all += took;
            if !FOUND.contains(name) {
                add(&format!("{end} itself"), series, took);
            }
        }
        stacks.push((format!("{end} itself"), all));
    }
    let mut worked = 0.0;
    for (layer, steps) in LAYERS {
        let both = |name: &&str| step(answer, "client", name) + step(answer, "server", name);
        let took = steps.iter().map(both).sum();
        worked += took;
        add("layers", layer, took);
    }
    stacks.push(("layers".to_owned(), worked));
    let found = FOUND.map(|name| step(answer, "server", name));
    add("server itself", FOUND_TOGETHER, found.iter().sum());
    let number = |name: &str| answer.more.get(name).and_then(serde_json::Value::as_f64);
    let of = |name: &str| number(name).ok_or_else(|| format!("no {name} in the answer"));
    add("whole", "a call", answer.p50_ns);
    add("whole", "a mark", of("mark_ns")?);
    let (whole, marks) = (of("whole_ns")?, of("marks_ns")?);
    let client = |name: &str| step(answer, "client", name);
    let waited = client("wait and read") + client("read");
    let known: f64 = CLIENT.iter().map(|(name, _)| client(name)).sum();
    let own = known - waited - client("write");
    let parts = [own, client("write"), waited, marks, whole - known - marks];
    for (series, took) in SUM.into_iter().zip(parts) {
        add("sum", series, took);
    }
    stacks.push(("sum".to_owned(), parts.iter().sum()));
    for (of, took) in stacks {
        add(&together(&of), TOGETHER, took);
    }
    for (at, (name, took)) in FOUND.into_iter().zip(found).enumerate() {
        let place = PanelPoint {
            panel: format!("found, {transport}, {placement}"),
            series: asked.label(),
            x: at as f64,
            label: Some(name.to_owned()),
            unit: "ns",
        };
        collected.add(place, took, None);
    }
    Ok(())
}
