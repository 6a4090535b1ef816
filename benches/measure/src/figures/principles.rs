//! The optimisation principles one by one: the latency paper's Table 3 and Figures 33 and 34.

use crate::figures::Experiment;
use crate::figures::chart::{Axis, Chart, Kind, Panel};
use crate::figures::data::{Collected, Data, PanelPoint, Point};
use crate::figures::finding::{Finding, Holds, Placed, with_unit};
use crate::figures::measured::{Measured, NOTHING, ratio};
use crate::figures::session::Session;
use crate::figures::source;
use crate::measure::dialogue::{Dialogue, Pair};
use crate::measure::instructions::of_program;
use crate::measure::place::Placement;
use crate::measure::programs::{self, ours};
use crate::measure::tools;
use crate::row::Aim;
use std::process::Command;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "principles",
    sources: &[(source::LATENCY, "Table 3, Figures 33 and 34")],
    found: "TAO began as SunSoft IIOP, a slow interpreter of TypeCodes. Eight principles, from inlining to active \
        demultiplexing, made requests with 1,024 primitive values 1.5 to 2 times as fast, and with 1,024 structs \
        about 4 times.",
    seen,
    method: "SunSoft IIOP is not to be had. Its stand-in is an engine of ours that does as the paper describes: it \
        walks a TypeCode for every element, calls a function for each part, computes size and alignment again and \
        again, allocates for each part that it reads, and walks what it frees.\n\n\
        Table 3 has eight rows and no numbers. The numbers of the steps are this page's, in the order of the rows; \
        the first two rows (inline hints, macros) are step 1. Up to 7 each step has one principle more than the \
        one before; 8 and 9 are two other engines. *Compiled* is zorb's CDR, which reads octets where they lie; \
        *in an any* is zorb's path for values that only a TypeCode describes.\n\n\
        A *call* is, in one process and without any network: find one of 100 servants and one of 10 operations, \
        write the argument, read it, free it. Every step writes and reads the same octets.",
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
    "5 sizes passed",
    "6 split up",
    "7 active",
    "8 compiled",
    "9 in an any",
];
/// The gain of each of the first seven by the paper's table, in words of our own, and by which of its rows, which
/// have no numbers there.
const PROBLEMS: [(&str, &str); 7] = [
    (
        "Inlining small functions that are called often pays",
        "the first two rows",
    ),
    (
        "An interpreter for each kind of TypeCode, with fewer function calls, pays",
        "the third row",
    ),
    (
        "Not walking values that have nothing to free pays",
        "the fourth row",
    ),
    (
        "Caching size and alignment of elements pays",
        "the fifth row",
    ),
    (
        "Passing known values to called functions pays",
        "the sixth row",
    ),
    (
        "Splitting the interpreter into functions that fit the cache pays",
        "the seventh row",
    ),
    (
        "Active demultiplexing and perfect hashing pay",
        "the last row",
    ),
];
const BEFORE: &str = STEPS[0];
const SPECIALISED: &str = STEPS[2];
const AFTER: &str = STEPS[7];
const COMPILED: &str = STEPS[8];
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
    // These are not measured round by round, as they are equal in all.
    collected.other_rounds();
    instructions(session, &mut collected)?;
    sizes(session, &mut collected)?;
    Ok(collected.points())
}

fn line(kind: &str, part: &str, series: &str, x: f64, unit: &'static str) -> PanelPoint {
    PanelPoint {
        panel: format!("{kind}, {part}"),
        series: series.to_owned(),
        x,
        label: None,
        unit,
    }
}

