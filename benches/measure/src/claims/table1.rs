//! Rows of `cargo xtask claims native`: Table 1 of Mishra and Shi, *Improving the Performance of Distributed CORBA Applications*,
//! what its parts are, and how exact the relay is that stands for its networks. `examples/as-needed` measures all of it.

use super::ClaimsOptions;
use super::programs::answer;
use crate::measure::programs;
use crate::row::Aim::{AtLeast, AtMost};
use crate::row::Row;
use serde_json::Value;
use xtask::peers;
use xtask::step::root;

/// A size of messages in octets, and the paper's milliseconds.
type Cell = (u32, Option<[f64; 2]>);

/// The paper's networks, and one host: the milliseconds of 50 calls over sockets and by VisiBroker, by size.
const TABLE: [(&str, [Cell; 3]); 4] = [
    ("host", [(100, None), (500, None), (10_240, None)]),
    (
        "lan",
        [
            (100, Some([86.3, 140.6])),
            (500, Some([93.3, 177.3])),
            (10_240, Some([187.0, 260.0])),
        ],
    ),
    (
        "subnet",
        [
            (100, Some([177.0, 220.3])),
            (500, Some([196.6, 247.0])),
            (10_240, Some([433.6, 921.3])),
        ],
    ),
    (
        "wan",
        [
            (100, Some([6042.3, 6371.3])),
            (500, Some([6280.0, 6443.6])),
            (10_240, Some([6685.3, 7056.6])),
        ],
    ),
];
/// Calls natively may take this much longer than by CORBA, in percent: what one network gives twice is as far apart.
const LEAST_SAVING: f64 = -2.0;
/// The relay's networks: microseconds and bits a second, as `examples/as-needed/src/table.rs` has them.
const LINKS: [(&str, u32, u32); 3] = [
    ("lan", 100, 80_000_000),
    ("subnet", 1_000, 32_000_000),
    ("wan", 60_000, 12_600_000),
];
/// Microseconds that an octet through the relay may be late, at the median: two hops of loopback TCP and two threads that wake.
const LATE: f64 = 250.0;
/// What is measured of the encoder: a row's name, the time that counts and the one that it is divided by, the aim, and a note.
const PARTS: [(&str, &str, &str, f64, &str); 5] = [
    (
        "parts/byte-order",
        "longs_ns",
        "octets_ns",
        1.5,
        "4,000 longs of a peer of the same order ÷ as many octets",
    ),
    (
        "parts/byte-order/swapped",
        "longs_swapped_ns",
        "longs_ns",
        5.0,
        "longs of a peer of the other order ÷ of the same",
    ),
    (
        "parts/padding",
        "structs_ns",
        "structs_filled_ns",
        1.25,
        "1,000 structs with three octets of padding each ÷ without",
    ),
    (
        "parts/marshalling",
        "structs_ns",
        "octets_ns",
        20.0,
        "1,000 structs ÷ as many octets",
    ),
    (
        "parts/any",
        "structs_any_ns",
        "structs_ns",
        4.0,
        "1,000 structs in an any ÷ without",
    ),
];

/// Measures the rows that are asked for.
///
/// # Errors
/// A program does not build, or run.
pub(super) fn rows(options: &ClaimsOptions) -> Result<Vec<Row>, String> {
    let names = TABLE.iter().map(|(name, _)| format!("table1/{name}"));
    let names = names.chain(LINKS.map(|(name, ..)| format!("relay/{name}")));
    let names = names.chain(PARTS.map(|part| part.0.to_owned()));
    // A word may choose a cell of a network.
    let is_wanted =
        |name: &str| options.wants(name) || options.rows.iter().any(|word| word.starts_with(name));
    if !names.into_iter().any(|name| is_wanted(&name)) {
        return Ok(Vec::new());
    }
    peers::ready_to_bypass()?;
    programs::build(&["as-needed"], &["--bin", "as-needed"], &[])?;
    let mut rows = Vec::new();
    for (network, cells) in &TABLE {
        if is_wanted(&format!("table1/{network}")) {
            rows.extend(table(network, cells, options)?);
        }
    }
    for (network, microseconds, bits) in LINKS {
        let name = format!("relay/{network}");
        if is_wanted(&name) {
            let link = format!("--delay-us {microseconds} --bits-per-second {bits}");
            let said = answer(&format!("as-needed accuracy {link}"))?;
            let number = |name: &str| number(&said, name);
            let late = number("p50_us") - number("requested_us");
            let note = format!(
                "µs late at the median; {microseconds} µs were asked for, p50 {:.0}, p99 {:.0}; {:.1} of {:.1} Mbit/s",
                number("p50_us"),
                number("p99_us"),
                number("bits_per_second") / 1e6,
                number("requested_bits_per_second") / 1e6,
            );
            rows.push(Row::new(name, late, AtMost(LATE), note));
        }
    }
    if PARTS.iter().any(|part| is_wanted(part.0)) {
        let said = answer("as-needed parts")?;
        for (name, of, to, aim, note) in PARTS.iter().filter(|part| is_wanted(part.0)) {
            let [of, to] = [of, to].map(|name| number(&said, name));
            let note = format!("{note}: {of:.0} ÷ {to:.0} ns to write and read");
            rows.push(Row::new(*name, of / to, AtMost(*aim), note));
        }
    }
    Ok(rows)
}

/// The cells of a network.
fn table(network: &str, cells: &[Cell], options: &ClaimsOptions) -> Result<Vec<Row>, String> {
    let omniorb = root().join("examples/as-needed/omniorb/build/client");
    let effort = match options.compare.quick {
        true => "--calls 3 --rounds 1",
        false => "--calls 50 --rounds 5",
    };
    let words = format!(
        "as-needed table {network} {effort} --omniorb {}",
        omniorb.display()
    );
    let said = answer(&words)?;
    let row = |(size, paper): &Cell| {
        let ms = |design: &str| number(&said, &format!("{network}/{size}/{design}_ms"));
        let saving = |native: f64, corba: f64| (1.0 - native / corba) * 100.0;
        let of_paper = match paper {
            Some([native, corba]) => format!("the paper's {:.1}; ", saving(*native, *corba)),
            None => String::new(),
        };
        let by_loopback = match said.get("namespaces").and_then(Value::as_bool) {
            Some(true) => "",
            _ => "; over the loopback interface, there are no namespaces",
        };
        let note = format!(
            "% saved natively; {of_paper}ms of a row of calls: CORBA {:.2}, service {:.2}, integration {:.2}; omniORB {:.2}, by the \
             wrapper {:.2}{by_loopback}",
            ms("corba"),
            ms("service"),
            ms("integration"),
            ms("omniorb"),
            ms("wrapper"),
        );
        let name = format!("table1/{network}/{size}");
        Row::new(
            name,
            saving(ms("service"), ms("corba")),
            AtLeast(LEAST_SAVING),
            note,
        )
    };
    Ok(cells.iter().map(row).collect())
}

fn number(said: &Value, name: &str) -> f64 {
    said.get(name).and_then(Value::as_f64).unwrap_or(f64::NAN)
}
