//! Throughput: a transmitter floods a receiver, with and without an ORB.

pub(super) mod flood;
pub(super) mod links;
mod sent;
mod throughput_charts;
mod throughput_findings;

use crate::figures::Experiment;
use crate::figures::data::{Collected, Point};
use crate::figures::finding::Placed;
use crate::figures::session::Session;
use crate::figures::source;
use crate::measure::dialogue::Answer;
use crate::measure::place::Placement;
use flood::{Flood, Kind, Queue, Road, SENDERS, Sender};
pub(super) use sent::tables;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "throughput",
    sources: &[(source::THROUGHPUT, "Figures 2, 3 and 6")],
    found: "Over an ATM link of 155 Mbit/s sockets moved 62 Mbit/s, and the best ORB 39. Socket queues of 64 K instead \
        of 8 K raised throughput from 23 to 62 Mbit/s. An Ethernet of 10 Mbit/s hid the differences.",
    seen: throughput_findings::seen,
    method: "A transmitter floods a receiver with buffers: through an ORB, through our transport layer alone, and \
        through sockets. Every receiver reads each octet. *Transport layer alone* is our transports without an \
        ORB; *zorb, writes joined* is zorb whose one-way calls are done when they are in a buffer of the ORB's, \
        which writes many at once.\n\n\
        The paper sends 64 MB at every point. A point here sends as much, or as much as 60 ms allow, or what a \
        shaped link carries in some tenths of a second, and waits until all has been served. The whole 64 MB are \
        sent besides where the rate may depend on it. Some buffers go first and do not count: an idle connection \
        with short queues stands still for 40 ms.\n\n\
        Queues have the size that the programs ask the system for, which doubles it and counts its own bookkeeping \
        in. zorb's are set by the options of its transports; omniORB has an option for the send queue alone, so \
        its programs set both behind its back.\n\n\
        The shaped links are between two network namespaces: 10 Mbit/s with an MTU of 1,500, 155 Mbit/s and \
        unshaped with one of 9,180. Loopback and these links stand for the paper's Ethernet and ATM switches, \
        omniORB for Orbix and ORBeline, and our transport layer for the ACE wrappers.",
    placed: Placed::Split,
    measure,
    charts: throughput_charts::charts,
    findings: throughput_findings::findings,
};

/// A flood is over when so much has been sent,
const OCTETS: usize = 64 << 20;
/// or after so many milliseconds.
const MILLISECONDS: usize = 60;
const QUICK_OCTETS: usize = 1 << 20;
const QUICK_MILLISECONDS: usize = 8;
/// The warm-up before each flood: such a part of it, or no longer than this.
const BEGIN_PART: usize = 16;
const BEGIN_MILLISECONDS: usize = 1;
/// The time limit of sending all of it where that is asked for: a program has to answer within a minute.
const WHOLE_MILLISECONDS: usize = 40_000;

/// The sizes of the paper, and larger ones.
const SIZES: [usize; 14] = [
    1,
    1 << 10,
    2 << 10,
    4 << 10,
    8 << 10,
    16 << 10,
    32 << 10,
    64 << 10,
    128 << 10,
    256 << 10,
    512 << 10,
    1 << 20,
    2 << 20,
    4 << 20,
];
/// The largest size of the paper.
const PAPERS: usize = 128 << 10;
const QUICK_SIZES: [usize; 3] = [1 << 10, 8 << 10, 64 << 10];

/// The buffers of a flood.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Work {
    kind: Kind,
    size: usize,
    octets: usize,
    milliseconds: usize,
}

impl Work {
    fn request(&self) -> String {
        let buffers = (self.octets / self.size).max(1);
        format!(
            "send {} {} {buffers} {}",
            self.kind.name(),
            self.size,
            self.milliseconds
        )
    }
}

fn works(session: &Session, kinds: &[Kind]) -> Vec<Work> {
    let sizes: &[usize] = session.pick(&SIZES, &QUICK_SIZES);
    let each = |kind: Kind| {
        let fit = move |size: &&usize| **size > 1 || kind != Kind::Structs;
        sizes.iter().filter(fit).map(move |&size| Work {
            kind,
            size,
            octets: session.pick(OCTETS, QUICK_OCTETS),
            milliseconds: session.pick(MILLISECONDS, QUICK_MILLISECONDS),
        })
    };
    kinds.iter().flat_map(|kind| each(*kind)).collect()
}

