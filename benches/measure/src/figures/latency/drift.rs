//! Changes that all programs show at once while servants become more: an effect of the machine, or of what they have in
//! common.

use crate::figures::data::Data;
use crate::figures::finding::{Finding, Holds, count};
use crate::figures::latency::latency_programs::{DEDICATED, OMNIORB, ZORB};
use crate::figures::measured::EQUAL;
use crate::measure::statistics::three_digits;

/// The least change of all lines from one number of servants to the next.
struct Step {
    from: f64,
    to: f64,
    /// The smallest change, if all change in the same direction.
    shared: f64,
}

/// The steps along the axis, with what zorb, zorb with a thread of its own and omniORB all do.
fn steps(data: &Data, panel: &str) -> Vec<Step> {
    let lines = [ZORB, DEDICATED, OMNIORB].map(|series| data.line(panel, series));
    let mut steps = Vec::new();
    for pair in lines[0].windows(2) {
        let [(from, _), (to, _)] = pair else { continue };
        let at = |line: &[(f64, f64)], x: f64| {
            line.iter().find(|(n, _)| *n == x).map(|(_, value)| *value)
        };
        let changes: Option<Vec<f64>> = lines
            .iter()
            .map(|line| Some(at(line, *to)? / at(line, *from)?))
            .collect();
        let Some(changes) = changes else { continue };
        let least = changes.iter().copied().fold(f64::INFINITY, f64::min);
        let most = changes.iter().copied().fold(0.0, f64::max);
        let shared = match (least > 1.0, most < 1.0) {
            (true, _) => least,
            (_, true) => most,
            _ => 1.0,
        };
        steps.push(Step {
            from: *from,
            to: *to,
            shared,
        });
    }
    steps
}

/// Whether no step is common to all programs.
pub(super) fn finding(data: &Data) -> Finding {
    let all = steps(data, "noparams robin, same");
    let changes = all.iter().map(|step| step.shared);
    let largest = changes.max_by(|a, b| a.ln().abs().total_cmp(&b.ln().abs()));
    Finding::new(
        "No step in time is common to all programs (our own check of the machine)",
        [largest],
        |[largest]| {
            let beyond = |step: &&Step| !(1.0 / EQUAL..=EQUAL).contains(&step.shared);
            let common: Vec<String> = all
                .iter()
                .filter(beyond)
                .map(|step| {
                    format!(
                        "from {} to {} servants ×{}",
                        count(step.from),
                        count(step.to),
                        three_digits(step.shared)
                    )
                })
                .collect();
            let seen = match common.as_slice() {
                [] => format!(
                    "two-way calls in turn: zorb, zorb dedicated and omniORB have no common step of more than ×{}",
                    three_digits(largest)
                ),
                common => format!(
                    "two-way calls in turn: all programs step together {}; the machine does that, not an ORB",
                    common.join(", ")
                ),
            };
            (seen, Holds::when(common.is_empty()))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    fn rounds(ours: f64, dedicated: f64, theirs: f64) -> Finding {
        let panel = "noparams robin, same";
        finding(&data(&[
            (panel, ZORB, 300.0, None, 10.0),
            (panel, ZORB, 1000.0, None, ours),
            (panel, DEDICATED, 300.0, None, 10.0),
            (panel, DEDICATED, 1000.0, None, dedicated),
            (panel, OMNIORB, 300.0, None, 10.0),
            (panel, OMNIORB, 1000.0, None, theirs),
        ]))
    }

    #[test]
    fn what_all_do_at_once_is_the_machines() {
        let up = rounds(13.0, 14.0, 12.5);
        assert_eq!(up.holds, Holds::No);
        assert!(
            up.seen.contains("from 300 to 1,000 servants ×1.25"),
            "{}",
            up.seen
        );
        assert_eq!(rounds(7.0, 8.0, 6.0).holds, Holds::No);
        // One of them alone is that one's doing.
        assert_eq!(rounds(13.0, 10.1, 20.0).holds, Holds::Yes);
        assert_eq!(rounds(13.0, 8.0, 20.0).holds, Holds::Yes);
        assert_eq!(finding(&data(&[])).holds, Holds::Unknown);
    }
}
