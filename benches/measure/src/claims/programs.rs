//! Claims that programs of their own measure (`benches/claims`): an answer is a line of JSON with numbers by name, of
//! which `programs.csv` makes rows.

use super::ClaimsOptions;
use crate::measure::programs;
use crate::measure::statistics::median;
use crate::row::{Aim, Row};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::process::Command;

const CLAIMS: &str = include_str!("programs.csv");

/// One row.
struct Claim {
    name: &'static str,
    /// The command line, and the same in short, for trying.
    program: &'static str,
    quick: &'static str,
    /// How often it is asked: the median counts, where nothing is allowed the worst.
    times: usize,
    /// The number that counts, and another one that it is divided by, or a constant.
    number: &'static str,
    over: &'static str,
    aim: Aim,
    unit: &'static str,
}

impl Claim {
    fn all(area: &str) -> Result<Vec<Self>, String> {
        let own = CLAIMS.lines().skip(1).filter_map(|line| {
            let (of, claim) = line.split_once(',')?;
            (of == area).then_some(claim)
        });
        own.map(|line| Self::parse(line).ok_or_else(|| format!("no claim: {line}")))
            .collect()
    }

    fn parse(line: &'static str) -> Option<Self> {
        let fields: Vec<&str> = line.split(',').collect();
        let &[name, program, quick, times, number, over, aim, unit] = fields.as_slice() else {
            return None;
        };
        let (sign, aim) = aim.split_at_checked(2)?;
        let aim = aim.parse().ok()?;
        Some(Self {
            name,
            program,
            quick,
            times: times.parse().ok()?,
            number,
            over,
            aim: match sign {
                "<=" => Aim::AtMost(aim),
                ">=" => Aim::AtLeast(aim),
                _ => return None,
            },
            unit,
        })
    }

    fn row(&self, answers: &[Value]) -> Row {
        let number = |answer: &Value, name: &str| match name.parse() {
            Ok(constant) => constant,
            Err(_) => answer.get(name).and_then(Value::as_f64).unwrap_or(f64::NAN),
        };
        let value = |answer| number(answer, self.number) / number(answer, self.over);
        let values = answers.iter().map(value);
        let measured = match self.aim {
            Aim::AtMost(0.0) => values.fold(f64::NAN, f64::max),
            _ => median(values).unwrap_or(f64::NAN),
        };
        let first = answers.first().cloned().unwrap_or_default();
        let note = match first.get("unmeasurable").and_then(Value::as_str) {
            Some(why) => format!("unmeasurable: {why}"),
            None if self.over.parse::<f64>().is_ok() => self.unit.to_owned(),
            None => {
                let [of, to] = [self.number, self.over].map(|name| number(&first, name));
                format!("{}: {of:.4} ÷ {to:.4}", self.unit)
            }
        };
        Row::new(self.name, measured, self.aim, note)
    }
}

/// Measures the rows of an area that are asked for.
///
/// # Errors
/// A program does not build, run, or say what it has measured.
pub(super) fn rows(area: &str, options: &ClaimsOptions) -> Result<Vec<Row>, String> {
    programs::build(&["zorb-claims"], &["--bins"], &[])?;
    if let Some(warning) = options.compare.wait() {
        eprintln!("{warning}");
    }
    let mut answers: HashMap<&str, Vec<Value>> = HashMap::new();
    let mut rows = Vec::new();
    for claim in Claim::all(area)?
        .iter()
        .filter(|claim| options.wants(claim.name))
    {
        let (words, times) = match options.compare.quick {
            true => (claim.quick, 1),
            false => (claim.program, claim.times),
        };
        let answers = answers.entry(words).or_default();
        while answers.len() < times {
            answers.push(answer(words)?);
        }
        rows.push(claim.row(answers));
    }
    Ok(rows)
}

/// A point of a picture that a program prints.
#[derive(Debug, Deserialize)]
pub(crate) struct PrintedPoint {
    pub(crate) panel: String,
    pub(crate) series: String,
    pub(crate) x: f64,
    pub(crate) value: f64,
    pub(crate) unit: String,
}

/// What a program prints for a picture; nothing where the machine has not what it needs, which is said.
///
/// # Errors
/// It does not build, run, or say what it has measured.
pub(crate) fn printed(words: &str) -> Result<Vec<PrintedPoint>, String> {
    programs::build(&["zorb-claims"], &["--bins"], &[])?;
    if words.starts_with("bench-native ") {
        programs::build_iceoryx2();
    }
    let answer = answer(words)?;
    if let Some(why) = answer.get("unmeasurable") {
        eprintln!("unmeasurable: {why}");
        return Ok(Vec::new());
    }
    serde_json::from_value(answer).map_err(|e| format!("{words}: {e}"))
}

/// What a program says, by its name and arguments.
///
/// # Errors
/// It does not run, or says nothing that is a line of JSON.
pub(super) fn answer(words: &str) -> Result<Value, String> {
    let (program, args) = words.split_once(' ').unwrap_or((words, ""));
    let output = Command::new(programs::ours(program))
        .args(args.split_whitespace())
        .output();
    let output = output.map_err(|e| format!("{words}: {e}"))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{words}: {}", why.trim()));
    }
    serde_json::from_slice(&output.stdout).map_err(|e| format!("{words}: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_row_is_the_median_of_the_answers_and_the_worst_where_nothing_is_allowed() {
        let answers = [
            json!({"a": 4, "b": 2}),
            json!({"a": 9, "b": 3}),
            json!({"a": 0, "b": 1}),
        ];
        let line = |text| Claim::parse(text).unwrap().row(&answers).line();
        assert_eq!(
            line("x,p,p,1,a,b,<=2,µs"),
            "x 2 <=2 ok (µs: 4.0000 ÷ 2.0000)"
        );
        assert_eq!(line("x,p,p,1,a,1,<=0,µs"), "x 9 <=0 short (µs)");
        let claim = Claim::parse("x,p,p,1,a,1,<=1,").unwrap();
        let said = claim.row(&[json!({"unmeasurable": "no privilege"})]).line();
        assert_eq!(said, "x NaN <=1 short (unmeasurable: no privilege)");
    }

    #[test]
    fn an_area_has_ten_rows_at_most() {
        for area in [
            "poa",
            "lanes",
            "protocols",
            "services",
            "tls",
            "dynamic",
            "native",
        ] {
            let rows = Claim::all(area).unwrap().len();
            assert!((1..=10).contains(&rows), "{area}: {rows}");
        }
    }
}
