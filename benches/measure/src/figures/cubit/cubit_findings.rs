//! The paper's claims about its figures, and today's findings.

use crate::figures::cubit::cubit_charts::floor;
use crate::figures::cubit::protocol::{Orb, newest_series};
use crate::figures::cubit::{emulated_links, guest, lengths, times};
use crate::figures::data::Data;
use crate::figures::finding::{Finding, Holds};
use crate::figures::measured::{EQUAL, Measured, NOTHING, ratio};
use crate::figures::throughput::links::{SPEEDS, Speed};
use crate::measure::place::Placement;

/// The paper's programs ran on four CPUs.
const PLACE: Placement = Placement::Split;

/// How many times as many calls there are over UNIX sockets as over TCP, with an ORB's newest messages, by operation:
/// by the median times of a call, as a rate is of the mean, which a few slow calls move.
struct Gains(Vec<(String, Measured)>);

impl Gains {
    fn of(data: &Data, orb: Orb) -> Self {
        let panel = times(orb, PLACE);
        let newest = |transport: &str| newest_series(data.of(&panel), transport);
        let (Some(tcp), Some(unix)) = (newest("TCP"), newest("UNIX")) else {
            return Self(Vec::new());
        };
        let fast = data.of(&panel).filter(|point| point.series == unix);
        let one = |label: &str, fast| {
            let slow = data.measured_under(&panel, &tcp, label)?;
            Some((label.to_owned(), slow.over(fast)))
        };
        let all = fast.filter_map(|point| one(point.label.as_deref()?, point.into()));
        Self(all.collect())
    }

    fn each(&self) -> impl Iterator<Item = Measured> {
        self.0.iter().map(|(_, gain)| *gain)
    }

    fn least(&self) -> Option<Measured> {
        Measured::smallest(self.each())
    }

    fn most(&self) -> Option<Measured> {
        Measured::largest(self.each())
    }

    /// In the middle of some operations.
    fn middle(&self, which: impl Fn(&str) -> bool) -> Option<Measured> {
        let of_them = self.0.iter().filter(|(label, _)| which(label));
        Measured::middle(of_them.map(|(_, gain)| *gain))
    }
}

fn is_long(label: &str) -> bool {
    label.ends_with("4096") || label.ends_with("4092")
}

fn is_basic(label: &str) -> bool {
    ["octet", "short", "long"].contains(&label)
}

/// The experiment in two sentences.
pub(super) fn seen(data: &Data) -> Option<String> {
    let gain = |orb| {
        let gains = Gains::of(data, orb);
        Some(format!(
            "{} to {}",
            gains.least()?.factor(),
            gains.most()?.factor()
        ))
    };
    let whole = void(data, Orb::Zorb, "GIOP 1.2 over TCP")?;
    let sockets = Measured::from(floor(data, (Orb::Zorb, times), (PLACE, "TCP", "void"))?);
    Some(format!(
        "Over UNIX sockets zorb makes {} as many calls as over TCP, by type, and omniORB {}. Of the {} of a zorb call without \
         parameters over TCP, sockets alone take {}, {}.",
        gain(Orb::Zorb)?,
        gain(Orb::Omni)?,
        whole.with_unit("µs"),
        sockets.with_unit("µs"),
        sockets.over(whole).share()
    ))
}

pub(super) fn findings(data: &Data) -> Vec<Finding> {
    let mut all = transports(data);
    all.extend(versions(data));
    all.push(over_links(data));
    all.extend(overheads(data));
    all.extend(guest::findings(data));
    all
}

