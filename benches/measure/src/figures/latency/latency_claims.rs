//! The latency paper's conclusions from its figures, and today's findings.

use crate::figures::data::Data;
use crate::figures::finding::{Finding, Holds, Placed};
use crate::figures::latency::beside;
use crate::figures::latency::drift;
use crate::figures::latency::latency_programs::{DEDICATED, OMNIORB, RAW, ZORB};
use crate::figures::latency::{FEW, MANY};
use crate::figures::measured::{EQUAL, Measured, NOTHING, ratio};
use crate::row::Aim;

/// Where a time is more than this many times that of the smallest request, more than half of it is there for the size:
/// it grows in step with it rather than not.
const IN_STEP: f64 = 2.0;

/// Both programs on one CPU, where the kernel's scheduler adds least of its own.
pub(super) fn at(data: &Data, panel: &str, series: &str, x: usize) -> Option<Measured> {
    data.measured(&format!("{panel}, same"), series, x as f64)
}

/// The ratio of one place to another, for zorb and for omniORB.
fn both(data: &Data, to: (&str, usize), from: (&str, usize)) -> [Option<Measured>; 2] {
    let of = |series: &str, (panel, x): (&str, usize)| at(data, panel, series, x);
    [ZORB, OMNIORB].map(|series| ratio(of(series, to), of(series, from)))
}

/// The results of both, for a sentence: `zorb ×1.07, omniORB ×1.08`.
pub(super) fn of_both(ours: Measured, theirs: Measured) -> String {
    format!("zorb {}, omniORB {}", ours.factor(), theirs.factor())
}

/// The experiment in three sentences.
pub(super) fn seen(data: &Data) -> Option<String> {
    let call = |panel: &str, series, x| at(data, panel, series, x);
    let robin = "noparams robin";
    let sockets = |series| ratio(call(robin, RAW, FEW), call(robin, series, FEW));
    let [grown, grown_omni] = both(data, (robin, MANY), (robin, FEW));
    let random = "noparams random";
    let [far, far_omni] = both(data, (random, 100_000), (random, FEW));
    Some(format!(
        "With both programs on one CPU zorb performs {} as well as raw sockets, and omniORB {}. From 1 to 500 servants \
         the time of a two-way call grows {} with zorb and {} with omniORB; with 100,000 servants {} and {}.",
        sockets(ZORB)?.share(),
        sockets(OMNIORB)?.share(),
        grown?.factor(),
        grown_omni?.factor(),
        far?.factor(),
        far_omni?.factor()
    ))
}

pub(super) fn all(data: &Data) -> Vec<Finding> {
    [
        without_parameters(data),
        with_parameters(data),
        worst_case(data),
        beside::all(data),
        summary(data),
        vec![drift::finding(data)],
    ]
    .concat()
}

