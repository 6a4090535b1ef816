#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod engine;
mod incoming;
mod outgoing;
mod payload;
mod proxy;

pub use engine::{Engine, EngineError};
pub use incoming::{Push, REDELIVERED, SEQUENCE, STREAM, subscribe};
pub use outgoing::{REPEATS, publish};
pub use payload::{Payload, PayloadError};

use std::path::PathBuf;

/// A channel as a bridge has it.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Its object URL.
    pub url: String,
    /// A folder for the references of the proxies that the bridge is connected to, so that its next run goes on with them; without,
    /// each run is a new consumer and supplier.
    pub folder: Option<PathBuf>,
}
