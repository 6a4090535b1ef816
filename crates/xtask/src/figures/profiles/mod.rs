//! Profiles: which functions and system calls the time of floods and of calls to many objects goes to.

mod charts;
mod findings;
mod lookups;
mod part;
mod tool;

pub(super) use charts::tables;

use crate::figures::Experiment;
use crate::figures::data::{Collected, Place, Point};
use crate::figures::finding::Placed;
use crate::figures::session::Session;
use crate::figures::source;
use crate::figures::throughput::flood::{Kind, Queue, Road, Sender};
use crate::measure::dialogue::Dialogue;
use crate::measure::place::Placement;
use part::{PARTS, Part};
use tempfile::TempDir;
use tool::{Profiler, Share};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "profiles",
    sources: &[
        (source::THROUGHPUT, "Figure 7"),
        (source::LATENCY, "Tables 1 and 2"),
    ],
    question: "Which functions and which system calls does the time of transmitter and receiver go to, when buffers of 64 K and \
        128 K are flooded over TCP with socket queues of 64 K, each program on a CPU of its own? And what of a server's work \
        for calls without parameters, to 500 objects in turns, is finding the object and the operation? Functions are sampled \
        by perf on the clock of the CPU, kernel included; system calls are counted and timed by strace in a run of their own, \
        which makes them slower; look-ups are instructions outside the kernel, counted by callgrind. Each is one run.",
    placed: Placed::Split,
    measure,
    charts: charts::charts,
    findings: findings::findings,
};

const SENDERS: [Sender; 3] = [Sender::Zorb, Sender::OmniOrb, Sender::Raw];
const QUEUE: Queue = Queue::K64;
/// Functions and system calls of a table.
const MOST: usize = 6;

/// A flood that is looked into.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Subject {
    sender: Sender,
    kind: Kind,
    size: usize,
}

impl Subject {
    /// As panels and bars name it.
    fn name(self) -> String {
        let Self { sender, kind, size } = self;
        format!("{}, {} {} K", sender.name(), kind.name(), size >> 10)
    }
}

fn subjects(session: &Session) -> Vec<Subject> {
    let sizes: &[usize] = session.pick(&[128 << 10, 64 << 10], &[128 << 10]);
    let kinds: &[Kind] = session.pick(&Kind::ALL, &[Kind::Octets]);
    let mut all = Vec::new();
    for &size in sizes {
        for &kind in kinds {
            for sender in SENDERS {
                if sender.sends(kind) && (sender != Sender::OmniOrb || session.omniorb.is_ok()) {
                    all.push(Subject { sender, kind, size });
                }
            }
        }
    }
    all
}

/// Transmitter and receiver, in the order in which they are shown.
const ENDS: [&str; 2] = ["client", "server"];

fn measure(session: &Session) -> Result<Vec<Point>, String> {
    if let Err(why) = &session.omniorb {
        session.miss(format!("omniORB ({why})"));
    }
    let mut collected = Collected::default();
    let subjects = subjects(session);
    session.expect(2 * subjects.len());
    match tool::pick() {
        Ok(profiler) => {
            if profiler == Profiler::Callgrind {
                session.miss(
                    "perf, so that shares are of instructions outside the kernel, by callgrind",
                );
            }
            for (at, subject) in subjects.iter().enumerate() {
                session.step(subject.name());
                functions(session, profiler, (at, *subject), &mut collected)?;
            }
        }
        Err(why) => session.miss(format!("functions ({why})")),
    }
    match tool::strace() {
        Ok(()) => {
            for subject in &subjects {
                session.step(format!("{}, system calls", subject.name()));
                system_calls(session, *subject, &mut collected)?;
            }
        }
        Err(why) => session.miss(format!("system calls ({why})")),
    }
    lookups::measure(session, &mut collected)?;
    Ok(collected.points())
}

/// Runs a flood with something in front of both programs: client's, server's.
fn run(
    session: &Session,
    subject: Subject,
    fronts: [Vec<String>; 2],
    (octets, milliseconds): (usize, usize),
) -> Result<(), String> {
    let [client, server] = &fronts;
    let pair = subject
        .sender
        .pair(Road::Tcp, &QUEUE.words(), [server, client]);
    let mut dialogue = Dialogue::start(&pair, Placement::Split, session.cpus)?;
    let Subject { kind, size, .. } = subject;
    let buffers = (octets / size).max(1);
    dialogue.ask(&format!(
        "send {} {size} {buffers} {milliseconds}",
        kind.name()
    ))?;
    dialogue.end()
}

fn place(panel: String, series: &str, x: f64, label: Option<String>, unit: &'static str) -> Place {
    Place {
        panel,
        series: series.to_owned(),
        x,
        label,
        unit,
    }
}

fn functions(
    session: &Session,
    profiler: Profiler,
    (at, subject): (usize, Subject),
    collected: &mut Collected,
) -> Result<(), String> {
    let folder = TempDir::new().map_err(|e| e.to_string())?;
    let files = ENDS.map(|end| folder.path().join(end));
    let [client, server] = &files;
    let fronts = [profiler.words(client), profiler.words(server)];
    run(
        session,
        subject,
        fronts,
        session.pick((1 << 30, 1000), (64 << 20, 100)),
    )?;
    for (end, file) in ENDS.iter().zip(&files) {
        let shares = profiler.shares(file)?;
        keep_functions(collected, (end, at, &subject.name()), &shares);
    }
    Ok(())
}

/// The parts for the picture, and the functions at the top for the table.
fn keep_functions(
    collected: &mut Collected,
    (end, at, name): (&str, usize, &str),
    shares: &[Share],
) {
    for part in PARTS {
        let of_it = shares.iter().filter(|share| Part::of(share) == part);
        let sum: f64 = of_it.map(|share| share.percent).sum();
        let label = Some(name.to_owned());
        collected.add(
            place(format!("parts, {end}"), part.name(), at as f64, label, "%"),
            sum,
            None,
        );
    }
    for (rank, share) in shares.iter().take(MOST).enumerate() {
        let panel = format!("functions, {end}, {name}");
        let label = Some(format!("{}: {}", share.object, share.function));
        collected.add(
            place(panel, "share", rank as f64, label, "%"),
            share.percent,
            None,
        );
    }
}

fn system_calls(
    session: &Session,
    subject: Subject,
    collected: &mut Collected,
) -> Result<(), String> {
    let folder = TempDir::new().map_err(|e| e.to_string())?;
    let files = ENDS.map(|end| folder.path().join(end));
    let [client, server] = &files;
    let fronts = [tool::strace_words(client), tool::strace_words(server)];
    // What the paper sent.
    let octets = session.pick(64 << 20, 8 << 20);
    run(session, subject, fronts, (octets, 60_000))?;
    let buffers = (octets / subject.size).max(1) as f64;
    for (end, file) in ENDS.iter().zip(&files) {
        for (rank, call) in tool::counted(file)?.into_iter().take(MOST).enumerate() {
            let at = rank as f64;
            let name = subject.name();
            let panel = |what: &str| format!("{what}, {end}, {name}");
            let label = Some(call.name);
            let each = call.number / buffers;
            collected.add(
                place(panel("calls"), "share", at, label.clone(), "%"),
                call.percent,
                None,
            );
            collected.add(
                place(panel("calls"), "each", at, label, "a buffer"),
                each,
                None,
            );
        }
    }
    Ok(())
}
