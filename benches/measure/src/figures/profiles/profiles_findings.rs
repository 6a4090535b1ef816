//! The papers' claims about their profiles, and today's findings.

use crate::figures::data::Data;
use crate::figures::finding::{Finding, Holds};
use crate::figures::measured::{Measured, ratio};
use crate::figures::profiles::part::Part;
use crate::figures::profiles::{copies, functions, lookups, one_way};

/// Share of some parts at one end of a flood, in percent.
fn share_of(data: &Data, end: &str, flood: &str, parts: &[Part]) -> Option<Measured> {
    let panel = format!("parts, {end}");
    let each: Option<Vec<Measured>> = parts
        .iter()
        .map(|part| data.measured_under(&panel, part.name(), flood))
        .collect();
    Measured::sum(each?)
}

/// The finding on a flood of 128 K.
fn share(data: &Data, end: &str, flood: &str, parts: &[Part]) -> Option<Measured> {
    share_of(data, end, &format!("{flood} 128 K"), parts)
}

/// The shares at both ends.
fn both(data: &Data, flood: &str, parts: &[Part]) -> [Option<Measured>; 2] {
    ["client", "server"].map(|end| share(data, end, flood, parts))
}

/// The kernel's share at one end, in percent, by its own parts or as what the others leave: whichever the rounds agree
/// on better, since parts that go up when others go down are farther apart than what they are together.
fn kernel(data: &Data, end: &str, flood: &str) -> Option<Measured> {
    let parts = share(data, end, flood, &[Part::Kernel, Part::KernelCopying])?;
    let left = share(data, end, flood, &OWN)?.rest_of(100.0);
    let apart = |one: &Measured| one.most - one.least;
    let both = [parts, left].into_iter();
    let closer = both.min_by(|a, b| apart(a).total_cmp(&apart(b)));
    closer.map(|share| share.map(|percent| percent.min(100.0)))
}

/// The shares at both ends.
fn kernels(data: &Data, flood: &str) -> [Option<Measured>; 2] {
    ["client", "server"].map(|end| kernel(data, end, flood))
}

/// The functions that copy, read and convert data, outside of the kernel.
const COPYING: [Part; 2] = [Part::Copying, Part::Marshalling];

/// The functions outside of the kernel.
const OWN: [Part; 3] = [Part::Copying, Part::Marshalling, Part::Rest];

/// How many system calls of these names there are for a buffer.
fn calls(data: &Data, end: &str, flood: &str, names: &[&str]) -> Option<Measured> {
    let panel = format!("calls, {end}, {flood} 128 K");
    let each = names
        .iter()
        .filter_map(|name| data.measured_under(&panel, "each", name));
    Measured::sum(each)
}

/// How many system calls there are for a buffer, of those that were counted, at both ends.
fn every_call(data: &Data, flood: &str) -> Option<Measured> {
    let ends = ["client", "server"].map(|end| {
        let panel = format!("calls, {end}, {flood} 128 K");
        let each = data.of(&panel).filter(|point| point.series == "each");
        Measured::sum(each.map(Measured::from))
    });
    let [client, server] = ends;
    Some(client?.plus(server?))
}

const READS: [&str; 4] = ["read", "readv", "recvfrom", "recvmsg"];
const WRITES: [&str; 4] = ["write", "writev", "sendto", "sendmsg"];

/// The experiment in three sentences.
pub(super) fn seen(data: &Data) -> Option<String> {
    let [transmitter, receiver] = kernels(data, "zorb, octets");
    let part = |at: usize| {
        let part = lookups::PARTS.get(at)?;
        Some(
            data.measured_under(lookups::PANEL, part, "zorb, oneway")?
                .percent(),
        )
    };
    let called = |who: &str| {
        let of = |end| data.measured_under(&functions::panel(end), who, "no argument");
        Some(format!(
            "{} and {}",
            of("client")?.plain(),
            of("server")?.plain()
        ))
    };
    Some(format!(
        "With zorb the kernel has {} of the transmitter's time and {} of the receiver's, with octets in buffers of 128 K. Among \
         500 objects zorb spends {} of its instructions on finding the object and {} on finding the operation. A two-way call \
         takes {} function calls in zorb's client and server, and {} in omniORB's.",
        transmitter?.percent(),
        receiver?.percent(),
        part(0)?,
        part(1)?,
        called("zorb")?,
        called("omniORB")?
    ))
}

pub(super) fn findings(data: &Data) -> Vec<Finding> {
    let mut all = octets(data);
    all.extend(system_calls(data));
    all.extend(typed(data));
    all.extend(found(data));
    all.extend(one_way::findings(data));
    all.extend(copies::findings(data));
    all.push(functions::finding(data));
    all
}

