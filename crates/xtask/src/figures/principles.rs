//! The optimisation principles one by one: the latency paper's Table 3 and Figures 33 and 34.

use crate::claims::Aim;
use crate::figures::Experiment;
use crate::figures::chart::{Axis, Chart, Kind, Panel};
use crate::figures::data::{Collected, Data, Place, Point};
use crate::figures::finding::{Finding, Holds, Placed, ratio, with_unit};
use crate::figures::session::Session;
use crate::figures::source;
use crate::measure::dialogue::{Dialogue, Pair};
use crate::measure::instructions::of_program;
use crate::measure::place::Placement;
use crate::measure::programs::ours;
use crate::measure::statistics::three_digits;
use crate::measure::tools;
use crate::step::{cargo, root, run, target};
use std::process::Command;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "principles",
    sources: &[(source::LATENCY, "Table 3, Figures 33 and 34")],
    question: "What is each of the principles worth today that made TAO of SunSoft IIOP? SunSoft IIOP is not to be had; its stand-in \
               is an engine of ours that does what the paper says of it: it walks a TypeCode for every element, calls a function for \
               each part, computes size and alignment again and again, allocates for each part that it reads, and walks what it \
               frees. Each bar has one principle more than the one before. A *call* is, in one process and without any network: find one of \
               100 servants and one of 10 operations, write the argument, read it, free it. Every step writes and reads the same octets. \
               *Compiled* is zorb's CDR, which reads octets where they lie; *in an any* is what zorb does where only a TypeCode says \
               what a value is.",
    placed: Placed::Alone,
    measure,
    charts,
    findings,
};

/// The steps, as they are called; each one's place is its number to the program. Short, since they stand side by side.
const STEPS: [&str; 10] = [
    "0 none of them",
    "1 inlined",
    "2 special",
    "3 no waste",
    "4 sizes kept",
    "5 sizes told",
    "6 split up",
    "7 active",
    "8 compiled",
    "9 in an any",
];
/// What the paper's table says is gained by each of the first seven, in words of our own.
const PROBLEMS: [&str; 7] = [
    "Inlining small functions that are called often pays",
    "An interpreter for each type of TypeCode pays, which calls fewer functions",
    "Not walking values that have nothing to free pays",
    "Computing size and alignment of elements once, and keeping them, pays",
    "Telling what is known to the functions that are called, which need not find it out again, pays",
    "Splitting the large interpreter into small functions, which the cache has room for, pays",
    "Active demultiplexing and perfect hashing pay",
];
/// What is worth more than this is worth something.
const GAIN: f64 = 1.05;
const BEFORE: &str = STEPS[0];
const SPECIALISED: &str = STEPS[2];
const AFTER: &str = STEPS[7];
pub(crate) const COMPILED: &str = STEPS[8];
const IN_AN_ANY: &str = STEPS[9];

const KINDS: [&str; 2] = ["octets", "structs"];
const PARTS: [&str; 3] = ["call", "encode", "decode"];
/// Units of the figures' largest calls.
const MOST: usize = 1_024;
/// Numbers of types that a program knows.
const TYPES: [usize; 5] = [1, 2, 4, 8, 16];

struct Asked {
    kind: &'static str,
    units: usize,
    part: &'static str,
}

fn asked(session: &Session) -> Vec<Asked> {
    let units: &[usize] = session.pick(&[1, 4, 16, 64, 256, MOST], &[1, MOST]);
    let mut all = Vec::new();
    for kind in KINDS {
        for part in PARTS {
            all.extend(units.iter().map(|&units| Asked { kind, units, part }));
        }
    }
    all
}

fn measure(session: &Session) -> Result<Vec<Point>, String> {
    let mut collected = Collected::default();
    let start = |step: usize| {
        let pair = Pair {
            name: STEPS[step].to_owned(),
            server: None,
            client: vec![ours("papers-principles")],
            unix: false,
        };
        let dialogue = Dialogue::start(&pair, Placement::Same, session.cpus)?;
        Ok::<_, String>((step, dialogue))
    };
    let programs: Result<Vec<_>, _> = (0..STEPS.len()).map(start).collect();
    let mut programs = programs?;
    let milliseconds = session.pick(10, 3);
    session.rounds(&asked(session), &mut programs, |asked, (step, dialogue)| {
        let Asked { kind, units, part } = asked;
        let question = format!("{step} {kind} {units} {part} {milliseconds}");
        let answer = dialogue.ask(&question)?;
        let series = STEPS[*step];
        let p99 = Some(answer.p99_us());
        collected.add(
            line(kind, part, series, *units as f64, "µs"),
            answer.p50_us(),
            p99,
        );
        if *units == MOST && *part == "call" {
            collected.add(
                bar(&format!("{kind}, steps"), *step, "µs"),
                answer.p50_us(),
                p99,
            );
        }
        Ok(())
    })?;
    for (_, dialogue) in programs {
        dialogue.end()?;
    }
    instructions(session, &mut collected)?;
    sizes(session, &mut collected)?;
    Ok(collected.points())
}

