//! Beyond the papers: a million servants, ten thousand connections, many callers.

mod scale_charts;
mod scale_findings;

use crate::figures::Experiment;
use crate::figures::contender::{Contender, PLACEMENTS};
use crate::figures::data::{Collected, Point};
use crate::figures::finding::Placed;
use crate::figures::latency::latency_programs::{self, OMNIORB};
use crate::figures::session::Session;
use crate::measure::dialogue::{Answer, Pair};
use crate::measure::place::Placement;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "scale",
    sources: &[],
    found: "The latency paper ends at 500 servants, and its ORBs failed beyond some 1,000. How does a call fare with a \
        million servants, with 10,000 connections, and with 256 callers at once?",
    seen: scale_findings::seen,
    method: "Each round begins with new programs, which get more and more servants and connections: 1 to 1,000,000 \
        servants, called in random order; 1 to 10,000 connections, all but one idle or all in use one after the \
        other; 1 to 256 callers, tasks of a zorb client and threads of an omniORB one. The connections are those \
        of a client without an ORB, the same for all servers.\n\n\
        Callers begin together when each has made some calls, and make at least 200 calls each. Those of zorb \
        share its one connection; omniORB is allowed a connection for each of 256 (`maxGIOPConnectionPerServer`, \
        by default 5), and a thread for each in its server (`maxServerThreadPoolSize`, by default 100), as a \
        program with so many callers would set it.",
    placed: Placed::Split,
    measure,
    charts: scale_charts::charts,
    findings: scale_findings::findings,
};

const SERVANTS: [usize; 7] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000];
const CONNECTIONS: [usize; 5] = [1, 10, 100, 1000, 10_000];
const CALLERS: [usize; 9] = [1, 2, 4, 8, 16, 32, 64, 128, MOST_CALLERS];
const MOST_CALLERS: usize = 256;

/// Calls of all callers together, and of each at least: so few that a round is over soon, so many that a caller's last
/// hundredth is more than its first call.
const CALLS: usize = 4096;
const CALLS_EACH: usize = 200;

/// Calls of each before those: until there are all the connections that there will be.
const WARM_UP: usize = 20;

/// zorb as it comes and with threads of its own, and omniORB.
fn pairs(session: &Session) -> Vec<(&'static str, Pair)> {
    let mut all = vec![latency_programs::zorb(), latency_programs::dedicated()];
    all.extend(latency_programs::omni(session));
    all
}

fn measure(session: &Session) -> Result<Vec<Point>, String> {
    let mut collected = Collected::default();
    servants(session, &mut collected)?;
    collected.other_rounds();
    connections(session, &mut collected)?;
    collected.other_rounds();
    callers(session, &mut collected)?;
    Ok(collected.points())
}

/// Latencies, and the rate that goes with them, which has a panel of its own.
fn keep(
    contender: &Contender,
    collected: &mut Collected,
    (panel, x): (&str, usize),
    answer: &Answer,
) {
    let x = x as f64;
    contender.keep_latency(collected, (panel, x), answer);
    let rate = contender.place(&rate(panel), x, "calls/s");
    collected.add(rate, answer.calls_per_s, None);
}

/// The panel of rates beside one of latencies.
fn rate(panel: &str) -> String {
    format!("{} rate", panel.trim_end_matches(" latency"))
}

/// Servants only become more in a server's life, so each round is a life of all servers: a machine that is slower for a
/// while is so at other numbers of servants in other rounds. The same programs in both placements.
fn servants(session: &Session, collected: &mut Collected) -> Result<(), String> {
    let counts = session.pick(&SERVANTS[..], &SERVANTS[..4]);
    let iters = session.pick(2000, 100);
    for round in 1..=session.rounds {
        let mut all = Contender::start_all(session, &pairs(session), &[Placement::Split])?;
        for &count in counts {
            let what = format!("round {round} of {}, {count} servants", session.rounds);
            session.set_up(&what, &mut all, |contender| {
                contender
                    .ask(&format!("noparams 0 {count} robin 1 0"))
                    .map(drop)
            })?;
            session.once(&what, &PLACEMENTS, &mut all, |&placement, contender| {
                contender.move_to(session, placement)?;
                let answer = contender.ask(&format!("noparams 0 {count} random {iters} 100"))?;
                keep(contender, collected, ("servants", count), &answer);
                Ok(())
            })?;
        }
        Contender::end_all(all)?;
    }
    Ok(())
}

