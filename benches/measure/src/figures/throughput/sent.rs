//! The octets that each point of a flood sent, and whether its rate depends on that number.

use crate::figures::data::{Data, Point};
use crate::figures::finding::{Finding, Holds};
use crate::figures::measured::Measured;
use crate::figures::throughput::flood::{Kind, Queue, Road, panel};
use crate::measure::place::Placement;
use crate::measure::statistics::three_digits;

/// The name of the road in the panel of floods that sent everything.
pub(super) const WHOLE: &str = "TCP, all of 64 MB";

fn nothing() -> String {
    "–".to_owned()
}

/// The paper's megabytes.
fn megabytes(octets: f64) -> String {
    three_digits(octets / f64::from(1 << 20))
}

fn size(octets: f64) -> String {
    match octets {
        few if few < 1024.0 => format!("{few:.0}"),
        some if some < 1_048_576.0 => format!("{:.0} K", some / 1024.0),
        many => format!("{:.0} M", many / 1_048_576.0),
    }
}

/// The table of the page: what was sent, by the size of the buffers and the road.
pub(in crate::figures) fn tables(data: &Data) -> String {
    let sent = |point: &&Point| point.sent.is_some() && !point.panel.contains(WHOLE);
    let mut sizes: Vec<f64> = data.points.iter().filter(sent).map(|p| p.x).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    if sizes.is_empty() {
        return String::new();
    }
    let roads = [
        ("the loopback and UNIX sockets", &["TCP, ", "UNIX, "][..]),
        ("10 Mbit/s", &["10 Mbit/s, "]),
        ("155 Mbit/s", &["155 Mbit/s, "]),
        ("an unlimited link", &["unlimited, "]),
    ];
    let heads = roads.map(|(name, _)| name).join(" | ");
    let mut lines = vec![
        "Megabytes sent at each point:".to_owned(),
        String::new(),
        format!("| buffers of | {heads} |"),
        "|---|---|---|---|---|".to_owned(),
    ];
    for of_size in sizes {
        let cell = |(_, roads): (&str, &[&str])| {
            let here = data.points.iter().filter(sent).filter(|point| {
                let road = point.panel.split_once(", ").map_or("", |(_, road)| road);
                point.x == of_size && roads.iter().any(|name| road.starts_with(name))
            });
            let all: Vec<f64> = here.filter_map(|point| point.sent).collect();
            let least = all.iter().copied().min_by(f64::total_cmp);
            let most = all.iter().copied().max_by(f64::total_cmp);
            match least.zip(most) {
                None => nothing(),
                Some((least, most)) if megabytes(least) == megabytes(most) => megabytes(most),
                Some((least, most)) => format!("{} to {}", megabytes(least), megabytes(most)),
            }
        };
        let cells = roads.map(cell).join(" | ");
        lines.push(format!("| {} | {cells} |", size(of_size)));
    }
    lines.join("\n")
}

/// Whether a point that sent all 64 MB has the rate of one that sent what time allowed.
pub(super) fn finding(data: &Data) -> Finding {
    let all = panel(Kind::Octets, WHOLE, Queue::K64, Placement::Split);
    let usual = panel(Kind::Octets, Road::Tcp.name(), Queue::K64, Placement::Split);
    let both = |whole: &'_ Point| {
        let part = data
            .of(&usual)
            .find(|part| part.series == whole.series && part.x == whole.x)?;
        Some((whole.clone(), part.clone()))
    };
    let pairs: Vec<(Point, Point)> = data.of(&all).filter_map(both).collect();
    let rates: Vec<Measured> = pairs
        .iter()
        .map(|(whole, part)| Measured::from(whole).over(part.into()))
        .collect();
    let least = Measured::smallest(rates.iter().copied());
    let most = Measured::largest(rates.iter().copied());
    let all_sent = pairs.iter().filter_map(|(whole, _)| whole.sent);
    let all_sent = all_sent
        .min_by(f64::total_cmp)
        .map_or_else(nothing, megabytes);
    let octet = pairs.iter().find(|(whole, _)| whole.x == 1.0);
    Finding::new(
        "A flood of the paper's 64 MB is as fast as our shorter ones (our own check)",
        [least, most],
        |[least, most]| {
            let octet = octet.map_or(String::new(), |(whole, part)| {
                let sent = |point: &Point| point.sent.map_or_else(nothing, megabytes);
                format!(
                    "; buffers of one octet, {}: {} Mbit/s with {} MB, {} with {}",
                    whole.series,
                    three_digits(whole.value),
                    sent(whole),
                    three_digits(part.value),
                    sent(part)
                )
            });
            let seen = format!(
                "{all_sent} MB over the shorter floods: {} to {}, at {} points over TCP with queues of 64 K{octet}",
                least.factor(),
                most.factor(),
                pairs.len()
            );
            (seen, Holds::all(rates.iter().map(|rate| rate.is_one())))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    fn flood(road: &str, x: f64, rate: f64, sent: f64) -> Point {
        let panel = format!("octets, {road}, 64 K queues, split");
        let mut data = data(&[(&panel, "zorb", x, None, rate)]);
        data.points[0].sent = Some(sent);
        data.points.remove(0)
    }

    #[test]
    fn what_was_sent_is_said_by_size_and_road() {
        let mut data = data(&[]);
        assert_eq!(tables(&data), "");
        data.points = vec![
            flood("TCP", 1024.0, 900.0, 3.0 * 1048576.0),
            flood("UNIX", 1024.0, 900.0, 64.0 * 1048576.0),
            flood("10 Mbit/s", 1024.0, 9.0, 524288.0),
            flood("unlimited, MTU 9,180", 1.0, 9.0, 1048576.0),
            flood(WHOLE, 131072.0, 900.0, 64.0 * 1048576.0),
        ];
        let text = tables(&data);
        assert!(
            text.contains("| 1 K | 3.00 to 64.0 | 0.50 | – | – |"),
            "{text}"
        );
        assert!(text.contains("| 1 | – | – | – | 1.00 |"), "{text}");
        // The points of a check are not among those shown.
        assert!(!text.contains("128 K"), "{text}");
    }

    #[test]
    fn whether_a_rate_depends_on_how_much_is_sent_is_computed() {
        let mut data = data(&[]);
        assert_eq!(finding(&data).holds, Holds::Unknown);
        data.points = vec![
            flood("TCP", 1.0, 100.0, 1048576.0),
            flood(WHOLE, 1.0, 110.0, 64.0 * 1048576.0),
            flood("TCP", 1024.0, 100.0, 1048576.0),
            flood(WHOLE, 1024.0, 95.0, 64.0 * 1048576.0),
        ];
        let found = finding(&data);
        assert_eq!(found.holds, Holds::Yes, "{}", found.seen);
        for words in [
            "64.0 MB over the shorter floods: ×0.95 to ×1.10",
            "at 2 points",
            "110 Mbit/s with 64.0 MB, 100 with 1.00",
        ] {
            assert!(found.seen.contains(words), "{}", found.seen);
        }
        data.points[1] = flood(WHOLE, 1.0, 200.0, 64.0 * 1048576.0);
        assert_eq!(finding(&data).holds, Holds::InPart);
    }
}
