//! The charts of the experiment.

use crate::figures::chart::{Axis, Chart, Kind as Shape, Panel, Series};
use crate::figures::contender::{PLACEMENTS, place_title};
use crate::figures::data::{Data, Point};
use crate::figures::throughput::flood::{Kind, Queue, Road, Sender, panel};
use crate::figures::throughput::links::{SPEEDS, Speed};
use crate::measure::place::Placement;

fn axes() -> (Axis, Axis) {
    (
        Axis::log2("octets of a buffer"),
        Axis::log("throughput (Mbit/s)"),
    )
}

/// Where lines begin: a buffer of one octet is so far from the others that nothing would be seen of those.
const LINES: f64 = 1024.0;
const OF_ONE: &str = "buffers of one octet have a picture of their own";

pub(super) fn charts(data: &Data) -> Vec<Chart> {
    let long = data.points.iter().filter(|point| point.x >= LINES);
    let lines = Data {
        points: long.cloned().collect(),
        ..data.clone()
    };
    let mut all = vec![roads(&lines, Road::Tcp), roads(&lines, Road::Unix)];
    all.extend([smallest(data), queues(&lines), types(&lines)]);
    all.extend(SPEEDS.map(|speed| link(&lines, speed)));
    all.retain(|chart| !chart.panels.is_empty());
    all
}

/// Buffers of one octet.
fn smallest(data: &Data) -> Chart {
    let mut panels = Vec::new();
    for placement in PLACEMENTS {
        let mut points = Vec::new();
        for (at, road) in [Road::Tcp, Road::Unix].into_iter().enumerate() {
            let name = panel(Kind::Octets, road.name(), Queue::Default, placement);
            let ones = data.of(&name).filter(|point| point.x < LINES);
            points.extend(ones.map(|point| Point {
                panel: "one".to_owned(),
                x: at as f64,
                label: Some(road.name().to_owned()),
                ..point.clone()
            }));
        }
        let derived = Data {
            points,
            ..data.clone()
        };
        let axes = ("transport", Axis::linear("throughput (Mbit/s)"));
        let title = place_title(placement);
        panels.extend(Panel::bars(&derived, "one", title, axes, Shape::Bars));
    }
    Chart::new(
        "throughput-octet",
        "Floods of buffers of one octet, default queues (beyond Figure 2)",
        panels,
    )
}

/// Every type over a road; what sends without an ORB sends octets only, and is beside all of them.
fn roads(data: &Data, road: Road) -> Chart {
    let mut panels = Vec::new();
    for kind in Kind::ALL {
        for placement in PLACEMENTS {
            let named = |kind| panel(kind, road.name(), Queue::Default, placement);
            let title = format!("{}, {}", kind.name(), place_title(placement));
            let (x, y) = axes();
            let Some(mut one) = Panel::lines(data, &named(kind), &title, x, y) else {
                continue;
            };
            if kind != Kind::Octets {
                let (x, y) = axes();
                let octets = Panel::lines(data, &named(Kind::Octets), "", x, y);
                let bare = |series: &Series| {
                    [Sender::Raw, Sender::Transport]
                        .iter()
                        .any(|s| s.name() == series.name)
                };
                let series = octets.map(|panel| panel.series).unwrap_or_default();
                one.series.extend(series.into_iter().filter(bare));
            }
            panels.push(one);
        }
    }
    let (ending, what) = match road {
        Road::Tcp => ("tcp", "TCP on the loopback"),
        Road::Unix => ("unix", "UNIX sockets"),
    };
    Chart::new(
        format!("throughput-{ending}"),
        format!("Floods over {what}, default queues (Figure 2)"),
        panels,
    )
    .noting("what sends without an ORB sends octets, which stand beside every type")
    .noting(OF_ONE)
}

