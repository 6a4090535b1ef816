//! What a peer's octets cost at n and at 4n: memory that is asked for, and instructions, which callgrind counts.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use zorb_fuzz::allocated_by;
use zorb_fuzz::work::CASES;

/// Octets of the smaller input.
const OCTETS: usize = 8 << 10;
/// What four times as many octets may cost: some more than four, for tables that grow by steps and trees that get deeper.
const MOST: f64 = 5.0;

/// The sizes of each case.
fn sizes() -> [usize; 2] {
    [OCTETS, 4 * OCTETS]
}

/// Fails with all cases that cost more than in proportion.
fn check(what: &str, costs: &[[f64; 2]]) {
    assert_eq!(costs.len(), CASES.len());
    let mut over = Vec::new();
    for ((name, _), [one, four]) in CASES.iter().zip(costs) {
        let ratio = four / one;
        eprintln!("{ratio:5.2} {one:12} {what} {name}");
        if ratio > MOST {
            over.push(format!(
                "{name}: {one} {what}, and {four} for four times as much"
            ));
        }
    }
    assert!(over.is_empty(), "{}", over.join("\n"));
}

#[test]
fn memory_that_is_asked_for_is_in_proportion_to_octets() {
    /// Octets that do not depend on the input.
    const LEAST: usize = 16 << 10;
    let cost = |case: zorb_fuzz::work::Case| {
        sizes().map(|n| {
            let work = case(n);
            (allocated_by(work) + LEAST) as f64
        })
    };
    let costs: Vec<_> = CASES.iter().map(|(_, case)| cost(*case)).collect();
    check("octets", &costs);
}

/// Callgrind writes down what it has counted behind each call.
#[inline(never)]
fn work_mark() {
    black_box(());
}

#[test]
#[ignore = "another test runs it under callgrind"]
fn work_between_marks() {
    for (_, case) in CASES {
        for n in sizes() {
            let work = case(n);
            work_mark();
            work();
            work_mark();
        }
    }
}

/// The instructions that callgrind has counted up to a mark, from the one before.
fn counted(file: &Path) -> f64 {
    let text = fs::read_to_string(file).expect("callgrind's file");
    let line = text
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("totals:"));
    let count = line.and_then(|count| count.trim().parse().ok());
    count.expect("a count")
}

#[test]
fn instructions_are_in_proportion_to_octets() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        eprintln!("skipped: valgrind is not installed");
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("work");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    let out = folder.join("out");
    let program = std::env::current_exe().expect("this program");
    let done = Command::new("valgrind")
        .args(["--quiet", "--tool=callgrind", "--dump-after=*work_mark*"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(program)
        .args([
            "--exact",
            "work_between_marks",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .output()
        .expect("valgrind");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    // Every second mark is behind work; the others are behind making its input.
    let mut marks = (1..)
        .step_by(2)
        .map(|mark: usize| counted(&folder.join(format!("out.{}", mark + 1))));
    let costs: Vec<[f64; 2]> = CASES
        .iter()
        .map(|_| sizes().map(|_| marks.next().expect("a mark")))
        .collect();
    check("instructions", &costs);
}
