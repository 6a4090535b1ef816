//! Finds servant and operation, in each of the ways that the papers compare, and times it.
//!
//! A question is `STRATEGY SERVANTS OPERATIONS random|worst MILLISECONDS`, for instance
//! `active 500 100 random 20`. *Random* asks for any operation of any servant, *worst* for the last operation of the
//! last servant. Where every servant has an adapter of its own, nested in the one before or beside all others (`nested`,
//! `siblings`, and the same with `_names` for references that outlive the process), so many servants are as many
//! adapters; `nested_walked` and `siblings_walked` look the latter up an adapter at a time. Before the times are taken, each way is asked for every operation of some servants and for such as
//! there are none, and has to find the right ones.
#![forbid(unsafe_code)]

mod timed;

use std::hash::RandomState;
use std::time::Duration;
use zorb_papers::batches::Times;
use zorb_papers::dialogue;
use zorb_papers::lookup::{
    Active, Adapter, Authenticated, Branches, Delayered, Fast, FixedIds, Hashed, Linear, Perfect,
    Strategy, Walked,
};

fn main() -> Result<(), std::io::Error> {
    let mut last: Option<(String, usize, usize, Box<dyn timed::Timed>)> = None;
    dialogue::run(|words| {
        let name = words.first().ok_or("which strategy?")?;
        let (servants, operations) = (dialogue::number(words, 1)?, dialogue::number(words, 2)?);
        let worst = match words.get(3) {
            Some(&"random") => false,
            Some(&"worst") => true,
            _ => return Err("random or worst?".to_owned()),
        };
        let patience = Duration::from_millis(dialogue::number(words, 4)? as u64);
        if servants == 0 || operations == 0 {
            return Err("no servant to find".to_owned());
        }
        let same = last
            .as_ref()
            .is_some_and(|(n, s, o, _)| n == name && (*s, *o) == (servants, operations));
        if !same {
            // Let go of the old ones before there are new ones.
            last = None;
            let made = make(name, servants, operations)?;
            made.check()?;
            last = Some(((*name).to_owned(), servants, operations, made));
        }
        let (_, _, _, made) = last.as_ref().ok_or("no servant")?;
        Ok::<Times, String>(made.time(worst, patience))
    })
}

/// The servants and their operations, ready to be found.
fn make(name: &str, servants: usize, operations: usize) -> Result<Box<dyn timed::Timed>, String> {
    fn ready<S: Strategy + 'static>(servants: usize, operations: usize) -> Box<dyn timed::Timed> {
        Box::new(timed::World::<S>::new(servants, operations))
    }
    let ready = match name {
        "linear" => ready::<Linear>,
        "hash" => ready::<Hashed<RandomState>>,
        "fast_hash" => ready::<Hashed<Fast>>,
        "perfect" => ready::<Perfect>,
        "active" => ready::<Active>,
        "delayered" => ready::<Delayered>,
        "poa" => ready::<Adapter<false>>,
        "poa_sealed" => ready::<Authenticated>,
        "nested_walked" => ready::<Walked<true>>,
        "siblings_walked" => ready::<Walked<false>>,
        "poa_ids" => ready::<Adapter<true>>,
        "poa_fixed" => ready::<FixedIds>,
        "nested" => ready::<Branches<true, false>>,
        "nested_names" => ready::<Branches<true, true>>,
        "siblings" => ready::<Branches<false, false>>,
        "siblings_names" => ready::<Branches<false, true>>,
        _ => return Err(format!("no such strategy: {name}")),
    };
    Ok(ready(servants, operations))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_finds_the_same_and_nothing_that_is_not_there() {
        let all = [
            "linear",
            "hash",
            "fast_hash",
            "perfect",
            "active",
            "delayered",
            "poa",
            "poa_sealed",
            "nested_walked",
            "siblings_walked",
            "poa_ids",
            "poa_fixed",
            "nested",
            "nested_names",
            "siblings",
            "siblings_names",
        ];
        for name in all {
            for (servants, operations) in [(1, 1), (1, 100), (100, 1), (257, 10), (3, 1_000)] {
                let made = make(name, servants, operations).unwrap();
                made.check()
                    .unwrap_or_else(|e| panic!("{name}, {servants}, {operations}: {e}"));
            }
        }
        assert!(make("guessing", 1, 1).is_err());
    }
}
