//! The charts of the profiles, and the tables beside them.

use crate::figures::chart::{Axis, Chart, Kind, Panel};
use crate::figures::data::{Data, Point};
use crate::figures::profiles::part::{PARTS, Part};
use crate::figures::profiles::{ENDS, ON_ONE_CPU, instruction_counts, lookups};
use crate::measure::statistics::three_digits;

pub(super) fn charts(data: &Data) -> Vec<Chart> {
    let mut all = vec![
        parts(data, (128, ""), "128", ""),
        parts(data, (64, ""), "64", ""),
        parts(
            data,
            (128, ON_ONE_CPU),
            "same",
            ", both programs on one CPU",
        ),
        found(data),
    ];
    all.retain(|chart| !chart.panels.is_empty());
    all
}

/// Names of floods, in the order of their bars.
fn floods(data: &Data, panel: &str) -> Vec<String> {
    let mut named: Vec<(f64, String)> = Vec::new();
    for point in data.of(panel) {
        let Some(label) = &point.label else { continue };
        if !named.iter().any(|(_, name)| name == label) {
            named.push((point.x, label.clone()));
        }
    }
    named.sort_by(|a, b| a.0.total_cmp(&b.0));
    named.into_iter().map(|(_, name)| name).collect()
}

/// A panel for each end and each type, of buffers of so many K, on one CPU or each on its own.
fn parts(data: &Data, (size, place): (usize, &str), file: &str, title: &str) -> Chart {
    let mut works: Vec<String> = Vec::new();
    for name in floods(data, "parts, client") {
        let work = work(&name).to_owned();
        if work.ends_with(&format!(" {size} K{place}")) && !works.contains(&work) {
            works.push(work);
        }
    }
    let mut panels = Vec::new();
    for work_of_it in works {
        for end in ENDS {
            let of_it = data
                .of(&format!("parts, {end}"))
                .cloned()
                .collect::<Vec<_>>();
            let points = of_it.into_iter().filter_map(|point| {
                let label = point.label.clone()?;
                let sender = label
                    .strip_suffix(&work_of_it)?
                    .trim_end_matches([',', ' ']);
                Some(Point {
                    panel: "parts".to_owned(),
                    label: Some(sender.to_owned()),
                    ..point
                })
            });
            let derived = Data {
                points: points.collect(),
                ..data.clone()
            };
            let who = if end == "client" {
                "transmitter"
            } else {
                "receiver"
            };
            let kind = work_of_it.split(' ').next().unwrap_or_default();
            let title = format!("{kind}, {who}");
            let axes = ("flooded through", Axis::linear("share of the time (%)"));
            let order = PARTS.map(Part::name);
            panels.extend(stacked(&derived, "parts", &title, axes, &order));
        }
    }
    // Without perf, callgrind has counted in its place, and the data lists perf as missing.
    let by_perf = !data.missing.iter().any(|one| one.starts_with("perf"));
    Chart::new(
        format!("profiles-parts-{file}"),
        format!(
            "Where the time of a flood goes (throughput paper, Figure 7), buffers of {size} K{title}"
        ),
        panels,
    )
    .made_by(if by_perf { &["perf"] } else { &["valgrind"] })
}

/// Type and size of a flood's name.
fn work(name: &str) -> &str {
    name.split_once(", ").map_or(name, |(_, work)| work)
}

fn found(data: &Data) -> Chart {
    let axes = (
        "server and way of calling",
        Axis::linear("share of instructions (%)"),
    );
    let title = "500 objects called in turns, one operation of eight";
    // The rest is nine tenths and more, beside which these could not be read.
    let [object, operation, rest] = lookups::PARTS;
    let points = data.of(lookups::PANEL).filter(|point| point.series != rest);
    let found = Data {
        points: points.cloned().collect(),
        ..data.clone()
    };
    let panel = stacked(&found, lookups::PANEL, title, axes, &[object, operation]);
    Chart::new(
        "profiles-lookups",
        "What of a server's instructions is finding object and operation (latency paper, Tables 1 and 2)",
        panel.into_iter().collect(),
    )
    .noting("the rest, up to 100 %, is everything else that the server does")
    .made_by(&["valgrind"])
}

