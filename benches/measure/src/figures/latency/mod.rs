//! Latency and scalability: the first paper's experiments from outside, Figures 6 to 26.

mod beside;
mod drift;
mod latency_charts;
mod latency_claims;
pub(super) mod latency_programs;

use crate::figures::Experiment;
use crate::figures::contender::{Contender, PLACEMENTS};
use crate::figures::data::{Collected, PanelPoint, Point};
use crate::figures::finding::Placed;
use crate::figures::session::Session;
use crate::figures::source;
use crate::measure::place::Placement;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "latency",
    sources: &[(source::LATENCY, "Figures 6 to 26")],
    found: "Orbix 2.1 and VisiBroker 2.0 performed 46 and 50 % as well as sockets. The time of a two-way \
        call to Orbix grew ×1.12 per 100 servants, since each reference had a connection of its own. Beyond some 1,000 \
        servants both ORBs crashed.",
    seen: latency_claims::seen,
    method: "Clients make one-way and two-way calls, without parameters and with sequences of six types, to 1 to \
        100,000 servants whose interfaces have 1, 10 and 100 operations. They call the servants in the paper's \
        four orders. The worst case always calls the last operation of the last servant, which is the worst for a \
        linear search and the best for caches. With one servant the four orders are the same calls, and their \
        differences are the machine's.\n\n\
        One-way calls are timed together, until the server has served the last one, so a time is the inverse of a \
        rate. A point stands for 500 calls (one-way: 1,500) in each round. The raw-socket baseline has neither \
        servants nor operations. All calls use static stubs: the paper's claims about dynamic invocation are in \
        the findings in full, unmeasured. The last row of the table checks the machine: a step that all programs \
        show at once is no ORB's.",
    placed: Placed::Same,
    measure,
    charts: latency_charts::all,
    findings: latency_claims::all,
};

/// Numbers of servants, the paper's and on; at the second of the marked ones all units are sent too.
const SERVANTS: [usize; 9] = [1, 100, 200, 300, 400, 500, 1000, 10_000, 100_000];
const QUICK_SERVANTS: [usize; 2] = [1, 500];
/// The panel of every size, and that of the operations.
const FEW: usize = 1;
const MANY: usize = 500;

const UNITS: [usize; 6] = [1, 4, 16, 64, 256, 1024];
const QUICK_UNITS: [usize; 2] = [1, 1024];

const TYPES: [&str; 6] = ["octet", "struct", "short", "char", "long", "double"];

/// The measurement of one request, and the panel of its answer.
#[derive(Clone, Debug)]
struct Asked {
    panel: String,
    x: f64,
    request: String,
    one_way: bool,
    raw_too: bool,
}

/// Calls of a measurement: some 5 to 30 milliseconds.
fn calls(session: &Session, one_way: bool) -> (usize, usize) {
    let calls = if one_way { 1500 } else { 500 };
    (session.pick(calls, 100), session.pick(100, 20))
}

/// So many servants live through so many requests each, if they do; and the panel of that, with one CPU for both
/// programs, where it takes least.
const OF_MANY_REQUESTS: usize = 1000;
const REQUESTS_EACH: usize = 100;
const MANY_REQUESTS: &str = "requests to each of 1,000 servants";

/// The measurement at a number of servants.
fn asked_at(session: &Session, servants: usize) -> Vec<Asked> {
    let mut all = Vec::new();
    let mut ask = |panel: String, x: usize, what: String, one_way: bool, raw_too: bool| {
        let (iters, warmup) = calls(session, one_way);
        let request = format!("{what} {iters} {warmup}");
        let x = x as f64;
        all.push(Asked {
            panel,
            x,
            request,
            one_way,
            raw_too,
        });
    };
    for (way, one_way) in [("", false), ("oneway_", true)] {
        for order in ["train", "robin", "random", "worst"] {
            let what = format!("{way}noparams 0 {servants} {order}");
            ask(
                format!("{way}noparams {order}"),
                servants,
                what,
                one_way,
                servants == FEW,
            );
        }
        let sizes: &[usize] = session.pick(&UNITS, &QUICK_UNITS);
        for (n, of) in TYPES.into_iter().enumerate() {
            // The paper has servants and sizes together for the first two.
            if servants != FEW && (servants != MANY || n > 1) {
                continue;
            }
            for &size in sizes {
                let what = format!("{way}{of} {size} {servants} robin");
                ask(
                    format!("{way}{of} {servants}"),
                    size,
                    what,
                    one_way,
                    servants == FEW,
                );
            }
        }
    }
    // The paper's last two orders choose operations too.
    for order in ["random", "worst"] {
        let what = format!("ops100 0 {servants} {order}");
        ask(format!("hundred {order}"), servants, what, false, false);
    }
    if servants == MANY {
        for operations in [1, 10, 100] {
            for order in ["random", "worst"] {
                let what = format!("ops{operations} 0 {servants} {order}");
                ask(
                    format!("operations {order}"),
                    operations,
                    what,
                    false,
                    false,
                );
            }
        }
    }
    if servants == OF_MANY_REQUESTS {
        let calls = servants * REQUESTS_EACH;
        all.push(Asked {
            panel: MANY_REQUESTS.to_owned(),
            x: REQUESTS_EACH as f64,
            request: format!("noparams 0 {servants} robin {calls} 0"),
            one_way: false,
            raw_too: false,
        });
    }
    all
}

