#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod channel;
mod iterators;
mod log;
mod schedule;
mod service;
mod store;

pub use service::{DEFAULT_ENDPOINT, EVENT_FACTORY_KEY, FACTORY_KEY, LogService, Settings};
pub use store::LogStore;
pub use zorb_service::OpenError;

#[allow(
    missing_docs,
    reason = "the OMG's names, documented in its specifications"
)]
mod generated {
    #[zorb::idl_file(
        "idl/DsLogAdmin.idl",
        "idl/DsEventLogAdmin.idl",
        "idl/stored.idl",
        extern(
            "CosEventChannelAdmin" = ::zorb_events::cos_event_channel_admin,
            "CosEventComm" = ::zorb_events::cos_event_comm,
            "TimeBase" = ::zorb_events::time_base
        )
    )]
    pub mod ds {}
}

use generated::ds::zorb_log as stored;
pub use generated::ds::{ds_event_log_admin, ds_log_admin, ds_log_notification};
