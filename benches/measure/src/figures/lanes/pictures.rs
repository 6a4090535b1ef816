//! The pictures of lanes, and what each shows.

use crate::figures::chart::{Axis, Chart, Kind, Panel};
use crate::figures::data::Data;

/// Panels of a picture: the name in the data, the title.
type Panels = &'static [(&'static str, &'static str)];

const WORK: &str = "work (units of 0.215 ms)";
const CALLS: &str = "calls a second";
const EFFORT: &str = "best-effort clients";

/// Lines of calls a second: the file, the title, the axis, the panels.
const LINES: [(&str, &str, &str, Panels); 6] = [
    (
        "rates",
        "Rate-based clients and increasing work (dissertation, experiments 4 to 6)",
        WORK,
        &[
            ("rates without lanes, one CPU", "without lanes, one CPU"),
            ("rising rates with lanes, one CPU", "lanes, one CPU"),
            (
                "falling rates with lanes, one CPU",
                "lanes, rates falling, one CPU",
            ),
            ("rising rates with lanes, a CPU each", "lanes, a CPU each"),
            ("rising rates with lanes, two hosts", "lanes, two hosts"),
        ],
    ),
    (
        "best-effort",
        "Rate-based clients and best-effort load (dissertation, experiments 7 and 8)",
        EFFORT,
        &[
            (
                "best effort without lanes, one CPU",
                "without lanes, work 30, one CPU",
            ),
            ("best effort with lanes, one CPU", "lanes, work 30, one CPU"),
            (
                "best effort below capacity with lanes, one CPU",
                "lanes, work 28, one CPU",
            ),
            (
                "best effort below capacity with lanes, a CPU each",
                "lanes, work 28, a CPU each",
            ),
            (
                "best effort below capacity with lanes, two hosts",
                "lanes, work 28, two hosts",
            ),
        ],
    ),
    (
        "pools",
        "A thread pool without lanes, at three priorities (dissertation, experiment 9)",
        WORK,
        &[
            ("rates with a low pool, one CPU", "pool at low priority"),
            (
                "rates with a medium pool, one CPU",
                "pool at medium priority",
            ),
            ("rates with a high pool, one CPU", "pool at high priority"),
        ],
    ),
    (
        "workload",
        "One client that calls without pause (dissertation, experiment 1)",
        WORK,
        &[("workload, one CPU", "one server thread, one CPU")],
    ),
    (
        "concurrency",
        "Clients that call without pause (dissertation, experiment 3)",
        "clients",
        &[("concurrency", "work 30, by threads and CPUs of the server")],
    ),
    (
        "strategies",
        "Two kinds of thread pool, four clients without pause (dissertation, Figure 5.8)",
        "threads of the server",
        &[("strategies", "calls without work, a CPU each")],
    ),
];

/// The axes of bars, and whether the upward one is logarithmic.
type Bars = (&'static str, &'static str, bool);

/// Bars by labels: the file, the title, the axes, the panels.
const BARS: [(&str, &str, Bars, Panels); 4] = [
    (
        "inversion",
        "Calls of high priority beside a caller of low priority that is stuck in something",
        ("what the other is stuck in", "99th percentile (ms)", true),
        &[("inversion", "200 short calls a second, one CPU")],
    ),
    (
        "operations",
        "What a server does for a request (dissertation, Table 5.3)",
        ("", "times for a request", false),
        &[("operations of a request", "one client, one CPU")],
    ),
    (
        "dispatching",
        "Beside an upcall of 10 ms in another thread (dissertation, Table 4.1)",
        ("pattern", "wait (ms)", true),
        &[("dispatching, beside an upcall", "one process")],
    ),
    (
        "dispatching-cost",
        "An upcall that does nothing, without contention (dissertation, Table 4.1)",
        ("pattern", "time (ns)", false),
        &[("dispatching, cost", "one process")],
    ),
];

