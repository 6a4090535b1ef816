//! The time of one-way calls without parameters, by perf and the system calls in its stacks.

use crate::figures::data::{Collected, Data};
use crate::figures::finding::{Finding, Holds};
use crate::figures::measured::{EQUAL, Measured};
use crate::figures::profiles::lookups::{self, Orb};
use crate::figures::profiles::tool::{self, Profiler};
use crate::figures::profiles::{ENDS, place};
use crate::figures::session::Session;
use crate::measure::dialogue::Dialogue;
use crate::measure::place::Placement;
use std::collections::BTreeMap;
use tempfile::TempDir;

/// Calls that are sampled.
const CALLS: usize = 500_000;
const QUICK_CALLS: usize = 50_000;

/// The part of a sample.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Part {
    Reading,
    Writing,
    Waiting,
    Kernel,
    Own,
}

const PARTS: [Part; 5] = [
    Part::Reading,
    Part::Writing,
    Part::Waiting,
    Part::Kernel,
    Part::Own,
];

impl Part {
    const fn name(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Writing => "writing",
            Self::Waiting => "waiting",
            Self::Kernel => "the rest of the kernel",
            Self::Own => "outside the kernel",
        }
    }

    /// The part of a system call, by its name.
    fn of_call(name: &str) -> Self {
        match name {
            "read" | "readv" | "recvfrom" | "recvmsg" => Self::Reading,
            "write" | "writev" | "sendto" | "sendmsg" => Self::Writing,
            "poll" | "ppoll" | "select" | "pselect6" | "epoll_wait" | "epoll_pwait"
            | "epoll_pwait2" | "futex" | "sched_yield" | "nanosleep" | "clock_nanosleep" => {
                Self::Waiting
            }
            _ => Self::Kernel,
        }
    }

    /// The part of a stack, a line a frame, the innermost first.
    fn of_stack(frames: &[&str]) -> Option<Self> {
        // `ffffffff816b57dd __x64_sys_openat ([kernel.kallsyms])`: whatever it has called, modules too.
        let call = frames.iter().find_map(|frame| {
            let symbol = frame.split_whitespace().nth(1)?;
            let name = symbol.strip_prefix("__")?;
            Some(name.split_once("sys_")?.1)
        });
        let address = frames.first()?.split_whitespace().next()?;
        // The upper half is the kernel's.
        let is_kernel = u64::from_str_radix(address, 16).is_ok_and(|address| address >> 63 == 1);
        Some(match call {
            Some(name) => Self::of_call(name),
            None if is_kernel => Self::Kernel,
            None => Self::Own,
        })
    }
}

/// Shares of the samples in percent, of stacks with an empty line between them; none if no sample is of a system call,
/// as where perf may not see the kernel.
fn shares(text: &str) -> Option<BTreeMap<Part, f64>> {
    let mut counts: BTreeMap<Part, f64> = BTreeMap::new();
    let mut all = 0.0;
    let mut frames: Vec<&str> = Vec::new();
    for line in text.lines().chain([""]) {
        match line.trim() {
            "" => {
                if let Some(part) = Part::of_stack(&frames) {
                    *counts.entry(part).or_default() += 1.0;
                    all += 1.0;
                }
                frames.clear();
            }
            frame => frames.push(frame),
        }
    }
    counts.values_mut().for_each(|count| *count *= 100.0 / all);
    let is_call = |part| matches!(part, &Part::Reading | &Part::Writing | &Part::Waiting);
    counts.keys().any(is_call).then_some(counts)
}

/// The names of the parts.
pub(super) fn names() -> [&'static str; 5] {
    PARTS.map(Part::name)
}

/// The panel of an end.
pub(super) fn panel(end: &str) -> String {
    format!("one-way, {end}")
}

