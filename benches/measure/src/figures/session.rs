//! The state that the experiments of one run share.

use crate::figures::data::version;
use crate::measure::machine::said;
use crate::measure::place::Cpus;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// A run: how thorough it is, where programs are pinned, and who is there.
pub(crate) struct Session {
    /// Whether the run only checks that everything works, and makes no figures.
    pub(crate) quick: bool,
    pub(crate) rounds: usize,
    pub(crate) cpus: Cpus,
    /// Why there is no omniORB, if there is none.
    pub(crate) omniorb: Result<(), String>,
    bar: ProgressBar,
    missing: RefCell<Vec<String>>,
    /// The tools that made numbers, with their versions.
    tools: RefCell<BTreeMap<String, String>>,
}

impl Session {
    pub(crate) fn new(quick: bool, rounds: usize, cpus: Cpus, omniorb: Result<(), String>) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let template = "{prefix:16} {wide_bar} {pos}/{len} {elapsed}, {eta} left; {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self {
            quick,
            rounds,
            cpus,
            omniorb,
            bar,
            missing: RefCell::default(),
            tools: RefCell::default(),
        }
    }

    /// The first of the two in a run for figures, the second in a quick one.
    pub(crate) fn pick<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// A program is left out; said below the pictures.
    pub(crate) fn miss(&self, who: impl Into<String>) {
        let who = who.into();
        let mut missing = self.missing.borrow_mut();
        if !missing.contains(&who) {
            missing.push(who);
        }
    }

    /// Numbers are made by a tool; its version is said below what is shown of them.
    pub(crate) fn use_tool(&self, name: &str) {
        let mut tools = self.tools.borrow_mut();
        if tools.contains_key(name) {
            return;
        }
        if let Some(version) = version(&said(name, &["--version"])) {
            tools.insert(name.to_owned(), version.to_owned());
        }
    }

    /// An experiment begins.
    pub(super) fn begin(&self, name: &str) {
        self.missing.borrow_mut().clear();
        self.tools.borrow_mut().clear();
        self.bar.reset();
        self.bar.set_length(0);
        self.bar.set_prefix(name.to_owned());
        if self.bar.is_hidden() {
            eprintln!("{name}");
        }
    }

    /// It is over: who was missing, and what made numbers.
    pub(super) fn over(&self) -> (Vec<String>, BTreeMap<String, String>) {
        self.bar.finish_and_clear();
        (self.missing.take(), self.tools.take())
    }

    /// So many more steps are to come.
    pub(crate) fn expect(&self, steps: usize) {
        self.bar.inc_length(steps as u64);
    }

    /// One of them is begun.
    pub(crate) fn step(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
        self.bar.inc(1);
    }

    /// Asks every program for every point once, in a random order, for those whose rounds are more than that.
    ///
    /// # Errors
    /// The first one of `one`.
    pub(crate) fn once<P, C>(
        &self,
        what: &str,
        points: &[P],
        contenders: &mut [C],
        mut one: impl FnMut(&P, &mut C) -> Result<(), String>,
    ) -> Result<(), String> {
        self.expect(points.len() * contenders.len());
        for point in shuffled(points.len()) {
            let Some(point) = points.get(point) else {
                continue;
            };
            for contender in shuffled(contenders.len()) {
                let Some(contender) = contenders.get_mut(contender) else {
                    continue;
                };
                self.step(what);
                one(point, contender)?;
            }
        }
        Ok(())
    }

    /// Has every program do once what is not measured.
    ///
    /// # Errors
    /// The first one of `one`.
    pub(crate) fn set_up<C>(
        &self,
        what: &str,
        contenders: &mut [C],
        mut one: impl FnMut(&mut C) -> Result<(), String>,
    ) -> Result<(), String> {
        self.once(what, &[()], contenders, |(), contender| one(contender))
    }

    /// Asks every program for every point, round by round, in another order each time: a machine that drifts does so for
    /// all of them. `one` gets the point and the program.
    ///
    /// # Errors
    /// The first one of `one`.
    pub(crate) fn rounds<P, C>(
        &self,
        points: &[P],
        contenders: &mut [C],
        one: impl FnMut(&P, &mut C) -> Result<(), String>,
    ) -> Result<(), String> {
        self.some_rounds(self.rounds, points, contenders, one)
    }

    /// Measures the points in so many rounds, where points are many or slow.
    ///
    /// # Errors
    /// Returns the errors of [`rounds`](Self::rounds).
    pub(crate) fn some_rounds<P, C>(
        &self,
        rounds: usize,
        points: &[P],
        contenders: &mut [C],
        mut one: impl FnMut(&P, &mut C) -> Result<(), String>,
    ) -> Result<(), String> {
        for round in 1..=rounds {
            let what = format!("round {round} of {rounds}");
            self.once(&what, points, contenders, &mut one)?;
        }
        Ok(())
    }
}

fn shuffled(count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    fastrand::shuffle(&mut order);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_is_asked_for_every_point_in_every_round() {
        let session = Session::new(false, 3, Cpus::only(0), Ok(()));
        let mut asked = Vec::new();
        let mut contenders = ["a", "b"];
        let done = session.rounds(&[1, 2], &mut contenders, |point, who| {
            asked.push((*who, *point));
            Ok(())
        });
        assert_eq!(done, Ok(()));
        assert_eq!(asked.len(), 12);
        // A round is over before the next begins.
        for round in asked.chunks(4) {
            let mut round = round.to_vec();
            round.sort_unstable();
            assert_eq!(round, [("a", 1), ("a", 2), ("b", 1), ("b", 2)]);
        }
    }

    #[test]
    fn who_is_missing_is_said_once() {
        let session = Session::new(true, 1, Cpus::only(0), Ok(()));
        session.miss("raw");
        session.miss("raw");
        assert_eq!(session.over().0, ["raw"]);
        assert!(session.over().0.is_empty());
    }

    #[test]
    fn a_tool_is_kept_with_its_version() {
        let session = Session::new(true, 1, Cpus::only(0), Ok(()));
        session.use_tool("git");
        session.use_tool("no such tool");
        let (_, tools) = session.over();
        let names: Vec<_> = tools.keys().collect();
        assert_eq!(names, ["git"]);
        assert!(session.over().1.is_empty());
    }
}
