//! The share of a server's instructions that look up object and operation of a call.

use crate::figures::data::{Collected, Data};
use crate::figures::measured::Measured;
use crate::figures::profiles::place;
use crate::figures::profiles::tool::{self, Share};
use crate::figures::profiles::valgrind;
use crate::figures::session::Session;
use crate::measure::dialogue::{Dialogue, Pair};
use crate::measure::place::Placement;
use crate::measure::programs::{omniorb, ours};
use crate::measure::statistics::three_digits;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// The number of objects in the paper's tables.
const OBJECTS: usize = 500;

/// Runs, of which every one counts what the ones before have counted, but for what a server does by the clock.
const ROUNDS: usize = 3;

/// A server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Orb {
    Zorb,
    Omni,
}

impl Orb {
    pub(super) const ALL: [Self; 2] = [Self::Zorb, Self::Omni];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Zorb => "zorb",
            Self::Omni => "omniORB",
        }
    }

    /// The command lines; the server's and the client's have these words in front.
    pub(super) fn pair(self, [before, ahead]: [&[String]; 2]) -> Pair {
        let (server, client) = match self {
            Self::Zorb => {
                let ttcp = || ours("papers-ttcp");
                let words = |word: &str| vec![ttcp(), word.to_owned()];
                (words("serve"), words("send"))
            }
            Self::Omni => (vec![omniorb("ttcp_server")], vec![omniorb("ttcp_client")]),
        };
        let objects = ["--servants".to_owned(), OBJECTS.to_string()];
        let server = before.iter().cloned().chain(server).chain(objects);
        Pair {
            name: format!("{}, look-ups", self.name()),
            server: Some(server.collect()),
            client: ahead.iter().cloned().chain(client).collect(),
            unix: false,
        }
    }

    /// The part to which a function belongs. Functions of ours are inlined, so the source decides; of
    /// omniORB's library there is no source, but nothing of it is inlined either.
    fn part(self, share: &Share) -> &'static str {
        let Share { file, function, .. } = share;
        let ends = |names: &[&str]| names.iter().any(|name| file.ends_with(name));
        let has = |names: &[&str]| names.iter().any(|name| function.contains(name));
        match self {
            Self::Zorb if ends(&["poa/src/operations.rs"]) => PARTS[1],
            Self::Zorb if ends(&["poa/src/table.rs", "poa/src/registry.rs", "poa/src/key.rs"]) => {
                PARTS[0]
            }
            Self::Omni
                if has(&[
                    "omniObjTable::locate",
                    "omni::hash",
                    "omniOrbPOA::dispatch",
                    "equal_keys",
                ]) =>
            {
                PARTS[0]
            }
            // It compares names, one after the other.
            Self::Omni if has(&["::_dispatch", "strMatch", "strcmp"]) => PARTS[1],
            _ => PARTS[2],
        }
    }
}

/// The parts of a bar, from the bottom up.
pub(super) const PARTS: [&str; 3] = [
    "finding the object",
    "finding the operation",
    "everything else",
];

/// The panel of the shares, of objects that are called in turns.
pub(super) const PANEL: &str = "look-ups";

/// Calls of objects one after the other: each has all its calls before the next.
pub(super) const TRAINS: &str = "look-ups, trains";

/// Both orders: their panel, and what a client calls them.
const ORDERS: [(&str, &str); 2] = [(PANEL, "robin"), (TRAINS, "train")];

pub(super) fn measure(session: &Session, collected: &mut Collected) -> Result<(), String> {
    if !valgrind::is_there(session, "look-ups") {
        return Ok(());
    }
    let ways: &[&str] = session.pick(&["oneway", "twoway"], &["oneway"]);
    let orbs = Orb::ALL;
    let there = |orb: &Orb| *orb == Orb::Zorb || session.omniorb.is_ok();
    let each = ways
        .iter()
        .flat_map(|way| orbs.into_iter().filter(there).map(move |orb| (*way, orb)));
    let each = each
        .enumerate()
        .flat_map(|(at, who)| ORDERS.map(|order| (at, who, order)));
    let each: Vec<_> = each.collect();
    let rounds = session.pick(session.rounds.min(ROUNDS), 1);
    session.some_rounds(
        rounds,
        &each,
        &mut [()],
        |&(at, (way, orb), (panel, order)), ()| {
            let shares = shares(session, orb, &format!("call {way} {order}"))?;
            let label = format!("{}, {way}", orb.name());
            for part in PARTS {
                let of_it = shares.iter().filter(|share| orb.part(share) == part);
                let sum: f64 = of_it.map(|share| share.percent).sum();
                let place = place(panel.to_owned(), part, at as f64, Some(label.clone()), "%");
                collected.add(place, sum, None);
            }
            Ok(())
        },
    )
}

