//! The baseline of a call without an ORB: the same octets to and fro, over the same sockets.
//!
//! Two programs, `floor-server` and `floor-client`, with the options that every peer's have, and a choice of the
//! way in which they wait ([`Way`]). What all timed programs of the house share is here too: the [`digest`] of what
//! arrives, the line that a client prints ([`report`]), and the allocator that counts ([`counting`]).
#![deny(unsafe_code)]

pub mod asynchronous;
pub mod blocking;
pub mod counting;
pub mod digest;
pub mod message;
pub mod report;
mod way;

pub use way::{Way, publish, reference, write_whole};
