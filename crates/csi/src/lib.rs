#![doc = include_str!("../README.md")]
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

pub mod client;
mod der;
mod encapsulation;
mod error;
pub mod gss;
pub mod gssup;
mod identity;
mod sas;
mod secret;
pub mod server;

pub use client::ClientContexts;
pub use error::TokenError;
pub use identity::{IdentityToken, IdentityTypes};
pub use sas::{
    AuthorizationElement, ContextError, ContextId, EstablishContext, MAX_CONTEXT_OCTETS,
    SasContext, Status,
};
pub use secret::Secret;
pub use server::ServerContexts;
