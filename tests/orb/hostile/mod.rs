//! Peers that break the protocol, lie, dawdle and vanish, against a real server and a real client.
//!
//! Every test runs on real sockets, without sleeping: a clock is only ever the guard that turns a
//! hang into a failure. In each of them a well-behaved client is served before, during and after.
//!
//! - [`framing`]: octets that are no message, or none for a server;
//! - [`requests`]: whole messages with something wrong in them;
//! - [`small`]: what comes in the place of a small request;
//! - [`pace`]: clients that are slow, leave, or never read;
//! - [`held`]: clients that do not wait until they are served;
//! - [`replies`]: servers that answer nonsense;
//! - [`endings`]: servers that vanish or close;
//! - [`unexpected`]: messages that are not what their receiver waits for;
//! - [`forwards`]: servers that send their clients elsewhere;
//! - [`addressing`]: servers that want their objects addressed in another way;
//! - [`too_large`]: messages beyond a limit;
//! - [`drops`]: callers that lose patience;
//! - [`limits`]: calls that run out of time;
//! - [`many_contexts`]: service contexts that are many, or long;
//! - [`nowhere`]: references that lead nowhere;
//! - [`liars`]: messages that are not what they say;
//! - [`drivers`]: connections that tasks drive, and threads;
//! - [`idle`]: connections on which nothing happens;
//! - [`crowd`]: clients that are many, or leave what they asked for behind;
//! - [`order`]: the order of requests that wait;
//! - [`threads`]: clients for which there is no thread;
//! - [`deep_keys`]: keys that name many adapters;
//! - [`share`]: clients that want more memory than their share;
//! - [`shared_places`]: clients that take the places that all clients share;
//! - [`values`]: values in cycles that are looked at before they are there.

mod addressing;
mod crowd;
mod cyclic_values;
mod deep_keys;
mod drivers;
mod drops;
mod endings;
mod forwards;
mod framing;
mod held;
mod honest_pair;
mod idle;
mod liars;
mod limits;
mod many_contexts;
mod nowhere;
mod order;
mod pace;
pub(crate) mod raw;
mod replies;
mod requests;
mod share;
mod shared_places;
mod small;
#[cfg(target_os = "linux")]
mod thread_shortage;
mod too_large;
mod unexpected;
