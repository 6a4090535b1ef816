//! What the paper draws from its figures, and what is to be seen today.

use crate::figures::cubit::charts::{floor, increases};
use crate::figures::cubit::protocol::Orb;
use crate::figures::cubit::{lengths, times};
use crate::figures::data::{Data, Point};
use crate::figures::finding::{Finding, Holds};
use crate::measure::place::Placement;
use crate::measure::statistics::{median, three_digits};

/// The paper's programs ran on four CPUs.
const PLACE: Placement = Placement::Split;

fn extremes(values: &[f64]) -> [Option<f64>; 2] {
    let of = |pick: fn(f64, f64) -> f64| values.iter().copied().reduce(pick);
    [of(f64::min), of(f64::max)]
}

fn values(points: &[Point], which: impl Fn(&str) -> bool) -> Vec<f64> {
    let named = |point: &&Point| point.label.as_deref().is_some_and(&which);
    points
        .iter()
        .filter(named)
        .map(|point| point.value)
        .collect()
}

fn is_long(label: &str) -> bool {
    label.ends_with("4096") || label.ends_with("4092")
}

fn percent(value: f64) -> String {
    format!("{value:.0} %")
}

pub(super) fn findings(data: &Data) -> Vec<Finding> {
    let mut all = transports(data);
    all.push(versions(data));
    all.push(Finding::not_measured(
        "On slower links the footprint of messages matters more (Section 4.2)",
        "not measured: the cubit is not sent over shaped links",
    ));
    all.extend(overheads(data));
    all
}

fn transports(data: &Data) -> Vec<Finding> {
    let zorb = increases(data, Orb::Zorb, PLACE);
    let omni = increases(data, Orb::Omni, PLACE);
    let all = |points: &[Point]| values(points, |_| true);
    let [low, high] = extremes(&all(&zorb));
    let [omni_low, omni_high] = extremes(&all(&omni));
    let structured = |points: &[Point], structs: bool| {
        let basic = ["octet", "short", "long"];
        let which = |label: &str| match structs {
            true => label.starts_with("struct"),
            false => basic.contains(&label),
        };
        median(values(points, which))
    };
    let middle =
        |points: &[Point], long: bool| median(values(points, |label| is_long(label) == long));
    vec![
        Finding::new(
            "UNIX sockets beat TCP for every type, by 20 to 50 % (Figure 5)",
            [low, high, omni_low, omni_high],
            |[low, high, omni_low, omni_high]| {
                let [a, b, c, d] = [low, high, omni_low, omni_high].map(percent);
                let seen = format!(
                    "zorb makes {a} to {b} more calls over UNIX sockets, omniORB {c} to {d}, by the median time of a call"
                );
                let about = |low: f64, high: f64| (0.15..=0.55).contains(&low) && high <= 0.55;
                let holds = match (about(low, high), about(omni_low, omni_high)) {
                    (true, true) => Holds::Yes,
                    (false, false) if high < 0.0 && omni_high < 0.0 => Holds::No,
                    _ => Holds::InPart,
                };
                (seen, holds)
            },
        ),
        Finding::new(
            "The gain is largest for small and basic types, about 50 %, and less for long sequences (Figure 5)",
            [
                middle(&zorb, false),
                middle(&zorb, true),
                middle(&omni, false),
                middle(&omni, true),
            ],
            |[small, long, omni_small, omni_long]| {
                let [a, b, c, d] = [small, long, omni_small, omni_long].map(percent);
                let seen = format!(
                    "in the middle zorb gains {a} with small types and {b} with 4,096 octets, omniORB {c} and {d}"
                );
                let holds = match (small > long, omni_small > omni_long) {
                    (true, true) => Holds::Yes,
                    (false, false) => Holds::No,
                    _ => Holds::InPart,
                };
                (seen, holds)
            },
        ),
        Finding::new(
            "It is less for structs, which have to be marshalled, than for basic types (Figure 5)",
            [
                structured(&zorb, false),
                structured(&zorb, true),
                structured(&omni, false),
                structured(&omni, true),
            ],
            |[basic, structs, omni_basic, omni_structs]| {
                let [a, b, c, d] = [basic, structs, omni_basic, omni_structs].map(percent);
                let seen = format!(
                    "in the middle zorb gains {a} with octet, short and long and {b} with a struct and sequences of them, omniORB {c} and {d}"
                );
                (
                    seen,
                    Holds::both(basic > structs, omni_basic > omni_structs),
                )
            },
        ),
    ]
}

/// Time of a call without parameters.
fn void(data: &Data, orb: Orb, series: &str) -> Option<f64> {
    data.under(&times(orb, PLACE), series, "void")
}

fn versions(data: &Data) -> Finding {
    let gain = |orb, transport: &str| {
        let of = |minor| void(data, orb, &format!("GIOP 1.{minor} over {transport}"));
        Some(100.0 * (of(2)? / of(0)? - 1.0))
    };
    Finding::new(
        "A smaller message footprint is worth little: GIOPlite gains 0.4 to 5 % over GIOP (Figure 5)",
        [gain(Orb::Zorb, "TCP"), gain(Orb::Zorb, "UNIX")],
        |[tcp, unix]| {
            let word = |gain: f64| {
                let word = if gain < 0.0 { "lose" } else { "gain" };
                format!("{word} {} %", three_digits(gain.abs()))
            };
            let (tcp_is, unix_is) = (word(tcp), word(unix));
            let seen = format!(
                "there is no GIOPlite here; the messages of GIOP 1.0, which have less in front than those of 1.2, {tcp_is} over TCP and {unix_is} over UNIX sockets with zorb"
            );
            // A part, as it is of other messages than the paper's.
            let small = tcp.abs() < 10.0 && unix.abs() < 10.0;
            (seen, if small { Holds::InPart } else { Holds::No })
        },
    )
}

