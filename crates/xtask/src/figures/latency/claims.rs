//! What the latency paper concludes from its figures, beside what is seen today.

use crate::claims::Aim;
use crate::figures::data::Data;
use crate::figures::finding::{Finding, Holds, Placed, ratio};
use crate::figures::latency::beside;
use crate::figures::latency::programs::{DEDICATED, OMNIORB, RAW, ZORB};
use crate::figures::latency::{FEW, MANY};
use crate::measure::statistics::three_digits;

/// What is within this factor of something is as good as equal to it.
pub(super) const EQUAL: f64 = 1.15;

/// Both programs on one CPU, where the kernel's scheduler adds least of its own.
pub(super) fn at(data: &Data, panel: &str, series: &str, x: usize) -> Option<f64> {
    data.at(&format!("{panel}, same"), series, x as f64)
}

pub(super) fn times(value: f64) -> String {
    format!("×{}", three_digits(value))
}

/// The ratio of two places of a line, for zorb and for omniORB.
fn grows(data: &Data, panel: &str, from: usize, to: usize) -> [Option<f64>; 2] {
    [ZORB, OMNIORB].map(|series| ratio(at(data, panel, series, to), at(data, panel, series, from)))
}

pub(super) fn is_equal(ratio: f64) -> bool {
    (1.0 / EQUAL..=EQUAL).contains(&ratio)
}

/// How many times one point is another, both programs on one CPU: by the medians, and at least and at most by the quartiles
/// of both.
#[derive(Clone, Copy)]
struct Times {
    median: f64,
    least: f64,
    most: f64,
}

impl Times {
    /// Of a panel and a number each, for zorb and for omniORB, one behind the other.
    fn both(data: &Data, to: (&str, usize), from: (&str, usize)) -> [Option<f64>; 6] {
        let of = |series: &str, (panel, x): (&str, usize)| {
            let panel = format!("{panel}, same");
            let mut found = data
                .of(&panel)
                .filter(|point| point.series == series && point.x == x as f64);
            found
                .next()
                .map(|point| [point.value, point.low, point.high])
        };
        let times = |series| {
            let [value, low, high] = of(series, to)?;
            let [from, from_low, from_high] = of(series, from)?;
            Some([value / from, low / from_high, high / from_low])
        };
        let [ours, theirs] = [ZORB, OMNIORB].map(times);
        let each = |one: Option<[f64; 3]>, at: usize| one.map(|times| times[at]);
        [
            each(ours, 0),
            each(ours, 1),
            each(ours, 2),
            each(theirs, 0),
            each(theirs, 1),
            each(theirs, 2),
        ]
    }

    /// What [`both`](Self::both) has put one behind the other.
    const fn of([median, least, most, b_median, b_least, b_most]: [f64; 6]) -> [Self; 2] {
        [
            Self {
                median,
                least,
                most,
            },
            Self {
                median: b_median,
                least: b_least,
                most: b_most,
            },
        ]
    }

    fn told(self) -> String {
        let Self {
            median,
            least,
            most,
        } = self;
        let [median, least, most] = [median, least, most].map(times);
        format!("{median} ({least} to {most})")
    }

    /// Whether it is no more than that.
    fn at_most(self, limit: f64) -> Holds {
        match (self.most <= limit, self.least > limit) {
            (true, _) => Holds::Yes,
            (_, true) => Holds::No,
            _ => Holds::Untold,
        }
    }

    /// Whether it is more than that.
    fn more_than(self, limit: f64) -> Holds {
        match self.at_most(limit) {
            Holds::Yes => Holds::No,
            Holds::No => Holds::Yes,
            other => other,
        }
    }

    /// Whether it is as good as one.
    fn is_one(self) -> Holds {
        match (is_equal(self.least), is_equal(self.most)) {
            (true, true) => Holds::Yes,
            _ if self.least > EQUAL || self.most < 1.0 / EQUAL => Holds::No,
            _ => Holds::Untold,
        }
    }
}

pub(super) fn all(data: &Data) -> Vec<Finding> {
    [
        without_parameters(data),
        with_parameters(data),
        worst_case(data),
        beside::all(data),
        summary(data),
    ]
    .concat()
}

