//! The steps with their spread, which a picture of bars on top of each other has no room for.

use crate::figures::contender::{PLACEMENTS, place_title};
use crate::figures::data::Data;
use crate::figures::white_box::steps::{CLIENT, SERVER};
use crate::figures::white_box::{TOGETHER, together};

/// The operation, as named in the data, and in the head of a column.
pub(super) const ARGUMENTS: [(&str, &str); 3] = [
    ("none", "no argument"),
    ("2048 octets", "2,048 octets"),
    ("1024 structs", "1,024 structs"),
];

/// The text of the page below the pictures: a table for each end, of the calls over TCP.
pub(in crate::figures) fn tables(data: &Data) -> String {
    let ends = [("client", &CLIENT[..]), ("server", &SERVER[..])];
    let tables = ends.map(|(end, steps)| table(data, end, steps));
    tables.concat()
}

fn table(data: &Data, end: &str, steps: &[(&str, &str)]) -> String {
    let mut heads = vec![format!("{end}: median (quartiles), ns")];
    let mut columns = Vec::new();
    for placement in PLACEMENTS {
        for (label, name) in ARGUMENTS {
            columns.push((placement, label));
            heads.push(format!("{name}, {}", place_title(placement)));
        }
    }
    let line = |panel: &str, series: &str, name: &str| -> Option<String> {
        let cell = |(placement, label): &(_, &str)| {
            let panel = format!("{panel}, TCP, {placement}");
            let point = data.point_under(&panel, series, label);
            // Kept in microseconds.
            point.map(|point| point.text_times(1_000.0))
        };
        let cells: Vec<_> = columns.iter().map(cell).collect();
        if cells.iter().all(Option::is_none) {
            return None;
        }
        let cells = cells
            .into_iter()
            .map(|cell| cell.unwrap_or_else(|| "–".to_owned()));
        Some(format!(
            "| {name} | {} |",
            cells.collect::<Vec<_>>().join(" | ")
        ))
    };
    let mut lines: Vec<String> = steps
        .iter()
        .filter_map(|(_, series)| line(end, series, series))
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    let all = "the ORB's own work: without reads, waits and the write";
    lines.extend(line(&together(&format!("{end} itself")), TOGETHER, all));
    let rule = "|---".repeat(heads.len());
    format!(
        "| {} |\n{rule}|\n{}\n\n",
        heads.join(" | "),
        lines.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn a_step_has_a_line_with_its_median_and_its_quartiles() {
        let mut data = data(&[
            ("client, TCP, split", "C3 marshal", 0.0, Some("none"), 0.025),
            (
                "client itself together, TCP, split",
                TOGETHER,
                0.0,
                Some("none"),
                0.5,
            ),
        ]);
        data.points[0].low = 0.024;
        let text = tables(&data);
        assert!(
            text.contains("| C3 marshal | – | – | – | 25.0 (24.0–25.0) | – | – |"),
            "{text}"
        );
        assert!(
            text.contains("and the write | – | – | – | 500 | – | – |"),
            "{text}"
        );
        // Nothing is known of the server.
        assert!(!text.contains("server"), "{text}");
    }
}
