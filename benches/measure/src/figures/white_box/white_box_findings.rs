//! The papers' claims about their tables, and today's findings.

use crate::figures::data::Data;
use crate::figures::finding::{Finding, Holds};
use crate::figures::measured::{EQUAL, Measured};
use crate::figures::white_box::steps::{CLIENT, FOUND, LAYERS, NOT_OURS, SERVER, SUM, number};
use crate::figures::white_box::{TOGETHER, together};
use crate::row::Aim;

fn us(value: Measured) -> String {
    match value.median.abs() < 1.0 {
        true => value.times(1_000.0).with_unit("ns"),
        false => value.with_unit("µs"),
    }
}

/// Whether the ORB's own steps take microseconds each, as the papers' do. Steps of ours that are one of theirs are one
/// here, as a step must not look shorter for being looked at more closely; the system calls are shown, but are no step
/// of an ORB's, which microseconds in the kernel would say nothing about; and waiting is no work.
fn each_step(
    claim: &str,
    steps: &[(&str, &str)],
    at: impl Fn(&str) -> Option<Measured>,
) -> Finding {
    let mut numbers: Vec<(&str, Measured)> = Vec::new();
    let (mut words, mut system) = (Vec::new(), None);
    let mut complete = Some(());
    for (name, series) in steps {
        let Some(took) = at(series) else {
            complete = None;
            continue;
        };
        if *name == "write" {
            system = Some(took);
        }
        if NOT_OURS.contains(name) {
            continue;
        }
        // How far the rounds are apart is in the table above.
        words.push((*name, Measured::exactly(took.median)));
        let same = numbers.iter_mut().find(|(one, _)| *one == number(series));
        match same {
            Some((_, sum)) => *sum = sum.plus(took),
            None => numbers.push((number(series), took)),
        }
    }
    let system = complete.and(system);
    Finding::new(claim, [system], |[system]| {
        let shown = |(name, took): &(&str, Measured)| format!("{name} {}", us(*took));
        let by_time =
            |a: &&(&str, Measured), b: &&(&str, Measured)| a.1.median.total_cmp(&b.1.median);
        let shortest = words.iter().min_by(by_time).map_or_else(String::new, shown);
        let longest = words.iter().max_by(by_time).map_or_else(String::new, shown);
        let each: Vec<String> = words.iter().map(shown).collect();
        let seen = format!(
            "from {shortest} to {longest}; the system call that writes {}; each: {}",
            us(system),
            each.join(", ")
        );
        let long = numbers.iter().map(|(_, took)| took.at_least(1.0));
        (seen, Holds::all(long))
    })
}

/// Whether anything is left out of the steps, or in two of them.
fn adds_up(data: &Data) -> Finding {
    let of = |placement: &str| {
        let part =
            |name: &str| data.measured_under(&format!("sum, TCP, {placement}"), name, "none");
        let all: Option<Vec<Measured>> = SUM.iter().map(|name| part(name)).collect();
        Some((Measured::sum(all?)?, part(SUM[3])?, part(SUM[4])?))
    };
    let rest = |of: Option<(Measured, Measured, Measured)>| {
        of.map(|(whole, _, rest)| rest.over(whole).times(100.0))
    };
    let (same, split) = (of("same"), of("split"));
    let rests = [rest(same), rest(split)];
    let worst = rests[0]
        .zip(rests[1])
        .map(|(a, b)| a.median.abs().max(b.median.abs()));
    Finding::new(
        "The steps add up to the whole call (our own check of Tables 1 and 2)",
        rests,
        |rests| {
            let share = |(whole, marks, rest): (Measured, Measured, Measured), part: Measured| {
                format!(
                    "of {} without arguments the marks take {}, and {}, {}, is in no step",
                    us(whole),
                    us(marks),
                    us(rest.median_alone()),
                    part.percent()
                )
            };
            let [same, split] = [same.zip(Some(rests[0])), split.zip(Some(rests[1]))]
                .map(|it| it.map(|(it, part)| share(it, part)).unwrap_or_default());
            let seen = format!("{split}; with one CPU, {same}");
            // A twentieth of a call is what a step of the largest ones is worth.
            (seen, Holds::all(rests.map(|part| part.within(-5.0, 5.0))))
        },
    )
    .with_number("percent-in-no-step", worst, Aim::AtMost(5.0))
}

