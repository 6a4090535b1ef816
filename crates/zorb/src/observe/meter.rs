//! Metrics by the facade `metrics`: the recorder, and what it exports to, are the program's.

use crate::orb::{Orb, OrbInner};
use core::cell::RefCell;
use core::{mem, ptr};
use metrics::{
    Counter as CounterHandle, Histogram, Label, counter, gauge, histogram, with_recorder,
};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use zorb_connection::Counter;
use zorb_executor::Dispatch;
use zorb_giop::ReplyStatus;

/// The label of operations that the skeleton does not know, and of requests that are put together at run time: peers and data
/// choose their names, and a time series is kept for each label.
const OTHER: &str = "other";

/// Which metrics a call or an upcall belongs to.
pub(crate) struct Names {
    total: &'static str,
    seconds: &'static str,
    /// Of requests, and of replies where they are counted.
    octets: &'static [&'static str],
}

pub(crate) static CALLS: Names = Names {
    total: "zorb_calls_total",
    seconds: "zorb_call_seconds",
    octets: &["zorb_sent_octets_total"],
};
pub(crate) static UPCALLS: Names = Names {
    total: "zorb_upcalls_total",
    seconds: "zorb_upcall_seconds",
    octets: &["zorb_request_octets_total", "zorb_reply_octets_total"],
};

/// How a call or an upcall has ended.
#[derive(Clone, Copy)]
enum Ending {
    Ok,
    UserException,
    SystemException,
    Forward,
    Dropped,
    Refused,
}

const OUTCOMES: [&str; 6] = [
    "ok",
    "user_exception",
    "system_exception",
    "forward",
    "dropped",
    "refused",
];

/// The metrics of an operation, as the recorder has registered them. To register them each time costs more than a call.
struct Handles {
    total: &'static str,
    operation: Label,
    outcomes: [OnceLock<CounterHandle>; OUTCOMES.len()],
    seconds: Histogram,
    octets: Vec<CounterHandle>,
}

impl Handles {
    fn new(names: &Names, operation: &str) -> Self {
        let operation = Label::new("operation", operation.to_owned());
        Self {
            total: names.total,
            outcomes: Default::default(),
            seconds: histogram!(names.seconds, vec![operation.clone()]),
            octets: names.octets.iter().map(|name| counter!(*name)).collect(),
            operation,
        }
    }

    fn outcome(&self, ending: Ending) -> Option<&CounterHandle> {
        let at = ending as usize;
        let (outcome, name) = self.outcomes.get(at).zip(OUTCOMES.get(at).copied())?;
        Some(outcome.get_or_init(|| {
            let labels = vec![self.operation.clone(), Label::new("outcome", name)];
            counter!(self.total, labels)
        }))
    }
}

/// The metrics that a thread has used, by operation. There are no more than operations in the IDL of the program.
#[derive(Default)]
struct Registered {
    /// The address of the recorder that has registered them.
    recorder: usize,
    calls: HashMap<Box<str>, Arc<Handles>>,
    upcalls: HashMap<Box<str>, Arc<Handles>>,
}

thread_local! {
    static REGISTERED: RefCell<Registered> = RefCell::default();
}

/// The metrics of the operation with the recorder of now: the program may install its recorder late.
fn handles(names: &'static Names, operation: &str) -> Arc<Handles> {
    let recorder = with_recorder(|recorder| ptr::from_ref(recorder).cast::<()>().addr());
    let of_thread = REGISTERED.try_with(|registered| {
        // The recorder may make calls itself.
        let mut registered = registered.try_borrow_mut().ok()?;
        if registered.recorder != recorder {
            *registered = Registered {
                recorder,
                ..Registered::default()
            };
        }
        let by_operation = match ptr::eq(names, &raw const CALLS) {
            true => &mut registered.calls,
            false => &mut registered.upcalls,
        };
        if let Some(known) = by_operation.get(operation) {
            return Some(Arc::clone(known));
        }
        let new = Arc::new(Handles::new(names, operation));
        by_operation.insert(operation.into(), Arc::clone(&new));
        Some(new)
    });
    let known = of_thread.ok().flatten();
    known.unwrap_or_else(|| Arc::new(Handles::new(names, operation)))
}

