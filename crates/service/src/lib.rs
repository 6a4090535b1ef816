#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(feature = "engines")]
pub mod access;
mod daemon;
mod embedded;
mod metrics;
mod open_error;

pub use daemon::{Signals, notify, shown, write_whole};
pub use embedded::{Embedded, MAX_BATCH, REFUSED_FOR, StoreError, Tables};
pub use metrics::Metrics;
pub use open_error::OpenError;
