//! What the papers draw from their profiles, and what is to be seen today.

use crate::figures::data::Data;
use crate::figures::finding::{Finding, Holds};
use crate::figures::profiles::lookups;
use crate::figures::profiles::part::Part;
use crate::measure::statistics::three_digits;

/// Share of some parts at one end of the flood of 128 K.
fn share(data: &Data, end: &str, flood: &str, parts: &[Part]) -> Option<f64> {
    let panel = format!("parts, {end}");
    let name = format!("{flood} 128 K");
    let each: Option<Vec<f64>> = parts
        .iter()
        .map(|part| data.under(&panel, part.name(), &name))
        .collect();
    each.map(|all| all.iter().sum())
}

fn percent(value: f64) -> String {
    format!("{} %", three_digits(value))
}

/// Of both ends.
fn both(data: &Data, flood: &str, parts: &[Part]) -> [Option<f64>; 2] {
    ["client", "server"].map(|end| share(data, end, flood, parts))
}

const KERNEL: [Part; 2] = [Part::Kernel, Part::KernelCopying];

/// How many system calls of these names there are for a buffer.
fn calls(data: &Data, end: &str, flood: &str, names: &[&str]) -> Option<f64> {
    let panel = format!("calls, {end}, {flood} 128 K");
    let each = names
        .iter()
        .filter_map(|name| data.under(&panel, "each", name));
    each.reduce(|a, b| a + b)
}

/// What is outside of the kernel.
const OWN: [Part; 3] = [Part::Copying, Part::Marshalling, Part::Rest];

/// How many system calls there are for a buffer, of those that were counted, at both ends.
fn every_call(data: &Data, flood: &str) -> Option<f64> {
    let ends = ["client", "server"].map(|end| {
        let panel = format!("calls, {end}, {flood} 128 K");
        let each = data.of(&panel).filter(|point| point.series == "each");
        each.map(|point| point.value).reduce(|a, b| a + b)
    });
    let [client, server] = ends;
    Some(client? + server?)
}

const READS: [&str; 4] = ["read", "readv", "recvfrom", "recvmsg"];

pub(super) fn findings(data: &Data) -> Vec<Finding> {
    let mut all = floods(data);
    all.extend(found(data));
    all
}

