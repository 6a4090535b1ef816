#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod iterators;
mod service;
mod set;
mod store;

pub use service::{DEF_FACTORY_KEY, DEFAULT_ENDPOINT, FACTORY_KEY, PropertyService, Settings};
pub use store::PropertyStore;
pub use zorb_service::OpenError;

#[allow(
    missing_docs,
    reason = "the OMG's names, documented in its specifications"
)]
mod generated {
    #[zorb::idl_file("idl/CosPropertyService.idl", "idl/stored.idl")]
    pub mod cos {}
}

pub use generated::cos::cos_property_service;
use generated::cos::zorb_properties as stored;
pub use generated::cos::zorb_properties::{RemovableSet, RemovableSetRef};
