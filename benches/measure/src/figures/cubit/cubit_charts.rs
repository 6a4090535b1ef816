//! The charts of the experiment.

use crate::figures::chart::{Axis, Chart, Kind, Panel, TAKEN_AWAY};
use crate::figures::contender::{PLACEMENTS, place_title};
use crate::figures::cubit::protocol::{Orb, newest_series};
use crate::figures::cubit::{calls, guest, lengths, times};
use crate::figures::data::{Data, Point};
use crate::measure::place::Placement;

const ORBS: [Orb; 2] = [Orb::Zorb, Orb::Omni];

pub(super) fn charts(data: &Data) -> Vec<Chart> {
    let mut all = vec![
        bars(data),
        increase(data),
        overhead(data),
        by_length(data),
        guest::bars(data),
        guest::overhead(data),
    ];
    all.retain(|chart| !chart.panels.is_empty());
    all
}

/// Figure 5's bars.
fn bars(data: &Data) -> Chart {
    let mut panels = Vec::new();
    for orb in ORBS {
        for placement in PLACEMENTS {
            let title = format!("{}, {}", orb.name(), place_title(placement));
            let axes = (
                "what is cubed (sequences with their octets)",
                Axis::linear("calls/s"),
            );
            panels.extend(Panel::bars(
                data,
                &calls(orb, placement),
                &title,
                axes,
                Kind::Bars,
            ));
        }
    }
    Chart::new(
        "cubit-calls",
        "IDL Cubit: calls a second over every protocol (Figure 5)",
        panels,
    )
    .in_a_column()
}

/// How many more calls there are over UNIX sockets, in per cent, by operation: of an ORB's newest messages, or of the
/// floor. It is of the median times of a call, as a rate is of the mean, which a few slow calls move.
pub(super) fn increases(data: &Data, orb: Orb, placement: Placement) -> Vec<Point> {
    let panel = times(orb, placement);
    let newest = |transport: &str| newest_series(data.of(&panel), transport);
    let (Some(tcp), Some(unix)) = (newest("TCP"), newest("UNIX")) else {
        return Vec::new();
    };
    let one = |point: &Point| {
        let label = point.label.as_deref()?;
        let times = data.measured_under(&panel, &tcp, label)?.over(point.into());
        let more = times.map(|times| 100.0 * (times - 1.0));
        Some(Point {
            panel: format!("increase, {placement}"),
            series: orb.name().to_owned(),
            value: more.median,
            low: more.least,
            high: more.most,
            each: Vec::new(),
            p99: None,
            unit: "%".to_owned(),
            ..point.clone()
        })
    };
    let fast = data.of(&panel).filter(|point| point.series == unix);
    fast.filter_map(one).collect()
}

/// Figure 5's line.
fn increase(data: &Data) -> Chart {
    let mut panels = Vec::new();
    for placement in PLACEMENTS {
        let points = [Orb::Zorb, Orb::Omni, Orb::Raw].map(|orb| increases(data, orb, placement));
        let derived = Data {
            points: points.concat(),
            ..data.clone()
        };
        let title = place_title(placement);
        let axes = (
            "what is cubed (sequences with their octets)",
            Axis::linear("increase (%)"),
        );
        let name = format!("increase, {placement}");
        panels.extend(Panel::bars(&derived, &name, title, axes, Kind::Bars));
    }
    Chart::new(
        "cubit-increase",
        "IDL Cubit: how many more calls over UNIX sockets than over TCP, by the median time of a call (Figure 5)",
        panels,
    )
}

/// The parts of a call, as Figures 7 and 8 stack them; the last is what a call takes less than the floor does.
const PARTS: [&str; 3] = ["sockets and kernel (the floor)", "ORB", TAKEN_AWAY];

/// The explanation of a part below zero, where there is one.
const FASTER: &str = "where a call takes less than the floor, which are measured apart, what it takes less is marked off from \
                      the floor; no ORB is faster than its sockets: it is the spread, or a wait that ends sooner";

