//! What the programs of the papers' experiments share, and what of them has tests.
//!
//! `cargo xtask figures` redoes the experiments of the papers that zorb
//! starts from. What runs in zorb for that, or in one process without any
//! ORB, is a program of this package: a folder for each experiment.
#![forbid(unsafe_code)]

pub mod batches;
pub mod dialogue;
pub mod engines;
pub mod interpreter;
pub mod latency;
pub mod lookup;
pub mod order;
pub mod payload;
pub mod place;
pub mod sockets;
