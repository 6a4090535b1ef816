//! The programs of `latency.idl`: ours in two flavours, omniORB's, and the floor's.

use crate::figures::session::Session;
use crate::measure::dialogue::Pair;
use crate::measure::programs::{omniorb, ours};

pub(crate) const ZORB: &str = "zorb";
pub(crate) const DEDICATED: &str = "zorb, dedicated";
pub(crate) const OMNIORB: &str = "omniORB";
pub(crate) const RAW: &str = "raw";

fn words(program: String, args: &[&str]) -> Vec<String> {
    let args = args.iter().map(|arg| (*arg).to_owned());
    std::iter::once(program).chain(args).collect()
}

fn pair(name: &'static str, server: Vec<String>, client: Vec<String>) -> (&'static str, Pair) {
    let pair = Pair {
        name: name.to_owned(),
        server: Some(server),
        client,
        unix: false,
    };
    (name, pair)
}

/// zorb with its default settings.
pub(crate) fn zorb() -> (&'static str, Pair) {
    let ours = |side| words(ours(&format!("papers-latency-{side}")), &[]);
    pair(ZORB, ours("server"), ours("client"))
}

/// zorb with a thread for the connection, which waits as omniORB's threads do.
pub(crate) fn dedicated() -> (&'static str, Pair) {
    let options = ["--runtime", "dedicated", "--wait", "park"];
    let ours = |side| words(ours(&format!("papers-latency-{side}")), &options);
    pair(DEDICATED, ours("server"), ours("client"))
}

/// omniORB with its best settings for small calls, if it is installed.
pub(crate) fn omni(session: &Session) -> Option<(&'static str, Pair)> {
    if let Err(why) = &session.omniorb {
        session.miss(format!("{OMNIORB} ({why})"));
        return None;
    }
    let quiet = ["-ORBscanGranularity", "0"];
    let server = [&["-ORBsupportCurrent", "0"], &quiet[..]].concat();
    let server = words(omniorb("latency-server"), &server);
    Some(pair(
        OMNIORB,
        server,
        words(omniorb("latency-client"), &quiet),
    ))
}

/// The programs without an ORB.
pub(crate) fn raw() -> (&'static str, Pair) {
    let server = words(ours("floor-server"), &[]);
    pair(RAW, server, words(ours("floor-client"), &["--dialogue"]))
}

/// Every program that is there.
pub(crate) fn pairs(session: &Session) -> Vec<(&'static str, Pair)> {
    let mut all = vec![zorb(), dedicated(), raw()];
    all.extend(omni(session));
    all
}

/// The pair with more words for its server and for its client.
pub(crate) fn with_options(
    (name, mut pair): (&'static str, Pair),
    server: &[&str],
    client: &[&str],
) -> (&'static str, Pair) {
    let more = |words: &[&str]| {
        words
            .iter()
            .map(|&word| word.to_owned())
            .collect::<Vec<_>>()
    };
    pair.server
        .iter_mut()
        .for_each(|all| all.extend(more(server)));
    pair.client.extend(more(client));
    (name, pair)
}

/// A command line that may have a file for each of very many connections.
pub(crate) fn with_many_files(command: &[String]) -> Vec<String> {
    let limited = ["prlimit", "--nofile=16384:16384", "--"].map(str::to_owned);
    limited.into_iter().chain(command.iter().cloned()).collect()
}
