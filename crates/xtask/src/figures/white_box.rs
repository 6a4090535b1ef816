//! Where a call's time goes, step by step: the pluggable-protocols paper's Tables 1 and 2 and Figures 6 to 8, the
//! dissertation's Table 3.1.

use crate::figures::Experiment;
use crate::figures::chart::{Axis, Chart, Kind, Panel, Series};
use crate::figures::contender::{PLACEMENTS, place_title};
use crate::figures::data::{Collected, Data, Place, Point};
use crate::figures::finding::{Finding, Holds, Placed, with_unit};
use crate::figures::session::Session;
use crate::figures::source;
use crate::measure::dialogue::{Answer, Dialogue, Pair};
use crate::measure::place::Placement;
use crate::measure::programs::ours;
use crate::measure::statistics::three_digits;
use crate::step::{cargo, root, run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "white-box",
    sources: &[
        (source::PLUGGABLE, "Tables 1 and 2, Figures 6 to 8"),
        (source::DISSERTATION, "Table 3.1"),
    ],
    question: "Where does the time of a two-way call go, in the client and in the server? zorb is built with the feature `probes` \
               for this, which marks the end of each step in a ring of the thread's; without it there is nothing of that in it. \
               A step is what passes between two marks, less what a mark takes; of each the mean of the middle half of all calls is shown. The steps \
               are the papers', by their numbers there: C1 is the first of the client's (Table 1), S1 of the server's (Table 2). A \
               step of the papers that is not one here is said to be part of another. What the client waits for, the server's work \
               included, ends with the read that brings the reply (C6); what a server waits for is nobody's step.",
    placed: Placed::Split,
    measure,
    charts,
    findings,
};

/// Steps of a client as the program calls them, and as they are drawn: the papers' number first.
const CLIENT: [(&str, &str); 11] = [
    ("initialise", "C1 initialise"),
    ("get reference", "C2 get object reference"),
    ("marshal", "C3 marshal"),
    ("messaging send", "C4 messaging send"),
    ("transport send", "C5 transport send"),
    ("write", "C5 the system call that writes"),
    ("wait and read", "C6 wait and read"),
    ("read", "C6 read on"),
    ("transport receive", "C7 transport receive"),
    ("messaging receive", "C8 messaging receive"),
    ("demarshal", "C9 demarshal"),
];

/// The same of a server.
const SERVER: [(&str, &str); 13] = [
    ("read", "S01 read on"),
    ("transport receive", "S02 transport receive"),
    ("messaging receive", "S03 messaging receive"),
    ("parse object key", "S04 parse object key"),
    ("POA demux", "S05 POA demux"),
    ("servant demux", "S06 servant demux"),
    ("prepare upcall", "S06 prepare the upcall"),
    ("operation demux", "S07 operation demux"),
    ("demarshal", "S07 make the future, demarshal"),
    ("upcall", "S08 upcall"),
    (
        "marshal result, messaging send",
        "S09 marshal result, messaging send",
    ),
    ("transport send", "S10 transport send"),
    ("write", "S10 the system call that writes"),
];

/// Steps that find whose upcall it is: beside each other in a picture of their own.
const FOUND: [&str; 4] = [
    "parse object key",
    "POA demux",
    "servant demux",
    "operation demux",
];

/// What they are together where all steps are drawn.
const FOUND_TOGETHER: &str = "S04 to S07 find the upcall";

/// Steps that are no work of the ORB's, and would hide what is.
const NOT_OURS: [&str; 3] = ["write", "read", "wait and read"];

