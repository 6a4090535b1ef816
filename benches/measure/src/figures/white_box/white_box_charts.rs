//! The charts of the experiment.

use crate::figures::chart::{Axis, Chart, Kind, Panel, Series};
use crate::figures::contender::{PLACEMENTS, place_title};
use crate::figures::data::{Data, Point};
use crate::figures::white_box::step_table::ARGUMENTS;
use crate::figures::white_box::steps::SUM;
use crate::figures::white_box::{TRANSPORTS, together};
use crate::measure::place::Placement;

/// The note where a step or a part of one is below zero.
const BELOW: &str = "below nothing: a step that takes less than marks differ by; what a mark takes on average is taken off each";

/// Whether sequences of structs are called with: marshalling them takes so long that nothing could be read beside it.
fn is_long(label: &str) -> bool {
    label.ends_with("structs")
}

/// Whether it is the largest of the octets or a sequence of structs.
fn fills_queues(label: &str) -> bool {
    is_long(label) || label == "65536 octets"
}

/// The steps of these calls on top of each other, with what is known of all of them together; each call is a name,
/// where it stands, and its label.
fn stacked(
    data: &Data,
    (of, placement): (&str, Placement),
    title: &str,
    shown: impl Fn(&str, &Point) -> Option<(f64, String)>,
) -> Option<Panel> {
    let renamed = |panel: &str| -> Vec<Point> {
        let mut points = Vec::new();
        for (transport, _) in TRANSPORTS {
            let name = format!("{panel}, {transport}, {placement}");
            points.extend(data.of(&name).filter_map(|point| {
                let (x, label) = shown(transport, point)?;
                Some(Point {
                    panel: "stacked".to_owned(),
                    series: legend(&point.series).to_owned(),
                    x,
                    label: Some(label),
                    ..point.clone()
                })
            }));
        }
        points
    };
    let whole = renamed(&together(of));
    let derived = Data {
        points: renamed(of),
        ..data.clone()
    };
    let axes = ("argument", Axis::linear("time (µs)"));
    let panel = Panel::bars(&derived, "stacked", title, axes, Kind::Stacked)?;
    let labelled: Vec<_> = whole
        .iter()
        .filter_map(|point| Some((point.label.clone()?, point)))
        .collect();
    Some(panel.with_whole(&labelled))
}

/// A series as a legend calls it: the layer of messaging holds what fills messages too.
fn legend(series: &str) -> &str {
    match series {
        "3 messaging" => "3 messaging and marshalling",
        other => other,
    }
}

/// A panel for each placement, of every such argument over one transport.
fn over(data: &Data, of: &str, transport: &str, shown: fn(&str) -> bool) -> Vec<Panel> {
    let panel = |placement: Placement| {
        let title = format!("{transport}, {}", place_title(placement));
        stacked(data, (of, placement), &title, |over, point| {
            let label = point.label.clone()?;
            (over == transport && shown(&label)).then_some((point.x, label))
        })
    };
    PLACEMENTS.into_iter().filter_map(panel).collect()
}

/// Both ends' layers over every transport, and below them those of the calls whose octets take the system so long that
/// nothing could be read beside them.
fn layers(data: &Data) -> Vec<Panel> {
    let short = TRANSPORTS
        .map(|(transport, _)| over(data, "layers", transport, |label| !fills_queues(label)));
    let long = |placement: Placement| {
        let title = format!("the largest arguments, {}", place_title(placement));
        stacked(data, ("layers", placement), &title, |over, point| {
            let label = point.label.as_deref()?;
            let at = TRANSPORTS.iter().position(|(name, _)| *name == over)?;
            // The transports of an argument beside each other.
            let x = 2.0 * point.x + at as f64;
            fills_queues(label).then(|| (x, format!("{label} over {over}")))
        })
    };
    let long = PLACEMENTS.into_iter().filter_map(long).map(|panel| Panel {
        // An axis of another name is one of another scale.
        y: Axis::linear("time of a large call (µs)"),
        ..panel
    });
    short.into_iter().flatten().chain(long).collect()
}

/// An end's steps over TCP, and below them those of the calls that take much longer, over every transport.
fn end(data: &Data, of: &str) -> Vec<Panel> {
    let short = |placement: Placement| {
        let title = format!("TCP, {}", place_title(placement));
        stacked(data, (of, placement), &title, |over, point| {
            let label = point.label.clone()?;
            (over == "TCP" && !is_long(&label)).then_some((point.x, label))
        })
    };
    let long = |placement: Placement| {
        let title = format!("1,024 structs, {}", place_title(placement));
        stacked(data, (of, placement), &title, |over, point| {
            let at = TRANSPORTS.iter().position(|(name, _)| *name == over)?;
            let label = format!("structs over {over}");
            is_long(point.label.as_deref()?).then_some((at as f64, label))
        })
    };
    let rows = [PLACEMENTS.map(short), PLACEMENTS.map(long)];
    rows.into_iter().flatten().flatten().collect()
}

