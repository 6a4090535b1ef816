//! Allocations of a steady call, and copies of a mebibyte: counted in the bench programs, client and server
//! apart, since each is a process of its own.
//!
//! The bounds are what there is, and are lowered when there is less. `cargo xtask claims speed allocations` counts the
//! same in release builds over more calls, and says what is aimed at: nothing.

use crate::support::{Running, have};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Allocations of one call on either side at most.
struct Bounds {
    client: u64,
    server: u64,
}

/// The counts of the client over the last steady calls, and of the server between the two `sync` around them.
const NO_PARAMS: Bounds = Bounds {
    client: 0,
    server: 0,
};
const OCTETS: Bounds = Bounds {
    client: 0,
    server: 0,
};
const STRUCTS: Bounds = Bounds {
    client: 0,
    server: 0,
};

const FLAVORS: [&str; 2] = ["default", "current"];

/// One of so many calls may allocate beside. Buffers are recycled by threads, and with several of them one may be
/// filled here and emptied there; and a connection that has been spun on registers with the reactor anew before a task
/// parks, which a busy machine makes it do often.
const BESIDE: u64 = 5;

/// Places for a mebibyte that the sender makes at most, of `Bytes` and of a slice, and the receiver, who needs one. A
/// copy has to go somewhere, and no buffer as large as that is kept from one message to the next.
const SENDER: [(&str, u64); 2] = [("bytes", 0), ("slice", 1)];
const RECEIVER: u64 = 2;

/// Lines of both programs.
struct Counts {
    client: (u64, u64),
    server: (u64, u64),
}

fn number(line: &str, name: &str) -> Option<u64> {
    let (_, rest) = line.split_once(&format!("\"{name}\":"))?;
    let end = rest.find(|c: char| !c.is_ascii_digit())?;
    rest[..end].parse().ok()
}

/// Allocations and octets in a line of JSON; none of a program that does not count.
fn counts(line: &str) -> (u64, u64) {
    let of = |name| number(line, name).unwrap_or_default();
    (of("allocations"), of("allocated_octets"))
}

fn last(program: &mut Running) -> String {
    let line = program.find(|line| line.starts_with('{').then(|| line.to_owned()));
    line.unwrap_or_else(|| panic!("{program:?} says nothing"))
}

fn run(server: (&Path, &[&str]), client: (&Path, &[&str]), call: &[&str]) -> Counts {
    let start = |(program, args): (&Path, &[&str]), more: &[&str]| {
        let mut command = Command::new(program);
        command
            .args(args)
            .args(more)
            .env("OMNIORB_CONFIG", "/dev/null");
        Running::command(command)
    };
    let mut serving = start(server, &["--ior", "-"]);
    let reference = serving.reference().expect("the server serves");
    let calling = [call, &["--ior", &reference]].concat();
    let called = last(&mut start(client, &calling));
    let mut ending = start(client, &["--ior", &reference, "--op", "shutdown"]);
    assert!(ending.find(|_| None::<()>).is_none());
    let served = last(&mut serving);
    for what in ["calls", "digest"] {
        let counted = |line: &str| {
            let (_, rest) = line.split_once(&format!("\"{what}\":"))?;
            Some(rest.split([',', '}']).next()?.to_owned())
        };
        assert_eq!(counted(&called), counted(&served), "{called}\n{served}");
    }
    Counts {
        client: counts(&called),
        server: counts(&served),
    }
}

const SERVER: &str = env!("CARGO_BIN_EXE_bench-server");
const CLIENT: &str = env!("CARGO_BIN_EXE_bench-client");

/// Many calls are made without spinning, as on a busy machine every one that spins waits for a time slice.
fn counting(flavor: &'static str, calls: u64) -> [&'static str; 5] {
    let wait = if calls > 2_000 { "park" } else { "adaptive" };
    ["--count-allocations", "--runtime", flavor, "--wait", wait]
}

#[track_caller]
fn check(counts: &Counts, bounds: &Bounds, calls: u64) {
    for (side, (allocations, octets), bound) in [
        ("client", counts.client, bounds.client),
        ("server", counts.server, bounds.server),
    ] {
        assert!(
            allocations <= bound * calls + calls / BESIDE,
            "{side}: {allocations} allocations of {octets} octets in {calls} calls"
        );
    }
}

fn steady(op: &str, size: usize, calls: u64, bounds: &Bounds) {
    let (size, iters) = (size.to_string(), calls.to_string());
    let call = [
        "--op", op, "--size", &size, "--iters", &iters, "--warmup", "500",
    ];
    for flavor in FLAVORS {
        let args = counting(flavor, calls);
        let counts = run(
            (Path::new(SERVER), &args),
            (Path::new(CLIENT), &args),
            &call,
        );
        check(&counts, bounds, calls);
    }
}

#[test]
fn a_steady_call_without_arguments_allocates_no_more_than_it_did() {
    steady("noparams", 0, 10_000, &NO_PARAMS);
}

#[test]
fn a_steady_call_with_octets_allocates_no_more_than_it_did() {
    steady("octet", 65_536, 2_000, &OCTETS);
}

#[test]
fn a_steady_call_with_structs_allocates_no_more_than_it_did() {
    steady("struct", 1_024, 1_000, &STRUCTS);
}

#[test]
fn a_steady_call_to_and_from_omniorb_allocates_no_more_than_it_did() {
    let build = PathBuf::from("benches/peers/omniorb/build");
    let [server, client] = ["server", "client"].map(|program| build.join(program));
    if !have("allocations beside omniORB", &[&server, &client]) {
        return;
    }
    let calls = 10_000;
    let iters = calls.to_string();
    let call = ["--op", "noparams", "--iters", &iters, "--warmup", "500"];
    for flavor in FLAVORS {
        let args = counting(flavor, calls);
        let ours = run((&server, &[]), (Path::new(CLIENT), &args), &call);
        check(&ours, &NO_PARAMS, calls);
        let theirs = run((Path::new(SERVER), &args), (&client, &[]), &call);
        check(&theirs, &NO_PARAMS, calls);
    }
}

#[test]
fn a_mebibyte_is_copied_no_more_often_than_it_was() {
    let calls = 50;
    let iters = calls.to_string();
    let mebibyte = 1 << 20;
    let size = mebibyte.to_string();
    // Heads and the like beside the messages.
    let beside = 128 << 10;
    for (octets, places) in SENDER {
        let call = ["--op", "octet", "--size", &size, "--octets", octets];
        let call = [&call[..], &["--iters", &iters, "--warmup", "20"]].concat();
        let args = counting("current", calls);
        let counts = run(
            (Path::new(SERVER), &args),
            (Path::new(CLIENT), &args),
            &call,
        );
        let (sent, received) = (counts.client.1 / calls, counts.server.1 / calls);
        assert!(
            sent <= places * mebibyte + beside,
            "{octets}: {sent} octets a call"
        );
        assert!(
            received <= RECEIVER * mebibyte + beside,
            "{octets}: {received} octets a call"
        );
    }
}

#[test]
fn the_count_counts() {
    // An echo is a value of its own on either side.
    let call = ["--op", "echostring", "--size", "100", "--iters", "200"];
    let args = counting("current", 200);
    let counts = run(
        (Path::new(SERVER), &args),
        (Path::new(CLIENT), &args),
        &call,
    );
    assert!(counts.client.0 >= 200 && counts.server.0 >= 200);
    assert!(counts.client.1 >= 200 * 100 && counts.server.1 >= 200 * 100);
}
