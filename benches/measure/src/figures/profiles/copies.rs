//! Allocations and copies of a flood's buffer, by dhat.

use crate::figures::data::{Collected, Data};
use crate::figures::finding::{Finding, Holds};
use crate::figures::measured::Measured;
use crate::figures::profiles::valgrind::{self, Amount, Counting};
use crate::figures::profiles::{COUNTING_ROUNDS, ENDS, QUEUE, place};
use crate::figures::session::Session;
use crate::figures::throughput::flood::{Kind, Road, Sender};
use crate::measure::dialogue::Dialogue;
use crate::measure::place::Placement;
use tempfile::TempDir;

/// The programs that are profiled: without an ORB nothing is allocated, and the octets are sent where they were made.
const ORBS: [Sender; 2] = [Sender::Zorb, Sender::OmniOrb];

/// The size in which every type is sent while allocations are counted.
const SIZE: usize = 8 << 10;
/// The sizes in which octets are sent while copies are counted.
const SIZES: [usize; 2] = [SIZE, 64 << 10];

/// Panels: blocks that a buffer has allocated at the receiver, and their octets for each of its own.
pub(super) const BLOCKS: &str = "allocations, server";
pub(super) const ALLOCATED: &str = "allocated octets, server";

/// Copies of each octet at an end.
pub(super) fn copied(end: &str) -> String {
    format!("copies, {end}")
}

/// The label of a size in the panel of copies.
fn label(size: usize) -> String {
    format!("octets {} K", size >> 10)
}

/// A flood of which something is counted.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sent {
    counting: Counting,
    kind: Kind,
    size: usize,
}

fn sent(session: &Session) -> Vec<Sent> {
    let kinds: &[Kind] = session.pick(&Kind::ALL, &[Kind::Octets]);
    let kinds = kinds.iter().map(|&kind| Sent {
        counting: Counting::Allocations,
        kind,
        size: SIZE,
    });
    let sizes: &[usize] = session.pick(&SIZES, &[SIZE]);
    let sizes = sizes.iter().map(|&size| Sent {
        counting: Counting::Copies,
        kind: Kind::Octets,
        size,
    });
    kinds.chain(sizes).collect()
}

pub(super) fn measure(session: &Session, collected: &mut Collected) -> Result<(), String> {
    if !valgrind::is_there(session, "allocations and copies") {
        return Ok(());
    }
    let there = |orb: &Sender| *orb != Sender::OmniOrb || session.omniorb.is_ok();
    let mut orbs: Vec<Sender> = ORBS.into_iter().filter(there).collect();
    let rounds = session.pick(session.rounds.min(COUNTING_ROUNDS), 1);
    let sent = sent(session);
    session.some_rounds(
        rounds,
        &[Counting::Allocations, Counting::Copies],
        &mut orbs,
        |&counting, &mut orb| {
            let of_it = |one: &&Sent| one.counting == counting;
            let of_it: Vec<Sent> = sent.iter().filter(of_it).copied().collect();
            keep(session, collected, orb, &of_it)
        },
    )
}

/// Buffers that go before, of each flood that is looked into with that tool, so that what is there once is there; and
/// those that count.
const BEFORE: usize = 100;
const QUICK_BEFORE: usize = 20;
const BUFFERS: usize = 1_000;
const QUICK_BUFFERS: usize = 100;