fn line(kind: &str, part: &str, series: &str, x: f64, unit: &'static str) -> Place {
    Place {
        panel: format!("{kind}, {part}"),
        series: series.to_owned(),
        x,
        label: None,
        unit,
    }
}

fn bar(panel: &str, step: usize, unit: &'static str) -> Place {
    Place {
        panel: panel.to_owned(),
        series: "a call".to_owned(),
        x: step as f64,
        label: Some(STEPS[step].to_owned()),
        unit,
    }
}

/// Instructions of a call: the same in every round.
fn instructions(session: &Session, collected: &mut Collected) -> Result<(), String> {
    if let Err(why) = tools::ready(&["valgrind"]) {
        session.miss(format!("instructions ({why})"));
        return Ok(());
    }
    let steps: Vec<usize> = session.pick((0..STEPS.len()).collect(), vec![0, 8]);
    let units = session.pick(MOST, 64);
    let (few, many) = session.pick((4_u32, 12), (10, 60));
    session.expect(steps.len() * KINDS.len());
    for kind in KINDS {
        for &step in &steps {
            session.step(format!("instructions of {kind}, step {step}"));
            let count = |times: u32| {
                let words = format!("count {step} {kind} {units} call {times}");
                let mut all = vec![ours("papers-principles")];
                all.extend(words.split(' ').map(str::to_owned));
                of_program(&all)
            };
            let more = count(many)?.saturating_sub(count(few)?);
            let each = more as f64 / f64::from(many - few);
            collected.add(
                bar(&format!("{kind}, instructions"), step, "instructions"),
                each,
                None,
            );
        }
    }
    Ok(())
}

/// How much larger a program is that knows so many types.
fn sizes(session: &Session, collected: &mut Collected) -> Result<(), String> {
    if let Err(why) = tools::ready(&["size"]) {
        session.miss(format!("sizes of programs ({why})"));
        return Ok(());
    }
    let types: &[usize] = session.pick(&TYPES, &[16]);
    session.expect(1 + 2 * types.len());
    session.step("a program of no types");
    let none = size("compiled", 0)?;
    for how in ["compiled", "interpreted"] {
        for &types in types {
            session.step(format!("a program of {types} types, {how}"));
            let more = size(how, types)?.saturating_sub(none);
            let place = Place {
                panel: "sizes".to_owned(),
                series: how.to_owned(),
                x: types as f64,
                label: None,
                unit: "KiB",
            };
            collected.add(place, more as f64 / 1024.0, None);
        }
    }
    Ok(())
}

/// Octets of code and constants.
fn size(how: &str, types: usize) -> Result<u64, String> {
    let mut build = cargo();
    build
        .current_dir(root())
        .args(["build", "--release", "--quiet", "-p", "zorb-papers"])
        .args(["--bin", "papers-sizes"])
        .env("PAPERS_TYPES", types.to_string())
        .env("PAPERS_HOW", how);
    run(&mut build)?;
    let program = target().join("release/papers-sizes");
    let run = Command::new(&program).status().map_err(|e| e.to_string())?;
    if !run.success() {
        return Err(format!(
            "{types} types, {how}: wrote other octets than it read"
        ));
    }
    let output = Command::new("size").arg(&program).output();
    let output = output.map_err(|e| format!("size does not start: {e}"))?;
    // `text data bss dec hex filename`, then the numbers.
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers = text.lines().nth(1).unwrap_or_default();
    let mut words = numbers.split_whitespace().map(str::parse::<u64>);
    match (words.next(), words.next()) {
        (Some(Ok(text)), Some(Ok(data))) => Ok(text + data),
        _ => Err(format!("size says {text:?}")),
    }
}

/// The steps that are told apart in a picture of lines: the others are in the bars.
const LINES: [&str; 8] = [
    BEFORE,
    SPECIALISED,
    STEPS[3],
    STEPS[4],
    STEPS[5],
    AFTER,
    COMPILED,
    IN_AN_ANY,
];

