//! The cubit over circuits of ATM, beside TCP, in the virtual machine that has circuits.

use crate::figures::chart::{Axis, Chart, Kind, Panel};
use crate::figures::cubit::cubit_charts::{Call, chart, stacked};
use crate::figures::cubit::{LENGTHS, OPERATIONS, Work};
use crate::figures::data::{Collected, Data, PanelPoint};
use crate::figures::finding::{Finding, Holds, Placed};
use crate::figures::measured::{EQUAL, Measured, ratio};
use crate::figures::session::Session;
use crate::measure::dialogue::Answer;
use crate::measure::programs::ours;
use serde::Deserialize;
use xtask::machine;

/// Messagings, as their series are called.
pub(super) const MESSAGINGS: [&str; 4] = ["GIOP 1.0", "GIOP 1.1", "GIOP 1.2", "GIOPlite"];
/// The newest of GIOP, whose times are measured by the length of arguments too.
const NEWEST: &str = "GIOP 1.2";
/// The series without an ORB.
const RAW: &str = "raw";
const TRANSPORTS: [&str; 2] = ["TCP", "ATM"];
/// The machine's clock counts instructions, each of which takes two to this power nanoseconds: what else the host does
/// moves no number.
const CLOCK: (&str, &str) = ("ATM_VM_ICOUNT", "1");
const CALLS: usize = 100;
const QUICK_CALLS: usize = 10;

fn times(transport: &str) -> String {
    format!("times, machine, {transport}")
}

fn calls(transport: &str) -> String {
    format!("calls, machine, {transport}")
}

fn lengths(transport: &str) -> String {
    format!("lengths, machine, {transport}")
}

/// A line of the program's: what it was asked, and its answer.
#[derive(Deserialize)]
struct Said {
    question: String,
    messaging: String,
    transport: String,
    answer: Answer,
}

impl Work {
    /// The request to the program in the machine.
    fn question(self) -> String {
        match self {
            Self::Operation(_, operation) => format!("{}:{}", operation.name, operation.elements),
            Self::Length(octets) => format!("newest:octets:{octets}"),
        }
    }
}