fn overheads(data: &Data) -> Vec<Finding> {
    let beneath = |over: &str| floor(data, (Orb::Zorb, times), (PLACE, over, "void"));
    let newest = |over: &str| void(data, Orb::Zorb, &format!("GIOP 1.2 over {over}"));
    let by_length = |over: &str, octets: usize| {
        let label = octets.to_string();
        let series = format!("GIOP 1.2 over {over}");
        let whole = data.under(&lengths(Orb::Zorb, PLACE), &series, &label)?;
        let floor = floor(data, (Orb::Zorb, lengths), (PLACE, over, &label))?;
        Some((floor, whole - floor))
    };
    let length = |octets| by_length("TCP", octets);
    let own = |minor: u8, over: &str| {
        let whole = void(data, Orb::Zorb, &format!("GIOP 1.{minor} over {over}"))?;
        Some((whole - beneath(over)?).max(0.0))
    };
    let protocols = [0, 1, 2].map(|minor| ["TCP", "UNIX"].map(|over| own(minor, over)));
    let each: Vec<f64> = protocols.into_iter().flatten().flatten().collect();
    let [own_least, own_most] = extremes(&each);
    vec![
        Finding::new(
            "Over TCP the operating system and I/O take just over half of a call without parameters (Figure 7)",
            [beneath("TCP"), newest("TCP")],
            |[floor, whole]| {
                let share = 100.0 * (floor / whole).min(1.0);
                let (floor_is, whole_is) = (three_digits(floor), three_digits(whole));
                let seen = format!(
                    "sockets alone take {floor_is} µs where zorb takes {whole_is}: {}",
                    percent(share)
                );
                let holds = match share {
                    more if more > 65.0 => Holds::InPart,
                    share => Holds::when(share > 45.0),
                };
                (seen, holds)
            },
        ),
        Finding::new(
            "What TCP takes more than UNIX sockets is the operating system's, not the ORB's (Figure 7)",
            [
                beneath("TCP"),
                beneath("UNIX"),
                newest("TCP"),
                newest("UNIX"),
            ],
            |[floor_tcp, floor_unix, tcp, unix]| {
                let (system, orb) = (floor_tcp - floor_unix, tcp - unix);
                let (system_is, orb_is) = (three_digits(system), three_digits(orb));
                let seen = format!(
                    "TCP takes zorb {orb_is} µs more, and sockets alone {system_is} µs more"
                );
                (seen, Holds::when(orb > 0.0 && system > 0.6 * orb))
            },
        ),
        Finding::new(
            "The ORB's own part of a call is much the same over every protocol (Figure 7)",
            [own_least, own_most],
            |[least, most]| {
                let (least_is, most_is) = (three_digits(least), three_digits(most));
                let seen = format!(
                    "what zorb takes more than sockets alone is {least_is} µs to {most_is} µs, over all messages and transports"
                );
                (seen, Holds::when(most < 1.5 * least))
            },
        ),
        Finding::new(
            "With the length of the argument I/O grows faster than the ORB's own part, which hardly depends on it (Figure 8)",
            [
                length(4).map(|(floor, _)| floor),
                length(4).map(|(_, orb)| orb),
                length(2048).map(|(floor, _)| floor),
                length(2048).map(|(_, orb)| orb),
            ],
            |[short_floor, short_orb, long_floor, long_orb]| {
                let (io, own) = (long_floor - short_floor, long_orb - short_orb);
                let (io_is, own_is) = (three_digits(io), three_digits(own));
                let seen = format!(
                    "from 4 to 2,048 octets sockets take {io_is} µs more, zorb's own part {own_is} µs"
                );
                (seen, Holds::when(own.abs() < io.abs().max(1.0)))
            },
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn findings_are_of_what_was_measured() {
        let of = |panel: fn(Orb, Placement) -> String, orb| panel(orb, PLACE);
        let (zorb, omni) = (of(times, Orb::Zorb), of(times, Orb::Omni));
        let raw = of(times, Orb::Raw);
        let (tcp, unix) = ("GIOP 1.2 over TCP", "GIOP 1.2 over UNIX");
        let data = data(&[
            (&zorb, tcp, 0.0, Some("void"), 14.0),
            (&zorb, unix, 0.0, Some("void"), 10.0),
            (&omni, tcp, 0.0, Some("void"), 9.0),
            (&omni, unix, 0.0, Some("void"), 10.0),
            (&raw, "TCP", 0.0, Some("void"), 8.0),
        ]);
        let all = findings(&data);
        let find = |part: &str| all.iter().find(|f| f.claim.contains(part)).unwrap();
        assert_eq!(find("for every type").holds, Holds::InPart);
        assert!(find("for every type").seen.contains("40 % to 40 %"));
        assert_eq!(find("just over half").holds, Holds::Yes);
        assert_eq!(find("With the length").holds, Holds::Unknown);
    }
}
