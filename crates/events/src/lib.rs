#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod admin;
mod channel;
mod consumer_proxy;
mod counters;
mod deliveries;
pub mod etcl;
mod event;
mod factory;
mod filter;
mod informer;
mod journal;
mod node;
mod qos;
mod queue;
mod service;
mod supplier_proxy;
mod typed;
mod types;

pub use counters::Counters;
pub use service::{
    CHANNEL_KEY, DEFAULT_ENDPOINT, EventService, EventStore, NOTIFICATION_KEY, OMNIEVENTS_KEY,
    SERVICE_KEY, Settings, TYPED_CHANNEL_KEY, TYPED_NOTIFICATION_KEY,
};
pub use zorb_service::OpenError;

#[allow(
    missing_docs,
    reason = "the OMG's names, documented in its specifications"
)]
mod generated {
    #[zorb::idl_file(
        "idl/CosEvent.idl",
        "idl/CosNotification.idl",
        "idl/CosTyped.idl",
        "idl/factory.idl",
        "idl/stored.idl",
        extern("CosNaming" = ::zorb::naming::cos_naming)
    )]
    pub mod cos {}
}

pub use generated::cos::{
    cos_event_channel_admin, cos_event_comm, cos_life_cycle, cos_notification,
    cos_notify_channel_admin, cos_notify_comm, cos_notify_filter, cos_typed_event_channel_admin,
    cos_typed_event_comm, cos_typed_notify_channel_admin, cos_typed_notify_comm, omni_events,
    time_base,
};
use generated::cos::{event as open_orb, event_channel_admin, ft, zorb_stored as stored};