fn transports(data: &Data) -> Vec<Finding> {
    let [zorb, omni] = [Orb::Zorb, Orb::Omni].map(|orb| Gains::of(data, orb));
    let each: Vec<Measured> = zorb.each().chain(omni.each()).collect();
    let range = [zorb.least(), zorb.most(), omni.least(), omni.most()];
    let compared = |claim: &str, words: [&str; 2], which: [&dyn Fn(&str) -> bool; 2]| {
        let of = |gains: &Gains| which.map(|which| gains.middle(which));
        let [[more, less], [omni_more, omni_less]] = [of(&zorb), of(&omni)];
        Finding::new(
            claim,
            [more, less, omni_more, omni_less],
            |[more, less, omni_more, omni_less]| {
                let seen = format!(
                    "calls a second, UNIX sockets over TCP: zorb {} with {} and {} with {}; omniORB {} and {}",
                    more.factor(),
                    words[0],
                    less.factor(),
                    words[1],
                    omni_more.factor(),
                    omni_less.factor()
                );
                let larger = [more.over(less), omni_more.over(omni_less)];
                (seen, Holds::all(larger.map(|times| times.above(1.0))))
            },
        )
    };
    vec![
        Finding::new(
            "UNIX sockets beat TCP for every type (Figure 5)",
            range,
            |[low, high, omni_low, omni_high]| {
                let seen = format!(
                    "calls a second, UNIX sockets over TCP, by type: zorb {} to {}, omniORB {} to {}; by the median time of a call",
                    low.factor(),
                    high.factor(),
                    omni_low.factor(),
                    omni_high.factor()
                );
                (
                    seen,
                    Holds::all(each.iter().map(|gain| gain.above(NOTHING))),
                )
            },
        ),
        Finding::new(
            "UNIX sockets make 20 to 50 % more calls, by type (Figure 5)",
            range,
            |[low, high, omni_low, omni_high]| {
                let seen = format!(
                    "calls a second, UNIX sockets over TCP, by type: zorb {} to {}, omniORB {} to {}",
                    low.factor(),
                    high.factor(),
                    omni_low.factor(),
                    omni_high.factor()
                );
                (
                    seen,
                    Holds::all(each.iter().map(|gain| gain.beside(1.2, 1.5))),
                )
            },
        ),
        compared(
            "The gain is largest for small and basic types, about 50 %, and less for long sequences (Figure 5)",
            ["small types", "4,096 octets"],
            [&|label| !is_long(label), &is_long],
        ),
        compared(
            "The gain is less for structs, which have to be marshalled, than for basic types (Figure 5)",
            ["octet, short and long", "structs"],
            [&is_basic, &|label| label.starts_with("struct")],
        ),
        compared(
            "Long sequences of octets and longs, which are copied less often, gain more than those of structs (Figure 5)",
            ["4,096 octets and 1,024 longs", "341 structs"],
            [
                &|label| is_long(label) && !label.starts_with("struct"),
                &|label| is_long(label) && label.starts_with("struct"),
            ],
        ),
    ]
}

/// Time of a call without parameters.
fn void(data: &Data, orb: Orb, series: &str) -> Option<Measured> {
    data.measured_under(&times(orb, PLACE), series, "void")
}

fn versions(data: &Data) -> [Finding; 2] {
    // GIOPlite's messages permit as many calls as those of the newest GIOP.
    let gain = |transport: &str| {
        let of = |messaging| void(data, Orb::Zorb, &format!("{messaging} over {transport}"));
        ratio(of("GIOP 1.2"), of("GIOPlite"))
    };
    let gains = ["TCP", "UNIX"].map(gain);
    [
        Finding::new(
            "A smaller message footprint is worth little: GIOPlite gains 0.4 to 5 % over GIOP (Figure 5)",
            gains,
            |[tcp, unix]| {
                let seen = format!(
                    "zorb's calls, GIOPlite over GIOP 1.2: {} over TCP, {} over UNIX sockets; GIOPlite translates each header",
                    tcp.factor(),
                    unix.factor()
                );
                (
                    seen,
                    Holds::all([tcp, unix].map(|gain| gain.within(1.0, EQUAL))),
                )
            },
        ),
        Finding::new(
            "GIOPlite gains slightly more over UNIX sockets, 3.26 % on average, than over TCP, 2.74 % (Section 4.2, Figure 5)",
            gains,
            |[tcp, unix]| {
                let seen = format!(
                    "gain of GIOPlite over GIOP 1.2, UNIX sockets over TCP: {}",
                    unix.over(tcp).factor()
                );
                (seen, unix.over(tcp).above(1.0))
            },
        ),
    ]
}

/// Whether the shorter messages of GIOPlite gain more over those of GIOP 1.2 where octets take longer.
fn over_links(data: &Data) -> Finding {
    let [slow, .., fast] = SPEEDS;
    let gain = |speed: &Speed| {
        let panel = emulated_links::panel(speed);
        let of = |messaging| data.measured_under(&panel, &format!("{messaging} over TCP"), "void");
        ratio(of("GIOPlite"), of("GIOP 1.2"))
    };
    Finding::new(
        "On slower links the footprint of messages matters more (Section 4.2)",
        [gain(&slow), gain(&fast)],
        |[on_slow, on_fast]| {
            let seen = format!(
                "zorb's calls, GIOPlite over GIOP 1.2: {} over a link of {} and {} over \
                 one without a limit",
                on_slow.factor(),
                slow.name,
                on_fast.factor()
            );
            (seen, on_slow.over(on_fast).above(1.0))
        },
    )
}

