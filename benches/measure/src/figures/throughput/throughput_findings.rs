//! The paper's claims about its figures, and today's findings.

use crate::figures::data::Data;
use crate::figures::finding::{Finding, Holds};
use crate::figures::measured::{EQUAL, Measured, ratio};
use crate::figures::throughput::flood::{Kind, Queue, Road, Sender, panel};
use crate::figures::throughput::links::SPEEDS;
use crate::figures::throughput::sent;
use crate::measure::place::Placement;

const K8: f64 = 8192.0;
const K64: f64 = 65536.0;
const K128: f64 = 131_072.0;

/// Megabits a second over TCP on the loopback, each program on a CPU of its own.
struct Seen<'a>(&'a Data);

impl Seen<'_> {
    fn at(&self, kind: Kind, queue: Queue, sender: Sender, size: f64) -> Option<Measured> {
        let panel = panel(kind, Road::Tcp.name(), queue, Placement::Split);
        self.0.measured(&panel, sender.name(), size)
    }

    fn octets(&self, queue: Queue, sender: Sender, size: f64) -> Option<Measured> {
        self.at(Kind::Octets, queue, sender, size)
    }

    fn link(&self, speed: usize, queue: Queue, sender: Sender) -> Vec<(f64, Measured)> {
        let name = SPEEDS.get(speed).map_or("", |speed| speed.name);
        let panel = panel(Kind::Octets, name, queue, Placement::Split);
        self.0.measured_line(&panel, sender.name())
    }

    /// The most through a sender, in buffers of the paper's sizes, of one octet excepted.
    fn best(&self, kind: Kind, queue: Queue, sender: Sender) -> Option<Measured> {
        let panel = panel(kind, Road::Tcp.name(), queue, Placement::Split);
        let mut line = self.0.measured_line(&panel, sender.name());
        line.retain(|(size, _)| (1024.0..=K128).contains(size));
        best_of(&line)
    }
}

fn best_of(line: &[(f64, Measured)]) -> Option<Measured> {
    Measured::largest(line.iter().map(|(_, value)| *value))
}

fn worst(line: &[(f64, Measured)]) -> Option<Measured> {
    Measured::smallest(line.iter().map(|(_, value)| *value))
}

fn mbit(value: Measured) -> String {
    value.with_unit("Mbit/s")
}

const WITH_K64: &str = "queues of 64 K on the loopback";
const ORBS: [Sender; 2] = [Sender::Zorb, Sender::OmniOrb];

/// The experiment in three sentences.
pub(super) fn seen(data: &Data) -> Option<String> {
    let seen = Seen(data);
    let best = |sender| seen.best(Kind::Octets, Queue::K64, sender);
    let over_raw = |sender| ratio(best(sender), best(Sender::Raw));
    let structs = |sender| {
        let of = |kind| seen.at(kind, Queue::Default, sender, K64);
        ratio(of(Kind::Structs), of(Kind::Octets))
    };
    let slow = slow_link(&seen);
    Some(format!(
        "On the loopback the best of zorb is {} of the best of raw sockets, and the best of omniORB {}. Structs reach {} of the \
         throughput of octets with zorb, and {} with omniORB. A link of 10 Mbit/s carries {} to {} for every program.",
        over_raw(Sender::Zorb)?.share(),
        over_raw(Sender::OmniOrb)?.share(),
        structs(Sender::Zorb)?.share(),
        structs(Sender::OmniOrb)?.share(),
        mbit(worst(&slow)?),
        mbit(best_of(&slow)?)
    ))
}

pub(super) fn findings(data: &Data) -> Vec<Finding> {
    let seen = Seen(data);
    let mut all = without_an_orb(&seen);
    all.extend(over_links(&seen));
    all.extend(with_an_orb(&seen));
    all.extend(by_type(&seen));
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
        let orbs = ORBS.map(|orb| seen.octets(Queue::K64, orb, K64));
        Measured::smallest(orbs.into_iter().flatten())
    };
    vec![
        Finding::new(
            "Typed wrappers around sockets cost next to nothing (Section 2.2.1, Figures 2 and 3)",
            [wrapped(K8), wrapped(K64)],
            |[small, large]| {
                let seen = format!(
                    "our transport layer alone, of raw sockets, with buffers of 8 K and 64 K: {} and {}; {WITH_K64}",
                    small.share(),
                    large.share()
                );
                (
                    seen,
                    Holds::all([small, large].map(|part| part.at_least(1.0 / EQUAL))),
                )
            },
        ),
        Finding::new(
            "Socket queues of 64 K instead of 8 K raise throughput 2.7 times (Section 2.2.1, Figure 3)",
            [queue(Sender::Raw, K8), queue(Sender::Raw, K64)],
            |[small, large]| {
                let seen = format!(
                    "raw sockets on the loopback: {} with buffers of 8 K and {} with 64 K",
                    small.factor(),
                    large.factor()
                );
                (
                    seen,
                    Holds::all([small, large].map(|times| times.beside(2.7, 2.7))),
                )
            },
        ),
        Finding::new(
            "The queues matter more than the ORB: the slowest ORB with 64 K beats sockets with 8 K (Section 3; Figures 3 and 6)",
            [slowest(), seen.octets(Queue::K8, Sender::Raw, K64)],
            |[orb, raw]| {
                let seen = format!(
                    "buffers of 64 K: the slowest ORB {}, raw sockets with queues of 8 K {}",
                    mbit(orb),
                    mbit(raw)
                );
                (seen, orb.over(raw).above(1.0))
            },
        ),
    ]
}

