//! `cargo xtask claims protocols`: what transports and messaging cost, circuits of ATM in their virtual machine among
//! them, and what becomes of calls when servers do not answer or are killed.

use crate::measure::statistics;
use crate::measure::{instructions, programs, quiet, tools};
use crate::row::{Aim, Row};
use serde_json::Value;
use std::process::Command;
use xtask::machine;

/// The program that measures.
const PROGRAM: &str = "papers-protocols";
/// Two medians of the same program differ by so much on a machine that is quiet.
const RESOLUTION: f64 = 1.05;
/// Calls that callgrind counts, beyond those of a run with fewer.
const COUNTED: u32 = 2_000;
/// Rounds in which a server is killed.
const FAIL_OVER_ROUNDS: u32 = 5;
/// The share of a connect timeout by which connecting may end earlier or later.
const OF_LIMIT: f64 = 0.2;

/// Measures the rows whose names contain one of the words, or all. With `quick`, a thousandth of the flood is sent, and
/// few rounds are made.
///
/// # Errors
/// The program does not build, run or say what it has measured.
pub(crate) fn rows(quick: bool, words: &[String]) -> Result<Vec<Row>, String> {
    programs::build(&["zorb-papers"], &["--bin", PROGRAM], &[])?;
    let wanted =
        |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    let mut rows = Vec::new();
    if ["unix", "lite/p50"].into_iter().any(wanted) {
        if !quick {
            quiet::wait();
        }
        rows.extend(latency(quick)?);
    }
    if wanted("lite/octets") {
        rows.push(octets()?);
    }
    if wanted("lite/instructions") {
        rows.push(of_lite()?);
    }
    if wanted("flood") {
        rows.extend(flood(quick)?);
    }
    if wanted("black-hole") {
        rows.push(black_hole()?);
    }
    if wanted("several") {
        if !quick {
            quiet::wait();
        }
        rows.push(several(quick)?);
    }
    if wanted("fail-over") {
        if !quick {
            quiet::wait();
        }
        rows.extend(fail_over(quick)?);
    }
    if wanted("atm") {
        machine::ready()?;
        if !quick {
            quiet::wait();
        }
        rows.extend(circuits(quick)?);
    }
    Ok(rows)
}

/// The program's output, a value for each line.
fn say(args: &[&str]) -> Result<Vec<Value>, String> {
    said_by(Command::new(programs::ours(PROGRAM)), args)
}