pub(super) fn measure(session: &Session, collected: &mut Collected) -> Result<(), String> {
    let there = |orb: &Orb| *orb == Orb::Zorb || session.omniorb.is_ok();
    let mut orbs: Vec<(usize, Orb)> = Orb::ALL.into_iter().filter(there).enumerate().collect();
    let rounds = session.pick(session.rounds, 1);
    session.some_rounds(rounds, &[()], &mut orbs, |(), &mut (at, orb)| {
        let Some(sampled) = sampled(session, orb)? else {
            session.miss("shares of one-way calls (perf shows no system calls)");
            return Ok(());
        };
        for (end, shares) in ENDS.into_iter().zip(sampled) {
            for part in PARTS {
                let label = Some(orb.name().to_owned());
                let place = place(panel(end), part.name(), at as f64, label, "%");
                collected.add(place, shares.get(&part).copied().unwrap_or_default(), None);
            }
        }
        Ok(())
    })
}

/// Shares at both ends while 500 objects are called in turns.
type Sampled = [BTreeMap<Part, f64>; 2];

/// The same, if they can be had.
fn sampled(session: &Session, orb: Orb) -> Result<Option<Sampled>, String> {
    let folder = TempDir::new().map_err(|e| e.to_string())?;
    let files = ENDS.map(|end| folder.path().join(end));
    let [client, server] = files.each_ref().map(|file| tool::stack_words(file));
    let pair = orb.pair([&server, &client]);
    let mut dialogue = Dialogue::start(&pair, Placement::Split, session.cpus)?;
    let calls = session.pick(CALLS, QUICK_CALLS);
    dialogue.ask(&format!("call oneway robin {calls}"))?;
    dialogue.end()?;
    let [client, server] = &files;
    let [client, server] = [tool::stacks(client)?, tool::stacks(server)?];
    Ok(shares(&client).zip(shares(&server)).map(<[_; 2]>::from))
}

fn share(data: &Data, end: &str, part: Part, orb: Orb) -> Option<Measured> {
    data.measured_under(&panel(end), part.name(), orb.name())
}

pub(super) fn findings(data: &Data) -> [Finding; 2] {
    let client = Orb::ALL.map(|orb| share(data, "client", Part::Writing, orb));
    let server = Orb::ALL.map(|orb| {
        let of = |part| share(data, "server", part, orb);
        // The share of the time outside the kernel is taken to be that of the instructions there.
        let found = lookups::finding(data, lookups::PANEL, &format!("{}, oneway", orb.name()));
        let found = found
            .zip(of(Part::Own))
            .map(|(found, own)| found.times(0.01).part_of(own));
        [
            of(Part::Writing),
            of(Part::Reading),
            of(Part::Waiting),
            found,
        ]
    });
    let server = <[_; 8]>::try_from(server.concat()).unwrap_or([None; 8]);
    [
        Finding::new(
            "A client of one-way calls without parameters spends 74 to 99 % on writing (latency paper, Tables 1 and 2)",
            client,
            |[zorb, omni]| {
                let seen = format!(
                    "in system calls that write: zorb {}, omniORB {}, with 500 objects in turn",
                    zorb.percent(),
                    omni.percent()
                );
                (
                    seen,
                    Holds::all([zorb, omni].map(|part| part.about(74.0, 99.0))),
                )
            },
        ),
        Finding::new(
            "A server of one-way calls spends 10 to 21 % on writing, 22 to 38 % on finding operations (latency paper, Tables 1 and 2)",
            server,
            |all| {
                let [zorb, omni] = [0, 4].map(|at| {
                    let words = ["writing", "reading", "waiting", "finding"].into_iter();
                    let words = words.zip(all.iter().skip(at));
                    let words = words.map(|(what, share)| format!("{what} {}", share.percent()));
                    words.collect::<Vec<_>>().join(", ")
                });
                let seen = format!(
                    "500 objects in turn: zorb {zorb}; omniORB {omni}; finding is as large a part of the time outside the kernel as it is of the \
                     instructions there"
                );
                let judged = all.chunks(4).flat_map(|of| {
                    let is = |at: usize, judge: fn(Measured) -> Holds| {
                        of.get(at).map_or(Holds::Unknown, |share| judge(*share))
                    };
                    [
                        is(0, |writing| writing.about(10.0, 21.0)),
                        is(1, |reading| reading.about(3.0, 5.0)),
                        is(2, |waiting| match waiting.at_most(7.0 * EQUAL) {
                            Holds::No => Holds::More,
                            other => other,
                        }),
                        is(3, |finding| finding.about(22.0, 38.0)),
                    ]
                });
                (seen, Holds::all(judged))
            },
        ),
    ]
}