/// A server that takes very many connections, and a client of ours that makes them without an ORB, for every server.
fn with_many_connections((series, pair): (&'static str, Pair)) -> (&'static str, Pair) {
    let most: &[&str] = if series == OMNIORB {
        &["-ORBmaxServerThreadPoolSize", "12000"]
    } else {
        &["--max-connections", "12000"]
    };
    let (series, mut pair) = latency_programs::with_options((series, pair), most, &[]);
    let (_, ours) = latency_programs::zorb();
    pair.client = latency_programs::with_many_files(&ours.client);
    pair.server = pair
        .server
        .as_deref()
        .map(latency_programs::with_many_files);
    (series, pair)
}

/// Connections only become more in a client's life, too.
fn connections(session: &Session, collected: &mut Collected) -> Result<(), String> {
    let counts = session.pick(&CONNECTIONS[..], &CONNECTIONS[..3]);
    let iters = session.pick(1000, 100);
    let asked = PLACEMENTS.map(|placement| ["idle", "active"].map(|how| (placement, how)));
    let pairs: Vec<_> = pairs(session)
        .into_iter()
        .map(with_many_connections)
        .collect();
    for round in 1..=session.rounds {
        let mut all = Contender::start_all(session, &pairs, &[Placement::Split])?;
        for &count in counts {
            let what = format!("round {round} of {}, {count} connections", session.rounds);
            session.set_up(&what, &mut all, |contender| {
                contender.ask(&format!("crowd {count} idle 1 0")).map(drop)
            })?;
            session.once(&what, asked.as_flattened(), &mut all, |asked, contender| {
                let (placement, how) = *asked;
                contender.move_to(session, placement)?;
                let answer = contender.ask(&format!("crowd {count} {how} {iters} 50"))?;
                let panel = format!("connections {how}");
                keep(contender, collected, (&panel, count), &answer);
                Ok(())
            })?;
        }
        Contender::end_all(all)?;
    }
    Ok(())
}

/// The pair with a connection and a thread for each of the most callers, where that is an option.
fn with_many_callers((series, pair): (&'static str, Pair)) -> (&'static str, Pair) {
    if series != OMNIORB {
        return (series, pair);
    }
    let most = MOST_CALLERS.to_string();
    // One more is the thread that was there before.
    let threads = (MOST_CALLERS + 1).to_string();
    let server = ["-ORBmaxServerThreadPoolSize", &threads];
    latency_programs::with_options(
        (series, pair),
        &server,
        &["-ORBmaxGIOPConnectionPerServer", &most],
    )
}

/// The number of calls that each of so many callers makes.
fn calls_each(session: &Session, callers: usize) -> usize {
    session.pick((CALLS / callers).max(CALLS_EACH), 20)
}

fn callers(session: &Session, collected: &mut Collected) -> Result<(), String> {
    let counts = session.pick(&CALLERS[..], &[1, 16, MOST_CALLERS]);
    let pairs: Vec<_> = pairs(session).into_iter().map(with_many_callers).collect();
    let mut contenders = Contender::start_all(session, &pairs, &PLACEMENTS)?;
    session.rounds(counts, &mut contenders, |&count, contender| {
        let each = calls_each(session, count);
        let answer = contender.ask(&format!("callers {count} {each} {WARM_UP}"))?;
        keep(contender, collected, ("callers latency", count), &answer);
        Ok(())
    })?;
    Contender::end_all(contenders)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::place::Cpus;

    #[test]
    fn every_caller_makes_hundreds_of_calls() {
        let session = Session::new(false, 1, Cpus::only(0), Ok(()));
        assert_eq!(calls_each(&session, 1), 4096);
        for callers in CALLERS {
            assert!(calls_each(&session, callers) >= 200, "{callers}");
        }
    }

    #[test]
    fn omniorb_alone_has_options_for_many_callers() {
        let pair = |name: &str| Pair {
            name: name.to_owned(),
            server: Some(vec!["server".to_owned()]),
            client: vec!["client".to_owned()],
            unix: false,
        };
        let (_, theirs) = with_many_callers((OMNIORB, pair(OMNIORB)));
        assert_eq!(
            theirs.client.join(" "),
            "client -ORBmaxGIOPConnectionPerServer 256"
        );
        assert_eq!(
            theirs.server.unwrap().join(" "),
            "server -ORBmaxServerThreadPoolSize 257"
        );
        let (_, ours) = with_many_callers(("zorb", pair("zorb")));
        assert_eq!(ours.client, ["client"]);
    }
}
