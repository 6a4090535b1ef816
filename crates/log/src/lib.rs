#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod iterators;
mod log;
mod schedule;
mod service;
mod store;

pub use service::{DEFAULT_ENDPOINT, FACTORY_KEY, LogService, Settings};
pub use store::LogStore;
pub use zorb_service::OpenError;

#[allow(
    missing_docs,
    reason = "the OMG's names, documented in its specifications"
)]
mod generated {
    #[zorb::idl_file(
        "idl/DsLogAdmin.idl",
        "idl/stored.idl",
        extern("TimeBase" = ::zorb_events::time_base)
    )]
    pub mod ds {}
}

pub use generated::ds::ds_log_admin;
use generated::ds::zorb_log as stored;
