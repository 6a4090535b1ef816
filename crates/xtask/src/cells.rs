//! Interop cells: one combination of client, server, protocol version, byte orders, transport and
//! subject each.
//!
//! The tests append `cell NAME ok` to the file that `ZORB_CELLS` names, one line a cell that they
//! ran and that passed; `tests/interop/cells.txt` says which there have to be.

use crate::list;
use crate::step::{Done, root, target};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The cells that had to pass, and those that did.
#[derive(Debug)]
pub struct Tally {
    expected: BTreeSet<String>,
    run: BTreeSet<String>,
}

/// Where the tests write down what they ran. Kept, so that `claims` can read it again.
pub fn record() -> PathBuf {
    target().join("interop-cells.txt")
}

/// Reads the list and the record.
///
/// # Errors
/// The list cannot be read, names a cell twice or is empty, or the record holds a line of another
/// form. No record at all is a record of nothing.
pub fn tally() -> Result<Tally, String> {
    let list = root().join("tests/interop/cells.txt");
    let expected = list::parse(&read(&list)?).map_err(|e| format!("{}: {e}", list.display()))?;
    let record = record();
    let run = if record.exists() {
        parse_record(&read(&record)?)?
    } else {
        BTreeSet::new()
    };
    Ok(Tally { expected, run })
}

/// Prints the verdict on the last run.
///
/// # Errors
/// Returns the errors of [`tally`], and one if other cells ran than are expected.
pub fn show() -> Done {
    let (lines, verdict) = tally()?.verdict();
    println!("{lines}");
    verdict
}

impl Tally {
    /// How many of the expected cells passed, and how many are expected.
    pub fn counts(&self) -> (usize, usize) {
        (
            self.run.intersection(&self.expected).count(),
            self.expected.len(),
        )
    }

    /// The counts of each group, which is the part of a name before its first slash.
    pub fn groups(&self) -> Vec<(String, usize, usize)> {
        let group = |cell: &str| cell.split('/').next().unwrap_or(cell).to_owned();
        let names: BTreeSet<_> = self.expected.iter().map(|c| group(c)).collect();
        let count = |cells: &BTreeSet<String>, name: &str| {
            let of_group = |c: &&String| self.expected.contains(*c) && group(c) == name;
            cells.iter().filter(of_group).count()
        };
        names
            .into_iter()
            .map(|n| {
                let (run, expected) = (count(&self.run, &n), count(&self.expected, &n));
                (n, run, expected)
            })
            .collect()
    }

    /// The lines for the end of a test run, one a group and one for all; and what is wrong, if
    /// anything is.
    pub fn verdict(&self) -> (String, Done) {
        let (run, expected) = self.counts();
        let mut line = String::new();
        for (group, run, expected) in self.groups() {
            line += &format!("interop cells, {group}: run {run} / expected {expected}\n");
        }
        line += &format!("interop cells: run {run} / expected {expected}");
        let mut wrong = Vec::new();
        for cell in self.expected.difference(&self.run) {
            wrong.push(format!("cell {cell} did not run or did not pass"));
        }
        for cell in self.run.difference(&self.expected) {
            wrong.push(format!(
                "cell {cell} ran, but tests/interop/cells.txt does not list it"
            ));
        }
        let verdict = if wrong.is_empty() {
            Ok(())
        } else {
            Err(wrong.join("\n"))
        };
        (line, verdict)
    }
}

fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|e| format!("cannot read {}: {e}", file.display()))
}

fn parse_record(text: &str) -> Result<BTreeSet<String>, String> {
    let name = |line: &str| {
        let cell = line.strip_prefix("cell ")?.strip_suffix(" ok")?;
        (!cell.is_empty() && !cell.contains(' ')).then(|| cell.to_owned())
    };
    text.lines()
        .map(|line| name(line).ok_or_else(|| format!("not a cell that passed: `{line}`")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(list: &str, record: &str) -> Tally {
        Tally {
            expected: list::parse(list).unwrap(),
            run: parse_record(record).unwrap(),
        }
    }

    #[test]
    fn all_expected_cells_make_a_good_verdict() {
        let t = tally("# two\na/x\n\nb/y\n", "cell b/y ok\ncell a/x ok\n");
        let (line, verdict) = t.verdict();
        let lines = [
            "interop cells, a: run 1 / expected 1",
            "interop cells, b: run 1 / expected 1",
            "interop cells: run 2 / expected 2",
        ];
        assert_eq!(line, lines.join("\n"));
        assert_eq!(verdict, Ok(()));
    }

    #[test]
    fn a_cell_that_did_not_run_is_named() {
        let (line, verdict) = tally("a/x\na/y\n", "cell a/x ok\n").verdict();
        assert!(
            line.ends_with("\ninterop cells: run 1 / expected 2"),
            "{line}"
        );
        assert_eq!(
            verdict,
            Err("cell a/y did not run or did not pass".to_owned())
        );
    }

    #[test]
    fn a_cell_that_is_not_listed_is_named_and_not_counted() {
        let (line, verdict) = tally("a/x\n", "cell a/x ok\ncell a/z ok\n").verdict();
        assert!(
            line.ends_with("\ninterop cells: run 1 / expected 1"),
            "{line}"
        );
        assert!(verdict.unwrap_err().contains("a/z ran, but"));
    }

    #[test]
    fn a_record_of_a_failure_or_of_anything_else_is_refused() {
        for line in [
            "cell a/x FAILED: why",
            "cell  ok",
            "cell a ok ok",
            "a/x ok",
            "",
        ] {
            assert!(parse_record(&format!("{line}\n")).is_err(), "{line:?}");
        }
    }

    #[test]
    fn groups_are_counted_by_what_stands_before_the_slash() {
        let t = tally(
            "a/x\na/y\nb/z/1\n",
            "cell a/y ok\ncell b/z/1 ok\ncell c/w ok\n",
        );
        let expected = [("a".to_owned(), 1, 2), ("b".to_owned(), 1, 1)];
        assert_eq!(t.groups(), expected);
    }
}