/// Section 4.1.2.
fn without_parameters(data: &Data) -> Vec<Finding> {
    let grown = |of: &'static str| Times::both(data, (of, MANY), (of, FEW));
    let cached = Times::both(data, ("noparams robin", MANY), ("noparams train", MANY));
    let one_way = grown("oneway_noparams robin");
    let two_way = grown("noparams robin");
    let far = grows(data, "noparams random", FEW, 100_000);
    let ways = |series| {
        let one = at(data, "oneway_noparams robin", series, MANY);
        ratio(one, at(data, "noparams robin", series, MANY))
    };
    let sockets = |series| {
        ratio(
            at(data, "noparams robin", RAW, FEW),
            at(data, "noparams robin", series, FEW),
        )
    };
    let apart = |series| {
        let of = |series| data.at("noparams robin, split", series, FEW as f64);
        ratio(of(RAW), of(series))
    };
    vec![
        Finding::new(
            "A train of requests to one servant is not faster than going round: no ORB remembers whom it called last (4.1.2; Figures 6 to 9)",
            cached,
            |all| {
                let [ours, theirs] = Times::of(all);
                let seen = format!("going round 500 servants takes zorb {} of what trains take, omniORB {}", ours.told(), theirs.told());
                (seen, Holds::together(ours.is_one(), theirs.is_one()))
            },
        ),
        Finding::new(
            "One-way calls take the same on 1 servant and on 500 where servants are hashed, and ever longer where each reference has a connection (4.1.2; Figures 6 to 9)",
            one_way,
            |all| {
                let [ours, theirs] = Times::of(all);
                let seen = format!("from 1 to 500 servants: zorb {}, omniORB {}; neither has a connection a reference", ours.told(), theirs.told());
                (seen, Holds::together(ours.at_most(EQUAL), theirs.at_most(EQUAL)))
            },
        ),
        Finding::new(
            "One-way calls become slower than two-way ones beyond 200 servants, since the receiver does not keep up (4.1.2; Figures 6 and 8)",
            [ways(ZORB), ways(OMNIORB)],
            |[ours, theirs]| {
                let seen = format!("at 500 servants a one-way call takes zorb {} of a two-way one, omniORB {}", times(ours), times(theirs));
                (seen, Holds::both(ours > 1.0, theirs > 1.0))
            },
        ),
        Finding::new(
            "Two-way calls take the same on 1 servant and on 500 where servants are hashed and share a connection (4.1.2; Figures 7 and 9)",
            two_way,
            |all| {
                let [ours, theirs] = Times::of(all);
                let seen = format!("from 1 to 500 servants: zorb {}, omniORB {}", ours.told(), theirs.told());
                (seen, Holds::together(ours.at_most(EQUAL), theirs.at_most(EQUAL)))
            },
        )
        .with_number("two-way-500-servants-over-1", two_way[0], Aim::AtMost(EQUAL)),
        Finding::new(
            "Where each reference has a connection, two-way calls take 1.12 times as long with every hundred servants more (4.1.2; Figures 6 and 8)",
            two_way,
            |all| {
                let [ours, theirs] = Times::of(all.map(|growth| growth.powf(1.0 / 5.0)));
                let seen = format!("every hundred servants: zorb {}, omniORB {}", ours.told(), theirs.told());
                (seen, Holds::together(ours.more_than(1.06), theirs.more_than(1.06)))
            },
        ),
        Finding::new(
            "Neither ORB serves more than some thousand servants without failing (4.4)",
            far,
            |[ours, theirs]| {
                let seen = format!("both serve 100,000, called in random order; beside 1 servant a call takes zorb {}, omniORB {}", times(ours), times(theirs));
                (seen, Holds::No)
            },
        )
        .with_number("two-way-100000-servants-over-1", far[0], Aim::AtMost(1.5)),
        Finding::new(
            "The ORBs do 50 and 46 % of what sockets alone do (4.1.1; Figure 10)",
            [sockets(ZORB), sockets(OMNIORB)],
            |[ours, theirs]| {
                let seen = format!("zorb {:.0} %, omniORB {:.0} % of raw sockets", 100.0 * ours, 100.0 * theirs);
                (seen, Holds::both(ours < 0.6, theirs < 0.6))
            },
        )
        .with_number("of-raw-sockets", sockets(ZORB), Aim::AtLeast(0.6)),
        Finding::new(
            "The same where each program has a CPU of its own, as in the paper (4.1.1; Figure 10)",
            [apart(ZORB), apart(DEDICATED), apart(OMNIORB)],
            |[ours, sleeping, theirs]| {
                let seen = format!(
                    "zorb, which tries before it sleeps, {:.0} %, zorb dedicated {:.0} %, omniORB {:.0} % of raw sockets, which sleep",
                    100.0 * ours,
                    100.0 * sleeping,
                    100.0 * theirs
                );
                (seen, Holds::both(ours < 0.6, theirs < 0.6))
            },
        )
        .placed(Placed::Split),
        Finding::not_measured(
            "Calls by the dynamic invocation interface take as long as static ones where a request is used again, and 2.6 times as long where it is not (4.1.2)",
            "zorb has no dynamic invocation interface",
        ),
    ]
}

