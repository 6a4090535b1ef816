//! What the paper draws from its figures, and what is to be seen today.

use crate::figures::data::Data;
use crate::figures::finding::{Finding, Holds, ratio};
use crate::figures::throughput::flood::{Kind, Queue, Road, Sender, panel};
use crate::figures::throughput::links::SPEEDS;
use crate::figures::throughput::sent;
use crate::measure::place::Placement;
use crate::measure::statistics::three_digits;

const K8: f64 = 8192.0;
const K64: f64 = 65536.0;
const K128: f64 = 131_072.0;

/// Megabits a second over TCP on the loopback, each program on a CPU of its own.
struct Seen<'a>(&'a Data);

impl Seen<'_> {
    fn at(&self, kind: Kind, queue: Queue, sender: Sender, size: f64) -> Option<f64> {
        let panel = panel(kind, Road::Tcp.name(), queue, Placement::Split);
        self.0.at(&panel, sender.name(), size)
    }

    fn octets(&self, queue: Queue, sender: Sender, size: f64) -> Option<f64> {
        self.at(Kind::Octets, queue, sender, size)
    }

    fn link(&self, speed: usize, queue: Queue, sender: Sender) -> Vec<(f64, f64)> {
        let name = SPEEDS.get(speed).map_or("", |speed| speed.name);
        let panel = panel(Kind::Octets, name, queue, Placement::Split);
        self.0.line(&panel, sender.name())
    }
}

fn best(line: &[(f64, f64)]) -> Option<f64> {
    line.iter().map(|(_, value)| *value).reduce(f64::max)
}

fn worst(line: &[(f64, f64)]) -> Option<f64> {
    line.iter().map(|(_, value)| *value).reduce(f64::min)
}

fn percent(part: f64) -> String {
    format!("{:.0} %", 100.0 * part)
}

fn mbit(value: f64) -> String {
    format!("{} Mbit/s", three_digits(value))
}

const WITH_K64: &str = "64 K queues on the loopback, 8 K and 64 K buffers";

pub(super) fn findings(data: &Data) -> Vec<Finding> {
    let seen = Seen(data);
    let mut all = without_an_orb(&seen);
    all.extend(over_links(&seen));
    all.extend(with_an_orb(&seen));
    all.push(sent::finding(data));
    all
}

fn without_an_orb(seen: &Seen<'_>) -> Vec<Finding> {
    let wrapped = |size| {
        let of = |sender| seen.octets(Queue::K64, sender, size);
        ratio(of(Sender::Transport), of(Sender::Raw))
    };
    let queue = |sender, size| {
        let of = |queue| seen.octets(queue, sender, size);
        ratio(of(Queue::K64), of(Queue::K8))
    };
    let slowest = || {
        let orbs = [Sender::Zorb, Sender::OmniOrb].map(|s| seen.octets(Queue::K64, s, K64));
        orbs.into_iter().flatten().reduce(f64::min)
    };
    vec![
        Finding::new(
            "Typed wrappers around sockets cost next to nothing (Section 2.2.1, Figure 3)",
            [wrapped(K8), wrapped(K64)],
            |[small, large]| {
                let seen = format!(
                    "our transport layer alone reaches {} and {} of raw sockets' throughput ({WITH_K64})",
                    percent(small),
                    percent(large)
                );
                (seen, Holds::both(small >= 0.9, large >= 0.9))
            },
        ),
        Finding::new(
            "Socket queues of 64 K instead of 8 K raise throughput 2.7 times (Section 2.2.1, Figure 3)",
            [queue(Sender::Raw, K8), queue(Sender::Raw, K64)],
            |[small, large]| {
                let times = [small, large].map(three_digits).join(" and ");
                let seen = format!("{times} times, raw, with 8 K and 64 K buffers on the loopback");
                (seen, Holds::both(small >= 1.3, large >= 1.3))
            },
        ),
        Finding::new(
            "The queues matter more than the ORB: the slowest ORB with 64 K beats sockets with 8 K (Section 3)",
            [slowest(), seen.octets(Queue::K8, Sender::Raw, K64)],
            |[orb, raw]| {
                let (orb_is, raw_is) = (mbit(orb), mbit(raw));
                let seen =
                    format!("64 K buffers: the slowest ORB {orb_is}, raw with 8 K queues {raw_is}");
                (seen, Holds::when(orb > raw))
            },
        ),
    ]
}