/// Where the time goes without an ORB and with one, of octets.
fn octets(data: &Data) -> Vec<Finding> {
    let [raw_out, raw_in] = kernels(data, "raw, octets");
    let of = |who: &str, parts: &[Part]| both(data, &format!("{who}, octets"), parts);
    let [zorb, omni] = ["zorb", "omniORB"].map(|who| kernels(data, &format!("{who}, octets")));
    let [zorb_copies, omni_copies] = ["zorb", "omniORB"].map(|who| of(who, &COPYING));
    let [zorb_own, omni_own] = ["zorb", "omniORB"].map(|who| of(who, &OWN));
    let by_size = |who: &str| {
        let parts = [Part::KernelCopying, Part::Copying, Part::Marshalling];
        ["client", "server"].map(|end| {
            let of = |size: &str| share_of(data, end, &format!("{who}, octets {size} K"), &parts);
            Some(of("128")?.over(of("64")?))
        })
    };
    let [zorb_grows, omni_grows] = ["zorb", "omniORB"].map(by_size);
    let [wrapped_out, wrapped_in] = kernels(data, "transport layer alone, octets");
    let wrapped = Finding::new(
        "Typed wrappers spend as little outside the kernel as sockets do: 0.4 to 0.6 % (Figure 7)",
        [wrapped_out, wrapped_in, raw_out, raw_in],
        |all| {
            let others = all.map(|kernel| kernel.rest_of(100.0));
            let [out, into, raw_out, raw_in] = others;
            let seen = format!(
                "outside the kernel, transmitter and receiver: our transport layer alone {} and {}, raw sockets {} and {}; the receiver here reads every octet",
                out.percent(),
                into.percent(),
                raw_out.percent(),
                raw_in.percent()
            );
            // A hundredth of the time is little.
            let more = [out.minus(raw_out), into.minus(raw_in)];
            (seen, Holds::all(more.map(|more| more.at_most(1.0))))
        },
    );
    vec![
        Finding::new(
            "Without an ORB `read` and `write` are more than 99 % of the time (Section 2.2.2, Figure 7)",
            [raw_out, raw_in],
            |[transmitter, receiver]| {
                let seen = format!(
                    "kernel: {} of the transmitter's time, {} of the receiver's; the receiver here reads every octet",
                    transmitter.percent(),
                    receiver.percent()
                );
                (
                    seen,
                    Holds::all([transmitter, receiver].map(|part| part.above(99.0))),
                )
            },
        ),
        wrapped,
        Finding::new(
            "With an ORB 4 to 15 % of the time is outside the kernel (Section 2.2.2, Figure 7)",
            [zorb[0], zorb[1], omni[0], omni[1]],
            |all| {
                let others = all.map(|kernel| kernel.rest_of(100.0));
                let [a, b, c, d] = others.map(Measured::percent);
                let seen = format!(
                    "octets, transmitter and receiver: zorb {a} and {b}, omniORB {c} and {d}"
                );
                (seen, Holds::all(others.map(|other| other.about(4.0, 15.0))))
            },
        ),
        Finding::new(
            "The operating system often costs much more than a well-tuned ORB (Section 3; Figure 7)",
            [zorb[0], zorb[1], omni[0], omni[1]],
            |all| {
                let [a, b, c, d] = all.map(Measured::percent);
                let seen = format!(
                    "kernel with octets, transmitter and receiver: zorb {a} and {b}, omniORB {c} and {d}"
                );
                // Twice as much as everything else.
                (
                    seen,
                    Holds::all(all.map(|kernel| kernel.above(200.0 / 3.0))),
                )
            },
        ),
        Finding::new(
            "Outside the kernel most of an ORB's time is copying and looking at data (Section 2.2.2, Figure 7)",
            [
                zorb_copies[0],
                zorb_copies[1],
                omni_copies[0],
                omni_copies[1],
                zorb_own[0],
                zorb_own[1],
                omni_own[0],
                omni_own[1],
            ],
            |[a, b, c, d, all_a, all_b, all_c, all_d]| {
                let parts = [(a, all_a), (b, all_b), (c, all_c), (d, all_d)];
                let [zorb_out, zorb_in, omni_out, omni_in] =
                    parts.map(|(part, all)| format!("{} of {}", part.percent(), all.percent()));
                let seen = format!(
                    "copying and marshalling: zorb {zorb_out} and {zorb_in}, omniORB {omni_out} and {omni_in}; in functions of their own only, inlined ones count with the rest"
                );
                (
                    seen,
                    Holds::all(parts.map(|(part, all)| part.minus(all.times(0.5)).above(0.0))),
                )
            },
        ),
        Finding::new(
            "The larger the buffers, the more of the time is copying (Section 2.2.2)",
            [zorb_grows[0], zorb_grows[1], omni_grows[0], omni_grows[1]],
            |all| {
                let [a, b, c, d] = all.map(Measured::factor);
                let seen = format!(
                    "share of copying, 128 K over 64 K: zorb {a} and {b}, omniORB {c} and {d}; transmitter and receiver, the kernel's copies included"
                );
                (seen, Holds::all(all.map(|times| times.above(1.0))))
            },
        ),
    ]
}

