//! The number of functions that a call calls, by callgrind.

use crate::figures::data::{Collected, Data};
use crate::figures::finding::{Finding, Holds, Placed};
use crate::figures::latency::latency_programs::{self, OMNIORB, RAW, ZORB};
use crate::figures::measured::Measured;
use crate::figures::profiles::valgrind::{self, Calls, Counting};
use crate::figures::profiles::{COUNTING_ROUNDS, ENDS, place};
use crate::figures::session::Session;
use crate::measure::dialogue::{Dialogue, Pair};
use crate::measure::place::Placement;
use tempfile::TempDir;

/// A call that is looked into: as it is asked for, as the data calls it, and how many of them are made.
struct Asked {
    request: &'static str,
    name: &'static str,
    calls: usize,
}

const ASKED: [Asked; 2] = [
    Asked {
        request: "noparams 0",
        name: "no argument",
        calls: 1_000,
    },
    Asked {
        request: "struct 1024",
        name: "1,024 structs",
        calls: 100,
    },
];

/// Such a part of them goes before, so that what is there once is there.
const BEFORE_PART: usize = 5;
/// And of a quick look there are so many fewer.
const QUICK_PART: usize = 10;

/// The panel of an end; whose functions they are; and those of the system's libraries.
pub(super) fn panel(end: &str) -> String {
    format!("calls of functions, {end}")
}

fn of_libraries(name: &str) -> String {
    format!("{name}, the system's libraries")
}

fn asked(session: &Session) -> &'static [Asked] {
    session.pick(&ASKED, ASKED.get(..1).unwrap_or_default())
}

/// Clients and servers. A program that spins would be seen to call as many functions as there is time for.
fn pairs(session: &Session) -> Vec<(&'static str, Pair)> {
    let park = ["--wait", "park"];
    let mut all = vec![
        latency_programs::with_options(latency_programs::zorb(), &park, &park),
        latency_programs::raw(),
    ];
    all.extend(latency_programs::omni(session));
    all
}

pub(super) fn measure(session: &Session, collected: &mut Collected) -> Result<(), String> {
    if !valgrind::is_there(session, "calls of functions") {
        return Ok(());
    }
    let rounds = session.pick(session.rounds.min(COUNTING_ROUNDS), 1);
    let mut pairs = pairs(session);
    session.some_rounds(rounds, &[()], &mut pairs, |(), (series, pair)| {
        let without = count(session, pair, None)?;
        for (at, one) in asked(session).iter().enumerate() {
            let with = count(session, pair, Some(at))?;
            let number = calls(session, one) as f64;
            for ((end, with), without) in ENDS.into_iter().zip(with).zip(without) {
                let each = with.each(without, number);
                let mut add = |x: usize, name: String, value: f64| {
                    let place = place(panel(end), series, x as f64, Some(name), "a call");
                    collected.add(place, value, None);
                };
                add(2 * at, one.name.to_owned(), each.own);
                add(2 * at + 1, of_libraries(one.name), each.systems);
            }
        }
        Ok(())
    })
}

fn calls(session: &Session, of: &Asked) -> usize {
    of.calls / session.pick(1, QUICK_PART)
}

/// The functions that both ends have called by their end, when one of the calls was made many more times.
/// Those calls are untimed: for a timed one a client reads the clock.
fn count(session: &Session, pair: &Pair, long: Option<usize>) -> Result<[Calls; 2], String> {
    let folder = TempDir::new().map_err(|e| e.to_string())?;
    let files = ENDS.map(|end| folder.path().join(end));
    let [client, server] = files.each_ref().map(|file| Counting::Calls.words(file));
    let behind = |front: Vec<String>, words: &[String]| -> Vec<String> {
        front.into_iter().chain(words.iter().cloned()).collect()
    };
    let pair = Pair {
        client: behind(client, &pair.client),
        server: pair.server.as_ref().map(|words| behind(server, words)),
        ..pair.clone()
    };
    // So that who waits for whom is as in life.
    let mut dialogue = Dialogue::start(&pair, Placement::Same, session.cpus)?;
    for (at, one) in asked(session).iter().enumerate() {
        let mut untimed = calls(session, one) / BEFORE_PART;
        if long == Some(at) {
            untimed += calls(session, one);
        }
        dialogue.ask(&format!("{} 1 robin 1 {untimed}", one.request))?;
    }
    dialogue.end()?;
    let [client, server] = files;
    Ok([valgrind::calls(&client)?, valgrind::calls(&server)?])
}

