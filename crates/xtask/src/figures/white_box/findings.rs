//! What the papers draw from their tables, and what is to be seen today.

use crate::claims::Aim;
use crate::figures::data::Data;
use crate::figures::finding::{Finding, Holds, with_unit};
use crate::figures::white_box::steps::{
    CLIENT, FOUND_TOGETHER, LAYERS, NOT_OURS, SERVER, SUM, number,
};
use crate::measure::statistics::three_digits;

fn us(value: f64) -> String {
    match value.abs() < 1.0 {
        true => with_unit(1_000.0 * value, "ns"),
        false => with_unit(value, "µs"),
    }
}

fn percent(part: f64, whole: f64) -> String {
    format!("{} %", three_digits(100.0 * part / whole))
}

/// Whether the ORB's own steps take microseconds each, as the papers' do. Steps of ours that are one of theirs are one
/// here, as a step must not look shorter for being looked at more closely; the system calls are told, but are no step
/// of an ORB's, which microseconds in the kernel would say nothing about; and waiting is no work.
fn each_step(claim: &str, steps: &[(&str, &str)], at: impl Fn(&str) -> Option<f64>) -> Finding {
    let mut numbers: Vec<(&str, f64)> = Vec::new();
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
        words.push(format!("{name} {}", us(took)));
        let same = numbers.iter_mut().find(|(one, _)| *one == number(series));
        match same {
            Some((_, sum)) => *sum += took,
            None => numbers.push((number(series), took)),
        }
    }
    let long = numbers.iter().filter(|(_, took)| *took >= 1.0).count();
    let system = complete.and(system);
    Finding::new(claim, [system], |[system]| {
        let seen = format!(
            "{}; the system call that writes, besides, {}",
            words.join(", "),
            us(system)
        );
        let holds = match long {
            0 => Holds::No,
            all if all == numbers.len() => Holds::Yes,
            _ => Holds::InPart,
        };
        (seen, holds)
    })
}

/// Whether anything is left out of the steps, or in two of them.
fn adds_up(data: &Data) -> Finding {
    let of = |placement: &str| {
        let part = |name: &str| data.under(&format!("sum, TCP, {placement}"), name, "none");
        let all: Option<Vec<f64>> = SUM.iter().map(|name| part(name)).collect();
        let whole: f64 = all?.iter().sum();
        Some((whole, part(SUM[3])?, part(SUM[4])?))
    };
    let (same, split) = (of("same"), of("split"));
    let rest = |of: Option<(f64, f64, f64)>| of.map(|(whole, _, rest)| 100.0 * rest / whole);
    let worst = rest(same)
        .zip(rest(split))
        .map(|(a, b)| a.abs().max(b.abs()));
    Finding::new(
        "The steps are the whole call (ours to find: Tables 1 and 2 do not say what is in none of their steps)",
        [worst],
        |[worst]| {
            let told = |(whole, marks, rest): (f64, f64, f64)| {
                format!(
                    "of {} without arguments marking takes {}, and {} ({}) is in no step",
                    us(whole),
                    us(marks),
                    us(rest),
                    percent(rest, whole)
                )
            };
            let [split, same] = [split, same].map(|it| it.map(told).unwrap_or_default());
            let seen = format!("with a CPU for each program, {split}; with one CPU, {same}");
            let holds = match worst {
                worst if worst <= 5.0 => Holds::Yes,
                worst if worst <= 10.0 => Holds::InPart,
                _ => Holds::No,
            };
            (seen, holds)
        },
    )
    .with_number("percent-in-no-step", worst, Aim::AtMost(5.0))
}

pub(super) fn findings(data: &Data) -> Vec<Finding> {
    let at = |end: &str, transport: &str, series: &str, label: &str| {
        data.under(&format!("{end}, {transport}, split"), series, label)
    };
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
    let each_step = |end: &str, steps: &[(&str, &str)], claim: &str| {
        each_step(claim, steps, |series| at(end, "TCP", series, "none"))
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
        adds_up(data),
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
            "A client of one-way calls without parameters spends 74 to 99 % of its time writing (latency paper, section 4.3.3, Tables 1 and 2)",
            [
                at("client", "TCP", "C5 the system call that writes", "none"),
                sum("client", &CLIENT, "none", "wait"),
            ],
            |[write, all]| {
                let seen = format!(
                    "of a two-way call {} of {} without its wait, {}",
                    us(write),
                    us(all),
                    percent(write, all)
                );
                (seen, Holds::when(write > 0.7 * all))
            },
        ),
        Finding::new(
            "A server of one-way calls spends 10 to 21 % of its time writing and 22 to 38 % finding object and operation (latency paper, section 4.3.3, Tables 1 and 2)",
            [
                at("server", "TCP", "S10 the system call that writes", "none"),
                data.under("server itself, TCP, split", FOUND_TOGETHER, "none"),
                sum("server", &SERVER, "none", "no such"),
            ],
            |[write, found, all]| {
                let seen = format!(
                    "not measured: a server of two-way calls writes replies. Of {}, which the read that brings the request is not in: writing {}, finding {}",
                    us(all),
                    percent(write, all),
                    percent(found, all)
                );
                (seen, Holds::Unknown)
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
                    "in a request that says nothing new parsing the key takes {}, the POA {}, the servant {}, the operation {}: {} of the server's steps",
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
    fn steps_of_ours_that_are_one_of_the_papers_are_one_and_a_write_is_no_step_of_an_orbs() {
        let judged = |servant: f64, write: f64| {
            each_step("", &SERVER, |series| {
                Some(match series {
                    "S06 servant demux" => servant,
                    "S06 prepare the upcall" => 0.5,
                    "S10 the system call that writes" => write,
                    _ => 0.1,
                })
            })
        };
        let none = judged(0.1, 9.0);
        assert_eq!(none.holds, Holds::No, "{}", none.seen);
        assert!(none.seen.ends_with("besides, 9.00 µs"), "{}", none.seen);
        // Neither of the two takes a microsecond, but the step does.
        assert_eq!(judged(0.6, 0.1).holds, Holds::InPart);
        let all = each_step("", &SERVER, |_| Some(1.0));
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
            found.seen.contains("400 ns (2.00 %) is in no step"),
            "{}",
            found.seen
        );
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
