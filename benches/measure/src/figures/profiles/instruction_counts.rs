//! Counts of a buffer and of a call, as a table.

use crate::figures::data::Data;
use crate::figures::latency::latency_programs::{OMNIORB, RAW, ZORB};
use crate::figures::profiles::{ENDS, copies, functions, one_way};

/// The text of the page below the tables of functions: a line for each thing that was counted.
pub(super) fn table(data: &Data) -> String {
    let who = [ZORB, OMNIORB, RAW];
    let mut lines = Vec::new();
    for (panel, what) in panels() {
        let mut labels: Vec<(f64, &str)> = Vec::new();
        for point in data.of(&panel) {
            let Some(label) = point.label.as_deref() else {
                continue;
            };
            if !labels.iter().any(|(_, known)| *known == label) {
                labels.push((point.x, label));
            }
        }
        labels.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (_, label) in labels {
            let cell = |series| match data.point_under(&panel, series, label) {
                Some(point) => point.text(),
                None => "–".to_owned(),
            };
            lines.push(format!(
                "| {what}: {label} | {} |",
                who.map(cell).join(" | ")
            ));
        }
    }
    for end in ENDS {
        let panel = one_way::panel(end);
        for part in one_way::names() {
            let shares = [ZORB, OMNIORB].map(|who| data.point_under(&panel, part, who));
            if shares.iter().all(Option::is_none) {
                continue;
            }
            let [zorb, omni] = shares.map(|point| match point {
                Some(point) => format!("{} %", point.text()),
                None => "–".to_owned(),
            });
            lines.push(format!(
                "| one-way calls to 500 objects, {end}: {part} | {zorb} | {omni} | – |"
            ));
        }
    }
    match lines.is_empty() {
        true => String::new(),
        false => format!(
            "| counted or sampled | {} |\n|---|---|---|---|\n{}\n\n",
            who.join(" | "),
            lines.join("\n")
        ),
    }
}

/// Panels, and what their values are.
fn panels() -> Vec<(String, String)> {
    let mut all = vec![
        (
            copies::BLOCKS.to_owned(),
            "blocks allocated for a buffer of 8 K, receiver".to_owned(),
        ),
        (
            copies::ALLOCATED.to_owned(),
            "octets allocated for each in a buffer of 8 K, receiver".to_owned(),
        ),
    ];
    all.extend(ENDS.map(|end| (copies::copied(end), format!("copies of each octet, {end}"))));
    all.extend(ENDS.map(|end| {
        (
            functions::panel(end),
            format!("calls of functions for a two-way call, {end}"),
        )
    }));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn everything_that_was_counted_has_a_line() {
        let data = data(&[
            ("copies, client", "zorb", 8192.0, Some("octets 8 K"), 1.03),
            ("copies, client", "omniORB", 8192.0, Some("octets 8 K"), 1.0),
            (
                "calls of functions, server",
                "raw",
                0.0,
                Some("no argument"),
                3.0,
            ),
            ("one-way, server", "reading", 0.0, Some("zorb"), 25.0),
        ]);
        let text = table(&data);
        for line in [
            "| counted or sampled | zorb | omniORB | raw |",
            "| copies of each octet, client: octets 8 K | 1.03 | 1.00 | – |",
            "| calls of functions for a two-way call, server: no argument | – | – | 3.00 |",
            "| one-way calls to 500 objects, server: reading | 25.0 % | – | – |",
        ] {
            assert!(text.contains(line), "no {line} in {text}");
        }
        assert_eq!(table(&crate::figures::data::tests::data(&[])), "");
    }
}