/// The gain of longer queues.
fn queues(data: &Data) -> Chart {
    let mut panels = Vec::new();
    for queue in Queue::ALL {
        for placement in PLACEMENTS {
            let name = panel(Kind::Octets, Road::Tcp.name(), queue, placement);
            let title = format!("{}, {}", queue.name(), place_title(placement));
            let (x, y) = axes();
            panels.extend(Panel::lines(data, &name, &title, x, y));
        }
    }
    Chart::new(
        "throughput-queues",
        "Floods of octets over TCP, by the length of the socket queues (Figure 3)",
        panels,
    )
    .noting(OF_ONE)
}

/// The types of an ORB beside each other.
fn types(data: &Data) -> Chart {
    let mut panels = Vec::new();
    for queue in Queue::ALL {
        for sender in [Sender::Zorb, Sender::OmniOrb] {
            let points = Kind::ALL.iter().flat_map(|kind| {
                let name = panel(*kind, Road::Tcp.name(), queue, Placement::Split);
                let of_it = data
                    .points
                    .iter()
                    .filter(move |point| point.panel == name && point.series == sender.name());
                of_it.map(|point| Point {
                    panel: "types".to_owned(),
                    series: kind.name().to_owned(),
                    ..point.clone()
                })
            });
            let by_type = Data {
                points: points.collect(),
                ..data.clone()
            };
            let title = format!("{}, {}", sender.name(), queue.name());
            let (x, y) = axes();
            panels.extend(Panel::lines(&by_type, "types", &title, x, y));
        }
    }
    Chart::new(
        "throughput-types",
        "Floods over TCP, by the type of the buffers (Figure 6); a CPU for each program",
        panels,
    )
    .noting("structs are flooded with the default queues alone")
}

/// A link has a picture and so a scale of its own.
fn link(data: &Data, speed: Speed) -> Chart {
    let mut panels = Vec::new();
    for queue in [Queue::K8, Queue::K64] {
        let name = panel(Kind::Octets, speed.name, queue, Placement::Split);
        let (x, y) = axes();
        panels.extend(Panel::lines(data, &name, queue.name(), x, y));
    }
    let ending = speed
        .mbit
        .map_or_else(|| "unlimited".to_owned(), |mbit| mbit.to_string());
    let chart = Chart::new(
        format!("throughput-link-{ending}"),
        format!(
            "Floods of octets over a link (Figure 3): {}; a CPU for each program",
            speed.name
        ),
        panels,
    );
    let mut senders = chart.panels.iter().flat_map(|panel| &panel.series);
    let chart = match senders.any(|series| series.name == Sender::Joined.name()) {
        true => chart,
        // Older data does not have it.
        false => chart.noting(format!(
            "{} was not flooded over links",
            Sender::Joined.name()
        )),
    };
    chart.noting("system calls of a buffer were counted on the loopback alone (Figure 7)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn types_are_drawn_for_every_length_of_the_queues() {
        let names = Queue::ALL.map(|q| panel(Kind::Chars, "TCP", q, Placement::Split));
        let of = |name| (name, Sender::Zorb.name(), 2048.0, None, 1.0);
        let data = data(&names.each_ref().map(|name| of(name.as_str())));
        let chart = types(&data);
        let titles: Vec<_> = chart.panels.iter().map(|p| p.title.as_str()).collect();
        assert_eq!(
            titles,
            [
                "zorb, 8 K queues",
                "zorb, 64 K queues",
                "zorb, default queues"
            ]
        );
    }

    #[test]
    fn a_picture_of_a_link_says_who_was_not_measured_over_it() {
        let name = panel(Kind::Octets, SPEEDS[0].name, Queue::K8, Placement::Split);
        let is_said = |sender: Sender| {
            let data = data(&[(&name, sender.name(), 2048.0, None, 1.0)]);
            let chart = link(&data, SPEEDS[0]);
            let mut notes = chart.notes().iter();
            notes.any(|note| note.contains("was not flooded"))
        };
        assert!(is_said(Sender::Zorb) && !is_said(Sender::Joined));
    }
}