fn charts(data: &Data) -> Vec<Chart> {
    let lines = |kind: &str, part: &str, series: &[&str]| {
        let mut panel = Panel::lines(
            data,
            &format!("{kind}, {part}"),
            &format!("{part}, {kind}"),
            Axis::log2("units"),
            Axis::log("time (µs)"),
        )?;
        panel
            .series
            .retain(|one| series.contains(&one.name.as_str()));
        Some(panel)
    };
    let bars = |kind: &str, of: &str, y: Axis| {
        let axes = ("the last principle that is applied", y);
        Panel::bars(data, &format!("{kind}, {of}"), kind, axes, Kind::Bars)
    };
    let time = || Axis::log("time of a call (µs)");
    let count = || Axis::log("instructions of a call");
    let both = |of: &str, y: &dyn Fn() -> Axis| -> Vec<Panel> {
        KINDS
            .into_iter()
            .filter_map(|kind| bars(kind, of, y()))
            .collect()
    };
    let parts = ["encode", "decode"];
    let compared = [AFTER, BEFORE, COMPILED, IN_AN_ANY];
    let encoded = KINDS
        .iter()
        .flat_map(|kind| parts.map(|part| (*kind, part)));
    let sizes = Panel::lines(
        data,
        "sizes",
        "code and constants, over those of a program of no types",
        Axis::log2("types"),
        Axis::linear("size (KiB)"),
    );
    let chart = |file: &str, title: &str, panels: Vec<Panel>| Chart {
        file: format!("principles-{file}"),
        title: title.to_owned(),
        panels,
    };
    vec![
        chart(
            "units",
            "A call with one principle more each (Figures 33 and 34)",
            KINDS
                .into_iter()
                .filter_map(|kind| lines(kind, "call", &LINES))
                .collect(),
        ),
        chart(
            "steps",
            "A call of 1,024 units with one principle more each (Table 3)",
            both("steps", &time),
        ),
        chart(
            "instructions",
            "Instructions of a call with one principle more each",
            both("instructions", &count),
        ),
        chart(
            "compiled",
            "Compiled and interpreted marshalling",
            encoded
                .filter_map(|(kind, part)| lines(kind, part, &compared))
                .collect(),
        ),
        chart(
            "sizes",
            "What compiled and interpreted marshalling take in a program",
            sizes.into_iter().collect(),
        ),
    ]
}

