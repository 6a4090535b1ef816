#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod context;
mod iterators;
mod liveness;
mod refusal;
mod service;
pub mod store;

pub use context::{MAX_COMPONENTS, MAX_LISTED_OCTETS, MAX_REFERENCE_OCTETS};
pub use liveness::{Liveness, Stale};
pub use service::{DEFAULT_ENDPOINT, ITERATORS_POA, NamingService, SERVICE_KEY, Settings};
