//! `cargo xtask claims poa`: what finding an object costs, what objects take, and that nothing is lost while they come
//! and go.
//!
//! Look-ups are those of the figures ([`figures::demultiplexing`](crate::figures)), in one process; the rest is
//! measured by `papers-poa`, a process for each row.

use crate::compare::work;
use crate::measure::instructions::of_a_call;
use crate::measure::peer::Peer;
use crate::measure::programs;
use crate::measure::run::Work;
use crate::measure::tools;
use crate::row::{Aim, Row};
use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};

/// Measures a group of rows.
type Group = fn() -> Result<Vec<Row>, String>;

/// The groups, by the first word of their rows' names.
const GROUPS: [(&str, Group); 6] = [
    ("look-up", look_ups),
    ("wire", wire),
    ("memory", memory),
    ("servants", servants),
    ("instructions", instructions),
    ("churn", churn),
];

/// Measures the groups whose names contain one of the words, or all.
///
/// # Errors
/// A program does not build, or fails.
pub(crate) fn rows(words: &[String]) -> Result<Vec<Row>, String> {
    let is_chosen =
        |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    programs::build_ours()?;
    let mut rows = Vec::new();
    for (name, group) in GROUPS {
        if is_chosen(name) {
            rows.extend(group()?);
        }
    }
    Ok(rows)
}

fn at_most(name: impl Into<String>, measured: f64, aim: f64, note: impl Into<String>) -> Row {
    Row {
        name: name.into(),
        // Three digits are more than is known.
        measured: (measured * 1000.0).round() / 1000.0,
        aim: Aim::AtMost(aim),
        note: note.into(),
    }
}

/// Look-ups are timed for so many milliseconds, and so many times in turns.
const MILLISECONDS: u32 = 200;
const ROUNDS: usize = 5;

/// Nanoseconds of a look-up by each of these questions to `papers-demultiplexing`: the fastest of the rounds' medians,
/// since whatever else the machine does takes time and gives none.
fn nanoseconds(questions: &[&str]) -> Result<Vec<f64>, String> {
    let program = programs::ours("papers-demultiplexing");
    let mut fastest = vec![f64::INFINITY; questions.len()];
    for _ in 0..ROUNDS {
        let text: String = questions
            .iter()
            .map(|question| format!("{question} {MILLISECONDS}\n"))
            .collect();
        let answers = answers(&program, &[], &text)?;
        for (fastest, answer) in fastest.iter_mut().zip(&answers) {
            *fastest = fastest.min(number(answer, "p50_ns")?);
        }
    }
    Ok(fastest)
}

/// The output of a program for `input`: values, a line each.
fn answers(program: &str, args: &[&str], input: &str) -> Result<Vec<Value>, String> {
    let failed = |e: std::io::Error| format!("{program}: {e}");
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes()).map_err(failed)?;
    }
    let done = child.wait_with_output().map_err(failed)?;
    if !done.status.success() {
        return Err(format!("{program} {}: {}", args.join(" "), done.status));
    }
    let text = String::from_utf8_lossy(&done.stdout);
    let parse = |line| serde_json::from_str(line).map_err(|e| format!("{program}: {e}: {line}"));
    text.lines().map(parse).collect()
}

fn number(answer: &Value, name: &str) -> Result<f64, String> {
    let found = answer.get(name).and_then(Value::as_f64);
    found.ok_or_else(|| format!("no {name} in {answer}"))
}

/// The answer of `papers-poa` to one question.
fn ask(args: &[&str]) -> Result<Value, String> {
    let answers = answers(&programs::ours("papers-poa"), args, "")?;
    answers
        .into_iter()
        .next()
        .ok_or_else(|| format!("nothing is said of {args:?}"))
}

