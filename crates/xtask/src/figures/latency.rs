//! Latency and scalability: the first paper's black-box experiments.

use crate::figures::Experiment;
use crate::figures::chart::{Axis, Chart, Panel};
use crate::figures::contender::{PLACEMENTS, place_title};
use crate::figures::data::{Collected, Data, Place, Point};
use crate::figures::finding::{Finding, Holds, growth, with_unit};
use crate::figures::session::Session;
use crate::measure::peer::Peer;
use crate::measure::run::{Server, Work};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "latency",
    paper: "Gokhale and Schmidt, Measuring and Optimizing CORBA Latency and Scalability Over High-speed Networks, Figures 19 and 20",
    question: "How long does a two-way call take, by what it sends?",
    measure,
    charts,
    findings,
};

const SERIES: [(&str, &str); 4] = [
    ("zorb", "zorb-default"),
    ("zorb, dedicated", "zorb-dedicated"),
    ("omniORB", "omni"),
    ("raw", "raw"),
];

fn measure(session: &Session) -> Result<Vec<Point>, String> {
    let sizes: &[usize] = session.pick(&[1, 4, 16, 64, 256, 1024], &[1, 1024]);
    let mut collected = Collected::default();
    if let Err(why) = &session.omniorb {
        session.miss(format!("omniORB ({why})"));
    }
    let mut servers = Vec::new();
    for placement in PLACEMENTS {
        for (series, peer) in SERIES {
            if series == "omniORB" && session.omniorb.is_err() {
                continue;
            }
            let peer = Peer::named(peer)?;
            let server = Server::start(peer, placement, session.cpus, &[], &[])?;
            servers.push((series, placement, server));
        }
    }
    session.rounds(sizes, &mut servers, |&size, (series, placement, server)| {
        let work = Work {
            op: "octet",
            size,
            iters: session.pick(2000, 200),
            warmup: 200,
            threads: 1,
        };
        let sample = server.measure(&work, &[], &[])?;
        let place = Place {
            panel: format!("octet, {placement}"),
            series: (*series).to_owned(),
            x: size as f64,
            label: None,
            unit: "µs",
        };
        collected.add(place, sample.p50_ns / 1000.0, Some(sample.p99_ns / 1000.0));
        Ok(())
    })?;
    for (_, _, server) in servers {
        server.end()?;
    }
    Ok(collected.points())
}

fn charts(data: &Data) -> Vec<Chart> {
    let panel = |placement| {
        let (x, y) = (Axis::log2("octets"), Axis::log("time of a call (µs)"));
        Panel::lines(
            data,
            &format!("octet, {placement}"),
            place_title(placement),
            x,
            y,
        )
    };
    vec![Chart {
        file: "latency-octets".to_owned(),
        title: "Two-way calls with a sequence of octets".to_owned(),
        panels: PLACEMENTS.into_iter().filter_map(panel).collect(),
    }]
}

fn findings(data: &Data) -> Vec<Finding> {
    let line = data.line("octet, same", "zorb");
    let first = line.first().map(|(_, value)| *value);
    let last = line.last().map(|(_, value)| *value);
    vec![Finding::new(
        "Latency grows with the size of what is sent (Figures 19–26)",
        [first, last, growth(&line)],
        |[first, last, growth]| {
            let (first, last) = (with_unit(first, "µs"), with_unit(last, "µs"));
            let seen = format!("1,024 octets take {last} where 1 takes {first}");
            (
                seen,
                if growth > 2.0 {
                    Holds::Yes
                } else {
                    Holds::InPart
                },
            )
        },
    )]
}