/// Measures all protocols in the machine; without one, the session notes that.
///
/// # Errors
/// The program in it fails, or says what cannot be read.
pub(super) fn measure(session: &Session, collected: &mut Collected) -> Result<(), String> {
    if let Err(why) = machine::ready() {
        session.miss(format!("circuits of ATM ({why})"));
        return Ok(());
    }
    session.expect(1);
    session.step("in the virtual machine");
    let lengths: &[usize] = session.pick(&LENGTHS, &[4, 2048]);
    let operations = OPERATIONS.into_iter().enumerate();
    let operations = operations.map(|(at, operation)| Work::Operation(at, operation));
    let works: Vec<Work> = operations
        .chain(lengths.iter().map(|&octets| Work::Length(octets)))
        .collect();
    let mut command = machine::command(&ours("papers-cubit"));
    command.env(CLOCK.0, CLOCK.1);
    command.args(["machine", "--rounds", &session.rounds.to_string()]);
    let calls = session.pick(CALLS, QUICK_CALLS).to_string();
    command.args(["--calls", &calls]);
    command.args(works.iter().map(|work| work.question()));
    let output = command.output();
    let output = output.map_err(|e| format!("the virtual machine does not start: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(format!("in the virtual machine: {text} {why}"));
    }
    collected.other_rounds();
    for line in text.lines() {
        let said = serde_json::from_str(line);
        let said: Said = said.map_err(|e| format!("in the virtual machine: {e}: {line:?}"))?;
        let work = works.iter().find(|work| work.question() == said.question);
        let work = work.ok_or_else(|| format!("never asked: {}", said.question))?;
        keep(collected, *work, said);
    }
    Ok(())
}

fn keep(collected: &mut Collected, work: Work, said: Said) {
    let Said {
        messaging,
        transport,
        answer,
        ..
    } = said;
    let place = |panel, x, label: &str, unit| PanelPoint {
        panel,
        series: messaging.clone(),
        x,
        label: Some(label.to_owned()),
        unit,
    };
    match work {
        Work::Operation(at, operation) => {
            let place = |panel, unit| place(panel, at as f64, operation.label, unit);
            collected.add(place(times(&transport), "µs"), answer.p50_us(), None);
            let rate = place(calls(&transport), "calls/s");
            collected.add(rate, answer.calls_per_s, None);
        }
        Work::Length(octets) => {
            let label = octets.to_string();
            let place = place(lengths(&transport), octets as f64, &label, "µs");
            collected.add(place, answer.p50_us(), None);
        }
    }
}

/// Figure 5's bars.
pub(super) fn bars(data: &Data) -> Chart {
    let panels = TRANSPORTS.into_iter().filter_map(|transport| {
        let axes = (
            "what is cubed (sequences with their octets)",
            Axis::linear("calls/s"),
        );
        let title = match transport {
            "TCP" => "over TCP; raw: sockets that park",
            _ => "over circuits of ATM; raw: frames without sessions",
        };
        Panel::bars(data, &calls(transport), title, axes, Kind::Bars)
    });
    Chart::new(
        "cubit-machine",
        "IDL Cubit in an emulated machine, 2 ns an instruction: calls a second over TCP and ATM (Figure 5)",
        panels.collect(),
    )
    .in_a_column()
}

/// Figures 7 and 8.
pub(super) fn overhead(data: &Data) -> Chart {
    let panels = TRANSPORTS.map(|transport| (transport, times(transport)));
    let mut voids = Vec::new();
    for (transport, panel) in &panels {
        for messaging in MESSAGINGS {
            let [call, floor] = [messaging, RAW].map(|who| data.point_under(panel, who, "void"));
            let (Some(call), Some(floor)) = (call, floor) else {
                continue;
            };
            voids.push(Call {
                x: voids.len() as f64,
                label: format!("{} {transport}", messaging.trim_start_matches("GIOP ")),
                call,
                floor,
            });
        }
    }
    let axes = (
        "messaging and transport",
        Axis::linear("time of a call (µs)"),
    );
    let mut panels = Vec::from_iter(stacked(data, &voids, "without parameters", axes));
    for transport in TRANSPORTS {
        let panel = lengths(transport);
        let of_it = data.of(&panel).filter(|point| point.series == NEWEST);
        let calls = of_it.filter_map(|call| {
            let label = call.label.clone()?;
            Some(Call {
                x: call.x,
                floor: data.point_under(&panel, RAW, &label)?,
                label,
                call,
            })
        });
        let calls: Vec<Call<'_>> = calls.collect();
        let axes = (
            "octets of the sequence",
            Axis::linear("time of a call (µs)"),
        );
        let title = format!("{NEWEST} over {transport}");
        panels.extend(stacked(data, &calls, &title, axes));
    }
    chart(
        "cubit-machine-overhead",
        "IDL Cubit in an emulated machine, 2 ns an instruction: what of a call is the ORB's (Figures 7 and 8)",
        panels,
    )
}

/// The paper's claims, of TCP and ATM in the machine.
pub(super) fn findings(data: &Data) -> Vec<Finding> {
    let void = |messaging: &str, transport: &str| {
        data.measured_under(&times(transport), messaging, "void")
    };
    let us = |value: Measured| value.with_unit("µs");
    let gain = |transport| {
        let panel = times(transport);
        let of_type = |label| {
            let of = |who| data.measured_under(&panel, who, label);
            ratio(of(NEWEST), of("GIOPlite"))
        };
        Measured::middle(OPERATIONS.iter().filter_map(|one| of_type(one.label)))
    };
    // How many times as long a call takes over circuits as over TCP, by type.
    let longer: Vec<Measured> = OPERATIONS
        .iter()
        .filter_map(|operation| {
            let of =
                |transport: &str| data.measured_under(&times(transport), NEWEST, operation.label);
            ratio(of("ATM"), of("TCP"))
        })
        .collect();
    let own = |transport: &str| Some(void(NEWEST, transport)?.minus(void(RAW, transport)?));
    let all = [
        Finding::new(
            "A transport that is plugged in carries calls about as fast as TCP (our own check of Figure 5)",
            [
                Measured::smallest(longer.iter().copied()),
                Measured::largest(longer.iter().copied()),
            ],
            |[least, most]| {
                let seen = format!(
                    "time of a call over ATM over that over TCP, by type: {} to {}",
                    least.factor(),
                    most.factor()
                );
                (
                    seen,
                    Holds::all(longer.iter().map(|times| times.is_no_more())),
                )
            },
        ),
        Finding::new(
            "A smaller message footprint is worth little: GIOPlite gains 0.4 to 5 % over GIOP (Figure 5)",
            TRANSPORTS.map(gain),
            |[tcp, atm]| {
                let seen = format!(
                    "zorb's calls, GIOPlite over GIOP 1.2, middle of the types: {} over TCP, {} over ATM",
                    tcp.factor(),
                    atm.factor()
                );
                (
                    seen,
                    Holds::all([tcp, atm].map(|gain| gain.within(1.0, EQUAL))),
                )
            },
        ),
        Finding::new(
            "Transport and operating system take just over half of a call without parameters (Figure 7)",
            [
                void(RAW, "TCP"),
                void(NEWEST, "TCP"),
                void(RAW, "ATM"),
                void(NEWEST, "ATM"),
            ],
            |[sockets, tcp, frames, atm]| {
                let shares = [sockets.over(tcp), frames.over(atm)];
                let seen = format!(
                    "TCP: sockets {} of {}, {}; ATM: frames {} of {}, {}",
                    us(sockets),
                    us(tcp),
                    shares[0].share(),
                    us(frames),
                    us(atm),
                    shares[1].share()
                );
                (seen, Holds::all(shares.map(|share| share.about(0.5, 0.55))))
            },
        ),
        Finding::new(
            "The ORB's own part of a call is much the same over every protocol (Figure 7)",
            TRANSPORTS.map(own),
            |[tcp, atm]| {
                let seen = format!(
                    "time of zorb above the baseline: TCP {}, ATM {}, with its sessions",
                    us(tcp),
                    us(atm)
                );
                (seen, atm.over(tcp).is_one())
            },
        ),
    ];
    all.map(|finding| finding.placed(Placed::Emulated)).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn no_two_questions_are_the_same() {
        let operations = OPERATIONS.into_iter().enumerate();
        let operations = operations.map(|(at, operation)| Work::Operation(at, operation));
        let lengths = LENGTHS.into_iter().map(Work::Length);
        let all: Vec<String> = operations.chain(lengths).map(Work::question).collect();
        let once: std::collections::BTreeSet<&String> = all.iter().collect();
        assert_eq!(once.len(), all.len(), "{all:?}");
    }

    #[test]
    fn findings_are_of_one_machine() {
        let (tcp, atm) = (times("TCP"), times("ATM"));
        let data = data(&[
            (&tcp, NEWEST, 0.0, Some("void"), 100.0),
            (&tcp, "GIOPlite", 0.0, Some("void"), 97.0),
            (&tcp, RAW, 0.0, Some("void"), 52.0),
            (&atm, NEWEST, 0.0, Some("void"), 150.0),
            (&atm, "GIOPlite", 0.0, Some("void"), 160.0),
            (&atm, RAW, 0.0, Some("void"), 40.0),
        ]);
        let all = findings(&data);
        let find = |part: &str| all.iter().find(|f| f.claim.contains(part)).unwrap();
        assert_eq!(find("plugged in").holds, Holds::No);
        assert_eq!(find("footprint").holds, Holds::InPart);
        assert_eq!(find("own part").holds, Holds::No);
        assert!(find("own part").seen.contains("TCP 48.0 µs, ATM 110 µs"));
        assert_eq!(bars(&data).panels.len(), 0);
        assert_eq!(overhead(&data).panels.len(), 1);
    }
}