/// Look-ups of one operation among ten, since an operation's table is in the cache and no part of the claims.
fn look_ups() -> Result<Vec<Row>, String> {
    const TRANSIENT: [&str; 4] = [
        "poa 1 10 worst",
        "poa 1000 10 worst",
        "poa 1000000 10 worst",
        "poa_sealed 1000 10 worst",
    ];
    const NAMED: [&str; 4] = [
        "poa_ids 1 10 worst",
        "poa_ids 1000000 10 worst",
        "poa_fixed 10000 10 worst",
        "siblings_names 1000 10 worst",
    ];
    const NESTED: [&str; 2] = ["nested_names 1 10 worst", "nested_names 100 10 worst"];
    let transient = nanoseconds(&TRANSIENT)?;
    let named = nanoseconds(&NAMED)?;
    let nested = nanoseconds(&NESTED)?;
    let (&[one, thousand, million, sealed], &[id, ids, fixed, siblings], &[shallow, deep]) =
        (&*transient, &*named, &*nested)
    else {
        return Err("a question has no answer".to_owned());
    };
    Ok(vec![
        at_most("look-up/transient/1", one, 60.0, "ns"),
        at_most("look-up/transient/1000", thousand, 60.0, "ns"),
        at_most("look-up/transient/1000000", million, 60.0, "ns"),
        at_most(
            "look-up/transient/flat",
            million / one,
            1.25,
            "a million ÷ one",
        ),
        at_most(
            "look-up/transient/authenticated",
            sealed,
            300.0,
            format!("ns; {:.0} more than without a code", sealed - thousand),
        ),
        at_most("look-up/ids/1", id, 120.0, "ns"),
        at_most("look-up/ids/1000000", ids, 120.0, "ns"),
        at_most(
            "look-up/ids/fixed",
            fixed,
            120.0,
            "ns, 10,000 that are known beforehand",
        ),
        at_most("look-up/persistent/1000", siblings, 120.0, "ns"),
        at_most(
            "look-up/persistent/100-deep",
            deep / shallow,
            2.0,
            format!("÷ one deep: {deep:.0} ÷ {shallow:.0} ns"),
        ),
    ])
}

fn wire() -> Result<Vec<Row>, String> {
    let answer = ask(&["wire", "10000", "50000"])?;
    let (many, one) = (number(&answer, "many_ns")?, number(&answer, "one_ns")?);
    Ok(vec![at_most(
        "wire/10000",
        many / one,
        1.05,
        format!("random objects ÷ one: {many:.0} ÷ {one:.0} ns"),
    )])
}

/// An activated object, beside its servant and the skeleton.
const OBJECT_OCTETS: f64 = 128.0;

fn memory() -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for ids in ["transient", "ids"] {
        let answer = ask(&["memory", ids, "1000000"])?;
        let note = "octets, of the process";
        rows.push(at_most(
            format!("memory/{ids}"),
            number(&answer, "octets")?,
            OBJECT_OCTETS,
            note,
        ));
        let seconds = number(&answer, "seconds")?;
        rows.push(at_most(
            format!("memory/{ids}/activation"),
            seconds,
            1.0,
            "s, a million",
        ));
    }
    Ok(rows)
}

fn servants() -> Result<Vec<Row>, String> {
    let answer = ask(&["servants", "1000000"])?;
    let of = |name| number(&answer, name);
    let (active, default) = (of("active_ns")?, of("default_ns")?);
    let (locating, beside) = (of("locating_ns")?, of("beside_located_ns")?);
    Ok(vec![
        at_most(
            "servants/default",
            default / active,
            1.1,
            format!("distinct ids ÷ an active object: {default:.0} ÷ {active:.0} ns"),
        ),
        at_most(
            "servants/default/growth",
            of("growth")? / 1e6,
            1.0,
            "octets of the process, for each of a million ids",
        ),
        at_most(
            "servants/locator",
            locating / 1000.0,
            0.5,
            format!("µs more than a default servant's {beside:.0} ns"),
        ),
    ])
}

/// Instructions of `noparams` at a57131b, before keys had codes, objects stamps of their use, and adapters a hash for
/// long paths: `zorb-current`, client and server.
const OLD_INSTRUCTIONS: [f64; 2] = [4364.0, 4357.0];
const INSTRUCTIONS: f64 = 1.01;

fn instructions() -> Result<Vec<Row>, String> {
    programs::ready()?;
    tools::ready(&["valgrind"])?;
    let work = Work {
        iters: 1_000,
        warmup: 200,
        ..work("noparams", 0)
    };
    let parked = &["--wait", "park"];
    let counted = of_a_call(Peer::named("zorb-current")?, work, parked, parked)?;
    let sides = [("client", counted.client), ("server", counted.server)];
    let row = |((side, new), old): ((&str, f64), f64)| {
        at_most(
            format!("instructions/noparams/{side}"),
            new / old,
            INSTRUCTIONS,
            format!("{new:.0}, {old} at a57131b"),
        )
    };
    Ok(sides.into_iter().zip(OLD_INSTRUCTIONS).map(row).collect())
}

fn churn() -> Result<Vec<Row>, String> {
    let answer = ask(&["churn", "10000000"])?;
    let of = |name| number(&answer, name);
    let (dispatched, missing) = (of("dispatched")?, of("missing")?);
    let found = format!("of {dispatched} look-ups, {missing} after a deactivation");
    Ok(vec![
        at_most("churn/wrong", of("wrong")?, 0.0, found),
        at_most(
            "churn/alive",
            of("alive")?,
            0.0,
            "servants after all adapters are destroyed",
        ),
        at_most(
            "churn/growth",
            of("growth")? / dispatched,
            0.1,
            "octets of the process, for each look-up",
        ),
    ])
}
