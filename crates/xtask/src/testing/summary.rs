//! The number of tests that passed, from the output of libtest.

use std::fmt;

/// Counts of tests.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Summary {
    passed: usize,
    failed: usize,
    ignored: usize,
}

impl Summary {
    /// Adds up the lines `test result: ok. 3 passed; 0 failed; 1 ignored; …`.
    pub(crate) fn of(output: &str) -> Self {
        let mut all = Self::default();
        let results = output
            .lines()
            .filter_map(|line| line.strip_prefix("test result: "));
        for result in results {
            let count = |what: &str| {
                let part = result
                    .split([';', '.'])
                    .find_map(|part| part.trim().strip_suffix(what));
                part.and_then(|n| n.trim().parse().ok()).unwrap_or(0)
            };
            all.add(&Self {
                passed: count("passed"),
                failed: count("failed"),
                ignored: count("ignored"),
            });
        }
        all
    }

    /// So many tests, which have passed.
    pub(crate) fn all_passed(passed: usize) -> Self {
        Self {
            passed,
            ..Self::default()
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
    }
}

/// Writes `12 passed, 0 failed, 1 skipped`.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        match self.ignored {
            0 => Ok(()),
            ignored => write!(f, ", {ignored} skipped"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_added_up() {
        let output = "running 2 tests\n\
            test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.25s\n\
            test result: FAILED. 40 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.00s\n";
        assert_eq!(
            Summary::of(output).to_string(),
            "42 passed, 2 failed, 1 skipped"
        );
        assert_eq!(Summary::of("").to_string(), "0 passed, 0 failed");
    }
}
