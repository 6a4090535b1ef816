//! `cargo xtask attack`: attacks on a server in a process of its own.

use crate::measure::programs;
use crate::row::{Aim, Row};
use clap::Args;
use serde::Deserialize;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use xtask::step::Done;

/// The attacks, and their options.
#[derive(Args, Debug, Default)]
#[group(id = "attack")]
pub(crate) struct AttackOptions {
    /// Attacks whose names contain one of these; all of them unless named
    attacks: Vec<String>,
    /// A debug build, fewer connections and shorter times; what is a time is not checked
    #[arg(long)]
    quick: bool,
    /// Draws the parameters of an earlier run again
    #[arg(long)]
    seed: Option<u64>,
    /// Shows what the victims log
    #[arg(long)]
    log: bool,
}

/// A row as `zorb-attack` prints it.
#[derive(Deserialize)]
struct Line {
    name: String,
    measured: f64,
    aim: LineAim,
    note: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum LineAim {
    AtLeast(f64),
    AtMost(f64),
}

impl From<Line> for Row {
    fn from(line: Line) -> Self {
        Self {
            name: format!("bounds:{}", line.name),
            measured: line.measured,
            aim: match line.aim {
                LineAim::AtLeast(aim) => Aim::AtLeast(aim),
                LineAim::AtMost(aim) => Aim::AtMost(aim),
            },
            note: line.note,
        }
    }
}

/// Runs the attacks, and prints their rows as they come.
///
/// # Errors
/// A row falls short, or an attack cannot be made.
pub(crate) fn run(options: &AttackOptions) -> Done {
    let mut short = Vec::new();
    attack(options, |row| {
        println!("{}", row.line());
        if !row.holds() {
            short.push(row.name);
        }
    })?;
    match short.as_slice() {
        [] => Ok(()),
        short => Err(format!("{} fall short: {}", short.len(), short.join(", "))),
    }
}

/// The rows of the attacks whose names contain one of `attacks`, in full.
///
/// # Errors
/// An attack cannot be made.
pub(crate) fn rows(attacks: &[String]) -> Result<Vec<Row>, String> {
    let options = AttackOptions {
        attacks: attacks.to_vec(),
        ..AttackOptions::default()
    };
    let mut rows = Vec::new();
    attack(&options, |row| rows.push(row))?;
    Ok(rows)
}

fn attack(options: &AttackOptions, mut each: impl FnMut(Row)) -> Done {
    if options.quick {
        // Among the programs of the tests, whose dependencies are compiled already.
        programs::choose(programs::DEV);
    }
    programs::build(&["zorb-attack"], &["--bin", "zorb-attack"], &[])?;

    let mut program = Command::new(programs::ours("zorb-attack"));
    program.arg("run").args(&options.attacks);
    program.args(options.quick.then_some("--quick"));
    program.args(options.log.then_some("--log"));
    program.args(options.seed.map(|seed| format!("--seed={seed}")));
    let mut child = program
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("zorb-attack does not start: {e}"))?;
    let output = child.stdout.take().ok_or("no standard output")?;
    for line in BufReader::new(output).lines() {
        let line = line.map_err(|e| e.to_string())?;
        let row: Line = serde_json::from_str(&line).map_err(|e| format!("{line}: {e}"))?;
        each(row.into());
    }
    let status = child.wait().map_err(|e| e.to_string())?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("zorb-attack ended with {status}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_program_is_a_row() {
        let line = r#"{"name":"x:y","measured":2.5,"aim":{"at_most":2.0},"note":"n"}"#;
        let row: Row = serde_json::from_str::<Line>(line).unwrap().into();
        assert_eq!(row.line(), "bounds:x:y 2.5 <=2 short (n)");
    }
}