/// Section 4.1.2.
fn without_parameters(data: &Data) -> Vec<Finding> {
    let grown = |of: &'static str| both(data, (of, MANY), (of, FEW));
    let cached = both(data, ("noparams robin", MANY), ("noparams train", MANY));
    let one_way = grown("oneway_noparams robin");
    let two_way = grown("noparams robin");
    let far = both(data, ("noparams random", 100_000), ("noparams random", FEW));
    let ways = |servants| {
        both(
            data,
            ("oneway_noparams robin", servants),
            ("noparams robin", servants),
        )
    };
    let [few, some] = [FEW, 200].map(ways);
    let sockets = |placement: &str, series: &str| {
        let of =
            |series| data.measured(&format!("noparams robin, {placement}"), series, FEW as f64);
        ratio(of(RAW), of(series))
    };
    vec![
        Finding::new(
            "Calls to one servant in a row are no faster than in turn: no ORB caches the last servant (4.1.2; Figures 6 to 9)",
            cached,
            |[ours, theirs]| {
                let seen = format!("500 servants, in turn over each many times in a row: {}", of_both(ours, theirs));
                (seen, Holds::all([ours.is_one(), theirs.is_one()]))
            },
        ),
        Finding::new(
            "Where servants are hashed, one-way calls to 1 and to 500 servants take the same time (4.1.2; Figures 6 to 9)",
            one_way,
            |[ours, theirs]| {
                let seen = format!("from 1 to 500 servants: {}; neither opens a connection per reference", of_both(ours, theirs));
                (seen, Holds::all([ours.is_one(), theirs.is_one()]))
            },
        ),
        Finding::new(
            "Up to 200 servants one-way calls take slightly less than two-way ones (4.1.1; Figures 6 and 8)",
            [few[0], some[0], few[1], some[1]],
            |[ours, ours_some, theirs, theirs_some]| {
                let seen = format!(
                    "one-way over two-way: 1 servant {}, 200 servants {}",
                    of_both(ours, theirs),
                    of_both(ours_some, theirs_some)
                );
                let all = [ours, ours_some, theirs, theirs_some];
                // How many times as long the two-way one takes: slightly more is by less than the difference that counts as one.
                (seen, Holds::all(all.map(|part| Measured::exactly(1.0).over(part).beside(1.0, EQUAL))))
            },
        ),
        Finding::new(
            "Beyond 200 servants one-way calls are slower than two-way ones: the receiver lags (4.1.2; Figures 6 and 8)",
            ways(MANY),
            |[ours, theirs]| {
                let seen = format!("one-way over two-way, 500 servants: {}", of_both(ours, theirs));
                (seen, Holds::all([ours.above(1.0), theirs.above(1.0)]))
            },
        ),
        Finding::new(
            "Two-way calls to 1 and to 500 hashed servants of one connection take the same time (4.1.2; Figures 7 and 9)",
            two_way,
            |[ours, theirs]| {
                let seen = format!("from 1 to 500 servants: {}", of_both(ours, theirs));
                (seen, Holds::all([ours.is_one(), theirs.is_one()]))
            },
        )
        .with_number("two-way-500-servants-over-1", two_way[0].map(|times| times.median), Aim::AtMost(EQUAL)),
        Finding::new(
            "With a connection per reference, two-way calls take ×1.12 per 100 servants (4.1.2; Figures 6 and 8)",
            two_way,
            |[ours, theirs]| {
                let each = |growth: Measured| growth.map(|growth| growth.powf(1.0 / 5.0));
                let seen = format!("per 100 servants: {}; neither opens a connection per reference, and the scale experiment has very many connections", of_both(each(ours), each(theirs)));
                // Five hundreds of them.
                let paper = 1.12_f64.powi(5);
                (seen, Holds::all([ours, theirs].map(|growth| growth.beside(paper, paper))))
            },
        ),
        Finding::new(
            "Neither ORB serves more than some 1,000 servants without crashing (4.4)",
            far,
            |[ours, theirs]| {
                let seen = format!("both serve 100,000 in random order; a call over one to a single servant: {}", of_both(ours, theirs));
                (seen, Holds::No)
            },
        )
        .with_number("two-way-100000-servants-over-1", far[0].map(|times| times.median), Aim::AtMost(1.5)),
        Finding::new(
            "The ORBs perform 50 and 46 % as well as sockets (4.1.1; Figure 10)",
            [sockets("same", ZORB), sockets("same", OMNIORB)],
            |[ours, theirs]| {
                let seen = format!("zorb {}, omniORB {} of raw sockets", ours.share(), theirs.share());
                (seen, Holds::all([ours, theirs].map(|part| part.about(0.46, 0.50))))
            },
        )
        .with_number("of-raw-sockets", sockets("same", ZORB).map(|part| part.median), Aim::AtLeast(0.6)),
        Finding::new(
            "The ORBs perform 50 and 46 % as well as sockets, with a CPU for each program as in the paper (4.1.1; Figure 10)",
            [ZORB, DEDICATED, OMNIORB].map(|series| sockets("split", series)),
            |[ours, parking, theirs]| {
                let seen = format!(
                    "parking as the raw sockets do: zorb dedicated {}, omniORB {}; zorb, which spins first, {}",
                    parking.share(),
                    theirs.share(),
                    ours.share()
                );
                (seen, Holds::all([ours, parking, theirs].map(|part| part.about(0.46, 0.50))))
            },
        )
        .placed(Placed::Split),
        Finding::not_measured(
            "Dynamic invocations take as long as static ones if a request is reused, and 2.6 times as long if not (4.1.2)",
            "requests made at run time (`zorb::Request`) are not measured",
        ),
    ]
}