/// Bars of parts on top of each other, from the bottom up in that order.
fn stacked(
    data: &Data,
    name: &str,
    title: &str,
    axes: (&str, Axis),
    order: &[&str],
) -> Option<Panel> {
    let mut panel = Panel::bars(data, name, title, axes, Kind::Stacked)?;
    let place = |name: &str| order.iter().position(|one| *one == name);
    panel.series.sort_by_key(|series| place(&series.name));
    Some(panel.with_parts())
}

fn code(text: &str) -> String {
    // A bar would end the cell.
    format!("`{}`", text.replace('|', "¦"))
}

/// Functions at the top of a flood's end, as a cell: names are shortened to the part that distinguishes them.
fn functions(data: &Data, end: &str, name: &str) -> String {
    let panel = format!("functions, {end}, {name}");
    let mut of_it: Vec<_> = data.of(&panel).collect();
    of_it.sort_by(|a, b| a.x.total_cmp(&b.x));
    let each = of_it.iter().map(|point| {
        let label = point.label.as_deref().unwrap_or_default();
        let (object, function) = label.split_once(": ").unwrap_or(("", label));
        let where_from = if object.starts_with("[kernel") {
            "kernel"
        } else {
            object
        };
        format!("{} % {} ({where_from})", point.text(), code(function))
    });
    each.collect::<Vec<_>>().join("<br>")
}

/// System calls: how many there are for a buffer, their share of the time in all of them, and what is left for those
/// that are not among the most frequent ones.
fn calls(data: &Data, end: &str, name: &str) -> String {
    let panel = format!("calls, {end}, {name}");
    let mut numbers: Vec<_> = data.of(&panel).filter(|p| p.series == "each").collect();
    numbers.sort_by(|a, b| a.x.total_cmp(&b.x));
    let mut rest = 100.0;
    let each = numbers.iter().filter_map(|point| {
        let label = point.label.as_deref()?;
        let share = data.under(&panel, "share", label)?;
        rest -= share;
        let time = match share > 0.0 {
            true => three_digits(share),
            // strace prints hundredths.
            false => "below 0.01".to_owned(),
        };
        Some(format!("{} {}, {time} %", point.text(), code(label)))
    });
    let mut lines: Vec<String> = each.collect();
    if lines.is_empty() {
        return String::new();
    }
    // Medians need not add up to the whole.
    lines.push(format!("*others*, {} %", three_digits(rest.max(0.0))));
    lines.join("<br>")
}

/// The tables of the page.
pub(in crate::figures) fn tables(data: &Data) -> String {
    let mut text = String::new();
    for end in ENDS {
        let who = if end == "client" {
            "Transmitter"
        } else {
            "Receiver"
        };
        let mut lines = vec![
            format!(
                "| {who} | functions, by their share of the time | system calls a buffer, and their share of the time in all of them |"
            ),
            "|---|---|---|".to_owned(),
        ];
        for name in floods(data, &format!("parts, {end}")) {
            let (functions, calls) = (functions(data, end, &name), calls(data, end, &name));
            lines.push(format!("| {name} | {functions} | {calls} |"));
        }
        if lines.len() > 2 {
            text += &format!("{}\n\n", lines.join("\n"));
        }
    }
    text += &instruction_counts::table(data);
    text += &lookups::spread(data).unwrap_or_default();
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn a_table_has_a_line_for_each_flood() {
        let data = data(&[
            (
                "parts, client",
                "kernel",
                0.0,
                Some("raw, octets 64 K"),
                90.0,
            ),
            (
                "functions, client, raw, octets 64 K",
                "share",
                0.0,
                Some("[kernel.kallsyms]: tcp_ack"),
                42.0,
            ),
            (
                "calls, client, raw, octets 64 K",
                "share",
                0.0,
                Some("write"),
                99.0,
            ),
            (
                "calls, client, raw, octets 64 K",
                "each",
                0.0,
                Some("write"),
                1.0,
            ),
        ]);
        let text = tables(&data);
        assert!(
            text.contains(
                "| raw, octets 64 K | 42.0 % `tcp_ack` (kernel) | 1.00 `write`, 99.0 %<br>*others*, 1.00 % |"
            ),
            "{text}"
        );
        let charts = charts(&data);
        assert_eq!(charts.len(), 1);
        assert_eq!(charts[0].panels.len(), 1);
    }
}
