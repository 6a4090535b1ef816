//! `cargo xtask claims speed`: what we say of our speed.

use super::{ClaimsOptions, crowd};
use crate::compare::{Asked, Cell, Stat, four_threads, measure_cells, work};
use crate::measure::peer::Peer;
use crate::measure::place::Cpus;
use crate::measure::place::Placement::{self, Free, Same, Split};
use crate::measure::programs;
use crate::measure::run::{Server, Work};
use crate::measure::statistics::three_digits;
use crate::row::Aim::{self, AtLeast, AtMost};
use crate::row::Row;

/// What is called, by whom, where, and what the ratio to another peer may be.
pub(super) struct Ratio {
    pub(super) about: &'static str,
    pub(super) work: Work,
    pub(super) of: &'static str,
    pub(super) to: &'static str,
    pub(super) placement: Placement,
    pub(super) aim: Aim,
}

/// A ratio to omniORB.
const fn to_omni(
    about: &'static str,
    work: Work,
    of: &'static str,
    placement: Placement,
    aim: Aim,
) -> Ratio {
    Ratio {
        about,
        work,
        of,
        to: "omni",
        placement,
        aim,
    }
}

pub(super) const NOPARAMS: Work = work("noparams", 0);
const OCTET: Work = work("octet", 65_536);
pub(super) const STRUCT: Work = work("struct", 1_024);
const STRING: Work = work("echostring", 10_240);
const ONE_WAY: Work = work("oneway_noparams", 0);
const CROWD: Work = four_threads(NOPARAMS);

const RATIOS: [Ratio; 7] = [
    to_omni("noparams", NOPARAMS, "zorb-default", Split, AtMost(0.65)),
    to_omni("noparams", NOPARAMS, "zorb-default", Same, AtMost(1.15)),
    to_omni("octet", OCTET, "zorb-dedicated", Split, AtMost(0.85)),
    to_omni("struct", STRUCT, "zorb-dedicated", Split, AtMost(0.6)),
    to_omni("echostring", STRING, "zorb-dedicated", Split, AtMost(0.65)),
    to_omni(
        "oneway",
        ONE_WAY,
        "zorb-dedicated-spin",
        Split,
        AtLeast(1.0),
    ),
    to_omni("four-threads", CROWD, "zorb-default", Free, AtLeast(1.5)),
];

const DYNAMIC: [Ratio; 3] = [
    to_omni_s_requests("noparams", NOPARAMS, "zorb-dii"),
    to_omni_s_requests("octets", work("octet", 1_024), "zorb-dii"),
    to_omni_s_requests("structs", STRUCT, "zorb-dedicated-dii"),
];

/// A ratio of dynamic calls, of both ORBs with what they can use again.
const fn to_omni_s_requests(about: &'static str, work: Work, of: &'static str) -> Ratio {
    Ratio {
        about,
        work,
        of,
        to: "omni-dii",
        placement: Split,
        aim: AtMost(0.7),
    }
}

/// Measures the claims about dynamic calls that are asked for.
///
/// # Errors
/// Nothing could be built, or a program failed.
pub(super) fn dynamic_rows(options: &ClaimsOptions) -> Result<Vec<Row>, String> {
    let mut rows = super::programs::rows("dynamic", options)?;
    programs::ready()?;
    rows.extend(ratios("dynamic", &DYNAMIC, options)?);
    Ok(rows)
}

/// Measures the claims that are asked for.
///
/// # Errors
/// Nothing could be built, or a program failed.
pub(super) fn rows(options: &ClaimsOptions) -> Result<Vec<Row>, String> {
    programs::ready()?;
    options.compare.wait();
    let mut rows = ratios("speed", &RATIOS, options)?;
    if options.wants("allocations/noparams") {
        rows.push(allocations()?);
    }
    if options.wants("idle-connections") {
        rows.extend(crowd::rows(options.compare.effort().0)?);
    }
    Ok(rows)
}

/// Measures the ratios of an area that are asked for.
///
/// # Errors
/// A program failed.
pub(super) fn ratios(
    area: &str,
    ratios: &[Ratio],
    options: &ClaimsOptions,
) -> Result<Vec<Row>, String> {
    let name = |ratio: &Ratio| {
        let (about, of, to) = (ratio.about, ratio.of, ratio.to);
        format!("{about}/{of}-to-{to}/{}", ratio.placement)
    };
    let wanted: Vec<_> = (ratios.iter())
        .filter(|ratio| options.wants(&name(ratio)))
        .collect();
    let mut cells: Vec<Cell> = Vec::new();
    for ratio in &wanted {
        for peer in [ratio.of, ratio.to] {
            cells.push(Cell {
                work: ratio.work,
                peer: Peer::named(peer)?,
                placement: ratio.placement,
            });
        }
    }
    let results = measure_cells(&cells, &options.compare)?;
    let row = |(ratio, both): (&&Ratio, &[Asked])| {
        let stat = Stat::main_of(&ratio.work);
        let [of, to] = both else { return None };
        let [one, other] =
            [of, to].map(|asked| asked.median(stat).map_or_else(String::new, three_digits));
        let note = format!("{one} ÷ {other} {}", stat.unit());
        let measured = of.over(to, stat).unwrap_or(f64::NAN);
        let name = format!("{area}:{}", name(ratio));
        Some(Row::new(name, measured, ratio.aim, note))
    };
    Ok(wanted
        .iter()
        .zip(results.chunks(2))
        .filter_map(row)
        .collect())
}

/// Allocations of both ends during ten thousand calls, after as many that do not count.
fn allocations() -> Result<Row, String> {
    let work = Work {
        iters: 10_000,
        warmup: 10_000,
        ..NOPARAMS
    };
    let counting = ["--count-allocations"];
    let peer = Peer::named("zorb-default")?;
    let mut server = Server::start(peer, Same, Cpus::pick()?, &[], &counting)?;
    let client = server.measure(&work, &[], &counting)?.allocations;
    let server = server.end()?.allocations;
    let (client, server) = client.zip(server).ok_or("a program did not count")?;
    let note = format!("in 10,000 calls: client {client}, server {server}");
    Ok(Row::new(
        "speed:allocations/noparams",
        (client + server) as f64,
        AtMost(0.0),
        note,
    ))
}
