//! The ORB through its public interface: clients and servers in one process, over real sockets, beside peers that
//! are written here octet by octet.
//!
//! One executable holds all of it: another one costs as much to compile and link as all of its tests take to run.

#![expect(
    unsafe_code,
    reason = "an allocator can only be replaced by an unsafe implementation"
)]

mod abstract_interfaces;
mod acknowledged;
mod ami;
mod anys;
mod bidirectional;
mod blocking;
mod blocking_servants;
mod bounded;
mod budget;
mod caller;
mod calls;
mod cancelled;
mod code_sets;
mod collocated;
mod contexts;
mod corners;
mod counters;
mod csi;
mod deadlines;
mod derives;
mod dynamic;
mod dynamic_servants;
mod errors;
mod failover;
mod features;
mod fragments;
mod groups;
mod hostile;
mod interceptors;
mod keys;
mod known;
mod lite;
mod lives;
mod many_results;
mod one_ways;
mod outgoing;
mod permissions;
mod persistent;
mod pipe;
mod poa;
mod policies;
mod policies_buffered;
mod real_time;
mod references;
mod registered;
mod rules;
mod servants;
mod sync_none;
mod tls;
mod trace;
mod urls;
mod values;
mod waiting;
mod wire;

#[path = "../support/anew.rs"]
mod anew;
#[path = "../../crates/tls/tests/support/mod.rs"]
mod certificates;
#[path = "../support/counting.rs"]
mod counting;
#[path = "../support/savings.rs"]
mod savings;
#[expect(dead_code, reason = "other tests use more of the support")]
#[path = "../support/mod.rs"]
mod support;

/// Counts what each thread allocates, for [`bounded`] and [`collocated`].
#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;
