//! In which order servants and operations are called: the paper's four algorithms.

use std::str::FromStr;

/// Calls of one servant after the other before the next one has its turn.
const TRAIN: usize = 100;

/// An algorithm.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Order {
    /// A hundred calls of one servant, then of the next.
    Train,
    /// Each servant once, and again.
    Robin,
    /// Any servant and any operation.
    Random,
    /// The last operation of the last servant, every time.
    Worst,
}

impl FromStr for Order {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        Ok(match word {
            "train" => Self::Train,
            "robin" => Self::Robin,
            "random" => Self::Random,
            "worst" => Self::Worst,
            _ => return Err(()),
        })
    }
}

/// The turns of the clients.
#[derive(Debug)]
pub struct Turns {
    order: Order,
    servants: usize,
    operations: usize,
    done: usize,
    /// The state of Marsaglia's xorshift, which is the same in every peer.
    state: u64,
}

impl Order {
    /// The turns of so many servants with so many operations; at least one of each.
    #[must_use]
    pub fn turns(self, servants: usize, operations: usize) -> Turns {
        Turns {
            order: self,
            servants: servants.max(1),
            operations: operations.max(1),
            done: 0,
            state: 0x9e37_79b9_7f4a_7c15,
        }
    }
}

impl Turns {
    /// The numbers of the next servant and of the next operation.
    pub fn turn(&mut self) -> (usize, usize) {
        let turn = self.done;
        self.done += 1;
        match self.order {
            Order::Train => (turn / TRAIN % self.servants, turn % self.operations),
            Order::Robin => (turn % self.servants, turn % self.operations),
            Order::Random => (self.below(self.servants), self.below(self.operations)),
            Order::Worst => (self.servants - 1, self.operations - 1),
        }
    }

    fn below(&mut self, count: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (((self.state >> 32) * count as u64) >> 32) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servants(order: Order, count: usize, turns: usize) -> Vec<usize> {
        let mut all = order.turns(count, 1);
        (0..turns).map(|_| all.turn().0).collect()
    }

    #[test]
    fn a_train_stays_a_hundred_calls() {
        let all = servants(Order::Train, 3, 400);
        let starts: Vec<_> = all.chunks(TRAIN).map(|train| train[0]).collect();
        assert_eq!(starts, [0, 1, 2, 0]);
        assert!(
            all.chunks(TRAIN)
                .all(|train| train.iter().all(|s| *s == train[0]))
        );
    }

    #[test]
    fn in_a_round_every_servant_has_a_turn() {
        assert_eq!(servants(Order::Robin, 3, 7), [0, 1, 2, 0, 1, 2, 0]);
    }

    #[test]
    fn random_turns_reach_every_servant_and_no_other() {
        let mut turns = Order::Random.turns(7, 10);
        let mut seen = [[false; 10]; 7];
        for _ in 0..5000 {
            let (servant, operation) = turns.turn();
            seen[servant][operation] = true;
        }
        assert!(seen.iter().flatten().all(|seen| *seen));
    }

    #[test]
    fn the_worst_case_is_the_last_of_both() {
        assert_eq!(Order::Worst.turns(500, 100).turn(), (499, 99));
    }
}
