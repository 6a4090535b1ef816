//! Profiles: which functions and system calls the time of floods and of calls to many objects goes to.

mod copies;
mod functions;
mod instruction_counts;
mod lookups;
mod one_way;
mod part;
mod profiles_charts;
mod profiles_findings;
mod ranked;
mod tool;
mod valgrind;

pub(super) use profiles_charts::tables;

use crate::figures::Experiment;
use crate::figures::data::{Collected, PanelPoint, Point};
use crate::figures::finding::Placed;
use crate::figures::session::Session;
use crate::figures::source;
use crate::figures::throughput::flood::{Kind, Queue, Road, Sender};
use crate::measure::dialogue::Dialogue;
use crate::measure::place::Placement;
use part::{PARTS, Part};
use std::path::Path;
use tempfile::TempDir;
use tool::{Called, Profiler, Share};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "profiles",
    sources: &[
        (source::THROUGHPUT, "Figure 7 and section 2.2.2"),
        (source::LATENCY, "Tables 1 and 2 and section 4.5"),
    ],
    found: "Sockets alone spend more than 99 % of a flood in `read` and `write`; with an ORB 4 to 15 % of the time is \
        other work. A server with 500 objects spends 22 % of its time on comparing operation names, and 16 to 22 % \
        on finding objects.",
    seen: profiles_findings::seen,
    method: "A flood sends buffers of 64 K and 128 K over TCP with socket queues of 64 K. Each program has a CPU of its \
        own; with 128 K both also share one. Functions are sampled by perf, kernel included, in a run of its own \
        in each round. System calls are counted and timed by strace, which slows them down; their number depends \
        on when octets arrive, so the tables have medians of at most three runs, of the six most frequent calls. \
        *Others* are the rarer ones: mostly `futex` and `epoll_wait`, in which idle threads sleep.\n\n\
        The look-ups of a server whose 500 objects are called without parameters are counted by callgrind in \
        instructions outside the kernel, one-way calls by perf in samples by system call. Allocations and copies \
        for a buffer, and functions for a two-way call, are the difference between a long run and a short one \
        under dhat and callgrind; both slow the programs, so a read may bring more or less than in production. \
        Quartiles stand in parentheses where they differ from the median.",
    placed: Placed::Split,
    measure,
    charts: profiles_charts::charts,
    findings: profiles_findings::findings,
};

const SENDERS: [Sender; 4] = [
    Sender::Zorb,
    Sender::OmniOrb,
    Sender::Transport,
    Sender::Raw,
];
const QUEUE: Queue = Queue::K64;
/// Functions and system calls of a table.
const MOST: usize = 6;
/// Runs in which system calls are counted, which differ little.
const COUNTING_ROUNDS: usize = 3;
/// The length of a flood while functions are sampled: more than can be sent in so many milliseconds.
const SAMPLED: (usize, usize) = (1 << 30, 250);
const QUICK_SAMPLED: (usize, usize) = (64 << 20, 100);

/// A flood that is looked into.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Subject {
    sender: Sender,
    kind: Kind,
    size: usize,
    placement: Placement,
}

/// The end of a flood's name if both programs are on one CPU; a CPU for each is the default.
const ON_ONE_CPU: &str = ", one CPU";

impl Subject {
    /// Its name in panels and bars.
    fn name(self) -> String {
        let Self {
            sender, kind, size, ..
        } = self;
        let place = match self.placement {
            Placement::Same => ON_ONE_CPU,
            _ => "",
        };
        format!("{}, {} {} K{place}", sender.name(), kind.name(), size >> 10)
    }
}