fn findings(data: &Data) -> Vec<Finding> {
    let most = MOST as f64;
    let at =
        |kind: &str, part: &str, series: &str| data.at(&format!("{kind}, {part}"), series, most);
    let call = |kind: &str, series: &str| at(kind, "call", series);
    let us = |value: f64| with_unit(value, "µs");
    let times = |a: f64, b: f64| format!("{} times", three_digits(a / b));
    // What every step gains over the one before, by name.
    let gains = |kind: &str| -> Option<Vec<(f64, &str)>> {
        let mut gains = Vec::new();
        for pair in STEPS[..8].windows(2) {
            let [before, after] = pair else { continue };
            gains.push((call(kind, before)? / call(kind, after)?, *after));
        }
        Some(gains)
    };
    let best = |kind: &str| {
        let mut all = gains(kind)?;
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        let shown: Vec<String> = all
            .iter()
            .take(3)
            .map(|(gain, step)| format!("{} ({}×)", &step[2..], three_digits(*gain)))
            .collect();
        Some((all.first()?.0, shown.join(", ")))
    };
    let optimised = |(kind, claim, least): (&str, &str, f64)| {
        let measured = [BEFORE, AFTER, COMPILED].map(|series| call(kind, series));
        Finding::new(claim, measured, |[before, after, compiled]| {
            let seen = format!(
                "without a network: {} before, {} with all principles ({}), {} compiled",
                us(before),
                us(after),
                times(before, after),
                us(compiled)
            );
            (seen, Holds::when(before > least * after))
        })
    };
    let mut all = Vec::from(
        [
            (
                "octets",
                "Optimised, 1,024 octets or other primitives are sent 1.5 to 2 times as fast (Figure 33; of primitives only octets are measured here)",
                1.5,
            ),
            (
                "structs",
                "Optimised, 1,024 BinStructs are sent about 4 times as fast (Figure 34)",
                4.0,
            ),
        ]
        .map(optimised),
    );
    all.extend([
        Finding::new(
            "The gain grows with the size of the data (Figures 33 and 34)",
            [
                data.at("structs, call", BEFORE, 1.0),
                data.at("structs, call", AFTER, 1.0),
                call("structs", BEFORE),
                call("structs", AFTER),
            ],
            |[small, small_after, large, large_after]| {
                let seen = format!(
                    "{} for one struct, {} for 1,024",
                    times(small, small_after),
                    times(large, large_after)
                );
                (seen, Holds::when(large / large_after > small / small_after))
            },
        ),
        Finding::new(
            "Compiled marshalling is faster than interpreted (section 6.2)",
            [
                at("structs", "encode", AFTER),
                at("structs", "encode", COMPILED),
                at("structs", "decode", AFTER),
                at("structs", "decode", COMPILED),
            ],
            |[encode, encode_compiled, decode, decode_compiled]| {
                let seen = format!(
                    "1,024 structs are written in {} against {} ({}), and read in {} against {} ({}); the interpreter has all principles applied",
                    us(encode_compiled),
                    us(encode),
                    times(encode, encode_compiled),
                    us(decode_compiled),
                    us(decode),
                    times(decode, decode_compiled)
                );
                let holds = encode > encode_compiled && decode > decode_compiled;
                (seen, Holds::when(holds))
            },
        )
        .with_number(
            "compiled-over-interpreted",
            call("structs", AFTER).zip(call("structs", COMPILED)).map(|(a, b)| a / b),
            Aim::AtLeast(4.0),
        ),
        Finding::new(
            "Compiled marshalling is larger than interpreted (section 6.2)",
            [
                data.at("sizes", "compiled", 16.0),
                data.at("sizes", "interpreted", 16.0),
                data.at("sizes", "compiled", 1.0),
                data.at("sizes", "interpreted", 1.0),
            ],
            |[compiled, interpreted, one_compiled, one_interpreted]| {
                let kib = |value| with_unit(value, "KiB");
                let seen = format!(
                    "a program grows by {} for 16 structs and sequences of them compiled, by {} interpreted, the interpreter itself included; for one by {} and {}",
                    kib(compiled),
                    kib(interpreted),
                    kib(one_compiled),
                    kib(one_interpreted)
                );
                let holds = Holds::both(compiled > interpreted, one_compiled > one_interpreted);
                (seen, holds)
            },
        ),
    ]);
    for (problem, pair) in PROBLEMS.into_iter().zip(STEPS.windows(2)) {
        let [before, after] = pair else { continue };
        let gain = |kind: &str| ratio(call(kind, before), call(kind, after));
        let claim = format!("{problem} (Table 3; step {after})");
        all.push(Finding::new(
            &claim,
            [gain("octets"), gain("structs")],
            |[octets, structs]| {
                let seen = format!(
                    "1,024 octets {}×, 1,024 structs {}× as fast as without",
                    three_digits(octets),
                    three_digits(structs)
                );
                (seen, Holds::both(octets > GAIN, structs > GAIN))
            },
        ));
    }
    for (kind, figure) in [("octets", "Figure 33"), ("structs", "Figure 34")] {
        let best = best(kind);
        let gain = best.as_ref().map(|(gain, _)| *gain);
        all.push(Finding::new(
            &format!("Every principle of Table 3 makes {kind} faster (Table 3, {figure})"),
            [gain],
            |[_]| {
                let shown = best.map(|(_, shown)| shown).unwrap_or_default();
                let helped = gains(kind)
                    .unwrap_or_default()
                    .iter()
                    .filter(|(gain, _)| *gain > GAIN)
                    .count();
                let seen = format!(
                    "{helped} of 7 steps are worth more than 5 % with 1,024 of them; the most: {shown}"
                );
                let holds = match helped {
                    7 => Holds::Yes,
                    0 => Holds::No,
                    _ => Holds::InPart,
                };
                (seen, holds)
            },
        ));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn a_claim_is_judged_by_the_numbers() {
        let call = |series, value| ("structs, call", series, 1_024.0, None, value);
        let data = data(&[call(BEFORE, 300.0), call(AFTER, 100.0), call(COMPILED, 2.0)]);
        let judged = findings(&data);
        assert_eq!(judged[1].holds, Holds::No, "{}", judged[1].seen);
        assert_eq!(judged[0].holds, Holds::Unknown);
        assert_eq!(charts(&data).len(), 5);
    }

    #[test]
    fn steps_that_gain_nothing_are_not_counted() {
        let call = |step: usize, value| ("octets, call", STEPS[step], 1_024.0, None, value);
        let halved: Vec<_> = (0..8)
            .map(|step| call(step, if step < 3 { 20.0 } else { 10.0 }))
            .collect();
        let judged = findings(&data(&halved));
        let every = judged
            .iter()
            .find(|f| f.claim.contains("makes octets"))
            .unwrap();
        assert!(every.seen.starts_with("1 of 7"), "{}", every.seen);
        assert_eq!(every.holds, Holds::InPart);
    }
}