fn floods(data: &Data) -> Vec<Finding> {
    let [raw_out, raw_in] = both(data, "raw, octets", &KERNEL);
    let [zorb_out, zorb_in] = both(data, "zorb, octets", &KERNEL);
    let [omni_out, omni_in] = both(data, "omniORB, octets", &KERNEL);
    let copying = |flood: &str| both(data, flood, &[Part::Copying, Part::Marshalling]);
    let [zorb_copies_out, zorb_copies_in] = copying("zorb, octets");
    let [omni_copies_out, omni_copies_in] = copying("omniORB, octets");
    let rich = |flood: &str| share(data, "server", flood, &[Part::Marshalling, Part::Copying]);
    vec![
        Finding::new(
            "Without an ORB `read` and `write` are more than 99 % of the time (Section 2.2.2, Figure 7)",
            [raw_out, raw_in],
            |[transmitter, receiver]| {
                let seen = format!(
                    "the kernel has {} of the transmitter's and {} of the receiver's time; the receiver here reads every octet",
                    percent(transmitter),
                    percent(receiver)
                );
                let holds = match (transmitter > 97.0, receiver > 97.0) {
                    (true, true) => Holds::Yes,
                    (false, false) => Holds::No,
                    _ => Holds::InPart,
                };
                (seen, holds)
            },
        ),
        Finding::new(
            "With an ORB other work takes 4 to 15 % (Section 2.2.2, Figure 7)",
            [zorb_out, zorb_in, omni_out, omni_in],
            |all| {
                let others = all.map(|kernel| 100.0 - kernel);
                let [a, b, c, d] = others.map(percent);
                let seen = format!(
                    "octets, transmitter and receiver: {a} and {b} with zorb, {c} and {d} with omniORB"
                );
                let within = |other: &f64| (4.0..=15.0).contains(other);
                let holds = match others.iter().filter(|other| within(other)).count() {
                    4 => Holds::Yes,
                    0 => Holds::No,
                    _ => Holds::InPart,
                };
                (seen, holds)
            },
        ),
        Finding::new(
            "Outside the kernel most of an ORB's time is copying and looking at data (Section 2.2.2)",
            [
                zorb_copies_out,
                zorb_copies_in,
                omni_copies_out,
                omni_copies_in,
            ],
            |[a, b, c, d]| {
                let [zorb_out, zorb_in, omni_out, omni_in] = [a, b, c, d].map(percent);
                let seen = format!(
                    "copying, clearing and marshalling octets in functions of their own take {zorb_out} and {zorb_in} with zorb, {omni_out} and {omni_in} with omniORB; what is inlined elsewhere is not told from the rest"
                );
                let holds = match (a.max(b) > 4.0, c.max(d) > 4.0) {
                    (true, true) => Holds::Yes,
                    (false, false) => Holds::No,
                    _ => Holds::InPart,
                };
                (seen, holds)
            },
        ),
        Finding::new(
            "A receiver gets a buffer in many reads, of about an MTU each: 14 for 128 K (Section 2.2.2, Figure 7)",
            [
                calls(data, "server", "raw, octets", &READS),
                calls(data, "server", "zorb, octets", &READS),
            ],
            |[raw, zorb]| {
                let (raw_is, zorb_is) = (three_digits(raw), three_digits(zorb));
                let seen = format!(
                    "{raw_is} reads for a buffer of 128 K raw, {zorb_is} with zorb, where the MTU of the loopback is 65,536"
                );
                (
                    seen,
                    if raw > 10.0 {
                        Holds::Yes
                    } else if raw > 2.0 {
                        Holds::InPart
                    } else {
                        Holds::No
                    },
                )
            },
        ),
        Finding::new(
            "An ORB makes system calls of its own for each message: one of them polls twice and sets signal handlers twice (Section 2.2.2)",
            [
                every_call(data, "raw, octets"),
                every_call(data, "zorb, octets"),
                every_call(data, "omniORB, octets"),
            ],
            |[raw, zorb, omni]| {
                let [raw_is, zorb_is, omni_is] = [raw, zorb, omni].map(three_digits);
                let seen = format!(
                    "system calls for a buffer of 128 K of octets, both ends, the most frequent ones, start of the programs included: raw {raw_is}, zorb {zorb_is}, omniORB {omni_is}"
                );
                (seen, Holds::both(zorb > raw + 1.0, omni > raw + 1.0))
            },
        ),
        Finding::new(
            "A sender of structs spends 56 to 73 % of its time in the operating system and 25 to 42 % on marshalling and copying (latency paper, Sections 4.3.1 and 4.3.2, Figures 27 and 28)",
            [
                share(data, "client", "zorb, structs", &KERNEL),
                share(data, "client", "omniORB, structs", &KERNEL),
            ],
            |all| {
                let [kernel, omni_kernel] = all.map(percent);
                // Medians of parts need not add up.
                let [own, omni_own] = all.map(|kernel| percent(100.0 - kernel));
                let seen = format!(
                    "zorb {kernel} in the kernel and {own} elsewhere, omniORB {omni_kernel} and {omni_own}; marshalling that was inlined is not told from the rest"
                );
                let [kernel, omni_kernel] = all;
                let about = |share: f64| (50.0..=80.0).contains(&share);
                (seen, Holds::both(about(kernel), about(omni_kernel)))
            },
        ),
        Finding::new(
            "A receiver of structs spends 72 % of its time on demarshalling (latency paper, Section 4.3)",
            [
                rich("zorb, structs"),
                share(data, "server", "zorb, structs", &OWN),
                rich("omniORB, structs"),
            ],
            |[zorb, at_most, omni]| {
                let seen = format!(
                    "zorb {} in functions of their own and at most {} with what is inlined elsewhere, omniORB {}; copying included",
                    percent(zorb),
                    percent(at_most),
                    percent(omni)
                );
                let holds = match (zorb > 60.0, at_most > 60.0) {
                    (true, _) => Holds::both(true, omni > 60.0),
                    (false, true) => Holds::InPart,
                    (false, false) => Holds::both(false, omni > 60.0),
                };
                (seen, holds)
            },
        ),
    ]
}

fn found(data: &Data) -> Vec<Finding> {
    let of = |part: usize, label: &str| {
        let part = lookups::PARTS.get(part)?;
        data.under(lookups::PANEL, part, label)
    };
    let numbers = ["zorb, oneway", "omniORB, oneway"].map(|who| [of(0, who), of(1, who)]);
    let [[object, operation], [omni_object, omni_operation]] = numbers;
    let asked_in_turns = Finding::not_measured(
        "It makes no difference whether the objects are called in turns or each many times (latency paper, Section 4.3.3, Tables 1 and 2)",
        "not measured: look-ups are profiled of calls in turns; times of both orders are in the latency experiment",
    );
    let looked_up = Finding::new(
        "A server with 500 objects spends 22 % of its time on comparing operations' names and 16 to 22 % on finding the object (latency paper, Section 4.3.3, Tables 1 and 2)",
        [object, operation, omni_object, omni_operation],
        |all| {
            let [object, operation, omni_object, omni_operation] = all.map(percent);
            let seen = format!(
                "of the instructions outside the kernel zorb spends {object} on the object and {operation} on the operation, omniORB {omni_object} and {omni_operation}"
            );
            let [a, b, c, d] = all;
            let holds = match (a + b > 30.0, c + d > 30.0) {
                (true, true) => Holds::Yes,
                (false, false) => Holds::No,
                _ => Holds::InPart,
            };
            (seen, holds)
        },
    );
    vec![looked_up, asked_in_turns]
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
        assert!(find("more than 99 %").seen.contains("99.5 %"));
        assert_eq!(find("500 objects").holds, Holds::Unknown);
    }
}