/// More than so many of an ORB's own for one that sockets alone need are too many.
const TOO_MANY: f64 = 10.0;

pub(super) fn finding(data: &Data) -> Finding {
    let of =
        |series: &str, name: &str| ENDS.map(|end| data.measured_under(&panel(end), series, name));
    let [none, structs] = ASKED.map(|one| one.name);
    let libraries = of_libraries(none);
    let numbers = [
        of(ZORB, none),
        of(OMNIORB, none),
        of(RAW, none),
        of(ZORB, &libraries),
        of(OMNIORB, &libraries),
        of(ZORB, structs),
        of(OMNIORB, structs),
    ];
    let numbers = <[_; 14]>::try_from(numbers.concat()).unwrap_or([None; 14]);
    Finding::new(
        "ORBs call too many functions of their own for each request (latency paper, Section 4.5)",
        numbers,
        |all| {
            let both = |at: usize| {
                let ends = all.iter().skip(2 * at).take(2);
                let ends: Vec<String> = ends.map(|end| end.plain()).collect();
                ends.join(" and ")
            };
            let sum = |at: usize| Measured::sum(all.iter().skip(2 * at).take(2).copied());
            let times = |at: usize| Some(sum(at)?.over(sum(2)?));
            let [ours, theirs] = [times(0), times(1)];
            let factor = |times: Option<Measured>| times.map_or_else(String::new, Measured::factor);
            let seen = format!(
                "function calls per two-way call, client and server: zorb {}, omniORB {}; sockets \
                 alone {}: {} and {} of those; of the system's libraries besides, zorb {}, omniORB {}; with 1,024 structs zorb {}, omniORB {} of their own. Inlined \
                 code is no call, which is the point; those of Tokio count as zorb's, which parks without spinning; more than ten for one without an \
                 ORB are too many here",
                both(0),
                both(1),
                both(2),
                factor(ours),
                factor(theirs),
                both(3),
                both(4),
                both(5),
                both(6),
            );
            let too_many = [ours, theirs].into_iter().flatten();
            (seen, Holds::all(too_many.map(|times| times.above(TOO_MANY))))
        },
    )
    .placed(Placed::Same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    #[test]
    fn calls_of_functions_are_judged_by_what_sockets_alone_need() {
        let judged = |zorb: f64| {
            let panels = ENDS.map(panel);
            let libraries = of_libraries("no argument");
            let mut points = Vec::new();
            for panel in &panels {
                for (series, none) in [(ZORB, zorb), (OMNIORB, 60.0), (RAW, 4.0)] {
                    points.push((panel.as_str(), series, 0.0, Some("no argument"), none));
                    points.push((panel.as_str(), series, 1.0, Some(libraries.as_str()), 9.0));
                    points.push((panel.as_str(), series, 2.0, Some("1,024 structs"), 99.0));
                }
            }
            finding(&data(&points))
        };
        let found = judged(48.0);
        assert_eq!(found.holds, Holds::Yes, "{}", found.seen);
        assert!(
            found
                .seen
                .contains("alone 4.00 and 4.00: ×12.0 and ×15.0 of those"),
            "{}",
            found.seen
        );
        assert_eq!(judged(20.0).holds, Holds::InPart);
        assert_eq!(finding(&data(&[])).holds, Holds::Unknown);
    }
}
