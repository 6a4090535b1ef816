//! System calls of a call, counted by strace.

use crate::measure::peer::Peer;
use crate::measure::place::{Cpus, Placement};
use crate::measure::run::{Server, Work};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How often each was made, by its name; those that failed too.
pub(crate) type Counts = BTreeMap<String, f64>;

/// System calls of one call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SystemCalls {
    pub(crate) client: Counts,
    pub(crate) server: Counts,
}

const WRITES: [&str; 4] = ["write", "writev", "sendto", "sendmsg"];
const READS: [&str; 4] = ["read", "readv", "recvfrom", "recvmsg"];

/// Those that move octets.
pub(crate) fn moving(counts: &Counts) -> f64 {
    let moves = |name: &str| WRITES.contains(&name) || READS.contains(&name);
    sum(counts, moves)
}

/// All others: waiting, waking a thread, reading a clock.
pub(crate) fn others(counts: &Counts) -> f64 {
    let moves = |name: &str| WRITES.contains(&name) || READS.contains(&name);
    sum(counts, |name| !moves(name))
}

fn sum(counts: &Counts, which: impl Fn(&str) -> bool) -> f64 {
    let counted = counts.iter().filter(|(name, _)| which(name));
    counted.map(|(_, count)| count).sum()
}

/// `sendto 1.00, recvfrom 1.00`, without what is made less than once in a hundred calls.
pub(crate) fn list(counts: &Counts) -> String {
    let often = counts.iter().filter(|(_, count)| **count >= 0.01);
    let all: Vec<_> = often
        .map(|(name, count)| format!("{name} {count:.2}"))
        .collect();
    all.join(", ")
}

/// How long a server is let alone once, to see what it does by the clock.
const PAUSE: Duration = Duration::from_millis(500);

/// Counts by what a run with more calls takes more than one with fewer; both programs get `args` beside. Both programs are on one CPU: so an end waits
/// once for what has not come. What a server does by the clock and not by calls, a look at something every few milliseconds,
/// is not counted: under strace a call takes many times as long, and would seem to have as many more of it.
///
/// # Errors
/// A program fails, or strace does.
pub(crate) fn of_a_call(
    peer: &'static Peer,
    work: Work,
    args: &[&str],
) -> Result<SystemCalls, String> {
    let few = Work {
        iters: work.iters / 5,
        ..work
    };
    let (less, short) = totals(peer, &few, args, Duration::ZERO)?;
    let (more, long) = totals(peer, &work, args, Duration::ZERO)?;
    let (paused, _) = totals(peer, &few, args, PAUSE)?;
    let calls = (work.iters - few.iters) as f64;
    let pauses = long.saturating_sub(short).as_secs_f64() / PAUSE.as_secs_f64();
    let by_the_clock = scaled(&differences(&paused.server, &less.server), pauses);
    Ok(SystemCalls {
        client: each(&more.client, &less.client, calls),
        server: each(&more.server, &sum_of(&less.server, &by_the_clock), calls),
    })
}

fn each(more: &Counts, less: &Counts, calls: f64) -> Counts {
    let mut each = scaled(&differences(more, less), 1.0 / calls);
    each.retain(|_, count| *count > 0.0);
    each
}

/// More than nothing or less: what differs by chance does so either way.
fn differences(more: &Counts, less: &Counts) -> Counts {
    sum_of(more, &scaled(less, -1.0))
}

fn scaled(counts: &Counts, by: f64) -> Counts {
    let scaled = |(name, count): (&String, &f64)| (name.clone(), count * by);
    counts.iter().map(scaled).collect()
}

fn sum_of(some: &Counts, others: &Counts) -> Counts {
    let mut sum = some.clone();
    for (name, count) in others {
        *sum.entry(name.clone()).or_default() += count;
    }
    sum
}

/// All system calls of both ends, the server let alone for `pause` behind the calls, and how long the calls took.
fn totals(
    peer: &'static Peer,
    work: &Work,
    args: &[&str],
    pause: Duration,
) -> Result<(SystemCalls, Duration), String> {
    let folder = TempDir::new().map_err(|e| e.to_string())?;
    let [client_out, server_out] = ["client", "server"].map(|name| folder.path().join(name));
    let under = strace(&server_out);
    let mut server = Server::start(peer, Placement::Same, Cpus::pick()?, &under, args)?;
    let begin = Instant::now();
    server.measure(work, &strace(&client_out), args)?;
    let took = begin.elapsed();
    thread::sleep(pause);
    server.end()?;
    let counted = SystemCalls {
        client: counts(&client_out)?,
        server: counts(&server_out)?,
    };
    Ok((counted, took))
}

fn strace(out: &Path) -> Vec<String> {
    let out = out.display().to_string();
    ["strace", "-f", "-q", "-c", "-o", &out]
        .map(str::to_owned)
        .to_vec()
}

fn counts(out: &Path) -> Result<Counts, String> {
    let text = fs::read_to_string(out).map_err(|e| format!("strace wrote nothing: {e}"))?;
    Ok(parse(&text))
}

/// The table of `strace -c`: share, seconds, microseconds a call, calls, errors if there were some, name.
fn parse(text: &str) -> Counts {
    let line = |line: &str| {
        let words: Vec<_> = line.split_whitespace().collect();
        let (name, numbers) = words.split_last()?;
        let calls = numbers.get(3)?.parse().ok()?;
        (*name != "total").then(|| ((*name).to_owned(), calls))
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 50.00    0.000120           1       120           sendto
 40.00    0.000100           0       240       120 recvfrom
 10.00    0.000010           0       121           epoll_wait
------ ----------- ----------- --------- --------- ----------------
100.00    0.000230           0       481       120 total
";

    #[test]
    fn the_table_of_strace_is_read() {
        let counts = parse(TABLE);
        let expected = [
            ("epoll_wait", 121.0),
            ("recvfrom", 240.0),
            ("sendto", 120.0),
        ];
        let expected = expected.map(|(name, count)| (name.to_owned(), count));
        assert_eq!(counts, Counts::from(expected));
    }

    #[test]
    fn a_call_is_what_more_calls_take_more() {
        let less = Counts::from([("sendto".to_owned(), 20.0), ("open".to_owned(), 7.0)]);
        let more = Counts::from([("sendto".to_owned(), 120.0), ("open".to_owned(), 7.0)]);
        let one = each(&more, &less, 100.0);
        assert_eq!(one, Counts::from([("sendto".to_owned(), 1.0)]));
    }

    #[test]
    fn what_is_done_by_the_clock_counts_for_the_time_that_the_calls_took() {
        let [less, paused, more] = [100.0, 200.0, 130.0].map(|futex| {
            let counts = [("futex".to_owned(), futex), ("sendto".to_owned(), 7.0)];
            Counts::from(counts)
        });
        let by_the_clock = scaled(&differences(&paused, &less), 0.25);
        let expected =
            [("futex", 25.0), ("sendto", 0.0)].map(|(name, count)| (name.to_owned(), count));
        assert_eq!(by_the_clock, Counts::from(expected));
        let one = each(&more, &sum_of(&less, &by_the_clock), 10.0);
        assert_eq!(one, Counts::from([("futex".to_owned(), 0.5)]));
    }

    #[test]
    fn calls_that_move_octets_are_counted_apart() {
        let one = each(&parse(TABLE), &Counts::new(), 120.0);
        assert_eq!(moving(&one), 3.0);
        assert!((others(&one) - 1.008).abs() < 0.001);
        assert_eq!(list(&one), "epoll_wait 1.01, recvfrom 2.00, sendto 1.00");
    }
}