/// Whether one of the steps takes longer than every other.
fn is_longest(steps: &[(Measured, &str)], which: &str) -> Holds {
    let Some((longest, _)) = steps.iter().find(|(_, name)| name.starts_with(which)) else {
        return Holds::Unknown;
    };
    let others = steps.iter().filter(|(_, name)| !name.starts_with(which));
    let each = others.map(|(took, _)| longest.minus(*took).above(0.0));
    each.fold(Holds::Yes, Holds::and)
}

/// The panel of all findings below: a CPU for each program, unless they say otherwise.
struct Seen<'a>(&'a Data);

impl Seen<'_> {
    fn at(&self, end: &str, transport: &str, series: &str, label: &str) -> Option<Measured> {
        self.0
            .measured_under(&format!("{end}, {transport}, split"), series, label)
    }

    fn whole(&self, transport: &str, what: &str) -> Option<Measured> {
        self.0
            .measured_under(&format!("whole, {transport}, split"), what, "none")
    }

    fn layer(&self, transport: &str, at: usize, label: &str) -> Option<Measured> {
        self.at("layers", transport, LAYERS[at].0, label)
    }

    /// The work of both ends, from a layer up.
    fn worked(&self, transport: &str, from: usize, label: &str) -> Option<Measured> {
        let all: Option<Vec<_>> = (from..LAYERS.len())
            .map(|n| self.layer(transport, n, label))
            .collect();
        Measured::sum(all?)
    }

    /// The steps of an end without arguments, but for some.
    fn steps(
        &self,
        end: &str,
        steps: &[(&str, &'static str)],
        but: &str,
    ) -> Vec<(Measured, &'static str)> {
        let each = steps.iter().filter(|(_, series)| !series.contains(but));
        each.filter_map(|(_, series)| Some((self.at(end, "TCP", series, "none")?, *series)))
            .collect()
    }
}

fn longest(steps: &[(Measured, &'static str)]) -> Option<(Measured, &'static str)> {
    let all = steps.iter().copied();
    all.max_by(|a, b| a.0.median.total_cmp(&b.0.median))
}

fn sum(steps: &[(Measured, &str)]) -> Option<Measured> {
    Measured::sum(steps.iter().map(|(took, _)| *took))
}

/// The experiment in three sentences.
pub(super) fn seen(data: &Data) -> Option<String> {
    let seen = Seen(data);
    let own = |end: &str| {
        let panel = together(&format!("{end} itself"));
        seen.at(&panel, "TCP", TOGETHER, "none").map(us)
    };
    let write = |end: &str, series: &str| seen.at(end, "TCP", series, "none").map(us);
    Some(format!(
        "Of a call of {} between two CPUs, {} are the client's own work and {} the server's. The system calls that write \
         take {} and {}. Finding POA, servant and operation is {} of the server's steps.",
        us(seen.whole("TCP", "a call")?),
        own("client")?,
        own("server")?,
        write("client", "C5 the system call that writes")?,
        write("server", "S10 the system call that writes")?,
        found(&seen)?.share()
    ))
}

/// The part of a server's steps that finds the upcall.
fn found(seen: &Seen<'_>) -> Option<Measured> {
    let server = seen.steps("server", &SERVER, "no such");
    let of_it = |series: &&(&str, &str)| FOUND.contains(&series.0);
    let each = SERVER.iter().filter(of_it);
    let each: Option<Vec<Measured>> = each
        .map(|(_, series)| seen.at("server", "TCP", series, "none"))
        .collect();
    Some(Measured::sum(each?)?.over(sum(&server)?))
}

pub(super) fn findings(data: &Data) -> Vec<Finding> {
    let seen = Seen(data);
    let each_step = |end: &str, steps: &[(&str, &str)], claim: &str| {
        each_step(claim, steps, |series| seen.at(end, "TCP", series, "none"))
    };
    let mut all = vec![
        each_step(
            "client",
            &CLIENT,
            "The client's steps take microseconds each: 0.74 to 50.7 µs (Table 1)",
        ),
        each_step(
            "server",
            &SERVER,
            "The server's steps take microseconds each: 1.39 to 93.6 µs (Table 2)",
        ),
        adds_up(data),
    ];
    all.extend(layers(&seen));
    all.extend(ends(&seen));
    all.extend(sizes(&seen));
    all.push(Finding::new(
        "A probe costs 1 to 2 µs (section 4.3.1)",
        [seen.whole("TCP", "a mark")],
        |[mark]| {
            let seen = format!(
                "a mark takes {}, which is subtracted from each step",
                us(mark)
            );
            (seen, mark.about(1.0, 2.0))
        },
    ));
    all
}

/// Figure 7.
fn layers(seen: &Seen<'_>) -> [Finding; 2] {
    [
        Finding::new(
            "I/O and the operating system are just over half of a call's time over TCP (Figure 7)",
            [
                seen.layer("TCP", 0, "none"),
                seen.worked("TCP", 0, "none"),
                seen.whole("TCP", "a call"),
                seen.at("client", "TCP", "C6 wait and read", "none"),
            ],
            |[system, worked, whole, waited]| {
                let share = system.over(worked);
                let seen = format!(
                    "the writes are {} of the {} that both ends work; of a call of {} the client waits {}, and the kernel's \
                     work before a read returns is part of the wait",
                    share.share(),
                    us(worked),
                    us(whole),
                    us(waited)
                );
                (seen, share.about(0.5, 0.55))
            },
        ),
        Finding::new(
            "UNIX sockets are faster than TCP because of the operating system; the ORB takes the same (Figure 7)",
            [
                seen.whole("TCP", "a call"),
                seen.whole("UNIX", "a call"),
                seen.worked("TCP", 1, "none"),
                seen.worked("UNIX", 1, "none"),
            ],
            |[tcp, unix, tcp_orb, unix_orb]| {
                let seen = format!(
                    "a call takes {} over TCP and {} over UNIX; both ends work {} and {} outside system calls",
                    us(tcp),
                    us(unix),
                    us(tcp_orb),
                    us(unix_orb)
                );
                let faster = unix.over(tcp).below(1.0);
                (seen, Holds::and(faster, tcp_orb.over(unix_orb).is_one()))
            },
        ),
    ]
}

/// Tables 1 and 2 of both papers.
fn ends(seen: &Seen<'_>) -> [Finding; 3] {
    let client = seen.steps("client", &CLIENT, "wait");
    let server = seen.steps("server", &SERVER, "no such");
    let demux = |series: &str| seen.at("server", "TCP", series, "none");
    let write = |end: &str, series: &str| seen.at(end, "TCP", series, "none");
    [
        Finding::new(
            "Of the client's steps, receiving through the transport takes longest (Table 1; the wait included)",
            [
                longest(&client).map(|(took, _)| took),
                write("client", "C7 transport receive"),
                sum(&client),
            ],
            |[largest, receive, all]| {
                let name = longest(&client).map_or("", |(_, series)| series);
                let seen = format!(
                    "without the wait the longest is {name}: {} of {}, {}; receiving through the transport takes {}",
                    us(largest),
                    us(all),
                    largest.over(all).share(),
                    us(receive)
                );
                (seen, is_longest(&client, "C7"))
            },
        ),
        Finding::new(
            "Of the server's steps, sending through the transport takes longest, the write included (Table 2)",
            [longest(&server).map(|(took, _)| took), sum(&server)],
            |[largest, all]| {
                let name = longest(&server).map_or("", |(_, series)| series);
                let seen = format!(
                    "{name}: {} of {}, {}",
                    us(largest),
                    us(all),
                    largest.over(all).share()
                );
                // Two of ours are that step.
                (seen, is_longest(&server, "S10 the system call"))
            },
        ),
        Finding::new(
            "Finding POA, servant and operation is a small part of a server's time (Table 2: 15.1 of 153 µs; dissertation, Table 3.1)",
            [
                demux("S04 parse object key"),
                demux("S05 POA demux"),
                demux("S06 servant demux"),
                demux("S07 operation demux"),
                sum(&server),
            ],
            |[key, poa, servant, operation, all]| {
                let part = key.plus(poa).plus(servant).plus(operation).over(all);
                let seen = format!(
                    "key {}, POA {}, servant {}, operation {}: {} of the server's steps; with a cached header",
                    us(key),
                    us(poa),
                    us(servant),
                    us(operation),
                    part.share()
                );
                (seen, part.at_most(15.1 / 153.4))
            },
        ),
    ]
}

/// Figure 8.
fn sizes(seen: &Seen<'_>) -> [Finding; 3] {
    let step = |end: &'static str, series: &'static str| {
        let of = |label: &str| seen.at(end, "TCP", series, label);
        of("none")
            .zip(of("2048 octets"))
            .map(|(none, many)| many.over(none))
    };
    let demux = |label: &str| {
        let steps = SERVER.iter().filter(|(name, _)| name.ends_with("demux"));
        let all: Option<Vec<_>> = steps
            .map(|(_, series)| seen.at("server", "TCP", series, label))
            .collect();
        Measured::sum(all?)
    };
    let demuxed = demux("none")
        .zip(demux("2048 octets"))
        .map(|(none, many)| many.over(none));
    [
        Finding::new(
            "Only marshalling and copying depend on the size of the argument; the ORB's other steps do not (Figure 8)",
            [
                seen.layer("TCP", 3, "none"),
                seen.layer("TCP", 3, "2048 octets"),
                seen.layer("TCP", 0, "none"),
                seen.layer("TCP", 0, "2048 octets"),
            ],
            |[rest, rest_large, system, system_large]| {
                let seen = format!(
                    "none and 2,048 octets: the ORB's other steps {} and {}; system calls {} and {}",
                    us(rest),
                    us(rest_large),
                    us(system),
                    us(system_large)
                );
                (seen, rest_large.over(rest).is_no_more())
            },
        ),
        Finding::new(
            "Demultiplexing, headers and the upcall do not depend on the size of the argument (Figure 8)",
            [
                demuxed,
                step("client", "C4 messaging send"),
                step("server", "S08 upcall"),
            ],
            |[demux, header, upcall]| {
                let seen = format!(
                    "2,048 octets over none: demultiplexing {}, the request's header (C4) {}, the upcall {}; the upcall looks at its argument",
                    demux.factor(),
                    header.factor(),
                    upcall.factor()
                );
                (
                    seen,
                    Holds::all([demux, header, upcall].map(Measured::is_no_more)),
                )
            },
        ),
        Finding::new(
            "Above 256 octets, which are copied in another way, transport and ORB take slightly longer (Figure 8)",
            [
                seen.worked("TCP", 1, "256 octets"),
                seen.worked("TCP", 1, "2048 octets"),
            ],
            |[few, many]| {
                let seen = format!(
                    "both ends work {} outside system calls with 256 octets, and {} with 2,048",
                    us(few),
                    us(many)
                );
                // Slightly is by less than the difference that counts as one.
                (seen, many.over(few).beside(1.0, EQUAL))
            },
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn steps_of_ours_that_are_one_of_the_papers_are_one_and_a_write_is_no_step_of_an_orbs() {
        let judged = |servant: f64, write: f64| {
            each_step("", &SERVER, |series| {
                Some(Measured::exactly(match series {
                    "S06 servant demux" => servant,
                    "S06 prepare the upcall" => 0.5,
                    "S10 the system call that writes" => write,
                    _ => 0.1,
                }))
            })
        };
        let none = judged(0.1, 9.0);
        assert_eq!(none.holds, Holds::No, "{}", none.seen);
        assert!(
            none.seen.contains("; the system call that writes 9.00 µs"),
            "{}",
            none.seen
        );
        // Neither of the two takes a microsecond, but the step does.
        assert_eq!(judged(0.6, 0.1).holds, Holds::InPart);
        let all = each_step("", &SERVER, |_| Some(Measured::exactly(1.0)));
        assert_eq!(all.holds, Holds::Yes);
        assert_eq!(each_step("", &SERVER, |_| None).holds, Holds::Unknown);
    }

    #[test]
    fn what_is_in_no_step_is_said() {
        let mut points = Vec::new();
        for panel in ["sum, TCP, same", "sum, TCP, split"] {
            let parts = [2.0, 5.0, 12.3, 0.3, 0.4];
            points.extend(
                SUM.into_iter()
                    .zip(parts)
                    .map(|(name, took)| (panel, name, 0.0, Some("none"), took)),
            );
        }
        let found = adds_up(&data(&points));
        assert_eq!(found.holds, Holds::Yes);
        assert!(
            found.seen.contains("400 ns, 2.0 %, is in no step"),
            "{}",
            found.seen
        );
    }

    #[test]
    fn the_longest_step_is_named_where_no_other_may_be_longer() {
        let of = |least: f64, most: f64| Measured::apart((least + most) / 2.0, least, most);
        let steps = [
            (of(1.0, 2.0), "C5 a"),
            (of(3.0, 4.0), "C7 b"),
            (of(3.5, 4.5), "C8 c"),
        ];
        assert_eq!(is_longest(&steps, "C5"), Holds::No);
        assert_eq!(is_longest(&steps, "C7"), Holds::Untold);
        assert_eq!(is_longest(&steps[..2], "C7"), Holds::Yes);
        assert_eq!(is_longest(&steps, "C9"), Holds::Unknown);
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
    }
}