/// The floor for these octets over that transport: omniORB's sleeps as omniORB does, and ours is the faster of the two,
/// since zorb spins for a moment and then sleeps.
pub(super) fn floor<'a>(
    data: &'a Data,
    (orb, panel): (Orb, fn(Orb, Placement) -> String),
    (placement, transport, label): (Placement, &str, &str),
) -> Option<&'a Point> {
    let ways: &[Orb] = match orb {
        Orb::Omni => &[Orb::Raw],
        _ => &[Orb::Raw, Orb::Spinning],
    };
    let named = |way: Orb| {
        let panel = panel(way, placement);
        data.points.iter().find(|point| {
            let here = point.panel == panel && point.series == transport;
            here && point.label.as_deref() == Some(label)
        })
    };
    let each = ways.iter().filter_map(|&way| named(way));
    each.min_by(|a, b| a.value.total_cmp(&b.value))
}

/// The two parts of a call, the second from the floor to what the call took, up or down.
fn parts(call: &Point, floor: &Point, (panel, x, label): (&str, f64, &str)) -> [Point; 2] {
    let more = call.value - floor.value;
    let above = if more < 0.0 { PARTS[2] } else { PARTS[1] };
    [(PARTS[0], floor.value), (above, more)].map(|(series, value)| Point {
        panel: panel.to_owned(),
        series: series.to_owned(),
        x,
        label: Some(label.to_owned()),
        p99: None,
        value,
        low: value,
        high: value,
        ..call.clone()
    })
}

fn transport(series: &str) -> &str {
    series.rsplit(' ').next().unwrap_or_default()
}

/// A call and its floor, and where it is drawn.
pub(super) struct Call<'a> {
    pub(super) x: f64,
    pub(super) label: String,
    pub(super) call: &'a Point,
    pub(super) floor: &'a Point,
}