/// Asks every program that can send such buffers, in rounds of their own.
fn ask(
    session: &Session,
    rounds: usize,
    works: &[Work],
    floods: &mut [Flood],
    collected: &mut Collected,
) -> Result<(), String> {
    collected.other_rounds();
    session.some_rounds(rounds, works, floods, |work, flood| {
        if !flood.sends(work.kind, work.size) {
            return Ok(());
        }
        // A connection with short queues that was idle stands still for some 40 ms at its first buffers.
        let begin = Work {
            octets: work.octets / BEGIN_PART,
            milliseconds: BEGIN_MILLISECONDS,
            ..*work
        };
        flood.dialogue.ask(&begin.request())?;
        let answer = flood.dialogue.ask(&work.request())?;
        let place = flood.place(work.kind, work.size);
        collected.add_sent(
            place,
            8.0 * answer.mbytes_per_s,
            octets_of(&answer, work.size)?,
        );
        Ok(())
    })
}

/// The octets that a flood of buffers of a size sent, which structs fill but for a part of one.
fn octets_of(answer: &Answer, size: usize) -> Result<f64, String> {
    let buffers = answer.more.get("iters").and_then(serde_json::Value::as_f64);
    let buffers = buffers.ok_or("no number of buffers in the answer")?;
    Ok(buffers * size as f64)
}

/// The panel in which all 64 MB are sent, too: queues of 64 K, over TCP, a CPU for each program; the sizes of the paper
/// that differ most, and buffers of one octet by those who join them, once: that takes half a minute, and others would
/// take as long as all else together.
const WHOLE: [usize; 4] = [1 << 10, 8 << 10, 64 << 10, PAPERS];

/// Sends all 64 MB, however long that takes.
fn whole(session: &Session, collected: &mut Collected) -> Result<(), String> {
    let work = |size: usize| Work {
        kind: Kind::Octets,
        size,
        octets: session.pick(OCTETS, QUICK_OCTETS),
        milliseconds: WHOLE_MILLISECONDS,
    };
    let mut floods = Vec::new();
    for sender in SENDERS {
        if sender == Sender::OmniOrb && session.omniorb.is_err() {
            continue;
        }
        let pair = sender.pair(Road::Tcp, &Queue::K64.words(), [&[], &[]]);
        let road = (&pair, sent::WHOLE);
        floods.push(Flood::start(
            session,
            sender,
            road,
            Queue::K64,
            Placement::Split,
        )?);
    }
    let works: Vec<Work> = WHOLE.into_iter().map(work).collect();
    ask(session, session.rounds, &works, &mut floods, collected)?;
    let joined = |flood: &Flood| flood.sender == Sender::Joined;
    if let Some(joined) = floods.iter().position(joined) {
        let joined = &mut floods[joined..=joined];
        ask(session, 1, &[work(1)], joined, collected)?;
    }
    Flood::end_all(floods)
}

fn measure(session: &Session) -> Result<Vec<Point>, String> {
    if let Err(why) = &session.omniorb {
        session.miss(format!("omniORB ({why})"));
    }
    let mut collected = Collected::default();
    for road in [Road::Tcp, Road::Unix] {
        let works = works(session, &Kind::ALL);
        // All queues in the same rounds, as they are compared.
        let mut floods = Vec::new();
        for queue in Queue::ALL {
            floods.extend(Flood::start_all(session, &SENDERS, road, queue)?);
        }
        ask(session, session.rounds, &works, &mut floods, &mut collected)?;
        Flood::end_all(floods)?;
    }
    whole(session, &mut collected)?;
    links::measure(session, &mut collected)?;
    Ok(collected.points())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::place::Cpus;

    #[test]
    fn a_full_run_sends_what_the_paper_sent_and_there_are_no_structs_of_an_octet() {
        let session = Session::new(false, 9, Cpus::only(0), Ok(()));
        let works = works(&session, &Kind::ALL);
        assert_eq!(works.len(), 4 * SIZES.len() - 1);
        let work = works
            .iter()
            .find(|w| w.kind == Kind::Octets && w.size == 65536);
        assert_eq!(work.unwrap().request(), "send octets 65536 1024 60");
    }
}
