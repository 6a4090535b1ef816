//! What is drawn of it.

use crate::figures::chart::{Axis, Chart, Kind, Panel, Series};
use crate::figures::contender::{PLACEMENTS, place_title};
use crate::figures::data::Data;
use crate::figures::white_box::steps::SUM;
use crate::figures::white_box::{TRANSPORTS, together};
use crate::measure::place::Placement;

pub(super) fn charts(data: &Data) -> Vec<Chart> {
    let panel = |of: &str, transport: &str, placement: Placement| {
        let name = format!("{of}, {transport}, {placement}");
        let title = format!("{transport}, {}", place_title(placement));
        let axes = ("argument", Axis::linear("time (µs)"));
        let panel = Panel::bars(data, &name, &title, axes, Kind::Stacked)?;
        let whole = format!("{}, {transport}, {placement}", together(of));
        let points: Vec<_> = data
            .of(&whole)
            .filter_map(|point| Some((point.label.clone()?, point)))
            .collect();
        Some(panel.with_whole(&points))
    };
    let chart = |file: &str, title: &str, panels: Vec<Panel>| Chart {
        file: format!("white-box-{file}"),
        title: title.to_owned(),
        panels,
    };
    let both = |of: &str, transport: &str| -> Vec<Panel> {
        let of_it = |placement| panel(of, transport, placement);
        PLACEMENTS.into_iter().filter_map(of_it).collect()
    };
    let found = |placement| {
        let name = format!("found, TCP, {placement}");
        let axes = ("step", Axis::linear("time (ns)"));
        let mut panel = Panel::bars(data, &name, place_title(placement), axes, Kind::Bars)?;
        let shown = ["none", "2048 octets", "1024 structs"];
        let place = |one: &Series| shown.iter().position(|name| *name == one.name);
        panel.series.retain(|one| place(one).is_some());
        panel.series.sort_by_key(place);
        Some(panel)
    };
    let layers = TRANSPORTS.map(|(transport, _)| both("layers", transport));
    let sums = TRANSPORTS.map(|(transport, _)| both("sum", transport));
    let mut sums = sums.concat();
    for panel in &mut sums {
        let place = |name: &str| SUM.iter().position(|one| *one == name);
        panel.series.sort_by_key(|series| place(&series.name));
    }
    let mut all = vec![
        chart(
            "layers",
            "System calls that write, transport, messaging and the rest, of both ends (Figures 7 and 8)",
            layers.concat(),
        ),
        chart(
            "client",
            "Where the client's time goes, without its wait and the system call that writes (Table 1)",
            both("client itself", "TCP"),
        ),
        chart(
            "server",
            "Where the server's time goes, without the system call that writes (Table 2)",
            both("server itself", "TCP"),
        ),
        chart(
            "found",
            "How the server finds whose upcall it is, by the argument of the call (Table 2; dissertation, Table 3.1)",
            PLACEMENTS.into_iter().filter_map(found).collect(),
        ),
        chart(
            "sum",
            "What a call is made of, seen from the client, and what of it is in no step",
            sums,
        ),
    ];
    all.retain(|chart| !chart.panels.is_empty());
    all
}