fn subjects(session: &Session) -> Vec<Subject> {
    let floods: &[(usize, Placement)] = session.pick(
        &[
            (128 << 10, Placement::Split),
            (64 << 10, Placement::Split),
            (128 << 10, Placement::Same),
        ],
        &[(128 << 10, Placement::Split), (128 << 10, Placement::Same)],
    );
    let kinds: &[Kind] = session.pick(&Kind::ALL, &[Kind::Octets]);
    let mut all = Vec::new();
    for &(size, placement) in floods {
        for &kind in kinds {
            for sender in SENDERS {
                if sender.sends(kind) && (sender != Sender::OmniOrb || session.omniorb.is_ok()) {
                    all.push(Subject {
                        sender,
                        kind,
                        size,
                        placement,
                    });
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
    match tool::pick() {
        Ok(profiler) => {
            session.use_tool(profiler.program());
            if profiler == Profiler::Callgrind {
                session.miss(
                    "perf, so that shares are of instructions outside the kernel, by callgrind",
                );
            }
            let rounds = session.pick(session.rounds, 1);
            let sampled = each_round(session, rounds, &subjects, |subject| {
                functions(session, profiler, subject)
            })?;
            for (at, (subject, runs)) in subjects.iter().zip(sampled).enumerate() {
                keep_functions(&mut collected, (at, &subject.name()), &runs);
            }
            if one_way::is_there(session, profiler) {
                collected.other_rounds();
                one_way::measure(session, &mut collected)?;
            }
        }
        Err(why) => session.miss(format!("functions and shares of one-way calls ({why})")),
    }
    match tool::strace() {
        Ok(()) => {
            session.use_tool("strace");
            let rounds = session.pick(session.rounds.min(COUNTING_ROUNDS), 1);
            let counted = each_round(session, rounds, &subjects, |subject| {
                system_calls(session, subject)
            })?;
            collected.other_rounds();
            for (subject, runs) in subjects.iter().zip(counted) {
                keep_calls(&mut collected, &subject.name(), &runs);
            }
        }
        Err(why) => session.miss(format!("system calls ({why})")),
    }
    collected.other_rounds();
    lookups::measure(session, &mut collected)?;
    collected.other_rounds();
    copies::measure(session, &mut collected)?;
    collected.other_rounds();
    functions::measure(session, &mut collected)?;
    Ok(collected.points())
}

/// The options of both ends in a run.
type Ends<T> = [Vec<T>; 2];

/// Looks into every flood once a round; what came of the runs of each.
fn each_round<T>(
    session: &Session,
    rounds: usize,
    subjects: &[Subject],
    mut look: impl FnMut(Subject) -> Result<Ends<T>, String>,
) -> Result<Vec<Vec<Ends<T>>>, String> {
    let mut all: Vec<Vec<Ends<T>>> = subjects.iter().map(|_| Vec::new()).collect();
    let numbered: Vec<_> = subjects.iter().copied().enumerate().collect();
    session.some_rounds(rounds, &numbered, &mut [()], |&(at, subject), ()| {
        let ends = look(subject)?;
        if let Some(runs) = all.get_mut(at) {
            runs.push(ends);
        }
        Ok(())
    })?;
    Ok(all)
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
    let mut dialogue = Dialogue::start(&pair, subject.placement, session.cpus)?;
    let Subject { kind, size, .. } = subject;
    let buffers = (octets / size).max(1);
    dialogue.ask(&format!(
        "send {} {size} {buffers} {milliseconds}",
        kind.name()
    ))?;
    dialogue.end()
}

fn place(
    panel: String,
    series: &str,
    x: f64,
    label: Option<String>,
    unit: &'static str,
) -> PanelPoint {
    PanelPoint {
        panel,
        series: series.to_owned(),
        x,
        label,
        unit,
    }
}

/// Runs a flood with something in front of both programs that writes into a file, and reads the files.
fn looked_into<T>(
    session: &Session,
    subject: Subject,
    front: impl Fn(&Path) -> Vec<String>,
    flood: (usize, usize),
    read: impl Fn(&Path) -> Result<Vec<T>, String>,
) -> Result<Ends<T>, String> {
    let folder = TempDir::new().map_err(|e| e.to_string())?;
    let [client, server] = ENDS.map(|end| folder.path().join(end));
    run(session, subject, [front(&client), front(&server)], flood)?;
    Ok([read(&client)?, read(&server)?])
}

fn functions(
    session: &Session,
    profiler: Profiler,
    subject: Subject,
) -> Result<Ends<Share>, String> {
    looked_into(
        session,
        subject,
        |file| profiler.words(file),
        session.pick(SAMPLED, QUICK_SAMPLED),
        |file| profiler.shares(file),
    )
}

/// The parts for the picture, and the functions at the top for the table.
fn keep_functions(collected: &mut Collected, (at, name): (usize, &str), runs: &[Ends<Share>]) {
    for (n, end) in ENDS.iter().enumerate() {
        let each: Vec<&Vec<Share>> = runs.iter().filter_map(|ends| ends.get(n)).collect();
        for shares in &each {
            for part in PARTS {
                let of_it = shares.iter().filter(|share| Part::of(share) == part);
                let sum: f64 = of_it.map(|share| share.percent).sum();
                let (panel, label) = (format!("parts, {end}"), Some(name.to_owned()));
                let at = at as f64;
                collected.add(place(panel, part.name(), at, label, "%"), sum, None);
            }
        }
        let named = |share: &Share| {
            let name = format!("{}: {}", share.object, share.function);
            (name, share.percent)
        };
        let each = each
            .iter()
            .map(|shares| ranked::run(shares.iter().map(named)));
        let each: Vec<_> = each.collect();
        for (rank, (function, percents)) in ranked::ranked(&each, MOST).into_iter().enumerate() {
            let panel = format!("functions, {end}, {name}");
            let place = place(panel, "share", rank as f64, Some(function), "%");
            for percent in percents {
                collected.add(place.clone(), percent, None);
            }
        }
    }
}

/// System calls, their numbers for a buffer.
fn system_calls(session: &Session, subject: Subject) -> Result<Ends<Called>, String> {
    // The paper's sizes.
    let octets = session.pick(64 << 20, 8 << 20);
    let buffers = (octets / subject.size).max(1) as f64;
    looked_into(
        session,
        subject,
        tool::strace_words,
        (octets, 60_000),
        |file| {
            let mut all = tool::counted(file)?;
            all.iter_mut().for_each(|call| call.number /= buffers);
            Ok(all)
        },
    )
}

/// The most frequent of them.
fn keep_calls(collected: &mut Collected, name: &str, runs: &[Ends<Called>]) {
    for (n, end) in ENDS.iter().enumerate() {
        let each = |value: fn(&Called) -> f64| -> Vec<ranked::Run> {
            let ends = runs.iter().filter_map(|ends| ends.get(n));
            ends.map(|calls| ranked::run(calls.iter().map(|c| (c.name.clone(), value(c)))))
                .collect()
        };
        let (numbers, shares) = (each(|call| call.number), each(|call| call.percent));
        for (rank, (call, numbers)) in ranked::ranked(&numbers, MOST).into_iter().enumerate() {
            let panel = format!("calls, {end}, {name}");
            let place = |series, unit| {
                let label = Some(call.clone());
                place(panel.clone(), series, rank as f64, label, unit)
            };
            for number in numbers {
                collected.add(place("each", "a buffer"), number, None);
            }
            for run in &shares {
                let share = run.get(&call).copied().unwrap_or_default();
                collected.add(place("share", "%"), share, None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::Data;
    use crate::figures::data::tests::data;

    fn collected(collected: Collected) -> Data {
        Data {
            points: collected.points(),
            ..data(&[])
        }
    }

    #[test]
    fn functions_and_parts_are_medians_of_all_runs() {
        let share = |function: &str, percent| Share {
            object: "[kernel.kallsyms]".to_owned(),
            function: function.to_owned(),
            file: String::new(),
            percent,
        };
        let run = |ack, copy| {
            [
                vec![share("tcp_ack", ack), share("_copy_to_iter", copy)],
                vec![],
            ]
        };
        let runs = [run(60.0, 40.0), run(40.0, 55.0), run(55.0, 45.0)];
        let mut all = Collected::default();
        keep_functions(&mut all, (0, "raw, octets 128 K"), &runs);
        let data = collected(all);
        let panel = "functions, client, raw, octets 128 K";
        let names: Vec<_> = data.of(panel).map(|p| (p.value, p.rounds)).collect();
        assert_eq!(names, [(55.0, 3), (45.0, 3)]);
        let kernel = data.under("parts, client", "kernel", "raw, octets 128 K");
        assert_eq!(kernel, Some(55.0));
    }

    #[test]
    fn a_call_that_some_runs_have_not_made_was_made_no_times_there() {
        let call = |name: &str, number| Called {
            name: name.to_owned(),
            number,
            percent: 10.0 * number,
        };
        let run = |calls: Vec<Called>| [vec![], calls];
        let runs = [
            run(vec![call("read", 3.0), call("futex", 1.0)]),
            run(vec![call("read", 2.0)]),
            run(vec![call("read", 2.5)]),
        ];
        let mut all = Collected::default();
        keep_calls(&mut all, "raw, octets 128 K", &runs);
        let data = collected(all);
        let panel = "calls, server, raw, octets 128 K";
        assert_eq!(data.under(panel, "each", "read"), Some(2.5));
        assert_eq!(data.under(panel, "share", "read"), Some(25.0));
        assert_eq!(data.under(panel, "each", "futex"), Some(0.0));
    }

    #[test]
    fn floods_are_looked_into_with_a_cpu_for_each_program_and_with_one_for_both() {
        let session = Session::new(false, 1, crate::measure::place::Cpus::only(0), Ok(()));
        let names: Vec<String> = subjects(&session).into_iter().map(Subject::name).collect();
        for name in [
            "zorb, structs 128 K",
            "zorb, structs 64 K",
            "raw, octets 128 K, one CPU",
        ] {
            assert!(names.iter().any(|one| one == name), "{name}");
        }
    }
}