/// Section 4.2.2.
fn with_parameters(data: &Data) -> Vec<Finding> {
    let operations = both(data, ("operations worst", 100), ("operations worst", 1));
    let mut all: Vec<Finding> = [
        ("one-way with octets", "oneway_octet", "Figures 11 and 12"),
        ("one-way with structs", "oneway_struct", "Figures 15 and 16"),
        ("two-way with octets", "octet", "Figures 19 and 20"),
        ("two-way with structs", "struct", "Figures 23 and 24"),
    ]
    .map(|shape| in_step(data, shape))
    .into();
    all.extend([("octets", "octet", "Figures 19 and 20"), ("structs", "struct", "Figures 23 and 24")].map(|(what, of, figures)| {
        let [many, few] = [MANY, FEW].map(|count| format!("{of} {count}"));
        Finding::new(
            &format!("With {what} too, a two-way call does not depend on the number of hashed servants (4.2.2; {figures})"),
            both(data, (&many, 1024), (&few, 1024)),
            |[ours, theirs]| {
                let seen = format!("1,024 {what}, 500 servants over 1: {}", of_both(ours, theirs));
                (seen, Holds::all([ours.is_one(), theirs.is_one()]))
            },
        )
    }));
    all.extend([
        Finding::new(
            "Latency grows with the number of operations in the interface where their names are compared one by one (4.2.2)",
            operations,
            |[ours, theirs]| {
                let seen = format!("the last of 100 operations over a single one: {}; omniORB compares names one by one", of_both(ours, theirs));
                // zorb does not: the claim is not of it.
                (seen, theirs.above(NOTHING))
            },
        )
        .with_number("100-operations-over-1", operations[0].map(|times| times.median), Aim::AtMost(EQUAL)),
        Finding::not_measured(
            "Dynamic invocations without reuse of requests are 3 times as slow with octets, 14 times with structs (4.2.2)",
            "requests made at run time (`zorb::Request`) are not measured",
        ),
    ]);
    all
}

/// Whether calls of a shape take longer the more there is in them, to few servants and to many.
fn in_step(data: &Data, (what, of, figures): (&str, &str, &str)) -> Finding {
    let [few, many] = [FEW, MANY].map(|servants| {
        let panel = format!("{of} {servants}");
        both(data, (&panel, 1024), (&panel, 1))
    });
    Finding::new(
        &format!("Latency grows in step with the size of the request: {what} (4.2.2; {figures})"),
        [few[0], few[1], many[0], many[1]],
        |[ours, theirs, ours_many, theirs_many]| {
            let seen = format!(
                "1,024 units over 1: 1 servant {}, 500 servants {}",
                of_both(ours, theirs),
                of_both(ours_many, theirs_many)
            );
            let all = [ours, theirs, ours_many, theirs_many];
            (seen, Holds::all(all.map(|grown| grown.above(IN_STEP))))
        },
    )
}

