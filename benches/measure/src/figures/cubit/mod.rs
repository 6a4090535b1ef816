//! The IDL Cubit: calls of every type over every protocol that there is.

mod cubit_charts;
mod cubit_findings;
mod emulated_links;
mod guest;
mod protocol;

use crate::figures::Experiment;
use crate::figures::contender::PLACEMENTS;
use crate::figures::data::{Collected, PanelPoint, Point};
use crate::figures::finding::Placed;
use crate::figures::session::Session;
use crate::figures::source;
use crate::measure::dialogue::Dialogue;
use crate::measure::place::Placement;
use crate::measure::programs;
use protocol::{Orb, Protocol};
use xtask::step::Done;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "cubit",
    sources: &[(source::PLUGGABLE, "Figures 5, 7 and 8")],
    found: "TAO makes 20 to 50 % more calls over UNIX sockets than over TCP, the most with small types. Just over half \
        of a call over TCP is I/O and the operating system. The smaller messages of GIOPlite gain 0.4 to 5 %.",
    seen: cubit_findings::seen,
    method: "A server cubes what it is sent, by type, over GIOP 1.0 to 1.2 and GIOPlite, and every transport that the ORB \
        knows; the client checks every result.\n\n\
        The raw-socket baseline sends as many octets there and back without an ORB: for omniORB over sockets that \
        park, for zorb, which spins for some microseconds before it parks, the faster of parking and spinning. \
        Over the links between network namespaces (see [Throughput](#throughput)), zorb makes short calls with every \
        messaging.\n\n\
        Circuits of ATM are measured where there are some: in a virtual machine with one emulated CPU, whose kernel joins \
        two interfaces (`crates/atm/vm`). TCP is measured beside them in the same rounds of that machine, and the baseline is \
        sockets that park, over TCP, and frames on a circuit of their own, without sessions. Each messaging \
        has a circuit of its own, with one session. The clock of that machine counts instructions, 2 ns each: its times \
        compare with no time of another machine.",
    placed: Placed::Split,
    measure,
    charts: cubit_charts::charts,
    findings: cubit_findings::findings,
};

const CALLS: usize = 500;
const QUICK_CALLS: usize = 60;

/// An operation that cubes a value.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Operation {
    /// In requests.
    name: &'static str,
    elements: usize,
    /// Below bars.
    label: &'static str,
}

const fn operation(name: &'static str, elements: usize, label: &'static str) -> Operation {
    Operation {
        name,
        elements,
        label,
    }
}

/// The paper's, and shorts, and sequences of structs.
const OPERATIONS: [Operation; 11] = [
    operation("void", 0, "void"),
    operation("octet", 0, "octet"),
    operation("short", 0, "short"),
    operation("long", 0, "long"),
    operation("struct", 0, "struct"),
    operation("octets", 4, "octets 4"),
    operation("longs", 1, "longs 4"),
    operation("structs", 1, "structs 12"),
    operation("octets", 4096, "octets 4096"),
    operation("longs", 1024, "longs 4096"),
    operation("structs", 341, "structs 4092"),
];

/// Octets of the sequences of Figure 8, and on.
const LENGTHS: [usize; 12] = [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192];

/// One question.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Work {
    /// An operation, with its place among them.
    Operation(usize, Operation),
    /// Octets of that length.
    Length(usize),
}

impl Work {
    fn request(self, calls: usize) -> String {
        match self {
            Self::Operation(_, Operation { name, elements, .. }) => {
                format!("call {name} {elements} {calls}")
            }
            Self::Length(octets) => format!("call octets {octets} {calls}"),
        }
    }
}

/// The contenders.
#[derive(Debug)]
struct Contender {
    orb: Orb,
    protocol: Protocol,
    placement: Placement,
    dialogue: Dialogue,
}

/// The panel of latencies by operation.
fn times(orb: Orb, placement: Placement) -> String {
    format!("times, {}, {placement}", orb.name())
}

/// The panel of calls per second.
fn calls(orb: Orb, placement: Placement) -> String {
    format!("calls, {}, {placement}", orb.name())
}

/// The panel of latencies by length.
fn lengths(orb: Orb, placement: Placement) -> String {
    format!("lengths, {}, {placement}", orb.name())
}

/// Builds the program.
///
/// # Errors
/// It does not build.
pub(super) fn build() -> Done {
    programs::build(&["zorb-papers"], &["--bin", "papers-cubit"], &[])
}

fn measure(session: &Session) -> Result<Vec<Point>, String> {
    if let Err(why) = &session.omniorb {
        session.miss(format!("omniORB ({why})"));
    }
    let protocols = protocol::known()?;
    let mut contenders = Vec::new();
    for placement in PLACEMENTS {
        for orb in Orb::ALL {
            for protocol in orb.speaks(&protocols) {
                if orb == Orb::Omni && session.omniorb.is_err() {
                    continue;
                }
                contenders.push(Contender {
                    orb,
                    protocol,
                    placement,
                    dialogue: Dialogue::start(&orb.pair(protocol), placement, session.cpus)?,
                });
            }
        }
    }
    let mut works: Vec<Work> = OPERATIONS
        .into_iter()
        .enumerate()
        .map(|(at, operation)| Work::Operation(at, operation))
        .collect();
    let lengths: &[usize] = session.pick(&LENGTHS, &[4, 2048]);
    works.extend(lengths.iter().map(|&octets| Work::Length(octets)));
    let mut collected = Collected::default();
    let number = session.pick(CALLS, QUICK_CALLS);
    session.rounds(&works, &mut contenders, |work, who| {
        // The figure of lengths is of the newest messages.
        if matches!(work, Work::Length(_)) && !who.protocol.is_newest(&protocols) {
            return Ok(());
        }
        let answer = who.dialogue.ask(&work.request(number))?;
        keep(
            &mut collected,
            *work,
            who,
            (answer.p50_us(), answer.p99_us(), answer.calls_per_s),
        );
        Ok(())
    })?;
    contenders
        .into_iter()
        .try_for_each(|one| one.dialogue.end())?;
    emulated_links::measure(session, &protocols, &mut collected)?;
    guest::measure(session, &mut collected)?;
    Ok(collected.points())
}

fn keep(
    collected: &mut Collected,
    work: Work,
    who: &Contender,
    (p50, p99, each_second): (f64, f64, f64),
) {
    let place = |panel, x, label: &str, unit| PanelPoint {
        panel,
        series: who.protocol.name(),
        x,
        label: Some(label.to_owned()),
        unit,
    };
    match work {
        Work::Operation(at, operation) => {
            let x = at as f64;
            let panel = times(who.orb, who.placement);
            collected.add(place(panel, x, operation.label, "µs"), p50, Some(p99));
            let panel = calls(who.orb, who.placement);
            collected.add(
                place(panel, x, operation.label, "calls/s"),
                each_second,
                None,
            );
        }
        Work::Length(octets) => {
            let panel = lengths(who.orb, who.placement);
            let label = octets.to_string();
            collected.add(place(panel, octets as f64, &label, "µs"), p50, Some(p99));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_asked_for_by_name_elements_and_number() {
        assert_eq!(Work::Length(4).request(1000), "call octets 4 1000");
        let void = Work::Operation(0, OPERATIONS[0]);
        assert_eq!(void.request(7), "call void 0 7");
    }
}
