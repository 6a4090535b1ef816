//! Metrics by the facade `metrics`: the recorder, and what it exports to, are the program's.

use crate::orb::{Orb, OrbInner};
use core::mem;
use metrics::{Label, counter, gauge, histogram};
use std::time::Instant;
use zorb_connection::Counter;
use zorb_executor::Dispatch;
use zorb_giop::ReplyStatus;

/// The label of operations that the skeleton does not know, and of requests that are put together at run time: peers and data
/// choose their names, and a time series is kept for each label.
const OTHER: &str = "other";

/// Which metrics a call or an upcall belongs to.
#[derive(Clone, Copy)]
pub(crate) struct Names {
    total: &'static str,
    seconds: &'static str,
}

pub(crate) const CALLS: Names = Names {
    total: "zorb_calls_total",
    seconds: "zorb_call_seconds",
};
pub(crate) const UPCALLS: Names = Names {
    total: "zorb_upcalls_total",
    seconds: "zorb_upcall_seconds",
};

/// Measures a call or an upcall from its beginning on. One that is dropped counts as `dropped`.
pub(crate) struct Meter {
    names: Names,
    operation: Label,
    begun: Instant,
    is_over: bool,
}

impl Meter {
    /// `None` if the ORB measures nothing.
    pub(crate) fn begin(orb: &OrbInner, names: Names, operation: Option<&str>) -> Option<Self> {
        orb.settings().metrics.then(|| Self {
            names,
            operation: Label::new("operation", operation.unwrap_or(OTHER).to_owned()),
            begun: Instant::now(),
            is_over: false,
        })
    }

    /// Notes the end, by the status of the reply; `None` for one without a message.
    pub(crate) fn end(mut self, status: Option<ReplyStatus>) {
        self.count(match status {
            None | Some(ReplyStatus::NoException) => "ok",
            Some(ReplyStatus::UserException) => "user_exception",
            Some(ReplyStatus::SystemException) => "system_exception",
            Some(_) => "forward",
        });
    }

    /// Measures nothing: what has begun begins once more.
    pub(crate) fn forget(mut self) {
        self.is_over = true;
    }

    fn count(&mut self, outcome: &'static str) {
        if mem::replace(&mut self.is_over, true) {
            return;
        }
        let labels = vec![self.operation.clone(), Label::new("outcome", outcome)];
        counter!(self.names.total, labels).increment(1);
        let seconds = histogram!(self.names.seconds, vec![self.operation.clone()]);
        seconds.record(self.begun.elapsed().as_secs_f64());
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.count("dropped");
    }
}

/// Counts the octets of a message.
pub(crate) fn octets(name: &'static str, octets: usize) {
    counter!(name).increment(u64::try_from(octets).unwrap_or(u64::MAX));
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
