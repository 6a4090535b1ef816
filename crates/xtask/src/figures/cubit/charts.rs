//! What is drawn of it.

use crate::figures::chart::{Axis, Chart, Kind, Panel};
use crate::figures::contender::{PLACEMENTS, place_title};
use crate::figures::cubit::protocol::Orb;
use crate::figures::cubit::{calls, lengths, times};
use crate::figures::data::{Data, Point};
use crate::measure::place::Placement;

const ORBS: [Orb; 2] = [Orb::Zorb, Orb::Omni];

pub(super) fn charts(data: &Data) -> Vec<Chart> {
    let mut all = vec![bars(data), increase(data), overhead(data), by_length(data)];
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
    Chart {
        file: "cubit-calls".to_owned(),
        title: "IDL Cubit: calls a second over every protocol (Figure 5)".to_owned(),
        panels,
    }
}

/// How many more calls there are over UNIX sockets, in per cent, by operation: of an ORB's newest messages, or of the
/// floor. It is of the median times of a call, as a rate is of the mean, which a few slow calls move.
pub(super) fn increases(data: &Data, orb: Orb, placement: Placement) -> Vec<Point> {
    let panel = times(orb, placement);
    let newest = |transport: &str| {
        let ends = |point: &&Point| point.series.ends_with(transport);
        let of_it = data.of(&panel).filter(ends);
        of_it.map(|point| point.series.clone()).max()
    };
    let (Some(tcp), Some(unix)) = (newest("TCP"), newest("UNIX")) else {
        return Vec::new();
    };
    let one = |point: &Point| {
        let label = point.label.as_deref()?;
        let slow = data.under(&panel, &tcp, label)?;
        let more = |time: f64| 100.0 * (slow / time - 1.0);
        Some(Point {
            panel: format!("increase, {placement}"),
            series: orb.name().to_owned(),
            value: more(point.value),
            low: more(point.high),
            high: more(point.low),
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
    Chart {
        file: "cubit-increase".to_owned(),
        title: "IDL Cubit: how many more calls over UNIX sockets than over TCP, by the median time of a call (Figure 5)".to_owned(),
        panels,
    }
}

/// The parts of a call, as Figures 7 and 8 stack them.
pub(super) const PARTS: [&str; 2] = ["sockets and kernel (the floor)", "ORB"];

/// The floor for these octets over that transport: omniORB's sleeps as omniORB does, and ours is the faster of the two,
/// since zorb spins for a moment and then sleeps.
pub(super) fn floor(
    data: &Data,
    (orb, panel): (Orb, fn(Orb, Placement) -> String),
    (placement, transport, label): (Placement, &str, &str),
) -> Option<f64> {
    let ways: &[Orb] = match orb {
        Orb::Omni => &[Orb::Raw],
        _ => &[Orb::Raw, Orb::Spinning],
    };
    let each = ways
        .iter()
        .map(|&way| data.under(&panel(way, placement), transport, label));
    each.flatten().reduce(f64::min)
}

/// The two parts of a call that took so long, below each other.
fn parts(point: &Point, floor: f64, (panel, x, label): (&str, f64, &str)) -> [Point; 2] {
    // What the ORB waits better than the floor is no part of anything.
    let values = [floor.min(point.value), (point.value - floor).max(0.0)];
    let mut all = PARTS.map(|series| Point {
        panel: panel.to_owned(),
        series: series.to_owned(),
        x,
        label: Some(label.to_owned()),
        p99: None,
        ..point.clone()
    });
    for (part, value) in all.iter_mut().zip(values) {
        (part.value, part.low, part.high) = (value, value, value);
    }
    all
}

fn transport(series: &str) -> &str {
    series.rsplit(' ').next().unwrap_or_default()
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
            let (mut points, mut wholes) = (Vec::new(), Vec::new());
            for (at, point) in voids.enumerate() {
                let over = transport(&point.series);
                let Some(floor) = floor(data, (orb, times), (placement, over, "void")) else {
                    continue;
                };
                let label = point.series.replace("GIOP ", "").replace(" over ", " ");
                points.extend(parts(point, floor, ("void", at as f64, &label)));
                wholes.push((label, point));
            }
            let derived = Data {
                points,
                ..data.clone()
            };
            let title = format!("{}, {}", orb.name(), place_title(placement));
            let axes = (
                "version of GIOP and transport",
                Axis::linear("time of a call (µs)"),
            );
            let panel = Panel::bars(&derived, "void", &title, axes, Kind::Stacked);
            panels.extend(panel.map(|panel| panel.with_whole(&wholes)));
        }
    }
    Chart {
        file: "cubit-overhead".to_owned(),
        title: "IDL Cubit: what of a call without parameters is the ORB's (Figure 7)".to_owned(),
        panels,
    }
}

/// Figure 8: the same by the length of a sequence of octets.
fn by_length(data: &Data) -> Chart {
    let mut panels = Vec::new();
    for orb in ORBS {
        for over in ["TCP", "UNIX"] {
            let name = lengths(orb, Placement::Split);
            let (mut points, mut wholes) = (Vec::new(), Vec::new());
            for point in data
                .of(&name)
                .filter(|point| transport(&point.series) == over)
            {
                let label = point.label.clone().unwrap_or_default();
                let at = (Placement::Split, over, label.as_str());
                let Some(floor) = floor(data, (orb, lengths), at) else {
                    continue;
                };
                points.extend(parts(point, floor, ("length", point.x, &label)));
                wholes.push((label, point));
            }
            let derived = Data {
                points,
                ..data.clone()
            };
            let title = format!("{} over {over}", orb.name());
            // An axis of each ORB's own: what of a call is its own would not be seen on that of the slower one.
            let up = format!("time of a call of {} (µs)", orb.name());
            let axes = ("octets of the sequence", Axis::linear(&up));
            let panel = Panel::bars(&derived, "length", &title, axes, Kind::Stacked);
            panels.extend(panel.map(|panel| panel.with_whole(&wholes)));
        }
    }
    Chart {
        file: "cubit-lengths".to_owned(),
        title: "IDL Cubit: what of a call is the ORB's, by the length of its argument and result (Figure 8); a CPU for each program"
            .to_owned(),
        panels,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn the_orbs_part_is_what_is_left_of_a_call_and_never_less_than_nothing() {
        let data = data(&[("p", "GIOP 1.2 over TCP", 0.0, Some("void"), 10.0)]);
        let [floor, orb] = parts(&data.points[0], 7.0, ("void", 0.0, "a"));
        assert_eq!((floor.value, orb.value), (7.0, 3.0));
        let [floor, orb] = parts(&data.points[0], 12.0, ("void", 0.0, "a"));
        assert_eq!((floor.value, orb.value), (10.0, 0.0));
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
