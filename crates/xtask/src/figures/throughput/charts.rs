//! What is drawn of it.

use crate::figures::chart::{Axis, Chart, Panel, Series};
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

pub(super) fn charts(data: &Data) -> Vec<Chart> {
    let mut all = vec![roads(data, Road::Tcp), roads(data, Road::Unix)];
    all.extend([queues(data), types(data)]);
    all.extend(SPEEDS.map(|speed| link(data, speed)));
    all.retain(|chart| !chart.panels.is_empty());
    all
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
    Chart {
        file: format!("throughput-{ending}"),
        title: format!("Floods over {what}"),
        panels,
    }
}

/// What the queues are worth.
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
    Chart {
        file: "throughput-queues".to_owned(),
        title: "Floods of octets over TCP, by the length of the socket queues".to_owned(),
        panels,
    }
}

/// The types of an ORB beside each other.
fn types(data: &Data) -> Chart {
    let mut panels = Vec::new();
    for sender in [Sender::Zorb, Sender::OmniOrb] {
        for queue in [Queue::K64, Queue::Default] {
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
    Chart {
        file: "throughput-types".to_owned(),
        title: "Floods over TCP, by the type of the buffers; a CPU for each program".to_owned(),
        panels,
    }
}

/// A link has a picture and so a scale of its own.
fn link(data: &Data, speed: Speed) -> Chart {
    let mut panels = Vec::new();
    for queue in [Queue::K8, Queue::K64] {
        let name = panel(Kind::Octets, speed.name, queue, Placement::Split);
        let x = Axis::log2("octets of a buffer");
        let y = Axis::linear("throughput (Mbit/s)");
        panels.extend(Panel::lines(data, &name, queue.name(), x, y));
    }
    let ending = speed
        .mbit
        .map_or_else(|| "unlimited".to_owned(), |mbit| mbit.to_string());
    Chart {
        file: format!("throughput-link-{ending}"),
        title: format!("Floods of octets over a link: {}", speed.name),
        panels,
    }
}
