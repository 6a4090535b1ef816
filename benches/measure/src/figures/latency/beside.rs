//! The latency paper's claims about two ORBs beside each other, about its own ORB at the end, and of requests made at
//! run time.

use crate::figures::data::Data;
use crate::figures::finding::{Finding, Holds, Placed};
use crate::figures::latency::latency_claims::{at, of_both};
use crate::figures::latency::latency_programs::{OMNIORB, ZORB};
use crate::figures::latency::{FEW, MANY, MANY_REQUESTS, REQUESTS_EACH};
use crate::figures::measured::ratio;

/// Units of the largest calls.
const MOST: usize = 1024;

pub(super) fn all(data: &Data) -> Vec<Finding> {
    let mut all = two_orbs(data);
    all.extend([
        as_fast(data, Placed::Same, "same"),
        as_fast(data, Placed::Split, "split"),
    ]);
    all.extend(at_run_time());
    let requests = [ZORB, OMNIORB].map(|series| at(data, MANY_REQUESTS, series, REQUESTS_EACH));
    all.push(Finding::new(
        "A server of 1,000 servants crashes beyond 80 requests to each of them: a memory leak (4.4)",
        requests,
        |[ours, theirs]| {
            let seen = format!(
                "both serve {REQUESTS_EACH} requests to each of 1,000 servants: a call takes zorb {} and omniORB {}; \
                 `cargo xtask soak` makes very many more",
                ours.with_unit("µs"),
                theirs.with_unit("µs")
            );
            (seen, Holds::No)
        },
    ));
    all
}

/// Section 4.2.1: omniORB is the other ORB.
fn two_orbs(data: &Data) -> Vec<Finding> {
    let beside = |panel: String| {
        let of = |series| at(data, &panel, series, MOST);
        ratio(of(OMNIORB), of(ZORB))
    };
    let richer = |way: &'static str, servants: usize| {
        [ZORB, OMNIORB].map(|series| {
            let of = |of: &str| at(data, &format!("{way}{of} {servants}"), series, MOST);
            ratio(of("struct"), of("octet"))
        })
    };
    let [one_way, two_way] = [richer("oneway_", MANY), richer("", FEW)];
    vec![
        Finding::new(
            "One-way calls take both ORBs about as long, with octets and with structs (4.2.1; Figures 11, 12, 15 and 16)",
            [
                beside(format!("oneway_octet {MANY}")),
                beside(format!("oneway_struct {MANY}")),
            ],
            |[octets, structs]| {
                let seen = format!(
                    "omniORB over zorb, 500 servants: {} with 1,024 octets and {} with 1,024 structs",
                    octets.factor(),
                    structs.factor()
                );
                (seen, Holds::all([octets.is_one(), structs.is_one()]))
            },
        ),
        Finding::new(
            "Two-way calls with 1,024 structs take one ORB 1.2 times as long as the other (4.2.1; Figures 23 and 24)",
            [
                beside(format!("struct {FEW}")),
                beside(format!("struct {MANY}")),
            ],
            |[few, many]| {
                let seen = format!(
                    "omniORB over zorb: {} with 1 servant, {} with 500",
                    few.factor(),
                    many.factor()
                );
                (
                    seen,
                    Holds::all([few, many].map(|times| times.beside(1.2, 1.2))),
                )
            },
        ),
        Finding::new(
            "Octets take much less time than structs, which have to be converted (4.2.1; Figures 11 to 26)",
            [one_way[0], one_way[1], two_way[0], two_way[1]],
            |[ours, theirs, ours_two_way, theirs_two_way]| {
                let seen = format!(
                    "1,024 structs over 1,024 octets, one-way, 500 servants: {}; two-way, 1 servant: {}; octets are a twenty-fourth on the wire",
                    of_both(ours, theirs),
                    of_both(ours_two_way, theirs_two_way)
                );
                // Half of it is much less.
                let all = [ours, theirs, ours_two_way, theirs_two_way];
                (seen, Holds::all(all.map(|times| times.above(2.0))))
            },
        ),
    ]
}

/// Section 5.4.
fn as_fast(data: &Data, placed: Placed, placement: &str) -> Finding {
    let beside = |panel: String, x: usize| {
        let of = |series| data.measured(&format!("{panel}, {placement}"), series, x as f64);
        ratio(of(ZORB), of(OMNIORB))
    };
    Finding::new(
        "An ORB with the paper's optimisations is as fast as commercial ones with static stubs (5.4; Figures 33 and 34)",
        [
            beside("noparams robin".to_owned(), FEW),
            beside(format!("octet {FEW}"), MOST),
            beside(format!("struct {FEW}"), MOST),
        ],
        |[none, octets, structs]| {
            let seen = format!(
                "zorb over omniORB: no parameters {}, 1,024 octets {}, 1,024 structs {}",
                none.factor(),
                octets.factor(),
                structs.factor()
            );
            let fast = [none, octets, structs].map(|times| times.is_no_more());
            (seen, Holds::all(fast))
        },
    )
    .placed(placed)
}

/// The note on requests that are made at run time: zorb makes none.
fn at_run_time() -> [Finding; 3] {
    [
        "One-way dynamic requests take one ORB 2 times as long with octets, 5.6 with structs (4.2.1; Figures 13, 14, 17, 18)",
        "Two-way dynamic requests with 1,024 structs take one ORB 4.5 times as long (4.2.1; Figures 21, 22, 25 and 26)",
        "Dynamic requests take the optimised ORB a half to less than a quarter of the commercial ORBs' time (5.4)",
    ]
    .map(|claim| Finding::not_measured(claim, "requests made at run time (`zorb::Request`) are not measured"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn two_orbs_are_judged_where_both_were_measured() {
        let data = data(&[
            ("oneway_octet 500, same", ZORB, 1024.0, None, 10.0),
            ("oneway_octet 500, same", OMNIORB, 1024.0, None, 11.0),
            ("oneway_struct 500, same", ZORB, 1024.0, None, 10.0),
            ("oneway_struct 500, same", OMNIORB, 1024.0, None, 40.0),
        ]);
        let found = all(&data);
        assert_eq!(found[0].holds, Holds::InPart, "{}", found[0].seen);
        assert!(
            found[0].seen.contains("×1.10 with 1,024 octets and ×4.00"),
            "{}",
            found[0].seen
        );
        assert_eq!(found[1].holds, Holds::Unknown);
        assert_eq!(found[2].holds, Holds::Unknown);
    }

    #[test]
    fn faster_in_all_three_is_as_fast() {
        let of = |series, value| {
            ["noparams robin, split", "octet 1, split", "struct 1, split"].map(|panel| {
                let x = if panel.starts_with('n') { 1.0 } else { 1024.0 };
                (panel, series, x, None, value)
            })
        };
        let data = data(&[of(ZORB, 9.0), of(OMNIORB, 10.0)].concat());
        assert_eq!(as_fast(&data, Placed::Split, "split").holds, Holds::Yes);
        assert_eq!(as_fast(&data, Placed::Same, "same").holds, Holds::Unknown);
    }
}
