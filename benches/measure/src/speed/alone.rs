//! Claims about what happens in one process: `benches/alone.rs` measures it.

use crate::row::Aim::AtMost;
use crate::speed::claim::{Claim, SpeedNumber};
use std::collections::HashMap;
use xtask::step::{cargo, root};

/// Names as the bench prints them, aims, units.
const ROWS: [(&str, f64, &str); 5] = [
    ("collocated", 0.2, "µs a call through the POA"),
    ("cdr/struct-encode-native", 1.5, "ns an element"),
    ("cdr/struct-decode-native", 1.5, "ns an element"),
    ("cdr/struct-encode-swapped", 4.0, "ns an element"),
    ("cdr/struct-decode-swapped", 4.0, "ns an element"),
];

pub(crate) fn claims() -> Vec<Claim> {
    let claim = |(name, aim, unit): (&'static str, f64, &'static str)| {
        Claim::new(name, AtMost(aim), &[], move |session| {
            Ok(SpeedNumber {
                value: session.alone(name)?,
                note: unit.to_owned(),
            })
        })
    };
    ROWS.map(claim).into()
}

/// Runs the bench.
pub(crate) fn measure() -> Result<HashMap<String, f64>, String> {
    let mut bench = cargo();
    bench
        .current_dir(root())
        .args(["bench", "--quiet", "-p", "zorb-workspace"])
        .args(["--bench", "alone"]);
    let output = bench.output();
    let output = output.map_err(|e| format!("cargo does not start: {e}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("benches/alone.rs failed: {said}"));
    }
    Ok(parse(&String::from_utf8_lossy(&output.stdout)))
}

/// A name and a number a line.
fn parse(text: &str) -> HashMap<String, f64> {
    let pairs = text.lines().filter_map(|line| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_owned(), value.parse().ok()?))
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_bench_prints_is_read() {
        let read = parse("collocated 0.5\nwhatever else\ncdr/struct-encode-native 1.25\n");
        assert_eq!(read.len(), 2);
        assert_eq!(read["collocated"], 0.5);
    }
}