fn bar(panel: &str, step: usize, unit: &'static str) -> PanelPoint {
    PanelPoint {
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
    session.use_tool("valgrind");
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
    session.use_tool("size");
    let types: &[usize] = session.pick(&TYPES, &[16]);
    session.expect(1 + 2 * types.len());
    session.step("a program of no types");
    let none = size("compiled", 0)?;
    for how in ["compiled", "interpreted"] {
        for &types in types {
            session.step(format!("a program of {types} types, {how}"));
            let more = size(how, types)?.saturating_sub(none);
            let place = PanelPoint {
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
    let types = types.to_string();
    programs::build(
        &["zorb-papers"],
        &["--bin", "papers-sizes"],
        &[("PAPERS_TYPES", &types), ("PAPERS_HOW", how)],
    )?;
    let program = ours("papers-sizes");
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

/// The steps with a line of their own: the others are in the bars.
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
            Axis::log2("units in the sequence"),
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
        Axis::log2("types that the program knows"),
        Axis::linear("size (KiB)"),
    );
    let chart = |file: &str, title: &str, panels: Vec<Panel>| {
        Chart::new(format!("principles-{file}"), title, panels)
    };
    vec![
        chart(
            "units",
            "A call by the principles that are applied (Figures 33 and 34; steps 1 and 6 are among the bars)",
            KINDS
                .into_iter()
                .filter_map(|kind| lines(kind, "call", &LINES))
                .collect(),
        ),
        chart(
            "steps",
            "A call of 1,024 units, with one principle more each up to 7 (Table 3)",
            both("steps", &time),
        ),
        chart(
            "instructions",
            "Instructions of a call of 1,024 units, with one principle more each up to 7 (beside Table 3)",
            both("instructions", &count),
        )
        .made_by(&["valgrind"]),
        chart(
            "compiled",
            "Compiled and interpreted marshalling (beyond Figures 33 and 34)",
            encoded
                .filter_map(|(kind, part)| lines(kind, part, &compared))
                .collect(),
        ),
        chart(
            "sizes",
            "What compiled and interpreted marshalling take in a program (beyond Table 3)",
            sizes.into_iter().collect(),
        )
        .made_by(&["rustc", "size"]),
    ]
}

fn at(data: &Data, kind: &str, part: &str, series: &str) -> Option<Measured> {
    data.measured(&format!("{kind}, {part}"), series, MOST as f64)
}

fn call(data: &Data, kind: &str, series: &str) -> Option<Measured> {
    at(data, kind, "call", series)
}

/// The gain of every step over the one before, by name; nothing if one is missing.
fn gains(data: &Data, kind: &str) -> Vec<(Measured, &'static str)> {
    let pairs = STEPS[..8].windows(2);
    let gain = |pair: &[&'static str]| {
        let [before, after] = pair else { return None };
        Some((
            ratio(call(data, kind, before), call(data, kind, after))?,
            *after,
        ))
    };
    let all: Option<Vec<_>> = pairs.map(gain).collect();
    all.unwrap_or_default()
}

/// The experiment in two sentences.
fn seen(data: &Data) -> Option<String> {
    let gain = |kind| ratio(call(data, kind, BEFORE), call(data, kind, AFTER));
    let written = |series| Some(at(data, "structs", "encode", series)?.with_unit("µs"));
    Some(format!(
        "In one process, without the paper's network, all principles together speed a call up by {} with 1,024 octets and by {} \
         with 1,024 structs. Compiled marshalling goes further: zorb's CDR writes 1,024 structs in {}, the interpreter with all \
         principles in {}.",
        gain("octets")?.factor(),
        gain("structs")?.factor(),
        written(COMPILED)?,
        written(AFTER)?
    ))
}

fn findings(data: &Data) -> Vec<Finding> {
    let mut all = optimised(data);
    all.extend(compiled(data));
    for (&(problem, row), pair) in PROBLEMS.iter().zip(STEPS.windows(2)) {
        let [before, after] = pair else { continue };
        let gain = |kind: &str| ratio(call(data, kind, before), call(data, kind, after));
        let claim = format!("{problem} ({row} of Table 3; step {after})");
        all.push(Finding::new(
            &claim,
            [gain("octets"), gain("structs")],
            |[octets, structs]| {
                let seen = format!(
                    "speed-up: 1,024 octets {}, 1,024 structs {}",
                    octets.factor(),
                    structs.factor()
                );
                (
                    seen,
                    Holds::all([octets, structs].map(|gain| gain.above(NOTHING))),
                )
            },
        ));
    }
    all.extend(
        [("octets", "Figure 33"), ("structs", "Figure 34")]
            .map(|(kind, figure)| every(data, kind, figure)),
    );
    all
}

/// The gain of all steps together, beside that of the paper.
fn optimised(data: &Data) -> Vec<Finding> {
    let us = |value: Measured| value.with_unit("µs");
    let optimised = |(kind, claim, low, high): (&str, &str, f64, f64)| {
        let measured = [BEFORE, AFTER, COMPILED].map(|series| call(data, kind, series));
        Finding::new(claim, measured, |[before, after, compiled]| {
            let gain = before.over(after);
            let seen = format!(
                "without the paper's network: {} before, {} with all principles, {} compiled; all principles {}",
                us(before),
                us(after),
                us(compiled),
                gain.factor()
            );
            (seen, gain.beside(low, high))
        })
    };
    let mut all = Vec::from(
        [
            (
                "octets",
                "Optimised, 1,024 primitive values are sent 1.5 to 2 times as fast (Figure 33; here: octets)",
                1.5,
                2.0,
            ),
            (
                "structs",
                "Optimised, 1,024 BinStructs are sent about 4 times as fast (Figure 34)",
                4.0,
                4.0,
            ),
        ]
        .map(optimised),
    );
    all.extend(
        [("octets", "Figure 33"), ("structs", "Figure 34")].map(|(kind, figure)| {
            let panel = format!("{kind}, call");
            let small = |series| data.measured(&panel, series, 1.0);
            Finding::new(
                &format!("The gain with {kind} grows with the size of the data ({figure})"),
                [
                    ratio(small(BEFORE), small(AFTER)),
                    ratio(call(data, kind, BEFORE), call(data, kind, AFTER)),
                ],
                |[small, large]| {
                    let seen = format!(
                        "{} with one unit, {} with 1,024",
                        small.factor(),
                        large.factor()
                    );
                    (seen, large.over(small).above(1.0))
                },
            )
        }),
    );
    all
}

/// Compiled marshalling beside interpreted.
fn compiled(data: &Data) -> [Finding; 2] {
    let us = |value: Measured| value.with_unit("µs");
    let at = |part: &str, series: &str| at(data, "structs", part, series);
    let size = |how: &str, types: f64| data.at("sizes", how, types);
    [
        Finding::new(
            "Compiled marshalling is faster than interpreted (section 6.2)",
            [
                at("encode", AFTER),
                at("encode", COMPILED),
                at("decode", AFTER),
                at("decode", COMPILED),
            ],
            |[encode, encode_compiled, decode, decode_compiled]| {
                let gains = [encode.over(encode_compiled), decode.over(decode_compiled)];
                let seen = format!(
                    "1,024 structs are written in {} against {}, {}, and read in {} against {}, {}; the interpreter has all principles applied",
                    us(encode_compiled.median_alone()),
                    us(encode.median_alone()),
                    gains[0].factor(),
                    us(decode_compiled.median_alone()),
                    us(decode.median_alone()),
                    gains[1].factor()
                );
                (seen, Holds::all(gains.map(|gain| gain.above(NOTHING))))
            },
        )
        .with_number(
            "compiled-over-interpreted",
            ratio(call(data, "structs", AFTER), call(data, "structs", COMPILED)).map(|gain| gain.median),
            Aim::AtLeast(4.0),
        ),
        Finding::new(
            "Compiled marshalling is larger than interpreted (section 6.2)",
            [
                size("compiled", 16.0),
                size("interpreted", 16.0),
                size("compiled", 1.0),
                size("interpreted", 1.0),
            ],
            |[compiled, interpreted, one_compiled, one_interpreted]| {
                let kib = |value| with_unit(value, "KiB");
                let seen = format!(
                    "for 16 structs and sequences of them a program grows by {} compiled, by {} interpreted; for one by {} and {}; the interpreter itself is included",
                    kib(compiled),
                    kib(interpreted),
                    kib(one_compiled),
                    kib(one_interpreted)
                );
                // Measured once: a size is what it is.
                let larger = [(compiled, interpreted), (one_compiled, one_interpreted)];
                (seen, Holds::all(larger.map(|(a, b)| Holds::when(a > b))))
            },
        ),
    ]
}

/// How many of the table's rows are worth something.
fn every(data: &Data, kind: &str, figure: &str) -> Finding {
    let mut gains = gains(data, kind);
    let worth: Vec<Holds> = gains.iter().map(|(gain, _)| gain.above(NOTHING)).collect();
    gains.sort_by(|a, b| b.0.median.total_cmp(&a.0.median));
    Finding::new(
        &format!("Every principle of Table 3 makes {kind} faster (Table 3, {figure})"),
        [gains.first().map(|(gain, _)| *gain)],
        |[_]| {
            let shown: Vec<String> = gains
                .iter()
                .take(3)
                .map(|(gain, step)| format!("{} {}", &step[2..], gain.factor()))
                .collect();
            let count = |what: Holds| worth.iter().filter(|one| **one == what).count();
            let untold = match count(Holds::Untold) {
                0 => String::new(),
                some => format!(", {some} undecided"),
            };
            let seen = format!(
                "{} of 7 steps are worth more than 5 % with 1,024 of them{untold}; the most: {}",
                count(Holds::Yes),
                shown.join(", ")
            );
            (seen, Holds::all(worth.iter().copied()))
        },
    )
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
        assert_eq!(judged[1].holds, Holds::Less, "{}", judged[1].seen);
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