/// Measures a call or an upcall from its beginning on. One that is dropped counts as `dropped`.
pub(crate) struct Meter {
    handles: Arc<Handles>,
    begun: Instant,
    is_over: bool,
}

impl Meter {
    /// `None` if the ORB measures nothing.
    pub(crate) fn begin(
        orb: &OrbInner,
        names: &'static Names,
        operation: Option<&str>,
    ) -> Option<Self> {
        orb.settings().metrics.then(|| Self {
            handles: handles(names, operation.unwrap_or(OTHER)),
            begun: Instant::now(),
            is_over: false,
        })
    }

    /// Counts the octets of the request.
    pub(crate) fn request(&self, octets: usize) {
        self.octets(0, octets);
    }

    /// Counts the octets of the reply.
    pub(crate) fn reply(&self, octets: usize) {
        self.octets(1, octets);
    }

    fn octets(&self, which: usize, octets: usize) {
        if let Some(counter) = self.handles.octets.get(which) {
            counter.increment(u64::try_from(octets).unwrap_or(u64::MAX));
        }
    }

    /// Notes the end, by the status of the reply; `None` for one without a message.
    pub(crate) fn end(mut self, status: Option<ReplyStatus>) {
        self.count(match status {
            None | Some(ReplyStatus::NoException) => Ending::Ok,
            Some(ReplyStatus::UserException) => Ending::UserException,
            Some(ReplyStatus::SystemException) => Ending::SystemException,
            Some(_) => Ending::Forward,
        });
    }

    /// Measures nothing: what has begun begins once more.
    pub(crate) fn forget(mut self) {
        self.is_over = true;
    }

    fn count(&mut self, ending: Ending) {
        if mem::replace(&mut self.is_over, true) {
            return;
        }
        if let Some(outcome) = self.handles.outcome(ending) {
            outcome.increment(1);
        }
        (self.handles.seconds).record(self.begun.elapsed().as_secs_f64());
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.count(Ending::Dropped);
    }
}

/// Counts a request that is refused before its servant is called.
pub(crate) fn refused() {
    if let Some(count) = handles(&UPCALLS, OTHER).outcome(Ending::Refused) {
        count.increment(1);
    }
}

/// A number as a gauge has it, which is a float. These are far below 2^53.
const fn number(count: usize) -> f64 {
    count as f64
}

impl Orb {
    /// Hands the state of the ORB to the recorder of the facade `metrics`: the gauges `zorb_connections_served`,
    /// `zorb_outgoing_connections`, `zorb_memory_octets` and `zorb_queued_requests` (of a worker pool, by priority), and the
    /// counter `zorb_refusals_total` by cause ([`Counter`]). For the place where metrics are collected: each time, or every few
    /// seconds. Costs some locks.
    ///
    /// Calls and upcalls are measured when they end, with [`Builder::metrics`](crate::Builder::metrics).
    pub fn publish_metrics(&self) {
        gauge!("zorb_connections_served").set(number(self.connections_served()));
        gauge!("zorb_outgoing_connections").set(number(self.outgoing_connections()));
        gauge!("zorb_memory_octets").set(number(self.memory_octets()));
        let counters = self.counters();
        for cause in Counter::ALL {
            counter!("zorb_refusals_total", "cause" => cause.name()).absolute(counters.get(*cause));
        }
        if let Dispatch::Pool(pool) = self.inner().lane().dispatch() {
            for lane in pool.counters() {
                let priority = lane.priority.0.to_string();
                gauge!("zorb_queued_requests", "priority" => priority).set(number(lane.queued));
            }
        }
    }
}