fn overheads(data: &Data) -> Vec<Finding> {
    let floor = |panel: fn(Orb, Placement) -> String, over: &str, label: &str| {
        floor(data, (Orb::Zorb, panel), (PLACE, over, label)).map(Measured::from)
    };
    let beneath = |over: &str| floor(times, over, "void");
    let newest = |over: &str| void(data, Orb::Zorb, &format!("GIOP 1.2 over {over}"));
    let length = |octets: usize| {
        let label = octets.to_string();
        let whole = data.measured_under(&lengths(Orb::Zorb, PLACE), "GIOP 1.2 over TCP", &label)?;
        let floor = floor(lengths, "TCP", &label)?;
        Some((floor, whole.minus(floor)))
    };
    let [short, long] = [4, 2048].map(length);
    let io = |of: Option<(Measured, Measured)>| of.map(|(floor, _)| floor);
    let orb = |of: Option<(Measured, Measured)>| of.map(|(_, orb)| orb);
    let own = |messaging: &str, over: &str| {
        let whole = void(data, Orb::Zorb, &format!("{messaging} over {over}"))?;
        Some(whole.minus(beneath(over)?))
    };
    let protocols = guest::MESSAGINGS.map(|one| ["TCP", "UNIX"].map(|over| own(one, over)));
    let each: Vec<Measured> = protocols.into_iter().flatten().flatten().collect();
    let us = |value: Measured| value.with_unit("µs");
    vec![
        Finding::new(
            "Over TCP the operating system and I/O take just over half of a call without parameters (Figure 7)",
            [beneath("TCP"), newest("TCP")],
            |[floor, whole]| {
                let share = floor.over(whole);
                let seen = format!(
                    "sockets alone take {}, zorb takes {}: {}",
                    us(floor),
                    us(whole),
                    share.share()
                );
                (seen, share.about(0.5, 0.55))
            },
        ),
        Finding::new(
            "The extra time of TCP over UNIX sockets is primarily the operating system's (Figure 7)",
            [
                beneath("TCP"),
                beneath("UNIX"),
                newest("TCP"),
                newest("UNIX"),
            ],
            |[floor_tcp, floor_unix, tcp, unix]| {
                let (system, orb) = (floor_tcp.minus(floor_unix), tcp.minus(unix));
                let seen = format!(
                    "extra time of TCP: zorb {}, sockets alone {}",
                    us(orb),
                    us(system)
                );
                // More than half of it, if TCP takes more at all.
                let half = system.minus(orb.times(0.5)).above(0.0);
                (seen, Holds::and(orb.above(0.0), half))
            },
        ),
        Finding::new(
            "The ORB's own part of a call is much the same over every protocol (Figure 7)",
            [
                Measured::smallest(each.iter().copied()),
                Measured::largest(each.iter().copied()),
            ],
            |[least, most]| {
                let seen = format!(
                    "time of zorb above sockets alone: {} to {}, over all messages and transports",
                    us(least),
                    us(most)
                );
                // Where the part may be nothing there are no times of it.
                (seen, most.over(least).is_no_more())
            },
        ),
        Finding::new(
            "With longer arguments I/O grows faster than the ORB's own part, which hardly depends on them (Figure 8)",
            [io(short), orb(short), io(long), orb(long)],
            |[short_floor, short_orb, long_floor, long_orb]| {
                let (io, own) = (long_floor.minus(short_floor), long_orb.minus(short_orb));
                let seen = format!(
                    "from 4 to 2,048 octets sockets take {} more, zorb's own part {} more",
                    us(io),
                    us(own)
                );
                // Hardly: by less than half of it.
                (seen, io.times(0.5).minus(own).above(0.0))
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
        let every = find("for every type");
        assert_eq!(every.holds, Holds::InPart);
        assert!(
            every.seen.contains("by type: zorb ×1.40 to"),
            "{}",
            every.seen
        );
        assert_eq!(find("just over half").holds, Holds::Yes);
        assert_eq!(find("primarily the operating").holds, Holds::Unknown);
        assert_eq!(find("With longer arguments").holds, Holds::Unknown);
    }
}
