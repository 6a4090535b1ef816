//! The pictures of the latency paper's figures.

use crate::figures::chart::{Axis, Chart, Kind, Panel};
use crate::figures::contender::{PLACEMENTS, place_title};
use crate::figures::data::Data;
use crate::figures::latency::{FEW, MANY};
use crate::measure::place::Placement;

const TIME: &str = "time of a call (µs)";
/// The note on programs without servants.
const RAW: &str = "raw sockets have no servants: their one measurement is the sign at the left, with its quartiles";

/// A panel for each placement.
fn pair(data: &Data, panel: &str, title: &str, x: &Axis) -> Vec<Panel> {
    let one = |placement: Placement| {
        let title = match title {
            "" => place_title(placement).to_owned(),
            title => format!("{title}: {}", place_title(placement)),
        };
        let name = format!("{panel}, {placement}");
        Panel::lines(data, &name, &title, x.clone(), Axis::log(TIME))
    };
    PLACEMENTS.into_iter().filter_map(one).collect()
}

fn chart(file: &str, title: &str, panels: Vec<Panel>) -> Option<Chart> {
    (!panels.is_empty()).then(|| Chart::new(format!("latency-{file}"), title, panels))
}

fn servants(data: &Data, way: &str) -> Vec<Panel> {
    let x = Axis::log("servants in the server");
    let orders = [
        ("train", "request train"),
        ("robin", "round robin"),
        ("random", "random"),
        ("worst", "the last one"),
    ];
    let panels = orders
        .into_iter()
        .flat_map(|(order, title)| pair(data, &format!("{way}noparams {order}"), title, &x));
    panels.collect()
}

fn units(data: &Data, way_and_type: &str) -> Vec<Panel> {
    let x = Axis::log2("units in the sequence");
    [(FEW, "1 servant"), (MANY, "500 servants")]
        .into_iter()
        .flat_map(|(count, title)| pair(data, &format!("{way_and_type} {count}"), title, &x))
        .collect()
}

fn types(data: &Data, way: &str) -> Vec<Panel> {
    let x = Axis::log2("units in the sequence");
    ["short", "char", "long", "double"]
        .into_iter()
        .flat_map(|of| pair(data, &format!("{way}{of} {FEW}"), of, &x))
        .collect()
}

fn operations(data: &Data) -> Vec<Panel> {
    let x = Axis::log("operations in the interface");
    [("random", "random"), ("worst", "worst case")]
        .into_iter()
        .flat_map(|(order, title)| pair(data, &format!("operations {order}"), title, &x))
        .collect()
}

/// The paper's last two orders with what they are about: operations as well as servants.
fn hundred(data: &Data) -> Vec<Panel> {
    let x = Axis::log("servants in the server");
    [
        ("random", "any operation of any servant"),
        ("worst", "the last of the last"),
    ]
    .into_iter()
    .flat_map(|(order, title)| pair(data, &format!("hundred {order}"), title, &x))
    .collect()
}

pub(super) fn all(data: &Data) -> Vec<Chart> {
    let axes = ("where the two programs are", Axis::linear(TIME));
    let sockets = Panel::bars(data, "sockets", "", axes, Kind::Bars);
    let charts = [
        chart(
            "servants-two-way",
            "Two-way calls without parameters, by the number of servants (Figures 6 to 9)",
            servants(data, ""),
        )
        .map(|chart| chart.noting(RAW)),
        chart(
            "servants-one-way",
            "One-way calls without parameters, by the number of servants (Figures 6 to 9)",
            servants(data, "oneway_"),
        )
        .map(|chart| chart.noting(RAW)),
        chart(
            "sockets",
            "A two-way call without parameters, beside raw sockets (Figure 10)",
            sockets.into_iter().collect(),
        ),
        chart(
            "octets-one-way",
            "One-way calls with octets (Figures 11 and 12)",
            units(data, "oneway_octet"),
        ),
        chart(
            "structs-one-way",
            "One-way calls with structs (Figures 15 and 16)",
            units(data, "oneway_struct"),
        ),
        chart(
            "octets-two-way",
            "Two-way calls with octets (Figures 19 and 20)",
            units(data, "octet"),
        ),
        chart(
            "structs-two-way",
            "Two-way calls with structs (Figures 23 and 24)",
            units(data, "struct"),
        ),
        chart(
            "types-two-way",
            "Two-way calls with the other types (Section 3.2)",
            types(data, ""),
        ),
        chart(
            "types-one-way",
            "One-way calls with the other types (Section 3.2)",
            types(data, "oneway_"),
        ),
        chart(
            "worst",
            "Two-way calls to servants with 100 operations, random and worst case (Sections 3.7.3 and 3.7.4; Figures 31 and 32)",
            hundred(data),
        ),
        chart(
            "operations",
            "Two-way calls to one of many operations of one of 500 servants (Section 3.7)",
            operations(data),
        ),
    ];
    charts.into_iter().flatten().collect()
}