/// Servants only become more in a server's life, so each round is a life of all servers: a machine that is slower for a
/// while is so at other numbers of servants in other rounds.
fn measure(session: &Session) -> Result<Vec<Point>, String> {
    let pairs = latency_programs::pairs(session);
    let counts: &[usize] = session.pick(&SERVANTS, &QUICK_SERVANTS);
    let mut collected = Collected::default();
    for round in 1..=session.rounds {
        let mut contenders = Contender::start_all(session, &pairs, &PLACEMENTS)?;
        for &servants in counts {
            grow(session, &mut contenders, servants)?;
            let what = format!("round {round} of {}, {servants} servants", session.rounds);
            let asked = asked_at(session, servants);
            session.once(&what, &asked, &mut contenders, |asked, contender| {
                ask(asked, servants, contender, &mut collected)
            })?;
        }
        Contender::end_all(contenders)?;
    }
    Ok(collected.points())
}

/// Gives every program so many servants. That is not measured.
fn grow(session: &Session, contenders: &mut [Contender], servants: usize) -> Result<(), String> {
    session.set_up(&format!("{servants} servants"), contenders, |contender| {
        if contender.series == latency_programs::RAW {
            return Ok(());
        }
        ["noparams", "ops100"].into_iter().try_for_each(|of| {
            let request = format!("{of} 0 {servants} robin 1 0");
            contender.ask(&request).map(drop)
        })
    })
}

fn ask(
    asked: &Asked,
    servants: usize,
    contender: &mut Contender,
    collected: &mut Collected,
) -> Result<(), String> {
    if contender.series == latency_programs::RAW && !asked.raw_too {
        return Ok(());
    }
    if asked.panel == MANY_REQUESTS && contender.placement != Placement::Same {
        return Ok(());
    }
    let answer = contender.ask(&asked.request)?;
    let at = (asked.panel.as_str(), asked.x);
    if asked.one_way {
        contender.keep_mean(collected, at, &answer);
    } else {
        contender.keep_latency(collected, at, &answer);
    }
    if asked.panel == "noparams robin" && servants == FEW {
        let place = beside_sockets(contender);
        collected.add(place, answer.p50_us(), None);
    }
    Ok(())
}

/// A bar beside that of raw sockets.
fn beside_sockets(contender: &Contender) -> PanelPoint {
    let (x, label) = match contender.placement {
        Placement::Same => (0.0, "both on one CPU"),
        Placement::Split => (1.0, "a CPU for each"),
        Placement::Free => (2.0, "free"),
        Placement::Awake => (3.0, "a CPU for each, kept awake"),
    };
    PanelPoint {
        panel: "sockets".to_owned(),
        series: contender.series.to_owned(),
        x,
        label: Some(label.to_owned()),
        unit: "µs",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::place::Cpus;

    #[test]
    fn every_order_of_the_papers_is_asked_for_at_every_number_of_servants() {
        let session = Session::new(false, 1, Cpus::only(0), Ok(()));
        for servants in SERVANTS {
            let asked = asked_at(&session, servants);
            for order in ["train", "robin", "random", "worst"] {
                let request = format!("noparams 0 {servants} {order} 500 100");
                let panel = format!("noparams {order}");
                let one = asked.iter().find(|one| one.panel == panel).unwrap();
                assert_eq!((&one.request, one.x), (&request, servants as f64));
                let way = format!("oneway_noparams {order}");
                assert!(asked.iter().any(|one| one.panel == way && one.one_way));
            }
            let last = asked.iter().find(|one| one.panel == "hundred worst");
            let request = format!("ops100 0 {servants} worst 500 100");
            assert_eq!(last.unwrap().request, request);
        }
    }
}
