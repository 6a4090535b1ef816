#![doc = include_str!("../README.md")]
//!
//! - [`IdlTypes`]: the TypeCodes of all types of some IDL, found by repository id or name, and the [signatures](zorb::Signature)
//!   of its operations, by which [requests](IdlTypes::request) and replies are checked;
//! - [`DynAny`]: a value of any type as a tree of components, by the rules of CORBA's module `DynamicAny`.
//!
//! `zorb_idl::description` has operations and constants of the IDL, too, which [`IdlTypes::description`] returns.
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap
)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        reason = "a failing test may panic"
    )
)]

mod dyn_any;
mod operations;
mod types;

pub use dyn_any::{DynAny, DynAnyError, MAX_DEFAULT_COMPONENTS};
pub use operations::SignatureError;
pub use types::IdlTypes;
pub use zorb_idl;