/// Section 4.2.2.
fn with_parameters(data: &Data) -> Vec<Finding> {
    let sent = |of: &str, series| {
        ratio(
            at(data, &format!("{of} {FEW}"), series, 1024),
            at(data, &format!("{of} {FEW}"), series, 1),
        )
    };
    let [many, few] = [MANY, FEW].map(|count| format!("struct {count}"));
    let servants = Times::both(data, (&many, 1024), (&few, 1024));
    let operations = Times::both(data, ("operations worst", 100), ("operations worst", 1));
    vec![
        Finding::new(
            "Latency grows in step with the size of the request (4.2.2; Figures 11 to 26)",
            [sent("octet", ZORB), sent("octet", OMNIORB), sent("struct", ZORB), sent("struct", OMNIORB)],
            |[octets, their_octets, structs, their_structs]| {
                let seen = format!(
                    "from 1 to 1,024 units: octets zorb {}, omniORB {}; structs zorb {}, omniORB {}",
                    times(octets), times(their_octets), times(structs), times(their_structs)
                );
                (seen, Holds::both(octets.min(their_octets) > 2.0, structs.min(their_structs) > 2.0))
            },
        ),
        Finding::new(
            "With parameters too, the number of servants does not matter where they are hashed, and matters where they are searched (4.2.2; Figures 19 to 26)",
            servants,
            |all| {
                let [ours, theirs] = Times::of(all);
                let seen = format!("1,024 structs to one of 500 servants beside the only one: zorb {}, omniORB {}", ours.told(), theirs.told());
                (seen, Holds::together(ours.at_most(EQUAL), theirs.at_most(EQUAL)))
            },
        ),
        Finding::new(
            "Latency grows with the number of operations in the interface where their names are compared one by one (4.2.2)",
            operations,
            |all| {
                let [ours, theirs] = Times::of(all);
                let seen = format!("the last of 100 operations beside the only one: zorb {}, omniORB {}", ours.told(), theirs.told());
                (seen, Holds::together(ours.more_than(EQUAL), theirs.more_than(EQUAL)))
            },
        )
        .with_number("100-operations-over-1", operations[0], Aim::AtMost(EQUAL)),
        Finding::not_measured(
            "The dynamic invocation interface is 3 times as slow with octets and 14 times with structs where requests are not used again, as fast and 4 times as slow where they are (4.2.2)",
            "zorb has no dynamic invocation interface",
        ),
    ]
}

/// Section 5.3, from outside: what the demultiplexing experiment looks at within one process.
fn worst_case(data: &Data) -> Vec<Finding> {
    let beside = Times::both(data, ("hundred worst", MANY), ("hundred random", MANY));
    let far = Times::both(data, ("hundred worst", 100_000), ("hundred worst", FEW));
    vec![
        Finding::new(
            "With 500 servants and 100 operations the last operation of the last servant takes 1.87 times as long as any of any where both are searched from the first, and no longer where they are hashed or indexed (5.3.2; Figures 31 and 32)",
            beside,
            |all| {
                let [ours, theirs] = Times::of(all);
                let seen = format!(
                    "the last of the last beside any of any, whole calls: zorb {}, omniORB {}",
                    ours.told(),
                    theirs.told()
                );
                (
                    seen,
                    Holds::together(ours.at_most(EQUAL), theirs.at_most(EQUAL)),
                )
            },
        ),
        Finding::new(
            "In the worst case, too, the number of servants does not matter where they are hashed or indexed (5.3.2; Figure 32)",
            far,
            |all| {
                let [ours, theirs] = Times::of(all);
                let seen = format!(
                    "the last operation of the last of 100,000 servants beside that of the only one: zorb {}, omniORB {}",
                    ours.told(),
                    theirs.told()
                );
                (
                    seen,
                    Holds::together(ours.at_most(EQUAL), theirs.at_most(EQUAL)),
                )
            },
        ),
    ]
}

