//! Counts of valgrind's tools: octets that are allocated or copied (dhat), and calls of functions (callgrind).

use crate::figures::session::Session;
use crate::measure::tools;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Counting {
    /// Allocations, by malloc and its kin.
    Allocations,
    /// Copies, by memcpy and its kin.
    Copies,
    /// Calls of functions.
    Calls,
}

impl Counting {
    /// The words in front of a program that is looked into.
    pub(super) fn words(self, to: &Path) -> Vec<String> {
        let file = to.display();
        let of_dhat = |mode: &str| {
            // Where it is from is not asked.
            vec![
                "--tool=dhat".to_owned(),
                format!("--mode={mode}"),
                "--num-callers=1".to_owned(),
                format!("--dhat-out-file={file}"),
            ]
        };
        let words = match self {
            Self::Allocations => of_dhat("heap"),
            Self::Copies => of_dhat("copy"),
            Self::Calls => vec![
                "--tool=callgrind".to_owned(),
                format!("--callgrind-out-file={file}"),
            ],
        };
        // Its input and output are not used while it runs, and pipes would be left over if it is killed.
        ["valgrind", "-q", "--vgdb=no"]
            .map(str::to_owned)
            .into_iter()
            .chain(words)
            .collect()
    }
}

/// Whether it can be counted; a note says what is missing, and what is not counted then.
pub(super) fn is_there(session: &Session, what: &str) -> bool {
    if let Err(why) = tools::ready(&["valgrind"]) {
        session.miss(format!("{what} ({why})"));
        return false;
    }
    session.use_tool("valgrind");
    true
}

/// Blocks, and the octets of all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Amount {
    pub(super) blocks: f64,
    pub(super) octets: f64,
}

impl Amount {
    /// The share of each of so many, less the part that another one has in common with it.
    pub(super) fn each(self, without: Self, of: f64) -> Self {
        Self {
            blocks: significant(self.blocks - without.blocks, of),
            octets: (self.octets - without.octets) / of,
        }
    }
}

/// The share of each of so many in a difference between two runs. Starting threads and the like do not come out even,
/// so a share of less than a hundredth, or below zero, counts as zero.
pub(super) fn significant(difference: f64, of: f64) -> f64 {
    (100.0 * difference / of).round().max(0.0) / 100.0
}

/// The output of dhat: a program point is a place in the program, with its counts.
#[derive(Deserialize)]
struct Dhat {
    pps: Vec<ProgramPoint>,
}

#[derive(Deserialize)]
struct ProgramPoint {
    #[serde(rename = "tbk")]
    blocks: u64,
    #[serde(rename = "tb")]
    octets: u64,
}

/// The counts of dhat.
///
/// # Errors
/// It wrote nothing that can be read.
pub(super) fn dhat(file: &Path) -> Result<Amount, String> {
    let text = fs::read_to_string(file).map_err(|e| format!("dhat wrote nothing: {e}"))?;
    amount(&text)
}

fn amount(text: &str) -> Result<Amount, String> {
    let read: Dhat = serde_json::from_str(text).map_err(|e| format!("dhat: {e}"))?;
    let sum = |of: fn(&ProgramPoint) -> u64| read.pps.iter().map(of).sum::<u64>() as f64;
    Ok(Amount {
        blocks: sum(|point| point.blocks),
        octets: sum(|point| point.octets),
    })
}

/// How often functions were called.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Calls {
    /// The program's and an ORB's own, what is compiled into them included.
    pub(super) own: f64,
    /// The functions of the system's libraries.
    pub(super) systems: f64,
}

impl Calls {
    /// The share of each of so many, less the part that another one has in common with it.
    pub(super) fn each(self, without: Self, of: f64) -> Self {
        Self {
            own: significant(self.own - without.own, of),
            systems: significant(self.systems - without.systems, of),
        }
    }
}

/// The counts of callgrind.
///
/// # Errors
/// It wrote nothing.
pub(super) fn calls(file: &Path) -> Result<Calls, String> {
    let text = fs::read_to_string(file).map_err(|e| format!("callgrind wrote nothing: {e}"))?;
    Ok(called(&text))
}

