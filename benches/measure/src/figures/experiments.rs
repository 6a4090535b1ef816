//! The experiments: what runs, where, with what, and what is drawn of it.

use super::chart::{Axis, Scale};
use crate::measure::place::Placement::{self, Same, Split};
use Scale::{Linear, Log};

/// An experiment, its data and its picture, which share its name.
pub(crate) struct Experiment {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) how: How,
}

pub(crate) enum How {
    /// The programs are gone; the data of the last run are drawn.
    Recorded,
    /// Calls are timed.
    Timed(&'static [Panel]),
    /// A program of claims prints the points: its command line, and the same in short.
    Printed(&'static str, &'static str),
    /// Instructions of a call are counted by where their source is: by series, operation and size.
    Profiled(&'static str, &'static [(&'static str, &'static str, usize)]),
}

/// A panel of a picture: one thing varies, and several peers do it.
pub(crate) struct Panel {
    pub(crate) title: &'static str,
    pub(crate) placement: Placement,
    pub(crate) what: What,
    pub(crate) varies: Varies,
    /// Names in the picture and of the peers.
    pub(crate) series: &'static [(&'static str, &'static str)],
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum What {
    /// The median time of a call, in µs.
    Time,
    /// Calls a second.
    Rate,
    /// Mbit/s.
    Flood,
}

pub(crate) enum Varies {
    /// The operation's argument has so many elements.
    Size(&'static str, &'static [usize]),
    /// The server has so many objects, which are called at random.
    Servants(&'static [usize]),
    /// So many callers call at a time: tasks of ours, threads of others.
    Callers(&'static [usize]),
    /// By label: operation and size.
    Types(&'static [(&'static str, &'static str, usize)]),
}

const fn axis(title: &'static str, scale: Scale) -> Axis {
    Axis { title, scale }
}

const fn timed(
    title: &'static str,
    placement: Placement,
    varies: Varies,
    series: &'static [(&'static str, &'static str)],
) -> Panel {
    Panel {
        title,
        placement,
        what: What::Time,
        varies,
        series,
    }
}

const fn recorded(name: &'static str, title: &'static str, x: Axis, y: Axis) -> Experiment {
    Experiment {
        name,
        title,
        x,
        y,
        how: How::Recorded,
    }
}

const TIME: Axis = axis("time of a call (µs)", Log);
const SERVANTS: Axis = axis("servants in the server", Log);
const ALL: &[(&str, &str)] = &[
    ("zorb", "zorb-default"),
    ("zorb dedicated", "zorb-dedicated"),
    ("omniORB", "omni"),
    ("raw sockets", "raw"),
];
const FLOODS: &[(&str, &str)] = &[
    ("zorb", "zorb-default"),
    ("omniORB", "omni"),
    ("raw sockets", "raw"),
];
const CALLERS: &[(&str, &str)] = &[("zorb", "zorb-default"), ("omniORB", "omni")];
const REQUESTS: &[(&str, &str)] = &[
    ("zorb", "zorb-default"),
    ("zorb: request used again", "zorb-dii"),
    ("zorb: new request", "zorb-dii-new"),
    ("omniORB", "omni"),
    ("omniORB: arguments used again", "omni-dii"),
    ("omniORB: new request", "omni-dii-new"),
];
const UNITS: &[usize] = &[1, 16, 128, 1_024];
const HOW_MANY: &[usize] = &[1, 100, 500, 1_000, 10_000];
const HUNDREDS: &[usize] = &[1, 100, 500];
const BUFFERS: &[usize] = &[1_024, 8_192, 65_536, 131_072, 1_048_576];
const TASKS: &[usize] = &[1, 2, 4, 16, 64];
const TYPES: &[(&str, &str, usize)] = &[
    ("void", "noparams", 0),
    ("octets 4", "octet", 4),
    ("longs 4", "long", 1),
    ("structs 24", "struct", 1),
    ("octets 4096", "octet", 4_096),
    ("longs 4096", "long", 1_024),
    ("structs 4080", "struct", 170),
];

/// Every experiment, in the order of the page.
pub(crate) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "latency",
        title: "Two-way calls without parameters, by the number of servants",
        x: SERVANTS,
        y: TIME,
        how: How::Timed(&[
            timed("one CPU", Same, Varies::Servants(HOW_MANY), ALL),
            timed("a CPU each", Split, Varies::Servants(HOW_MANY), ALL),
        ]),
    },
    Experiment {
        name: "latency-sizes",
        title: "Two-way calls with octets and structs",
        x: axis("units in the sequence", Log),
        y: TIME,
        how: How::Timed(&[
            timed("octets: one CPU", Same, Varies::Size("octet", UNITS), ALL),
            timed(
                "octets: a CPU each",
                Split,
                Varies::Size("octet", UNITS),
                ALL,
            ),
            timed("structs: one CPU", Same, Varies::Size("struct", UNITS), ALL),
            timed(
                "structs: a CPU each",
                Split,
                Varies::Size("struct", UNITS),
                ALL,
            ),
        ]),
    },
    Experiment {
        name: "memory-sizes",
        title: "Two-way calls through shared memory and sockets of a host, a CPU each",
        x: axis("octets, or structs, in the sequence", Log),
        y: TIME,
        how: How::Printed(
            "bench-native sizes --rounds 7 --calls 300",
            "bench-native sizes --rounds 1 --calls 10",
        ),
    },
    Experiment {
        name: "dynamic",
        title: "Stubs and dynamic invocation, with octets and structs, on one CPU",
        x: axis("units in the sequence", Log),
        y: TIME,
        how: How::Timed(&[
            timed(
                "octets: two-way",
                Same,
                Varies::Size("octet", UNITS),
                REQUESTS,
            ),
            timed(
                "structs: two-way",
                Same,
                Varies::Size("struct", UNITS),
                REQUESTS,
            ),
            timed(
                "octets: one-way",
                Same,
                Varies::Size("oneway_octet", UNITS),
                REQUESTS,
            ),
            timed(
                "structs: one-way",
                Same,
                Varies::Size("oneway_struct", UNITS),
                REQUESTS,
            ),
        ]),
    },
    Experiment {
        name: "dynamic-servants",
        title: "Stubs and dynamic invocation without parameters, by the number of servants, on one CPU",
        x: SERVANTS,
        y: TIME,
        how: How::Timed(&[timed("one CPU", Same, Varies::Servants(HUNDREDS), REQUESTS)]),
    },
    recorded(
        "demultiplexing",
        "Look-ups among many servants, of 10 operations",
        SERVANTS,
        axis("time of a look-up (ns)", Log),
    ),
    Experiment {
        name: "throughput",
        title: "Floods of octets over TCP on the loopback, default queues",
        x: axis("octets in a buffer", Log),
        y: axis("Mbit/s", Log),
        how: How::Timed(&[
            Panel {
                title: "one CPU",
                placement: Same,
                what: What::Flood,
                varies: Varies::Size("oneway_octet", BUFFERS),
                series: FLOODS,
            },
            Panel {
                title: "a CPU each",
                placement: Split,
                what: What::Flood,
                varies: Varies::Size("oneway_octet", BUFFERS),
                series: FLOODS,
            },
        ]),
    },
    Experiment {
        name: "cubit",
        title: "Calls a second over TCP and UNIX sockets, by what is sent",
        x: axis("what is sent", Linear),
        y: axis("calls/s", Linear),
        how: How::Timed(&[
            Panel {
                title: "zorb: a CPU each",
                placement: Split,
                what: What::Rate,
                varies: Varies::Types(TYPES),
                series: &[
                    ("TCP", "zorb-default"),
                    ("UNIX sockets", "zorb-default-unix"),
                ],
            },
            Panel {
                title: "omniORB: a CPU each",
                placement: Split,
                what: What::Rate,
                varies: Varies::Types(TYPES),
                series: &[("TCP", "omni"), ("UNIX sockets", "omni-unix")],
            },
        ]),
    },
    recorded(
        "principles",
        "A call of 1,024 units in one process, with one principle more each up to 7",
        axis("principle", Linear),
        axis("time of a call (µs)", Log),
    ),
    Experiment {
        name: "white-box",
        title: "Instructions of a call, by where their source is",
        x: axis("part", Linear),
        y: axis("instructions", Linear),
        how: How::Profiled(
            "zorb-current",
            &[
                ("no argument", "noparams", 0),
                ("2048 octets", "octet", 2_048),
                ("64 structs", "struct", 64),
            ],
        ),
    },
    recorded(
        "profiles",
        "Where the time of a flood goes, buffers of 128 K, a CPU for each program",
        axis("program", Linear),
        axis("% of the time", Linear),
    ),
    recorded(
        "lanes",
        "Rate-based clients and increasing work, on one CPU",
        axis("work of a call", Linear),
        axis("calls/s", Linear),
    ),
    recorded(
        "best-effort",
        "Rate-based clients and best-effort load, on one CPU",
        axis("best-effort clients", Linear),
        axis("calls/s", Linear),
    ),
    recorded(
        "inversion",
        "Calls of high priority beside a caller of low priority that is stuck",
        axis("what it is stuck in", Linear),
        axis("p99 (ms)", Log),
    ),
    recorded(
        "connections",
        "Two-way calls beside very many connections",
        axis("connections", Log),
        TIME,
    ),
    Experiment {
        name: "callers",
        title: "Two-way calls of many callers together",
        x: axis("callers", Log),
        y: axis("calls/s", Log),
        how: How::Timed(&[
            Panel {
                title: "one CPU",
                placement: Same,
                what: What::Rate,
                varies: Varies::Callers(TASKS),
                series: CALLERS,
            },
            Panel {
                title: "a CPU each",
                placement: Split,
                what: What::Rate,
                varies: Varies::Callers(TASKS),
                series: CALLERS,
            },
        ]),
    },
    Experiment {
        name: "failover",
        title: "Binds while a server of the engine fails at 2 s, and is back at 14 s",
        x: axis("time (s)", Linear),
        y: axis("binds acknowledged (1/s)", Linear),
        how: How::Printed(
            "bench-services timeline 3 12",
            "bench-services timeline 1 2",
        ),
    },
];