/// The rate that all programs reach over the slowest link, with both lengths of queues and buffers of 8 K and more.
fn slow_link(seen: &Seen<'_>) -> Vec<(f64, Measured)> {
    let senders = [Sender::Zorb, Sender::OmniOrb, Sender::Raw];
    let lines = [Queue::K8, Queue::K64].map(|q| senders.map(|s| seen.link(0, q, s)));
    let all = lines.into_iter().flatten().flatten();
    all.filter(|(size, _)| *size >= K8).collect()
}

fn over_links(seen: &Seen<'_>) -> Vec<Finding> {
    let all_programs = || slow_link(seen);
    let raw = |speed: usize, queue| best_of(&seen.link(speed, queue, Sender::Raw));
    let share = |speed: usize, queue| {
        let top = f64::from(SPEEDS.get(speed)?.mbit?);
        Some(raw(speed, queue)?.times(1.0 / top))
    };
    let fast = seen.link(2, Queue::K64, Sender::Raw);
    let at = |size: f64| {
        let found = fast.iter().find(|(x, _)| *x == size);
        found.map(|(_, value)| *value)
    };
    vec![
        Finding::new(
            "A link of 10 Mbit/s hides the differences: 8 to 8.7 Mbit/s for all (Section 2.2, Figures 2, 3 and 6)",
            [worst(&all_programs()), best_of(&all_programs())],
            |[low, high]| {
                let seen = format!(
                    "{} to {}, all senders and queues, from buffers of 8 K on",
                    mbit(low),
                    mbit(high)
                );
                let as_much = Holds::all([low, high].map(|rate| rate.about(8.0, 8.7)));
                (seen, Holds::and(high.over(low).is_no_more(), as_much))
            },
        ),
        Finding::new(
            "On a link of 10 Mbit/s the socket queues hardly matter: at best 8.4 with 8 K and 8.7 with 64 K (Section 2.2.1, Figure 3)",
            [raw(0, Queue::K8), raw(0, Queue::K64)],
            |[small, large]| {
                let seen = format!(
                    "raw sockets at best {} with 8 K and {} with 64 K",
                    mbit(small),
                    mbit(large)
                );
                (seen, large.over(small).is_one())
            },
        ),
        Finding::new(
            "A link of 155 Mbit/s carries almost 8 times as much as one of 10: 62 and 8.7 Mbit/s (Section 2.2, Figures 2 and 3)",
            [raw(0, Queue::K64), raw(1, Queue::K64)],
            |[slow, fast]| {
                let times = fast.over(slow);
                let seen = format!(
                    "raw sockets {} and {}: {}",
                    mbit(fast),
                    mbit(slow),
                    times.factor()
                );
                (seen, times.beside(62.0 / 8.7, 8.0))
            },
        ),
        Finding::new(
            "Of a faster link less is used: 40 % of 155 Mbit/s, but 87 % of 10 (Section 2.2, Figures 2 and 3)",
            [share(0, Queue::K64), share(1, Queue::K64)],
            |[slow, fast]| {
                let seen = format!(
                    "raw sockets use {} of 10 Mbit/s and {} of 155",
                    slow.share(),
                    fast.share()
                );
                (seen, slow.over(fast).beside(87.0 / 40.0, 87.0 / 40.0))
            },
        ),
        Finding::new(
            "On a link of 155 Mbit/s queues of 8 K leave 23 Mbit/s of 62 (Section 2.2.1, Figure 3)",
            [share(1, Queue::K8), share(1, Queue::K64)],
            |[small, large]| {
                let seen = format!(
                    "raw sockets use {} with 8 K and {} with 64 K",
                    small.share(),
                    large.share()
                );
                (seen, large.over(small).beside(62.0 / 23.0, 62.0 / 23.0))
            },
        ),
        Finding::new(
            "Buffers beyond the MTU of 9,180 are slower: 62 Mbit/s at 8 K, 48 at 64 K (Section 2.2.1, Figure 3)",
            [at(K8), at(K64)],
            |[small, large]| {
                let seen = format!(
                    "raw sockets over an unlimited link of that MTU: {} at 8 K, {} at 64 K",
                    mbit(small),
                    mbit(large)
                );
                (seen, small.over(large).beside(62.0 / 48.0, 62.0 / 48.0))
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
        let best = |sender: Sender| seen.best(Kind::Octets, Queue::K64, sender);
        ratio(best(sender), best(Sender::Raw))
    };
    let grows = |sender, from, to| {
        let of = |size| seen.octets(Queue::K64, sender, size);
        ratio(of(to), of(from))
    };
    vec![
        Finding::new(
            "ORBs are considerably slower than sockets, most of all with 8 K buffers (Section 2.2.2, Figures 3 and 6)",
            [
                share(Sender::Zorb, K8),
                share(Sender::Zorb, K64),
                share(Sender::OmniOrb, K8),
                share(Sender::OmniOrb, K64),
            ],
            |[small, large, omni_small, omni_large]| {
                let seen = format!(
                    "of raw sockets, with buffers of 8 K and 64 K: zorb {} and {}, omniORB {} and {}; {WITH_K64}",
                    small.share(),
                    large.share(),
                    omni_small.share(),
                    omni_large.share()
                );
                let slower = |small: Measured, large: Measured| {
                    let both = Holds::and(small.below(1.0 / EQUAL), large.below(1.0 / EQUAL));
                    Holds::and(both, small.over(large).below(1.0))
                };
                (
                    seen,
                    Holds::all([slower(small, large), slower(omni_small, omni_large)]),
                )
            },
        ),
        Finding::new(
            "An ORB's best is 61 to 63 % of the sockets' best: 38 and 39 of 62 Mbit/s (Section 2.2.2, Figures 2 and 6)",
            ORBS.map(at_best),
            |[zorb, omni]| {
                let seen = format!(
                    "of the best of raw sockets: zorb {}, omniORB {}; octets, queues of 64 K on the loopback, buffers of 1 K to 128 K",
                    zorb.share(),
                    omni.share()
                );
                (
                    seen,
                    Holds::all([zorb, omni].map(|part| part.about(0.61, 0.63))),
                )
            },
        ),
        Finding::new(
            "An ORB does not get slower beyond 8 K buffers, and levels off at 64 K (Section 2.2.2, Figure 6)",
            [
                grows(Sender::Zorb, K8, K64),
                grows(Sender::Zorb, K64, K128),
                grows(Sender::OmniOrb, K8, K64),
                grows(Sender::OmniOrb, K64, K128),
            ],
            |[zorb, zorb_on, omni, omni_on]| {
                let seen = format!(
                    "from 8 K to 64 K zorb {} and omniORB {}, from there to 128 K {} and {}",
                    zorb.factor(),
                    omni.factor(),
                    zorb_on.factor(),
                    omni_on.factor()
                );
                let levels =
                    |to: Measured, on: Measured| Holds::and(to.at_least(1.0 / EQUAL), on.is_one());
                (
                    seen,
                    Holds::all([levels(zorb, zorb_on), levels(omni, omni_on)]),
                )
            },
        ),
        Finding::new(
            "An ORB's fixed overhead weighs less the larger the buffers are (Section 2.2.2, Figure 6)",
            [
                share(Sender::Zorb, 1024.0),
                share(Sender::Zorb, K64),
                share(Sender::OmniOrb, 1024.0),
                share(Sender::OmniOrb, K64),
            ],
            |[small, large, omni_small, omni_large]| {
                let seen = format!(
                    "of raw sockets, with buffers of 1 K and 64 K: zorb {} and {}, omniORB {} and {}; {WITH_K64}",
                    small.share(),
                    large.share(),
                    omni_small.share(),
                    omni_large.share()
                );
                let less = |small: Measured, large: Measured| small.over(large).below(1.0);
                (
                    seen,
                    Holds::all([less(small, large), less(omni_small, omni_large)]),
                )
            },
        ),
    ]
}

/// Whether it is the same ORB that is faster at every size.
fn always_faster(seen: &Seen<'_>) -> Finding {
    let beside = |kind| {
        let panel = panel(kind, Road::Tcp.name(), Queue::Default, Placement::Split);
        let mut line = seen.0.measured_line(&panel, Sender::Zorb.name());
        line.retain(|(size, _)| (1024.0..=K128).contains(size));
        let ratio = |(size, ours): (f64, Measured)| {
            let theirs = seen.0.measured(&panel, Sender::OmniOrb.name(), size)?;
            Some(ours.over(theirs))
        };
        line.into_iter().filter_map(ratio).collect::<Vec<_>>()
    };
    let all = [Kind::Chars, Kind::Text].map(beside).concat();
    Finding::new(
        "One ORB is always slower than the other, with sequences and with strings (Section 2.2.2, Figure 6)",
        [
            Measured::smallest(all.iter().copied()),
            Measured::largest(all.iter().copied()),
        ],
        |[least, most]| {
            let seen = format!(
                "zorb over omniORB: {} to {}, chars and strings in buffers of 1 K to 128 K, default queues",
                least.factor(),
                most.factor()
            );
            let either = [
                Holds::all(all.iter().map(|ours| ours.above(1.0))),
                Holds::all(all.iter().map(|ours| ours.below(1.0))),
            ];
            let holds = match either {
                [Holds::Yes, _] | [_, Holds::Yes] => Holds::Yes,
                [Holds::InPart, _] => Holds::No,
                _ => Holds::Untold,
            };
            (seen, holds)
        },
    )
}

/// The findings about the type of the buffers.
fn by_type(seen: &Seen<'_>) -> Vec<Finding> {
    let of = |kind, sender| seen.at(kind, Queue::Default, sender, K64);
    let text = |sender| ratio(of(Kind::Chars, sender), of(Kind::Text, sender));
    let rich = |sender| ratio(of(Kind::Structs, sender), of(Kind::Octets, sender));
    let other = |kind| {
        let best = |sender| seen.best(kind, Queue::Default, sender);
        ratio(best(Sender::Zorb), best(Sender::OmniOrb))
    };
    vec![
        Finding::new(
            "Strings are slower than sequences of chars: 34 against 39 Mbit/s, 30 against 38 (Section 2.2.2, Figure 6)",
            ORBS.map(text),
            |[zorb, omni]| {
                let seen = format!(
                    "sequences of chars over strings: zorb {}, omniORB {}; omniORB converts each char by its code set; buffers of 64 K, default queues",
                    zorb.factor(),
                    omni.factor()
                );
                (
                    seen,
                    Holds::all([zorb, omni].map(|times| times.beside(39.0 / 34.0, 38.0 / 30.0))),
                )
            },
        ),
        always_faster(seen),
        Finding::new(
            "The best of both ORBs are close: 39 and 38 Mbit/s with sequences, 34 and 30 with strings (Section 2.2.2, Figure 6)",
            [other(Kind::Chars), other(Kind::Text)],
            |[chars, text]| {
                let seen = format!(
                    "best of zorb over best of omniORB: {} with sequences of chars, {} with strings; default queues, buffers of 1 K to 128 K",
                    chars.factor(),
                    text.factor()
                );
                (
                    seen,
                    Holds::all([
                        chars.beside(1.0, 39.0 / 38.0),
                        text.beside(1.0, 34.0 / 30.0),
                    ]),
                )
            },
        ),
        Finding::new(
            "Richly typed data reach some 30 % of the possible throughput (footnote 3)",
            ORBS.map(rich),
            |[zorb, omni]| {
                let seen = format!(
                    "structs reach {} of the throughput of octets with zorb, {} with omniORB; buffers of 64 K, default queues",
                    zorb.share(),
                    omni.share()
                );
                (
                    seen,
                    Holds::all([zorb, omni].map(|part| part.about(0.3, 0.3))),
                )
            },
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn an_orb_is_always_faster_if_it_is_at_every_size() {
        let panel = panel(Kind::Chars, "TCP", Queue::Default, Placement::Split);
        let judged = |of_64_k: f64| {
            let data = data(&[
                (&panel, "zorb", K8, None, 200.0),
                (&panel, "omniORB", K8, None, 100.0),
                (&panel, "zorb", K64, None, of_64_k),
                (&panel, "omniORB", K64, None, 100.0),
            ]);
            always_faster(&Seen(&data)).holds
        };
        assert_eq!(judged(300.0), Holds::Yes);
        assert_eq!(judged(50.0), Holds::No);
        assert_eq!(always_faster(&Seen(&data(&[]))).holds, Holds::Unknown);
    }

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
            queues
                .seen
                .contains("×2.70 with buffers of 8 K and ×1.10 with 64 K"),
            "{}",
            queues.seen
        );
        // Slower than raw with the short queue.
        assert_eq!(find("slowest ORB").holds, Holds::No);
        // Links and structs have not been measured.
        assert_eq!(find("10 Mbit/s hides").holds, Holds::Unknown);
        assert_eq!(find("Richly typed").holds, Holds::Unknown);
    }
}