/// How often they ask the system.
fn system_calls(data: &Data) -> [Finding; 3] {
    let orbs = ["raw, octets", "zorb, octets", "omniORB, octets"];
    let text = |all: [Measured; 3]| {
        let [raw, zorb, omni] = all.map(Measured::plain);
        (raw, zorb, omni)
    };
    [
        Finding::new(
            "A transmitter writes each buffer by one system call: 527 to 551 for 512 buffers (Figure 7)",
            orbs.map(|flood| calls(data, "client", flood, &WRITES)),
            |all| {
                let (raw, zorb, omni) = text(all);
                let seen = format!(
                    "writes per buffer of 128 K: raw sockets {raw}, zorb {zorb}, omniORB {omni}"
                );
                (
                    seen,
                    Holds::all(all.map(|calls| calls.about(527.0 / 512.0, 551.0 / 512.0))),
                )
            },
        ),
        Finding::new(
            "A receiver gets a buffer in many reads, of about an MTU each: 14 for 128 K (Section 2.2.2, Figure 7)",
            orbs.map(|flood| calls(data, "server", flood, &READS)),
            |all| {
                let (raw, zorb, omni) = text(all);
                let seen = format!(
                    "reads per buffer of 128 K: raw sockets {raw}, zorb {zorb}, omniORB {omni}; the MTU of the loopback is 65,536"
                );
                (seen, Holds::all(all.map(|calls| calls.about(14.0, 14.0))))
            },
        ),
        Finding::new(
            "An ORB makes system calls of its own for each message: one polls and sets signal handlers twice (Section 2.2.2)",
            orbs.map(|flood| every_call(data, flood)),
            |all| {
                let (raw_is, zorb_is, omni_is) = text(all);
                let seen = format!(
                    "system calls per buffer of 128 K: raw sockets {raw_is}, zorb {zorb_is}, omniORB {omni_is}; both ends, the most frequent ones, start included"
                );
                let [raw, zorb, omni] = all;
                (
                    seen,
                    Holds::all([zorb, omni].map(|orb| orb.minus(raw).at_least(1.0))),
                )
            },
        ),
    ]
}

/// The cost of types.
fn typed(data: &Data) -> [Finding; 3] {
    let rich = |flood: &str| share(data, "server", flood, &COPYING);
    let other = |who: &str, kind: &str| both(data, &format!("{who}, {kind}"), &OWN);
    let [zorb, omni] = ["zorb", "omniORB"].map(|who| {
        let (text, chars) = (other(who, "string"), other(who, "chars"));
        [text[0], text[1], chars[0], chars[1]]
    });
    [
        Finding::new(
            "Strings spend more time outside the kernel than sequences: 11 to 16 % against 5 to 11 % (Figure 7)",
            [
                zorb[0], zorb[1], zorb[2], zorb[3], omni[0], omni[1], omni[2], omni[3],
            ],
            |[a, b, c, d, omni_a, omni_b, omni_c, omni_d]| {
                let seen = format!(
                    "strings and sequences of chars, transmitter: zorb {} and {}, omniORB {} and {}; receiver: {} and {}, {} and {}",
                    a.percent(),
                    c.percent(),
                    omni_a.percent(),
                    omni_c.percent(),
                    b.percent(),
                    d.percent(),
                    omni_b.percent(),
                    omni_d.percent()
                );
                let more = [(a, c), (b, d), (omni_a, omni_c), (omni_b, omni_d)];
                (
                    seen,
                    Holds::all(more.map(|(text, chars)| text.minus(chars).above(0.0))),
                )
            },
        ),
        Finding::new(
            "A sender of structs spends 56 to 73 % in the kernel, 25 to 42 % on marshalling (latency paper, Figures 27 and 28)",
            [
                kernel(data, "client", "zorb, structs"),
                kernel(data, "client", "omniORB, structs"),
            ],
            |all| {
                let [kernel, omni_kernel] = all.map(Measured::percent);
                // Medians of parts need not add up.
                let [own, omni_own] = all.map(|kernel| kernel.rest_of(100.0).percent());
                let seen = format!(
                    "zorb {kernel} in the kernel and {own} elsewhere, omniORB {omni_kernel} and {omni_own}; inlined marshalling counts with the rest"
                );
                (seen, Holds::all(all.map(|kernel| kernel.about(56.0, 73.0))))
            },
        ),
        Finding::new(
            "A receiver of structs spends 72 % of its time on demarshalling (latency paper, Figures 27 and 28)",
            [
                rich("zorb, structs"),
                share(data, "server", "zorb, structs", &OWN),
                rich("omniORB, structs"),
            ],
            |[zorb, at_most, omni]| {
                let seen = format!(
                    "zorb {} in functions of their own, at most {} with inlined code, omniORB {}; copying included",
                    zorb.percent(),
                    at_most.percent(),
                    omni.percent()
                );
                let paper = |part: Measured| part.about(72.0, 72.0);
                // The share of inlined functions may be all of the rest, or nothing.
                let ours = match (paper(zorb), paper(at_most)) {
                    (least, most) if least == most => least,
                    _ => Holds::Untold,
                };
                (seen, Holds::all([ours, paper(omni)]))
            },
        ),
    ]
}