fn over_links(seen: &Seen<'_>) -> Vec<Finding> {
    let everybody = || {
        let senders = [Sender::Zorb, Sender::OmniOrb, Sender::Raw];
        let lines = [Queue::K8, Queue::K64].map(|q| senders.map(|s| seen.link(0, q, s)));
        lines
            .into_iter()
            .flatten()
            .flatten()
            .filter(|(size, _)| *size >= K8)
            .collect::<Vec<_>>()
    };
    let share = |speed: usize, queue| {
        let top = SPEEDS.get(speed)?.mbit.map(f64::from);
        ratio(best(&seen.link(speed, queue, Sender::Raw)), top)
    };
    let fast = seen.link(2, Queue::K64, Sender::Raw);
    let at = |size: f64| {
        fast.iter()
            .find(|(x, _)| *x == size)
            .map(|(_, value)| *value)
    };
    vec![
        Finding::new(
            "A link of 10 Mbit/s hides the differences: 8 to 8.7 Mbit/s for all (Section 2.2, Figures 2, 3 and 6)",
            [worst(&everybody()), best(&everybody())],
            |[low, high]| {
                let (from, to) = (three_digits(low), three_digits(high));
                let seen = format!(
                    "{from} to {to} Mbit/s, over all senders and queues, from 8 K buffers on"
                );
                (seen, Holds::when(high / low < 1.15))
            },
        ),
        Finding::new(
            "Of a faster link less is used: 40 % of 155 Mbit/s, but 87 % of 10 (Section 2.2)",
            [share(0, Queue::K64), share(1, Queue::K64)],
            |[slow, fast]| {
                let seen = format!(
                    "raw sockets use {} of 10 Mbit/s and {} of 155",
                    percent(slow),
                    percent(fast)
                );
                (seen, Holds::when(fast < slow - 0.05))
            },
        ),
        Finding::new(
            "On a link of 155 Mbit/s queues of 8 K leave 23 Mbit/s of 62 (Section 2.2.1)",
            [share(1, Queue::K8), share(1, Queue::K64)],
            |[small, large]| {
                let seen = format!(
                    "raw sockets use {} with 8 K and {} with 64 K",
                    percent(small),
                    percent(large)
                );
                (seen, Holds::when(small < 0.75 * large))
            },
        ),
        Finding::new(
            "Buffers beyond the MTU of 9,180 are slower: 62 Mbit/s at 8 K, 48 at 64 K (Section 2.2.1)",
            [at(K8), at(K64)],
            |[small, large]| {
                let (small_is, large_is) = (mbit(small), mbit(large));
                let seen = format!(
                    "raw over an unlimited link of that MTU: {small_is} at 8 K, {large_is} at 64 K"
                );
                (seen, Holds::when(large < 0.95 * small))
            },
        ),
    ]
}

