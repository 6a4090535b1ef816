//! The tasks that push to consumers: a few for those of a process, so that their pushes leave together.

use futures_util::{FutureExt, StreamExt, stream::FuturesUnordered};
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use zorb::ObjectRef;
use zorb::transport::Endpoint;

/// The tasks of a process, at least. While its consumers handle the pushes of one, the replies to those of the other are handled here.
const TASKS: usize = 2;
/// Consumers of a task before a process gets another one: what a poll does at most before other tasks have their turn.
const CONSUMERS_PER_TASK: usize = 64;

/// Pushes to one consumer, until it is gone.
type Delivery = Pin<Box<dyn Future<Output = ()> + Send>>;

struct Task {
    started: UnboundedSender<Delivery>,
    consumers: usize,
}

/// By the endpoint of a process that has consumers.
type Tasks = BTreeMap<Endpoint, Vec<Option<Task>>>;

/// The tasks, by the processes that they push to.
#[derive(Default)]
pub(crate) struct Deliveries(Mutex<Tasks>);

impl Deliveries {
    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the delivery to a consumer.
    pub(crate) fn start(
        self: &Arc<Self>,
        consumer: &ObjectRef,
        delivery: impl Future<Output = ()> + Send + 'static,
    ) {
        let Some(process) = consumer.endpoints().into_iter().next() else {
            tokio::spawn(delivery);
            return;
        };
        let mut tasks = self.tasks();
        let of_process = tasks.entry(process.clone()).or_default();
        let consumers = |task: &Option<Task>| task.as_ref().map_or(0, |task| task.consumers);
        if of_process.len() < TASKS
            || of_process
                .iter()
                .all(|task| consumers(task) >= CONSUMERS_PER_TASK)
        {
            of_process.push(None);
        }
        let places = of_process.iter_mut().enumerate();
        let Some((place, task)) = places.min_by_key(|(_, task)| consumers(task)) else {
            return;
        };
        let task = task.get_or_insert_with(|| {
            let (started, starts) = unbounded_channel();
            tokio::spawn(Arc::clone(self).run(process, place, starts));
            Task {
                started,
                consumers: 0,
            }
        });
        task.consumers = task.consumers.saturating_add(1);
        // The task receives until it has left the table.
        let _ = task.started.send(Box::pin(delivery));
    }

    async fn run(
        self: Arc<Self>,
        process: Endpoint,
        place: usize,
        mut starts: UnboundedReceiver<Delivery>,
    ) {
        let mut running = FuturesUnordered::new();
        let all = async {
            loop {
                tokio::select! {
                    Some(delivery) = starts.recv() => {
                        // A panic ends the delivery that it is of.
                        running.push(AssertUnwindSafe(delivery).catch_unwind());
                    }
                    Some(_) = running.next() => {
                        if self.has_ended(&process, place) {
                            return;
                        }
                    }
                }
            }
        };
        // Each poll asks every delivery that was woken once, whatever the runtime's budget is: with it, those behind the budget would be
        // asked again and again.
        tokio::task::unconstrained(zorb::together(all)).await;
    }

    /// Counts a delivery that has ended. Returns whether it was the last one of its task, which leaves the table.
    fn has_ended(&self, process: &Endpoint, place: usize) -> bool {
        let mut tasks = self.tasks();
        let Some(of_process) = tasks.get_mut(process) else {
            return true;
        };
        let Some(slot) = of_process.get_mut(place) else {
            return true;
        };
        if let Some(task) = slot
            && task.consumers > 1
        {
            task.consumers = task.consumers.saturating_sub(1);
            return false;
        }
        *slot = None;
        if of_process.iter().all(Option::is_none) {
            tasks.remove(process);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::sync::Semaphore;

    async fn in_time<T>(future: impl Future<Output = T>) -> T {
        tokio::time::timeout(Duration::from_secs(30), future)
            .await
            .unwrap()
    }

    #[tokio::test]
    async fn the_consumers_of_a_process_share_a_few_tasks_which_end_with_them() {
        let orb = zorb::Orb::builder().build().await.unwrap();
        let at = async |address: &str| {
            let url = format!("corbaloc::{address}/k");
            orb.string_to_object(&url).await.unwrap()
        };
        let (one, other) = (at("127.0.0.1:1").await, at("127.0.0.1:2").await);
        let deliveries = Arc::new(Deliveries::default());
        let gate = Arc::new(Semaphore::new(0));
        let (ended, mut ends) = unbounded_channel();
        for number in 0..200 {
            let (gate, ended) = (Arc::clone(&gate), ended.clone());
            let consumer = if number == 0 { &other } else { &one };
            deliveries.start(consumer, async move {
                gate.acquire().await.unwrap().forget();
                ended.send(number).unwrap();
                assert!(number % 2 == 0, "a panic ends one delivery");
            });
        }
        let tasks = |deliveries: &Deliveries| {
            let tasks = deliveries.tasks();
            let numbers = tasks.values().map(|of_process| {
                let consumers = of_process.iter().flatten().map(|task| task.consumers);
                consumers.collect::<Vec<_>>()
            });
            numbers.collect::<Vec<_>>()
        };
        assert_eq!(tasks(&deliveries), [vec![64, 64, 64, 7], vec![1]]);
        gate.add_permits(200);
        let mut all = Vec::new();
        for _ in 0..200 {
            all.push(in_time(ends.recv()).await.unwrap());
        }
        all.sort_unstable();
        assert!(all.into_iter().eq(0..200));
        in_time(async {
            while !deliveries.tasks().is_empty() {
                tokio::task::yield_now().await;
            }
        })
        .await;
    }
}
