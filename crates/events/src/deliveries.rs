//! The tasks that push to consumers: a few for those of a process, so that their pushes leave together.

use futures_util::{FutureExt, StreamExt, stream::FuturesUnordered};
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use zorb::ObjectRef;
use zorb_giop::ior::IiopProfile;

/// The tasks of a process. While its consumers handle the pushes of one, the replies to those of the other are handled here.
const TASKS: usize = 2;

/// Pushes to one consumer, until it is gone.
type Delivery = Pin<Box<dyn Future<Output = ()> + Send>>;
/// The host and the port of a process that has consumers.
type Process = (String, u16);

struct Task {
    started: UnboundedSender<Delivery>,
    consumers: usize,
}

/// The tasks, by the processes that they push to.
#[derive(Default)]
pub(crate) struct Deliveries(Mutex<BTreeMap<Process, [Option<Task>; TASKS]>>);

impl Deliveries {
    fn tasks(&self) -> MutexGuard<'_, BTreeMap<Process, [Option<Task>; TASKS]>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the delivery to a consumer.
    pub(crate) fn start(
        self: &Arc<Self>,
        consumer: &ObjectRef,
        delivery: impl Future<Output = ()> + Send + 'static,
    ) {
        let mut profiles = consumer.ior().profiles.iter();
        let profile = profiles.find_map(|profile| IiopProfile::from_tagged(profile).ok());
        let Some(address) = profile.map(|profile| profile.address) else {
            tokio::spawn(delivery);
            return;
        };
        let process = (address.host, address.port);
        let mut tasks = self.tasks();
        let of_process = tasks.entry(process.clone()).or_default();
        let places = of_process.iter_mut().enumerate();
        let consumers = |task: &Option<Task>| task.as_ref().map_or(0, |task| task.consumers);
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
        process: Process,
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
        zorb::together(all).await;
    }

    /// Counts a delivery that has ended. Returns whether it was the last one of its task, which leaves the table.
    fn has_ended(&self, process: &Process, place: usize) -> bool {
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