/// The steps that find the upcall, beside each other.
fn found(data: &Data, placement: Placement) -> Option<Panel> {
    let name = format!("found, TCP, {placement}");
    let axes = ("step", Axis::linear("time (ns)"));
    let mut panel = Panel::bars(data, &name, place_title(placement), axes, Kind::Bars)?;
    let place = |one: &Series| ARGUMENTS.iter().position(|(name, _)| *name == one.name);
    panel.series.retain(|one| place(one).is_some());
    panel.series.sort_by_key(place);
    for one in &mut panel.series {
        if let Some((_, shown)) = place(one).and_then(|at| ARGUMENTS.get(at)) {
            (*shown).clone_into(&mut one.name);
        }
    }
    Some(panel)
}

/// A picture of steps, which says what a step is that takes less than nothing where there is one.
fn chart(file: &str, title: &str, panels: Vec<Panel>) -> Chart {
    let chart = Chart::new(format!("white-box-{file}"), title, panels);
    let series = chart.panels.iter().flat_map(|panel| &panel.series);
    let below = series
        .flat_map(|series| &series.marks)
        .any(|mark| mark.value < 0.0);
    if below { chart.noting(BELOW) } else { chart }
}

pub(super) fn charts(data: &Data) -> Vec<Chart> {
    let mut sums = TRANSPORTS
        .map(|(transport, _)| over(data, "sum", transport, |_| true))
        .concat();
    for panel in &mut sums {
        let place = |name: &str| SUM.iter().position(|one| *one == name);
        panel.series.sort_by_key(|series| place(&series.name));
    }
    let mut all = vec![
        chart(
            "layers",
            "System calls that write, transport, messaging and the rest, of both ends (Figures 7 and 8)",
            layers(data),
        ),
        chart(
            "client",
            "Where the client's time goes, without its wait and the system call that writes (Table 1)",
            end(data, "client itself"),
        ),
        chart(
            "server",
            "Where the server's time goes, without the system call that writes (Table 2)",
            end(data, "server itself"),
        ),
        chart(
            "found",
            "How the server finds whose upcall it is, by the argument of the call (Table 2; dissertation, Table 3.1)",
            PLACEMENTS
                .into_iter()
                .filter_map(|placement| found(data, placement))
                .collect(),
        ),
        chart(
            "sum",
            "What a call is made of, seen from the client, and what of it is in no step (beyond Table 1)",
            sums,
        ),
    ];
    all.retain(|chart| !chart.panels.is_empty());
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn long_calls_have_panels_of_their_own_over_every_transport() {
        let data = data(&[
            (
                "client itself, TCP, same",
                "C3 marshal",
                0.0,
                Some("none"),
                0.1,
            ),
            (
                "client itself, TCP, same",
                "C3 marshal",
                1e9,
                Some("1024 structs"),
                1.5,
            ),
            (
                "client itself, UNIX, same",
                "C3 marshal",
                1e9,
                Some("1024 structs"),
                1.4,
            ),
        ]);
        let panels = end(&data, "client itself");
        let bars: Vec<_> = panels.iter().map(|p| p.series[0].marks.len()).collect();
        assert_eq!(bars, [1, 2]);
    }

    #[test]
    fn layers_of_the_largest_arguments_have_panels_of_their_own() {
        let data = data(&[
            ("layers, TCP, split", "2 transport", 0.0, Some("none"), 0.1),
            (
                "layers, UNIX, split",
                "2 transport",
                65536.0,
                Some("65536 octets"),
                0.1,
            ),
            (
                "layers, TCP, split",
                "2 transport",
                65536.0,
                Some("65536 octets"),
                0.1,
            ),
        ]);
        let panels = layers(&data);
        let titles: Vec<_> = panels.iter().map(|panel| panel.title.as_str()).collect();
        assert_eq!(
            titles,
            [
                "TCP, a CPU for each program",
                "the largest arguments, a CPU for each program"
            ]
        );
        assert_eq!(panels[1].series[0].marks.len(), 2);
    }

    #[test]
    fn a_step_below_nothing_is_explained() {
        let notes = |value| {
            let panel = "found, TCP, same";
            let data = data(&[(panel, "none", 0.0, Some("POA demux"), value)]);
            let all = charts(&data);
            assert_eq!(all[0].panels[0].series[0].name, "no argument");
            all[0].notes().to_vec()
        };
        assert_eq!(notes(-1.0), [BELOW]);
        assert!(notes(1.0).is_empty());
    }

    #[test]
    fn the_layer_of_messaging_is_said_to_hold_marshalling() {
        let data = data(&[("layers, TCP, same", "3 messaging", 0.0, Some("none"), 1.0)]);
        let all = charts(&data);
        assert_eq!(
            all[0].panels[0].series[0].name,
            "3 messaging and marshalling"
        );
    }
}
