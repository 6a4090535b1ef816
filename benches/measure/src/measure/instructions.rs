//! Instructions of a call in user space, counted by callgrind: the same on a busy machine as on a quiet one.

use crate::measure::peer::Peer;
use crate::measure::place::{Cpus, Placement};
use crate::measure::run::{Server, Work};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// The instructions of one call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Instructions {
    pub(crate) client: f64,
    pub(crate) server: f64,
}

/// Counts by what a run with more calls takes more than one with fewer, so that starting and ending do not count. The
/// calls that it has more are untimed ones: of a timed one, a client's clock and the sorting of its times take some
/// 300, whatever makes it. Both programs run under callgrind, which slows them alike, on one CPU, so that who waits for
/// whom is as in life.
///
/// # Errors
/// A program fails, or callgrind does.
pub(crate) fn of_a_call(
    peer: &'static Peer,
    work: Work,
    server_args: &[&str],
    client_args: &[&str],
) -> Result<Instructions, String> {
    let few = Work { iters: 1, ..work };
    let many = Work {
        warmup: work.warmup + work.iters,
        ..few
    };
    let less = totals(peer, &few, server_args, client_args)?;
    let more = totals(peer, &many, server_args, client_args)?;
    let each = |more: u64, less: u64| more.saturating_sub(less) as f64 / work.iters as f64;
    Ok(Instructions {
        client: each(more.0, less.0),
        server: each(more.1, less.1),
    })
}

fn totals(
    peer: &'static Peer,
    work: &Work,
    server_args: &[&str],
    client_args: &[&str],
) -> Result<(u64, u64), String> {
    let folder = TempDir::new().map_err(|e| e.to_string())?;
    let [client_out, server_out] = ["client", "server"].map(|name| folder.path().join(name));
    let placement = Placement::Same;
    let under = callgrind(&server_out);
    let mut server = Server::start(peer, placement, Cpus::pick()?, &under, server_args)?;
    server.measure(work, &callgrind(&client_out), client_args)?;
    server.end()?;
    Ok((total(&client_out)?, total(&server_out)?))
}

/// Instructions of a program from its start to its end.
///
/// # Errors
/// It fails, or callgrind does.
pub(crate) fn of_program(words: &[String]) -> Result<u64, String> {
    let folder = TempDir::new().map_err(|e| e.to_string())?;
    let out = folder.path().join("callgrind");
    let mut all = callgrind(&out);
    all.extend(words.iter().cloned());
    let (program, args) = all.split_first().ok_or("no program")?;
    let done = Command::new(program).args(args).output();
    let done = done.map_err(|e| format!("{program} does not start: {e}"))?;
    if !done.status.success() {
        let why = String::from_utf8_lossy(&done.stderr).into_owned();
        return Err(format!("{}: {}", words.join(" "), why.trim()));
    }
    total(&out)
}

fn callgrind(out: &Path) -> Vec<String> {
    let out = format!("--callgrind-out-file={}", out.display());
    ["valgrind", "--quiet", "--tool=callgrind", &out]
        .map(str::to_owned)
        .to_vec()
}

fn total(out: &Path) -> Result<u64, String> {
    let text = fs::read_to_string(out).map_err(|e| format!("callgrind wrote nothing: {e}"))?;
    parse(&text).ok_or_else(|| "callgrind wrote no total".to_owned())
}

/// The number behind `totals:`, which is the last line.
fn parse(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("totals:"));
    line?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_found() {
        let text = "events: Ir\nsummary: 12\n\nfn=(1)\n3 9\n\ntotals: 1234567\n";
        assert_eq!(parse(text), Some(1_234_567));
        assert_eq!(parse("events: Ir\n"), None);
    }
}
