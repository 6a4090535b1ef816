//! The cubit over links of a given speed, between two network namespaces: what a smaller message is worth there.

use crate::figures::cubit::Operation;
use crate::figures::cubit::protocol::{Orb, Protocol};
use crate::figures::data::{Collected, PanelPoint};
use crate::figures::session::Session;
use crate::figures::throughput::links::{Link, SPEEDS, Speed, no_links};
use crate::measure::dialogue::Dialogue;
use crate::measure::place::Placement;

/// Calls whose messages are all headers, and one that is short.
const OPERATIONS: [Operation; 2] = [
    super::operation("void", 0, "void"),
    super::operation("octets", 4, "octets 4"),
];

/// The panel of calls a second over a link.
pub(super) fn panel(speed: &Speed) -> String {
    format!("calls over {}", speed.name)
}

/// Asks zorb alone: how many octets there are in front of a message is the standard's doing.
pub(super) fn measure(
    session: &Session,
    protocols: &[Protocol],
    collected: &mut Collected,
) -> Result<(), String> {
    for speed in SPEEDS {
        let link = match Link::new(speed) {
            Ok(link) => link,
            Err(why) => {
                session.miss(no_links(&why));
                return Ok(());
            }
        };
        let mut contenders = Vec::new();
        for protocol in protocols.iter().filter(|protocol| !protocol.unix) {
            let mut pair = Orb::Zorb.pair(*protocol);
            link.put(&mut pair);
            let dialogue = Dialogue::start(&pair, Placement::Split, session.cpus)?;
            contenders.push((protocol.name(), dialogue));
        }
        let calls = session.pick(super::CALLS, super::QUICK_CALLS);
        let works: Vec<(usize, Operation)> = OPERATIONS.into_iter().enumerate().collect();
        collected.other_rounds();
        session.rounds(&works, &mut contenders, |(at, operation), who| {
            let (series, dialogue) = who;
            let Operation {
                name,
                elements,
                label,
            } = *operation;
            let answer = dialogue.ask(&format!("call {name} {elements} {calls}"))?;
            let place = PanelPoint {
                panel: panel(&speed),
                series: series.clone(),
                x: *at as f64,
                label: Some(label.to_owned()),
                unit: "calls/s",
            };
            // A link that is held back makes some calls wait and others not, so that the median says nothing.
            collected.add(place, answer.calls_per_s, None);
            Ok(())
        })?;
        contenders
            .into_iter()
            .try_for_each(|(_, dialogue)| dialogue.end())?;
    }
    Ok(())
}