/// Section 4.5.
fn summary(data: &Data) -> Vec<Finding> {
    let share = |series| {
        ratio(
            at(data, "noparams robin", RAW, FEW),
            at(data, "noparams robin", series, FEW),
        )
    };
    let of = |of: &str, series| at(data, &format!("{of} {FEW}"), series, 1024);
    let rich = |series| ratio(of("struct", series), of("octet", series));
    let beside_raw = |series| ratio(of("struct", series), of("struct", RAW));
    let spread = |series: &'static str| {
        let panel = format!("oneway_octet {FEW}, same");
        let found = data.of(&panel).filter(|point| point.series == series);
        let widest = found.map(|point| (point.high - point.low) / point.value);
        widest.reduce(f64::max)
    };
    vec![
        Finding::new(
            "Most of the sender's time goes into the system calls that send (4.5)",
            [share(ZORB), share(OMNIORB)],
            |[ours, theirs]| {
                let seen = format!(
                    "what the kernel alone takes is {:.0} % of a whole call of zorb's and {:.0} % of one of omniORB's, both ends together; by function in the profiles",
                    100.0 * ours,
                    100.0 * theirs
                );
                (seen, Holds::both(ours > 0.5, theirs > 0.5))
            },
        ),
        Finding::new(
            "Much of the receiver's time goes into the conversion of typed data such as structs (4.5; Figures 19 to 26)",
            [
                rich(ZORB),
                rich(OMNIORB),
                beside_raw(ZORB),
                beside_raw(OMNIORB),
            ],
            |[ours, theirs, our_cost, their_cost]| {
                let seen = format!(
                    "1,024 structs beside 1,024 octets: zorb {}, omniORB {}; beside as many octets without an ORB: zorb {}, omniORB {}",
                    times(ours),
                    times(theirs),
                    times(our_cost),
                    times(their_cost)
                );
                (seen, Holds::both(our_cost > 1.5, their_cost > 1.5))
            },
        ),
        Finding::new(
            "Buffers inside of the ORB make the time of one-way calls vary much (4.2.1; Figures 12 to 16)",
            [spread(ZORB), spread(OMNIORB), spread(RAW)],
            |[ours, theirs, none]| {
                let seen = format!(
                    "the quartiles of the rounds are at most {:.0} % apart with zorb, {:.0} % with omniORB, {:.0} % with raw sockets, which \
                     have no such buffers",
                    100.0 * ours,
                    100.0 * theirs,
                    100.0 * none
                );
                (seen, Holds::both(ours > none, theirs > none))
            },
        ),
        Finding::not_measured(
            "ORBs call too many functions of their own for each request (4.5)",
            "not a matter of times from outside: see the white box and the profiles",
        ),
        Finding::not_measured(
            "The dynamic invocation interface is the slower the larger the request is (4.5)",
            "zorb has no dynamic invocation interface",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn what_the_rounds_are_too_far_apart_for_is_not_told() {
        let of = |median, least, most| Times {
            median,
            least,
            most,
        };
        for (times, at_most, is_one) in [
            (of(1.0, 0.95, 1.1), Holds::Yes, Holds::Yes),
            (of(1.0, 0.8, 1.1), Holds::Yes, Holds::Untold),
            (of(1.1, 0.95, 1.3), Holds::Untold, Holds::Untold),
            (of(1.3, 1.2, 1.4), Holds::No, Holds::No),
            (of(0.5, 0.4, 0.6), Holds::Yes, Holds::No),
        ] {
            assert_eq!(times.at_most(EQUAL), at_most, "{}", times.told());
            assert_eq!(times.is_one(), is_one, "{}", times.told());
            let more = Holds::together(times.more_than(EQUAL), at_most);
            let opposite = match at_most {
                Holds::Untold => Holds::Untold,
                _ => Holds::InPart,
            };
            assert_eq!(more, opposite, "{}", times.told());
        }
    }

    #[test]
    fn claims_are_judged_by_the_data() {
        let flat = data(&[
            ("noparams robin, same", ZORB, 1.0, None, 10.0),
            ("noparams robin, same", ZORB, 500.0, None, 10.5),
            ("noparams robin, same", OMNIORB, 1.0, None, 12.0),
            ("noparams robin, same", OMNIORB, 500.0, None, 24.0),
        ]);
        let found = all(&flat);
        let of = |words: &str| found.iter().find(|f| f.claim.contains(words)).unwrap();
        let servants = of("on 1 servant and on 500 where servants are hashed and share");
        assert_eq!(servants.holds, Holds::InPart);
        assert!(
            servants
                .seen
                .contains("zorb ×1.05 (×1.05 to ×1.05), omniORB ×2.00 (×2.00 to ×2.00)"),
            "{}",
            servants.seen
        );
        assert_eq!(of("A train of requests").holds, Holds::Unknown);
        let searched = data(&[
            ("hundred random, same", ZORB, 500.0, None, 10.0),
            ("hundred worst, same", ZORB, 500.0, None, 9.0),
            ("hundred random, same", OMNIORB, 500.0, None, 10.0),
            ("hundred worst, same", OMNIORB, 500.0, None, 15.0),
        ]);
        let found = all(&searched);
        let of = |words: &str| found.iter().find(|f| f.claim.contains(words)).unwrap();
        let last = of("the last operation of the last servant takes 1.87");
        assert_eq!(last.holds, Holds::InPart);
        assert!(
            last.seen
                .contains("zorb ×0.90 (×0.90 to ×0.90), omniORB ×1.50 (×1.50"),
            "{}",
            last.seen
        );
    }

    #[test]
    fn numbers_of_ours_that_have_to_stay_have_names() {
        let names: Vec<_> = all(&data(&[]))
            .into_iter()
            .filter_map(|f| f.number)
            .map(|n| n.0)
            .collect();
        assert_eq!(names.len(), 4);
    }
}