/// Stacks calls on their floors, both with their spread.
pub(super) fn stacked(
    data: &Data,
    calls: &[Call<'_>],
    title: &str,
    axes: (&str, Axis),
) -> Option<Panel> {
    let name = "calls";
    let each = calls.iter().flat_map(|of| {
        let place = (name, of.x, of.label.as_str());
        parts(of.call, of.floor, place)
    });
    let derived = Data {
        points: each.collect(),
        ..data.clone()
    };
    let mut panel = Panel::bars(&derived, name, title, axes, Kind::Stacked)?;
    let place = |name: &str| PARTS.iter().position(|one| *one == name);
    panel.series.sort_by_key(|series| place(&series.name));
    let floors: Vec<_> = calls
        .iter()
        .map(|of| (of.label.clone(), of.floor))
        .collect();
    let wholes: Vec<_> = calls.iter().map(|of| (of.label.clone(), of.call)).collect();
    Some(panel.with_ends(&floors, &wholes))
}

/// The picture of stacks of calls, with what has to be said of them.
pub(super) fn chart(file: &str, title: &str, panels: Vec<Panel>) -> Chart {
    let chart = Chart::new(file, title, panels);
    let mut series = chart.panels.iter().flat_map(|panel| &panel.series);
    if series.any(|series| series.name == PARTS[2]) {
        return chart.noting(FASTER);
    }
    chart
}

/// Figure 7: a call of `cube_void` over every protocol.
fn overhead(data: &Data) -> Chart {
    let mut panels = Vec::new();
    for orb in ORBS {
        for placement in PLACEMENTS {
            let name = times(orb, placement);
            let voids = data
                .of(&name)
                .filter(|point| point.label.as_deref() == Some("void"));
            let calls = voids.enumerate().filter_map(|(at, call)| {
                let over = transport(&call.series);
                Some(Call {
                    x: at as f64,
                    label: call.series.replace("GIOP ", "").replace(" over ", " "),
                    call,
                    floor: floor(data, (orb, times), (placement, over, "void"))?,
                })
            });
            let title = format!("{}, {}", orb.name(), place_title(placement));
            let axes = (
                "version of GIOP and transport",
                Axis::linear("time of a call (µs)"),
            );
            let calls: Vec<Call<'_>> = calls.collect();
            panels.extend(stacked(data, &calls, &title, axes));
        }
    }
    chart(
        "cubit-overhead",
        "IDL Cubit: what of a call without parameters is the ORB's (Figure 7)",
        panels,
    )
}

/// Figure 8: the same by the length of a sequence of octets.
fn by_length(data: &Data) -> Chart {
    let mut panels = Vec::new();
    for orb in ORBS {
        for over in ["TCP", "UNIX"] {
            let name = lengths(orb, Placement::Split);
            let of_it = data
                .of(&name)
                .filter(|point| transport(&point.series) == over);
            let calls = of_it.filter_map(|call| {
                let label = call.label.clone()?;
                let at = (Placement::Split, over, label.as_str());
                let floor = floor(data, (orb, lengths), at)?;
                Some(Call {
                    x: call.x,
                    label,
                    call,
                    floor,
                })
            });
            let title = format!("{} over {over}", orb.name());
            // An axis of each ORB's own: what of a call is its own would not be seen on that of the slower one.
            let up = format!("time of a call of {} (µs)", orb.name());
            let axes = ("octets of the sequence", Axis::linear(&up));
            let calls: Vec<Call<'_>> = calls.collect();
            panels.extend(stacked(data, &calls, &title, axes));
        }
    }
    chart(
        "cubit-lengths",
        "IDL Cubit: what of a call is the ORB's, by the length of its argument and result (Figure 8); a CPU for each program",
        panels,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn the_orbs_part_is_what_a_call_takes_more_than_the_floor_or_less() {
        let data = data(&[
            ("p", "GIOP 1.2 over TCP", 0.0, Some("void"), 10.0),
            ("p", "TCP", 0.0, Some("void"), 7.0),
            ("p", "TCP", 0.0, Some("void"), 12.0),
        ]);
        let of = |floor: usize| {
            let all = parts(&data.points[0], &data.points[floor], ("void", 0.0, "a"));
            all.map(|part| (part.series, part.value))
        };
        assert_eq!(of(1)[1], (PARTS[1].to_owned(), 3.0));
        assert_eq!(of(2)[0].1, 12.0);
        assert_eq!(of(2)[1], (PARTS[2].to_owned(), -2.0));
    }

    #[test]
    fn a_picture_of_a_call_that_is_faster_than_its_floor_says_why() {
        let (calls, raw) = (
            times(Orb::Zorb, Placement::Same),
            times(Orb::Raw, Placement::Same),
        );
        let of = |floor| {
            overhead(&data(&[
                (&calls, "GIOP 1.2 over TCP", 0.0, Some("void"), 10.0),
                (&raw, "TCP", 0.0, Some("void"), floor),
            ]))
        };
        let names = |chart: &Chart| chart.panels[0].series.len();
        let (more, less) = (of(7.0), of(12.0));
        assert_eq!((names(&more), names(&less)), (2, 2));
        assert!(!more.notes().contains(&FASTER.to_owned()));
        assert!(less.notes().contains(&FASTER.to_owned()));
    }

    #[test]
    fn increases_are_of_the_newest_messages() {
        let panel = times(Orb::Zorb, Placement::Same);
        let mut data = data(&[
            (&panel, "GIOP 1.0 over TCP", 0.0, Some("void"), 1.0),
            (&panel, "GIOP 1.2 over TCP", 0.0, Some("void"), 13.0),
            (&panel, "GIOP 1.2 over UNIX", 0.0, Some("void"), 10.0),
        ]);
        // A round in which a call took longer is one of less increase.
        (data.points[2].low, data.points[2].high) = (6.5, 13.0);
        let all = increases(&data, Orb::Zorb, Placement::Same);
        assert_eq!(all.len(), 1);
        let Point {
            low, value, high, ..
        } = all[0];
        assert!((value - 30.0).abs() < 1e-9, "{value}");
        assert!(
            low.abs() < 1e-9 && (high - 100.0).abs() < 1e-9,
            "{low} {high}"
        );
    }
}
