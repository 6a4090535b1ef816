#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(feature = "engines")]
pub mod access;
mod daemon;
mod embedded;
mod leases;
mod metrics;
mod open_error;
mod program;

pub use daemon::{Signals, notify, shown, write_whole};
pub use embedded::{Embedded, MAX_BATCH, REFUSED_FOR, StoreError, Tables};
pub use leases::{Leases, client_host};
pub use metrics::Metrics;
pub use open_error::OpenError;
pub use program::{ExitStatus, Failure, is_ready, run};
