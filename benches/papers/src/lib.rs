//! Shared by the programs of the papers' experiments.
//!
//! `cargo xtask figures` redoes the experiments of the papers that zorb
//! starts from. What runs in zorb for that, or in one process without any
//! ORB, is a program of this package: a folder for each experiment.
#![forbid(unsafe_code)]

pub mod batches;
pub mod dialogue;
pub mod interpreter;
pub mod latency;
pub mod lookup;
pub mod place;
pub mod sockets;
pub mod steps;