/// The output of the program with these arguments.
fn said_by(mut command: Command, args: &[&str]) -> Result<Vec<Value>, String> {
    let output = command.args(args).output();
    let output = output.map_err(|e| format!("{PROGRAM} does not start: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        let why = format!("{} {}", text.trim(), why.trim());
        return Err(format!("{PROGRAM} {}: {why}", args.join(" ")));
    }
    parse(&text)
}

fn parse(text: &str) -> Result<Vec<Value>, String> {
    let line = |line: &str| serde_json::from_str(line).map_err(|e| format!("{PROGRAM}: {e}"));
    text.lines().map(line).collect()
}

fn number(of: &Value, name: &str) -> f64 {
    of.get(name).and_then(Value::as_f64).unwrap_or(f64::NAN)
}

fn one(args: &[&str]) -> Result<Value, String> {
    let mut said = say(args)?;
    said.pop().ok_or_else(|| format!("{PROGRAM} says nothing"))
}

fn row(name: impl Into<String>, measured: f64, aim: Aim, note: String) -> Row {
    Row {
        name: name.into(),
        measured,
        aim,
        note,
    }
}

/// The median over one protocol of that over another one, for an operation.
fn ratio(said: &[Value], operation: &str, of: &str, to: &str) -> (f64, String) {
    let median = |scheme: &str| {
        let is_it = |line: &&Value| line["operation"] == operation && line["scheme"] == scheme;
        said.iter()
            .find(is_it)
            .map_or(f64::NAN, |line| number(line, "p50_ns"))
    };
    let (of, to) = (median(of), median(to));
    (of / to, format!("{:.1} µs of {:.1}", of / 1e3, to / 1e3))
}

fn latency(quick: bool) -> Result<Vec<Row>, String> {
    let said = match quick {
        true => say(&["latency", "--rounds", "3", "--calls", "100"])?,
        false => say(&["latency"])?,
    };
    let mut operations: Vec<&str> = said
        .iter()
        .filter_map(|line| line["operation"].as_str())
        .collect();
    operations.dedup();
    let mut rows: Vec<Row> = (operations.iter())
        .map(|operation| {
            let (measured, note) = ratio(&said, operation, "uiop", "iiop");
            row(
                format!("unix/{operation}"),
                measured,
                Aim::AtMost(1.0),
                note,
            )
        })
        .collect();
    let (measured, note) = ratio(&said, "sendNoParams_2way", "iioplite", "iiop");
    rows.push(row("lite/p50", measured, Aim::AtMost(RESOLUTION), note));
    Ok(rows)
}

fn octets() -> Result<Row, String> {
    let said = say(&["octets"])?;
    let [plain, lite] = &*said else {
        return Err(format!("{PROGRAM} octets: two lines were expected"));
    };
    let (plain, lite) = (number(plain, "octets"), number(lite, "octets"));
    // A request and a reply.
    let fewer = (plain - lite) / 2.0;
    let note = format!("{lite} of {plain} a call");
    Ok(row("lite/octets-fewer", fewer, Aim::AtLeast(7.0), note))
}

/// Instructions of both ends of a call, by what a run with more of them takes more.
fn of_lite() -> Result<Row, String> {
    tools::ready(&["valgrind"])?;
    let of_a_call = |scheme: &str| -> Result<f64, String> {
        let total = |calls: u32| {
            let words = [
                programs::ours(PROGRAM),
                "calls".into(),
                scheme.into(),
                calls.to_string(),
            ];
            instructions::of_program(&words)
        };
        let (few, many) = (total(COUNTED)?, total(2 * COUNTED)?);
        Ok(many.saturating_sub(few) as f64 / f64::from(COUNTED))
    };
    let (lite, plain) = (of_a_call("iioplite")?, of_a_call("iiop")?);
    let note = format!("{lite:.0} of {plain:.0}, both ends");
    Ok(row(
        "lite/instructions",
        lite / plain,
        Aim::AtMost(1.0),
        note,
    ))
}

fn flood(quick: bool) -> Result<Vec<Row>, String> {
    let calls = if quick { "1000" } else { "1000000" };
    let said = one(&["flood", "--calls", calls])?;
    let seconds = number(&said, "seconds");
    let (sent, got) = (number(&said, "sent"), number(&said, "got"));
    let note = format!("{sent:.0} of 64 KiB from four clients in {seconds:.1} s");
    Ok(vec![
        row("flood/lost", sent - got, Aim::AtMost(0.0), note),
        row(
            "flood/out-of-order",
            number(&said, "astray"),
            Aim::AtMost(0.0),
            String::new(),
        ),
    ])
}

fn black_hole() -> Result<Row, String> {
    let off = (number(&one(&["black-hole"])?, "of_limit") - 1.0).abs();
    let note = "off the connect timeout".to_owned();
    Ok(row("black-hole", off, Aim::AtMost(OF_LIMIT), note))
}

/// Small calls over a connection of their own, beside long messages of other callers, of those that share one connection.
fn several(quick: bool) -> Result<Row, String> {
    let said = match quick {
        true => say(&["several", "--rounds", "1", "--calls", "20"])?,
        false => say(&["several"])?,
    };
    let medians = |is_it: fn(f64) -> bool| {
        let of = (said.iter()).filter(|line| is_it(number(line, "connections")));
        of.map(|line| number(line, "p50_ns")).collect::<Vec<_>>()
    };
    let (one, several) = (medians(|n| n <= 1.0), medians(|n| n > 1.0));
    let ratios = one.iter().zip(&several).map(|(one, several)| several / one);
    let measured = median(ratios);
    let note = format!(
        "{:.0} µs of {:.0}",
        median(several.iter().copied()) / 1e3,
        median(one.iter().copied()) / 1e3
    );
    Ok(row("several-connections", measured, Aim::AtMost(1.0), note))
}

/// The median of the rounds counts: on two CPUs that 32 callers and three servers keep busy, the scheduler alone makes p99 of
/// equal seconds differ by up to three times.
fn fail_over(quick: bool) -> Result<Vec<Row>, String> {
    let rounds = if quick { 1 } else { FAIL_OVER_ROUNDS };
    let rounds: Vec<Value> = (0..rounds)
        .map(|_| one(&["fail-over"]))
        .collect::<Result<_, _>>()?;
    let sum = |name: &str| rounds.iter().map(|said| number(said, name)).sum::<f64>();
    let ratios: Vec<f64> = (rounds.iter())
        .map(|said| number(said, "p99_within_us") / number(said, "p99_before_us"))
        .collect();
    let seconds: Vec<String> = (rounds.iter())
        .map(|said| {
            let (within, after) = (number(said, "p99_within_us"), number(said, "p99_after_us"));
            let before = number(said, "p99_before_us");
            format!("{before:.0}, {within:.0}, {after:.0}")
        })
        .collect();
    let (calls, in_doubt) = (sum("calls"), sum("in_doubt"));
    Ok(vec![
        row(
            "fail-over/failed-not-sent",
            sum("not_sent"),
            Aim::AtMost(0.0),
            format!("of {calls:.0} calls; {in_doubt:.0} in doubt"),
        ),
        row(
            "fail-over/p99-of-the-others",
            median(ratios),
            Aim::AtMost(2.0),
            format!(
                "µs before the kill, in the second after it, in the next: {}",
                seconds.join("; ")
            ),
        ),
    ])
}

/// Calls over circuits beside frames on them, in one machine and in turns: how often the one of the other, by round.
fn circuits(quick: bool) -> Result<Vec<Row>, String> {
    let args: &[&str] = match quick {
        true => &[
            "circuits", "--rounds", "1", "--floods", "20", "--pings", "50",
        ],
        false => &["circuits"],
    };
    let said = said_by(machine::command(&programs::ours(PROGRAM)), args)?;
    let mut rows = Vec::new();
    for (name, what, unit, aim) in [
        (
            "atm/one-ways",
            "one-ways",
            Unit::MegabytesPerSecond,
            Aim::AtLeast(0.7),
        ),
        (
            "atm/one-ways-with-loss",
            "one-ways with loss",
            Unit::MegabytesPerSecond,
            Aim::AtLeast(0.5),
        ),
        ("atm/p50", "ping", Unit::Microseconds, Aim::AtMost(1.5)),
    ] {
        let (measured, note) = of_frames(&said, what, unit);
        rows.push(row(name, measured, aim, note));
    }
    let ledger = said.iter().find(|line| line["what"] == "ledger");
    let ledger = ledger.ok_or_else(|| format!("{PROGRAM} circuits says no ledger"))?;
    let (sent, got) = (number(ledger, "sent"), number(ledger, "got"));
    let wrong = (sent - got).abs() + number(ledger, "astray");
    let note = format!("{got:.0} of {sent:.0}, half of them at a loss of 1 %");
    rows.push(row("atm/missing-or-astray", wrong, Aim::AtMost(0.0), note));
    Ok(rows)
}

#[derive(Clone, Copy)]
enum Unit {
    Microseconds,
    MegabytesPerSecond,
}

/// The median, by round, of what calls measure by what frames do.
fn of_frames(said: &[Value], what: &str, unit: Unit) -> (f64, String) {
    let values = |by: &str| -> Vec<f64> {
        let is_it = |line: &&Value| line["what"] == what && line["by"] == by;
        said.iter()
            .filter(is_it)
            .map(|line| number(line, "value"))
            .collect()
    };
    let (calls, frames) = (values("calls"), values("frames"));
    let ratios = calls
        .iter()
        .zip(&frames)
        .map(|(calls, frames)| calls / frames);
    let [calls, frames] = [
        median(calls.iter().copied()),
        median(frames.iter().copied()),
    ];
    let note = match unit {
        Unit::Microseconds => format!("{:.0} µs of {:.0}", calls / 1e3, frames / 1e3),
        Unit::MegabytesPerSecond => format!("{:.0} MB/s of {:.0}", calls / 1e6, frames / 1e6),
    };
    (median(ratios), note)
}

fn median(of: impl IntoIterator<Item = f64>) -> f64 {
    statistics::median(of).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn circuits_are_compared_by_round() {
        let line = |by: &str, value: f64| json!({ "what": "ping", "by": by, "value": value });
        let said = [
            line("frames", 1_000.0),
            line("calls", 2_000.0),
            line("frames", 4_000.0),
            line("calls", 6_000.0),
            line("frames", 2_000.0),
            line("calls", 10_000.0),
        ];
        let (measured, note) = of_frames(&said, "ping", Unit::Microseconds);
        assert_eq!((measured, &*note), (2.0, "6 µs of 2"));
        assert!(of_frames(&said, "one-ways", Unit::Microseconds).0.is_nan());
    }

    #[test]
    fn ratios_are_of_one_operation() {
        let text = "{\"operation\":\"a\",\"scheme\":\"iiop\",\"p50_ns\":2000}\n\
                    {\"operation\":\"b\",\"scheme\":\"iiop\",\"p50_ns\":9000}\n\
                    {\"operation\":\"a\",\"scheme\":\"uiop\",\"p50_ns\":1000}\n";
        let said = parse(text).unwrap();
        let (measured, note) = ratio(&said, "a", "uiop", "iiop");
        assert_eq!((measured, &*note), (0.5, "1.0 µs of 2.0"));
        assert!(ratio(&said, "b", "uiop", "iiop").0.is_nan());
        assert!(parse("no JSON").is_err());
    }
}