/// The share of finding both, in percent of the value of a panel under a label.
pub(super) fn finding(data: &Data, panel: &str, label: &str) -> Option<Measured> {
    let [object, operation, _] = PARTS.map(|part| data.measured_under(panel, part, label));
    Some(object?.plus(operation?))
}

/// How far the runs of look-ups are from each other, in a sentence; nothing of fewer than two.
pub(super) fn spread(data: &Data) -> Option<String> {
    let rounds = data.of(PANEL).map(|point| point.rounds).min()?;
    let apart = data.of(PANEL).map(|point| point.high - point.low);
    let most = apart.max_by(f64::total_cmp)?;
    (rounds > 1).then(|| {
        format!(
            "Shares of look-ups are medians of {rounds} runs, in which the quartiles are at most {} % of the instructions apart.",
            three_digits(most)
        )
    })
}

/// Counts from when the server has started and the connection is there.
fn shares(session: &Session, orb: Orb, calls_of: &str) -> Result<Vec<Share>, String> {
    let folder = TempDir::new().map_err(|e| e.to_string())?;
    let file = folder.path().join("callgrind");
    let front = [
        "valgrind".to_owned(),
        "-q".to_owned(),
        "--tool=callgrind".to_owned(),
        "--instr-atstart=no".to_owned(),
        format!("--callgrind-out-file={}", file.display()),
    ];
    let mut dialogue = Dialogue::start(&orb.pair([&front, &[]]), Placement::Split, session.cpus)?;
    dialogue.ask(&format!("{calls_of} {OBJECTS}"))?;
    let server = dialogue.server_id().ok_or("no server")?;
    instrument(server, "on")?;
    let calls = OBJECTS * session.pick(10, 2);
    dialogue.ask(&format!("{calls_of} {calls}"))?;
    instrument(server, "off")?;
    dialogue.end()?;
    tool::callgrind(Path::new(&file))
}

fn instrument(server: u32, whether: &str) -> Result<(), String> {
    let mut control = Command::new("callgrind_control");
    let output = control.args(["-i", whether, &server.to_string()]).output();
    let output = output.map_err(|e| format!("callgrind_control: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::data::tests::data;

    fn share(file: &str, function: &str) -> Share {
        Share {
            object: String::new(),
            function: function.to_owned(),
            file: file.to_owned(),
            percent: 1.0,
        }
    }

    #[test]
    fn runs_that_say_the_same_are_said_to() {
        let mut data = data(&[
            (PANEL, PARTS[0], 0.0, Some("zorb, oneway"), 2.0),
            (PANEL, PARTS[1], 0.0, Some("zorb, oneway"), 1.0),
        ]);
        let said = spread(&data).unwrap();
        assert!(
            said.contains("of 5 runs") && said.contains("most 0.00 %"),
            "{said}"
        );
        data.points[0].high += 0.25;
        assert!(spread(&data).unwrap().contains("most 0.25 %"));
        // One run says nothing of others.
        data.points[0].rounds = 1;
        assert_eq!(spread(&data), None);
    }

    #[test]
    fn ours_are_known_by_their_source_and_omniorbs_by_their_name() {
        let inlined = share("/w/crates/poa/src/operations.rs", "zorb::serve::serve");
        assert_eq!(Orb::Zorb.part(&inlined), "finding the operation");
        let table = share(
            "/w/crates/poa/src/table.rs",
            "zorb_poa::table::Table<T>::with",
        );
        assert_eq!(Orb::Zorb.part(&table), "finding the object");
        assert_eq!(
            Orb::Omni.part(&share(
                "???",
                "omniObjTable::locateActive(_CORBA_Octet const*)"
            )),
            "finding the object"
        );
        let compared = share("???", "__strcmp_avx2");
        assert_eq!(Orb::Omni.part(&compared), "finding the operation");
        assert_eq!(Orb::Zorb.part(&compared), "everything else");
    }
}