pub(super) fn charts(data: &Data) -> Vec<Chart> {
    let mut charts: Vec<Chart> = LINES
        .iter()
        .map(|(file, title, x, panels)| {
            let panel = |(name, title): &(&str, &str)| {
                let across = match *file {
                    "strategies" => Axis::log2(x),
                    _ => Axis::linear(x),
                };
                Panel::lines(data, name, title, across, Axis::linear(CALLS))
            };
            let panels = panels.iter().filter_map(panel).collect();
            Chart::new(format!("lanes-{file}"), *title, panels)
        })
        .collect();
    charts.extend(BARS.iter().map(|(file, title, (x, y, is_log), panels)| {
        let axis = match is_log {
            true => Axis::log(y),
            false => Axis::linear(y),
        };
        let panel = |(name, title): &(&str, &str)| {
            Panel::bars(data, name, title, (x, axis.clone()), Kind::Bars)
        };
        let panels = panels.iter().filter_map(panel).collect();
        Chart::new(format!("lanes-{file}"), *title, panels)
    }));
    let others = [
        (
            "invocation-rate",
            "One rate-based client beyond the capacity (dissertation, experiment 2)",
            ("invocation rate, one CPU", "work 30, one CPU"),
            ("calls a second asked for", "deadlines met (%)"),
        ),
        (
            "memory",
            "Taking a buffer and giving it back (dissertation, Figure 6.7)",
            ("memory pools", "1,024 octets, all threads together"),
            ("threads", "million buffers a second"),
        ),
        (
            "propagation",
            "A priority on its way over a middle-tier server (dissertation, Figure 2.5)",
            ("propagation, native", "one mapping for each host"),
            ("CORBA priority of the client", "native priority"),
        ),
    ];
    charts.extend(others.map(|(file, title, (panel, shown), (x, y))| {
        let (across, up) = match file {
            "memory" => (Axis::log2(x), Axis::log(y)),
            _ => (Axis::linear(x), Axis::linear(y)),
        };
        let panel = Panel::lines(data, panel, shown, across, up);
        Chart::new(format!("lanes-{file}"), title, panel.into_iter().collect())
    }));
    charts.retain(|chart| !chart.panels.is_empty());
    charts
}

/// How to read the pictures: what the dissertation found, in words for readers who know nothing of it.
pub(crate) fn stories() -> String {
    STORIES.to_owned()
}

const STORIES: &str = "\
**How to read the pictures**

- *Rates and increasing work.* Read each panel from left to right: the work of each call grows, and beyond 30 units the CPU is \
  overloaded. A client that keeps its height loses nothing. The order does not depend on the rates: in the panel *rates falling* \
  the urgent client calls least often. With a CPU or a host for the clients, the server is free while the urgent client reads its \
  reply, and the medium one gets a little more.
- *Best effort.* The CPU is full, and up to ten more clients call without pause. Without lanes each of their calls is taken from \
  the others. With lanes they get nothing; with a little less work (28 units) they get what is left over, however many they are.
- *A pool without lanes* is one queue for all requests, and a thread takes the priority of the request that it runs. The \
  dissertation found that this works if the pool reads requests at the highest priority. At a low one a request is not even read \
  while another one runs, so that all are treated alike.
- *Priority inversion*, an urgent call that waits for one that is not, is the fault that lanes prevent. A caller of low priority \
  is stuck in an upcall of 20 ms, in requests of 4 MiB, or before a queue that is full. The bars are 99th percentiles of urgent \
  calls.
- *Two kinds of thread pool.* In *leader/followers* the thread that reads a request serves it; in *half-sync/half-async* it hands the \
  request over to another thread, which allows for queues and borrowed threads. The dissertation counted the cost of the hand-over: \
  allocations, places in queues, wake-ups of threads. zorb's lanes are of the second kind, its ORB without lanes is of the first. \
  The thread that served a request writes the reply, so a request has one hand-over and not two. Locks are not counted.
- *Memory pools.* One pool that all threads share has a lock, and threads that wait for it; a pool of each thread, and the stack, have \
  none. (The system's allocator of today keeps a pool for each thread by itself.)
- *Dispatching.* A server finds an object in a table and calls it. Which lock is held meanwhile decides whether a call to another \
  object, or the activation of one, waits until the first upcall is over. zorb's table is read without a lock.
- *A middle-tier server.* Each host maps the priority of a request to its own operating system's in its own way; the number that \
  travels stays the same.";