/// The layers of Figure 7, and which steps of both ends are theirs.
const LAYERS: [(&str, &[&str]); 4] = [
    ("1 system calls", &["write", "read"]),
    ("2 transport", &["transport send", "transport receive"]),
    (
        "3 messaging",
        &[
            "messaging send",
            "messaging receive",
            "marshal result, messaging send",
            "marshal",
            "demarshal",
        ],
    ),
    (
        "4 the rest of the ORB",
        &[
            "initialise",
            "get reference",
            "parse object key",
            "POA demux",
            "servant demux",
            "prepare upcall",
            "operation demux",
            "upcall",
        ],
    ),
];

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

    /// Where it stands: nothing, octets by their number, then structs.
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
    let mut build = cargo();
    build
        .current_dir(root())
        .args(["build", "--release", "--quiet", "-p", "zorb-papers"])
        .args(["--bin", "papers-white-box", "--features", "probes"]);
    run(&mut build)
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
        let place = Place {
            panel: format!("{panel}, {transport}, {placement}"),
            series: series.to_owned(),
            x: asked.x(),
            label: Some(asked.label()),
            unit: "µs",
        };
        collected.add(place, nanoseconds / 1_000.0, None);
    };
    for (end, steps) in [("client", &CLIENT[..]), ("server", &SERVER[..])] {
        let known = |name: &str| steps.iter().any(|(step, _)| *step == name);
        let found = answer.more.get(end).and_then(serde_json::Value::as_object);
        let found = found.ok_or_else(|| format!("no steps of the {end}"))?;
        if let Some(unknown) = found.keys().find(|name| !known(name)) {
            return Err(format!("the {end} has a step {unknown} that is not drawn"));
        }
        for (name, series) in steps {
            let took = step(answer, end, name);
            add(end, series, took);
            if !NOT_OURS.contains(name) && !FOUND.contains(name) {
                add(&format!("{end} itself"), series, took);
            }
        }
    }
    for (layer, steps) in LAYERS {
        let both = |name: &&str| step(answer, "client", name) + step(answer, "server", name);
        add("layers", layer, steps.iter().map(both).sum());
    }
    let found = FOUND.map(|name| step(answer, "server", name));
    add("server itself", FOUND_TOGETHER, found.iter().sum());
    add("whole", "a call", answer.p50_ns);
    let mark = answer
        .more
        .get("mark_ns")
        .and_then(serde_json::Value::as_f64);
    add("whole", "a mark", mark.unwrap_or(0.0));
    for (at, (name, took)) in FOUND.into_iter().zip(found).enumerate() {
        let place = Place {
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

fn charts(data: &Data) -> Vec<Chart> {
    let panel = |of: &str, transport: &str, placement: Placement| {
        let name = format!("{of}, {transport}, {placement}");
        let title = format!("{transport}, {}", place_title(placement));
        let axes = ("argument", Axis::linear("time (µs)"));
        Panel::bars(data, &name, &title, axes, Kind::Stacked)
    };
    let chart = |file: &str, title: &str, panels: Vec<Panel>| Chart {
        file: format!("white-box-{file}"),
        title: title.to_owned(),
        panels,
    };
    let both = |of: &str, transport: &str| -> Vec<Panel> {
        let of_it = |placement| panel(of, transport, placement);
        PLACEMENTS.into_iter().filter_map(of_it).collect()
    };
    let found = |placement| {
        let name = format!("found, TCP, {placement}");
        let axes = ("step", Axis::linear("time (ns)"));
        let mut panel = Panel::bars(data, &name, place_title(placement), axes, Kind::Bars)?;
        let shown = ["none", "2048 octets", "1024 structs"];
        let place = |one: &Series| shown.iter().position(|name| *name == one.name);
        panel.series.retain(|one| place(one).is_some());
        panel.series.sort_by_key(place);
        Some(panel)
    };
    let layers = TRANSPORTS.map(|(transport, _)| both("layers", transport));
    vec![
        chart(
            "layers",
            "System calls that write, transport, messaging and the rest, of both ends (Figures 7 and 8)",
            layers.concat(),
        ),
        chart(
            "client",
            "Where the client's time goes, without its wait and the system call that writes (Table 1)",
            both("client itself", "TCP"),
        ),
        chart(
            "server",
            "Where the server's time goes, without the system call that writes (Table 2)",
            both("server itself", "TCP"),
        ),
        chart(
            "found",
            "How the server finds whose upcall it is, by the argument of the call (Table 2; dissertation, Table 3.1)",
            PLACEMENTS.into_iter().filter_map(found).collect(),
        ),
    ]
}

fn findings(data: &Data) -> Vec<Finding> {
    let at = |end: &str, transport: &str, series: &str, label: &str| {
        data.under(&format!("{end}, {transport}, split"), series, label)
    };
    let us = |value: f64| match value < 1.0 {
        true => with_unit(1_000.0 * value, "ns"),
        false => with_unit(value, "µs"),
    };
    let percent = |part: f64, whole: f64| format!("{} %", three_digits(100.0 * part / whole));
    let sum = |end: &str, steps: &[(&str, &str)], label: &str, but: &str| -> Option<f64> {
        let all = steps.iter().filter(|(_, series)| !series.contains(but));
        all.map(|(_, series)| at(end, "TCP", series, label)).sum()
    };
    let layer = |transport: &str, at_layer: usize, label: &str| {
        at("layers", transport, LAYERS[at_layer].0, label)
    };
    let worked = |transport: &str, label: &str| -> Option<f64> {
        (0..LAYERS.len()).map(|n| layer(transport, n, label)).sum()
    };
    let without_system =
        |label: &str| -> Option<f64> { (1..LAYERS.len()).map(|n| layer("TCP", n, label)).sum() };
    // The largest step of those.
    let most = |end: &str, steps: &[(&str, &'static str)], but: &str| {
        let each = steps.iter().filter(|(_, series)| !series.contains(but));
        let timed = each.filter_map(|(_, series)| Some((at(end, "TCP", series, "none")?, *series)));
        timed.max_by(|a, b| a.0.total_cmp(&b.0))
    };
    let client_most = most("client", &CLIENT, "wait");
    let server_most = most("server", &SERVER, "no such");
    let demux = |series: &str| at("server", "TCP", series, "none");
    // All steps but the wait, in their order, and how many of them take a microsecond.
    let told = |end: &str, steps: &[(&str, &str)]| {
        let mut long = 0;
        let mut words = Vec::new();
        let works = |name: &str| name != "wait and read" && name != "read";
        for (name, series) in steps.iter().filter(|(name, _)| works(name)) {
            let took = at(end, "TCP", series, "none")?;
            long += usize::from(took >= 1.0);
            words.push(format!("{name} {}", us(took)));
        }
        Some((long as f64, words.join(", ")))
    };
    let each_step = |end: &str, steps: &[(&str, &str)], claim: &str| {
        let told = told(end, steps);
        let long = told.as_ref().map(|(long, _)| *long);
        Finding::new(claim, [long], |[long]| {
            let seen = told.map(|(_, words)| words).unwrap_or_default();
            let holds = match long as usize {
                0 => Holds::No,
                n if n + 2 >= steps.len() => Holds::Yes,
                _ => Holds::InPart,
            };
            (seen, holds)
        })
    };
    vec![
        each_step(
            "client",
            &CLIENT,
            "The client's steps take microseconds each (Table 1, in µs: initialise 6.30, get object reference 15.6, marshal \
             0.74, messaging send 7.78, transport send 1.02, I/O 8.70, transport receive 50.7, messaging receive 9.25)",
        ),
        each_step(
            "server",
            &SERVER,
            "The server's steps take microseconds each (Table 2, in µs: I/O 7.0, transport receive 24.8, messaging receive 4.5, \
             parse object key 4.6, POA demux 1.39, servant demux 4.6, operation demux 4.52, upcall 3.84, messaging send 4.56, \
             transport send 93.6)",
        ),
        Finding::new(
            "I/O and the operating system are just over half of a call's time over TCP (Figure 7)",
            [
                layer("TCP", 0, "none"),
                worked("TCP", "none"),
                data.under("whole, TCP, split", "a call", "none"),
                at("client", "TCP", "C6 wait and read", "none"),
            ],
            |[system, worked, whole, waited]| {
                let seen = format!(
                    "of {} without arguments, the client waits {}; of the {} that both ends work, {} are in the system call that \
                     writes. What the kernel does before a read comes back is in the wait",
                    us(whole),
                    us(waited),
                    us(worked),
                    percent(system, worked)
                );
                let holds = match system / worked {
                    share if share < 0.45 => Holds::No,
                    share if share <= 0.65 => Holds::Yes,
                    _ => Holds::InPart,
                };
                (seen, holds)
            },
        ),
        Finding::new(
            "UNIX sockets are faster than TCP because of the operating system alone (Figure 7)",
            [
                data.under("whole, TCP, split", "a call", "none"),
                data.under("whole, UNIX, split", "a call", "none"),
                worked("TCP", "none")
                    .zip(layer("TCP", 0, "none"))
                    .map(|(all, os)| all - os),
                worked("UNIX", "none")
                    .zip(layer("UNIX", 0, "none"))
                    .map(|(all, os)| all - os),
            ],
            |[tcp, unix, tcp_orb, unix_orb]| {
                let seen = format!(
                    "a call takes {} over TCP, {} over UNIX; outside of system calls both ends work {} and {}",
                    us(tcp),
                    us(unix),
                    us(tcp_orb),
                    us(unix_orb)
                );
                let alike = (tcp_orb / unix_orb - 1.0).abs() < 0.2;
                let holds = match (unix < tcp, alike) {
                    (true, true) => Holds::Yes,
                    (false, _) => Holds::No,
                    (true, false) => Holds::InPart,
                };
                (seen, holds)
            },
        ),
        Finding::new(
            "Of the client's own steps, receiving through the transport takes longest (Table 1; the paper counts the wait there)",
            [
                client_most.map(|(value, _)| value),
                at("client", "TCP", "C7 transport receive", "none"),
                sum("client", &CLIENT, "none", "wait"),
            ],
            |[largest, receive, all]| {
                let name = client_most.map_or("", |(_, series)| series);
                let seen = format!(
                    "without the wait the longest is {name}: {} of {} ({}); receiving through the transport takes {}",
                    us(largest),
                    us(all),
                    percent(largest, all),
                    us(receive)
                );
                (seen, Holds::when(name.starts_with("C7")))
            },
        ),
        Finding::new(
            "Of the server's steps, sending through the transport takes longest, the write included (Table 2)",
            [
                server_most.map(|(value, _)| value),
                sum("server", &SERVER, "none", "no such"),
            ],
            |[largest, all]| {
                let name = server_most.map_or("", |(_, series)| series);
                let seen = format!(
                    "{name}: {} of {} ({})",
                    us(largest),
                    us(all),
                    percent(largest, all)
                );
                (seen, Holds::when(name.starts_with("S10")))
            },
        ),
        Finding::new(
            "A client of calls without parameters spends 74 to 99 % of its time writing (latency paper, section 4.3.3, Tables 1 and 2)",
            [
                at("client", "TCP", "C5 the system call that writes", "none"),
                sum("client", &CLIENT, "none", "wait"),
            ],
            |[write, all]| {
                let seen = format!(
                    "{} of {} without its wait, {}",
                    us(write),
                    us(all),
                    percent(write, all)
                );
                (seen, Holds::when(write > 0.7 * all))
            },
        ),
        Finding::new(
            "A server of such calls spends 10 to 21 % of its time writing and 22 to 38 % finding object and operation (latency paper, section 4.3.3, Tables 1 and 2)",
            [
                at("server", "TCP", "S10 the system call that writes", "none"),
                data.under("server itself, TCP, split", FOUND_TOGETHER, "none"),
                sum("server", &SERVER, "none", "no such"),
            ],
            |[write, found, all]| {
                let seen = format!(
                    "of {}, which the read that brings the request is not in: writing {}, finding {}",
                    us(all),
                    percent(write, all),
                    percent(found, all)
                );
                (seen, Holds::both(write < 0.3 * all, found > 0.15 * all))
            },
        ),
        Finding::new(
            "Finding POA, servant and operation takes a fixed, small time (Table 2, steps 4 to 7; dissertation, Table 3.1: POA 2 µs, servant 3, operation 3)",
            [
                demux("S04 parse object key"),
                demux("S05 POA demux"),
                demux("S06 servant demux"),
                demux("S07 operation demux"),
                sum("server", &SERVER, "none", "no such"),
            ],
            |[key, poa, servant, operation, all]| {
                let seen = format!(
                    "parsing the key takes {}, the POA {}, the servant {}, the operation {}: {} of the server's steps",
                    us(key),
                    us(poa),
                    us(servant),
                    us(operation),
                    percent(key + poa + servant + operation, all)
                );
                (
                    seen,
                    Holds::when(key + poa + servant + operation < 0.2 * all),
                )
            },
        ),
        Finding::new(
            "Only marshalling and copying depend on the size of the argument; the ORB's other steps do not (Figure 8)",
            [
                layer("TCP", 3, "none"),
                layer("TCP", 3, "2048 octets"),
                layer("TCP", 0, "none"),
                layer("TCP", 0, "2048 octets"),
            ],
            |[rest, rest_large, system, system_large]| {
                let seen = format!(
                    "without arguments and with 2,048 octets: the rest of the ORB {} and {}, system calls {} and {}",
                    us(rest),
                    us(rest_large),
                    us(system),
                    us(system_large)
                );
                (seen, Holds::when(rest_large < 1.5 * rest))
            },
        ),
        Finding::new(
            "With more than 256 octets, which are copied otherwise than fewer, transport and ORB take slightly longer (Figure 8)",
            [without_system("256 octets"), without_system("2048 octets")],
            |[few, many]| {
                let seen = format!(
                    "outside of system calls both ends work {} with 256 octets and {} with 2,048",
                    us(few),
                    us(many)
                );
                (seen, Holds::when(many > 1.02 * few && many < 1.5 * few))
            },
        ),
        Finding::new(
            "A probe costs 1 to 2 µs (section 4.3.1)",
            [data.under("whole, TCP, split", "a mark", "none")],
            |[mark]| {
                (
                    format!("a mark takes {}, which is taken off each step", us(mark)),
                    Holds::when(mark >= 1.0),
                )
            },
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn every_step_is_in_one_layer_or_a_wait() {
        let all: Vec<&str> = LAYERS
            .iter()
            .flat_map(|(_, steps)| steps.iter().copied())
            .collect();
        for (name, _) in CLIENT.iter().chain(&SERVER) {
            let times = all.iter().filter(|step| *step == name).count();
            assert_eq!(times, usize::from(*name != "wait and read"), "{name}");
        }
    }

    #[test]
    fn a_claim_is_judged_by_the_numbers() {
        let layer =
            |n: usize, label, value| ("layers, TCP, split", LAYERS[n].0, 0.0, Some(label), value);
        let data = data(&[
            layer(3, "none", 1.0),
            layer(3, "2048 octets", 1.1),
            layer(0, "none", 4.0),
            layer(0, "2048 octets", 40.0),
        ]);
        let judged = findings(&data);
        let sizes = judged
            .iter()
            .find(|f| f.claim.starts_with("Only marshalling"));
        let sizes = sizes.unwrap();
        assert_eq!(sizes.holds, Holds::Yes, "{}", sizes.seen);
        assert_eq!(judged[0].holds, Holds::Unknown);
        assert_eq!(charts(&data).len(), 4);
    }
}
