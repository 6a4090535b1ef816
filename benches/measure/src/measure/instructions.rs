//! Instructions of a call in user space, counted by callgrind: the same on a busy machine as on a quiet one.

use crate::measure::peer::Peer;
use crate::measure::place::{Cpus, Placement};
use crate::measure::run::{Server, Work};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// The instructions of one call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Instructions {
    pub(crate) client: f64,
    pub(crate) server: f64,
}

/// Instructions by where their source is.
pub(crate) type Parts = BTreeMap<&'static str, f64>;

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
    let [client, server] = parts_of_a_call(peer, work, server_args, client_args)?;
    Ok(Instructions {
        client: client.values().sum(),
        server: server.values().sum(),
    })
}

/// The instructions of one call by where their source is: a crate of ours, or another one; of client and server.
/// Functions that are inlined count where they are written, not where they are called.
///
/// # Errors
/// A program fails, or callgrind does.
pub(crate) fn parts_of_a_call(
    peer: &'static Peer,
    work: Work,
    server_args: &[&str],
    client_args: &[&str],
) -> Result<[Parts; 2], String> {
    let few = Work { iters: 1, ..work };
    let many = Work {
        warmup: work.warmup + work.iters,
        ..few
    };
    let [client, server] = profiles(peer, &few, server_args, client_args)?;
    let [more_client, more_server] = profiles(peer, &many, server_args, client_args)?;
    let each = |more: Parts, less: &Parts| -> Parts {
        let of = |(part, more): (&'static str, f64)| {
            let less = less.get(part).copied().unwrap_or_default();
            (part, (more - less) / work.iters as f64)
        };
        more.into_iter().map(of).collect()
    };
    Ok([each(more_client, &client), each(more_server, &server)])
}

fn profiles(
    peer: &'static Peer,
    work: &Work,
    server_args: &[&str],
    client_args: &[&str],
) -> Result<[Parts; 2], String> {
    let folder = TempDir::new().map_err(|e| e.to_string())?;
    let [client_out, server_out] = ["client", "server"].map(|name| folder.path().join(name));
    let under = callgrind(&server_out);
    let cpus = Cpus::pick()?;
    let mut server = Server::start(peer, Placement::Same, cpus, &under, server_args)?;
    server.measure(work, &callgrind(&client_out), client_args)?;
    server.end()?;
    Ok([profile(&client_out)?, profile(&server_out)?])
}

fn callgrind(out: &Path) -> Vec<String> {
    let out = format!("--callgrind-out-file={}", out.display());
    ["valgrind", "--quiet", "--tool=callgrind", &out]
        .map(str::to_owned)
        .to_vec()
}

fn profile(out: &Path) -> Result<Parts, String> {
    let text = fs::read_to_string(out).map_err(|e| format!("callgrind wrote nothing: {e}"))?;
    let parts = parse(&text);
    match parts.is_empty() {
        false => Ok(parts),
        true => Err("callgrind counted nothing".to_owned()),
    }
}

/// Costs by the file that the lines before them name: of a function (`fl`), or of one that is inlined there (`fi`, `fe`). A
/// name stands behind its number once, and is the number afterwards. The line behind `calls` is the callee's cost.
fn parse(text: &str) -> Parts {
    let mut names: HashMap<&str, &str> = HashMap::new();
    let mut parts = Parts::new();
    let (mut part, mut is_callee) = (part_of("???"), false);
    for line in text.lines() {
        if let Some((key, value)) = line.split_once('=').filter(|(key, _)| !key.contains(' ')) {
            let (number, name) = value.split_once(' ').unwrap_or((value, ""));
            if !name.is_empty() && ["fl", "fi", "fe", "cfi", "cfl"].contains(&key) {
                names.insert(number, name);
            }
            if ["fl", "fi", "fe"].contains(&key) {
                part = part_of(names.get(number).copied().unwrap_or("???"));
            }
            is_callee = key == "calls";
            continue;
        }
        if !line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            continue;
        }
        let cost = line
            .split(' ')
            .nth(1)
            .and_then(|cost| cost.parse::<f64>().ok());
        if let Some(cost) = cost.filter(|_| !is_callee) {
            *parts.entry(part).or_default() += cost;
        }
        is_callee = false;
    }
    parts
}

/// Where the sources are that the picture tells apart.
const PLACES: [(&str, &str); 12] = [
    ("crates/cdr/", "cdr"),
    ("crates/giop/", "giop"),
    ("crates/poa/", "poa"),
    ("crates/connection/", "connection"),
    ("crates/transport/", "transport"),
    ("crates/executor/", "executor"),
    ("crates/zorb/", "zorb"),
    ("benches/", "program"),
    ("/tokio-", "tokio"),
    ("/mio-", "tokio"),
    ("/library/", "std"),
    ("/rustc", "std"),
];

fn part_of(file: &str) -> &'static str {
    let found = PLACES.iter().find(|(place, _)| file.contains(place));
    match found {
        Some((_, part)) => part,
        None if file.contains("/registry/") => "other crates",
        None => "libc",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_count_where_they_are_written_and_calls_do_not_count_twice() {
        let text = "version: 1\nevents: Ir\nsummary: 99\n\n\
            fl=(1) /w/crates/giop/src/a.rs\nfn=(1) a\n3 9\nfi=(2) /w/crates/cdr/src/b.rs\n+2 4\nfe=(1)\n* 1\n\
            cfi=(3) ./malloc.c\ncfn=(2) malloc\ncalls=2 7\n+1 500\n-2 6\n\n\
            fl=(3)\nfn=(2)\n7 500\n\ntotals: 520\n";
        let parts = parse(text);
        assert_eq!(
            parts,
            Parts::from([("cdr", 4.0), ("giop", 16.0), ("libc", 500.0)])
        );
        assert!(parse("events: Ir\n").is_empty());
    }
}