/// From lines of callgrind's format: `ob=` names the object that costs are of until the next such line, `cob=` that of
/// the function which the next line `calls=NUMBER …` is of, if it is another one.
fn called(text: &str) -> Calls {
    let mut names = BTreeMap::new();
    let (mut caller, mut callee) = ("", None);
    let mut all = Calls::default();
    for line in text.lines() {
        if let Some(said) = line.strip_prefix("ob=") {
            caller = name(&mut names, said);
        } else if let Some(said) = line.strip_prefix("cob=") {
            callee = Some(name(&mut names, said));
        } else if let Some(said) = line.strip_prefix("calls=") {
            let number = said.split(' ').next().and_then(|n| n.parse::<f64>().ok());
            let sum = match is_own(callee.take().unwrap_or(caller)) {
                true => &mut all.own,
                false => &mut all.systems,
            };
            *sum += number.unwrap_or_default();
        }
    }
    all
}

/// A name is written once, behind its number in parentheses, and then the number alone.
fn name<'a>(names: &mut BTreeMap<&'a str, &'a str>, said: &'a str) -> &'a str {
    let Some((number, rest)) = said.split_once(')') else {
        return said;
    };
    match rest.strip_prefix(' ') {
        Some(new) => {
            names.insert(number, new);
            new
        }
        None => names.get(number).copied().unwrap_or_default(),
    }
}

/// Whether an object is the program or a library of omniORB's: what has no name is the system's.
fn is_own(object: &str) -> bool {
    let file = object.rsplit('/').next().unwrap_or_default();
    let begins = |words: &[&str]| words.iter().any(|word| file.starts_with(word));
    begins(&["libomni"]) || !(file.is_empty() || begins(&["lib", "ld-", "?", "["]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_dhat_counts_is_the_sum_of_all_places() {
        let text = r#"{"dhatFileVersion":2,"mode":"heap","te":7,
            "pps":[{"tb":100,"tbk":3,"fs":[1]},{"tb":20,"tbk":1,"fs":[2]}],"ftbl":["[root]"]}"#;
        let all = amount(text).unwrap();
        let (blocks, octets) = (4.0, 120.0);
        assert_eq!(all, Amount { blocks, octets });
        let before = Amount {
            blocks: 2.0,
            octets: 20.0,
        };
        let each = all.each(before, 10.0);
        assert_eq!((each.blocks, each.octets), (0.2, 10.0));
        let less = before.each(all, 10.0).blocks;
        assert_eq!((significant(4.0, 1_000.0), less), (0.0, 0.0));
        assert!(less.is_sign_positive());
        assert!(amount("").is_err());
    }

    #[test]
    fn a_call_is_of_the_object_of_who_is_called() {
        let text = "events: Ir\n\nob=(1) /usr/lib/libomniORB4.so.2.5\nfl=(1) ???\nfn=(1) dispatch\n0 9\ncfn=(2) locate\n\
                    calls=40 0\n0 80\ncob=(2) /usr/lib/libc.so.6\ncfi=(2) ???\ncfn=(3) memcpy\ncalls=5 +1 -2\n0 9\n\
                    cob=(3) /b/latency-server\ncfn=(4) noparams\ncalls=3 0\n0 1\n\nob=(3)\nfn=(4)\n0 1\ncob=(2)\n\
                    cfn=(3)\ncalls=2 0\n0 1\ncob=(4) ???\ncfn=(5) 0x48ea140\ncalls=1 0\n0 1\ncfn=(4)\ncalls=1 0\n0 1\n";
        let calls = called(text);
        assert_eq!((calls.own, calls.systems), (44.0, 8.0));
    }

    #[test]
    fn an_orbs_libraries_are_its_own() {
        for (object, own) in [
            ("/w/target/release/papers-latency-server", true),
            ("/usr/lib/libomnithread.so.4.1", true),
            ("/usr/lib/libstdc++.so.6.0.30", false),
            ("/usr/lib/ld-linux-x86-64.so.2", false),
            ("???", false),
            ("", false),
        ] {
            assert_eq!(is_own(object), own, "{object}");
        }
    }
}
