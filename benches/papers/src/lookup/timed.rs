//! Requests to one strategy, and what they take.

use super::servants::operation;
use super::{
    Active, Adapter, Authenticated, Branches, Delayered, Fast, FixedIds, Hashed, Linear, Perfect,
    Strategy, Walked,
};
use crate::batches::{self, Times};
use std::hash::RandomState;
use std::hint::black_box;
use std::time::Duration;

/// Any strategy.
pub trait Timed {
    /// Proves that it finds what there is, and nothing else.
    ///
    /// # Errors
    /// It does not; says what it took for what.
    fn check(&self) -> Result<(), String>;

    /// Looks up until `patience` is over, random ones or always the last.
    fn time(&self, worst: bool, patience: Duration) -> Times;
}

/// One strategy, and how many there are to be found.
struct World<S> {
    strategy: S,
    servants: u32,
    operations: u32,
}

/// Servants of which every operation is looked up to prove that they are found.
const CHECKED: u32 = 40;
/// Requests that are written before they are looked up.
const BATCH: usize = 256;

/// Octets of requests, one behind the other, as they are when they have just been read.
#[derive(Default)]
struct Requests {
    octets: Vec<u8>,
    /// Where each begins, and where its operation's name does; then the end of all.
    places: Vec<(usize, usize)>,
}

impl Requests {
    fn clear(&mut self) {
        self.octets.clear();
        self.places.clear();
        self.places.push((0, 0));
    }

    fn push(&mut self, key: &[u8], operation: &str) {
        let begin = self.octets.len();
        self.octets.extend_from_slice(key);
        let name = self.octets.len();
        self.octets.extend_from_slice(operation.as_bytes());
        if let Some(last) = self.places.last_mut() {
            *last = (begin, name);
        }
        self.places.push((self.octets.len(), self.octets.len()));
    }

    fn get(&self, at: usize) -> (&[u8], &[u8]) {
        let ((begin, name), (end, _)) = (self.places[at], self.places[at + 1]);
        (&self.octets[begin..name], &self.octets[name..end])
    }
}

impl<S: Strategy> World<S> {
    fn new(servants: usize, operations: usize) -> Self {
        Self {
            strategy: S::new(servants, operations),
            servants: servants as u32,
            operations: operations as u32,
        }
    }

    fn found(&self, servant: u32, number: u32) -> Option<(u32, u32)> {
        let key = self.strategy.key(servant, number);
        let found = self.strategy.find(&key, operation(number).as_bytes());
        found.map(|(servant, operation)| (self.strategy.number(servant), operation))
    }
}

impl<S: Strategy> Timed for World<S> {
    fn check(&self) -> Result<(), String> {
        let step = self.servants.div_ceil(CHECKED).max(1);
        let some = (0..self.servants)
            .step_by(step as usize)
            .chain([self.servants - 1]);
        for servant in some {
            for operation in 0..self.operations {
                let found = self.found(servant, operation);
                if found != Some((servant, operation)) {
                    return Err(format!(
                        "operation {operation} of servant {servant} is taken for {found:?}"
                    ));
                }
            }
        }
        // A key with an octet changed at its end belongs to another generation or to no object.
        let mut unknown = self.strategy.key(self.servants - 1, self.operations - 1);
        if let Some(last) = unknown.last_mut() {
            *last ^= 0x80;
        }
        let name = operation(self.operations - 1);
        match self.strategy.find(&unknown, name.as_bytes()) {
            None => Ok(()),
            Some(_) => Err("an unknown key finds a servant".to_owned()),
        }
    }

    fn time(&self, worst: bool, patience: Duration) -> Times {
        let mut random = fastrand::Rng::with_seed(0x5eed);
        let prepare = |requests: &mut Requests, length: usize| {
            requests.clear();
            for _ in 0..length {
                let (servant, number) = if worst {
                    (self.servants - 1, self.operations - 1)
                } else {
                    (random.u32(0..self.servants), random.u32(0..self.operations))
                };
                requests.push(&self.strategy.key(servant, number), &operation(number));
            }
        };
        // The compiler cannot know that it is 0, so that which request is next depends on what was found before it: what
        // is timed is one look-up after the other, not several at once.
        let zero = black_box(0_usize);
        let batch = |requests: &mut Requests, length: usize| {
            let mut at = 0;
            while at < length {
                let (key, operation) = requests.get(at);
                let (servant, operation) = self.strategy.find(key, operation).unwrap_or_default();
                at += 1 + ((servant ^ operation as usize) & zero);
            }
            black_box(at);
        };
        batches::time(&mut Requests::default(), BATCH, patience, prepare, batch)
    }
}

/// The servants and their operations, ready to be found by the strategy of that name.
///
/// # Errors
/// No strategy is called so.
pub fn make(name: &str, servants: usize, operations: usize) -> Result<Box<dyn Timed>, String> {
    fn ready<S: Strategy + 'static>(servants: usize, operations: usize) -> Box<dyn Timed> {
        Box::new(World::<S>::new(servants, operations))
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