/// Whether stacks can be sampled; a note says what is missing.
pub(super) fn is_there(session: &Session, profiler: Profiler) -> bool {
    if profiler != Profiler::Perf {
        session.miss("shares of one-way calls (perf may not look)");
    }
    profiler == Profiler::Perf
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn a_sample_is_of_the_system_call_that_it_is_in() {
        let kernel = "\tffffffff816ce4a3 tcp_recvmsg ([kernel.kallsyms])\n\tffffffff816b57dd __x64_sys_recvfrom ([kernel.kallsyms])\n\
                      \tffffffff821ed511 do_syscall_64 ([kernel.kallsyms])\n\t           20b1d recv (/usr/lib/libc.so.6)\n\n\n";
        let own = "\t           1de39 zorb::serve (/w/papers-ttcp)\n\n\n";
        let interrupt = "\tffffffff816ce4a3 handle_softirqs ([kernel.kallsyms])\n\t    1de39 zorb::serve (/w/papers-ttcp)\n\n";
        let found = shares(&[kernel, own, interrupt, own].concat()).unwrap();
        assert_eq!(found[&Part::Reading], 25.0);
        assert_eq!(found[&Part::Own], 50.0);
        assert_eq!(found[&Part::Kernel], 25.0);
        let module = "\tffffffffc06ce4a3 nf_hook ([nf_conntrack])\n\tffffffff816b57dd __x64_sys_sendto ([kernel.kallsyms])\n\n";
        let alone = "\tffffffffc06ce4a3 poll ([virtio_net])\n\n";
        let found = shares(&[module, alone].concat()).unwrap();
        assert_eq!(found[&Part::Writing], 50.0);
        assert_eq!(found[&Part::Kernel], 50.0);
        // There is no finding where the kernel's functions are unknown.
        let unknown = "\tffffffff816ce4a3 [unknown] ([kernel.kallsyms])\n\n";
        for unseen in [own, unknown, "\n"] {
            assert_eq!(shares(unseen), None);
        }
    }

    #[test]
    fn system_calls_are_distinguished_by_what_they_are_for() {
        for (name, part) in [
            ("recvfrom", Part::Reading),
            ("sendto", Part::Writing),
            ("epoll_wait", Part::Waiting),
            ("openat", Part::Kernel),
        ] {
            assert_eq!(Part::of_call(name), part);
        }
    }

    #[test]
    fn a_server_of_one_way_calls_is_judged_by_each_of_its_parts() {
        let judged = |writing: f64| {
            let mut points = Vec::new();
            let labels = ["zorb, oneway", "omniORB, oneway"];
            for (orb, label) in ["zorb", "omniORB"].into_iter().zip(labels) {
                for (part, share) in [("writing", writing), ("reading", 4.0), ("waiting", 6.0)] {
                    points.push(("one-way, server", part, 0.0, Some(orb), share));
                }
                points.push((
                    "one-way, server",
                    "outside the kernel",
                    0.0,
                    Some(orb),
                    60.0,
                ));
                for part in &lookups::PARTS[..2] {
                    points.push((lookups::PANEL, *part, 0.0, Some(label), 25.0));
                }
                points.push(("one-way, client", "writing", 0.0, Some(orb), 80.0));
            }
            findings(&data(&points))
        };
        let [client, server] = judged(15.0);
        assert_eq!(client.holds, Holds::Yes);
        assert_eq!(server.holds, Holds::Yes, "{}", server.seen);
        // Half of the instructions outside the kernel, which has the rest of the time.
        assert!(server.seen.contains("finding 30 %"), "{}", server.seen);
        assert_eq!(judged(0.0)[1].holds, Holds::InPart);
        assert_eq!(findings(&data(&[]))[1].holds, Holds::Unknown);
    }
}
