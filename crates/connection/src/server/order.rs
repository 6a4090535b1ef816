//! Orders: queues of turns of one connection or of one collocated reference. A request begins when the turn before it is
//! over: a one-way request when the one before has ended, a held request when the one before has begun.

use super::super::sync::{AtomicUsize, Mutex, MutexGuard, Ordering};
use std::sync::PoisonError;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

/// The key of an order: requests with the same key run in the order of their arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OrderKey {
    /// One-way requests: each begins when the one before has ended, or has released its turn.
    OneWays,
    /// Requests that a POA manager has held, by its address: each begins when the one before has begun.
    Manager(usize),
}

/// The turn of one request in an order. The next one has its turn when this is dropped.
#[derive(Debug)]
#[must_use = "the next request has its turn when this is dropped"]
pub struct Turn {
    /// The turn before, until it is over; `None` for the first.
    before: Option<Before>,
    over: Option<oneshot::Sender<Before>>,
}

/// The end of a turn, for the next one to wait for. The channel is closed when the turn ends. A turn that is dropped before
/// it has come passes its own predecessor on to the next.
#[derive(Debug)]
struct Before(oneshot::Receiver<Self>);

impl Before {
    fn is_over(&mut self) -> bool {
        loop {
            match self.0.try_recv() {
                Ok(earlier) => *self = earlier,
                Err(TryRecvError::Empty) => return false,
                Err(TryRecvError::Closed) => return true,
            }
        }
    }
}

impl Drop for Before {
    /// Drops passed-on predecessors one by one. Turns that are dropped in reverse order leave a chain as long as the number of
    /// pending requests; dropping it recursively might overflow the stack.
    fn drop(&mut self) {
        while let Ok(mut earlier) = self.0.try_recv() {
            // `earlier` holds the emptied receiver now, and is dropped here.
            core::mem::swap(self, &mut earlier);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if !self.has_come()
            && let (Some(before), Some(over)) = (self.before.take(), self.over.take())
        {
            // Sending fails if no turn follows.
            let _ = over.send(before);
        }
    }
}

impl Turn {
    /// Whether the turn has come: every earlier turn of the order has ended. Does not wait.
    #[must_use]
    pub fn has_come(&mut self) -> bool {
        self.before.as_mut().is_none_or(Before::is_over)
    }

    /// Waits until the turn has come.
    ///
    /// # Cancel safety
    /// Safe: the turn keeps its place.
    pub async fn comes(&mut self) {
        while let Some(before) = &mut self.before {
            self.before = (&mut before.0).await.ok();
        }
    }
}

/// The orders in which requests of a connection take turns, each with its last turn.
#[derive(Debug, Default)]
pub struct Orders {
    last: Mutex<Vec<(OrderKey, Before)>>,
    /// The number of orders in use; 0 for nearly all connections.
    len: AtomicUsize,
}

impl Orders {
    fn last(&self) -> MutexGuard<'_, Vec<(OrderKey, Before)>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next turn in an order. Costs two allocations and a lock.
    pub fn turn(&self, key: OrderKey) -> Turn {
        let (over, last) = oneshot::channel();
        let mut all = self.last();
        all.retain_mut(|(_, turn)| !turn.is_over());
        let before = (all.iter().position(|(other, _)| *other == key)).map(|at| all.remove(at).1);
        all.push((key, Before(last)));
        self.len.store(all.len(), Ordering::Relaxed);
        Turn {
            before,
            over: Some(over),
        }
    }

    #[inline]
    pub(super) fn is_in_use(&self, key: OrderKey) -> bool {
        self.len.load(Ordering::Relaxed) != 0 && self.is_still_in_use(key)
    }

    #[cold]
    fn is_still_in_use(&self, key: OrderKey) -> bool {
        let mut all = self.last();
        all.retain_mut(|(_, turn)| !turn.is_over());
        self.len.store(all.len(), Ordering::Relaxed);
        all.iter().any(|(other, _)| *other == key)
    }
}

#[cfg(all(test, not(zorb_model)))]
mod tests {
    use super::*;
    use crate::testing::let_all_run;
    use std::sync::{Arc, Mutex};

    #[test]
    fn many_turns_that_are_given_up_the_last_first_take_no_stack() {
        let orders = Orders::default();
        let turns: Vec<_> = (0..100_000)
            .map(|_| orders.turn(OrderKey::OneWays))
            .collect();
        let mut turns = turns.into_iter();
        let first = turns.next();
        turns.rev().for_each(drop);
        drop((orders, first));
    }

    #[tokio::test]
    async fn turns_of_one_order_come_one_after_the_other() {
        let orders = Orders::default();
        let manager = OrderKey::Manager(1);
        let ran = Arc::new(Mutex::new(Vec::new()));
        let first = orders.turn(manager);
        let tasks: Vec<_> = (1..4)
            .map(|number| {
                let (mut turn, ran) = (orders.turn(manager), Arc::clone(&ran));
                tokio::spawn(async move {
                    turn.comes().await;
                    ran.lock().unwrap().push(number);
                    tokio::task::yield_now().await;
                    ran.lock().unwrap().push(number);
                })
            })
            .collect();
        assert!(orders.turn(OrderKey::OneWays).has_come(), "another order");
        // The turn of an aborted task counts as over.
        tasks[1].abort();
        let_all_run().await;
        assert!(ran.lock().unwrap().is_empty() && orders.is_in_use(manager));
        drop(first);
        let_all_run().await;
        assert_eq!(*ran.lock().unwrap(), [1, 1, 3, 3]);
        assert!(!orders.is_in_use(manager) && orders.last().is_empty());
    }
}
