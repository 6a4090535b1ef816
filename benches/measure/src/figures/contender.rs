//! Contenders: a series of a picture in one placement, with a running dialogue.

use crate::figures::data::{Collected, PanelPoint};
use crate::figures::session::Session;
use crate::measure::dialogue::{Answer, Dialogue, Pair};
use crate::measure::place::Placement;

/// Both placements of every figure of calls.
pub(crate) const PLACEMENTS: [Placement; 2] = [Placement::Same, Placement::Split];

/// The placement of the programs, as in the title of a panel.
pub(crate) const fn place_title(placement: Placement) -> &'static str {
    match placement {
        Placement::Same => "both programs on one CPU",
        Placement::Split => "a CPU for each program",
        Placement::Awake => "a CPU for each program, kept awake",
        Placement::Free => "wherever the kernel puts them",
    }
}

/// A contender: a pair of programs in one placement.
#[derive(Debug)]
pub(crate) struct Contender {
    pub(crate) series: &'static str,
    pub(crate) placement: Placement,
    pub(crate) dialogue: Dialogue,
}

impl Contender {
    /// Starts every pair in every placement.
    ///
    /// # Errors
    /// A pair does not start.
    pub(crate) fn start_all(
        session: &Session,
        pairs: &[(&'static str, Pair)],
        placements: &[Placement],
    ) -> Result<Vec<Self>, String> {
        let mut all = Vec::new();
        for placement in placements {
            for (series, pair) in pairs {
                all.push(Self {
                    series,
                    placement: *placement,
                    dialogue: Dialogue::start(pair, *placement, session.cpus)?,
                });
            }
        }
        Ok(all)
    }

    /// Ends all pairs.
    ///
    /// # Errors
    /// A program fails at its end, or its servants received other data than its client sent.
    pub(crate) fn end_all(all: Vec<Self>) -> Result<(), String> {
        all.into_iter().try_for_each(|one| one.dialogue.end())
    }

    /// Goes on in another placement, with the same programs.
    ///
    /// # Errors
    /// Returns the errors of [`Dialogue::move_to`].
    pub(crate) fn move_to(
        &mut self,
        session: &Session,
        placement: Placement,
    ) -> Result<(), String> {
        if self.placement != placement {
            self.dialogue.move_to(placement, session.cpus)?;
            self.placement = placement;
        }
        Ok(())
    }

    /// One measurement.
    ///
    /// # Errors
    /// Returns the errors of [`Dialogue::ask`].
    pub(crate) fn ask(&mut self, request: &str) -> Result<Answer, String> {
        self.dialogue.ask(request)
    }

    /// Its place in the panel of that name and its placement.
    pub(crate) fn place(&self, panel: &str, x: f64, unit: &'static str) -> PanelPoint {
        PanelPoint {
            panel: format!("{panel}, {}", self.placement),
            series: self.series.to_owned(),
            x,
            label: None,
            unit,
        }
    }

    /// Keeps the latencies of an answer, in microseconds.
    pub(crate) fn keep_latency(
        &self,
        collected: &mut Collected,
        (panel, x): (&str, f64),
        answer: &Answer,
    ) {
        let (p50, p99) = (answer.p50_us(), answer.p99_us());
        collected.add(self.place(panel, x, "µs"), p50, Some(p99));
    }

    /// Keeps the time of a one-way call, in microseconds: only the whole of them is timed.
    pub(crate) fn keep_mean(
        &self,
        collected: &mut Collected,
        (panel, x): (&str, f64),
        answer: &Answer,
    ) {
        collected.add(self.place(panel, x, "µs"), answer.mean_us(), None);
    }
}