fn found(data: &Data) -> [Finding; 3] {
    let of = |part: usize, label: &str| {
        let part = lookups::PARTS.get(part)?;
        data.measured_under(lookups::PANEL, part, label)
    };
    let numbers = ["zorb, oneway", "omniORB, oneway"].map(|who| [of(0, who), of(1, who)]);
    let [[object, operation], [omni_object, omni_operation]] = numbers;
    let found_in =
        |panel: &'static str, who: &str| lookups::finding(data, panel, &format!("{who}, oneway"));
    let in_trains = ["zorb", "omniORB"].map(|who| {
        let [turns, trains] = [lookups::PANEL, lookups::TRAINS].map(|panel| found_in(panel, who));
        ratio(turns, trains)
    });
    [
        Finding::new(
            "With 500 objects a server spends 22 % on comparing names, 16 to 22 % on finding objects (latency paper, Tables 1 and 2)",
            [object, operation, omni_object, omni_operation],
            |all| {
                let [object, operation, omni_object, omni_operation] = all.map(Measured::percent);
                let seen = format!(
                    "instructions for object and operation: zorb {object} and {operation}, omniORB {omni_object} and {omni_operation}; the kernel's are not counted"
                );
                let [a, b, c, d] = all;
                let together = [a.plus(b), c.plus(d)];
                (
                    seen,
                    Holds::all(together.map(|both| both.about(38.0, 44.0))),
                )
            },
        ),
        Finding::new(
            "An ORB that searches operations one by one spends more on them than one that hashes (latency paper, Section 4.5)",
            [operation, omni_operation],
            |[hashed, searched]| {
                let seen = format!(
                    "instructions, of eight operations: omniORB, which compares names, {}; zorb, which hashes them, {}",
                    searched.percent(),
                    hashed.percent()
                );
                (seen, searched.minus(hashed).above(0.0))
            },
        ),
        Finding::new(
            "Calling objects in turn or each many times in a row makes no difference (latency paper, Tables 1 and 2)",
            in_trains,
            |[zorb, omni]| {
                let seen = format!(
                    "share of finding object and operation, in turn over in a row: zorb {}, omniORB {}; of the instructions outside the \
                     kernel",
                    zorb.factor(),
                    omni.factor()
                );
                (seen, Holds::all([zorb.is_one(), omni.is_one()]))
            },
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn findings_are_of_what_was_measured() {
        let raw = Some("raw, octets 128 K");
        let data = data(&[
            ("parts, client", "kernel", 0.0, raw, 90.0),
            ("parts, client", "copying, in the kernel", 0.0, raw, 9.5),
            ("parts, server", "kernel", 0.0, raw, 70.0),
            ("parts, server", "copying, in the kernel", 0.0, raw, 10.0),
            ("parts, client", "copying and clearing", 0.0, raw, 0.0),
            ("parts, client", "marshalling", 0.0, raw, 0.0),
            ("parts, client", "rest: ORB, servant, start", 0.0, raw, 0.5),
            ("parts, server", "copying and clearing", 0.0, raw, 0.0),
            ("parts, server", "marshalling", 0.0, raw, 0.0),
            ("parts, server", "rest: ORB, servant, start", 0.0, raw, 20.0),
            (
                "look-ups",
                "finding the object",
                0.0,
                Some("zorb, twoway"),
                4.0,
            ),
        ]);
        let all = findings(&data);
        let find = |part: &str| all.iter().find(|f| f.claim.contains(part)).unwrap();
        assert_eq!(find("more than 99 %").holds, Holds::InPart);
        assert!(find("more than 99 %").seen.contains("100 %"));
        assert_eq!(find("500 objects").holds, Holds::Unknown);
    }
}