fn with_an_orb(seen: &Seen<'_>) -> Vec<Finding> {
    let share = |sender, size| {
        let of = |sender| seen.octets(Queue::K64, sender, size);
        ratio(of(sender), of(Sender::Raw))
    };
    let at_best = |sender: Sender| {
        let panel = panel(Kind::Octets, Road::Tcp.name(), Queue::K64, Placement::Split);
        let best = |sender: Sender| {
            let mut line = seen.0.line(&panel, sender.name());
            line.retain(|(size, _)| *size <= K128);
            best(&line)
        };
        ratio(best(sender), best(Sender::Raw))
    };
    let grows = |sender, from, to| {
        let of = |size| seen.octets(Queue::K64, sender, size);
        ratio(of(to), of(from))
    };
    let text = |sender| {
        let of = |kind| seen.at(kind, Queue::Default, sender, K64);
        ratio(of(Kind::Text), of(Kind::Chars))
    };
    let rich = |sender| {
        let of = |kind| seen.at(kind, Queue::Default, sender, K64);
        ratio(of(Kind::Structs), of(Kind::Octets))
    };
    vec![
        Finding::new(
            "ORBs are considerably slower than sockets, most of all with 8 K buffers (Section 2.2.2, Figure 6)",
            [
                share(Sender::Zorb, K8),
                share(Sender::Zorb, K64),
                share(Sender::OmniOrb, K8),
                share(Sender::OmniOrb, K64),
            ],
            |[small, large, omni_small, omni_large]| {
                let shares = [small, large, omni_small, omni_large].map(percent);
                let [a, b, c, d] = shares;
                let seen = format!(
                    "of raw sockets' throughput zorb reaches {a} and {b}, omniORB {c} and {d} ({WITH_K64})"
                );
                (
                    seen,
                    Holds::both(
                        small < 0.85 || large < 0.85,
                        omni_small < 0.85 || omni_large < 0.85,
                    ),
                )
            },
        ),
        Finding::new(
            "At its best an ORB reaches 61 to 63 % of what sockets reach at theirs: 38 and 39 of 62 Mbit/s, with 64 K buffers and queues (Section 2.2.2, Figure 6)",
            [at_best(Sender::Zorb), at_best(Sender::OmniOrb)],
            |[zorb, omni]| {
                let (a, b) = (percent(zorb), percent(omni));
                let seen = format!(
                    "zorb's best is {a} of raw sockets' best, omniORB's {b} (octets, 64 K queues on the loopback, buffers of 1 K to 128 K)"
                );
                (seen, Holds::both(zorb < 0.8, omni < 0.8))
            },
        ),
        Finding::new(
            "An ORB does not get slower beyond 8 K buffers, and levels off at 64 K (Section 2.2.2)",
            [
                grows(Sender::Zorb, K8, K64),
                grows(Sender::Zorb, K64, K128),
                grows(Sender::OmniOrb, K8, K64),
                grows(Sender::OmniOrb, K64, K128),
            ],
            |[zorb, zorb_on, omni, omni_on]| {
                let [a, b, c, d] = [zorb, zorb_on, omni, omni_on].map(three_digits);
                let seen = format!(
                    "from 8 K to 64 K zorb gets {a} and omniORB {c} times as fast, from there to 128 K {b} and {d} times"
                );
                let level = |on: f64| (0.85..1.25).contains(&on);
                (
                    seen,
                    Holds::both(
                        zorb >= 0.95 && level(zorb_on),
                        omni >= 0.95 && level(omni_on),
                    ),
                )
            },
        ),
        Finding::new(
            "An ORB's fixed overhead weighs less the larger the buffers are (Section 2.2.2)",
            [
                share(Sender::Zorb, 1024.0),
                share(Sender::Zorb, K64),
                share(Sender::OmniOrb, 1024.0),
                share(Sender::OmniOrb, K64),
            ],
            |[small, large, omni_small, omni_large]| {
                let [a, b, c, d] = [small, large, omni_small, omni_large].map(percent);
                let seen = format!(
                    "of raw sockets' throughput zorb reaches {a} with 1 K and {b} with 64 K buffers, omniORB {c} and {d}"
                );
                (seen, Holds::both(small < large, omni_small < omni_large))
            },
        ),
        Finding::new(
            "Strings are slower than sequences of chars, since their length has to be searched for: 34 to 39 Mbit/s with Orbix, 30 to 38 with ORBeline (Section 2.2.2)",
            [text(Sender::Zorb), text(Sender::OmniOrb)],
            |[zorb, omni]| {
                let (a, b) = (three_digits(zorb), three_digits(omni));
                let seen = format!(
                    "a string is {a} times as fast as a sequence of chars with zorb, {b} times with omniORB (which takes chars one by one through its code set); 64 K buffers, default queues"
                );
                (seen, Holds::both(zorb < 0.97, omni < 0.97))
            },
        ),
        Finding::new(
            "Richly typed data get through at a third of the speed that is possible (footnote 3)",
            [rich(Sender::Zorb), rich(Sender::OmniOrb)],
            |[zorb, omni]| {
                let (a, b) = (percent(zorb), percent(omni));
                let seen = format!(
                    "structs get through at {a} of the speed of octets with zorb, {b} with omniORB (64 K buffers, default queues)"
                );
                (seen, Holds::both(zorb < 0.4, omni < 0.4))
            },
        ),
        Finding::not_measured(
            "Skeletons allocate and free copies around each upcall, which a receiver does not need that uses them at once (Section 2.2.2)",
            "not measured here: `cargo xtask claims speed` counts allocations",
        ),
        Finding::not_measured(
            "On the way data are copied several times, by one ORB three times as often as by the other (Section 2.2.2, Figure 7)",
            "not measured: nobody counts copies here; what time they take is in the profiles",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn findings_are_of_what_was_measured() {
        let panel = |queue| panel(Kind::Octets, "TCP", queue, Placement::Split);
        let (k8, k64) = (panel(Queue::K8), panel(Queue::K64));
        let data = data(&[
            (&k8, "raw", K8, None, 100.0),
            (&k8, "raw", K64, None, 100.0),
            (&k64, "raw", K8, None, 270.0),
            (&k64, "raw", K64, None, 110.0),
            (&k64, "zorb", K64, None, 99.0),
        ]);
        let all = findings(&data);
        let find = |part: &str| all.iter().find(|f| f.claim.contains(part)).unwrap();
        let queues = find("2.7 times");
        assert_eq!(queues.holds, Holds::InPart);
        assert!(
            queues.seen.starts_with("2.70 and 1.10 times"),
            "{}",
            queues.seen
        );
        // Slower than raw with the short queue.
        assert_eq!(find("slowest ORB").holds, Holds::No);
        // Nobody has measured links, nor structs.
        assert_eq!(find("10 Mbit/s hides").holds, Holds::Unknown);
        assert_eq!(find("Richly typed").holds, Holds::Unknown);
    }
}
