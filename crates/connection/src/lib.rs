//! Connections: GIOP messages over a transport, seen from clients and servers.
//!
//! The crate knows no object reference, no POA and no ORB. An ORB hands it a connected stream, to call by it
//! ([`ClientConnection`]) or to serve requests ([`ServerConnection`]). It uses the ORB by the trait [`Owner`] only.
//!
//! ```text
//!            caller ──► encode ──► Outbound ──► writev        (a sender writes, unless another one does)
//!  ClientConnection
//!            caller ◄── ReplyWaiters ◄── Reader ◄── recv      (a caller reads, else the driver task)
//!
//!  ServerConnection: recv ──► Reader ──► header cache ──► Owner::serve ──► Outbound ──► writev
//! ```
//!
//! | module | content |
//! |---|---|
//! | `link`, `end` | one stream with its two directions; the end of a connection, and its reasons |
//! | `outbound` | the write side: queue, direct writes, batches |
//! | `reader`, `spin`, `waker` | who reads a connection; busy-polling before parking; waking the driver task |
//! | `client` | calls, replies and their waiters; [the states of a connection](client) |
//! | `server` | requests, their headers and pending upcalls; two drivers, a task and a thread |
//! | `cache`, `unresponsive` | connections shared by references; endpoints that did not answer |
//! | `counters` | counts of refused, dropped, limited and timed-out work; the limit on log lines |
//! | `fairness` | what a host may hold, and who is closed when memory is short |
//! | `blocking` | the threads that may block in a call |
//! | `trace` | messages as `tracing` events |
#![cfg_attr(
    zorb_model,
    allow(
        dead_code,
        reason = "no model has the task that looks at all connections"
    )
)]
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap
)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        reason = "a failing test may panic"
    )
)]

mod acceptor;
mod bidirectional;
pub mod blocking;
mod cache;
pub mod client;
mod counters;
mod end;
mod fairness;
mod kept;
mod latency;
mod link;
#[cfg(zorb_model)]
#[path = "../models/loom_sync.rs"]
mod loom_sync;
#[cfg(test)]
mod mock;
#[cfg(zorb_model)]
#[path = "../models/tests/mod.rs"]
mod models;
mod outbound;
mod owner;
#[cfg(all(test, not(zorb_model)))]
mod pair_tests;
mod reactor;
mod reader;
pub mod server;
mod spin;
mod sync;
#[cfg(all(test, not(zorb_model)))]
mod testing;
mod together;
mod trace;
mod unresponsive;
mod waker;

pub use acceptor::Acceptor;
pub use bidirectional::{BidirectionalConnection, Offer, OfferTo};
pub use cache::{
    CacheKey, ConnectError, ConnectSettings, ConnectionCache, ConnectionLimits, ConnectionOrigin,
    NamedBy,
};
pub use client::{
    CallError, ClientConnection, ClientRequest, EncodeArguments, OneWayMode, is_timing_out,
    timing_out,
};
pub use counters::{Counter, Counters};
pub use fairness::{MemoryLimit, Overload, ServerLimits};
pub use kept::Kept;
pub use latency::ConnectTimes;
pub use outbound::Buffering;
pub use owner::{Owner, Peer, PeerOrb, Served, Settings};
pub use reactor::Reactor;
pub use server::{
    OrderKey, Orders, PendingRequest, ReceivedRequest, ServerConnection, Serving, Turn,
    WatchedRequest,
};
pub use spin::{BusyConnections, SpinLimits};
pub use together::together;
pub use trace::Describe;
pub use unresponsive::UnresponsiveEndpoints;
