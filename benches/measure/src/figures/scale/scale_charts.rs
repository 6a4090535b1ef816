//! The charts of the experiment.

use crate::figures::chart::{Axis, Chart, Panel};
use crate::figures::contender::{PLACEMENTS, place_title};
use crate::figures::data::Data;
use crate::figures::scale::rate;

/// The setting without which omniORB's callers wait for each other.
const OMNIORB: &str = "omniORB with maxGIOPConnectionPerServer 256 and maxServerThreadPoolSize 257";

/// Panels of rates and of latencies by how many there are of something, one for each placement.
fn pairs(data: &Data, panel: &str, title: &str, x: &Axis) -> Vec<Panel> {
    let ways = [
        (rate(panel), "rate", Axis::log("calls a second")),
        (
            panel.to_owned(),
            "latency",
            Axis::log("time of a call (µs)"),
        ),
    ];
    let mut panels = Vec::new();
    for (name, what, y) in ways {
        for placement in PLACEMENTS {
            let title = format!("{title}{what}: {}", place_title(placement));
            let name = format!("{name}, {placement}");
            panels.extend(Panel::lines(data, &name, &title, x.clone(), y.clone()));
        }
    }
    panels
}

pub(super) fn charts(data: &Data) -> Vec<Chart> {
    let servants = Axis::log("servants in the server");
    let connections = Axis::log("connections to the server");
    let callers = Axis::log2("callers");
    let active = [
        ("connections idle", "all but one idle, "),
        ("connections active", "all in use, "),
    ];
    // Data of before points knew their rounds is of an omniORB without options.
    let mut callers_of = data.of("callers rate, split");
    let has_options = callers_of.any(|point| point.rounds > 0);
    let charts = [
        (
            "servants",
            "Two-way calls to any of very many servants (beyond the papers)",
            pairs(data, "servants", "", &servants),
        ),
        (
            "connections",
            "Two-way calls beside very many connections (beyond the papers)",
            active
                .map(|(panel, title)| pairs(data, panel, title, &connections))
                .concat(),
        ),
        (
            "callers",
            "Two-way calls of many callers together (beyond the papers)",
            pairs(data, "callers latency", "", &callers),
        ),
    ];
    let chart = |(file, title, panels): (&str, &str, Vec<Panel>)| {
        let chart = Chart::new(format!("scale-{file}"), title, panels);
        let chart = match file {
            "callers" if has_options => chart.noting(OMNIORB),
            _ => chart,
        };
        (!chart.panels.is_empty()).then_some(chart)
    };
    charts.into_iter().filter_map(chart).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;
    use crate::figures::latency::latency_programs::ZORB;

    #[test]
    fn a_picture_has_latencies_and_rates_in_both_placements() {
        let point = |panel| (panel, ZORB, 1.0, None, 10.0);
        let data = data(&[
            point("connections idle, same"),
            point("connections idle rate, same"),
            point("connections idle, split"),
            point("connections idle rate, split"),
            point("callers rate, split"),
        ]);
        let charts = charts(&data);
        let files: Vec<_> = charts
            .iter()
            .map(|c| (c.file.as_str(), c.panels.len()))
            .collect();
        assert_eq!(files, [("scale-connections", 4), ("scale-callers", 1)]);
    }
}
