//! The steps of a call: what the program calls them, the papers' numbers, and what is in which.

/// Steps of a client as the program calls them, and as they are drawn: the papers' number first. Each lasts from the
/// mark before it to its own, so that every nanosecond between a call's first mark and its last is in one step and no
/// other, and together they are the call.
///
/// The paper's Table 1 has no line for the system call that writes, which we tell from the transport's own work; it is
/// no step of the ORB's.
pub(super) const CLIENT: [(&str, &str); 11] = [
    // The steps from the stub's entry, which each call has for itself.
    ("initialise", "C1 initialise"),
    // The reference's connection.
    ("get reference", "C2 get object reference"),
    // The arguments.
    ("marshal", "C3 marshal"),
    // The request's header, and the message's size and an entry in the table of calls when the arguments are written.
    ("messaging send", "C4 messaging send"),
    // Until it is the message's turn to be written.
    ("transport send", "C5 transport send"),
    // The system call and nothing else.
    ("write", "C5 the system call that writes"),
    // From the end of the write to the end of the first read that brings something: what the server and the kernel do
    // meanwhile, and every try and sleep.
    ("wait and read", "C6 wait and read"),
    // Reads after the first one.
    ("read", "C6 read on"),
    // A message is cut out of what was read.
    ("transport receive", "C7 transport receive"),
    // Whose reply it is, and its caller's turn to go on.
    ("messaging receive", "C8 messaging receive"),
    // The result, until the stub returns it.
    ("demarshal", "C9 demarshal"),
];

/// The steps of a server. The time between the end of its write and the first read of the next request belongs to no
/// step: it waits.
pub(super) const SERVER: [(&str, &str); 13] = [
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
pub(super) const FOUND: [&str; 4] = [
    "parse object key",
    "POA demux",
    "servant demux",
    "operation demux",
];

/// Their group where all steps are drawn.
pub(super) const FOUND_TOGETHER: &str = "S04 to S07 find the upcall";

/// Steps that are no work of the ORB's, and would hide what is.
pub(super) const NOT_OURS: [&str; 3] = ["write", "read", "wait and read"];

/// The layers of Figure 7, and which steps of both ends are theirs.
pub(super) const LAYERS: [(&str, &[&str]); 4] = [
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

/// The papers' number of a step that is drawn under that name.
pub(super) fn number(series: &str) -> &str {
    series.split(' ').next().unwrap_or_default()
}

/// The time of a whole call, from outside, and its parts, from the bottom up.
pub(super) const SUM: [&str; 5] = [
    "the client's own steps",
    "the system call that writes",
    "wait and read",
    "what marking takes",
    "in no step",
];

#[cfg(test)]
mod tests {
    use super::*;

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
}