/// Counts with few buffers of each flood, and then with many more of one of them after the other.
fn keep(
    session: &Session,
    collected: &mut Collected,
    orb: Sender,
    sent: &[Sent],
) -> Result<(), String> {
    let without = count(session, orb, sent, None)?;
    let buffers = session.pick(BUFFERS, QUICK_BUFFERS) as f64;
    for (at, one) in sent.iter().enumerate() {
        let with = count(session, orb, sent, Some(at))?;
        let Sent {
            counting,
            kind,
            size,
        } = *one;
        for ((end, with), without) in ENDS.into_iter().zip(with).zip(without) {
            let each = with.each(without, buffers);
            let octets = valgrind::significant(each.octets, size as f64);
            let mut add = |panel: String, x: usize, label: String, value: f64, unit| {
                let place = place(panel, orb.name(), x as f64, Some(label), unit);
                collected.add(place, value, None);
            };
            let name = || kind.name().to_owned();
            match (counting, end) {
                (Counting::Copies, _) => add(copied(end), size, label(size), octets, "an octet"),
                (_, "server") => {
                    add(BLOCKS.to_owned(), at, name(), each.blocks, "a buffer");
                    add(ALLOCATED.to_owned(), at, name(), octets, "an octet");
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// The allocations and copies of both ends, when one of the floods had many more buffers.
fn count(
    session: &Session,
    orb: Sender,
    sent: &[Sent],
    long: Option<usize>,
) -> Result<[Amount; 2], String> {
    let folder = TempDir::new().map_err(|e| e.to_string())?;
    let files = ENDS.map(|end| folder.path().join(end));
    let counting = sent.first().map(|one| one.counting);
    let counting = counting.ok_or("nothing to count")?;
    // The client's allocations are not counted.
    let both = counting == Counting::Copies;
    let [client, server] = files.each_ref().map(|file| counting.words(file));
    let client = if both { client } else { Vec::new() };
    let pair = orb.pair(Road::Tcp, &QUEUE.words(), [&server, &client]);
    let mut dialogue = Dialogue::start(&pair, Placement::Split, session.cpus)?;
    for (at, Sent { kind, size, .. }) in sent.iter().enumerate() {
        let mut buffers = session.pick(BEFORE, QUICK_BEFORE);
        if long == Some(at) {
            buffers += session.pick(BUFFERS, QUICK_BUFFERS);
        }
        // So many, however long they take.
        dialogue.ask(&format!("send {} {size} {buffers} 60000", kind.name()))?;
    }
    dialogue.end()?;
    let [client, server] = files;
    let of_client = match both {
        true => valgrind::dhat(&client)?,
        false => Amount::default(),
    };
    Ok([of_client, valgrind::dhat(&server)?])
}

/// Copies of one octet in eight are few.
const SELDOM: f64 = 0.125;

pub(super) fn findings(data: &Data) -> [Finding; 2] {
    [allocations(data), copies(data)]
}

fn allocations(data: &Data) -> Finding {
    let each = |panel: &str| {
        let of =
            |orb: Sender| Kind::ALL.map(|kind| data.measured_under(panel, orb.name(), kind.name()));
        ORBS.map(of)
    };
    let ([zorb, omni], [zorb_blocks, omni_blocks]) = (each(ALLOCATED), each(BLOCKS));
    let all = [zorb, omni, zorb_blocks, omni_blocks].concat();
    let all = <[_; 16]>::try_from(all).unwrap_or([None; 16]);
    Finding::new(
        "Skeletons allocate and free copies around each upcall, needed or not (throughput paper, Section 2.2.2)",
        all,
        |all| {
            let part = |at: usize| {
                let words = all.iter().skip(4 * at).take(4).zip(Kind::ALL);
                let words = words.map(|(value, kind)| format!("{} {}", kind.name(), value.plain()));
                words.collect::<Vec<_>>().join(", ")
            };
            let seen = format!(
                "octets allocated per octet received: zorb {}; omniORB {}; buffers of 8 K. Blocks for a buffer: \
                 zorb {}; omniORB {}",
                part(0),
                part(1),
                part(2),
                part(3)
            );
            // A copy is as long as what it is of, and half of one is no copy. What a message is received into counts,
            // too.
            let copies = all.iter().take(8).map(|octets| octets.at_least(0.5));
            (seen, Holds::all(copies))
        },
    )
}

fn copies(data: &Data) -> Finding {
    let of = |orb: Sender, size: usize| {
        ENDS.map(|end| data.measured_under(&copied(end), orb.name(), &label(size)))
    };
    let each = SIZES.map(|size| ORBS.map(|orb| of(orb, size)));
    let all = <[_; 8]>::try_from(each.concat().concat()).unwrap_or([None; 8]);
    Finding::new(
        "Data are copied several times, three times as often by one ORB as by the other (throughput paper, Figure 7)",
        all,
        |[
            zorb_out,
            zorb_in,
            omni_out,
            omni_in,
            zorb_long_out,
            zorb_long_in,
            omni_long_out,
            omni_long_in,
        ]| {
            let sums = [
                (zorb_out.plus(zorb_in), omni_out.plus(omni_in)),
                (
                    zorb_long_out.plus(zorb_long_in),
                    omni_long_out.plus(omni_long_in),
                ),
            ];
            let [times, times_long] = sums.map(|(zorb, omni)| match zorb.median < omni.median {
                true => often(("omniORB", omni), ("zorb", zorb)),
                false => often(("zorb", zorb), ("omniORB", omni)),
            });
            let seen = format!(
                "copies of each octet, transmitter and receiver: {} and {} with zorb, {} and \
                 {} with omniORB; {} with buffers of 8 K, of 64 K {} and {}, {} and {}, {}. The kernel copies once more at each end; loops that the compiler made no call are not \
                 seen, as those that convert structs",
                zorb_out.plain(),
                zorb_in.plain(),
                omni_out.plain(),
                omni_in.plain(),
                times.0,
                zorb_long_out.plain(),
                zorb_long_in.plain(),
                omni_long_out.plain(),
                omni_long_in.plain(),
                times_long.0,
            );
            // The copies from sender to receiver, the kernel's aside.
            let several = sums.map(|(zorb, omni)| [zorb, omni].map(|sum| sum.at_least(2.0)));
            let thrice = [times.1, times_long.1];
            let all = several.into_iter().flatten().chain(thrice);
            (seen, Holds::all(all))
        },
    )
}

/// How many times as often the one copies as the other, in words, and whether that is three times.
fn often((who, more): (&str, Measured), (other, less): (&str, Measured)) -> (String, Holds) {
    if more.most < 2.0 * SELDOM {
        return ("both seldom".to_owned(), Holds::No);
    }
    if less.least <= SELDOM {
        // Many times next to nothing is no number.
        return (format!("{other} seldom"), Holds::More);
    }
    let times = more.over(less);
    let words = format!("{who} {} as often as {other}", times.factor());
    (words, times.beside(3.0, 3.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    /// Copies by each ORB at an end: of octets of 8 K, and of 64 K.
    fn judged(zorb: [f64; 2], omni: [f64; 2]) -> Finding {
        let panels = ENDS.map(copied);
        let labels = SIZES.map(label);
        let mut points = Vec::new();
        for panel in &panels {
            for (at, label) in labels.iter().enumerate() {
                let label = Some(label.as_str());
                points.push((panel.as_str(), "zorb", at as f64, label, zorb[at]));
                points.push((panel.as_str(), "omniORB", at as f64, label, omni[at]));
            }
        }
        copies(&data(&points))
    }

    #[test]
    fn copies_are_judged_by_how_many_there_are_and_by_how_many_more_one_orb_makes() {
        let found = judged([1.0, 1.0], [3.0, 3.0]);
        assert_eq!(found.holds, Holds::Yes, "{}", found.seen);
        let words = "1.00 and 1.00 with zorb, 3.00 and 3.00 with omniORB; omniORB ×3.00 as often as zorb with buffers of 8 K";
        assert!(found.seen.contains(words), "{}", found.seen);
        // Half a copy at each end is not several.
        assert_eq!(judged([0.5, 0.5], [1.5, 1.5]).holds, Holds::InPart);
        let none = judged([0.01, 1.0], [0.5, 0.01]);
        assert!(none.seen.contains("; zorb seldom with"), "{}", none.seen);
        assert!(none.seen.contains(", omniORB seldom. The"), "{}", none.seen);
        let neither = judged([0.05, 0.05], [0.1, 0.1]);
        assert_eq!(neither.holds, Holds::No, "{}", neither.seen);
        assert_eq!(copies(&data(&[])).holds, Holds::Unknown);
    }

    #[test]
    fn who_allocates_as_much_as_arrives_allocates_copies() {
        let judged = |zorb: f64| {
            let mut points = Vec::new();
            for (at, kind) in Kind::ALL.iter().enumerate() {
                for (orb, octets) in [("zorb", zorb), ("omniORB", 2.0)] {
                    let label = Some(kind.name());
                    points.push((ALLOCATED, orb, at as f64, label, octets));
                    points.push((BLOCKS, orb, at as f64, label, octets));
                }
            }
            allocations(&data(&points))
        };
        assert_eq!(judged(1.0).holds, Holds::Yes);
        let none = judged(0.0);
        assert_eq!(none.holds, Holds::InPart);
        let words =
            "omniORB octets 2.00, chars 2.00, string 2.00, structs 2.00; buffers of 8 K. Blocks";
        assert!(none.seen.contains(words), "{}", none.seen);
        assert_eq!(allocations(&data(&[])).holds, Holds::Unknown);
    }

    #[test]
    fn every_type_is_sent_where_allocations_are_counted_and_two_sizes_where_copies_are() {
        let cpus = crate::measure::place::Cpus::only(0);
        let session = Session::new(false, 1, cpus, Ok(()));
        let of = |counting| {
            sent(&session)
                .iter()
                .filter(|one| one.counting == counting)
                .count()
        };
        assert_eq!(of(Counting::Allocations), Kind::ALL.len());
        assert_eq!(of(Counting::Copies), SIZES.len());
    }
}
