//! Finds servant and operation, in each of the ways that the papers compare, and times it.
//!
//! A question is `STRATEGY SERVANTS OPERATIONS random|worst MILLISECONDS`, for instance
//! `active 500 100 random 20`. *Random* asks for any operation of any servant, *worst* for the last operation of the
//! last servant. Where every servant has an adapter of its own, nested in the one before or beside all others (`nested`,
//! `siblings`, and the same with `_names` for references that outlive the process), so many servants are as many
//! adapters; `nested_walked` and `siblings_walked` look the latter up an adapter at a time. Before the times are taken, each way is asked for every operation of some servants and for such as
//! there are none, and has to find the right ones.
#![forbid(unsafe_code)]

use std::time::Duration;
use zorb_papers::batches::Times;
use zorb_papers::dialogue;
use zorb_papers::lookup::timed::{self, Timed};

fn main() -> Result<(), std::io::Error> {
    let mut last: Option<(String, usize, usize, Box<dyn Timed>)> = None;
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
            let made = timed::make(name, servants, operations)?;
            made.check()?;
            last = Some(((*name).to_owned(), servants, operations, made));
        }
        let (_, _, _, made) = last.as_ref().ok_or("no servant")?;
        Ok::<Times, String>(made.time(worst, patience))
    })
}