/// Section 5.3, from outside: what the demultiplexing experiment looks at within one process.
fn worst_case(data: &Data) -> Vec<Finding> {
    let beside = both(data, ("hundred worst", MANY), ("hundred random", MANY));
    let far = both(data, ("hundred worst", 100_000), ("hundred worst", FEW));
    vec![
        Finding::new(
            "With hashing or indexing the worst case takes no longer than a random one (5.3.2; Figures 31 and 32)",
            beside,
            |[ours, theirs]| {
                let seen = format!(
                    "worst case over random, 500 servants of 100 operations, whole calls: {}",
                    of_both(ours, theirs)
                );
                (seen, Holds::all([ours.is_no_more(), theirs.is_no_more()]))
            },
        ),
        Finding::new(
            "With hashing or indexing the worst case does not depend on the number of servants (5.3.2; Figure 32)",
            far,
            |[ours, theirs]| {
                let seen = format!(
                    "worst case, 100,000 servants over 1: {}",
                    of_both(ours, theirs)
                );
                (seen, Holds::all([ours.is_one(), theirs.is_one()]))
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
            "Much of the sender's time goes into the system calls that send (4.5)",
            [share(ZORB), share(OMNIORB)],
            |[ours, theirs]| {
                let seen = format!(
                    "raw sockets take {} of the time of a zorb call, {} of an omniORB call; the profiles have it by function",
                    ours.share(),
                    theirs.share()
                );
                (seen, Holds::all([ours.above(0.5), theirs.above(0.5)]))
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
                    "1,024 structs over 1,024 octets: {}; over as many raw octets as the structs have: {}",
                    of_both(ours, theirs),
                    of_both(our_cost, their_cost)
                );
                // A third of a call is much: both ends are in it.
                (
                    seen,
                    Holds::all([our_cost.above(1.5), their_cost.above(1.5)]),
                )
            },
        ),
        Finding::new(
            "Buffers inside the ORB make the time of one-way calls vary much (4.2.1; Figures 12 to 16)",
            [spread(ZORB), spread(OMNIORB), spread(RAW)],
            |[ours, theirs, none]| {
                let seen = format!(
                    "one-way with octets, widest range of quartiles: zorb {:.0} %, omniORB {:.0} %; raw sockets, without such buffers, {:.0} %",
                    100.0 * ours,
                    100.0 * theirs,
                    100.0 * none
                );
                // Rounds tell how far they are apart, not how far that is from what it would be another day.
                let more = |one: f64| Holds::when(one > EQUAL * none);
                (seen, Holds::all([more(ours), more(theirs)]))
            },
        ),
        Finding::not_measured(
            "The dynamic invocation interface is the slower the larger the request is (4.5)",
            "requests made at run time (`zorb::Request`) are not measured",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

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
        let servants = of("to 500 hashed servants of one connection");
        assert_eq!(servants.holds, Holds::InPart);
        assert!(
            servants.seen.contains("zorb ×1.05, omniORB ×2.00"),
            "{}",
            servants.seen
        );
        assert_eq!(of("Calls to one servant in a row").holds, Holds::Unknown);
        let searched = data(&[
            ("hundred random, same", ZORB, 500.0, None, 10.0),
            ("hundred worst, same", ZORB, 500.0, None, 9.0),
            ("hundred random, same", OMNIORB, 500.0, None, 10.0),
            ("hundred worst, same", OMNIORB, 500.0, None, 15.0),
        ]);
        let found = all(&searched);
        let of = |words: &str| found.iter().find(|f| f.claim.contains(words)).unwrap();
        let last = of("With hashing or indexing the worst case");
        assert_eq!(last.holds, Holds::InPart);
        assert!(
            last.seen.contains("zorb ×0.90, omniORB ×1.50"),
            "{}",
            last.seen
        );
    }

    #[test]
    fn each_shape_of_call_is_judged_for_itself() {
        let shape = |of: &'static str, last: f64| {
            [(ZORB, 1), (OMNIORB, 1), (ZORB, 500), (OMNIORB, 500)].map(|(series, servants)| {
                let panel = format!("{of} {servants}, same");
                [
                    (panel.clone(), series, 1.0, 10.0),
                    (panel, series, 1024.0, last),
                ]
            })
        };
        let points: Vec<_> = [shape("struct", 15.0), shape("oneway_struct", 116.0)]
            .into_iter()
            .flatten()
            .flatten()
            .collect();
        let points: Vec<_> = points
            .iter()
            .map(|(panel, series, x, value)| (panel.as_str(), *series, *x, None, *value))
            .collect();
        let found = all(&data(&points));
        let of = |words: &str| found.iter().find(|f| f.claim.contains(words)).unwrap();
        assert_eq!(
            of("in step with the size of the request: two-way with structs").holds,
            Holds::No
        );
        let one_way = of("in step with the size of the request: one-way with structs");
        assert_eq!(one_way.holds, Holds::Yes);
        assert!(
            one_way.seen.contains("1 servant zorb ×11.6"),
            "{}",
            one_way.seen
        );
        assert_eq!(of("two-way with octets").holds, Holds::Unknown);
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
